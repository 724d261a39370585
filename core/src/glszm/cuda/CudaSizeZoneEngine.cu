// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "glszm/SizeZone.h"
#include "device/CudaLaunch.h"
#include "device/CudaPolicy.h"
#include "window/cuda/CudaThreadTables.cuh"
#include "window/WindowBox.h"
#include "window/cuda/CudaComputedWindows.cuh"
#include "window/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <cstring>
#include <string>

/* Slices of a window are bits of words. Zones are filled one by one, level by level, as the CPU engine does, and
 * listed; then they are added up, level by level. A thread computes a window of up to five slices, whose words have 32
 * bits; of others, a lane of a warp has a slice in its registers, and a group of lanes a window. */
namespace voxelmaps
{
namespace
{
// --- A window per thread

constexpr int threadsPerBlock = 64;
// On an H100, 5^3 voxels take a thread 0.99 ns, and lanes 2.2; 7^3 took a thread 7.5, and take lanes 4.8.
constexpr int maxThreadSlices = 5;
using Tables = CudaThreadTables<threadsPerBlock>;

/** A slice of a window. */
using Word = std::uint32_t;
/** Numbers of voxels and of zones of a window: at most 32 * 5. */
using Count = std::uint8_t;

/** The tables of a thread in shared memory, in words of 32 bits. By hand: WorkspaceLayout lays out bytes of a block. */
struct BitPlanesLayout
{
  int levelBits;
  int rowBits;
  // Sizes of all zones; the level and the number of zones of each level that occurs.
  int sizeWords;
  int levelWords;
  int numberWords;
  // Bit planes while zones are filled; then numbers of zones by size.
  int allPlaneWords;
  int countWords;

  explicit BitPlanesLayout(const SizeZoneTask & task)
    : levelBits(LevelBits(task))
    , rowBits(RowBits(task))
    , sizeWords(Tables::NumberOfWords<Count>(task.windowVoxels))
    , allPlaneWords(levelBits * task.window[2])
    , countWords(Tables::NumberOfWords<Count>(task.windowVoxels + 1))
  {
    const int levels = std::min(task.numberOfGrayLevels, task.windowVoxels);
    levelWords = Tables::NumberOfWords<std::uint16_t>(levels);
    numberWords = Tables::NumberOfWords<Count>(levels);
  }
  std::size_t
  SharedBytes() const
  {
    return Tables::Bytes(sizeWords + levelWords + numberWords + std::max(allPlaneWords, countWords));
  }
};

/** Computes the window of a thread. VSlices is at least its number of slices. */
template <int VSlices>
class ThreadWindow
{
public:
  __device__
  ThreadWindow(const SizeZoneTask & task, const BitPlanesLayout & layout, char * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Sizes(Tables::ThreadTable(shared, 0))
    , m_Levels(m_Sizes + layout.sizeWords * Tables::wordStride)
    , m_Numbers(m_Levels + layout.levelWords * Tables::wordStride)
    , m_Planes(m_Numbers + layout.numberWords * Tables::wordStride)
  {}

  /** Read the window of a voxel. */
  __device__ void
  Load(const WindowBox & window)
  {
#pragma unroll
    for (int s = 0; s < VSlices; ++s)
    {
      Word present = 0;
      if (s < m_Task.window[2])
      {
        if (m_Layout.levelBits <= 5)
        {
          present = this->LoadSlice<5>(window, s);
        }
        else if (m_Layout.levelBits <= 8)
        {
          present = this->LoadSlice<8>(window, s);
        }
        else
        {
          present = this->LoadSlice<16>(window, s);
        }
      }
      m_Left[s] = present;
    }
  }

  /** List all zones, level by level. */
  __device__ void
  FillZones()
  {
    const Word across = m_Task.connectsSlices ? ~Word{ 0 } : Word{ 0 };
    const int  rowBits = m_Layout.rowBits;
    Word       same[VSlices]; // voxels of the level of the current zone that are in no zone yet
    Word       zone[VSlices];
    int        zones = 0;
    int        levels = 0;
    int        levelZones = 0;
#pragma unroll
    for (int s = 0; s < VSlices; ++s)
    {
      same[s] = 0;
      zone[s] = 0;
    }
    for (;;)
    {
      Word grown[VSlices];
      Word changes = 0;
#pragma unroll
      for (int s = 0; s < VSlices; ++s)
      {
        const Word inRow = zone[s] | (zone[s] << 1) | (zone[s] >> 1);
        grown[s] = inRow | (inRow << rowBits) | (inRow >> rowBits);
      }
#pragma unroll
      for (int s = 0; s < VSlices; ++s)
      {
        const Word below = s > 0 ? grown[s > 0 ? s - 1 : 0] : Word{ 0 };
        const Word above = s + 1 < VSlices ? grown[s + 1 < VSlices ? s + 1 : s] : Word{ 0 };
        const Word next = (grown[s] | ((below | above) & across)) & same[s];
        changes |= next ^ zone[s];
        zone[s] = next;
      }
      if (changes != 0)
      {
        continue;
      }

      std::uint32_t size = 0;
      Word          hasSame = 0;
#pragma unroll
      for (int s = 0; s < VSlices; ++s)
      {
        size += static_cast<std::uint32_t>(__popc(zone[s]));
        m_Left[s] &= ~zone[s];
        same[s] &= ~zone[s];
        hasSame |= same[s];
      }
      if (size != 0)
      {
        Tables::At<Count>(m_Sizes, Tables::Offset<Count>(zones)) = static_cast<Count>(size);
        ++zones;
        ++levelZones;
      }
      // Begin the next zone with the first voxel of the same level, or of all.
      bool isFound = false;
#pragma unroll
      for (int s = 0; s < VSlices; ++s)
      {
        const Word candidates = isFound ? Word{ 0 } : hasSame != 0 ? same[s] : m_Left[s];
        zone[s] = candidates & (Word{ 0 } - candidates);
        isFound = isFound || candidates != 0;
      }
      if (hasSame != 0)
      {
        continue;
      }
      if (levels > 0)
      {
        Tables::At<Count>(m_Numbers, Tables::Offset<Count>(levels - 1)) = static_cast<Count>(levelZones);
      }
      levelZones = 0;
      if (!isFound)
      {
        break;
      }
#pragma unroll
      for (int s = 0; s < VSlices; ++s)
      {
        same[s] = m_Left[s];
      }
      std::uint32_t level = 1;
      for (int b = 0; b < m_Layout.levelBits; ++b)
      {
        Word planes[VSlices];
        Word bit = 0;
#pragma unroll
        for (int s = 0; s < VSlices; ++s)
        {
          planes[s] = s < m_Task.window[2] ? this->Plane(b, s) : Word{ 0 };
          bit |= planes[s] & zone[s];
        }
        const Word isSet = bit != 0 ? ~Word{ 0 } : Word{ 0 };
        level += bit != 0 ? 1u << b : 0u;
#pragma unroll
        for (int s = 0; s < VSlices; ++s)
        {
          same[s] &= ~(planes[s] ^ isSet);
        }
      }
      Tables::At<std::uint16_t>(m_Levels, Tables::Offset<std::uint16_t>(levels)) = static_cast<std::uint16_t>(level);
      ++levels;
    }
    m_NumberOfLevels = levels;
  }

  /** Store the features of the zones. */
  __device__ void
  Finish(std::int64_t voxel)
  {
    const SizeMatrixScales & scales = m_Task.scales;
    SizeMatrixSums           sums;
    ClearEntries(sums);
    // The planes are not needed any more.
    Tables::Clear(m_Planes, m_Layout.countWords);
    int first = 0;
    for (int n = 0; n < m_NumberOfLevels; ++n)
    {
      const std::uint32_t level = Tables::At<std::uint16_t>(m_Levels, Tables::Offset<std::uint16_t>(n));
      const int           end = first + Tables::At<Count>(m_Numbers, Tables::Offset<Count>(n));
      SizeMatrixGroup     group;
      ClearEntries(group);
      for (int i = first; i < end; ++i)
      {
        const int size = this->GetSize(i);
        AddEntry(group, static_cast<std::uint32_t>(size), __ldg(scales.inverseSquares + size));
        auto &              count = Tables::At<Count>(m_Planes, Tables::Offset<Count>(size));
        const std::uint32_t before = count;
        count = static_cast<Count>(before + 1);
        sums.axes[sizeAxis].nonUniformity += 2 * before + 1;
        if (scales.entropyTable != nullptr)
        {
          int same = 0;
          for (int k = first; k < i; ++k)
          {
            same += this->GetSize(k) == size ? 1 : 0;
          }
          if (same != 0)
          {
            sums.entropyTerms += __ldg(reinterpret_cast<const long long *>(scales.entropyTable) + same + 1) -
                                 __ldg(reinterpret_cast<const long long *>(scales.entropyTable) + same);
          }
        }
      }
      AddGroup<levelAxis>(sums, level, __ldg(scales.inverseSquares + level), group);
      first = end;
    }
    StoreSizeMatrixFeatures(m_Task, voxel, sums);
  }

private:
  __device__ int
  GetSize(int zone) const
  {
    return Tables::At<Count>(m_Sizes, Tables::Offset<Count>(zone));
  }

  __device__ Word &
  Plane(int bit, int slice) const
  {
    return Tables::At<Word>(m_Planes, (slice * m_Layout.levelBits + bit) * Tables::wordStride);
  }

  /** Set the bit planes of a slice; returns the voxels that have a level. */
  template <int VMaxBits>
  __device__ Word
  LoadSlice(const WindowBox & window, int slice)
  {
    Word planes[VMaxBits] = {};
    Word present = 0;
    if (slice < window.size[2])
    {
      Word place = 1;
      for (int y = 0; y < window.size[1]; ++y)
      {
        const std::uint16_t * const row =
          m_Task.levels + m_Task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + slice);
        Word at = place;
        for (int x = 0; x < window.size[0]; ++x)
        {
          const std::uint32_t level = __ldg(row + x);
          const std::uint32_t index = level - 1;
          present |= level != 0 ? at : Word{ 0 };
#pragma unroll
          for (int b = 0; b < VMaxBits; ++b)
          {
            planes[b] |= (index >> b & 1u) != 0 ? at : Word{ 0 };
          }
          at <<= 1;
        }
        place <<= m_Layout.rowBits;
      }
    }
#pragma unroll
    for (int b = 0; b < VMaxBits; ++b)
    {
      if (b < m_Layout.levelBits)
      {
        this->Plane(b, slice) = planes[b];
      }
    }
    return present;
  }

  const SizeZoneTask &    m_Task;
  const BitPlanesLayout & m_Layout;
  char *                  m_Sizes;
  char *                  m_Levels;
  char *                  m_Numbers;
  char *                  m_Planes;
  Word                    m_Left[VSlices]; // voxels that are in no zone yet
  int                     m_NumberOfLevels;
};

template <int VSlices>
__global__ void
__launch_bounds__(threadsPerBlock)
  BitPlanesKernel(const __grid_constant__ SizeZoneTask task, const __grid_constant__ BitPlanesLayout layout,
                  std::int64_t firstWindow, std::int64_t endWindow, const std::uint32_t * windows)
{
  extern __shared__ __align__(16) char shared[];
  const std::int64_t                   i = std::int64_t{ blockIdx.x } * threadsPerBlock + threadIdx.x;
  if (i >= endWindow - firstWindow)
  {
    return;
  }
  const std::int64_t number = firstWindow + (windows != nullptr ? windows[i] : i);
  const WindowBox    box = WindowBox::At(task, number);
  if (!box.isComputed)
  {
    StoreBackground(task, number);
    return;
  }
  ThreadWindow<VSlices> window(task, layout, shared);
  window.Load(box);
  window.FillZones();
  window.Finish(number);
}

/** Off: 0.97 to 1.00 of the time on an H200, in a lesion of 30,000 voxels. */
bool
OrdersWindows()
{
  return PolicyValue("glszm.ordered", 0) != 0;
}

/** The number of windows whose order is in scratch memory at a time. */
std::int64_t
OrderedWindows(const SizeZoneTask & task)
{
  constexpr std::int64_t maxWindows = std::int64_t{ 1 } << 22;
  return std::min(static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)), maxWindows);
}

template <int VSlices>
void
LaunchPlanes(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  const BitPlanesLayout layout(task);
  const std::size_t     bytes = layout.SharedBytes();
  AllowSharedMemory(BitPlanesKernel<VSlices>, bytes);
  // In parts of less than a tenth of a second, so that an abort is quick.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 31;
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::int64_t     steps = std::int64_t{ task.windowVoxels } * (layout.levelBits + 1);
  const std::int64_t     part = partSteps / steps / threadsPerBlock * threadsPerBlock;
  const bool             isOrdered = OrdersWindows();
  auto * const           order = isOrdered ? static_cast<std::uint32_t *>(resources.scratch) : nullptr;
  const std::int64_t     maxPart = isOrdered ? std::min(part, OrderedWindows(task)) : part;
  LaunchChunked(
    windows, maxPart, resources, "starting the kernel of bit planes", [&](std::int64_t first, std::int64_t end) {
      if (isOrdered)
      {
        OrderWindows(task, first, static_cast<int>(end - first), order + 1, order, resources.stream);
      }
      BitPlanesKernel<VSlices><<<BlocksFor(static_cast<std::uint64_t>(end - first), threadsPerBlock),
                                 threadsPerBlock,
                                 bytes,
                                 resources.stream>>>(task, layout, first, end, isOrdered ? order + 1 : nullptr);
    });
}

// --- A slice per lane

constexpr int           lanesPerWarp = 32;
constexpr int           maxWarpsPerBlock = 4;
constexpr std::uint32_t allLanes = 0xffffffffu;
constexpr int           bitsPerWord = 32;
constexpr int           maxWords = 8;
// Shifts are shorter than a word.
constexpr int maxShift = bitsPerWord - 1;

constexpr int
WordsFor(int bits)
{
  return (bits + bitsPerWord - 1) / bitsPerWord;
}

/** Words of a table of so many entries of 16 bits. */
constexpr int
HalfWords(int entries)
{
  return (entries + 1) / 2;
}

/** The tables of a warp in shared memory, in words of 32 bits. By hand: windows begin in different banks. */
struct BitSlicesLayout
{
  int levelBits;
  int rowBits;
  int rowShift;
  int slices;
  int windowsPerWarp;
  int warps;
  // Memory of a window: sizes of its zones, and the level and first zone of each level that occurs; then its sums.
  int sizeWords;
  int windowWords;
  int countWords; // of a window: zones by size
  // Bit planes while zones are filled; then the counts of all windows.
  int sharedWords;
  int warpWords;

  BitSlicesLayout(const SizeZoneTask & task, int wordsPerSlice)
  {
    constexpr int sumWords = static_cast<int>(sizeof(SizeMatrixSums) / sizeof(std::uint32_t));
    levelBits = LevelBits(task);
    rowBits = RowBits(task);
    rowShift = task.window[1] > 1 ? rowBits : 0;
    slices = task.window[2];
    windowsPerWarp = lanesPerWarp / slices;
    sizeWords = HalfWords(task.windowVoxels);
    windowWords = std::max(sizeWords + std::min(task.numberOfGrayLevels, task.windowVoxels), sumWords);
    // Sums are aligned to two words; windows begin in different banks.
    windowWords += (6 - windowWords % 4) % 4;
    countWords = HalfWords(task.windowVoxels + 1);
    sharedWords = std::max(levelBits * wordsPerSlice * lanesPerWarp, windowsPerWarp * countWords);
    sharedWords += sharedWords % 2;
    warpWords = windowsPerWarp * windowWords + sharedWords;
    warps = maxWarpsPerBlock;
  }
  std::size_t
  Bytes() const
  {
    return sizeof(std::uint32_t) * static_cast<std::size_t>(warps * warpWords);
  }
  /** False if not even one warp fits. */
  bool
  ChooseWarps(std::size_t maxBytes)
  {
    while (warps > 1 && Bytes() > maxBytes)
    {
      warps /= 2;
    }
    return Bytes() <= maxBytes;
  }
};

/** A slice of a window. */
template <int VWords>
struct SliceBits
{
  std::uint32_t words[VWords];

  __device__ void
  Clear()
  {
#pragma unroll
    for (int w = 0; w < VWords; ++w)
    {
      words[w] = 0;
    }
  }
  __device__ bool
  IsAny() const
  {
    std::uint32_t any = 0;
#pragma unroll
    for (int w = 0; w < VWords; ++w)
    {
      any |= words[w];
    }
    return any != 0;
  }
  __device__ int
  NumberOfBits() const
  {
    int number = 0;
#pragma unroll
    for (int w = 0; w < VWords; ++w)
    {
      number += __popc(words[w]);
    }
    return number;
  }
  /** These bits, and those before and after them by a distance up to maxShift. */
  __device__ SliceBits
  WithNeighbors(int distance) const
  {
    SliceBits result;
#pragma unroll
    for (int w = 0; w < VWords; ++w)
    {
      const std::uint32_t before = w > 0 ? words[w > 0 ? w - 1 : 0] : 0u;
      const std::uint32_t after = w + 1 < VWords ? words[w + 1 < VWords ? w + 1 : w] : 0u;
      result.words[w] =
        words[w] | __funnelshift_l(before, words[w], distance) | __funnelshift_r(words[w], after, distance);
    }
    return result;
  }
  /** Move the bits up, and set the lowest ones. */
  __device__ void
  Append(int distance, std::uint32_t lowest)
  {
#pragma unroll
    for (int w = VWords - 1; w > 0; --w)
    {
      words[w] = __funnelshift_l(words[w - 1], words[w], distance);
    }
    words[0] = words[0] << distance | lowest;
  }
};

/** The lanes of a warp and their windows. */
template <int VWords>
class WarpWindows
{
public:
  using Bits = SliceBits<VWords>;

  __device__
  WarpWindows(const SizeZoneTask & task, const BitSlicesLayout & layout, std::uint32_t * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Lane(static_cast<int>(threadIdx.x) % lanesPerWarp)
    , m_Window(m_Lane / layout.slices)
    , m_Slice(m_Lane - m_Window * layout.slices)
    , m_Shared(shared)
    , m_Sizes(shared + layout.sharedWords + min(m_Window, layout.windowsPerWarp - 1) * layout.windowWords)
    , m_Levels(m_Sizes + layout.sizeWords)
  {
    m_GroupLanes = m_Window < layout.windowsPerWarp
                     ? (allLanes >> (lanesPerWarp - layout.slices)) << (m_Window * layout.slices)
                     : 0u;
  }

  __device__ int
  GetWindow() const
  {
    return m_Window;
  }

  /** Read the window of the group, or nothing. */
  __device__ void
  Load(const WindowBox & window, bool isComputed)
  {
    m_IsComputed = isComputed;
    m_Left.Clear();
    if (isComputed && m_Slice < window.size[2])
    {
      if (m_Layout.levelBits <= 5)
      {
        this->LoadPlanes<5>(window, 0);
      }
      else
      {
        this->LoadPlanes<8>(window, 0);
        if (m_Layout.levelBits > 8)
        {
          this->LoadPlanes<8>(window, 8);
        }
      }
    }
    for (int i = m_Lane; i < m_Layout.windowsPerWarp * m_Layout.windowWords; i += lanesPerWarp)
    {
      m_Shared[m_Layout.sharedWords + i] = 0;
    }
    __syncwarp();
  }

  /** List all zones, level by level. */
  __device__ void
  FillZones()
  {
    const bool          hasNeighbors = m_Task.connectsSlices && m_Layout.slices > 1;
    const std::uint32_t fromBelow = hasNeighbors && m_Slice > 0 ? allLanes : 0u;
    const std::uint32_t fromAbove = hasNeighbors && m_Slice + 1 < m_Layout.slices ? allLanes : 0u;
    Bits                same; // voxels of the level of the current zone that are in no zone yet
    Bits                zone;
    same.Clear();
    zone.Clear();
    bool isActive = m_IsComputed;
    int  firstZone = 0; // of the level
    m_NumberOfZones = -1;
    m_NumberOfLevels = 0;
    m_LevelNonUniformity = 0;
    while (__any_sync(allLanes, isActive))
    {
      const Bits    grown = zone.WithNeighbors(1).WithNeighbors(m_Layout.rowShift);
      std::uint32_t changes = 0;
#pragma unroll
      for (int w = 0; w < VWords; ++w)
      {
        std::uint32_t next = grown.words[w];
        if (hasNeighbors)
        {
          next |= __shfl_up_sync(allLanes, grown.words[w], 1) & fromBelow;
          next |= __shfl_down_sync(allLanes, grown.words[w], 1) & fromAbove;
        }
        next &= same.words[w];
        changes |= next ^ zone.words[w];
        zone.words[w] = next;
      }
      const std::uint32_t changedLanes = __ballot_sync(allLanes, changes != 0) & m_GroupLanes;
      const bool          isDone = isActive && changedLanes == 0;
      if (!__any_sync(allLanes, isDone))
      {
        continue;
      }

      if (isDone)
      {
        const int size = zone.NumberOfBits();
        if (size != 0)
        {
          atomicAdd(m_Sizes + m_NumberOfZones / 2, static_cast<std::uint32_t>(size) << (m_NumberOfZones % 2 * 16));
        }
        ++m_NumberOfZones;
#pragma unroll
        for (int w = 0; w < VWords; ++w)
        {
          m_Left.words[w] &= ~zone.words[w];
          same.words[w] &= ~zone.words[w];
        }
      }
      // Begin the next zone with a voxel of the same level, or of all.
      const std::uint32_t sameLanes = __ballot_sync(allLanes, same.IsAny()) & m_GroupLanes;
      const bool          changesLevel = isDone && sameLanes == 0;
      const bool          hasSeed = changesLevel ? m_Left.IsAny() : same.IsAny();
      const std::uint32_t seedLanes = __ballot_sync(allLanes, hasSeed) & m_GroupLanes;
      const int           seedLane = __ffs(static_cast<int>(seedLanes)) - 1;
      if (isDone)
      {
        bool isFree = m_Lane == seedLane;
#pragma unroll
        for (int w = 0; w < VWords; ++w)
        {
          const std::uint32_t candidates = changesLevel ? m_Left.words[w] : same.words[w];
          zone.words[w] = isFree ? candidates & (0u - candidates) : 0u;
          isFree = isFree && candidates == 0;
        }
        isActive = seedLanes != 0;
      }
      if (!__any_sync(allLanes, changesLevel))
      {
        continue;
      }
      std::uint32_t index = 0; // the level - 1
      if (changesLevel && m_Lane == seedLane)
      {
        for (int b = 0; b < m_Layout.levelBits; ++b)
        {
          std::uint32_t bit = 0;
#pragma unroll
          for (int w = 0; w < VWords; ++w)
          {
            bit |= this->Plane(b, w) & zone.words[w];
          }
          index |= (bit != 0 ? 1u : 0u) << b;
        }
      }
      index = __shfl_sync(allLanes, index, max(seedLane, 0));
      if (changesLevel)
      {
        const auto levelZones = static_cast<std::uint64_t>(m_NumberOfZones - firstZone);
        m_LevelNonUniformity += levelZones * levelZones;
        firstZone = m_NumberOfZones;
        if (isActive)
        {
          if (m_Lane == seedLane)
          {
            m_Levels[m_NumberOfLevels] = MakeZone(index + 1, static_cast<std::uint32_t>(firstZone));
          }
          ++m_NumberOfLevels;
          same = m_Left;
          for (int b = 0; b < m_Layout.levelBits; ++b)
          {
            const std::uint32_t isSet = 0u - (index >> b & 1u);
#pragma unroll
            for (int w = 0; w < VWords; ++w)
            {
              same.words[w] &= ~(this->Plane(b, w) ^ isSet);
            }
          }
        }
      }
    }
  }

  /** Add up the zones, and leave the sums of each window where SumsOfWindow finds them. */
  __device__ void
  AddZones()
  {
    const SizeMatrixScales & scales = m_Task.scales;
    __syncwarp();
    // The planes are not needed any more.
    for (int i = m_Lane; i < m_Layout.windowsPerWarp * m_Layout.countWords; i += lanesPerWarp)
    {
      m_Shared[i] = 0;
    }
    __syncwarp();
    SizeMatrixSums sums;
    ClearEntries(sums);
    if (m_IsComputed)
    {
      std::uint32_t * const counts = m_Shared + m_Window * m_Layout.countWords;
      int                   n = 0;
      for (int i = m_Slice; i < m_NumberOfZones; i += m_Layout.slices)
      {
        while (n + 1 < m_NumberOfLevels && static_cast<int>(ZoneSize(m_Levels[n + 1])) <= i)
        {
          ++n;
        }
        const std::uint32_t level = ZoneLevel(m_Levels[n]);
        const std::uint32_t size = this->GetSize(i);
        const int           half = static_cast<int>(size % 2 * 16);
        const std::uint32_t before = atomicAdd(counts + size / 2, 1u << half) >> half & 0xffffu;
        SizeMatrixGroup     group;
        ClearEntries(group);
        AddEntry(group, size, __ldg(scales.inverseSquares + size));
        AddGroup<levelAxis>(sums, level, __ldg(scales.inverseSquares + level), group);
        sums.axes[sizeAxis].nonUniformity += 2 * std::uint64_t{ before } + 1;
        if (scales.entropyTable != nullptr)
        {
          int equal = 0;
          for (int k = static_cast<int>(ZoneSize(m_Levels[n])); k < i; ++k)
          {
            equal += this->GetSize(k) == size ? 1 : 0;
          }
          if (equal != 0)
          {
            sums.entropyTerms += __ldg(reinterpret_cast<const long long *>(scales.entropyTable) + equal + 1) -
                                 __ldg(reinterpret_cast<const long long *>(scales.entropyTable) + equal);
          }
        }
      }
      // AddGroup takes each zone for a level.
      sums.axes[levelAxis].nonUniformity = m_Slice == 0 ? m_LevelNonUniformity : 0;
    }
    // By hand: as many steps as the slices need; CUB's HeadSegmentedReduce always has five, of 50 words each.
    for (int distance = 1; distance < m_Layout.slices; distance *= 2)
    {
      const SizeMatrixSums other = GetSumsBeyond(sums, distance);
      if (m_Slice % (2 * distance) == 0 && m_Slice + distance < m_Layout.slices)
      {
        sums = sums + other;
      }
    }
    __syncwarp();
    if (m_IsComputed && m_Slice == 0)
    {
      *reinterpret_cast<SizeMatrixSums *>(m_Sizes) = sums;
    }
  }

  static const __device__ SizeMatrixSums &
  SumsOfWindow(const BitSlicesLayout & layout, const std::uint32_t * block, int window)
  {
    const int warp = window / layout.windowsPerWarp;
    return *reinterpret_cast<const SizeMatrixSums *>(block + warp * layout.warpWords + layout.sharedWords +
                                                     (window - warp * layout.windowsPerWarp) * layout.windowWords);
  }

private:
  __device__ std::uint32_t
             GetSize(int zone) const
  {
    return m_Sizes[zone / 2] >> (zone % 2 * 16) & 0xffffu;
  }
  __device__ std::uint32_t &
             Plane(int bit, int word)
  {
    return m_Shared[(bit * VWords + word) * lanesPerWarp + m_Lane];
  }

  /** Set m_Left, and VBits bit planes of the slice. */
  template <int VBits>
  __device__ void
  LoadPlanes(const WindowBox & window, int firstBit)
  {
    Bits planes[VBits];
    Bits present;
    present.Clear();
#pragma unroll
    for (int b = 0; b < VBits; ++b)
    {
      planes[b].Clear();
    }
    for (int y = window.size[1] - 1; y >= 0; --y)
    {
      const std::uint16_t * const row =
        m_Task.levels + m_Task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + m_Slice);
      // Only windows of one row have more than one part of a row.
      for (int first = (m_Layout.rowBits - 1) / maxShift * maxShift; first >= 0; first -= maxShift)
      {
        const int     columns = min(maxShift, m_Layout.rowBits - first);
        std::uint32_t rowPresent = 0;
        std::uint32_t rowPlanes[VBits] = {};
        for (int x = min(first + columns, window.size[0]) - 1; x >= first; --x)
        {
          const std::uint32_t level = __ldg(row + x);
          const std::uint32_t index = (level - 1) >> firstBit;
          rowPresent = 2 * rowPresent + (level != 0 ? 1u : 0u);
#pragma unroll
          for (int b = 0; b < VBits; ++b)
          {
            rowPlanes[b] = 2 * rowPlanes[b] + (index >> b & 1u);
          }
        }
        present.Append(columns, rowPresent);
#pragma unroll
        for (int b = 0; b < VBits; ++b)
        {
          planes[b].Append(columns, rowPlanes[b]);
        }
      }
    }
    m_Left = present;
#pragma unroll
    for (int b = 0; b < VBits; ++b)
    {
      if (firstBit + b < m_Layout.levelBits)
      {
#pragma unroll
        for (int w = 0; w < VWords; ++w)
        {
          this->Plane(firstBit + b, w) = planes[b].words[w];
        }
      }
    }
  }

  /** The sums of the lane at a distance. */
  static __device__ SizeMatrixSums
  GetSumsBeyond(const SizeMatrixSums & sums, int distance)
  {
    std::uint32_t words[sizeof(SizeMatrixSums) / sizeof(std::uint32_t)];
    std::memcpy(words, &sums, sizeof(sums));
#pragma unroll
    for (std::uint32_t & word : words)
    {
      word = __shfl_down_sync(allLanes, word, static_cast<unsigned int>(distance));
    }
    SizeMatrixSums other;
    std::memcpy(&other, words, sizeof(other));
    return other;
  }

  const SizeZoneTask &    m_Task;
  const BitSlicesLayout & m_Layout;
  const int               m_Lane;
  const int               m_Window; // of the warp
  const int               m_Slice;
  std::uint32_t           m_GroupLanes; // none beyond the last window
  std::uint32_t * const   m_Shared;
  std::uint32_t * const   m_Sizes;
  std::uint32_t * const   m_Levels;
  bool                    m_IsComputed;
  Bits                    m_Left; // voxels that are in no zone yet
  // The same for all lanes of a group.
  int           m_NumberOfZones;
  int           m_NumberOfLevels;
  std::uint64_t m_LevelNonUniformity;
};

template <int VWords>
__global__ void
__launch_bounds__(maxWarpsPerBlock * lanesPerWarp)
  BitSlicesKernel(const __grid_constant__ SizeZoneTask task, const __grid_constant__ BitSlicesLayout layout,
                  std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  auto * const                         words = reinterpret_cast<std::uint32_t *>(shared);
  const int                            blockWindows = layout.warps * layout.windowsPerWarp;
  const std::int64_t                   blockFirst = firstWindow + std::int64_t{ blockIdx.x } * blockWindows;
  {
    const int           warp = static_cast<int>(threadIdx.x) / lanesPerWarp;
    WarpWindows<VWords> windows(task, layout, words + warp * layout.warpWords);
    const std::int64_t  number = blockFirst + warp * layout.windowsPerWarp + windows.GetWindow();
    const bool          isWindow = windows.GetWindow() < layout.windowsPerWarp && number < endWindow;
    const WindowBox     box = WindowBox::At(task, isWindow ? number : blockFirst);
    windows.Load(box, isWindow && box.isComputed);
    windows.FillZones();
    windows.AddZones();
  }
  __syncthreads();
  const auto numberOfWindows = static_cast<int>(min(std::int64_t{ blockWindows }, endWindow - blockFirst));
  for (int i = threadIdx.x; i < numberOfWindows * task.numberOfFeatures; i += blockDim.x)
  {
    const int              f = i / numberOfWindows;
    const int              window = i - f * numberOfWindows;
    const std::int64_t     out = (blockFirst + window) * task.voxelStride;
    const SizeMatrixSums & sums = WarpWindows<VWords>::SumsOfWindow(layout, words, window);
    // A window that is computed has a zone.
    if (sums.entries != 0)
    {
      StoreComponent(task, out, f, SizeMatrixFeatureValue(task.matrixFeatures[f], sums, task.scales));
    }
    else
    {
      StoreComponentOrNaN(task, out, f, task.backgroundValue);
    }
  }
}

template <int VWords>
void
LaunchSlices(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  BitSlicesLayout layout(task, VWords);
  layout.ChooseWarps(GetCudaDeviceLimits().maxSharedMemoryPerBlock);
  const std::size_t bytes = layout.Bytes();
  AllowSharedMemory(BitSlicesKernel<VWords>, bytes);
  const int threads = layout.warps * lanesPerWarp;
  // In parts of less than a tenth of a second, so that an abort is quick.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 31;
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::int64_t     steps = std::int64_t{ task.windowVoxels } * (layout.levelBits + 1);
  const auto             blockWindows = static_cast<unsigned int>(layout.warps * layout.windowsPerWarp);
  const std::int64_t     part = std::max<std::int64_t>(partSteps / steps / blockWindows, 1) * blockWindows;
  LaunchChunked(
    windows, part, resources, "starting the kernel of bit slices", [&](std::int64_t first, std::int64_t end) {
      BitSlicesKernel<VWords>
        <<<BlocksFor(static_cast<std::uint64_t>(end - first), blockWindows), threads, bytes, resources.stream>>>(
          task, layout, first, end);
    });
}

/** Words of a slice, as many as there is a kernel for. */
int
WordsPerSlice(const SizeZoneTask & task)
{
  const int words = WordsFor(RowBits(task) * task.window[1] - 1);
  return words <= 4 ? words : words <= 6 ? 6 : maxWords;
}

bool
SlicesSupport(const SizeZoneTask & task)
{
  return (RowBits(task) <= maxShift || task.window[1] == 1) && task.window[2] <= lanesPerWarp &&
         WordsFor(RowBits(task) * task.window[1] - 1) <= maxWords &&
         BitSlicesLayout(task, WordsPerSlice(task)).ChooseWarps(GetCudaDeviceLimits().maxSharedMemoryPerBlock);
}

void
ComputeBySlices(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  const int  words = WordsPerSlice(task);
  const auto launch = words == 1   ? LaunchSlices<1>
                      : words == 2 ? LaunchSlices<2>
                      : words == 3 ? LaunchSlices<3>
                      : words == 4 ? LaunchSlices<4>
                      : words == 6 ? LaunchSlices<6>
                                   : LaunchSlices<maxWords>;
  launch(task, resources);
}

// --- The engine

bool
ThreadsSupport(const SizeZoneTask & task)
{
  return SlicesFitWords(task, 32) &&
         task.window[2] <= std::min<std::int64_t>(PolicyValue("glszm.slices", maxThreadSlices), maxThreadSlices) &&
         BitPlanesLayout(task).SharedBytes() <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}

bool
BitPlanesSupport(const SizeZoneTask & task)
{
  return ThreadsSupport(task) || SlicesSupport(task);
}

CudaScratchBytes
BitPlanesScratchBytes(const SizeZoneTask & task)
{
  const std::uint64_t bytes = ThreadsSupport(task) && OrdersWindows()
                                ? static_cast<std::uint64_t>(OrderedWindows(task) + 1) * sizeof(std::uint32_t)
                                : 0;
  return { bytes, bytes };
}

void
ComputeByBitPlanes(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  const int  slices = task.window[2];
  const auto launch = !ThreadsSupport(task) ? ComputeBySlices
                      : slices == 1         ? LaunchPlanes<1>
                      : slices <= 3         ? LaunchPlanes<3>
                                            : LaunchPlanes<maxThreadSlices>;
  launch(task, resources);
}
} // namespace

std::vector<CudaTextureMethod<SizeZoneJob>>
TextureClass<SizeZoneJob>::GetCudaMethods() const
{
  return { { "BitPlanes", FullSupportIf(BitPlanesSupport(task)), BitPlanesScratchBytes, ComputeByBitPlanes } };
}

void
TextureClass<SizeZoneJob>::AddCudaTables(CudaTables & tables, SizeZoneTask & deviceTask) const
{
  matrix.AddTables(tables, deviceTask.scales);
}
} // namespace voxelmaps
