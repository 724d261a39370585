// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "texture/cuda/CudaTextureEngine.h"

#include "cuda/CudaError.h"

#include <vector>

namespace voxelmaps
{
namespace
{
/** Copy an array in device memory to the host. */
template <typename T>
const T *
CopyToHost(const T * onDevice, std::uint64_t size, std::vector<T> & onHost, cudaStream_t stream)
{
  onHost.resize(size);
  CheckCuda(cudaMemcpyAsync(onHost.data(), onDevice, size * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copying from the device");
  return onHost.data();
}
} // namespace

void
ComputeOnHostArrays(const TextureFeatureMapJob & job, const TextureTask & task, const CudaOptions & options,
                    const std::function<void(const TextureFeatureMapJob & hostJob)> & compute)
{
  const auto                 stream = static_cast<cudaStream_t>(options.stream);
  const std::uint64_t        voxels = NumberOfVoxels(job.outputSize);
  TextureFeatureMapJob       hostJob = job;
  std::vector<std::uint16_t> levels;
  std::vector<std::uint8_t>  selection;
  std::vector<char>          intensities;
  std::vector<char>          output;
  if (options.inputLocation == MemoryLocation::Device)
  {
    hostJob.levels = CopyToHost(job.levels, NumberOfVoxels(job.levelsSize), levels, stream);
    if (job.intensities != nullptr)
    {
      hostJob.intensities = CopyToHost(static_cast<const char *>(job.intensities),
                                       NumberOfVoxels(job.levelsSize) * IntensityBytes(task),
                                       intensities,
                                       stream);
    }
    if (job.selection != nullptr)
    {
      hostJob.selection = CopyToHost(job.selection, voxels, selection, stream);
    }
    CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
  }
  if (options.outputLocation == MemoryLocation::Host)
  {
    compute(hostJob);
    return;
  }
  // Rows without gaps: the maps, or the components of the voxels.
  const auto components = static_cast<std::size_t>(task.numberOfComponents);
  const auto rows = task.IsPlanar() ? components : static_cast<std::size_t>(voxels);
  const auto rowBytes = ComponentBytes(task) * (task.IsPlanar() ? static_cast<std::size_t>(voxels) : components);
  const auto pitch =
    ComponentBytes(task) * static_cast<std::size_t>(task.IsPlanar() ? task.componentStride : task.voxelStride);
  output.resize(rows * rowBytes);
  hostJob.output = output.data();
  hostJob.outputVoxelStride = task.IsPlanar() ? 1 : task.numberOfComponents;
  hostJob.outputComponentStride = task.IsPlanar() ? static_cast<std::int64_t>(voxels) : 1;
  compute(hostJob);
  CheckCuda(
    cudaMemcpy2DAsync(job.output, pitch, output.data(), rowBytes, rowBytes, rows, cudaMemcpyHostToDevice, stream),
    "copying to the device");
  CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
}
} // namespace voxelmaps
