// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaSizeZoneMethods.h"
#include "sizezone/SizeZonePlan.h"
#include "sizezone/SizeZoneWords.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/SizeZoneJob.h"

#include <string>

namespace voxelmaps
{
CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob & job, const CudaSizeZoneOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<SizeZonePlan>(job, options, ComputeSizeZoneFeatureMapsCuda);
  }
  using Method = CudaSizeZoneOptions::Method;
  return RunCudaTextureEngine<SizeZonePlan, CudaSizeZoneReport>(
    job,
    options,
    [](const SizeZoneTask & task) {
      return CudaTextureMethods<SizeZoneTask, Method>{
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels",
        { { Method::BitPlanes, CudaBitPlanesSupports(task), true, {}, ComputeByCudaBitPlanes },
          { Method::UnionFind, true, true, CudaUnionFindScratchBytes, ComputeByCudaUnionFind } }
      };
    },
    [](const SizeZonePlan & plan, Method, CudaTables & tables, SizeZoneTask & task) {
      plan.matrix.AddTables(tables, task.scales);
    });
}

bool
IsCpuFaster(const SizeZoneJob & job, const CudaOptions & options)
{
  // Nanoseconds per voxel of a window: of words of bits, and of windows that are walked, on one CPU thread and on the
  // device; measured on an H100 with windows of 5^3 to 11^3.
  constexpr double cpuNanosecondsPerBitStep = 4.0;
  constexpr double cpuNanosecondsPerWalkStep = 30.0;
  constexpr double deviceNanosecondsPerThreadStep = 0.008;
  constexpr double deviceNanosecondsPerLaneStep = 0.025;
  constexpr double deviceNanosecondsPerWalkStep = 0.5;

  // A plan would make its tables.
  SizeZoneTask task{};
  for (int d = 0; d < 3; ++d)
  {
    task.window[d] = static_cast<int>(job.windowSize[d]);
  }
  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const double steps = 1e-6 * voxels * static_cast<double>(NumberOfVoxels(job.windowSize));
  const double cpu = SlicesFitWords(task, maxWordBits) ? cpuNanosecondsPerBitStep : cpuNanosecondsPerWalkStep;
  // The windows of threads, and of lanes that have a slice, roughly.
  const bool   hasThreads = SlicesFitWords(task, 64) && task.window[2] <= 5;
  const bool   hasLanes = RowBits(task) * task.window[1] <= 256 && task.window[2] <= 32;
  const double device = hasThreads ? deviceNanosecondsPerThreadStep
                        : hasLanes ? deviceNanosecondsPerLaneStep
                                   : deviceNanosecondsPerWalkStep;
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 8192;
  return IsCpuEngineFaster(job, job.features.size(), steps * cpu, steps * device, tileVoxels, options);
}
} // namespace voxelmaps
