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
  constexpr double        deviceNanosecondsPerWalkStep = 0.03;

  const double windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double steps = 1e-6 * static_cast<double>(NumberOfVoxels(job.outputSize));
  const double offsets = static_cast<double>(job.offsets.size());
  // The jobs of tiles and of bits, roughly.
  const bool   isTiled = offsets < 128.0;
  const auto   width = *std::max_element(job.windowSize.begin(), job.windowSize.end());
  const bool   hasManyLevels = job.numberOfGrayLevels >= manyLevels;
  const bool   areBits = offsets < 14.0 && width <= (hasManyLevels ? 7 : 9);
  const double cpu = steps * (cpuNanoseconds + windowVoxels * (isTiled ? cpuNanosecondsPerVoxel
                                                                       : cpuNanosecondsPerNeighbor * 2.0 * offsets));
  const double device = steps * windowVoxels *
                        (areBits ? deviceNanosecondsPerBitStep * (hasManyLevels ? manyLevelsPerBitStep : 1.0)
                                 : deviceNanosecondsPerWalkStep * (1.0 + offsets / 13.0));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 8192;
  return IsCpuEngineFaster(job, job.features.size(), cpu, device, tileVoxels, options);
}
} // namespace voxelmaps
