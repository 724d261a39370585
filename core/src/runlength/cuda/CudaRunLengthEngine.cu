// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaRunLengthMethods.h"
#include "runlength/RunLength.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace voxelmaps
{
namespace
{
using Method = RunLengthJob::CudaMethod;
using RunLengthMethod = CudaTextureMethod<RunLengthJob>;

/** Lets windows be computed again by WindowWalk if directions without pairs are to be skipped. */
RunLengthMethod
WithSkippedDirections(const RunLengthMethod & method, const RunLengthTask & task)
{
  if (!task.skipDirectionsWithoutPairs)
  {
    return method;
  }
  RunLengthMethod result = method;
  result.scratchBytes = [method](const RunLengthTask & slab) {
    CudaScratchBytes       bytes = method.scratchBytes ? method.scratchBytes(slab) : CudaScratchBytes{};
    const CudaScratchBytes walk = CudaWindowWalkScratchBytes(slab);
    bytes.minimum = std::max(bytes.minimum, walk.minimum);
    bytes.maximum = std::max(bytes.maximum, walk.maximum);
    return bytes;
  };
  result.compute = [method](const RunLengthTask & slab, const CudaMethodResources & resources) {
    method.compute(slab, resources);
    SkipDirectionsByCudaWindowWalk(slab, resources);
  };
  return result;
}

/** Computes run entropy, which the method leaves out, by its own kernel. */
RunLengthMethod
WithEntropy(const RunLengthMethod & method, const RunLengthTask & task)
{
  if (!task.needsEntropy)
  {
    return WithSkippedDirections(method, task);
  }
  RunLengthMethod result = method;
  result.isSupported = method.isSupported && CudaRunEntropySupports(task, GetCudaDeviceLimits());
  const auto steps = std::make_shared<const std::uint32_t *>(nullptr);
  result.addTables = [task, steps](CudaTables & tables) { tables.Add(MakeCudaRunEntropySteps(task), *steps); };
  result.compute = [method, steps](const RunLengthTask & slab, const CudaMethodResources & resources) {
    if (slab.numberOfFeatures > 1)
    {
      method.compute(slab, resources);
    }
    // Afterwards, since the other methods write all components of a voxel.
    ComputeCudaRunEntropy(slab, *steps, resources);
  };
  return WithSkippedDirections(result, task);
}
} // namespace

CudaTextureMethods<RunLengthJob>
TextureClass<RunLengthJob>::GetCudaMethods() const
{
  const CudaDeviceLimits & limits = GetCudaDeviceLimits();
  const auto               withEntropy = [&](const RunLengthMethod & method) { return WithEntropy(method, task); };
  // SortReduce counts merged matrices of all directions alike.
  const bool sortReduceSupports =
    !(task.skipDirectionsWithoutPairs && task.aggregation == RunLengthJob::Aggregation::Merge);
  const std::string description =
    " with " + std::to_string(task.numberOfGrayLevels) + " gray levels and these features";
  if (task.offsetWeights != nullptr)
  {
    return {
      description,
      { { Method::WindowWalk, true, true, CudaWeightedRunLengthScratchBytes, ComputeByCudaWeightedRunLength } }
    };
  }
  return {
    description,
    { withEntropy({ Method::WindowWord, CudaWindowWordSupports(task, limits), true, {}, ComputeByCudaWindowWord }),
      withEntropy(
        { Method::BoxSums, CudaBoxSumsSupports(task, limits), true, CudaBoxSumsScratchBytes, ComputeByCudaBoxSums }),
      withEntropy({ Method::SlidingWindow,
                    CudaSlidingWindowSupports(task, limits),
                    true,
                    CudaSlidingWindowScratchBytes,
                    ComputeByCudaSlidingWindow }),
      { Method::WindowWalk, true, true, CudaWindowWalkScratchBytes, ComputeByCudaWindowWalk },
      WithSkippedDirections(
        { Method::SortReduce, sortReduceSupports, false, CudaSortReduceScratchBytes, ComputeByCudaSortReduce }, task) }
  };
}

void
TextureClass<RunLengthJob>::AddCudaTables(CudaTables & tables, RunLengthTask & deviceTask) const
{
  if (!offsetWeights.empty())
  {
    tables.Add(offsetWeights, deviceTask.offsetWeights);
  }
  tables.Add(lengthSquares, deviceTask.lengthSquares);
  tables.Add(shortRunWeights, deviceTask.shortRunWeights);
  tables.Add(inverseSquares, deviceTask.inverseSquares);
  tables.Add(entropyTable, deviceTask.entropyTable);
}
} // namespace voxelmaps
