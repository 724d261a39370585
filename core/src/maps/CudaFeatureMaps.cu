// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "device/CudaStaging.h"
#include "discretization/GrayLevelJob.h"
#include "maps/FeatureMapsClasses.h"
#include "window/cuda/CudaTextureEngine.h"

#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace voxelmaps
{
namespace
{
/** A copy of host memory in a buffer of the device. */
template <typename T>
const T *
CopyOnDevice(const T * host, std::uint64_t size, DeviceBuffer<T> & buffer, CudaStaging & staging, cudaStream_t stream)
{
  if (host == nullptr || size == 0)
  {
    return nullptr;
  }
  buffer.Allocate(size, stream);
  staging.ToDevice(buffer.data(), host, size * sizeof(T), stream);
  return buffer.data();
}

/** With levels and intensities in device memory, which must have room for them. */
GrayLevelDiscretizationResult
ComputeFromDeviceMemory(const FeatureMapsJob & job, const CudaOptions & options)
{
  GrayLevelDiscretizationJob discretization = MakeDiscretizationJob(job);
  // Verified before there is memory for the levels.
  std::uint16_t placeholder = 0;
  discretization.levels = &placeholder;
  const auto voxels = static_cast<std::uint64_t>(VerifyGrayLevelJob(discretization));
  VerifyFeatureMapsJob(job);

  std::unique_ptr<CudaStream> ownStream;
  CudaOptions                 onDevice = options;
  if (!options.UsesStream())
  {
    ownStream = std::make_unique<CudaStream>();
    onDevice.stream = static_cast<cudaStream_t>(*ownStream);
  }
  const auto stream = static_cast<cudaStream_t>(onDevice.stream);
  onDevice.inputLocation = MemoryLocation::Device;

  FeatureMapsJob             deviceJob = job;
  DeviceBuffer<char>         pixels;
  DeviceBuffer<std::uint8_t> mask;
  DeviceBuffer<std::uint8_t> selection;
  if (options.inputLocation == MemoryLocation::Host)
  {
    CudaStaging staging(discretization.execution);
    const auto  pixelSize = static_cast<std::uint64_t>(GetPixelSize(job.pixelType));
    deviceJob.pixels = CopyOnDevice(static_cast<const char *>(job.pixels), voxels * pixelSize, pixels, staging, stream);
    deviceJob.mask = CopyOnDevice(job.mask, voxels, mask, staging, stream);
    deviceJob.selection = CopyOnDevice(job.selection, NumberOfVoxels(job.outputSize), selection, staging, stream);
  }
  DeviceBuffer<std::uint16_t> levels(voxels, stream);
  discretization.pixels = deviceJob.pixels;
  discretization.mask = deviceJob.mask;
  discretization.levels = levels.data();
  CudaOptions levelOptions = onDevice;
  levelOptions.outputLocation = MemoryLocation::Device;
  const GrayLevelDiscretizationResult result = DiscretizeGrayLevelsCuda(discretization, levelOptions);
  ForEachClassJob(deviceJob, result, levels.data(), [&](auto & typedJob) {
    DeviceBuffer<char> intensities;
    if constexpr (std::is_same<std::decay_t<decltype(typedJob)>, FirstOrderJob>::value)
    {
      typedJob.intensitiesAreDouble = NeedsDoubleIntensities(job.pixelType);
      intensities.Allocate(voxels * (typedJob.intensitiesAreDouble ? sizeof(double) : sizeof(float)), stream);
      typedJob.intensities = intensities.data();
      SelectIntensitiesCuda(job.pixelType,
                            deviceJob.pixels,
                            levels.data(),
                            static_cast<std::int64_t>(voxels),
                            intensities.data(),
                            typedJob.intensitiesAreDouble,
                            levelOptions);
    }
    RunCudaTextureEngine(typedJob, onDevice);
  });
  if (options.inputLocation == MemoryLocation::Host && options.outputLocation == MemoryLocation::Device)
  {
    // The caller may change the input on return; small copies read it until they are done.
    CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
  }
  return result;
}
} // namespace

#define VOXELMAPS_CUDA_ENGINE(name)                                                                                    \
  CudaReport ComputeFeatureMapsCuda(const name##Job & job, const CudaOptions & options)                                \
  {                                                                                                                    \
    return RunCudaTextureEngine(job, options);                                                                         \
  }
VOXELMAPS_TEXTURE_CLASSES(VOXELMAPS_CUDA_ENGINE)
#undef VOXELMAPS_CUDA_ENGINE

std::vector<std::string>
GetCudaMethods(const TextureClassJob & job, int deviceID)
{
  const CurrentDevice device(deviceID);
  return std::visit(
    [](auto typedJob) {
      FillNullPointers(typedJob);
      return GetNames(TextureClass<decltype(typedJob)>(typedJob).GetCudaMethods());
    },
    job);
}

GrayLevelDiscretizationResult
ComputeFeatureMapsCuda(const FeatureMapsJob & job, const CudaOptions & options)
{
  const CurrentDevice device(options.deviceID);
  if (options.UsesStream())
  {
    return ComputeFromDeviceMemory(job, options);
  }
  // A budget may be less than the levels need; the classes cut what they copy into slabs.
  if (options.memoryBudget == 0)
  {
    try
    {
      return ComputeFromDeviceMemory(job, options);
    }
    catch (const CudaOutOfMemory &)
    {}
  }
  return ComputeFromHostMemory(job, [&options](const auto & typedJob) { RunCudaTextureEngine(typedJob, options); });
}
} // namespace voxelmaps
