// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaMultiDevice_h
#define CudaMultiDevice_h

#include "texture/TextureClass.h"
#include "voxelmaps/CudaDevices.h"

#include <functional>
#include <mutex>

namespace voxelmaps
{
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
CudaTextureReport<TJob>
ComputeOnSeveralDevices(const TJob & job, const CudaTextureOptions<TJob> & options)
{
  const TextureClass<TJob> textureClass(job);
  CudaTextureReport<TJob>  report;
  std::mutex               mutex;
  if (job.outputSize[0] > 0 && job.outputSize[1] > 0 && job.outputSize[2] > 0)
  {
    ForEachDevice(
      job, textureClass.task, options, [&](const TextureFeatureMapJob & box, const CudaOptions & deviceOptions) {
        TJob boxJob = job;
        static_cast<TextureFeatureMapJob &>(boxJob) = box;
        CudaTextureOptions<TJob> boxOptions = options;
        static_cast<CudaOptions &>(boxOptions) = deviceOptions;
        const CudaTextureReport<TJob>     boxReport = ComputeFeatureMapsCuda(boxJob, boxOptions);
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
} // namespace voxelmaps

#endif // CudaMultiDevice_h
