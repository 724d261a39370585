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
#include "CudaSizeZoneMethods.h"
#include "cuda/CudaDevice.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/CudaSizeZoneJob.h"
#include "sizezone/SizeZonePlan.h"
#include "sizezone/SizeZoneWords.h"
#include "texture/cuda/CudaTables.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <sstream>

namespace voxelmaps
{
namespace
{
using Method = CudaSizeZoneOptions::Method;

Method
ChooseMethod(Method wanted, const SizeZoneTask & task)
{
  const bool bitPlanesTake = CudaBitPlanesTakes(task);
  if (wanted == Method::Automatic)
  {
    return bitPlanesTake ? Method::BitPlanes : Method::UnionFind;
  }
  if (wanted == Method::BitPlanes && !bitPlanesTake)
  {
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels with " << task.numberOfGrayLevels
            << " gray levels on this device: use Automatic.";
    throw EngineError(message.str());
  }
  return wanted;
}
} // namespace

CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob & job, const CudaSizeZoneOptions & options)
{
  const CurrentDevice device(options.deviceID);
  const SizeZonePlan  plan(job);
  CudaSizeZoneReport  report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  report.method = ChooseMethod(options.method, plan.task);
  const bool isUnionFind = report.method == Method::UnionFind;

  SizeZoneTask whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables tables;
  tables.Add(plan.matrix.inverseSquares, whole.scales.inverseSquares);
  if (plan.task.scales.entropyTable != nullptr)
  {
    tables.Add(plan.matrix.entropyTable, whole.scales.entropyTable);
  }
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) {
      return isUnionFind ? CudaUnionFindScratchBytes(TaskOfSlab(whole, slab)) : CudaScratchBytes{};
    },
    tables.GetBytes(),
    options.memoryBudget);
  slabs.Compute(
    [&](const TextureTask & slab, const CudaMethodResources & resources) {
      isUnionFind ? ComputeByCudaUnionFind(TaskOfSlab(whole, slab), resources)
                  : ComputeByCudaBitPlanes(TaskOfSlab(whole, slab), resources);
    },
    report);
  return report;
}

bool
IsCpuFaster(const SizeZoneJob & job, const CudaOptions & options)
{
  // Nanoseconds per voxel of a window: of words of bits, and of windows that are walked, on one CPU thread and on the
  // device.
  constexpr double cpuNanosecondsOfBits = 4.0;
  constexpr double cpuNanosecondsOfWalk = 30.0;
  constexpr double deviceNanosecondsOfBits = 0.02;
  constexpr double deviceNanosecondsOfWalk = 0.5;

  // A plan would make its tables.
  SizeZoneTask task{};
  for (int d = 0; d < 3; ++d)
  {
    task.window[d] = static_cast<int>(job.windowSize[d]);
  }
  const bool   hasWords = SlicesFitWords(task, 64);
  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const double steps = 1e-6 * voxels * static_cast<double>(NumberOfVoxels(job.windowSize));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t voxelsOfTile = 8192;
  return IsCpuEngineFaster(job,
                           job.features.size(),
                           steps * (hasWords ? cpuNanosecondsOfBits : cpuNanosecondsOfWalk),
                           steps * (hasWords ? deviceNanosecondsOfBits : deviceNanosecondsOfWalk),
                           voxelsOfTile,
                           options);
}
} // namespace voxelmaps
