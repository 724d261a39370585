// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaRunLengthMethods.h"
#include "runlength/RunLengthPlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/RunLengthJob.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace voxelmaps
{
namespace
{
using Method = CudaRunLengthOptions::Method;
using RunLengthMethod = CudaTextureMethod<RunLengthTask, Method>;

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

/** Computes run entropy, which the method leaves out, by its own kernel. The steps are set before the first slab. */
RunLengthMethod
WithEntropy(const RunLengthMethod & method, const RunLengthTask & task, const std::uint32_t *& steps)
{
  if (!task.needsEntropy)
  {
    return WithSkippedDirections(method, task);
  }
  RunLengthMethod result = method;
  result.isSupported = method.isSupported && CudaRunEntropySupports(task, GetCudaDeviceLimits());
  result.compute = [method, &steps](const RunLengthTask & slab, const CudaMethodResources & resources) {
    if (slab.numberOfFeatures > 1)
    {
      method.compute(slab, resources);
    }
    // Afterwards, since the other methods write all components of a voxel.
    ComputeCudaRunEntropy(slab, steps, resources);
  };
  return WithSkippedDirections(result, task);
}
} // namespace

CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob & job, const CudaRunLengthOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<RunLengthPlan>(job, options, ComputeRunLengthFeatureMapsCuda);
  }
  const std::uint32_t * entropySteps = nullptr;
  CudaSortReduceTimes   times;
  auto                  report = RunCudaTextureEngine<RunLengthPlan, CudaRunLengthReport>(
    job,
    options,
    [&](const RunLengthTask & task) {
      const CudaDeviceLimits & limits = GetCudaDeviceLimits();
      const auto withEntropy = [&](const RunLengthMethod & method) { return WithEntropy(method, task, entropySteps); };
      // SortReduce counts merged matrices of all directions alike.
      const bool sortReduceSupports =
        !(task.skipDirectionsWithoutPairs && task.aggregation == RunLengthJob::Aggregation::Merge);
      const std::string description =
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels and these features";
      if (task.offsetWeights != nullptr)
      {
        return CudaTextureMethods<RunLengthTask, Method>{
          description,
          { { Method::WindowWalk, true, true, CudaWeightedRunLengthScratchBytes, ComputeByCudaWeightedRunLength } }
        };
      }
      return CudaTextureMethods<RunLengthTask, Method>{
        description,
        { withEntropy({ Method::WindowWord, CudaWindowWordSupports(task, limits), true, {}, ComputeByCudaWindowWord }),
          withEntropy({ Method::BoxSums,
                        CudaBoxSumsSupports(task, limits),
                        true,
                        CudaBoxSumsScratchBytes,
                        ComputeByCudaBoxSums }),
          withEntropy({ Method::SlidingWindow,
                        CudaSlidingWindowSupports(task, limits),
                        true,
                        CudaSlidingWindowScratchBytes,
                        ComputeByCudaSlidingWindow }),
          { Method::WindowWalk, true, true, CudaWindowWalkScratchBytes, ComputeByCudaWindowWalk },
          WithSkippedDirections({ Method::SortReduce,
                                  sortReduceSupports,
                                  false,
                                  CudaSortReduceScratchBytes,
                                  [&times](const RunLengthTask & slab, const CudaMethodResources & resources) {
                                    ComputeByCudaSortReduce(slab, resources, times);
                                  } },
                                task) }
      };
    },
    [&](const RunLengthPlan & plan, Method method, CudaTables & tables, RunLengthTask & task) {
      if (!plan.offsetWeights.empty())
      {
        tables.Add(plan.offsetWeights, task.offsetWeights);
      }
      tables.Add(plan.lengthSquares, task.lengthSquares);
      tables.Add(plan.shortRunWeights, task.shortRunWeights);
      tables.Add(plan.inverseSquares, task.inverseSquares);
      tables.Add(plan.entropyTable, task.entropyTable);
      if (task.needsEntropy && method != Method::WindowWalk && method != Method::SortReduce)
      {
        tables.Add(MakeCudaRunEntropySteps(task), entropySteps);
      }
    });
  report.matricesMilliseconds = times.matrices;
  report.featuresMilliseconds = times.features;
  return report;
}
} // namespace voxelmaps
