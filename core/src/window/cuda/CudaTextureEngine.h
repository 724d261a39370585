// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTextureEngine_h
#define CudaTextureEngine_h

#include "window/TextureClass.h"
#include "window/cuda/CudaSlabEngine.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/Job.h"
#include "device/CudaContext.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// The frame of the CUDA engines of all texture classes.
namespace voxelmaps
{
/** Tables of a task in device memory, one after the other. */
class CudaTables
{
public:
  /** Add a table; Upload lets the pointer point to it. */
  template <typename T>
  void
  Add(const std::vector<T> & values, const T *& onDevice)
  {
    // Also for loads of vectors.
    constexpr std::size_t alignment = 16;
    static_assert(alignment % alignof(T) == 0, "all tables are aligned alike");
    const std::size_t begin = m_Bytes.size();
    const std::size_t bytes = values.size() * sizeof(T);
    const auto *      from = reinterpret_cast<const char *>(values.data());
    m_Bytes.insert(m_Bytes.end(), from, from + bytes);
    m_Bytes.resize((m_Bytes.size() + alignment - 1) / alignment * alignment);
    m_Pointers.push_back(
      [begin, &onDevice](const char * table) { onDevice = reinterpret_cast<const T *>(table + begin); });
  }

  std::uint64_t
  GetBytes() const
  {
    return m_Bytes.size();
  }

  /** Copy the tables to the current device, where they stay as long as this object. */
  void
  Upload()
  {
    if (m_Bytes.empty())
    {
      return;
    }
    m_Table = CudaContext::Current().GetTable(m_Bytes);
    for (const auto & point : m_Pointers)
    {
      point(static_cast<const char *>(m_Table.get()));
    }
  }

  /** To be called after the kernels if the job does not wait for them. */
  void
  KeepUntilDone(cudaStream_t stream)
  {
    if (m_Table != nullptr)
    {
      CudaContext::Current().KeepTable(m_Table, stream);
    }
  }

private:
  std::vector<char>                              m_Bytes;
  std::vector<std::function<void(const char *)>> m_Pointers;
  std::shared_ptr<const void>                    m_Table;
};

/** A method of a CUDA engine for one job. Its functions see the task of a slab, with device pointers. */
template <typename TJob>
struct CudaTextureMethod
{
  using Task = typename TextureClass<TJob>::Task;

  const char *  name;
  MethodSupport support;
  /** Empty if the method needs no scratch memory. */
  std::function<CudaScratchBytes(const Task & slab)>                            scratchBytes;
  std::function<void(const Task & slab, const CudaMethodResources & resources)> compute;
  /** Adds tables that only this method uses. */
  std::function<void(CudaTables & tables)> addTables{};
};

/** The task of a slab: its part of the entire task, whose tables are on the device. */
template <typename TTask>
TTask
SlabTask(const TTask & entire, const TextureTask & slab)
{
  TTask task = entire;
  static_cast<TextureTask &>(task) = slab;
  return task;
}

/** Call compute with a job whose arrays are in host memory, and copy its output where that of the job is. */
void
ComputeOnHostArrays(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
                    const std::function<void(const TextureFeatureMapJob & hostJob)> & compute);

/** Split a valid, nonempty job into one box per device of the options, and call compute for each box in a thread of its
 * own. The first exception stops all devices and is rethrown. Progress is reported by the calling thread. */
void
ForEachDevice(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
              const std::function<void(const TextureFeatureMapJob & box, const CudaOptions & deviceOptions)> & compute);

/** Compute a job on all devices of the options by the engine of its class. */
template <typename TJob>
CudaReport
ComputeOnSeveralDevices(const TJob & job, const CudaOptions & options)
{
  const TextureClass<TJob> textureClass(job);
  CudaReport               report;
  std::mutex               mutex;
  if (job.outputSize[0] > 0 && job.outputSize[1] > 0 && job.outputSize[2] > 0)
  {
    ForEachDevice(
      job, textureClass.task, options, [&](const TextureFeatureMapJob & box, const CudaOptions & deviceOptions) {
        TJob boxJob = job;
        static_cast<TextureFeatureMapJob &>(boxJob) = box;
        const CudaReport                  boxReport = ComputeFeatureMapsCuda(boxJob, deviceOptions);
        const std::lock_guard<std::mutex> lock(mutex);
        report.method = boxReport.method;
        report.numberOfSlabs += boxReport.numberOfSlabs;
        // As for one device: 0 if the output is in device memory.
        report.kernelMilliseconds +=
          options.outputLocation == MemoryLocation::Host ? boxReport.kernelMilliseconds : 0.0;
      });
  }
  report.deviceName = CudaDevices::GetName(options.deviceID);
  for (const int deviceID : options.otherDeviceIDs)
  {
    report.deviceName += ", " + CudaDevices::GetName(deviceID);
  }
  return report;
}

/** The CUDA engine of a texture class. */
template <typename TJob>
CudaReport
RunCudaTextureEngine(const TJob & job, const CudaOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices(job, options);
  }
  const CurrentDevice      device(options.deviceID);
  const TextureClass<TJob> textureClass(job);
  CudaReport               report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  auto               task = textureClass.task;
  const auto         methods = textureClass.GetCudaMethods();
  const auto * const method = FindMethod(methods, job.method, DescribeJob(task));
  if (method == nullptr)
  {
    ComputeOnHostArrays(job, task, options, [&job](const TextureFeatureMapJob & hostArrays) {
      TJob hostJob = job;
      static_cast<TextureFeatureMapJob &>(hostJob) = hostArrays;
      ComputeFeatureMaps(hostJob);
    });
    report.deviceName = "CPU";
    report.numberOfSlabs = 1;
    return report;
  }
  report.method = method->name;

  // Before the slabs, which wait for the kernels that use them.
  CudaTables tables;
  textureClass.AddCudaTables(tables, task);
  if (method->addTables)
  {
    method->addTables(tables);
  }
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    task,
    options,
    [&](const TextureTask & slab) {
      return method->scratchBytes ? method->scratchBytes(SlabTask(task, slab)) : CudaScratchBytes{};
    },
    tables.GetBytes());
  slabs.Compute([&](const TextureTask &         slab,
                    const CudaMethodResources & resources) { method->compute(SlabTask(task, slab), resources); },
                report);
  if (options.outputLocation == MemoryLocation::Device)
  {
    tables.KeepUntilDone(static_cast<cudaStream_t>(options.stream));
  }
  return report;
}
} // namespace voxelmaps

#endif // CudaTextureEngine_h
