// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSeveralDevices_h
#define CudaSeveralDevices_h

#include "texture/TextureTask.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/Job.h"

#include <functional>
#include <mutex>

namespace voxelmaps
{
/** Computes a part of a job on the device of the options. It is called from several threads at a time. */
using ComputePartFunction = std::function<void(const TextureFeatureMapJob & part, const CudaOptions & deviceOptions)>;

/** Cut a job of any texture class, which is valid and not empty, into parts, and let the devices of the options compute
 * them. If the output is in host memory, a device that is done takes the next part. Arrays in the memory of the first
 * device are copied to the others, and from them. Progress is reported by the calling thread. */
void
ComputeParts(const TextureFeatureMapJob & job, const TextureTask & whole, const CudaOptions & options,
             const ComputePartFunction & compute);

/** Compute a job on all devices of the options by the engine of its class. */
template <typename TPlan, typename TReport, typename TJob, typename TOptions>
TReport
ComputeOnSeveralDevices(const TJob & job, const TOptions & options,
                        TReport (*computeOnOne)(const TJob & job, const TOptions & options))
{
  const TPlan plan(job);
  TReport     report;
  std::mutex  mutex;
  if (job.outputSize[0] > 0 && job.outputSize[1] > 0 && job.outputSize[2] > 0)
  {
    ComputeParts(job, plan.task, options, [&](const TextureFeatureMapJob & part, const CudaOptions & deviceOptions) {
      TJob partJob = job;
      static_cast<TextureFeatureMapJob &>(partJob) = part;
      TOptions partOptions = options;
      static_cast<CudaOptions &>(partOptions) = deviceOptions;
      const TReport                     partReport = computeOnOne(partJob, partOptions);
      const std::lock_guard<std::mutex> lock(mutex);
      report.method = partReport.method;
      report.numberOfSlabs += partReport.numberOfSlabs;
      report.kernelMilliseconds += partReport.kernelMilliseconds;
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

#endif // CudaSeveralDevices_h
