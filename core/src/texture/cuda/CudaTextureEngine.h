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
#ifndef CudaTextureEngine_h
#define CudaTextureEngine_h

#include "common/ProcessorChoice.h"
#include "cuda/CudaDevice.h"
#include "voxelmaps/Job.h"
#include "texture/TextureTask.h"

#include <cstdint>

// What the CUDA engines of all texture classes have in common, beside CudaSlabEngine and CudaTables.
namespace voxelmaps
{
/** The task of a slab: its part of the whole task, whose tables are on the device. */
template <typename TTask>
TTask
TaskOfSlab(const TTask & whole, const TextureTask & slab)
{
  TTask task = whole;
  static_cast<TextureTask &>(task) = slab;
  return task;
}

/** Whether the CPU engine is expected to end first: from the milliseconds of work of one CPU thread, and of the device
 * without copies, and the voxels of a tile, which the CPU engine shares out to its threads. */
inline bool
IsCpuEngineFaster(const TextureFeatureMapJob & job, std::uint64_t numberOfComponents, double cpuMilliseconds,
                  double deviceMilliseconds, std::uint64_t voxelsOfTile, const CudaOptions & options)
{
  const std::uint64_t voxels = NumberOfVoxels(job.outputSize);
  const std::uint64_t outputBytes = voxels * numberOfComponents * (job.outputIsDouble ? sizeof(double) : sizeof(float));
  const ExpectedTimes times = ExpectTimes(cpuMilliseconds,
                                          deviceMilliseconds,
                                          outputBytes,
                                          voxels / voxelsOfTile + 1,
                                          job.execution,
                                          GetDeviceSpeed(options.deviceID));
  return times.cpu < times.device;
}
} // namespace voxelmaps

#endif // CudaTextureEngine_h
