// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaBoxSumsLevels_cuh
#define CudaBoxSumsLevels_cuh

#include "CudaBoxSumsTile.cuh"
#include "window/cuda/CudaLevelSet.cuh"

namespace voxelmaps
{
/** Counts of the levels of one chunk over a box, as bytes or halves of words: two rows of a thread. */
template <int VWindow, WindowShape VShape, int VBits>
class LevelCounts
{
public:
  using Window = BoxSumsWindow<VWindow, VShape>;
  static constexpr int planes = Window::planes;
  static constexpr int words = 8;
  static constexpr int levelsPerChunk = words * 32 / VBits;
  /** Counts of one column, of up to 9 voxels, take four bits; a group of levels is a word of them. */
  static constexpr int groups = levelsPerChunk / 8;
  static constexpr int wordsPerGroup = words / groups;
  /** The levels that occur in a tile: what does not occur needs no counting. */
  using Levels = LevelSet<maxGrayLevels / 32>;
  static constexpr int sumBytes = words * tileVoxels * static_cast<int>(sizeof(std::uint32_t));

  __device__
  LevelCounts(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position, char * shared)
    : m_Task(task)
    , m_Tiling(tiling)
    , m_Position(position)
    , m_Levels(*reinterpret_cast<Levels *>(shared))
    , m_Shared(shared + sizeof(Levels))
  {
    m_Levels.Clear(static_cast<int>(threadIdx.x), boxSumsThreads);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint64_t runLengthWords[planes];
      position.Load(task, tiling, r, runLengthWords);
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        m_Voxels[r][j] = GetLinks(runLengthWords[j]);
        const int level = GetLevel(runLengthWords[j]);
        if (level != 0)
        {
          m_Levels.Add(level - 1);
        }
      }
    }
    __syncthreads();
    m_NumberOfLevels = m_Levels.MakeRanksOfBlock();
  }

  /** Levels that occur in the tile, in chunks. */
  __device__ int
  NumberOfChunks() const
  {
    return (m_NumberOfLevels + levelsPerChunk - 1) / levelsPerChunk;
  }

  /** Choose a chunk, and count its voxels. */
  __device__ void
  StartChunk(int chunk)
  {
    m_Groups = min(groups, (m_NumberOfLevels - chunk * levelsPerChunk + 7) / 8);
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      // Read again, as registers are few.
      std::uint64_t runLengthWords[planes];
      m_Position.Load(m_Task, m_Tiling, r, runLengthWords);
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        const int           level = GetLevel(runLengthWords[j]);
        const int           place = level != 0 ? m_Levels.Rank(level - 1) - chunk * levelsPerChunk : -1;
        const auto          rank = static_cast<std::uint32_t>(place);
        const bool          isIn = rank < static_cast<std::uint32_t>(levelsPerChunk);
        const std::uint32_t group = isIn ? rank / 8 : 0;
        m_Voxels[r][j] = (m_Voxels[r][j] & ~(oddGroup | upperGroup | lastGroup)) | ((group & 1u) != 0 ? oddGroup : 0) |
                         (group >= 2 ? upperGroup : 0) | (group == 3 ? lastGroup : 0);
        m_Ones[r][j] = isIn ? 1u << (4 * (rank % 8)) : 0;
      }
    }
    this->Count<true, false, false, false>(0, [this](int r, int w, std::uint32_t sum) { m_Counts[r][w] = sum; });
  }

  /** Sum over the levels of (voxels - voxels linked in a direction)^2: links of a level are never more than its voxels,
   * so that no part of a word borrows from the next. */
  __device__ void
  SquareSum(int direction, std::uint32_t (&sums)[2])
  {
    sums[0] = 0;
    sums[1] = 0;
    const auto add = [this, &sums](int r, int w, std::uint32_t links) {
      const std::uint32_t runs = m_Counts[r][w] - links;
      if (VBits == 8)
      {
        sums[r] = __dp4a(runs, runs, sums[r]);
      }
      else
      {
        sums[r] += (runs & 0xffffu) * (runs & 0xffffu) + (runs >> 16) * (runs >> 16);
      }
    };
    if (Window::LongestRun(m_Task, direction) < 2)
    {
#pragma unroll
      for (int w = 0; w < words; ++w)
      {
        if (w < m_Groups * wordsPerGroup)
        {
          add(0, w, 0);
          add(1, w, 0);
        }
      }
      return;
    }
    const auto & step = m_Task.directions.steps[direction];
    if (step[2] == 0 || VShape == WindowShape::Square)
    {
      step[0] == 0 ? this->Count<false, false, true, false>(direction, add)
                   : this->CountAlongX<false>(step[1] != 0, direction, add);
    }
    else if (step[0] == 0)
    {
      step[1] == 0 ? this->Count<false, false, false, true>(direction, add)
                   : this->Count<false, false, true, true>(direction, add);
    }
    else
    {
      this->CountAlongX<true>(step[1] != 0, direction, add);
    }
  }

private:
  // Bit 4 d of a word of links is that of direction d, bit 4 d + 1 that of direction 8 + d; bits between them are the
  // group of a level.
  static constexpr std::uint32_t oddGroup = 1u << 2;
  static constexpr std::uint32_t upperGroup = 1u << 3;
  static constexpr std::uint32_t lastGroup = 1u << 6;

  static __device__ std::uint32_t
                    LinkBit(int direction)
  {
    return 1u << (lengthBits * (direction % 8) + direction / 8);
  }
  /** The directions in which two or more equal voxels start. */
  static __device__ std::uint32_t
                    GetLinks(std::uint64_t word)
  {
    auto low = static_cast<std::uint32_t>(word);
    auto high = static_cast<std::uint32_t>(word >> 32);
    if (VWindow > maxBitLength)
    {
      low = low >> 1 | low >> 2 | low >> 3;
      high = high >> 1 | high >> 2 | high >> 3;
    }
    return (low & 0x11111111u) | (high & 0x11111u) << 1;
  }

  using Group = std::conditional_t<wordsPerGroup == 2, uint2, uint4>;

  template <bool VStepZ, typename TAdd>
  __device__ void
  CountAlongX(bool hasStepY, int direction, const TAdd & add)
  {
    hasStepY ? this->Count<false, true, true, VStepZ>(direction, add)
             : this->Count<false, true, false, VStepZ>(direction, add);
  }

  /** Count all voxels, or the voxels linked in a direction: add(row, word, counts). */
  template <bool VAll, bool VStepX, bool VStepY, bool VStepZ, typename TAdd>
  __device__ void
  Count(int direction, const TAdd & add)
  {
    constexpr int k = VAll ? 1 : 2;
    const auto &  step = m_Task.directions.steps[direction];
    const int     startX = VAll ? 0 : Window::Start(step[0], k);
    const int     startY = VAll ? 0 : Window::Start(step[1], k);
    const int     widthX = Window::Width(m_Task, 0, VStepX, k);
    const int     widthY = Window::Width(m_Task, 1, VStepY, k);
    const int     widthZ = Window::Width(m_Task, 2, VStepZ, k);
    auto *        buffer = reinterpret_cast<Group *>(m_Shared + m_Buffer * m_Tiling.bufferStride);
    m_Buffer = 1 - m_Buffer;

    const int column = m_Position.warpLane - startX;
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint32_t nibbles[groups] = {};
      const auto    getOne = [&](int j) {
        return j < widthZ && (VAll || (m_Voxels[r][j] & LinkBit(direction)) != 0) ? m_Ones[r][j] : 0;
      };
      if (m_Groups == 1)
      {
#pragma unroll
        for (int j = 0; j < planes; ++j)
        {
          nibbles[0] += getOne(j);
        }
      }
      else if (groups == 2 || m_Groups == 2)
      {
#pragma unroll
        for (int j = 0; j < planes; ++j)
        {
          const std::uint32_t one = getOne(j);
          nibbles[0] += one;
          nibbles[1] += (m_Voxels[r][j] & oddGroup) != 0 ? one : 0;
        }
        nibbles[0] -= nibbles[1];
      }
      else if constexpr (groups == 4)
      {
        std::uint32_t all = 0;
#pragma unroll
        for (int j = 0; j < planes; ++j)
        {
          const std::uint32_t one = getOne(j);
          all += one;
          nibbles[1] += (m_Voxels[r][j] & oddGroup) != 0 ? one : 0;
          nibbles[2] += (m_Voxels[r][j] & upperGroup) != 0 ? one : 0;
          nibbles[3] += (m_Voxels[r][j] & lastGroup) != 0 ? one : 0;
        }
        // 1 and 2 hold what 3 has, too.
        nibbles[0] = all - nibbles[1] - nibbles[2] + nibbles[3];
        nibbles[1] -= nibbles[3];
        nibbles[2] -= nibbles[3];
      }
#pragma unroll
      for (int g = 0; g < groups; ++g)
      {
        if (g < m_Groups)
        {
          std::uint32_t columns[wordsPerGroup];
          this->SumAlongX(nibbles[g], widthX, columns);
          if (column >= 0)
          {
            Store(columns, buffer[g * tileVoxels + (m_Position.row + r) * tileColumns + column]);
          }
        }
      }
    }
    __syncthreads();
    if (m_Position.row < m_Tiling.rows)
    {
#pragma unroll
      for (int g = 0; g < groups; ++g)
      {
        if (g < m_Groups)
        {
          const Group * from = buffer + g * tileVoxels + (m_Position.row + startY) * tileColumns + m_Position.warpLane;
          std::uint32_t sums[2][wordsPerGroup];
          this->SumRows(from, widthY, sums);
#pragma unroll
          for (int w = 0; w < wordsPerGroup; ++w)
          {
            add(0, g * wordsPerGroup + w, sums[0][w]);
            add(1, g * wordsPerGroup + w, sums[1][w]);
          }
        }
      }
    }
    if (m_Tiling.bufferStride == 0)
    {
      __syncthreads();
    }
  }

  /** Sums of columns as bytes or halves, by hand as LaneSum. The order of levels in the words does not matter: their
   * squares are added. */
  static __device__ void
  SumAlongX(std::uint32_t nibbles, int width, std::uint32_t (&columns)[wordsPerGroup])
  {
    constexpr std::uint32_t mask = VBits == 8 ? 0x0f0f0f0fu : 0x000f000fu;
    if constexpr (VWindow <= 5 && VBits == 8)
    {
      // Three columns of 5 voxels, 15 together, still fit four bits.
      constexpr unsigned int all = 0xffffffffu;
      const std::uint32_t    two = nibbles + __shfl_down_sync(all, nibbles, 1);
      std::uint32_t          first = nibbles;
      std::uint32_t          second = 0;
      if (width == 2)
      {
        first = two;
      }
      else if (width >= 3)
      {
        first = width == 4 ? two : two + __shfl_down_sync(all, nibbles, 2);
        second = width == 3 ? 0 : __shfl_down_sync(all, two, width == 4 ? 2 : 3);
      }
#pragma unroll
      for (int w = 0; w < wordsPerGroup; ++w)
      {
        columns[w] = ((first >> (4 * w)) & mask) + ((second >> (4 * w)) & mask);
      }
    }
    else
    {
#pragma unroll
      for (int w = 0; w < wordsPerGroup; ++w)
      {
        columns[w] = LaneSum<VWindow>((nibbles >> (4 * w)) & mask, width);
      }
    }
  }

  static __device__ void
  SumRows(const Group * from, int width, std::uint32_t (&sums)[2][wordsPerGroup])
  {
    std::uint32_t row[wordsPerGroup];
    std::uint32_t sum[wordsPerGroup] = {};
    Load(from[0], sums[0]);
#pragma unroll
    for (int i = 1; i < width; ++i)
    {
      Load(from[i * tileColumns], row);
#pragma unroll
      for (int w = 0; w < wordsPerGroup; ++w)
      {
        sum[w] += row[w];
      }
    }
    Load(from[width * tileColumns], row);
#pragma unroll
    for (int w = 0; w < wordsPerGroup; ++w)
    {
      sums[0][w] += sum[w];
      sums[1][w] = sum[w] + row[w];
    }
  }
  static __device__ void
  Load(const uint2 & from, std::uint32_t (&to)[2])
  {
    to[0] = from.x;
    to[1] = from.y;
  }
  static __device__ void
  Load(const uint4 & from, std::uint32_t (&to)[4])
  {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
    to[3] = from.w;
  }
  static __device__ void
  Store(const std::uint32_t (&from)[2], uint2 & to)
  {
    to = make_uint2(from[0], from[1]);
  }
  static __device__ void
  Store(const std::uint32_t (&from)[4], uint4 & to)
  {
    to = make_uint4(from[0], from[1], from[2], from[3]);
  }

  const RunLengthTask &   m_Task;
  const BoxSumsTiling &   m_Tiling;
  const BoxSumsPosition & m_Position;
  Levels &                m_Levels;
  char *                  m_Shared;
  int                     m_Buffer{ 0 };
  int                     m_NumberOfLevels;
  /** Groups of the chunk that have levels. */
  int m_Groups{ 0 };
  /** Directions in which a voxel equals the next one, and in which group of this chunk it counts. */
  std::uint32_t m_Voxels[2][planes];
  /** And as what it counts there. */
  std::uint32_t m_Ones[2][planes];
  /** Voxels of the levels of this chunk in the windows. */
  std::uint32_t m_Counts[2][words];
};

/** Sums over levels of runs^2, for all windows and directions. */
template <int VWindow, WindowShape VShape, int VBits>
__global__ void
__launch_bounds__(boxSumsThreads, VWindow <= 5 ? 2 : 1)
  LevelNonUniformityKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ BoxSumsTiling tiling,
                           std::int64_t firstTile)
{
  using Counts = LevelCounts<VWindow, VShape, VBits>;
  using Result = std::conditional_t<VBits == 8, std::uint16_t, std::uint32_t>;
  extern __shared__ __align__(16) char shared[];
  const BoxSumsPosition                position(task, tiling, firstTile + blockIdx.x);
  Counts                               counts(task, tiling, position, shared);
  const std::int64_t                   outputs = task.outputSize[0] * task.outputSize[1] * task.outputSize[2];
  const bool hasOutput[2] = { position.HasOutput(task, tiling, 0), position.HasOutput(task, tiling, 1) };
  Result *   first = static_cast<Result *>(tiling.levelNonUniformities) + position.OutputVoxel(task, 0);
  const int  chunks = counts.NumberOfChunks();
  // A tile without levels has windows without levels.
  for (int chunk = 0; chunk < max(chunks, 1); ++chunk)
  {
    counts.StartChunk(chunk);
    Result * result = first;
    for (int d = 0; d < task.directions.number; ++d, result += outputs)
    {
      std::uint32_t sums[2];
      counts.SquareSum(d, sums);
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        if (hasOutput[r])
        {
          Result & to = result[r * task.outputSize[0]];
          to = static_cast<Result>(chunk > 0 ? to + sums[r] : sums[r]);
        }
      }
    }
  }
}
} // namespace voxelmaps

#endif // CudaBoxSumsLevels_cuh
