// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaSizeZoneMethods.h"
#include "cuda/CudaLaunch.h"
#include "texture/cuda/CudaChunkedLaunch.h"
#include "texture/cuda/CudaThreadTables.cuh"
#include "texture/cpu/WindowBox.h"
#include "texture/cuda/CudaTextureEngine.h"

#include <algorithm>
#include <string>

/* A thread computes a window of up to five slices, in two steps: it fills the zones one by one, level by level, as the
 * CPU engine does, and lists them; then it adds them up, level by level. For larger windows, a lane has a slice. */
namespace voxelmaps
{
namespace
{
constexpr int threadsPerBlock = 64;
// On an H100, 5^3 voxels take a thread 0.99 ns, and lanes 2.2; 7^3 took a thread 7.5, and take lanes 4.8.
constexpr int maxThreadSlices = 5;
using Tables = CudaThreadTables<threadsPerBlock>;

/** A slice of a window. */
using Word = std::uint32_t;
/** Numbers of voxels and of zones of a window: at most 32 * 5. */
using Count = std::uint8_t;

/** The tables of a thread in shared memory, in words of 32 bits. */
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
    const int   rowBits = m_Layout.rowBits;
    Word       same[VSlices]; // voxels of the level of the current zone that are in no zone yet
    Word       zone[VSlices];
    int         zones = 0;
    int         levels = 0;
    int         levelZones = 0;
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
      Word         hasSame = 0;
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
  Word                   m_Left[VSlices]; // voxels that are in no zone yet
  int                     m_NumberOfLevels;
};

template <int VSlices>
__global__ void
__launch_bounds__(threadsPerBlock)
  BitPlanesKernel(const __grid_constant__ SizeZoneTask task, const __grid_constant__ BitPlanesLayout layout,
                  std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  const std::int64_t number = firstWindow + std::int64_t{ blockIdx.x } * threadsPerBlock + threadIdx.x;
  if (number >= endWindow)
  {
    return;
  }
  const WindowBox box = WindowBox::At(task, number);
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

template <int VSlices>
void
Launch(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  const BitPlanesLayout layout(task);
  const std::size_t     bytes = layout.SharedBytes();
  AllowSharedMemory(BitPlanesKernel<VSlices>, bytes);
  // In parts of less than a tenth of a second, so that an abort is quick.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 31;
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::int64_t     steps = std::int64_t{ task.windowVoxels } * (layout.levelBits + 1);
  const std::int64_t     part = partSteps / steps / threadsPerBlock * threadsPerBlock;
  LaunchChunked(
    windows, part, resources, "starting the kernel of bit planes", [&](std::int64_t first, std::int64_t end) {
      BitPlanesKernel<VSlices><<<BlocksFor(static_cast<std::uint64_t>(end - first), threadsPerBlock),
                                        threadsPerBlock,
                                        bytes,
                                        resources.stream>>>(task, layout, first, end);
    });
}

bool
ThreadsSupport(const SizeZoneTask & task)
{
  return SlicesFitWords(task, 32) && task.window[2] <= maxThreadSlices &&
         BitPlanesLayout(task).SharedBytes() <= GetCudaDeviceLimits().maxSharedMemoryPerBlock;
}
} // namespace

bool
CudaBitPlanesSupports(const SizeZoneTask & task)
{
  return ThreadsSupport(task) || CudaBitSlicesSupports(task);
}

void
ComputeByCudaBitPlanes(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  const int  slices = task.window[2];
  const auto launch = !ThreadsSupport(task) ? ComputeByCudaBitSlices
                      : slices == 1         ? Launch<1>
                      : slices <= 3         ? Launch<3>
                                            : Launch<maxThreadSlices>;
  launch(task, resources);
}

CudaTextureMethods<SizeZoneJob>
TextureClass<SizeZoneJob>::GetCudaMethods() const
{
  return { " with " + std::to_string(task.numberOfGrayLevels) + " gray levels",
           { { SizeZoneJob::CudaMethod::BitPlanes, CudaBitPlanesSupports(task), true, {}, ComputeByCudaBitPlanes } } };
}

void
TextureClass<SizeZoneJob>::AddCudaTables(CudaTables & tables, SizeZoneTask & deviceTask) const
{
  matrix.AddTables(tables, deviceTask.scales);
}
} // namespace voxelmaps
