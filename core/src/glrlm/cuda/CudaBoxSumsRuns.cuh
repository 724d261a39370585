// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaBoxSumsRuns_cuh
#define CudaBoxSumsRuns_cuh

#include "CudaBoxSumsTile.cuh"
#include "CudaRunAccumulator.cuh"

namespace voxelmaps
{
/** S_k of one row: counts and squares (in one word if packed), inverses. */
template <bool VPacked>
struct StartSums
{
  std::uint32_t squares{ 0 };
  std::uint32_t counts{ 0 };
  std::uint64_t inverses{ 0 };
};
template <>
struct StartSums<true>
{
  std::uint32_t squares{ 0 };
  std::uint64_t inverses{ 0 };
};

template <int VWindow, WindowShape VShape, SumWidth VWidth, bool VAllFeatures>
class RunBoxSums : private BoxSumsThread<VWindow>
{
  using Base = BoxSumsThread<VWindow>;
  using Base::m_BufferOffset;
  using Base::m_Position;
  using Base::m_Shared;
  using Base::m_Task;
  using Base::m_Tiling;

public:
  using Window = BoxSumsWindow<VWindow, VShape>;
  static constexpr int  planes = Window::planes;
  static constexpr bool isPacked = VWidth != SumWidth::Separate;
  static constexpr int  kinds = VWindow - 1; // k = 2 ... VWindow
  static constexpr int  numberOfFeatures = VAllFeatures ? 15 : 11;
  static constexpr int  sumBytes = SumBytes(kinds, isPacked, VAllFeatures);

  __device__
  RunBoxSums(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position, char * shared)
    : Base(task, tiling, position, shared + InverseTableBytes(task))
    , m_InverseTable(reinterpret_cast<std::uint64_t *>(shared))
  {
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      position.Load(task, tiling, r, m_RunLengthWords[r]);
      m_IsPresent[r] = IsPresent(task, position, r);
    }
  }

  /** S_1, which is the same for all directions. */
  __device__ void
  ComputeFirst()
  {
    for (int level = threadIdx.x; level <= m_Task.numberOfGrayLevels; level += boxSumsThreads)
    {
      m_InverseTable[level] = m_Task.needsInverses ? m_Task.inverseSquares[level] : 0;
    }
    __syncthreads();
    this->SumColumns<1, 1, false, false>(0);
    __syncthreads();
    this->SumRows<false>(1, 0, m_First, m_FirstLevels);
    this->NextBuffer();
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      m_Voxels[r] = static_cast<double>(this->GetCount(m_First[r]));
    }
  }

  /** Features of all directions of the output voxels of this thread. */
  __device__ void
  ComputeDirections()
  {
    double averages[2][numberOfFeatures];
#pragma unroll
    for (int f = 0; f < numberOfFeatures; ++f)
    {
      averages[0][f] = 0.0;
      averages[1][f] = 0.0;
    }
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      const auto & step = m_Task.directions.steps[d];
      if (step[2] == 0 || VShape == WindowShape::Square)
      {
        step[0] == 0 ? this->SumColumns<2, VWindow, false, false>(d) : this->SumColumns<2, VWindow, true, false>(d);
      }
      else
      {
        step[0] == 0 ? this->SumColumns<2, VWindow, false, true>(d) : this->SumColumns<2, VWindow, true, true>(d);
      }
      // Asked for early, as it comes from far.
      std::uint32_t levelNonUniformities[2];
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        levelNonUniformities[r] = LoadLevelNonUniformity(m_Task, m_Tiling, m_Position, d, r);
      }
      __syncthreads();
      RunAccumulator<VWidth> runs[2];
      std::uint32_t          levelLinks[2] = { 0, 0 };
      step[1] == 0 ? this->AddDirectionRuns<false>(d, runs, levelLinks)
                            : this->AddDirectionRuns<true>(d, runs, levelLinks);
      this->NextBuffer();
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        if (m_Position.HasOutput(m_Task, m_Tiling, r))
        {
          this->Finish(d, r, runs[r], levelLinks[r], levelNonUniformities[r], averages[r]);
        }
      }
    }
    if (m_Task.aggregation == RunLengthJob::Aggregation::Average)
    {
      __syncthreads();
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        this->Write(r, m_IsPresent[r], m_Voxels[r], averages[r]);
      }
    }
  }

private:
  using Starts = StartSums<isPacked>;

  __device__ std::uint64_t *
             InverseSums(int k) const
  {
    return reinterpret_cast<std::uint64_t *>(m_Shared + m_BufferOffset) + (k < 2 ? 0 : k - 2) * tileVoxels;
  }
  __device__ std::uint32_t *
             SquareSums(int k) const
  {
    return reinterpret_cast<std::uint32_t *>(m_Shared + m_BufferOffset) +
           (kinds * 2 + (k < 2 ? 0 : k - 2)) * tileVoxels;
  }
  __device__ std::uint32_t *
             CountSums(int k) const
  {
    return this->SquareSums(k) + kinds * tileVoxels;
  }
  __device__ std::uint32_t *
             LevelSums() const
  {
    return reinterpret_cast<std::uint32_t *>(m_Shared + m_BufferOffset) + kinds * (isPacked ? 3 : 4) * tileVoxels;
  }
  __device__ std::uint32_t
             GetCount(const Starts & starts) const
  {
    if constexpr (isPacked)
    {
      return starts.squares >> m_Tiling.squareBits;
    }
    else
    {
      return starts.counts;
    }
  }
  __device__ std::uint32_t
             GetSquares(const Starts & starts) const
  {
    return isPacked ? starts.squares & ((1u << m_Tiling.squareBits) - 1) : starts.squares;
  }

  /** Sums over z and x for k = VFirst ... VLast. In directions along z, k voxels start in the first planes only. */
  template <int VFirst, int VLast, bool VStepX, bool VStepZ>
  __device__ void
  SumColumns(int d)
  {
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint32_t squares[VLast + 1] = {};
      std::uint32_t counts[VLast + 1] = {};
      std::uint64_t inverses[VLast + 1] = {};
      std::uint32_t levels = 0;
#pragma unroll
      for (int j = 0; j < (VStepZ ? planes - 1 : planes); ++j)
      {
        const std::uint64_t word = m_RunLengthWords[r][j];
        const auto          level = static_cast<std::uint32_t>(GetLevel(word));
        const std::uint32_t square = level * level + (isPacked ? 1u << m_Tiling.squareBits : 0u);
        const std::uint64_t inverse = m_InverseTable[level];
        const std::uint32_t length = VFirst == 1 ? 0 : GetLength(word, d);
#pragma unroll
        for (int k = VFirst; k <= VLast; ++k)
        {
          const bool starts = k == 1 ? level != 0 : StartsEqual<VWindow>(length, k);
          if ((!VStepZ || j + k <= planes) && starts && j < Window::Width(m_Task, 2, VStepZ, k))
          {
            squares[k] += square;
            inverses[k] += inverse;
            counts[k] += 1;
            levels += k <= 2 ? level : 0;
          }
        }
      }
#pragma unroll
      for (int k = VFirst; k <= VLast; ++k)
      {
        if (k <= Window::LongestRun(m_Task, d))
        {
          const int start = k == 1 ? 0 : Window::Start(m_Task.directions.steps[d][0], k);
          const int width = Window::Width(m_Task, 0, VStepX, k);
          this->SumAlongX(squares[k], start, width, r, this->SquareSums(k));
          if (m_Task.needsInverses)
          {
            this->SumAlongX(inverses[k], start, width, r, this->InverseSums(k));
          }
          if constexpr (!isPacked)
          {
            this->SumAlongX(counts[k], start, width, r, this->CountSums(k));
          }
          if (VAllFeatures && k <= 2)
          {
            this->SumAlongX(levels, start, width, r, this->LevelSums());
          }
        }
      }
    }
  }

  /** S_k of the output rows of this thread. */
  template <bool VStepY>
  __device__ void
  SumRows(int k, int d, Starts (&starts)[2], std::uint32_t (&levels)[2]) const
  {
    if (m_Position.row >= m_Tiling.rows)
    {
      return;
    }
    const int start = k == 1 ? 0 : Window::Start(m_Task.directions.steps[d][1], k);
    const int width = Window::Width(m_Task, 1, VStepY, k);
    const int at = (m_Position.row + start) * tileColumns + m_Position.warpLane;
    RowSum(this->SquareSums(k) + at, width, starts[0].squares, starts[1].squares);
    if (m_Task.needsInverses)
    {
      RowSum(this->InverseSums(k) + at, width, starts[0].inverses, starts[1].inverses);
    }
    if constexpr (!isPacked)
    {
      RowSum(this->CountSums(k) + at, width, starts[0].counts, starts[1].counts);
    }
    if constexpr (VAllFeatures)
    {
      if (k <= 2)
      {
        RowSum(this->LevelSums() + at, width, levels[0], levels[1]);
      }
    }
  }

  /** Packed words too, as no part of the result is negative. */
  static __device__ Starts
  Difference(const Starts & a, const Starts & b)
  {
    Starts difference;
    difference.squares = a.squares - b.squares;
    difference.inverses = a.inverses - b.inverses;
    if constexpr (!isPacked)
    {
      difference.counts = a.counts - b.counts;
    }
    return difference;
  }

  /** Runs of length l are S_l - 2 S_(l+1) + S_(l+2), the difference of the numbers of runs of at least l and l + 1. */
  template <bool VStepY>
  __device__ void
  AddDirectionRuns(int d, RunAccumulator<VWidth> (&runs)[2], std::uint32_t (&levelLinks)[2]) const
  {
    const int longest = Window::LongestRun(m_Task, d);
    Starts    current[2];
    Starts    atLeast[2];
    runs[0].Clear();
    runs[1].Clear();
    if (longest >= 2)
    {
      this->SumRows<VStepY>(2, d, current, levelLinks);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      atLeast[r] = Difference(m_First[r], current[r]);
    }
#pragma unroll
    for (int l = 1; l <= VWindow; ++l)
    {
      if (l > longest)
      {
        break;
      }
      Starts        next[2];
      std::uint32_t unused[2];
      if (l + 2 <= longest)
      {
        this->SumRows<VStepY>(l + 2, d, next, unused);
      }
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        const Starts longer = Difference(current[r], next[r]);
        const Starts lengthSums = Difference(atLeast[r], longer);
        // Long runs are rare in many images; adding none changes nothing.
        if (__any_sync(0xffffffffu, lengthSums.squares != 0))
        {
          runs[r].Add(m_Tiling.runs, l, this->GetCount(lengthSums), this->GetSquares(lengthSums), lengthSums.inverses);
        }
        atLeast[r] = longer;
        current[r] = next[r];
      }
    }
  }

  /** Features of one direction of one output voxel. */
  __device__ void
  Finish(int d, int r, RunAccumulator<VWidth> & runs, std::uint32_t levelLinks, std::uint32_t levelNonUniformity,
         double (&averages)[numberOfFeatures])
  {
    RunLengthSums<double> sums = runs.Get();
    sums.voxels = m_Voxels[r];
    sums.levelNonUniformity = static_cast<double>(levelNonUniformity);
    if constexpr (VAllFeatures)
    {
      // Both are exact below 2^53.
      const auto levels = static_cast<double>(m_FirstLevels[r] - levelLinks);
      sums.levelVariance = sums.runs * sums.squares - levels * levels;
    }
    if (m_Task.aggregation == RunLengthJob::Aggregation::Average)
    {
      AddAverageTerms(m_Tiling.components, sums, averages);
      return;
    }
    StoreFeatures<numberOfFeatures>(m_Task, m_Tiling.components, sums, [&](int component, double value) {
      StoreComponent(m_Task,
                     m_Position.OutputVoxel(m_Task, r) * m_Task.voxelStride,
                     d * m_Task.numberOfFeatures + component,
                     m_IsPresent[r] ? value : m_Task.backgroundValue);
    });
  }

  std::uint64_t * m_InverseTable;
  std::uint64_t   m_RunLengthWords[2][planes];
  bool            m_IsPresent[2];
  Starts          m_First[2];
  std::uint32_t   m_FirstLevels[2];
  double          m_Voxels[2];
};

/** All features of all windows but the sums over levels, which LevelNonUniformityKernel has written. */
template <int VWindow, WindowShape VShape, SumWidth VWidth, bool VAllFeatures>
__global__ void
__launch_bounds__(boxSumsThreads, 1) BoxSumsKernel(const __grid_constant__ RunLengthTask task,
                                                   const __grid_constant__ BoxSumsTiling tiling, std::int64_t firstTile)
{
  extern __shared__ __align__(16) char              shared[];
  const BoxSumsPosition                             position(task, tiling, firstTile + blockIdx.x);
  RunBoxSums<VWindow, VShape, VWidth, VAllFeatures> sums(task, tiling, position, shared);
  sums.ComputeFirst();
  sums.ComputeDirections();
}
} // namespace voxelmaps

#endif // CudaBoxSumsRuns_cuh
