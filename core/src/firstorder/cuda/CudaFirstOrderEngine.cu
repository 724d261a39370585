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
#include "CudaFirstOrderMethods.h"
#include "cuda/CudaDevice.h"
#include "firstorder/FirstOrderPlan.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/CudaFirstOrderJob.h"
#include "texture/cuda/CudaTables.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <cmath>
#include <sstream>

namespace voxelmaps
{
namespace
{
using Method = CudaFirstOrderOptions::Method;

// Larger windows take less time without sorting.
constexpr int maxVoxelsToSort = 512;

Method
ChooseMethod(Method wanted, const FirstOrderTask & task)
{
  const bool canSort = CudaSortingNetworkTakes(task);
  if (wanted == Method::Automatic)
  {
    return canSort && task.windowVoxels <= maxVoxelsToSort ? Method::SortingNetwork : Method::RadixSelection;
  }
  if (wanted == Method::SortingNetwork && !canSort)
  {
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels on this device: use Automatic.";
    throw EngineError(message.str());
  }
  return wanted;
}
} // namespace

CudaFirstOrderReport
ComputeFirstOrderFeatureMapsCuda(const FirstOrderJob & job, const CudaFirstOrderOptions & options)
{
  const CurrentDevice  device(options.deviceID);
  const FirstOrderPlan plan(job);
  CudaFirstOrderReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  report.method = ChooseMethod(options.method, plan.task);

  FirstOrderTask whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables tables;
  tables.Add(plan.entropyTable, whole.entropyTable);
  tables.Upload();
  const bool     sorts = report.method == Method::SortingNetwork;
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) {
      return sorts ? CudaScratchBytes() : CudaRadixSelectionScratchBytes(TaskOfSlab(whole, slab));
    },
    tables.GetBytes(),
    options.memoryBudget);
  slabs.Compute(
    [&](const TextureTask & slab, const CudaMethodResources & resources) {
      sorts ? ComputeByCudaSortingNetwork(TaskOfSlab(whole, slab), resources)
            : ComputeByCudaRadixSelection(TaskOfSlab(whole, slab), resources);
    },
    report);
  return report;
}

bool
IsCpuFaster(const FirstOrderJob & job, const CudaOptions & options)
{
  // Nanoseconds per voxel of a window, and per voxel times the square of the logarithm of their number for sorting, on
  // one CPU thread and on the device.
  constexpr double cpuNanoseconds = 2.5;
  constexpr double cpuNanosecondsOfSorting = 0.025;
  constexpr double deviceNanoseconds = 0.005;
  constexpr double deviceNanosecondsOfSorting = 0.0003;

  // A plan would make its table.
  FirstOrderTask task{};
  FirstOrderPlan::SetFeatures(job, task);
  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const auto   windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double logarithm = task.needsPercentiles ? std::log2(windowVoxels + 1.0) : 0.0;
  const double steps = 1e-6 * voxels * windowVoxels;
  const double cpu = steps * (cpuNanoseconds + logarithm * logarithm * cpuNanosecondsOfSorting);
  const double device = steps * (deviceNanoseconds + logarithm * logarithm * deviceNanosecondsOfSorting);
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t voxelsOfTile = 8192;
  return IsCpuEngineFaster(job, job.features.size(), cpu, device, voxelsOfTile, options);
}
} // namespace voxelmaps
