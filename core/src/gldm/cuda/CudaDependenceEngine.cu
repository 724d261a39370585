// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// A thread computes a window, whose voxels are bits of its registers, level by level. The sizes of all voxels of a
// level are added up at once, as numbers of five bits in five words, and their matrix elements counted by bits.
//
// Walks support every task. The dependent neighbors at distance 1 are the same in all windows, but for those beyond the
// faces of a window, so they are found once, before; others are looked for in every window.
#include "device/CudaMemory.h"
#include "gldm/DependenceWalk.h"
#include "window/cuda/CudaWalk.cuh"
#include "window/cuda/CudaWindowBits.cuh"
#include "window/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace voxelmaps
{
namespace
{
using Layout = CudaWindowBitsLayout;

// Sizes are at most 27: all voxels at distance 1 and the voxel itself.
constexpr int sizeBits = 5;

/** Adds up the sizes of voxels: bit b of all of them is in one word per slice. */
template <int VWidth, int VSlices, typename TWord>
struct VoxelSizes
{
  static constexpr int rowBits = VWidth + 1;
  using Slices = TWord[VSlices];

  Slices bits[sizeBits];

  /** Count all near voxels at distance 0 or 1. */
  __device__ void
  CountAll(const Slices & close)
  {
    RowSums before{};
    RowSums current(close[0]);
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      const RowSums after = z + 1 < VSlices ? RowSums(close[z + 1 < VSlices ? z + 1 : z]) : RowSums{};
      TWord         sums[4];
      TWord         carries[4];
#pragma unroll
      for (int b = 0; b < 4; ++b)
      {
        sums[b] = before.bits[b] ^ current.bits[b] ^ after.bits[b];
        carries[b] = Majority(before.bits[b], current.bits[b], after.bits[b]);
      }
      bits[0][z] = sums[0];
      bits[1][z] = sums[1] ^ carries[0];
      TWord carry = sums[1] & carries[0];
      bits[2][z] = sums[2] ^ carries[1] ^ carry;
      carry = Majority(sums[2], carries[1], carry);
      bits[3][z] = sums[3] ^ carries[2] ^ carry;
      carry = Majority(sums[3], carries[2], carry);
      bits[4][z] = carries[3] ^ carry;
      before = current;
      current = after;
    }
  }

private:
  static __device__ TWord
  Majority(TWord a, TWord b, TWord c)
  {
    return (a & b) | (a & c) | (b & c);
  }

  /** Numbers of near voxels in the nine voxels of a slice around each voxel. */
  struct RowSums
  {
    TWord bits[4];

    __device__
    RowSums()
      : bits{ TWord(0), TWord(0), TWord(0), TWord(0) }
    {}
    explicit __device__
    RowSums(TWord close)
    {
      const TWord left = close << 1;
      const TWord right = close >> 1;
      const TWord low = left ^ close ^ right;
      const TWord high = Majority(left, close, right);
      const TWord lowCarry = Majority(low << rowBits, low, low >> rowBits);
      const TWord highSum = (high << rowBits) ^ high ^ (high >> rowBits);
      const TWord highCarry = Majority(high << rowBits, high, high >> rowBits);
      const TWord carry = highSum & lowCarry;
      bits[0] = (low << rowBits) ^ low ^ (low >> rowBits);
      bits[1] = highSum ^ lowCarry;
      bits[2] = highCarry ^ carry;
      bits[3] = highCarry & carry;
    }
  };
};

/** What the threads of a block look up, t(n) and q(j), and count. */
template <int VWidth, int VSlices>
struct DependenceBitsTables
{
  static constexpr int maxVoxels = VWidth * VWidth * VSlices;
  static constexpr int sizes = 1 << sizeBits;

  std::int64_t  entropy[maxVoxels + 1];
  std::uint64_t inverses[sizes];
  /** Numbers of voxels of a size in each half. */
  std::uint32_t counts[sizes / 2][Layout::threads];

  __device__ void
  Load(const DependenceTask & task)
  {
    for (int n = threadIdx.x; n <= maxVoxels; n += Layout::threads)
    {
      entropy[n] =
        task.scales.entropyTable != nullptr && n <= task.windowVoxels ? task.scales.entropyTable[n] : std::int64_t{ 0 };
    }
    for (int j = threadIdx.x; j < sizes; j += Layout::threads)
    {
      inverses[j] = j <= task.maxSize ? task.scales.inverseSquares[j] : 0;
    }
  }
};

/** Adds up the matrix of a window, level by level. */
template <int VWidth, int VSlices, typename TWord>
class DependenceBitsSums
{
public:
  using Slices = TWord[VSlices];
  using Sizes = VoxelSizes<VWidth, VSlices, TWord>;

  explicit __device__
  DependenceBitsSums(DependenceBitsTables<VWidth, VSlices> & tables)
    : m_Tables(tables)
  {
    ClearEntries(m_Sums);
#pragma unroll
    for (auto & count : m_Tables.counts)
    {
      count[threadIdx.x] = 0;
    }
  }

  /** Add the voxels of a level with their sizes. To be called by all lanes of a warp. */
  __device__ void
  AddLevel(std::uint32_t level, std::uint64_t inverse, std::uint32_t number, const Slices & voxels, const Sizes & sizes)
  {
    m_Sum = m_Squares = 0;
    m_LowInverses = m_HighInverses = 0;
    // Not unrolled: the code would not fit the instruction cache.
#pragma unroll 1
    for (int eighth = 0; eighth < DependenceBitsTables<VWidth, VSlices>::sizes / 8; ++eighth)
    {
      this->AddSizes(eighth, voxels, sizes);
    }
    SizeMatrixGroup group{ number, m_Sum, m_Squares, WideInteger<2>(0) };
    AddProduct(group.inverses, m_LowInverses, 1);
    AddProduct(group.inverses, m_HighInverses, std::uint64_t{ 1 } << 32);
    AddGroup<levelAxis>(m_Sums, level, inverse, group);
  }
  /** Add a voxel of size 1 that is the only one of its level. */
  __device__ void
  AddSingle(std::uint32_t level, std::uint64_t inverse)
  {
    ++m_Singles;
    m_SingleLevels += level;
    m_SingleSquares += std::uint64_t{ level } * level;
    m_SingleInverses += inverse;
  }

  const __device__ SizeMatrixSums &
  Get()
  {
    // The sum of q(i) of different levels is below 2 q(1), so that it fits 64 bits, and t(1) is 0.
    const std::uint64_t    one = m_Tables.inverses[1];
    SizeMatrixSums::Axis & levels = m_Sums.axes[levelAxis];
    SizeMatrixSums::Axis & sizes = m_Sums.axes[sizeAxis];
    m_Sums.entries += m_Singles;
    levels.sum += m_SingleLevels;
    levels.squares += m_SingleSquares;
    levels.nonUniformity += m_Singles;
    AddProduct(levels.inverses, m_SingleInverses, 1);
    AddProduct(levels.squaresTimesInverses, m_SingleSquares, one);
    AddProduct(sizes.squaresTimesInverses, m_SingleInverses, 1);
    AddProduct(m_Sums.squares, m_SingleSquares, 1);
    AddProduct(m_Sums.inverses, m_SingleInverses, one);
    m_Tables.counts[0][threadIdx.x] += m_Singles << 16;

    sizes.sum = sizes.squares = sizes.nonUniformity = 0;
    sizes.inverses = WideInteger<2>(0);
#pragma unroll 4
    for (std::uint32_t j = 0; j < DependenceBitsTables<VWidth, VSlices>::sizes; ++j)
    {
      const std::uint32_t count = m_Tables.counts[j / 2][threadIdx.x] >> (j % 2 * 16) & 0xffff;
      sizes.sum += j * count;
      sizes.squares += j * j * count;
      sizes.nonUniformity += count * count;
      AddProduct(sizes.inverses, m_Tables.inverses[j], count);
    }
    return m_Sums;
  }

private:
  /** Add sizes 8 eighth ... 8 eighth + 7. */
  __device__ void
  AddSizes(int eighth, const Slices & voxels, const Sizes & sizes)
  {
    const TWord highest = AllBitsIf<TWord>((eighth & 2) == 0);
    const TWord high = AllBitsIf<TWord>((eighth & 1) == 0);
    Slices      some;
    TWord       all(0);
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      some[z] = voxels[z] & (sizes.bits[4][z] ^ highest) & (sizes.bits[3][z] ^ high);
      all |= some[z];
    }
    if (!__any_sync(0xffffffffu, static_cast<bool>(all)))
    {
      return;
    }
#pragma unroll
    for (int pair = 0; pair < 4; ++pair)
    {
      Slices both;
      Slices odd;
#pragma unroll
      for (int z = 0; z < VSlices; ++z)
      {
        both[z] = some[z] & ((pair & 2) != 0 ? sizes.bits[2][z] : ~sizes.bits[2][z]) &
                  ((pair & 1) != 0 ? sizes.bits[1][z] : ~sizes.bits[1][z]);
        odd[z] = both[z] & sizes.bits[0][z];
      }
      const std::uint32_t odds = CountBitsBetween<0, VSlices>(odd);
      const std::uint32_t evens = CountBitsBetween<0, VSlices>(both) - odds;
      const std::uint32_t size = 8 * static_cast<std::uint32_t>(eighth) + 2 * pair;
      m_Tables.counts[size / 2][threadIdx.x] += evens | odds << 16;
      this->AddElement(size, evens);
      this->AddElement(size + 1, odds);
    }
  }
  __device__ void
  AddElement(std::uint32_t size, std::uint32_t count)
  {
    const std::uint64_t inverse = m_Tables.inverses[size];
    m_Sums.entropyTerms += m_Tables.entropy[count];
    m_Sum += size * count;
    m_Squares += size * size * count;
    // Below 2^63 and at most 343 entries: the halves do not overflow.
    m_LowInverses += std::uint64_t{ static_cast<std::uint32_t>(inverse) } * count;
    m_HighInverses += std::uint64_t{ static_cast<std::uint32_t>(inverse >> 32) } * count;
  }

  DependenceBitsTables<VWidth, VSlices> & m_Tables;
  SizeMatrixSums                          m_Sums;
  /** The sums of the current level. */
  std::uint32_t m_Sum;
  std::uint32_t m_Squares;
  std::uint64_t m_LowInverses;
  std::uint64_t m_HighInverses;
  /** The sums of single voxels. */
  std::uint32_t m_Singles{ 0 };
  std::uint32_t m_SingleLevels{ 0 };
  std::uint64_t m_SingleSquares{ 0 };
  std::uint64_t m_SingleInverses{ 0 };
};

/** The body of BitPlanes. */
template <int VWidth, int VSlices, int VLevelBits>
struct DependenceBits
{
  using Task = DependenceTask;
  using Layout = CudaWindowBitsLayout;
  using Bits = CudaWindowBits<VWidth, VSlices, VLevelBits>;
  using Word = typename Bits::Word;
  static constexpr int minBlocks = VSlices == 1 ? 4 : VWidth <= 5 && VLevelBits <= 6 ? 3 : 2;

  const Task &   task;
  const Layout & layout;

  __device__ void
  Compute(const std::int64_t (&start)[3]) const
  {
    __shared__ DependenceBitsTables<VWidth, VSlices> tables;
    tables.Load(task);
    const auto storeBackground = [&](std::int64_t output) { StoreBackground(task, output); };
    const auto compute = [&](Bits & bits, std::int64_t output, bool isComputed) {
      DependenceBitsSums<VWidth, VSlices, Word> sums(tables);
      while (__any_sync(0xffffffffu, bits.HasLeft()))
      {
        Word          voxels[VSlices];
        std::uint32_t level = 0;
        std::uint32_t number = 0;
        std::uint64_t inverse = 0;
        for (;;)
        {
          level = bits.TakeLevel(voxels);
          number = CountBitsBetween<0, VSlices>(voxels);
          inverse = __ldg(task.scales.inverseSquares + level);
          if (number != 1 || task.alpha != 0)
          {
            break;
          }
          sums.AddSingle(level, inverse);
        }
        __syncwarp();
        Word close[VSlices];
#pragma unroll
        for (int z = 0; z < VSlices; ++z)
        {
          close[z] = voxels[z];
        }
        if (task.alpha != 0)
        {
          const auto alpha = static_cast<std::uint32_t>(task.alpha);
          bits.FindBetween(
            level > alpha ? level - alpha : 1, min(level + alpha, (1u << VLevelBits) - 1), task.window[2], close);
        }
        VoxelSizes<VWidth, VSlices, Word> sizes;
        sizes.CountAll(close);
        sums.AddLevel(level, inverse, number, voxels, sizes);
      }
      if (isComputed)
      {
        StoreSizeMatrixFeatures(task, output, sums.Get());
      }
    };
    ForEachWindowOfBits<VWidth, VSlices, VLevelBits>(task, layout, start, storeBackground, compute);
  }
};

template <int VWidth, int VSlices, int VLevelBits>
void
Launch(const DependenceTask & task, const CudaMethodResources & resources)
{
  using Body = DependenceBits<VWidth, VSlices, VLevelBits>;
  LaunchWindowTiles<Body>(task, Layout(task), 0, Body::Bits::partTiles, resources, "starting the kernel of BitPlanes");
}

// --- Walks

using Walk = DependenceWalk<CudaThreadBlock>;

constexpr CudaWalkPolicy policy{ "gldm", CudaThreadBlock::lanesPerWarp, 40960, 16 };

// Two bits each, in 32.
constexpr int maxBitOffsets = 13;

/** Bytes of the dependent neighbors of all voxels. */
std::uint64_t
NeighborBytes(const DependenceTask & task, bool areNeighborsInBits)
{
  return RoundUpToAlignment(areNeighborsInBits ? NumberOfVoxels(task.levelsSize) * sizeof(std::uint32_t) : 0);
}

constexpr unsigned int neighborThreads = 256;

/** The dependent neighbors of every voxel: bit 2 k for p + offset k, bit 2 k + 1 for p - offset k. */
__global__ void
__launch_bounds__(neighborThreads)
  FindNeighborsKernel(const __grid_constant__ DependenceTask task, std::uint32_t * neighbors, std::int64_t voxels)
{
  const std::int64_t number = std::int64_t{ blockIdx.x } * neighborThreads + threadIdx.x;
  if (number >= voxels)
  {
    return;
  }
  const std::int64_t row = number / task.levelsSize[0];
  const std::int64_t at[3] = { number - row * task.levelsSize[0], row % task.levelsSize[1], row / task.levelsSize[1] };
  const int          level = task.levels[number];
  std::uint32_t      dependent = 0;
  for (int k = 0; k < task.numberOfOffsets; ++k)
  {
    const PairOffset offset = task.offsets[k];
    const auto &     step = offset.step;
    const int        next = task.LevelAt(at[0] + step[0], at[1] + step[1], at[2] + step[2]);
    const int        previous = task.LevelAt(at[0] - step[0], at[1] - step[1], at[2] - step[2]);
    dependent |= (AreDependent(level, next, task.alpha) ? 1u : 0u) << (2 * k);
    dependent |= (AreDependent(level, previous, task.alpha) ? 2u : 0u) << (2 * k);
  }
  neighbors[number] = dependent;
}

bool
NeighborsAreBits(const DependenceTask & hostTask)
{
  return hostTask.numberOfOffsets <= maxBitOffsets &&
         std::all_of(hostTask.offsets, hostTask.offsets + hostTask.numberOfOffsets, [](const PairOffset & offset) {
           return std::abs(offset.step[0]) <= 1 && std::abs(offset.step[1]) <= 1 && std::abs(offset.step[2]) <= 1;
         });
}

CudaScratchBytes
WalkScratchBytes(const DependenceTask & task, bool areNeighborsInBits)
{
  const std::uint64_t    neighborBytes = NeighborBytes(task, areNeighborsInBits);
  const CudaScratchBytes walk = CudaWalkScratchBytes<Walk>(task, policy);
  return { neighborBytes + walk.minimum, neighborBytes + walk.maximum };
}

void
ComputeByWalk(const DependenceTask & task, bool areNeighborsInBits, const CudaMethodResources & resources)
{
  DependenceTask      walkTask = task;
  CudaMethodResources walkResources = resources;
  if (areNeighborsInBits)
  {
    auto * const        neighbors = static_cast<std::uint32_t *>(resources.scratch);
    const std::uint64_t voxels = NumberOfVoxels(task.levelsSize);
    FindNeighborsKernel<<<BlocksFor(voxels, neighborThreads), neighborThreads, 0, resources.stream>>>(
      task, neighbors, static_cast<std::int64_t>(voxels));
    CheckLaunch("starting the kernel of dependent neighbors");
    walkTask.dependentNeighbors = neighbors;
    walkResources.scratch = static_cast<char *>(resources.scratch) + NeighborBytes(task, true);
    walkResources.scratchBytes -= NeighborBytes(task, true);
  }
  constexpr std::int64_t voxelSteps = 20;
  const std::int64_t     neighborSteps = areNeighborsInBits ? 0 : task.numberOfOffsets;
  ComputeByCudaWalk<Walk>(walkTask, policy, task.windowVoxels * (neighborSteps + voxelSteps), walkResources);
}

bool
BitsSupport(const DependenceTask & hostTask)
{
  const int width = *std::max_element(hostTask.window, hostTask.window + 3);
  int       nearVoxels = 1;
  for (const int size : hostTask.window)
  {
    nearVoxels *= size > 1 ? 3 : 1;
  }
  // More levels, or larger windows, do not fit into registers.
  return NeighborsAreBits(hostTask) && 1 + 2 * hostTask.numberOfOffsets == nearVoxels && width <= maxWindowBitsWidth &&
         (hostTask.numberOfGrayLevels < 64 || (hostTask.numberOfGrayLevels < 512 && hostTask.window[2] > 1));
}

void
ComputeByBits(const DependenceTask & task, const CudaMethodResources & resources)
{
  const int  width = *std::max_element(task.window, task.window + 3);
  const int  levels = task.numberOfGrayLevels;
  const bool isFlat = task.window[2] == 1;
  const auto launch = isFlat       ? (width <= 5 ? Launch<5, 1, 6> : Launch<7, 1, 6>)
                      : width <= 5 ? (levels >= 64 ? Launch<5, 5, 9>
                                      : width <= 3 ? Launch<3, 3, 6>
                                                   : Launch<5, 5, 6>)
                                   : (levels >= 64 ? Launch<7, 7, 9> : Launch<7, 7, 6>);
  launch(task, resources);
}
} // namespace

std::vector<CudaTextureMethod<DependenceJob>>
TextureClass<DependenceJob>::GetCudaMethods() const
{
  const bool areBits = NeighborsAreBits(task);
  return { { "BitPlanes", FullSupportIf(BitsSupport(task)), {}, ComputeByBits },
           { "WindowWalk",
             MethodSupport::Full,
             [areBits](const DependenceTask & slab) { return WalkScratchBytes(slab, areBits); },
             [areBits](const DependenceTask & slab, const CudaMethodResources & resources) {
               ComputeByWalk(slab, areBits, resources);
             } } };
}

void
TextureClass<DependenceJob>::AddCudaTables(CudaTables & tables, DependenceTask & deviceTask) const
{
  tables.Add(offsets, deviceTask.offsets);
  matrix.AddTables(tables, deviceTask.scales);
}
} // namespace voxelmaps
