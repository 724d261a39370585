// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "texture/cuda/CudaSeveralDevices.h"

#include "cuda/CudaDevice.h"
#include "cuda/CudaMemory.h"
#include "cuda/CudaStream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>
#include <vector>

namespace voxelmaps
{
namespace
{
// Thinner parts compute much of their neighbors again.
constexpr std::int64_t preferredPlanes = 64;
// Between reports of progress.
constexpr auto waitingTime = std::chrono::milliseconds(20);

/** Ends the work of a device after an error of another one. */
struct Stopped
{};

/** Planes first ... last - 1 of the output along the last axis of more than one voxel. */
class Cut
{
public:
  Cut(const TextureFeatureMapJob & job, const TextureTask & whole)
    : m_Job(job)
    , m_Whole(whole)
    , m_Axis(job.outputSize[2] > 1 ? 2 : 1)
  {}
  std::int64_t
  GetNumberOfPlanes() const
  {
    return m_Job.outputSize[m_Axis];
  }
  bool
  IsAlongLastAxis() const
  {
    return m_Axis == 2;
  }
  TextureFeatureMapJob
  GetPart(std::int64_t first, std::int64_t last) const
  {
    TextureFeatureMapJob part = m_Job;
    const std::int64_t   before = first * m_Job.outputSize[0] * (m_Axis == 2 ? m_Job.outputSize[1] : 1);
    part.outputIndex[m_Axis] += first;
    part.outputSize[m_Axis] = last - first;
    part.output = static_cast<char *>(m_Job.output) +
                  before * m_Whole.voxelStride * static_cast<std::int64_t>(ComponentBytes(m_Whole));
    part.outputVoxelStride = m_Whole.voxelStride;
    part.outputComponentStride = m_Whole.componentStride;
    part.selection = m_Job.selection != nullptr ? m_Job.selection + before : nullptr;
    return part;
  }

private:
  const TextureFeatureMapJob & m_Job;
  const TextureTask &          m_Whole;
  const int                    m_Axis;
};

/** Copies, in the memory of the current device, of the arrays of a part that are in the memory of another one. */
class PartOnOtherDevice
{
public:
  PartOnOtherDevice(const TextureFeatureMapJob & part, const TextureTask & whole, const CudaOptions & options,
                    int deviceID, bool isCutAlongLastAxis, cudaStream_t stream)
    : m_Whole(whole)
    , m_Given(part)
    , m_GivenDeviceID(options.deviceID)
    , m_DeviceID(deviceID)
    , m_Stream(stream)
    , m_Job(part)
  {
    if (options.inputLocation == MemoryLocation::Device)
    {
      this->CopyInput(isCutAlongLastAxis);
    }
    if (options.outputLocation == MemoryLocation::Device)
    {
      const auto voxels = static_cast<std::int64_t>(NumberOfVoxels(part.outputSize));
      m_Output.Allocate(static_cast<std::size_t>(voxels * whole.numberOfComponents) * ComponentBytes(whole), stream);
      m_Job.output = m_Output.data();
      m_Job.outputVoxelStride = whole.IsPlanar() ? 1 : whole.numberOfComponents;
      m_Job.outputComponentStride = whole.IsPlanar() ? voxels : 1;
    }
  }
  const TextureFeatureMapJob &
  GetJob() const
  {
    return m_Job;
  }

  /** Copy the output to where it belongs, after the work so far in the stream. */
  void
  CopyOutput() const
  {
    if (m_Output.size() == 0)
    {
      return;
    }
    const std::size_t bytes = ComponentBytes(m_Whole);
    const auto        components = static_cast<std::size_t>(m_Whole.numberOfComponents);
    const auto        voxels = static_cast<std::size_t>(NumberOfVoxels(m_Job.outputSize));
    auto * const      to = static_cast<char *>(m_Given.output);
    if (m_Whole.IsPlanar())
    {
      const std::size_t pitch = static_cast<std::size_t>(m_Whole.componentStride) * bytes;
      for (std::size_t c = 0; c < components; ++c)
      {
        this->Copy(to + c * pitch, m_GivenDeviceID, m_Output.data() + c * voxels * bytes, m_DeviceID, voxels * bytes);
      }
      return;
    }
    if (m_Whole.voxelStride == m_Whole.numberOfComponents)
    {
      this->Copy(to, m_GivenDeviceID, m_Output.data(), m_DeviceID, m_Output.size());
      return;
    }
    cudaMemcpy3DPeerParms copy{};
    const std::size_t     rowBytes = components * bytes;
    copy.srcPtr = make_cudaPitchedPtr(m_Output.data(), rowBytes, rowBytes, voxels);
    copy.srcDevice = m_DeviceID;
    copy.dstPtr = make_cudaPitchedPtr(to, static_cast<std::size_t>(m_Whole.voxelStride) * bytes, rowBytes, voxels);
    copy.dstDevice = m_GivenDeviceID;
    copy.extent = make_cudaExtent(rowBytes, voxels, 1);
    CheckCuda(cudaMemcpy3DPeerAsync(&copy, m_Stream), "copying between devices");
  }

private:
  void
  Copy(void * to, int toDeviceID, const void * from, int fromDeviceID, std::size_t bytes) const
  {
    CheckCuda(cudaMemcpyPeerAsync(to, toDeviceID, from, fromDeviceID, bytes, m_Stream), "copying between devices");
  }

  /** A copy in a new buffer. */
  const char *
  CopyHere(const void * from, std::size_t bytes)
  {
    m_Inputs.emplace_back(bytes, m_Stream);
    this->Copy(m_Inputs.back().data(), m_DeviceID, from, m_GivenDeviceID, bytes);
    return m_Inputs.back().data();
  }

  void
  CopyInput(bool isCutAlongLastAxis)
  {
    std::int64_t first = 0;
    if (isCutAlongLastAxis)
    {
      // The planes that the windows reach; at least one.
      const std::int64_t reached = m_Given.outputIndex[2] - m_Given.levelsIndex[2] - m_Given.windowAnchor[2];
      const std::int64_t end = reached + m_Given.outputSize[2] + m_Given.windowSize[2] - 1;
      first = std::max<std::int64_t>(std::min(reached, m_Given.levelsSize[2] - 1), 0);
      m_Job.levelsIndex[2] += first;
      m_Job.levelsSize[2] = std::max<std::int64_t>(std::min(end, m_Given.levelsSize[2]) - first, 1);
    }
    const auto firstVoxel = static_cast<std::size_t>(first * m_Given.levelsSize[0] * m_Given.levelsSize[1]);
    const auto voxels = static_cast<std::size_t>(NumberOfVoxels(m_Job.levelsSize));
    m_Job.levels = reinterpret_cast<const std::uint16_t *>(
      this->CopyHere(m_Given.levels + firstVoxel, voxels * sizeof(std::uint16_t)));
    if (const std::size_t bytes = IntensityBytes(m_Whole))
    {
      m_Job.intensities =
        this->CopyHere(static_cast<const char *>(m_Given.intensities) + firstVoxel * bytes, voxels * bytes);
    }
    if (m_Given.selection != nullptr)
    {
      m_Job.selection = reinterpret_cast<const std::uint8_t *>(
        this->CopyHere(m_Given.selection, static_cast<std::size_t>(NumberOfVoxels(m_Given.outputSize))));
    }
  }

  const TextureTask &             m_Whole;
  const TextureFeatureMapJob      m_Given;
  const int                       m_GivenDeviceID;
  const int                       m_DeviceID;
  const cudaStream_t              m_Stream;
  TextureFeatureMapJob            m_Job;
  std::vector<DeviceBuffer<char>> m_Inputs;
  DeviceBuffer<char>              m_Output;
};

/** Calls the body by new threads, since those of the caller may serve one device at a time only. */
void
RunInNewThreads(unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body)
{
  std::vector<std::thread> threads;
  threads.reserve(numberOfWorkers);
  unsigned int worker = 1;
  try
  {
    for (; worker < numberOfWorkers; ++worker)
    {
      threads.emplace_back(body, worker);
    }
  }
  catch (const std::exception &)
  {
    // Without more threads, this one does the work.
    for (; worker < numberOfWorkers; ++worker)
    {
      body(worker);
    }
  }
  body(0);
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}

/** The devices at work, each with a thread of its own. */
class Workers
{
public:
  Workers(const TextureFeatureMapJob & job, const TextureTask & whole, const CudaOptions & options,
          const ComputePartFunction & compute)
    : m_Job(job)
    , m_Whole(whole)
    , m_Options(options)
    , m_Compute(compute)
    , m_Cut(job, whole)
  {
    const auto devices = static_cast<std::int64_t>(options.otherDeviceIDs.size()) + 1;
    // Calls that do not wait for the device would take all parts of a queue at once.
    const bool         isQueue = options.outputLocation == MemoryLocation::Host;
    const std::int64_t planes = m_Cut.GetNumberOfPlanes();
    const std::int64_t deviceParts = isQueue ? std::max<std::int64_t>(planes / (devices * preferredPlanes), 1) : 1;
    m_NumberOfParts = std::min(planes, devices * deviceParts);
    m_NextPart = devices;
    m_Execution.numberOfWorkers = std::max(job.execution.numberOfWorkers / static_cast<unsigned int>(devices), 1u);
    if (job.execution.parallelFor)
    {
      m_Execution.parallelFor = RunInNewThreads;
    }
    m_Execution.reportProgress = [this](std::uint64_t numberOfVoxels) {
      if (m_IsStopped)
      {
        throw Stopped{};
      }
      m_FinishedVoxels += numberOfVoxels;
    };
  }

  void
  Run()
  {
    CudaEvent inputIsThere;
    if (m_Options.UsesStream())
    {
      inputIsThere.Record(static_cast<cudaStream_t>(m_Options.stream));
    }
    std::vector<int> deviceIDs{ m_Options.deviceID };
    deviceIDs.insert(deviceIDs.end(), m_Options.otherDeviceIDs.begin(), m_Options.otherDeviceIDs.end());
    std::vector<std::thread> threads;
    m_Running = deviceIDs.size();
    for (std::size_t i = 0; i < deviceIDs.size(); ++i)
    {
      try
      {
        threads.emplace_back([this, i, &deviceIDs, &inputIsThere] { this->Serve(i, deviceIDs[i], inputIsThere); });
      }
      catch (...)
      {
        this->Fail(std::current_exception());
        this->EndOne();
      }
    }
    this->WaitAndReport();
    for (std::thread & thread : threads)
    {
      thread.join();
    }
    if (m_Error)
    {
      std::rethrow_exception(m_Error);
    }
    this->ReportProgress();
  }

private:
  void
  Serve(std::size_t number, int deviceID, cudaEvent_t inputIsThere)
  {
    try
    {
      const CurrentDevice device(deviceID);
      const std::int64_t  planes = m_Cut.GetNumberOfPlanes();
      for (auto part = static_cast<std::int64_t>(number); part < m_NumberOfParts && !m_IsStopped; part = m_NextPart++)
      {
        TextureFeatureMapJob job =
          m_Cut.GetPart(part * planes / m_NumberOfParts, (part + 1) * planes / m_NumberOfParts);
        job.execution = m_Execution;
        CudaOptions options = m_Options;
        options.deviceID = deviceID;
        options.otherDeviceIDs.clear();
        if (number == 0 || !m_Options.UsesStream())
        {
          m_Compute(job, options);
        }
        else
        {
          this->ComputeOnOther(job, options, inputIsThere);
        }
      }
    }
    catch (const Stopped &)
    {}
    catch (...)
    {
      this->Fail(std::current_exception());
    }
    this->EndOne();
  }

  void
  ComputeOnOther(const TextureFeatureMapJob & part, CudaOptions & options, cudaEvent_t inputIsThere) const
  {
    const CudaStream stream;
    CheckCuda(cudaStreamWaitEvent(stream, inputIsThere), "ordering streams");
    options.stream = static_cast<cudaStream_t>(stream);
    const PartOnOtherDevice copied(part, m_Whole, m_Options, options.deviceID, m_Cut.IsAlongLastAxis(), stream);
    m_Compute(copied.GetJob(), options);
    copied.CopyOutput();
    stream.Synchronize();
  }

  void
  Fail(const std::exception_ptr & error)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (!m_Error)
    {
      m_Error = error;
    }
    m_IsStopped = true;
  }
  void
  EndOne()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    --m_Running;
    m_HasEnded.notify_one();
  }

  void
  ReportProgress()
  {
    const std::uint64_t finished = m_FinishedVoxels;
    m_Job.execution.ReportProgress(finished - m_ReportedVoxels);
    m_ReportedVoxels = finished;
  }
  void
  WaitAndReport()
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    while (!m_HasEnded.wait_for(lock, waitingTime, [this] { return m_Running == 0; }))
    {
      lock.unlock();
      if (!m_IsStopped)
      {
        try
        {
          this->ReportProgress();
        }
        catch (...)
        {
          this->Fail(std::current_exception());
        }
      }
      lock.lock();
    }
  }

  const TextureFeatureMapJob & m_Job;
  const TextureTask &          m_Whole;
  const CudaOptions &          m_Options;
  const ComputePartFunction &  m_Compute;
  const Cut                    m_Cut;
  std::int64_t                 m_NumberOfParts{ 0 };
  std::atomic<std::int64_t>    m_NextPart{ 0 };
  JobExecution                 m_Execution;
  std::atomic<std::uint64_t>   m_FinishedVoxels{ 0 };
  std::uint64_t                m_ReportedVoxels{ 0 };
  std::atomic<bool>            m_IsStopped{ false };
  std::mutex                   m_Mutex;
  std::condition_variable      m_HasEnded;
  std::size_t                  m_Running{ 0 };
  std::exception_ptr           m_Error;
};
} // namespace

void
ComputeParts(const TextureFeatureMapJob & job, const TextureTask & whole, const CudaOptions & options,
             const ComputePartFunction & compute)
{
  for (const int deviceID : options.otherDeviceIDs)
  {
    CudaDevices::Verify(deviceID);
  }
  const CurrentDevice device(options.deviceID);
  Workers(job, whole, options, compute).Run();
}
} // namespace voxelmaps
