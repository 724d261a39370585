// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Run entropy of small windows. A thread walks the levels of one window, whose voxels are bits of its registers: those
// that end at least k voxels of the level in a line are the bits that are left of k - 1 shifts along the direction.
// Their numbers S(k) give the numbers of runs of a level by length, S(l) - 2 S(l + 1) + S(l + 2), without a table.
#include "CudaRunAccumulator.cuh"
#include "CudaRunLengthMethods.h"
#include "window/cuda/CudaWindowBits.cuh"

#include <algorithm>
#include <bitset>

namespace voxelmaps
{
namespace
{
constexpr int maxDirections = Directions::maxNumber;

// Directions of a slice: along x, and three along y. Others go to the next slice, in the order of y and x.
constexpr int flatDirections = 4;

int
DirectionNumber(const int (&step)[3])
{
  return step[2] == 0 ? (step[1] == 0 ? 0 : step[0] + 2) : flatDirections + 3 * (step[1] + 1) + step[0] + 1;
}

struct RunEntropyBitsLayout : CudaWindowBitsLayout
{
  /** The number of every direction of the task, and a bit for each of them. */
  int           numbers[maxDirections];
  std::uint32_t areUsed;
  /** Component of the output. */
  int component;

  explicit RunEntropyBitsLayout(const RunLengthTask & task)
    : CudaWindowBitsLayout(task)
    , numbers{}
    , areUsed(0)
    , component(FindRunEntropy(task))
  {
    for (int d = 0; d < task.directions.number; ++d)
    {
      numbers[d] = DirectionNumber(task.directions.steps[d]);
      areUsed |= 1u << numbers[d];
    }
  }
};

/** Sums of a thread over the levels of its window. Of each direction by itself, they are in shared memory: the sum of t
 * of the numbers of runs in the lower bits, and the number of neighbors of equal levels, which have a run less, above
 * them. t of at most 343 runs is below 2^49, and there are at most 294 pairs. */
using DirectionSums = std::uint64_t[CudaWindowBitsLayout::threads];
constexpr int pairsShift = 50;

/** Merged, they are in registers. */
template <int VWidth>
struct MergedSums
{
  std::int64_t  entropy;
  std::uint32_t pairs;
  /** Runs of the current level by length. */
  std::uint32_t runs[VWidth + 1];
};

/** Counts the runs of a level. */
template <int VWidth, int VSlices, int VLevelBits, bool VIsMerged>
class LevelRuns
{
public:
  using Bits = CudaWindowBits<VWidth, VSlices, VLevelBits>;
  using Word = typename Bits::Word;

  __device__
  LevelRuns(const RunEntropyBitsLayout & layout, const std::int64_t * entropyTable, DirectionSums * sums,
            MergedSums<VWidth> & merged)
    : m_Layout(layout)
    , m_EntropyTable(entropyTable)
    , m_Sums(sums)
    , m_Merged(merged)
  {}

  __device__ void
  AddDirections(const Word (&voxels)[VSlices], std::uint32_t number)
  {
    // Code of all directions of large windows would not fit the instruction cache.
    constexpr bool isUnrolled = VWidth <= 5;
#pragma unroll(isUnrolled ? 4 : 1)
    for (int n = 0; n < flatDirections; ++n)
    {
      this->AddDirection<0>(n, n == 0 ? 1 : Bits::rowBits + n - 2, voxels, number);
    }
    if constexpr (VSlices == 1)
    {
      for (int n = flatDirections; n < maxDirections; ++n)
      {
        this->AddShortLines(n, number);
      }
    }
    else
    {
      // Those whose bits would move to the right are walked the other way.
#pragma unroll(isUnrolled ? 4 : 1)
      for (int n = 0; n < 4; ++n)
      {
        this->AddDirection<-1>(n + flatDirections, (1 - n / 3) * Bits::rowBits + 1 - n % 3, voxels, number);
      }
#pragma unroll(isUnrolled ? 5 : 1)
      for (int n = 4; n < 9; ++n)
      {
        this->AddDirection<1>(n + flatDirections, (n / 3 - 1) * Bits::rowBits + n % 3 - 1, voxels, number);
      }
    }
  }

private:
  /** Leave the voxels that end VLength voxels along a direction, from those that end one less; returns their number.
   * VStep is how many slices a step goes on. */
  template <int VStep, int VLength>
  static __device__ std::uint32_t
                    Shorten(Word (&ends)[VSlices], int shift)
  {
    constexpr int first = VStep > 0 ? VLength - 1 : 0;
    constexpr int end = VStep < 0 ? VSlices - VLength + 1 : VSlices;
#pragma unroll
    for (int i = 0; i < end - first; ++i)
    {
      const int z = VStep < 0 ? first + i : end - 1 - i;
      ends[z] &= ends[z - VStep] << shift;
    }
    return CountBitsBetween<first, end>(ends);
  }
  template <int VStep, int VLength>
  static __device__ void
  ShortenFrom(Word (&ends)[VSlices], int shift, std::uint32_t (&numbers)[VWidth + 3])
  {
    if constexpr (VLength <= (VStep == 0 ? VWidth : VSlices))
    {
      numbers[VLength] = Shorten<VStep, VLength>(ends, shift);
      ShortenFrom<VStep, VLength + 1>(ends, shift, numbers);
    }
  }

  /** Add a direction whose lines have one voxel. */
  __device__ void
  AddShortLines(int direction, std::uint32_t number)
  {
    if ((m_Layout.areUsed >> direction & 1) != 0)
    {
      const std::uint32_t numbers[VWidth + 3] = { 0, number };
      this->AddRuns<1>(direction, numbers);
    }
  }

  template <int VStep>
  __device__ void
  AddDirection(int direction, int shift, const Word (&voxels)[VSlices], std::uint32_t number)
  {
    if ((m_Layout.areUsed >> direction & 1) == 0)
    {
      return;
    }
    Word ends[VSlices];
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      ends[z] = voxels[z];
    }
    constexpr int longest = VStep == 0 ? VWidth : VSlices;
    // How many voxels end so many of the level.
    std::uint32_t numbers[VWidth + 3] = {};
    numbers[1] = number;
    numbers[2] = Shorten<VStep, 2>(ends, shift);
    // Three voxels in a line have two pairs.
    if (__any_sync(0xffffffffu, numbers[2] > 1))
    {
      numbers[3] = Shorten<VStep, 3>(ends, shift);
      if (longest > 3 && __any_sync(0xffffffffu, numbers[3] > 1))
      {
        ShortenFrom<VStep, 4>(ends, shift, numbers);
        this->AddRuns<longest>(direction, numbers);
      }
      else
      {
        this->AddRuns<3>(direction, numbers);
      }
    }
    else
    {
      this->AddRuns<2>(direction, numbers);
    }
  }

  /** Add the runs of a direction, up to a length. */
  template <int VLength>
  __device__ void
  AddRuns(int direction, const std::uint32_t (&numbers)[VWidth + 3])
  {
    std::uint64_t sum = std::uint64_t{ numbers[2] } << pairsShift;
#pragma unroll
    for (int l = 1; l <= VLength; ++l)
    {
      const std::uint32_t runs = numbers[l] - 2 * numbers[l + 1] + numbers[l + 2];
      if constexpr (VIsMerged)
      {
        m_Merged.runs[l] += runs;
      }
      else
      {
        sum += static_cast<std::uint64_t>(m_EntropyTable[runs]);
      }
    }
    if constexpr (VIsMerged)
    {
      m_Merged.pairs += numbers[2];
    }
    else
    {
      m_Sums[direction][threadIdx.x] += sum;
    }
  }

  const RunEntropyBitsLayout & m_Layout;
  const std::int64_t *         m_EntropyTable;
  DirectionSums *              m_Sums;
  MergedSums<VWidth> &         m_Merged;
};

/** The body of the kernel. */
template <int VWidth, int VSlices, int VLevelBits, bool VIsMerged>
struct RunEntropyBits
{
  using Task = RunLengthTask;
  using Layout = RunEntropyBitsLayout;
  using Bits = CudaWindowBits<VWidth, VSlices, VLevelBits>;
  static constexpr int minBlocks = VWidth <= 5 || VSlices == 1 ? (VLevelBits <= 9 ? 5 : 3) : VLevelBits <= 6 ? 3 : 2;

  const Task &   task;
  const Layout & layout;

  __device__ void
  Compute(const std::int64_t (&start)[3]) const
  {
    constexpr int maxRuns = VWidth * VWidth * VSlices;

    __shared__ std::int64_t  entropyTable[VIsMerged ? 1 : maxRuns + 1];
    __shared__ DirectionSums directionSums[VIsMerged ? 1 : maxDirections];
    if (!VIsMerged)
    {
      for (int n = threadIdx.x; n <= maxRuns; n += CudaWindowBitsLayout::threads)
      {
        entropyTable[n] = task.entropyTable[min(n, static_cast<int>(task.maxVoxels))];
      }
    }
    const auto storeBackground = [&](std::int64_t output) {
      StoreRunEntropyBackground(task, output * task.voxelStride, layout.component);
    };
    const auto compute = [&](Bits & bits, std::int64_t output, bool isComputed) {
      const std::uint32_t numberOfVoxels = bits.NumberLeft();

      MergedSums<VWidth> merged{};
#pragma unroll
      for (auto & sum : directionSums)
      {
        sum[threadIdx.x] = 0;
      }
      while (__any_sync(0xffffffffu, bits.HasLeft()))
      {
        typename Bits::Word voxels[VSlices];
        std::uint32_t       number = 0;
        // A single voxel has a run of each direction, and t(1) is 0.
        do
        {
          bits.TakeLevel(voxels);
          number = CountBitsBetween<0, VSlices>(voxels);
        } while (!VIsMerged && number == 1);
        __syncwarp();
        LevelRuns<VWidth, VSlices, VLevelBits, VIsMerged>(layout, entropyTable, directionSums, merged)
          .AddDirections(voxels, number);
        if constexpr (VIsMerged)
        {
#pragma unroll
          for (int l = 1; l <= VWidth; ++l)
          {
            merged.entropy += task.entropyTable[merged.runs[l]];
            merged.runs[l] = 0;
          }
        }
      }
      if (!isComputed)
      {
        return;
      }

      StoreRunEntropy(task, output * task.voxelStride, layout.component, [&](int m) -> RunEntropySums {
        if constexpr (VIsMerged)
        {
          return { merged.entropy, numberOfVoxels * static_cast<std::uint32_t>(task.directions.number) - merged.pairs };
        }
        const std::uint64_t sum = directionSums[layout.numbers[m]][threadIdx.x];
        return { static_cast<std::int64_t>(sum & ((std::uint64_t{ 1 } << pairsShift) - 1)),
                 numberOfVoxels - static_cast<std::uint32_t>(sum >> pairsShift) };
      });
    };
    ForEachWindowOfBits<VWidth, VSlices, VLevelBits>(task, layout, start, storeBackground, compute);
  }
};

template <int VWidth, int VSlices, int VLevelBits>
void
Launch(const RunLengthTask & task, const CudaMethodResources & resources)
{
  const auto launch = task.aggregation == RunLengthJob::Aggregation::Merge
                        ? LaunchWindowTiles<RunEntropyBits<VWidth, VSlices, VLevelBits, true>>
                        : LaunchWindowTiles<RunEntropyBits<VWidth, VSlices, VLevelBits, false>>;
  launch(task,
         RunEntropyBitsLayout(task),
         0,
         CudaWindowBits<VWidth, VSlices, VLevelBits>::partTiles,
         resources,
         "starting the kernel of run entropy by bits");
}
} // namespace

bool
CudaRunEntropyBitsSupports(const RunLengthTask & task)
{
  const int  width = *std::max_element(task.window, task.window + 3);
  const bool hasEachDirectionOnce =
    static_cast<int>(std::bitset<32>(RunEntropyBitsLayout(task).areUsed).count()) == task.directions.number;
  return hasEachDirectionOnce &&
         (width <= 5 || (width <= maxWindowBitsWidth && (task.window[2] == 1 || task.numberOfGrayLevels < 512)));
}

void
ComputeCudaRunEntropyBits(const RunLengthTask & task, const CudaMethodResources & resources)
{
  const int  width = *std::max_element(task.window, task.window + 3);
  const int  levels = task.numberOfGrayLevels;
  const bool isFlat = task.window[2] == 1;
  const auto launch = isFlat       ? (width <= 5 ? (levels < 64 ? Launch<5, 1, 6> : Launch<5, 1, 16>)
                                                 : (levels < 64 ? Launch<7, 1, 6> : Launch<7, 1, 16>))
                      : width <= 3 ? (levels < 64 ? Launch<3, 3, 6> : Launch<3, 3, 16>)
                      : width <= 5 ? (levels < 64    ? Launch<5, 5, 6>
                                      : levels < 512 ? Launch<5, 5, 9>
                                                     : Launch<5, 5, 16>)
                                   : (levels < 64 ? Launch<7, 7, 6> : Launch<7, 7, 9>);
  launch(task, resources);
}
} // namespace voxelmaps
