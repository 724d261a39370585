// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "window/cuda/CudaTextureEngine.h"

#include "device/CudaMemory.h"

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

/** A job with copies of its arrays that are in the memory of a device: in host memory, or in that of the current
 * device. */
class CopiedArrays
{
public:
  CopiedArrays(const TextureFeatureMapJob & original, const TextureTask & task, const CudaOptions & options,
               MemoryLocation location, cudaStream_t stream)
    : job(original)
    , m_Original(original)
    , m_Task(task)
    , m_Device(options.deviceID)
    , m_HasOutput(options.outputLocation == MemoryLocation::Device)
    , m_Location(location)
    , m_Stream(stream)
  {
    CheckCuda(cudaGetDevice(&m_CurrentDevice), "querying the device");
    if (options.inputLocation == MemoryLocation::Device)
    {
      const std::uint64_t levels = NumberOfVoxels(job.levelsSize);
      this->CopyInput(job.levels, levels * sizeof(std::uint16_t));
      this->CopyInput(job.intensities, levels * IntensityBytes(task));
      this->CopyInput(job.selection, NumberOfVoxels(job.outputSize));
      this->Wait();
    }
    job.outputVoxelStride = task.voxelStride;
    job.outputComponentStride = task.componentStride;
    if (m_HasOutput)
    {
      const auto voxels = NumberOfVoxels(job.outputSize);
      job.output = this->Allocate(voxels * static_cast<std::uint64_t>(task.numberOfComponents) * ComponentBytes(task));
      job.outputVoxelStride = task.IsPlanar() ? 1 : task.numberOfComponents;
      job.outputComponentStride = task.IsPlanar() ? static_cast<std::int64_t>(voxels) : 1;
    }
  }

  /** Copy the components of an output in device memory to where it is wanted. */
  void
  CopyOutput() const
  {
    if (!m_HasOutput)
    {
      return;
    }
    const std::size_t bytes = ComponentBytes(m_Task);
    const std::size_t pitch = bytes * static_cast<std::size_t>(m_Task.voxelStride);
    const int         maps = m_Task.IsPlanar() ? m_Task.numberOfComponents : 1;
    const std::size_t width = bytes * static_cast<std::size_t>(m_Task.numberOfComponents / maps);
    const std::size_t height = NumberOfVoxels(job.outputSize);
    for (int map = 0; map < maps; ++map)
    {
      char * const to =
        static_cast<char *>(m_Original.output) + bytes * static_cast<std::size_t>(map * m_Task.componentStride);
      const char * const from = static_cast<const char *>(job.output) + width * height * static_cast<std::size_t>(map);
      width == pitch ? this->Copy(to, m_Device, from, m_CurrentDevice, width * height)
                     : this->CopyRows(to, pitch, from, width, height);
    }
    this->Wait();
  }

  TextureFeatureMapJob job;

private:
  void *
  Allocate(std::uint64_t bytes)
  {
    return m_Location == MemoryLocation::Host ? m_HostArrays.emplace_back(bytes).data()
                                              : m_DeviceArrays.emplace_back(bytes, m_Stream).data();
  }

  template <typename TPointer>
  void
  CopyInput(TPointer & array, std::uint64_t bytes)
  {
    if (array != nullptr)
    {
      void * const copy = this->Allocate(bytes);
      this->Copy(copy, m_CurrentDevice, array, m_Device, bytes);
      array = static_cast<TPointer>(copy);
    }
  }

  void
  Copy(void * to, int toDevice, const void * from, int fromDevice, std::size_t bytes) const
  {
    // cudaMemcpyAsync does not copy from the pool of a device without access to it.
    CheckCuda(m_Location == MemoryLocation::Host ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, m_Stream)
                                                 : cudaMemcpyPeerAsync(to, toDevice, from, fromDevice, bytes, m_Stream),
              "copying an array of a device");
  }

  void
  CopyRows(char * to, std::size_t pitch, const char * from, std::size_t width, std::size_t height) const
  {
    if (m_Location == MemoryLocation::Host)
    {
      CheckCuda(cudaMemcpy2DAsync(to, pitch, from, width, width, height, cudaMemcpyDefault, m_Stream),
                "copying rows to a device");
      return;
    }
    cudaMemcpy3DPeerParms rows{};
    rows.srcDevice = m_CurrentDevice;
    rows.srcPtr = make_cudaPitchedPtr(const_cast<char *>(from), width, width, height);
    rows.dstDevice = m_Device;
    rows.dstPtr = make_cudaPitchedPtr(to, pitch, width, height);
    rows.extent = make_cudaExtent(width, height, 1);
    CheckCuda(cudaMemcpy3DPeerAsync(&rows, m_Stream), "copying rows to a device");
  }

  void
  Wait() const
  {
    CheckCuda(cudaStreamSynchronize(m_Stream), "waiting for the device");
  }

  const TextureFeatureMapJob      m_Original;
  const TextureTask &             m_Task;
  const int                       m_Device;
  int                             m_CurrentDevice{ 0 };
  const bool                      m_HasOutput;
  const MemoryLocation            m_Location;
  const cudaStream_t              m_Stream;
  std::vector<std::vector<char>>  m_HostArrays;
  std::vector<DeviceBuffer<char>> m_DeviceArrays;
};

/** Compute a box on another device than that of the options, which has its arrays unless they are in host memory. */
void
ComputeOnOtherDevice(
  const TextureFeatureMapJob & box, const TextureTask & task, const CudaOptions & options, int deviceID,
  const std::function<void(const TextureFeatureMapJob & box, const CudaOptions & deviceOptions)> & compute)
{
  CudaOptions deviceOptions = options;
  deviceOptions.deviceID = deviceID;
  deviceOptions.otherDeviceIDs.clear();
  // A budget is for less memory than copies may need.
  if (options.UsesStream() && options.memoryBudget == 0)
  {
    try
    {
      CudaContext::AllowAccess(deviceID, options.deviceID);
      const CurrentDevice device(deviceID);
      const CudaStream    stream;
      deviceOptions.stream = static_cast<cudaStream_t>(stream);
      const CopiedArrays copies(box, task, options, MemoryLocation::Device, stream);
      compute(copies.job, deviceOptions);
      copies.CopyOutput();
      return;
    }
    catch (const CudaOutOfMemory &)
    {}
  }
  const CurrentDevice device(options.deviceID);
  const CudaStream    stream;
  const CopiedArrays  copies(box, task, options, MemoryLocation::Host, stream);
  deviceOptions.inputLocation = MemoryLocation::Host;
  deviceOptions.outputLocation = MemoryLocation::Host;
  compute(copies.job, deviceOptions);
  copies.CopyOutput();
}
} // namespace

void
ComputeOnHostArrays(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
                    const std::function<void(const TextureFeatureMapJob & hostJob)> & compute)
{
  const CopiedArrays copies(job, task, options, MemoryLocation::Host, static_cast<cudaStream_t>(options.stream));
  compute(copies.job);
  copies.CopyOutput();
}

void
ForEachDevice(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
              const std::function<void(const TextureFeatureMapJob & box, const CudaOptions & deviceOptions)> & compute)
{
  std::for_each(options.otherDeviceIDs.begin(), options.otherDeviceIDs.end(), CudaDevices::Verify);
  const CurrentDevice device(options.deviceID);

  if (options.UsesStream())
  {
    // The other devices use the arrays of this one in streams of their own.
    CheckCuda(cudaStreamSynchronize(static_cast<cudaStream_t>(options.stream)), "waiting for the device");
  }

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
    TextureFeatureMapJob box = GetBox(job, task, axis, i, boxes);
    box.execution = execution;
    const auto run = [&, box, i] {
      attempt([&] {
        if (i > 0)
        {
          ComputeOnOtherDevice(box, task, options, options.otherDeviceIDs[static_cast<std::size_t>(i - 1)], compute);
          return;
        }
        CudaOptions deviceOptions = options;
        deviceOptions.otherDeviceIDs.clear();
        compute(box, deviceOptions);
      });
    };
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
  reportProgress();
}
} // namespace voxelmaps
