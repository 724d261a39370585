// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaRunLengthMethods.h"
#include "runlength/RunLengthPlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/RunLengthJob.h"

#include <algorithm>
#include <cmath>
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

bool
IsCpuFaster(const RunLengthJob & job, const CudaOptions & options)
{
  // Nanoseconds per direction and voxel that windows reach, times the edge of the window, and of the device those per
  // direction and output voxel, times the edge or the voxels of the window.
  constexpr double cpuNanoseconds = 8.0;
  constexpr double cpuNanosecondsPerEntropyStep = 16.0;
  constexpr double deviceNanoseconds = 0.02;
  // Of entropy, those times the voxels of the window and their square: larger windows have more bits and levels, or
  // large tables, of which few fit shared memory at a time, up to windows that only WindowWalk supports.
  constexpr double deviceNanosecondsPerEntropyBit = 0.000002;
  constexpr double deviceNanosecondsPerEntropyStep = 0.000012;
  constexpr double deviceNanosecondsPerWalkStep = 0.06;

  const double directions = 1e-6 * static_cast<double>(job.offsets.size());
  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const auto   windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double edge = std::pow(windowVoxels, job.windowSize[2] > 1 ? 1.0 / 3.0 : 0.5);
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 4096;
  if (!job.offsetWeights.empty())
  {
    constexpr double cpuNanosecondsPerWeight = 39.0;
    constexpr double deviceNanosecondsPerWeight = 0.03;
    return IsCpuEngineFaster(job,
                             job.GetNumberOfComponents(),
                             directions * voxels * windowVoxels * cpuNanosecondsPerWeight,
                             directions * voxels * windowVoxels * deviceNanosecondsPerWeight,
                             tileVoxels,
                             options);
  }
  double reached = 1.0;
  for (int d = 0; d < 3; ++d)
  {
    reached *= static_cast<double>(job.outputSize[d] + job.windowSize[d] - 1);
  }
  const bool hasEntropy =
    std::find(job.features.begin(), job.features.end(), RunLengthJob::Feature::RunEntropy) != job.features.end();
  const double cpu = directions * reached * edge * (cpuNanoseconds + (hasEntropy ? cpuNanosecondsPerEntropyStep : 0.0));
  const bool   areBits = *std::max_element(job.windowSize.begin(), job.windowSize.end()) <= 9;
  const double entropyStep = areBits ? deviceNanosecondsPerEntropyBit : deviceNanosecondsPerEntropyStep;
  const double entropy =
    hasEntropy ? windowVoxels * std::min(windowVoxels * entropyStep, deviceNanosecondsPerWalkStep) : 0.0;
  const double device = directions * voxels * (edge * deviceNanoseconds + entropy);
  return IsCpuEngineFaster(job, job.GetNumberOfComponents(), cpu, device, tileVoxels, options);
}
} // namespace voxelmaps
