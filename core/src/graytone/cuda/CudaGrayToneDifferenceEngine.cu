// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaGrayToneDifferenceMethods.h"
#include "graytone/GrayToneDifferencePlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/GrayToneDifferenceJob.h"

#include <string>

namespace voxelmaps
{
CudaGrayToneDifferenceReport
ComputeGrayToneDifferenceFeatureMapsCuda(const GrayToneDifferenceJob &         job,
                                         const CudaGrayToneDifferenceOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<GrayToneDifferencePlan>(job, options, ComputeGrayToneDifferenceFeatureMapsCuda);
  }
  using Method = CudaGrayToneDifferenceOptions::Method;
  // Where tables of many levels leave a block a single warp, WindowWalk takes half the time.
  constexpr int minWarps = 2;
  return RunCudaTextureEngine<GrayToneDifferencePlan, CudaGrayToneDifferenceReport>(
    job,
    options,
    [](const GrayToneDifferenceTask & task) {
      const int warps = CudaLevelTableWarps(task, GetCudaDeviceLimits());
      return CudaTextureMethods<GrayToneDifferenceTask, Method>{
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels and " +
          std::to_string(2 * task.numberOfOffsets) + " neighbors of a voxel",
        { { Method::LevelTables, warps > 0, warps >= minWarps, {}, ComputeByCudaLevelTables },
          { Method::WindowWalk,
            true,
            true,
            CudaGrayToneDifferenceWalkScratchBytes,
            ComputeByCudaGrayToneDifferenceWalk } }
      };
    },
    [](const GrayToneDifferencePlan & plan, Method, CudaTables & tables, GrayToneDifferenceTask & task) {
      tables.Add(plan.offsets, task.offsets);
      tables.Add(plan.weights, task.weights);
    });
}
} // namespace voxelmaps
