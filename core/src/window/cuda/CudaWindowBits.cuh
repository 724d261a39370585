// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaWindowBits_cuh
#define CudaWindowBits_cuh

#include "device/CudaPolicy.h"
#include "window/cuda/CudaWindowTile.cuh"

#include <cstdint>
#include <type_traits>

/** Windows of up to 7 voxels along each axis as bits in the registers of a thread: a word for every slice and bit of
 * the levels. Voxel (x, y) of a slice is bit x + y (VWidth + 1): beyond each row is a bit that stays 0, so that a shift
 * moves all voxels of a slice at once, and those that leave the window get lost. */
namespace voxelmaps
{
constexpr int maxWindowBitsWidth = 7;

/** All bits, or none. */
template <typename TWord>
__device__ TWord
AllBitsIf(bool areSet)
{
  return areSet ? ~TWord(0) : TWord(0);
}

template <typename TWord>
__device__ TWord
LowestBit(TWord word)
{
  return word & (TWord(0) - word);
}
/** Parts of 32 bits of a word. */
inline __device__ std::uint32_t
                  GetPart(std::uint32_t word, int)
{
  return word;
}
inline __device__ std::uint32_t
                  GetPart(std::uint64_t word, int i)
{
  return static_cast<std::uint32_t>(word >> (32 * i));
}
/** Number of bits of some words. Carry-save adders replace most of the population counts, which are slow. */
template <int VWords>
__device__ std::uint32_t
           CountBits(const std::uint32_t (&words)[VWords])
{
  if constexpr (VWords <= 2)
  {
    std::uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < VWords; ++i)
    {
      count += static_cast<std::uint32_t>(__popc(words[i]));
    }
    return count;
  }
  else
  {
    constexpr int adders = (VWords - 1) / 2;
    std::uint32_t carries[adders];
    std::uint32_t sum = words[0];
#pragma unroll
    for (int i = 0; i < adders; ++i)
    {
      const std::uint32_t a = words[2 * i + 1];
      const std::uint32_t b = words[2 * i + 2];
      carries[i] = (sum & a) | (sum & b) | (a & b);
      sum ^= a ^ b;
    }
    std::uint32_t count = static_cast<std::uint32_t>(__popc(sum));
    if constexpr (VWords % 2 == 0)
    {
      count += static_cast<std::uint32_t>(__popc(words[VWords - 1]));
    }
    return count + 2 * CountBits(carries);
  }
}

/** The same of the words VFirst ... VEnd - 1. */
template <int VFirst, int VEnd, typename TWord, int VWords>
__device__ std::uint32_t
           CountBitsBetween(const TWord (&words)[VWords])
{
  constexpr int parts = static_cast<int>(sizeof(TWord) / sizeof(std::uint32_t));
  std::uint32_t all[parts * (VEnd - VFirst)];
#pragma unroll
  for (int i = 0; i < parts * (VEnd - VFirst); ++i)
  {
    all[i] = GetPart(words[VFirst + i / parts], i % parts);
  }
  return CountBits(all);
}

/** Tiles of several slices, one after the other, which windows share. */
struct CudaWindowBitsLayout
{
  static constexpr int lanes = CudaWindowTiles::lanes;
  static constexpr int warps = CudaWindowTiles::maxWarps;
  static constexpr int threads = CudaWindowTiles::maxThreads;
  static constexpr int maxSlices = 8;

  CudaWindowTiles tiles;

  explicit CudaWindowBitsLayout(const TextureTask & task)
    : tiles(task, warps, maxSlices)
  {
    // Enough tiles for all multiprocessors, about eight for each, matter more than slices that windows share.
    const std::int64_t minNumber = PolicyValue("bits.tiles", 8) * GetCudaDeviceLimits().numberOfMultiprocessors;
    while (tiles.slices > 1 && tiles.Number() < minNumber)
    {
      tiles = CudaWindowTiles(task, warps, tiles.slices / 2);
    }
  }
};

/** The bits of the levels that the windows of a tile reach, in shared memory: bit x of a word is column x. */
template <int VWidth, int VSlices, int VLevelBits>
struct CudaWindowBitsTile
{
  using Layout = CudaWindowBitsLayout;
  static constexpr int columns = Layout::lanes + VWidth - 1;
  static constexpr int rows = Layout::warps + VWidth - 1;
  static constexpr int planes = Layout::maxSlices + VSlices - 1;
  static_assert(columns <= 64, "a row fits a word");

  std::uint64_t words[planes][rows][VLevelBits];

  /** To be called by all threads of a block. */
  __device__ void
  Load(const TextureTask & task, const std::int64_t (&start)[3], int slices)
  {
    const int lane = threadIdx.x % Layout::lanes;
    for (int i = threadIdx.x / Layout::lanes; i < rows * (slices + VSlices - 1); i += Layout::warps)
    {
      const int          plane = i / rows;
      const int          row = i - plane * rows;
      const std::int64_t y = start[1] + row + task.outputToLevels[1] - task.anchor[1];
      const std::int64_t z = start[2] + plane + task.outputToLevels[2] - task.anchor[2];
      const bool         hasRow = y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2];
      const auto         levelAt = [&](int column) -> std::uint32_t {
        const std::int64_t x = start[0] + column + task.outputToLevels[0] - task.anchor[0];
        return hasRow && column < columns && x >= 0 && x < task.levelsSize[0] ? task.levels[task.LevelOffset(x, y, z)]
                                                                                      : 0;
      };
      const std::uint32_t left = levelAt(lane);
      const std::uint32_t right = levelAt(lane + Layout::lanes);
#pragma unroll
      for (int b = 0; b < VLevelBits; ++b)
      {
        const std::uint64_t low = __ballot_sync(0xffffffffu, (left >> b & 1) != 0);
        const std::uint64_t high = __ballot_sync(0xffffffffu, (right >> b & 1) != 0);
        if (lane == 0)
        {
          words[plane][row][b] = (high << 32) | low;
        }
      }
    }
    __syncthreads();
  }
};

/** The window of a thread, of at most VSlices slices. */
template <int VWidth, int VSlices, int VLevelBits>
class CudaWindowBits
{
public:
  using Tile = CudaWindowBitsTile<VWidth, VSlices, VLevelBits>;
  using Word = std::conditional_t<VWidth <= 5, std::uint32_t, std::uint64_t>;
  static constexpr int rowBits = VWidth + 1;
  /** About a tenth of a second. */
  static constexpr std::int64_t partTiles = std::int64_t{ 1 } << (VSlices <= 5 ? 13 : 12);

  /** Move the window by one plane, of which it gets the last slice. */
  __device__ void
  Move(const TextureTask & task, const Tile & tile, int row, int plane)
  {
    const int           lane = threadIdx.x % CudaWindowTiles::lanes;
    const std::uint32_t columns = (1u << task.window[0]) - 1;
#pragma unroll
    for (int b = 0; b < VLevelBits; ++b)
    {
#pragma unroll
      for (int z = 0; z + 1 < VSlices; ++z)
      {
        m_Levels[b][z] = m_Levels[b][z + 1];
      }
      Word slice(0);
#pragma unroll
      for (int y = 0; y < VWidth; ++y)
      {
        if (y < task.window[1])
        {
          const std::uint64_t word = tile.words[plane][row + y][b];
          const std::uint32_t bits = static_cast<std::uint32_t>(word >> lane) & columns;
          slice |= static_cast<Word>(bits) << (y * rowBits);
        }
      }
      m_Levels[b][VSlices - 1] = slice;
    }
  }

  /** Begin with all voxels of the window, or none. */
  __device__ void
  Start(int slices)
  {
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      Word present(0);
#pragma unroll
      for (int b = 0; b < VLevelBits; ++b)
      {
        present |= m_Levels[b][z];
      }
      m_Left[z] = z < slices ? present : Word(0);
    }
  }
  __device__ std::uint32_t
             NumberLeft() const
  {
    return CountBitsBetween<0, VSlices>(m_Left);
  }
  __device__ bool
  HasLeft() const
  {
    Word left(0);
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      left |= m_Left[z];
    }
    return static_cast<bool>(left);
  }

  /** The voxels of a level that were not taken before, none if there are no such; returns the level. */
  __device__ std::uint32_t
             TakeLevel(Word (&voxels)[VSlices])
  {
    Word first[VSlices];
    bool isFound = false;
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      const Word candidates = isFound ? Word(0) : m_Left[z];
      first[z] = LowestBit(candidates);
      isFound = isFound || static_cast<bool>(candidates);
      voxels[z] = m_Left[z];
    }
    std::uint32_t level = 0;
#pragma unroll
    for (int b = 0; b < VLevelBits; ++b)
    {
      Word bit(0);
#pragma unroll
      for (int z = 0; z < VSlices; ++z)
      {
        bit |= m_Levels[b][z] & first[z];
      }
      const Word isSet = AllBitsIf<Word>(static_cast<bool>(bit));
      level |= bit ? 1u << b : 0u;
#pragma unroll
      for (int z = 0; z < VSlices; ++z)
      {
        voxels[z] &= ~(m_Levels[b][z] ^ isSet);
      }
    }
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      m_Left[z] &= ~voxels[z];
    }
    return level;
  }

  /** The voxels whose level is between two others. */
  __device__ void
  FindBetween(std::uint32_t least, std::uint32_t greatest, int slices, Word (&voxels)[VSlices]) const
  {
    Word areNotLess[VSlices];
    Word areNotGreater[VSlices];
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      areNotLess[z] = AllBitsIf<Word>(z < slices);
      areNotGreater[z] = areNotLess[z];
    }
#pragma unroll
    for (int b = 0; b < VLevelBits; ++b)
    {
      // A higher bit that differs decides, else those below it.
      const Word below = AllBitsIf<Word>((least >> b & 1) != 0);
      const Word above = AllBitsIf<Word>((greatest >> b & 1) != 0);
#pragma unroll
      for (int z = 0; z < VSlices; ++z)
      {
        const Word bit = m_Levels[b][z];
        areNotLess[z] = (bit & ~below) | (areNotLess[z] & ~(bit ^ below));
        areNotGreater[z] = (~bit & above) | (areNotGreater[z] & ~(bit ^ above));
      }
    }
#pragma unroll
    for (int z = 0; z < VSlices; ++z)
    {
      voxels[z] = z < slices ? areNotLess[z] & areNotGreater[z] : Word(0);
    }
  }

private:
  Word m_Levels[VLevelBits][VSlices];
  Word m_Left[VSlices];
};

/** Called by all threads of a block: loads a tile, and calls compute(bits, output voxel, whether it is computed) for
 * the windows of each thread, for all lanes of a warp at a time; storeBackground(output voxel) for those not computed.
 */
template <int VWidth, int VSlices, int VLevelBits, typename TStoreBackground, typename TCompute>
__device__ __forceinline__ void
ForEachWindowOfBits(const TextureTask & task, const CudaWindowBitsLayout & layout, const std::int64_t (&start)[3],
                    const TStoreBackground & storeBackground, const TCompute & compute)
{
  using Bits = CudaWindowBits<VWidth, VSlices, VLevelBits>;

  __shared__ typename Bits::Tile tile;
  const int slices = static_cast<int>(min(std::int64_t{ layout.tiles.slices }, task.outputSize[2] - start[2]));
  tile.Load(task, start, slices);

  const int lane = threadIdx.x % CudaWindowTiles::lanes;
  const int row = threadIdx.x / CudaWindowTiles::lanes;
  Bits      bits;
#pragma unroll 1
  for (int plane = 0; plane < slices + VSlices - 1; ++plane)
  {
    bits.Move(task, tile, row, plane);
    if (plane < VSlices - 1)
    {
      continue;
    }
    // Not a CudaTileWindow, with which a kernel needs six registers more.
    const std::int64_t voxel[3] = { start[0] + lane, start[1] + row, start[2] + plane - (VSlices - 1) };
    const bool         isOutput = voxel[0] < task.outputSize[0] && voxel[1] < task.outputSize[1];
    const bool         isComputed = isOutput && WindowBox(task, voxel).isComputed;
    const std::int64_t output = (voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0];
    if (isOutput && !isComputed)
    {
      storeBackground(output);
    }
    bits.Start(isComputed ? task.window[2] : 0);
    compute(bits, output, isComputed);
  }
}
} // namespace voxelmaps

#endif // CudaWindowBits_cuh
