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
namespace
{
/** Whether BitPlanes is faster than SortedDependences, whose time does not depend on the levels in a window, and which
 * wastes no bits on windows of few slices. On an H100, windows of 5^3 voxels take 0.5 and 1.3 ns with 32 levels, 2.0
 * and 1.3 with 256; of 7 x 7 x 2 voxels 1.8 and 1.1. */
bool
AreBitsFaster(const DependenceTask & task)
{
  const int width = std::max({ task.window[0], task.window[1], task.window[2] });
  return task.numberOfGrayLevels <= 63 && (width <= 5 || task.window[2] == 1);
}
} // namespace

CudaDependenceReport
ComputeDependenceFeatureMapsCuda(const DependenceJob & job, const CudaDependenceOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<DependencePlan>(job, options, ComputeDependenceFeatureMapsCuda);
  }
  using Method = CudaDependenceOptions::Method;
  const CudaDependencePosition * positions = nullptr;
  return RunCudaTextureEngine<DependencePlan, CudaDependenceReport>(
    job,
    options,
    [&positions](const DependenceTask & task) {
      const bool areBits = CudaDependenceNeighborsAreBits(task);
      const bool canSort = CudaSortedDependencesSupports(task, GetCudaDeviceLimits());
      return CudaTextureMethods<DependenceTask, Method>{
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels and " +
          std::to_string(task.numberOfOffsets) + " offsets",
        { { Method::BitPlanes,
            CudaDependenceBitsSupports(task),
            !canSort || AreBitsFaster(task),
            {},
            [neighbors = MakeCudaNearNeighbors(task)](const DependenceTask &      slab,
                                                      const CudaMethodResources & resources) {
              ComputeByCudaDependenceBits(slab, neighbors, resources);
            } },
          { Method::SortedDependences,
            canSort,
            true,
            {},
            [&positions](const DependenceTask & slab, const CudaMethodResources & resources) {
              ComputeByCudaSortedDependences(slab, positions, resources);
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
    [&positions](const DependencePlan & plan, Method method, CudaTables & tables, DependenceTask & task) {
      tables.Add(plan.offsets, task.offsets);
      plan.matrix.AddTables(tables, task.scales);
      if (method == Method::SortedDependences)
      {
        tables.Add(MakeCudaDependencePositions(plan.task), positions);
      }
    });
}
} // namespace voxelmaps
