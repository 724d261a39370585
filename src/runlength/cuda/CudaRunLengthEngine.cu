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
#include "cuda/CudaMemory.h"
#include "cuda/CudaStream.h"
#include "itkCudaDevices.h"
#include "itkCudaRunLengthJob.h"
#include "runlength/RunLengthPlan.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace itk
{
namespace voxelmaps
{
namespace
{
using Method = CudaRunLengthOptions::Method;

/** The tables of a plan in device memory, in one buffer: each allocation takes time. */
class TablesOnDevice
{
public:
  static std::uint64_t
  GetBytes(const RunLengthPlan & plan)
  {
    return (plan.lengthSquares.size() + plan.shortRunWeights.size() + plan.inverseSquares.size() +
            plan.entropyTable.size()) *
           sizeof(double);
  }

  /** Lets the task point to the tables. */
  TablesOnDevice(const RunLengthPlan & plan, RunLengthTask & task)
    : m_Buffer(GetBytes(plan))
  {
    this->Append(plan.lengthSquares, task.lengthSquares);
    this->Append(plan.shortRunWeights, task.shortRunWeights);
    this->Append(plan.inverseSquares, task.inverseSquares);
    this->Append(plan.entropyTable, task.entropyTable);
    const CudaStream stream;
    CheckCuda(cudaMemcpyAsync(m_Buffer.data(), m_Bytes.data(), m_Bytes.size(), cudaMemcpyHostToDevice, stream),
              "copying the tables to the device");
    stream.Synchronize();
  }

private:
  template <typename T>
  void
  Append(const std::vector<T> & values, const T *& onDevice)
  {
    static_assert(sizeof(T) == sizeof(double), "all tables are aligned alike");
    onDevice = reinterpret_cast<const T *>(m_Buffer.data() + m_Bytes.size());
    const auto * bytes = reinterpret_cast<const char *>(values.data());
    m_Bytes.insert(m_Bytes.end(), bytes, bytes + values.size() * sizeof(T));
  }

  std::vector<char>  m_Bytes;
  DeviceBuffer<char> m_Buffer;
};

bool
MethodTakes(Method method, const RunLengthTask & task)
{
  switch (method)
  {
    case Method::WindowWord:
      return CudaWindowWordTakes(task, GetCudaDeviceLimits());
    case Method::BoxSums:
      return CudaBoxSumsTakes(task, GetCudaDeviceLimits());
    case Method::SlidingWindow:
      return CudaSlidingWindowTakes(task, GetCudaDeviceLimits());
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

void
Compute(Method method, const RunLengthTask & task, const CudaMethodResources & resources, CudaSortReduceTimes & times)
{
  switch (method)
  {
    case Method::SortReduce:
      ComputeByCudaSortReduce(task, resources, times);
      break;
    case Method::WindowWord:
      ComputeByCudaWindowWord(task, resources);
      break;
    case Method::BoxSums:
      ComputeByCudaBoxSums(task, resources);
      break;
    case Method::SlidingWindow:
      ComputeByCudaSlidingWindow(task, resources);
      break;
    default:
      return ComputeByCudaWindowWalk(task, resources);
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
  const auto    ofSlab = [&whole](const TextureTask & slab) {
    RunLengthTask task = whole;
    static_cast<TextureTask &>(task) = slab;
    return task;
  };
  CudaSlabEngine slabs(
    job,
    whole,
    [&](const TextureTask & slab) { return GetScratchBytes(report.method, ofSlab(slab)); },
    TablesOnDevice::GetBytes(plan),
    UsableDeviceMemory(options.memoryBudget));

  // After the large buffers, for small ones are cheap then.
  const TablesOnDevice tables(plan, whole);
  CudaSortReduceTimes  times;
  slabs.Compute([&](const TextureTask &         slab,
                    const CudaMethodResources & resources) { Compute(report.method, ofSlab(slab), resources, times); },
                report);
  report.matricesMilliseconds = times.matrices;
  report.featuresMilliseconds = times.features;
  return report;
}
} // namespace voxelmaps
} // namespace itk
