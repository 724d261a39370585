// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaSizeZoneMethods.h"
#include "cuda/CudaError.h"
#include "sizezone/SizeZonePlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/SizeZoneJob.h"

#include <string>
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

/** Compute a job on the CPU, with copies of its arrays that are in device memory. */
void
ComputeOnCpu(const SizeZoneJob & job, const TextureTask & task, const CudaOptions & options)
{
  const auto                 stream = static_cast<cudaStream_t>(options.stream);
  const std::uint64_t        voxels = NumberOfVoxels(job.outputSize);
  SizeZoneJob                hostJob = job;
  std::vector<std::uint16_t> levels;
  std::vector<std::uint8_t>  selection;
  std::vector<char>          output;
  if (options.inputLocation == MemoryLocation::Device)
  {
    hostJob.levels = CopyToHost(job.levels, NumberOfVoxels(job.levelsSize), levels, stream);
    if (job.selection != nullptr)
    {
      hostJob.selection = CopyToHost(job.selection, voxels, selection, stream);
    }
    CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
  }
  if (options.outputLocation == MemoryLocation::Host)
  {
    ComputeSizeZoneFeatureMaps(hostJob);
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
  ComputeSizeZoneFeatureMaps(hostJob);
  CheckCuda(
    cudaMemcpy2DAsync(job.output, pitch, output.data(), rowBytes, rowBytes, rows, cudaMemcpyHostToDevice, stream),
    "copying to the device");
  CheckCuda(cudaStreamSynchronize(stream), "waiting for the device");
}
} // namespace

CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob & job, const CudaSizeZoneOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<SizeZonePlan>(job, options, ComputeSizeZoneFeatureMapsCuda);
  }
  using Method = CudaSizeZoneOptions::Method;
  return RunCudaTextureEngine<SizeZonePlan, CudaSizeZoneReport>(
    job,
    options,
    [](const SizeZoneTask & task) {
      return CudaTextureMethods<SizeZoneTask, Method>{
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels",
        { { Method::BitPlanes, CudaBitPlanesSupports(task), true, {}, ComputeByCudaBitPlanes } }
      };
    },
    [](const SizeZonePlan & plan, Method, CudaTables & tables, SizeZoneTask & task) {
      plan.matrix.AddTables(tables, task.scales);
    },
    [&](const TextureTask & task) { ComputeOnCpu(job, task, options); });
}
} // namespace voxelmaps
