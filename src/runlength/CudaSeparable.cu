/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
// Box sums that neighboring windows share; doc/run-length-engine.md has the identities.
//
// A block computes a tile of one output plane, with one thread per column and two rows of the tile and of what its
// windows reach. For each direction, every thread sums along z in registers, warps along x by shuffles, and then along
// y through shared memory. S_k is the sum over the starts of k equal voxels in a row, both ends inside the window; runs
// of length l are S_l - 2 S_(l+1) + S_(l+2).
#include "CudaSeparableLaunch.cuh"

#include <algorithm>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr int largestWindow = 9;
constexpr int mostGrayLevels = 1024;
static_assert(mostGrayLevels <= mostLevelsOfSegments, "levels fit beside the lengths");

int
LargestSide(const CudaRunLengthTask & task)
{
  return std::max({ task.window[0], task.window[1], task.window[2] });
}

std::uint64_t
NumberOfVoxels(const std::int64_t (&size)[3])
{
  return static_cast<std::uint64_t>(size[0] * size[1] * size[2]);
}

std::uint64_t
SegmentsBytes(const CudaRunLengthTask & task)
{
  return NumberOfVoxels(task.levelsSize) * sizeof(std::uint64_t);
}

SeparableLayout
MakeLayout(const CudaRunLengthTask & task, void * scratch)
{
  SeparableLayout layout{};
  layout.columns = tileColumns - task.window[0] + 1;
  layout.rows = tileRows - task.window[1] + 1;
  layout.tilesX = (task.outputSize[0] + layout.columns - 1) / layout.columns;
  layout.tilesY = (task.outputSize[1] + layout.rows - 1) / layout.rows;
  layout.squareBits = BitsOf(MostSquares(task));
  layout.levelBits = task.mostVoxels < 256 ? 8 : 16;
  layout.components = MakeFeatureComponents(task);
  layout.runs = RunWeights(task);
  layout.segments = static_cast<std::uint64_t *>(scratch);
  layout.levelNonUniformities = static_cast<char *>(scratch) + SegmentsBytes(task);
  return layout;
}

__device__ void
WriteSegment(const CudaRunLengthTask & task, int x, int y, int z, std::uint64_t * segments)
{
  const std::int64_t    voxel = (z * task.levelsSize[1] + y) * task.levelsSize[0] + x;
  const std::uint16_t * levels = task.levels + voxel;
  const int             level = *levels;
  std::uint64_t         segment = 0;
  if (level != 0)
  {
    // How far the levels reach to each side.
    const int before[2] = { x, y };
    const int after[3] = { static_cast<int>(task.levelsSize[0]) - 1 - x,
                           static_cast<int>(task.levelsSize[1]) - 1 - y,
                           static_cast<int>(task.levelsSize[2]) - 1 - z };
    segment = static_cast<std::uint64_t>(level) << levelShift;
    for (int d = 0; d < task.numberOfDirections; ++d)
    {
      const auto &       step = task.directions[d];
      const std::int64_t stride = (step[2] * task.levelsSize[1] + step[1]) * task.levelsSize[0] + step[0];
      int                longest = task.longestRuns[d];
      if (step[0] != 0)
      {
        longest = min(longest, 1 + (step[0] > 0 ? after[0] : before[0]));
      }
      if (step[1] != 0)
      {
        longest = min(longest, 1 + (step[1] > 0 ? after[1] : before[1]));
      }
      if (step[2] != 0)
      {
        longest = min(longest, 1 + after[2]);
      }
      int                   length = 1;
      const std::uint16_t * next = levels + stride;
      while (length < longest && *next == level)
      {
        ++length;
        next += stride;
      }
      segment |= static_cast<std::uint64_t>(length) << (lengthBits * d);
    }
  }
  segments[voxel] = segment;
}

/** For every voxel and direction the number of equal voxels from it on, at most the longest run, and its level. */
__global__ void
SegmentsKernel(const __grid_constant__ CudaRunLengthTask task, std::uint64_t * segments)
{
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= task.levelsSize[0])
  {
    return;
  }
  for (int z = static_cast<int>(blockIdx.z); z < task.levelsSize[2]; z += static_cast<int>(gridDim.z))
  {
    for (int y = static_cast<int>(blockIdx.y); y < task.levelsSize[1]; y += static_cast<int>(gridDim.y))
    {
      WriteSegment(task, x, y, z, segments);
    }
  }
}

/** Words per voxel of the sums of one set, without those of levels; as SeparableSums::sumWords. */
std::size_t
BytesOfSums(const CudaRunLengthTask & task)
{
  const int largest = LargestSide(task);
  const int kinds = largest <= 3 ? 2 : largest <= 5 ? 4 : largest <= 7 ? 6 : 8;
  return static_cast<std::size_t>(kinds * (ChooseSumWidth(task) == SumWidth::Separate ? 4 : 3) + 1) * tileVoxels *
         sizeof(std::uint32_t);
}
} // namespace

bool
SeparableTakes(const CudaRunLengthTask & task)
{
  const auto levelSum = static_cast<double>(task.mostVoxels) * task.numberOfGrayLevels;
  return LargestSide(task) <= largestWindow && task.aggregation != RunLengthJob::Aggregation::Merge &&
         !task.needsEntropy && !task.wideInverses && task.numberOfGrayLevels <= mostGrayLevels &&
         MostSquares(task) < (std::uint64_t{ 1 } << 32) && levelSum * levelSum < 9007199254740992.0 && // 2^53
         static_cast<double>(task.mostVoxels) * task.scales.shortRunScale < FusedDivision::mostDivisor &&
         BytesOfSums(task) + (mostGrayLevels + 2) * sizeof(std::uint64_t) <= SharedMemoryOfDevice();
}

std::uint64_t
SeparableScratchBytes(const CudaRunLengthTask & task)
{
  const std::uint64_t bytes = task.mostVoxels < 256 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  return SegmentsBytes(task) + (task.needsLevelCounts ? NumberOfVoxels(task.outputSize) * bytes *
                                                          static_cast<std::uint64_t>(task.numberOfDirections)
                                                      : 0);
}

void
ComputeBySeparableSums(const CudaRunLengthTask & task, const CudaRunLengthResources & resources)
{
  if (NumberOfVoxels(task.levelsSize) > 0)
  {
    constexpr unsigned int threads = 128;
    constexpr std::int64_t mostBlocks = 65535;
    const dim3             blocks(static_cast<unsigned int>((task.levelsSize[0] + threads - 1) / threads),
                      static_cast<unsigned int>(std::min(task.levelsSize[1], mostBlocks)),
                      static_cast<unsigned int>(std::min(task.levelsSize[2], mostBlocks)));
    SegmentsKernel<<<blocks, threads, 0, resources.stream>>>(task, static_cast<std::uint64_t *>(resources.scratch));
    CheckLaunch("starting the kernel of segments");
  }
  const SeparableLayout layout = MakeLayout(task, resources.scratch);
  switch (LargestSide(task) / 2)
  {
    case 0:
    case 1:
      return LaunchSeparable<3>(task, layout, resources.stream);
    case 2:
      return LaunchSeparable<5>(task, layout, resources.stream);
    case 3:
      return LaunchSeparable<7>(task, layout, resources.stream);
    default:
      return LaunchSeparable<9>(task, layout, resources.stream);
  }
}
} // namespace voxelmaps
} // namespace itk
