// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaCooccurrenceMethods.h"
#include "cooccurrence/CooccurrencePlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/CooccurrenceJob.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace voxelmaps
{
namespace
{
/** Adds the maximal correlations, which the methods leave out. */
CudaScratchBytes
WithCorrelations(CudaScratchBytes method, const CooccurrenceTask & slab)
{
  const CudaScratchBytes correlations = CudaMaximalCorrelationScratchBytes(slab);
  return { std::max(method.minimum, correlations.minimum), std::max(method.maximum, correlations.maximum) };
}
} // namespace

CudaCooccurrenceReport
ComputeCooccurrenceFeatureMapsCuda(const CooccurrenceJob & job, const CudaCooccurrenceOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<CooccurrencePlan>(job, options, ComputeCooccurrenceFeatureMapsCuda);
  }
  using Method = CudaCooccurrenceOptions::Method;
  const std::int32_t * pairList = nullptr;
  return RunCudaTextureEngine<CooccurrencePlan, CudaCooccurrenceReport>(
    job,
    options,
    [&pairList](const CooccurrenceTask & task) {
      const std::string limits = " with " + std::to_string(task.numberOfGrayLevels) + " gray levels, up to " +
                                 std::to_string(task.maxPairs) + " pairs of a matrix and these parameters";
      if (task.offsetWeights != nullptr)
      {
        return CudaTextureMethods<CooccurrenceTask, Method>{ limits,
                                                             { { Method::WindowWalk,
                                                                 true,
                                                                 true,
                                                                 CudaWeightedCooccurrenceScratchBytes,
                                                                 ComputeByCudaWeightedCooccurrence } } };
      }
      return CudaTextureMethods<CooccurrenceTask, Method>{
        limits,
        { { Method::SortedPairs,
            CudaSortedPairsSupports(task, GetCudaDeviceLimits()),
            true,
            [](const CooccurrenceTask & slab) { return WithCorrelations(CudaSortedPairsScratchBytes(slab), slab); },
            [&pairList](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
              ComputeByCudaSortedPairs(slab, pairList, resources);
              ComputeCudaMaximalCorrelations(slab, resources);
            } },
          { Method::RankTables,
            CudaRankTablesSupports(task, GetCudaDeviceLimits()),
            true,
            [](const CooccurrenceTask & slab) { return WithCorrelations(CudaRankTablesScratchBytes(slab), slab); },
            [](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
              ComputeByCudaRankTables(slab, resources);
              ComputeCudaMaximalCorrelations(slab, resources);
            } },
          { Method::WindowWalk,
            true,
            true,
            [](const CooccurrenceTask & slab) {
              return WithCorrelations(CudaCooccurrenceWalkScratchBytes(slab), slab);
            },
            [](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
              ComputeByCudaCooccurrenceWalk(slab, resources);
              ComputeCudaMaximalCorrelations(slab, resources);
            } } }
      };
    },
    [&pairList](const CooccurrencePlan & plan, Method method, CudaTables & tables, CooccurrenceTask & task) {
      tables.Add(plan.offsets, task.offsets);
      if (!plan.offsetWeights.empty())
      {
        tables.Add(plan.offsetWeights, task.offsetWeights);
      }
      tables.Add(plan.weights, task.weights);
      tables.Add(plan.entropyTable, task.scales.entropyTable);
      if (method == Method::SortedPairs)
      {
        tables.Add(MakeCudaPairList(plan.task), pairList);
      }
    });
}

bool
IsCpuFaster(const CooccurrenceJob & job, const CudaOptions & options)
{
  // Nanoseconds per offset and output voxel: on one CPU thread, and more for each voxel of a plane, which leaves and
  // enters the window; on the device for each voxel of the window, by method and kind of table. Measured on an H100
  // with windows of 5^3 to 9^3.
  constexpr double cpuNanoseconds = 150.0;
  constexpr double cpuNanosecondsPerPlane = 8.0;
  constexpr double deviceNanosecondsPerTableStep = 0.0016;
  constexpr double deviceNanosecondsPerSortStep = 0.005;
  constexpr double deviceNanosecondsPerArrayStep = 0.03;
  constexpr double deviceNanosecondsPerHashStep = 0.2;

  const double windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const bool   isSorted = job.symmetric && job.aggregation != CooccurrenceJob::Aggregation::Merge &&
                        job.numberOfGrayLevels <= 256 && windowVoxels < 200.0;
  // Where most windows have tables of ranks.
  const bool   isRanked = job.symmetric && job.numberOfGrayLevels <= 32 && windowVoxels <= 1000.0;
  const double deviceNanoseconds = isRanked                      ? deviceNanosecondsPerTableStep
                                   : isSorted                    ? deviceNanosecondsPerSortStep
                                   : job.numberOfGrayLevels < 64 ? deviceNanosecondsPerArrayStep
                                                                 : deviceNanosecondsPerHashStep;
  // For the maximal correlation coefficient, with about ten levels in a window.
  constexpr double cpuNanosecondsPerCorrelation = 400.0;
  constexpr double deviceNanosecondsPerCorrelation = 1.0;
  const bool       hasCorrelation =
    std::find(job.features.begin(), job.features.end(), CooccurrenceJob::Feature::MaximalCorrelationCoefficient) !=
    job.features.end();

  const double steps =
    1e-6 * static_cast<double>(job.offsets.size()) * static_cast<double>(NumberOfVoxels(job.outputSize));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 4096;
  if (!job.offsetWeights.empty())
  {
    constexpr double cpuNanosecondsPerWeight = 28.0;
    constexpr double deviceNanosecondsPerWeight = 0.06;
    return IsCpuEngineFaster(job,
                             job.GetNumberOfComponents(),
                             steps * windowVoxels * cpuNanosecondsPerWeight,
                             steps * windowVoxels * deviceNanosecondsPerWeight,
                             tileVoxels,
                             options);
  }
  const double cpu =
    steps * (cpuNanoseconds + cpuNanosecondsPerPlane * windowVoxels / static_cast<double>(job.windowSize[0]) +
             (hasCorrelation ? cpuNanosecondsPerCorrelation : 0.0));
  const double device =
    steps * (deviceNanoseconds * windowVoxels + (hasCorrelation ? deviceNanosecondsPerCorrelation : 0.0));
  return IsCpuEngineFaster(job, job.GetNumberOfComponents(), cpu, device, tileVoxels, options);
}
} // namespace voxelmaps
