// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaDependenceMethods.h"
#include "dependence/DependencePlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/DependenceJob.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace voxelmaps
{
namespace
{
/** Whether BitPlanes is faster than SortedDependences, whose time does not depend on the levels in a window, and which
 * wastes no bits on windows of few slices. On an H100, windows of 5^3 voxels take 0.5 and 1.3 ns with 32 levels, 2.0
 * and 1.3 with 256; of 7 x 7 x 2 voxels 1.8 and 1.1. */
template <typename TSize>
bool
AreBitsFaster(const TSize & windowSize, std::int64_t numberOfGrayLevels)
{
  constexpr std::int64_t maxLevels = 63;
  const std::int64_t     width = std::max<std::int64_t>({ windowSize[0], windowSize[1], windowSize[2] });
  return numberOfGrayLevels <= maxLevels && (width <= 5 || windowSize[2] == 1);
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
            !canSort || AreBitsFaster(task.window, task.numberOfGrayLevels),
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

bool
IsCpuFaster(const DependenceJob & job, const CudaOptions & options)
{
  // Nanoseconds per output voxel, and per voxel of its window: on one CPU thread, in tiles and window by window; on the
  // device by method, measured on an H100 with windows of 5^3 to 9^3.
  constexpr double        cpuNanoseconds = 100.0;
  constexpr double        cpuNanosecondsPerVoxel = 2.7;
  constexpr double        cpuNanosecondsPerNeighbor = 2.0;
  constexpr double        deviceNanosecondsPerBitStep = 0.007;
  constexpr double        manyLevelsPerBitStep = 3.0;
  constexpr std::uint32_t manyLevels = 64;
  constexpr double        deviceNanosecondsPerSortStep = 0.012;
  constexpr double        deviceNanosecondsPerWalkStep = 0.03;

  const double windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double steps = 1e-6 * static_cast<double>(NumberOfVoxels(job.outputSize));
  const double offsets = static_cast<double>(job.offsets.size());
  // The jobs of tiles, of sorting and of bits, roughly.
  const bool isTiled = offsets < 128.0;
  const bool isSorted = offsets < 14.0 && windowVoxels <= 128.0 && job.numberOfGrayLevels <= 2046;
  const auto width = *std::max_element(job.windowSize.begin(), job.windowSize.end());
  const bool hasManyLevels = job.numberOfGrayLevels >= manyLevels;
  const bool areBits = offsets < 14.0 && (hasManyLevels ? width > 5 && width <= 7 : width <= 9) &&
                       (!isSorted || AreBitsFaster(job.windowSize, job.numberOfGrayLevels));
  const double cpu = steps * (cpuNanoseconds + windowVoxels * (isTiled ? cpuNanosecondsPerVoxel
                                                                       : cpuNanosecondsPerNeighbor * 2.0 * offsets));
  const double device = steps * windowVoxels *
                        (areBits    ? deviceNanosecondsPerBitStep * (hasManyLevels ? manyLevelsPerBitStep : 1.0)
                         : isSorted ? deviceNanosecondsPerSortStep
                                    : deviceNanosecondsPerWalkStep * (1.0 + offsets / 13.0));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 8192;
  return IsCpuEngineFaster(job, job.features.size(), cpu, device, tileVoxels, options);
}
} // namespace voxelmaps
