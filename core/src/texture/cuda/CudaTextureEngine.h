// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTextureEngine_h
#define CudaTextureEngine_h

#include "cuda/CudaDevice.h"
#include "texture/TextureTask.h"
#include "texture/cuda/CudaMultiDevice.h"
#include "texture/cuda/CudaSlabEngine.h"
#include "texture/cuda/CudaTables.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

// The frame of the CUDA engines of all texture classes.
namespace voxelmaps
{
/** A method of a CUDA engine for one job. Its functions see the task of a slab, with device pointers. */
template <typename TTask, typename TMethod>
struct CudaTextureMethod
{
  TMethod method;
  bool    isSupported;
  /** Whether Automatic may choose it. */
  bool isAutomatic;
  /** Empty if the method needs no scratch memory. */
  std::function<CudaScratchBytes(const TTask & slab)>                            scratchBytes;
  std::function<void(const TTask & slab, const CudaMethodResources & resources)> compute;
};

/** All methods of a CUDA engine for one job. */
template <typename TTask, typename TMethod>
struct CudaTextureMethods
{
  /** The parameters that limit the methods, in addition to the window, for messages: " with 8 gray levels". */
  std::string limits;
  /** Automatic chooses the first one that it may choose and that supports the job. */
  std::vector<CudaTextureMethod<TTask, TMethod>> methods;

  /** Null if the method does not support the job. */
  const CudaTextureMethod<TTask, TMethod> *
  Find(TMethod wanted) const
  {
    for (const auto & method : methods)
    {
      if (method.isSupported && (wanted == TMethod::Automatic ? method.isAutomatic : wanted == method.method))
      {
        return &method;
      }
    }
    return nullptr;
  }
  /** Throws UnsupportedOnDeviceError if the method does not support the job. */
  const CudaTextureMethod<TTask, TMethod> &
  Choose(TMethod wanted, const TextureTask & task) const
  {
    if (const auto * const method = this->Find(wanted))
    {
      return *method;
    }
    std::ostringstream message;
    message << "The CudaMethod " << wanted << " does not support a window of " << task.window[0] << " x "
            << task.window[1] << " x " << task.window[2] << " voxels" << limits << " on this device: use Automatic.";
    throw UnsupportedOnDeviceError(message.str());
  }
};

/** The task of a slab: its part of the entire task, whose tables are on the device. */
template <typename TTask>
TTask
SlabTask(const TTask & whole, const TextureTask & slab)
{
  TTask task = whole;
  static_cast<TextureTask &>(task) = slab;
  return task;
}

/** Run the CUDA engine of a texture class. makeMethods(task) returns the CudaTextureMethods for a task with host
 * pointers. addTables(plan, method, tables, task) adds the tables of the chosen method to those that are copied to the
 * device, and whose pointers in the task are set. computeOnCpu(task) computes a job that Automatic has no method for;
 * empty if it has one for every job. */
template <typename TPlan, typename TReport, typename TJob, typename TMethod, typename TMakeMethods, typename TAddTables>
TReport
RunCudaTextureEngine(const TJob & job, const CudaTextureOptions<TMethod> & options, const TMakeMethods & makeMethods,
                     const TAddTables &                                    addTables,
                     const std::function<void(const TextureTask & task)> & computeOnCpu = {})
{
  const CurrentDevice device(options.deviceID);
  const TPlan         plan(job);
  TReport             report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  const auto methods = makeMethods(plan.task);
  if (computeOnCpu && options.method == TMethod::Automatic && methods.Find(TMethod::Automatic) == nullptr)
  {
    computeOnCpu(plan.task);
    report.deviceName = "CPU";
    report.numberOfSlabs = 1;
    return report;
  }
  const auto & method = methods.Choose(options.method, plan.task);
  report.method = method.method;

  auto whole = plan.task;
  // Before the slabs, which wait for the kernels that use them.
  CudaTables tables;
  addTables(plan, method.method, tables, whole);
  tables.Upload();
  CudaSlabEngine slabs(
    job,
    whole,
    options,
    [&](const TextureTask & slab) {
      return method.scratchBytes ? method.scratchBytes(SlabTask(whole, slab)) : CudaScratchBytes{};
    },
    tables.GetBytes());
  slabs.Compute([&](const TextureTask &         slab,
                    const CudaMethodResources & resources) { method.compute(SlabTask(whole, slab), resources); },
                report);
  if (options.outputLocation == MemoryLocation::Device)
  {
    tables.KeepUntilDone(static_cast<cudaStream_t>(options.stream));
  }
  return report;
}
} // namespace voxelmaps

#endif // CudaTextureEngine_h
