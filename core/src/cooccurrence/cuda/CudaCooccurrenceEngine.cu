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
#include "CudaCooccurrenceMethods.h"
#include "cooccurrence/CooccurrencePlan.h"
#include "cuda/CudaDevice.h"
#include "voxelmaps/CudaCooccurrenceJob.h"
#include "voxelmaps/CudaDevices.h"
#include "texture/cuda/CudaTables.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace voxelmaps
{
namespace
{
using Method = CudaCooccurrenceOptions::Method;

Method
ChooseMethod(Method wanted, const CooccurrenceTask & task)
{
  const bool sortedPairsTake = CudaSortedPairsTakes(task, GetCudaDeviceLimits());
  if (wanted == Method::Automatic)
  {
    return sortedPairsTake ? Method::SortedPairs : Method::WindowWalk;
  }
  if (wanted == Method::SortedPairs && !sortedPairsTake)
  {
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels with " << task.numberOfGrayLevels << " gray levels, up to "
            << task.maxPairs << " pairs of a matrix and these parameters on this device: use Automatic.";
    throw EngineError(message.str());
  }
  return wanted;
}
} // namespace

CudaCooccurrenceReport
ComputeCooccurrenceFeatureMapsCuda(const CooccurrenceJob & job, const CudaCooccurrenceOptions & options)
{
  const CurrentDevice    device(options.deviceID);
  const CooccurrencePlan plan(job);
  CudaCooccurrenceReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  report.method = ChooseMethod(options.method, plan.task);
  const bool isSorted = report.method == Method::SortedPairs;

  CooccurrenceTask whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables           tables;
  const std::int32_t * pairList = nullptr;
  tables.Add(plan.offsets, whole.offsets);
  tables.Add(plan.weights, whole.weights);
  tables.Add(plan.entropyTable, whole.scales.entropyTable);
  if (isSorted)
  {
    tables.Add(MakeCudaPairList(plan.task), pairList);
  }
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) {
      const CudaScratchBytes ofMethod =
        isSorted ? CudaScratchBytes{} : CudaCooccurrenceWalkScratchBytes(TaskOfSlab(whole, slab));
      const CudaScratchBytes ofCorrelations = CudaMaximalCorrelationScratchBytes(TaskOfSlab(whole, slab));
      return CudaScratchBytes{ std::max(ofMethod.minimum, ofCorrelations.minimum),
                               std::max(ofMethod.maximum, ofCorrelations.maximum) };
    },
    tables.GetBytes(),
    options.memoryBudget);
  slabs.Compute(
    [&](const TextureTask & slab, const CudaMethodResources & resources) {
      isSorted ? ComputeByCudaSortedPairs(TaskOfSlab(whole, slab), pairList, resources)
               : ComputeByCudaCooccurrenceWalk(TaskOfSlab(whole, slab), resources);
      ComputeCudaMaximalCorrelations(TaskOfSlab(whole, slab), resources);
    },
    report);
  return report;
}

bool
IsCpuFaster(const CooccurrenceJob & job, const CudaOptions & options)
{
  // Nanoseconds per offset and output voxel: on one CPU thread, and more for each voxel of a plane, which leaves and
  // enters the window; on the device for each voxel of the window, by method and kind of table.
  constexpr double cpuNanoseconds = 150.0;
  constexpr double cpuNanosecondsOfPlane = 8.0;
  constexpr double deviceNanosecondsOfSort = 0.005;
  constexpr double deviceNanosecondsOfArray = 0.03;
  constexpr double deviceNanosecondsOfHash = 0.2;

  const double windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const bool   isSorted = job.symmetric && job.aggregation != CooccurrenceJob::Aggregation::Merge &&
                        job.numberOfGrayLevels <= 256 && windowVoxels < 200.0;
  const double deviceNanoseconds = isSorted                      ? deviceNanosecondsOfSort
                                   : job.numberOfGrayLevels < 64 ? deviceNanosecondsOfArray
                                                                 : deviceNanosecondsOfHash;
  // For the maximal correlation coefficient, with about ten levels in a window.
  constexpr double cpuNanosecondsOfCorrelation = 400.0;
  constexpr double deviceNanosecondsOfCorrelation = 7.0;
  const bool       hasCorrelation =
    std::find(job.features.begin(), job.features.end(), CooccurrenceJob::Feature::MaximalCorrelationCoefficient) !=
    job.features.end();

  const double steps =
    1e-6 * static_cast<double>(job.offsets.size()) * static_cast<double>(NumberOfVoxels(job.outputSize));
  const double cpu =
    steps * (cpuNanoseconds + cpuNanosecondsOfPlane * windowVoxels / static_cast<double>(job.windowSize[0]) +
             (hasCorrelation ? cpuNanosecondsOfCorrelation : 0.0));
  const double device =
    steps * (deviceNanoseconds * windowVoxels + (hasCorrelation ? deviceNanosecondsOfCorrelation : 0.0));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t voxelsOfTile = 4096;
  return IsCpuEngineFaster(job, job.GetNumberOfComponents(), cpu, device, voxelsOfTile, options);
}
} // namespace voxelmaps
