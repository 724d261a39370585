// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaDependenceMethods.h"
#include "dependence/DependencePlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/DependenceJob.h"

#include <algorithm>
#include <string>

namespace voxelmaps
{
CudaDependenceReport
ComputeDependenceFeatureMapsCuda(const DependenceJob & job, const CudaDependenceOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<DependencePlan>(job, options, ComputeDependenceFeatureMapsCuda);
  }
  using Method = CudaDependenceOptions::Method;
  return RunCudaTextureEngine<DependencePlan, CudaDependenceReport>(
    job,
    options,
    [](const DependenceTask & task) {
      const bool areBits = CudaDependenceNeighborsAreBits(task);
      return CudaTextureMethods<DependenceTask, Method>{
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels and " +
          std::to_string(task.numberOfOffsets) + " offsets",
        { { Method::BitPlanes,
            CudaDependenceBitsSupports(task),
            true,
            {},
            [neighbors = MakeCudaNearNeighbors(task)](const DependenceTask &      slab,
                                                      const CudaMethodResources & resources) {
              ComputeByCudaDependenceBits(slab, neighbors, resources);
            } },
          { Method::WindowWalk,
            true,
            true,
            [areBits](const DependenceTask & slab) { return CudaDependenceWalkScratchBytes(slab, areBits); },
            [areBits](const DependenceTask & slab, const CudaMethodResources & resources) {
              ComputeByCudaDependenceWalk(slab, areBits, resources);
            } } }
      };
    },
    [](const DependencePlan & plan, Method, CudaTables & tables, DependenceTask & task) {
      tables.Add(plan.offsets, task.offsets);
      plan.matrix.AddTables(tables, task.scales);
    });
}
} // namespace voxelmaps
