// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaCooccurrenceMethods.h"
#include "cooccurrence/Cooccurrence.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cstdint>
#include <memory>
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

CudaTextureMethods<CooccurrenceJob>
TextureClass<CooccurrenceJob>::GetCudaMethods() const
{
  using Method = CooccurrenceJob::CudaMethod;
  const std::string limits = " with " + std::to_string(task.numberOfGrayLevels) + " gray levels, up to " +
                             std::to_string(task.maxPairs) + " pairs of a matrix and these parameters";
  if (task.offsetWeights != nullptr)
  {
    return {
      limits,
      { { Method::WindowWalk, true, true, CudaWeightedCooccurrenceScratchBytes, ComputeByCudaWeightedCooccurrence } }
    };
  }
  const auto pairList = std::make_shared<const std::int32_t *>(nullptr);
  return {
    limits,
    { { Method::SortedPairs,
        CudaSortedPairsSupports(task, GetCudaDeviceLimits()),
        true,
        [](const CooccurrenceTask & slab) { return WithCorrelations(CudaSortedPairsScratchBytes(slab), slab); },
        [pairList](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
          ComputeByCudaSortedPairs(slab, *pairList, resources);
          ComputeCudaMaximalCorrelations(slab, resources);
        },
        [this, pairList](CudaTables & tables) { tables.Add(MakeCudaPairList(task), *pairList); } },
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
        [](const CooccurrenceTask & slab) { return WithCorrelations(CudaCooccurrenceWalkScratchBytes(slab), slab); },
        [](const CooccurrenceTask & slab, const CudaMethodResources & resources) {
          ComputeByCudaCooccurrenceWalk(slab, resources);
          ComputeCudaMaximalCorrelations(slab, resources);
        } } }
  };
}

void
TextureClass<CooccurrenceJob>::AddCudaTables(CudaTables & tables, CooccurrenceTask & deviceTask) const
{
  tables.Add(offsets, deviceTask.offsets);
  if (!offsetWeights.empty())
  {
    tables.Add(offsetWeights, deviceTask.offsetWeights);
  }
  tables.Add(weights, deviceTask.weights);
  tables.Add(entropyTable, deviceTask.scales.entropyTable);
}
} // namespace voxelmaps
