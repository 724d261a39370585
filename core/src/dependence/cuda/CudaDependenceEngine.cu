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
#include "CudaDependenceMethods.h"
#include "cuda/CudaDevice.h"
#include "dependence/DependencePlan.h"
#include "voxelmaps/CudaDependenceJob.h"
#include "voxelmaps/CudaDevices.h"
#include "texture/cuda/CudaTables.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace voxelmaps
{
namespace
{
using Method = CudaDependenceOptions::Method;

Method
ChooseMethod(Method wanted, const DependenceTask & task)
{
  const bool canSort = CudaSortedDependencesTakes(task, GetCudaDeviceLimits());
  if (wanted == Method::Automatic)
  {
    return canSort ? Method::SortedDependences : Method::WindowWalk;
  }
  if (wanted == Method::SortedDependences && !canSort)
  {
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels with " << task.numberOfGrayLevels << " gray levels and "
            << task.numberOfOffsets << " offsets on this device: use Automatic.";
    throw EngineError(message.str());
  }
  return wanted;
}
} // namespace

CudaDependenceReport
ComputeDependenceFeatureMapsCuda(const DependenceJob & job, const CudaDependenceOptions & options)
{
  const CurrentDevice  device(options.deviceID);
  const DependencePlan plan(job);
  CudaDependenceReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  report.method = ChooseMethod(options.method, plan.task);
  const bool isSorted = report.method == Method::SortedDependences;
  const bool areBits = CudaDependenceNeighborsAreBits(plan.task);

  DependenceTask whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables                     tables;
  const CudaDependencePosition * positions = nullptr;
  tables.Add(plan.offsets, whole.offsets);
  tables.Add(plan.matrix.inverseSquares, whole.scales.inverseSquares);
  if (whole.scales.entropyTable != nullptr)
  {
    tables.Add(plan.matrix.entropyTable, whole.scales.entropyTable);
  }
  if (isSorted)
  {
    tables.Add(MakeCudaDependencePositions(plan.task), positions);
  }
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) {
      return isSorted ? CudaScratchBytes{} : CudaDependenceWalkScratchBytes(TaskOfSlab(whole, slab), areBits);
    },
    tables.GetBytes(),
    options.memoryBudget);
  slabs.Compute(
    [&](const TextureTask & slab, const CudaMethodResources & resources) {
      isSorted ? ComputeByCudaSortedDependences(TaskOfSlab(whole, slab), positions, resources)
               : ComputeByCudaDependenceWalk(TaskOfSlab(whole, slab), areBits, resources);
    },
    report);
  return report;
}

bool
IsCpuFaster(const DependenceJob & job, const CudaOptions & options)
{
  // Nanoseconds per output voxel, and per voxel of its window: on one CPU thread, in tiles and window by window; on the
  // device by method.
  constexpr double cpuNanoseconds = 100.0;
  constexpr double cpuNanosecondsOfVoxel = 2.7;
  constexpr double cpuNanosecondsOfNeighbor = 2.0;
  constexpr double deviceNanosecondsOfSort = 0.012;
  constexpr double deviceNanosecondsOfWalk = 0.03;

  const double windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double steps = 1e-6 * static_cast<double>(NumberOfVoxels(job.outputSize));
  const double offsets = static_cast<double>(job.offsets.size());
  // As tiles and sorting take them, roughly.
  const bool   isTiled = offsets < 128.0;
  const bool   isSorted = offsets < 14.0 && windowVoxels <= 128.0 && job.numberOfGrayLevels <= 2046;
  const double cpu = steps * (cpuNanoseconds + windowVoxels * (isTiled ? cpuNanosecondsOfVoxel
                                                                       : cpuNanosecondsOfNeighbor * 2.0 * offsets));
  const double device =
    steps * windowVoxels * (isSorted ? deviceNanosecondsOfSort : deviceNanosecondsOfWalk * (1.0 + offsets / 13.0));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t voxelsOfTile = 8192;
  return IsCpuEngineFaster(job, job.features.size(), cpu, device, voxelsOfTile, options);
}
} // namespace voxelmaps
