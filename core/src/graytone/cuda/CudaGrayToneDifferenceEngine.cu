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

bool
IsCpuFaster(const GrayToneDifferenceJob & job, const CudaOptions & options)
{
  // Nanoseconds per output voxel, and more for each voxel of the window; the general engines, which support more
  // neighbors and levels, take longer for each neighbor.
  constexpr double cpuNanoseconds = 130.0;
  constexpr double cpuNanosecondsPerVoxel = 1.2;
  constexpr double cpuNanosecondsPerNeighbor = 0.6;
  constexpr double deviceNanosecondsPerVoxel = 0.008;
  constexpr double deviceNanosecondsPerNeighbor = 0.003;

  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const auto   windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double neighbors = 2.0 * static_cast<double>(job.offsets.size());
  const bool   isWalk = job.offsets.size() > 13 || job.numberOfGrayLevels > 1024;
  const double cpu =
    cpuNanoseconds + windowVoxels * (cpuNanosecondsPerVoxel + (isWalk ? neighbors * cpuNanosecondsPerNeighbor : 0.0));
  const double device =
    windowVoxels * (deviceNanosecondsPerVoxel + (isWalk ? neighbors * deviceNanosecondsPerNeighbor : 0.0));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 16384;
  return IsCpuEngineFaster(job, job.features.size(), 1e-6 * voxels * cpu, 1e-6 * voxels * device, tileVoxels, options);
}
} // namespace voxelmaps
