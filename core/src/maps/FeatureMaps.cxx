// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "maps/FeatureMapsClasses.h"

#include <algorithm>
#include <string>
#include <vector>

namespace voxelmaps
{
namespace
{
/** The CPU engine of a texture class. */
template <typename TJob>
void
ComputeClass(const TJob & job)
{
  const TextureClass<TJob> textureClass(job);
  if (job.outputSize[0] > 0 && job.outputSize[1] > 0 && job.outputSize[2] > 0)
  {
    FindMethod(textureClass.GetMethods(job), job.method, DescribeJob(textureClass.task))->compute(job);
  }
}
} // namespace

#define VOXELMAPS_CPU_ENGINE(name)                                                                                     \
  void ComputeFeatureMaps(const name##Job & job)                                                                       \
  {                                                                                                                    \
    ComputeClass(job);                                                                                                 \
  }
VOXELMAPS_TEXTURE_CLASSES(VOXELMAPS_CPU_ENGINE)
#undef VOXELMAPS_CPU_ENGINE

TextureClassJob
MakeTextureClassJob(const std::string & className)
{
#define VOXELMAPS_MAKE_JOB(name)                                                                                       \
  if (className == name##Job::Enums::GetFeatureTable().GetClassName())                                                 \
  {                                                                                                                    \
    return name##Job{};                                                                                                \
  }
  VOXELMAPS_TEXTURE_CLASSES(VOXELMAPS_MAKE_JOB)
#undef VOXELMAPS_MAKE_JOB
  throw EngineError("There is no texture class '" + className + "'.");
}

std::vector<std::string>
GetMethods(const TextureClassJob & job)
{
  return std::visit(
    [](auto typedJob) {
      FillNullPointers(typedJob);
      return GetNames(TextureClass<decltype(typedJob)>(typedJob).GetMethods(typedJob));
    },
    job);
}

std::int64_t
GetNumberOfMaps(const FeatureMapsJob & job)
{
  std::int64_t maps = 0;
  for (const TextureClassJob & classJob : job.classes)
  {
    maps += std::visit(
      [](const auto & typedJob) { return static_cast<std::int64_t>(typedJob.GetNumberOfComponents()); }, classJob);
  }
  return maps;
}

void
SetClassJob(const FeatureMapsJob & job, TextureFeatureMapJob & classJob)
{
  classJob.levelsIndex = {};
  classJob.levelsSize = job.size;
  classJob.outputIndex = job.outputIndex;
  classJob.outputSize = job.outputSize;
  classJob.outputIsDouble = job.outputIsDouble;
  classJob.outputVoxelStride = job.voxelStride;
  classJob.outputComponentStride = job.mapStride;
  classJob.selection = job.selection;
  classJob.backgroundValue = job.backgroundValue;
  classJob.windowSize = job.windowSize;
  classJob.windowAnchor = job.windowAnchor;
  classJob.execution = job.execution;
}

void
VerifyFeatureMapsJob(const FeatureMapsJob & job)
{
  if (job.classes.empty())
  {
    throw EngineError("A job has no texture classes, but must have at least one.");
  }
  for (int d = 0; d < 3; ++d)
  {
    // Without sums, which could overflow.
    if (job.outputSize[d] < 0 || job.outputIndex[d] < 0 || job.outputSize[d] > job.size[d] ||
        job.outputIndex[d] > job.size[d] - job.outputSize[d])
    {
      throw EngineError("A job has an output of index " + std::to_string(job.outputIndex[d]) + " and size " +
                        std::to_string(job.outputSize[d]) + " along axis " + std::to_string(d) +
                        ", but it must be within the array, whose size is " + std::to_string(job.size[d]) + '.');
    }
  }
  // Maps of different classes must not overlap, nor their addresses overflow.
  const auto         voxels = static_cast<std::int64_t>(NumberOfVoxels(job.outputSize));
  const std::int64_t maps = GetNumberOfMaps(job);
  const bool         isPlanar = job.voxelStride == 1 && job.mapStride >= voxels;
  const bool         isInterleaved = job.mapStride == 1 && job.voxelStride >= maps;
  constexpr double   maxSize = 0x1p56;
  if ((!isPlanar && !isInterleaved) ||
      static_cast<double>(job.mapStride) * static_cast<double>(std::max<std::int64_t>(maps, 1)) > maxSize ||
      static_cast<double>(job.voxelStride) * static_cast<double>(std::max<std::int64_t>(voxels, 1)) > maxSize)
  {
    throw EngineError("A job has a voxel stride of " + std::to_string(job.voxelStride) + " and a map stride of " +
                      std::to_string(job.mapStride) + ", but they must be 1 and at least " + std::to_string(voxels) +
                      ", the number of voxels of the output, or at least " + std::to_string(maps) +
                      ", the number of maps, and 1, and all maps together must have at most 2^56.");
  }
  if (job.output == nullptr && voxels > 0)
  {
    throw EngineError("A job has " + std::to_string(voxels) + " voxels of output, but the output is null.");
  }
}

GrayLevelDiscretizationJob
MakeDiscretizationJob(const FeatureMapsJob & job)
{
  GrayLevelDiscretizationJob result;
  result.pixels = job.pixels;
  result.pixelType = job.pixelType;
  result.size = job.size;
  result.mask = job.mask;
  result.parameters = job.discretization;
  result.execution = job.execution;
  // The progress is that of the maps.
  result.execution.reportProgress = [report = job.execution.reportProgress](std::uint64_t) {
    if (report)
    {
      report(0);
    }
  };
  return result;
}

GrayLevelDiscretizationResult
ComputeFeatureMaps(const FeatureMapsJob & job)
{
  return ComputeFromHostMemory(job, [](const auto & typedJob) { ComputeClass(typedJob); });
}
} // namespace voxelmaps
