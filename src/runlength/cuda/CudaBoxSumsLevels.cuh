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
#ifndef CudaBoxSumsLevels_cuh
#define CudaBoxSumsLevels_cuh

#include "CudaBoxSumsTile.cuh"

namespace itk
{
namespace voxelmaps
{
/** Counts of the levels of one chunk over a box, as bytes or halves of eight words: two rows of a thread. */
template <int VWindow, WindowShape VShape, int VBits>
class LevelCounts
{
public:
  using Window = BoxSumsWindow<VWindow, VShape>;
  static constexpr int planes = Window::planes;
  static constexpr int words = 8;
  static constexpr int levelsPerChunk = words * 32 / VBits;
  /** Counts of one column, of up to 9 voxels, take four bits. */
  static constexpr std::uint32_t nibbleWords = levelsPerChunk / 8;

  __device__
  LevelCounts(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position, char * shared)
    : m_Task(task)
    , m_Tiling(tiling)
    , m_Position(position)
    , m_Shared(shared)
  {
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint64_t runLengthWords[planes];
      position.Load(task, tiling, r, runLengthWords);
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        std::uint32_t links = 0;
        for (int d = 0; d < task.directions.number; ++d)
        {
          links |= (LengthOf(runLengthWords[j], d) >= 2 ? 1u : 0u) << d;
        }
        m_Voxels[r][j] = links | static_cast<std::uint32_t>(LevelOf(runLengthWords[j])) << levelBit;
      }
    }
  }

  /** Choose a chunk; whether any voxel of the tile has one of its levels. */
  __device__ bool
  StartChunk(int chunk)
  {
    bool any = false;
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        const std::uint32_t level =
          (m_Voxels[r][j] >> levelBit) - 1 - static_cast<std::uint32_t>(chunk * levelsPerChunk);
        const bool isIn = level < static_cast<std::uint32_t>(levelsPerChunk);
        any = any || isIn;
        m_Voxels[r][j] = (m_Voxels[r][j] & ~(7u << wordBit)) | (isIn ? level / 8 : nibbleWords) << wordBit;
        m_Ones[r][j] = isIn ? 1u << (4 * (level % 8)) : 0;
      }
    }
    return any;
  }

  /** Counts of all voxels, or of the voxels linked in a direction. */
  __device__ void
  CountVoxels(std::uint32_t (&sums)[2][words])
  {
    this->Count<true, false, false, false>(0, sums);
  }
  __device__ void
  CountLinks(int direction, std::uint32_t (&sums)[2][words])
  {
    const auto & step = m_Task.directions.steps[direction];
    if (step[2] == 0 || VShape == WindowShape::Square)
    {
      step[0] == 0 ? this->Count<false, false, true, false>(direction, sums)
                   : this->CountAlongX<false>(step[1] != 0, direction, sums);
    }
    else if (step[0] == 0)
    {
      step[1] == 0 ? this->Count<false, false, false, true>(direction, sums)
                   : this->Count<false, false, true, true>(direction, sums);
    }
    else
    {
      this->CountAlongX<true>(step[1] != 0, direction, sums);
    }
  }

  /** Sum over the levels of (voxels - links)^2: links of a level are never more than its voxels, so that no part of a
   * word borrows from the next. */
  static __device__ std::uint32_t
                    SumOfSquares(const std::uint32_t (&voxels)[words], const std::uint32_t (&links)[words])
  {
    std::uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < words; ++w)
    {
      const std::uint32_t runs = voxels[w] - links[w];
      if (VBits == 8)
      {
        sum = __dp4a(runs, runs, sum);
      }
      else
      {
        sum += (runs & 0xffffu) * (runs & 0xffffu) + (runs >> 16) * (runs >> 16);
      }
    }
    return sum;
  }

private:
  static constexpr int wordBit = Directions::maxNumber;
  static constexpr int levelBit = 16;

  template <bool VStepZ>
  __device__ void
  CountAlongX(bool hasStepY, int direction, std::uint32_t (&sums)[2][words])
  {
    hasStepY ? this->Count<false, true, true, VStepZ>(direction, sums)
             : this->Count<false, true, false, VStepZ>(direction, sums);
  }

  template <bool VAll, bool VStepX, bool VStepY, bool VStepZ>
  __device__ void
  Count(int direction, std::uint32_t (&sums)[2][words])
  {
    constexpr int k = VAll ? 1 : 2;
    const auto &  step = m_Task.directions.steps[direction];
    const int     startX = VAll ? 0 : Window::Start(step[0], k);
    const int     startY = VAll ? 0 : Window::Start(step[1], k);
    const int     widthX = Window::Width(m_Task, 0, VStepX, k);
    const int     widthY = Window::Width(m_Task, 1, VStepY, k);
    const int     widthZ = Window::Width(m_Task, 2, VStepZ, k);
    auto *        buffer = reinterpret_cast<uint4 *>(m_Shared + m_Buffer * m_Tiling.bufferStride);
    m_Buffer = 1 - m_Buffer;

#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint32_t nibbles[nibbleWords] = {};
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        const bool isIn = j < widthZ && (VAll || ((m_Voxels[r][j] >> direction) & 1u));
        const auto word = isIn ? (m_Voxels[r][j] >> wordBit) & 7u : nibbleWords;
#pragma unroll
        for (int w = 0; w < static_cast<int>(nibbleWords); ++w)
        {
          nibbles[w] += word == static_cast<std::uint32_t>(w) ? m_Ones[r][j] : 0;
        }
      }
      // The order of levels in the words does not matter: their squares are added.
      std::uint32_t columns[words];
#pragma unroll
      for (int w = 0; w < words; ++w)
      {
        constexpr int           perNibbleWord = words / static_cast<int>(nibbleWords);
        constexpr std::uint32_t mask = VBits == 8 ? 0x0f0f0f0fu : 0x000f000fu;
        columns[w] = SumOfLanes<VWindow>((nibbles[w / perNibbleWord] >> (4 * (w % perNibbleWord))) & mask, widthX);
      }
      const int column = m_Position.warpLane - startX;
      if (column >= 0)
      {
        uint4 * to = buffer + (m_Position.row + r) * tileColumns + column;
        to[0] = make_uint4(columns[0], columns[1], columns[2], columns[3]);
        to[tileVoxels] = make_uint4(columns[4], columns[5], columns[6], columns[7]);
      }
    }
    __syncthreads();
    if (m_Position.row < m_Tiling.rows)
    {
      const uint4 * from = buffer + (m_Position.row + startY) * tileColumns + m_Position.warpLane;
      this->SumRows(from, widthY, sums, 0);
      this->SumRows(from + tileVoxels, widthY, sums, 4);
    }
    if (m_Tiling.bufferStride == 0)
    {
      __syncthreads();
    }
  }

  static __device__ void
  SumRows(const uint4 * from, int width, std::uint32_t (&sums)[2][words], int first)
  {
    const uint4 value = from[0];
    uint4       sum = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 1; i < width; ++i)
    {
      Add(sum, from[i * tileColumns]);
    }
    uint4 last = sum;
    Add(sum, value);
    Add(last, from[width * tileColumns]);
    Store(sum, sums[0], first);
    Store(last, sums[1], first);
  }
  static __device__ void
  Add(uint4 & a, const uint4 & b)
  {
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.w += b.w;
  }
  static __device__ void
  Store(const uint4 & from, std::uint32_t (&to)[words], int first)
  {
    to[first] = from.x;
    to[first + 1] = from.y;
    to[first + 2] = from.z;
    to[first + 3] = from.w;
  }

  const RunLengthTask &   m_Task;
  const BoxSumsTiling &   m_Tiling;
  const BoxSumsPosition & m_Position;
  char *                  m_Shared;
  int                     m_Buffer{ 0 };
  /** Directions in which a voxel equals the next one, in which nibble word of this chunk it counts, and its level. */
  std::uint32_t m_Voxels[2][planes];
  /** And as what it counts there. */
  std::uint32_t m_Ones[2][planes];
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
  const int chunks = (task.numberOfGrayLevels + Counts::levelsPerChunk - 1) / Counts::levelsPerChunk;
  for (int chunk = 0; chunk < chunks; ++chunk)
  {
    const bool any = counts.StartChunk(chunk);
    if (__syncthreads_or(any) == 0 && chunk > 0)
    {
      continue;
    }
    std::uint32_t voxels[2][Counts::words] = {};
    counts.CountVoxels(voxels);
    for (int d = 0; d < task.directions.number; ++d)
    {
      std::uint32_t links[2][Counts::words] = {};
      if (Counts::Window::LongestRun(task, d) >= 2)
      {
        counts.CountLinks(d, links);
      }
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        if (position.HasOutput(task, tiling, r))
        {
          Result * result =
            static_cast<Result *>(tiling.levelNonUniformities) + d * outputs + position.OutputVoxel(task, r);
          const std::uint32_t sum = Counts::SumOfSquares(voxels[r], links[r]);
          *result = static_cast<Result>(chunk > 0 ? *result + sum : sum);
        }
      }
    }
  }
}
} // namespace voxelmaps
} // namespace itk

#endif // CudaBoxSumsLevels_cuh
