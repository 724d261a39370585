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
// Run entropy of small windows. A thread walks the levels of one window, whose voxels are bits of its registers: those
// that end at least k voxels of the level in a line are the bits that are left of k - 1 shifts along the direction.
// Their numbers S(k) give the numbers of runs of a level by length, S(l) - 2 S(l + 1) + S(l + 2), without a table.
#include "CudaRunLengthMethods.h"
#include "CudaRunAccumulator.cuh"
#include "texture/cuda/CudaParts.h"
#include "texture/cuda/CudaWindowBits.cuh"
#include "texture/cpu/WindowBox.h"

#include <algorithm>
#include <bitset>

namespace voxelmaps
{
namespace
{
using Tiles = CudaWindowBitsTiles;

constexpr auto feature = RunLengthJob::Feature::RunEntropy;

constexpr int maxDirections = Directions::maxNumber;

/** Number of a direction among all: those of a slice first. */
VOXELMAPS_HOST_DEVICE constexpr int
DirectionNumber(int x, int y, int z)
{
  return z == 0 ? (y == 0 ? 0 : x + 2) : 3 * (y + 1) + x + 5;
}

struct RunEntropyBitsLayout
{
  Tiles tiles;
  /** The number of every direction of the task, and a bit for each of them. */
  int           numbers[maxDirections];
  std::uint32_t areUsed;
  /** Component of the output. */
  int component;

  explicit RunEntropyBitsLayout(const RunLengthTask & task)
    : tiles(task)
    , numbers{}
    , areUsed(0)
    , component(
        static_cast<int>(std::find(task.features, task.features + task.numberOfFeatures, feature) - task.features))
  {
    for (int d = 0; d < task.directions.number; ++d)
    {
      const auto & step = task.directions.steps[d];
      numbers[d] = DirectionNumber(step[0], step[1], step[2]);
      areUsed |= 1u << numbers[d];
    }
  }
};

/** The sums of the directions of a window, each by itself or merged. Numbers of pairs of a window fit bytes up to 5
 * voxels along each axis. */
template <int VWidth, bool VIsMerged>
struct RunEntropyBitsSums
{
  static constexpr int number = VIsMerged ? 1 : maxDirections;
  static constexpr int pairBits = VIsMerged ? 32 : VWidth <= 5 ? 8 : 16;
  static constexpr int pairsPerWord = 32 / pairBits;

  /** Sum of t of the numbers of runs. */
  std::int64_t entropy[number];
  /** Neighbors of equal levels, which have a run less. */
  std::uint32_t pairs[(number + pairsPerWord - 1) / pairsPerWord];
  /** Runs of the current level by length, of all directions. */
  std::uint32_t runs[VIsMerged ? VWidth + 1 : 1];
};

template <int VWidth, int VLevelBits, bool VIsMerged>
class LevelRuns
{
public:
  using Bits = CudaWindowBits<VWidth, VLevelBits>;
  using Word = typename Bits::Word;
  using Sums = RunEntropyBitsSums<VWidth, VIsMerged>;

  __device__
  LevelRuns(const RunEntropyBitsLayout & layout, const std::int64_t * entropyTable, Sums & sums)
    : m_Layout(layout)
    , m_EntropyTable(entropyTable)
    , m_Sums(sums)
  {}

  __device__ void
  AddDirections(const Word (&voxels)[VWidth], std::uint32_t number)
  {
    this->AddDirection<1, 0, 0>(voxels, number);
    this->AddDirection<-1, 1, 0>(voxels, number);
    this->AddDirection<0, 1, 0>(voxels, number);
    this->AddDirection<1, 1, 0>(voxels, number);
    this->AddDirection<-1, -1, 1>(voxels, number);
    this->AddDirection<0, -1, 1>(voxels, number);
    this->AddDirection<1, -1, 1>(voxels, number);
    this->AddDirection<-1, 0, 1>(voxels, number);
    this->AddDirection<0, 0, 1>(voxels, number);
    this->AddDirection<1, 0, 1>(voxels, number);
    this->AddDirection<-1, 1, 1>(voxels, number);
    this->AddDirection<0, 1, 1>(voxels, number);
    this->AddDirection<1, 1, 1>(voxels, number);
  }

private:
  /** Leave the voxels that end VLength voxels along a direction, from those that end one less; returns their number. */
  template <int VX, int VY, int VZ, int VLength>
  static __device__ std::uint32_t
                    Shorten(Word (&ends)[VWidth])
  {
    constexpr int first = VZ * (VLength - 1);
#pragma unroll
    for (int z = VWidth - 1; z >= first; --z)
    {
      ends[z] &= ShiftWord(ends[z - VZ], VX + VY * Bits::rowBits);
    }
    return CountBitsBetween<first, VWidth>(ends);
  }
  template <int VX, int VY, int VZ, int VLength>
  static __device__ void
  ShortenFrom(Word (&ends)[VWidth], std::uint32_t (&numbers)[VWidth + 3])
  {
    if constexpr (VLength <= VWidth)
    {
      numbers[VLength] = Shorten<VX, VY, VZ, VLength>(ends);
      ShortenFrom<VX, VY, VZ, VLength + 1>(ends, numbers);
    }
  }

  template <int VX, int VY, int VZ>
  __device__ void
  AddDirection(const Word (&voxels)[VWidth], std::uint32_t number)
  {
    constexpr int direction = DirectionNumber(VX, VY, VZ);
    if ((m_Layout.areUsed >> direction & 1) == 0)
    {
      return;
    }
    Word ends[VWidth];
#pragma unroll
    for (int z = 0; z < VWidth; ++z)
    {
      ends[z] = voxels[z];
    }
    // How many voxels end so many of the level.
    std::uint32_t numbers[VWidth + 3] = {};
    numbers[1] = number;
    numbers[2] = Shorten<VX, VY, VZ, 2>(ends);
    // Three voxels in a line have two pairs.
    if (__any_sync(0xffffffffu, numbers[2] > 1))
    {
      numbers[3] = Shorten<VX, VY, VZ, 3>(ends);
      if (VWidth > 3 && __any_sync(0xffffffffu, numbers[3] > 1))
      {
        ShortenFrom<VX, VY, VZ, 4>(ends, numbers);
        this->AddRuns<direction, VWidth>(numbers);
      }
      else
      {
        this->AddRuns<direction, 3>(numbers);
      }
    }
    else
    {
      this->AddRuns<direction, 2>(numbers);
    }
  }

  /** Add the runs of a direction, up to a length. */
  template <int VDirection, int VLength>
  __device__ void
  AddRuns(const std::uint32_t (&numbers)[VWidth + 3])
  {
#pragma unroll
    for (int l = 1; l <= VLength; ++l)
    {
      const std::uint32_t runs = numbers[l] - 2 * numbers[l + 1] + numbers[l + 2];
      if constexpr (VIsMerged)
      {
        m_Sums.runs[l] += runs;
      }
      else
      {
        m_Sums.entropy[VDirection] += m_EntropyTable[runs];
      }
    }
    if constexpr (VIsMerged)
    {
      m_Sums.pairs[0] += numbers[2];
    }
    else
    {
      m_Sums.pairs[VDirection / Sums::pairsPerWord] += numbers[2] << (VDirection % Sums::pairsPerWord * Sums::pairBits);
    }
  }

  const RunEntropyBitsLayout & m_Layout;
  const std::int64_t *         m_EntropyTable;
  Sums &                       m_Sums;
};

template <int VWidth, int VLevelBits>
constexpr int blocksPerMultiprocessor = VWidth <= 5 ? (VLevelBits <= 9 ? 4 : 3) : (VLevelBits <= 6 ? 3 : 2);

template <int VWidth, int VLevelBits, bool VIsMerged>
__global__ void
__launch_bounds__(Tiles::threads, (blocksPerMultiprocessor<VWidth, VLevelBits>))
  RunEntropyBitsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ RunEntropyBitsLayout layout,
                       std::int64_t firstTile)
{
  using Bits = CudaWindowBits<VWidth, VLevelBits>;
  using Sums = RunEntropyBitsSums<VWidth, VIsMerged>;
  constexpr int maxRuns = VWidth * VWidth * VWidth;

  __shared__ typename Bits::Tile tile;
  __shared__ std::int64_t entropyTable[VIsMerged ? 1 : maxRuns + 1];
  if (!VIsMerged)
  {
    for (int n = threadIdx.x; n <= maxRuns; n += Tiles::threads)
    {
      entropyTable[n] = task.entropyTable[min(n, static_cast<int>(task.maxVoxels))];
    }
  }
  std::int64_t start[3];
  layout.tiles.GetStart(firstTile + blockIdx.x, start);
  const int slices = static_cast<int>(min(std::int64_t{ layout.tiles.slices }, task.outputSize[2] - start[2]));
  tile.Load(task, start, slices);

  const int  lane = threadIdx.x % Tiles::lanes;
  const int  row = threadIdx.x / Tiles::lanes;
  const bool isPerDirection = task.aggregation == RunLengthJob::Aggregation::PerDirection;
  Bits       bits;
#pragma unroll 1
  for (int plane = 0; plane < slices + VWidth - 1; ++plane)
  {
    bits.Move(task, tile, row, plane);
    if (plane < VWidth - 1)
    {
      continue;
    }
    const std::int64_t voxel[3] = { start[0] + lane, start[1] + row, start[2] + plane - (VWidth - 1) };
    const bool         isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
    const bool         isComputed = isOutput && WindowBox(task, voxel).isComputed;
    const std::int64_t out =
      ((voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0]) * task.voxelStride;
    if (isOutput && !isComputed)
    {
      for (int d = 0; d < (isPerDirection ? task.directions.number : 1); ++d)
      {
        StoreComponentOrNaN(task, out, d * task.numberOfFeatures + layout.component, task.backgroundValue);
      }
    }
    bits.Start(isComputed ? task.window[2] : 0);
    const std::uint32_t numberOfVoxels = bits.NumberLeft();

    Sums sums = {};
    while (__any_sync(0xffffffffu, bits.HasLeft()))
    {
      typename Bits::Word voxels[VWidth];
      std::uint32_t       number = 0;
      // A voxel alone has a run of each direction, and t(1) is 0.
      do
      {
        bits.TakeLevel(voxels);
        number = CountBitsBetween<0, VWidth>(voxels);
      } while (!VIsMerged && number == 1);
      __syncwarp();
      LevelRuns<VWidth, VLevelBits, VIsMerged>(layout, entropyTable, sums).AddDirections(voxels, number);
      if constexpr (VIsMerged)
      {
#pragma unroll
        for (int l = 1; l <= VWidth; ++l)
        {
          sums.entropy[0] += task.entropyTable[sums.runs[l]];
          sums.runs[l] = 0;
        }
      }
    }
    if (!isComputed)
    {
      continue;
    }

    RunLengthSums<double> matrix{};
    if constexpr (VIsMerged)
    {
      const std::uint32_t runs = numberOfVoxels * static_cast<std::uint32_t>(task.directions.number) - sums.pairs[0];
      matrix.runs = static_cast<double>(runs);
      matrix.entropy = static_cast<double>(task.entropyTable[runs] - sums.entropy[0]);
      const double quotient =
        CudaDivision::Quotient(RunLengthNumerator(feature, matrix), CudaDivision::By(matrix.runs));
      StoreComponent(task, out, layout.component, RunLengthToUnit(feature, quotient, task.scales));
    }
    else
    {
      // Where the directions of the task can be looked up.
      std::int64_t  entropy[maxDirections];
      std::uint32_t runs[maxDirections];
#pragma unroll
      for (int n = 0; n < maxDirections; ++n)
      {
        const std::uint32_t pairs = sums.pairs[n / Sums::pairsPerWord] >> (n % Sums::pairsPerWord * Sums::pairBits) &
                                    ((1u << Sums::pairBits) - 1);
        runs[n] = numberOfVoxels - pairs;
        entropy[n] = entropyTable[runs[n]] - sums.entropy[n];
      }
      double average = 0.0;
      for (int d = 0; d < task.directions.number; ++d)
      {
        matrix.runs = static_cast<double>(runs[layout.numbers[d]]);
        matrix.entropy = static_cast<double>(entropy[layout.numbers[d]]);
        if (!isPerDirection)
        {
          average += RunLengthAverageTerm(feature, matrix, CudaDivision::Reciprocal(matrix.runs));
          continue;
        }
        const double quotient =
          CudaDivision::Quotient(RunLengthNumerator(feature, matrix), CudaDivision::By(matrix.runs));
        StoreComponent(
          task, out, d * task.numberOfFeatures + layout.component, RunLengthToUnit(feature, quotient, task.scales));
      }
      if (!isPerDirection)
      {
        StoreComponent(task,
                       out,
                       layout.component,
                       RunLengthAverage<double, CudaDivision>(
                         feature, average, 1.0, static_cast<double>(task.directions.number), task.scales));
      }
    }
  }
}

template <int VWidth, int VLevelBits>
void
Launch(const RunLengthTask & task, const CudaMethodResources & resources)
{
  const RunEntropyBitsLayout layout(task);
  const auto                 kernel = task.aggregation == RunLengthJob::Aggregation::Merge
                                        ? RunEntropyBitsKernel<VWidth, VLevelBits, true>
                                        : RunEntropyBitsKernel<VWidth, VLevelBits, false>;
  // In parts of less than a tenth of a second, so that an abort is quick.
  constexpr std::int64_t partTiles = std::int64_t{ 1 } << 13;
  LaunchInParts(layout.tiles.Number(),
                partTiles,
                resources,
                "starting the kernel of run entropy by bits",
                [&](std::int64_t first, std::int64_t end) {
                  kernel<<<static_cast<unsigned int>(end - first), Tiles::threads, 0, resources.stream>>>(
                    task, layout, first);
                });
}
} // namespace

bool
CudaRunEntropyBitsSupports(const RunLengthTask & task)
{
  const int  width = *std::max_element(task.window, task.window + 3);
  const bool hasEachDirectionOnce =
    static_cast<int>(std::bitset<32>(RunEntropyBitsLayout(task).areUsed).count()) == task.directions.number;
  return hasEachDirectionOnce && (width <= 5 || (width <= maxWindowBitsWidth && task.numberOfGrayLevels < 512));
}

void
ComputeCudaRunEntropyBits(const RunLengthTask & task, const CudaMethodResources & resources)
{
  const int  width = *std::max_element(task.window, task.window + 3);
  const int  levels = task.numberOfGrayLevels;
  const auto launch = width <= 3   ? (levels < 64 ? Launch<3, 6> : Launch<3, 16>)
                      : width <= 5 ? (levels < 64    ? Launch<5, 6>
                                      : levels < 512 ? Launch<5, 9>
                                                     : Launch<5, 16>)
                      : width <= 7 ? (levels < 64 ? Launch<7, 6> : Launch<7, 9>)
                                   : (levels < 64 ? Launch<9, 6> : Launch<9, 9>);
  launch(task, resources);
}
} // namespace voxelmaps
