// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "texture/cuda/CudaMultiDevice.h"

#include "cuda/CudaDevice.h"
#include "cuda/CudaError.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <mutex>
#include <vector>

namespace voxelmaps
{
namespace
{
/** Box i of a number of boxes along an axis. */
TextureFeatureMapJob
GetBox(TextureFeatureMapJob job, const TextureTask & task, int axis, std::int64_t i, std::int64_t boxes)
{
  const std::int64_t begin = job.outputSize[axis] * i / boxes;
  const std::int64_t end = job.outputSize[axis] * (i + 1) / boxes;
  const std::int64_t voxels = begin * job.outputSize[0] * (axis == 2 ? job.outputSize[1] : 1);
  const auto         bytes = static_cast<std::int64_t>(ComponentBytes(task));
  job.output = static_cast<char *>(job.output) + voxels * task.voxelStride * bytes;
  job.outputVoxelStride = task.voxelStride;
  job.outputComponentStride = task.componentStride;
  job.selection = job.selection != nullptr ? job.selection + voxels : nullptr;
  job.outputIndex[axis] += begin;
  job.outputSize[axis] = end - begin;
  return job;
}

/** A job with copies in host memory of its arrays in device memory. */
class HostArrays
{
public:
  HostArrays(const TextureFeatureMapJob & theJob, const TextureTask & task, const CudaOptions & options)
    : job(theJob)
    , m_Task(task)
    , m_Stream(static_cast<cudaStream_t>(options.stream))
  {
    if (options.inputLocation == MemoryLocation::Device)
    {
      const std::uint64_t levels = NumberOfVoxels(job.levelsSize);
      this->CopyInput(job.levels, levels * sizeof(std::uint16_t));
      this->CopyInput(job.intensities, levels * IntensityBytes(task));
      this->CopyInput(job.selection, NumberOfVoxels(job.outputSize));
      this->Wait();
    }
    if (options.outputLocation == MemoryLocation::Device)
    {
      const auto lastVoxel = static_cast<std::int64_t>(NumberOfVoxels(job.outputSize)) - 1;
      const auto last = lastVoxel * task.voxelStride + (task.numberOfComponents - 1) * task.componentStride;
      job.output = m_Arrays.emplace_back(static_cast<std::size_t>(last + 1) * ComponentBytes(task)).data();
    }
    job.outputVoxelStride = task.voxelStride;
    job.outputComponentStride = task.componentStride;
  }

  /** Copy the components of an output to the device. */
  void
  CopyOutput(const TextureFeatureMapJob & to, const void * from) const
  {
    const std::size_t bytes = ComponentBytes(m_Task);
    const std::size_t pitch = bytes * static_cast<std::size_t>(m_Task.voxelStride);
    const int         maps = m_Task.IsPlanar() ? m_Task.numberOfComponents : 1;
    const std::size_t width = bytes * static_cast<std::size_t>(m_Task.numberOfComponents / maps);
    const std::size_t height = NumberOfVoxels(to.outputSize);
    for (int map = 0; map < maps; ++map)
    {
      const std::size_t offset = bytes * static_cast<std::size_t>(map * m_Task.componentStride);
      char * const      mapTo = static_cast<char *>(to.output) + offset;
      const char *      mapFrom = static_cast<const char *>(from) + offset;
      CheckCuda(width == pitch
                  ? cudaMemcpyAsync(mapTo, mapFrom, width * height, cudaMemcpyHostToDevice, m_Stream)
                  : cudaMemcpy2DAsync(mapTo, pitch, mapFrom, pitch, width, height, cudaMemcpyHostToDevice, m_Stream),
                "copying to the device");
    }
  }
  void
  Wait() const
  {
    CheckCuda(cudaStreamSynchronize(m_Stream), "waiting for the device");
  }

  TextureFeatureMapJob job;

private:
  template <typename TPointer>
  void
  CopyInput(TPointer & array, std::uint64_t bytes)
  {
    if (array != nullptr)
    {
      void * const copy = m_Arrays.emplace_back(bytes).data();
      CheckCuda(cudaMemcpyAsync(copy, array, bytes, cudaMemcpyDeviceToHost, m_Stream), "copying from the device");
      array = static_cast<TPointer>(copy);
    }
  }

  const TextureTask &            m_Task;
  const cudaStream_t             m_Stream;
  std::vector<std::vector<char>> m_Arrays;
};
} // namespace

void
ComputeOnHostArrays(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
                    const std::function<void(const TextureFeatureMapJob & hostJob)> & compute)
{
  const HostArrays host(job, task, options);
  compute(host.job);
  if (options.outputLocation == MemoryLocation::Device)
  {
    host.CopyOutput(job, host.job.output);
    host.Wait();
  }
}

void
ForEachDevice(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
              const std::function<void(const TextureFeatureMapJob & box, const CudaOptions & deviceOptions)> & compute)
{
  std::for_each(options.otherDeviceIDs.begin(), options.otherDeviceIDs.end(), CudaDevices::Verify);
  const CurrentDevice device(options.deviceID);

  // The other devices use arrays in the memory of this one through host memory.
  const HostArrays host(job, task, options);

  std::atomic<bool>  isStopped{ false };
  std::exception_ptr error;
  const auto         attempt = [&](const auto & function) {
    try
    {
      function();
    }
    catch (...)
    {
      if (!isStopped.exchange(true))
      {
        error = std::current_exception();
      }
    }
  };
  std::atomic<std::uint64_t> finished{ 0 };
  const auto                 reportProgress = [&] { job.execution.ReportProgress(finished.exchange(0)); };
  JobExecution               execution = job.execution;
  execution.reportProgress = [&](std::uint64_t voxels) {
    if (isStopped)
    {
      throw EngineError("Another device was stopped.");
    }
    finished += voxels;
  };
  std::mutex mutex;
  if (job.execution.parallelFor)
  {
    execution.parallelFor = [&](unsigned int workers, const std::function<void(unsigned int)> & body) {
      // The threads of the caller may serve one device at a time only.
      const std::lock_guard<std::mutex> lock(mutex);
      job.execution.parallelFor(workers, body);
    };
  }

  const int  axis = job.outputSize[2] > 1 ? 2 : 1;
  const auto boxes = std::min(job.outputSize[axis], static_cast<std::int64_t>(options.otherDeviceIDs.size()) + 1);
  std::vector<std::future<void>> futures;
  const auto                     start = [&](std::int64_t i) {
    TextureFeatureMapJob box = GetBox(i == 0 ? job : host.job, task, axis, i, boxes);
    CudaOptions          deviceOptions = options;
    box.execution = execution;
    deviceOptions.otherDeviceIDs.clear();
    if (i > 0)
    {
      deviceOptions.deviceID = options.otherDeviceIDs[static_cast<std::size_t>(i - 1)];
      deviceOptions.inputLocation = MemoryLocation::Host;
      deviceOptions.outputLocation = MemoryLocation::Host;
    }
    const auto run = [&attempt, &compute, box, deviceOptions] { attempt([&] { compute(box, deviceOptions); }); };
    futures.push_back(std::async(std::launch::async, run));
  };
  for (std::int64_t i = 0; i < boxes; ++i)
  {
    attempt([&] { start(i); });
  }
  for (const auto & future : futures)
  {
    while (future.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout)
    {
      attempt(reportProgress);
    }
  }
  if (error)
  {
    std::rethrow_exception(error);
  }
  if (options.outputLocation == MemoryLocation::Device)
  {
    for (std::int64_t i = 1; i < boxes; ++i)
    {
      host.CopyOutput(GetBox(job, task, axis, i, boxes), GetBox(host.job, task, axis, i, boxes).output);
    }
    host.Wait();
  }
  reportProgress();
}
} // namespace voxelmaps
