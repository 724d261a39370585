/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "CudaRunLengthMethods.h"
#include "cuda/CudaDevice.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/CudaRunLengthJob.h"
#include "runlength/RunLengthPlan.h"
#include "texture/cuda/CudaTables.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace voxelmaps
{
namespace
{
using Method = CudaRunLengthOptions::Method;

/** Whether run entropy has a kernel of its own beside the method. */
bool
LeavesOutEntropy(Method method)
{
  return method == Method::WindowWord || method == Method::BoxSums || method == Method::SlidingWindow;
}

bool
MethodTakes(Method method, const RunLengthTask & task)
{
  const CudaDeviceLimits & limits = GetCudaDeviceLimits();
  if (LeavesOutEntropy(method) && task.needsEntropy && !CudaRunEntropyTakes(task, limits))
  {
    return false;
  }
  switch (method)
  {
    case Method::WindowWord:
      return CudaWindowWordTakes(task, limits);
    case Method::BoxSums:
      return CudaBoxSumsTakes(task, limits);
    case Method::SlidingWindow:
      return CudaSlidingWindowTakes(task, limits);
    case Method::SortReduce:
      // It counts merged matrices of all directions alike.
      return !(task.skipDirectionsWithoutPairs && task.aggregation == RunLengthJob::Aggregation::Merge);
    default:
      return true;
  }
}

Method
ChooseMethod(Method wanted, const RunLengthTask & task)
{
  if (wanted == Method::Automatic)
  {
    return MethodTakes(Method::WindowWord, task)      ? Method::WindowWord
           : MethodTakes(Method::BoxSums, task)       ? Method::BoxSums
           : MethodTakes(Method::SlidingWindow, task) ? Method::SlidingWindow
                                                      : Method::WindowWalk;
  }
  if (!MethodTakes(wanted, task))
  {
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels with " << task.numberOfGrayLevels
            << " gray levels and these features on this device: use Automatic.";
    throw EngineError(message.str());
  }
  return wanted;
}

CudaScratchBytes
GetScratchBytes(Method method, const RunLengthTask & slab)
{
  CudaScratchBytes bytes;
  switch (method)
  {
    case Method::SortReduce:
      bytes = CudaSortReduceScratchBytes(slab);
      break;
    case Method::BoxSums:
      bytes = CudaBoxSumsScratchBytes(slab);
      break;
    case Method::SlidingWindow:
      bytes = CudaSlidingWindowScratchBytes(slab);
      break;
    case Method::WindowWord:
      break;
    default:
      return CudaWindowWalkScratchBytes(slab);
  }
  if (slab.skipDirectionsWithoutPairs)
  {
    const CudaScratchBytes ofWalk = CudaWindowWalkScratchBytes(slab);
    bytes.minimum = std::max(bytes.minimum, ofWalk.minimum);
    bytes.maximum = std::max(bytes.maximum, ofWalk.maximum);
  }
  return bytes;
}

/** All features but run entropy. */
void
ComputeWithoutEntropy(Method method, const RunLengthTask & task, const CudaMethodResources & resources)
{
  switch (method)
  {
    case Method::WindowWord:
      return ComputeByCudaWindowWord(task, resources);
    case Method::BoxSums:
      return ComputeByCudaBoxSums(task, resources);
    default:
      return ComputeByCudaSlidingWindow(task, resources);
  }
}

void
Compute(Method method, const RunLengthTask & task, const std::uint32_t * entropySteps,
        const CudaMethodResources & resources, CudaSortReduceTimes & times)
{
  if (method == Method::WindowWalk)
  {
    return ComputeByCudaWindowWalk(task, resources);
  }
  if (method == Method::SortReduce)
  {
    ComputeByCudaSortReduce(task, resources, times);
  }
  else
  {
    if (!task.needsEntropy || task.numberOfFeatures > 1)
    {
      ComputeWithoutEntropy(method, task, resources);
    }
    if (task.needsEntropy)
    {
      // Afterwards, since the others write whole voxels.
      ComputeCudaRunEntropy(task, entropySteps, resources);
    }
  }
  if (task.skipDirectionsWithoutPairs)
  {
    SkipDirectionsByCudaWindowWalk(task, resources);
  }
}
} // namespace

CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob & job, const CudaRunLengthOptions & options)
{
  const CurrentDevice device(options.deviceID);
  const RunLengthPlan plan(job);
  CudaRunLengthReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  report.method = ChooseMethod(options.method, plan.task);

  RunLengthTask whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables                 tables;
  std::vector<std::uint32_t> steps;
  const std::uint32_t *      entropySteps = nullptr;
  tables.Add(plan.lengthSquares, whole.lengthSquares);
  tables.Add(plan.shortRunWeights, whole.shortRunWeights);
  tables.Add(plan.inverseSquares, whole.inverseSquares);
  tables.Add(plan.entropyTable, whole.entropyTable);
  if (LeavesOutEntropy(report.method) && whole.needsEntropy)
  {
    steps = MakeCudaRunEntropySteps(whole);
    tables.Add(steps, entropySteps);
  }
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) { return GetScratchBytes(report.method, TaskOfSlab(whole, slab)); },
    tables.GetBytes(),
    options.memoryBudget);
  CudaSortReduceTimes times;
  slabs.Compute(
    [&](const TextureTask & slab, const CudaMethodResources & resources) {
      Compute(report.method, TaskOfSlab(whole, slab), entropySteps, resources, times);
    },
    report);
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
  constexpr double cpuNanosecondsOfEntropy = 16.0;
  constexpr double deviceNanoseconds = 0.02;
  // Of entropy, those times the voxels of the window and their square: large windows have large tables, of which few
  // fit shared memory at a time, up to windows that WindowWalk takes.
  constexpr double deviceNanosecondsOfEntropy = 0.000012;
  constexpr double deviceNanosecondsOfWalk = 0.06;

  const double directions = 1e-6 * static_cast<double>(job.offsets.size());
  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const auto   windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double edge = std::pow(windowVoxels, job.windowSize[2] > 1 ? 1.0 / 3.0 : 0.5);
  double       reached = 1.0;
  for (int d = 0; d < 3; ++d)
  {
    reached *= static_cast<double>(job.outputSize[d] + job.windowSize[d] - 1);
  }
  const bool hasEntropy =
    std::find(job.features.begin(), job.features.end(), RunLengthJob::Feature::RunEntropy) != job.features.end();
  const double cpu = directions * reached * edge * (cpuNanoseconds + (hasEntropy ? cpuNanosecondsOfEntropy : 0.0));
  const double entropy =
    hasEntropy ? windowVoxels * std::min(windowVoxels * deviceNanosecondsOfEntropy, deviceNanosecondsOfWalk) : 0.0;
  const double device = directions * voxels * (edge * deviceNanoseconds + entropy);
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t voxelsOfTile = 4096;
  return IsCpuEngineFaster(job, job.GetNumberOfComponents(), cpu, device, voxelsOfTile, options);
}
} // namespace voxelmaps
