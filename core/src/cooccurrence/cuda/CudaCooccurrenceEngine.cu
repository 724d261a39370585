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
} // namespace voxelmaps
