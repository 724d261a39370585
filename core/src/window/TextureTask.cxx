// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "window/TextureClass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr std::int64_t  maxWindowSize = 255;
constexpr std::int64_t  maxWindowVoxels = 65535;
constexpr std::uint32_t maxNumberOfGrayLevels = 65535;

// Sums and products of a few of these do not overflow.
constexpr std::int64_t maxIndex = std::int64_t{ 1 } << 56;

void
VerifyRegion(const char * name, const Triple & index, const Triple & size, const void * data)
{
  double voxels = 1.0;
  for (int d = 0; d < 3; ++d)
  {
    if (index[d] < -maxIndex || index[d] > maxIndex || size[d] < 0)
    {
      throw EngineError(std::string("A job has ") + name + " of index " + std::to_string(index[d]) + " and size " +
                        std::to_string(size[d]) + " along axis " + std::to_string(d) +
                        ", but the index must be between -2^56 and 2^56, and the size not negative.");
    }
    voxels *= static_cast<double>(std::max<std::int64_t>(size[d], 1));
  }
  if (voxels > static_cast<double>(maxIndex))
  {
    throw EngineError(std::string("A job has ") + name + " of size " + std::to_string(size[0]) + ", " +
                      std::to_string(size[1]) + ", " + std::to_string(size[2]) +
                      ", but must have at most 2^56 voxels.");
  }
  if (data == nullptr && NumberOfVoxels(size) > 0)
  {
    throw EngineError(std::string("A job has ") + name + " of " + std::to_string(NumberOfVoxels(size)) +
                      " voxels at a null pointer: set the pointer, or the size to 0.");
  }
}

/** "[3, 4, 5]" */
std::string
ToText(const Triple & triple)
{
  return '[' + std::to_string(triple[0]) + ", " + std::to_string(triple[1]) + ", " + std::to_string(triple[2]) + ']';
}

void
Verify(const TextureFeatureMapJob & job)
{
  VerifyRegion("levels", job.levelsIndex, job.levelsSize, job.levels);
  VerifyRegion("an output", job.outputIndex, job.outputSize, job.output);
  VerifyWindow(job.windowSize, job.windowAnchor);
  if (job.numberOfGrayLevels < 1 || job.numberOfGrayLevels > maxNumberOfGrayLevels)
  {
    throw EngineError("A job has " + std::to_string(job.numberOfGrayLevels) + " gray levels, but must have 1 to " +
                      std::to_string(maxNumberOfGrayLevels) + '.');
  }
}

/** Throws EngineError unless components of a voxel, or voxels of a component, are neighbors, and none overlap. */
void
SetStrides(const TextureFeatureMapJob & job, TextureTask & task)
{
  const auto voxels = static_cast<std::int64_t>(NumberOfVoxels(job.outputSize));
  task.voxelStride = job.outputVoxelStride;
  task.componentStride = job.outputComponentStride;
  if (task.voxelStride == 0 && task.componentStride == 0)
  {
    task.voxelStride = task.numberOfComponents;
    task.componentStride = 1;
  }
  const bool isInterleaved = task.componentStride == 1 && task.voxelStride >= task.numberOfComponents;
  const bool isPlanar = task.voxelStride == 1 && task.componentStride >= voxels;
  if (!isInterleaved && !isPlanar)
  {
    std::ostringstream message;
    message << "A job has an output with voxel stride " << task.voxelStride << " and component stride "
            << task.componentStride << ", but they must be at least " << task.numberOfComponents
            << ", the number of components, and 1; or 1 and at least " << voxels << ", the number of voxels.";
    throw EngineError(message.str());
  }
}
} // namespace

void
VerifyWindow(const Triple & size, const Triple & anchor)
{
  const auto isPossible = [](std::int64_t n) { return n >= 1 && n <= maxWindowSize; };
  const bool arePossible = std::all_of(size.begin(), size.end(), isPossible);
  if (!arePossible || size[0] * size[1] * size[2] > maxWindowVoxels)
  {
    throw EngineError("The window size is " + ToText(size) +
                      (arePossible ? ", " + std::to_string(size[0] * size[1] * size[2]) + " voxels" : "") +
                      ", but at least 1 and at most " + std::to_string(maxWindowSize) +
                      " voxels along an axis and at most " + std::to_string(maxWindowVoxels) + " in all are possible.");
  }
  for (int d = 0; d < 3; ++d)
  {
    if (anchor[d] < 0 || anchor[d] >= size[d])
    {
      throw EngineError("The window anchor is " + ToText(anchor) +
                        ", but must be 0 to size - 1 along every axis of a window of " + ToText(size) + " voxels.");
    }
  }
}

void
SetTextureTask(const TextureFeatureMapJob & job, int numberOfComponents, TextureTask & task)
{
  Verify(job);
  task.levels = job.levels;
  task.numberOfGrayLevels = static_cast<int>(job.numberOfGrayLevels);
  task.intensities = job.intensities;
  task.intensitiesAreDouble = job.intensitiesAreDouble;
  task.output = job.output;
  task.outputIsDouble = job.outputIsDouble;
  task.numberOfComponents = numberOfComponents;
  SetStrides(job, task);
  // The sign and payload of NaN would depend on the processor.
  task.backgroundValue =
    std::isnan(job.backgroundValue) ? std::numeric_limits<double>::quiet_NaN() : job.backgroundValue;
  task.selection = job.selection;
  for (int d = 0; d < 3; ++d)
  {
    task.levelsSize[d] = job.levelsSize[d];
    task.outputSize[d] = job.outputSize[d];
    task.outputToLevels[d] = job.outputIndex[d] - job.levelsIndex[d];
    task.window[d] = static_cast<int>(job.windowSize[d]);
    task.anchor[d] = static_cast<int>(job.windowAnchor[d]);
  }
}

std::string
DescribeJob(const TextureTask & task)
{
  return "a window of " + std::to_string(task.window[0]) + " x " + std::to_string(task.window[1]) + " x " +
         std::to_string(task.window[2]) + " voxels with " + std::to_string(task.numberOfGrayLevels) +
         " gray levels and these parameters";
}

InstructionSet
GetWidestInstructionSet()
{
#if defined(VOXELMAPS_X86_KERNELS)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
  {
    return InstructionSet::AVX512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
  {
    return InstructionSet::AVX2;
  }
#endif
  return InstructionSet::Baseline;
}
} // namespace voxelmaps
