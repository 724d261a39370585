// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaRunAccumulator.cuh"
#include "CudaRunLengthMethods.h"
#include "window/cuda/CudaTextureEngine.h"
#include "glrlm/RunLengthWalk.h"
#include "glrlm/WeightedRunLength.h"
#include "window/cuda/CudaWalk.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
namespace
{
// --- Walks: one warp per window, or one thread if directions have weights

using Walk = RunLengthWalk<CudaThreadBlock>;
using SkippedWalk = SkippedDirectionsWalk<CudaThreadBlock>;

// 64 teams per multiprocessor: 7.1 ms on an H200 for windows of 7x7x7 in 64^3 voxels with 32 levels; 8.9 ms with 32.
// Larger workspaces would leave room for less than 14 blocks on an H100.
constexpr CudaWalkPolicy policy{ "glrlm", CudaThreadBlock::lanesPerWarp, 16384, 64 };

std::int64_t
WindowSteps(const RunLengthTask & task)
{
  return static_cast<std::int64_t>(task.maxVoxels) * task.directions.number;
}

CudaScratchBytes
WalkScratchBytes(const RunLengthTask & task)
{
  return task.offsetWeights != nullptr ? CudaWalkScratchBytes<WeightedRunLength>(task, cudaThreadWalkPolicy)
                                       : CudaWalkScratchBytes<Walk>(task, policy);
}

void
ComputeByWalk(const RunLengthTask & task, const CudaMethodResources & resources)
{
  // A thread needs eight times as long for a step as a warp.
  task.offsetWeights != nullptr
    ? ComputeByCudaWalk<WeightedRunLength>(
        task, cudaThreadWalkPolicy, 8 * static_cast<std::int64_t>(task.maxVoxels), resources)
    : ComputeByCudaWalk<Walk>(task, policy, WindowSteps(task), resources);
}

void
SkipDirectionsByWalk(const RunLengthTask & task, const CudaMethodResources & resources)
{
  ComputeByCudaWalk<SkippedWalk>(task, policy, WindowSteps(task), resources);
}

// --- The engine

using RunLengthMethod = CudaTextureMethod<RunLengthJob>;

/** The task of run entropy alone, which is stored at its place among the features. */
RunLengthTask
EntropyTask(const RunLengthTask & task)
{
  RunLengthTask entropy = task;
  entropy.numberOfFeatures = 1;
  entropy.features[0] = RunLengthJob::Feature::RunEntropy;
  entropy.numberOfComponents = task.numberOfComponents / task.numberOfFeatures;
  entropy.output = static_cast<char *>(task.output) +
                   FindRunEntropy(task) * task.componentStride * static_cast<std::int64_t>(ComponentBytes(task));
  entropy.componentStride = task.componentStride * task.numberOfFeatures;
  entropy.needsLevelCounts = entropy.needsLevelSum = entropy.needsSquares = entropy.needsInverses = false;
  return entropy;
}

/** Lets other kernels compute what a method leaves out: run entropy, if so, and windows in which directions without
 * pairs are to be skipped. */
RunLengthMethod
Complete(const RunLengthMethod & method, const RunLengthTask & task)
{
  const bool needsEntropy = task.needsEntropy;
  const bool hasBits = needsEntropy && CudaRunEntropyBitsSupports(task);
  const bool slides = needsEntropy && !hasBits && CudaRunEntropySlideSupports(task);
  const bool walks = task.skipDirectionsWithoutPairs || (needsEntropy && !hasBits && !slides);

  RunLengthMethod result = method;
  result.scratchBytes = [=](const RunLengthTask & slab) {
    CudaScratchBytes bytes = method.scratchBytes ? method.scratchBytes(slab) : CudaScratchBytes{};
    const auto       include = [&bytes](const CudaScratchBytes & other) {
      bytes.minimum = std::max(bytes.minimum, other.minimum);
      bytes.maximum = std::max(bytes.maximum, other.maximum);
    };
    if (slides)
    {
      include(CudaRunEntropySlideScratchBytes(slab));
    }
    if (walks)
    {
      include(WalkScratchBytes(slab));
    }
    return bytes;
  };
  result.compute = [=](const RunLengthTask & slab, const CudaMethodResources & resources) {
    if (slab.numberOfFeatures > 1 || !needsEntropy)
    {
      method.compute(slab, resources);
    }
    // Afterwards, since the methods write all components of a voxel.
    if (needsEntropy)
    {
      hasBits  ? ComputeCudaRunEntropyBits(slab, resources)
      : slides ? ComputeCudaRunEntropySlide(slab, resources)
               : ComputeByWalk(EntropyTask(slab), resources);
    }
    if (slab.skipDirectionsWithoutPairs)
    {
      SkipDirectionsByWalk(slab, resources);
    }
  };
  return result;
}
} // namespace

std::vector<CudaTextureMethod<RunLengthJob>>
TextureClass<RunLengthJob>::GetCudaMethods() const
{
  std::vector<RunLengthMethod> methods;
  if (task.offsetWeights == nullptr)
  {
    const CudaDeviceLimits & limits = GetCudaDeviceLimits();
    methods = {
      { "WindowWord", FullSupportIf(CudaWindowWordSupports(task, limits)), {}, ComputeByCudaWindowWord },
      { "BoxSums", FullSupportIf(CudaBoxSumsSupports(task, limits)), CudaBoxSumsScratchBytes, ComputeByCudaBoxSums },
      { "SlidingWindow",
        FullSupportIf(CudaSlidingWindowSupports(task, limits)),
        CudaSlidingWindowScratchBytes,
        ComputeByCudaSlidingWindow },
      { "SortReduce",
        CudaSortReduceSupports(task) ? MethodSupport::ByName : MethodSupport::None,
        CudaSortReduceScratchBytes,
        ComputeByCudaSortReduce }
    };
    for (RunLengthMethod & method : methods)
    {
      method = Complete(method, task);
    }
  }
  methods.push_back({ "WindowWalk", MethodSupport::Full, WalkScratchBytes, ComputeByWalk });
  return methods;
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
