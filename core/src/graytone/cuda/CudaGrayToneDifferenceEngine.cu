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
#include "CudaGrayToneDifferenceMethods.h"
#include "cuda/CudaDevice.h"
#include "graytone/GrayToneDifferencePlan.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/CudaGrayToneDifferenceJob.h"
#include "texture/cuda/CudaTables.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <sstream>

namespace voxelmaps
{
namespace
{
using Method = CudaGrayToneDifferenceOptions::Method;

Method
ChooseMethod(Method wanted, const GrayToneDifferenceTask & task)
{
  // Where tables of many levels leave a block a single warp, WindowWalk takes half the time.
  constexpr int minWarps = 2;
  const int     warps = WarpsOfCudaLevelTables(task, GetCudaDeviceLimits());
  if (wanted == Method::Automatic)
  {
    return warps >= minWarps ? Method::LevelTables : Method::WindowWalk;
  }
  if (wanted == Method::LevelTables && warps == 0)
  {
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels with " << task.numberOfGrayLevels << " gray levels and "
            << 2 * task.numberOfOffsets << " neighbors of a voxel on this device: use Automatic.";
    throw EngineError(message.str());
  }
  return wanted;
}
} // namespace

CudaGrayToneDifferenceReport
ComputeGrayToneDifferenceFeatureMapsCuda(const GrayToneDifferenceJob &         job,
                                         const CudaGrayToneDifferenceOptions & options)
{
  const CurrentDevice          device(options.deviceID);
  const GrayToneDifferencePlan plan(job);
  CudaGrayToneDifferenceReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  report.method = ChooseMethod(options.method, plan.task);
  const bool hasTables = report.method == Method::LevelTables;

  GrayToneDifferenceTask whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables tables;
  tables.Add(plan.offsets, whole.offsets);
  tables.Add(plan.weights, whole.weights);
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) {
      return hasTables ? CudaScratchBytes{} : CudaGrayToneDifferenceWalkScratchBytes(TaskOfSlab(whole, slab));
    },
    tables.GetBytes(),
    options.memoryBudget);
  slabs.Compute(
    [&](const TextureTask & slab, const CudaMethodResources & resources) {
      hasTables ? ComputeByCudaLevelTables(TaskOfSlab(whole, slab), resources)
                : ComputeByCudaGrayToneDifferenceWalk(TaskOfSlab(whole, slab), resources);
    },
    report);
  return report;
}

bool
IsCpuFaster(const GrayToneDifferenceJob & job, const CudaOptions & options)
{
  // Nanoseconds per output voxel, and more for each voxel of the window; the general engines, which support more
  // neighbors and levels, take longer for each neighbor.
  constexpr double cpuNanoseconds = 130.0;
  constexpr double cpuNanosecondsOfVoxel = 1.2;
  constexpr double cpuNanosecondsOfNeighbor = 0.6;
  constexpr double deviceNanosecondsOfVoxel = 0.008;
  constexpr double deviceNanosecondsOfNeighbor = 0.003;

  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const auto   windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double neighbors = 2.0 * static_cast<double>(job.offsets.size());
  const bool   isWalk = job.offsets.size() > 13 || job.numberOfGrayLevels > 1024;
  const double cpu =
    cpuNanoseconds + windowVoxels * (cpuNanosecondsOfVoxel + (isWalk ? neighbors * cpuNanosecondsOfNeighbor : 0.0));
  const double device =
    windowVoxels * (deviceNanosecondsOfVoxel + (isWalk ? neighbors * deviceNanosecondsOfNeighbor : 0.0));
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t voxelsOfTile = 16384;
  return IsCpuEngineFaster(
    job, job.features.size(), 1e-6 * voxels * cpu, 1e-6 * voxels * device, voxelsOfTile, options);
}
} // namespace voxelmaps
