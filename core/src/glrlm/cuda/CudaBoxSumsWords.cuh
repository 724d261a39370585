// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaBoxSumsWords_cuh
#define CudaBoxSumsWords_cuh

#include "CudaBoxSumsRuns.cuh"

// Averages of the first eleven features where one 64-bit word holds all of S_k: sum of q(i), number, and sum of i^2.
namespace voxelmaps
{
/** Bits of the word: 40 are what RunLengthPlan gives to short sums of q(i). */
constexpr int wordInverseBits = 40;
constexpr int wordCountBits = 7;
constexpr int wordSquareBits = 64 - wordInverseBits - wordCountBits;
/** Bits of a level whose squares, of a window of 8 voxels or more, fit the word; five levels share 32 bits. */
constexpr int wordLevelBits = 6;

/** A number below 2^40 from its lower half and the lowest byte of its upper one: the mantissa of 2^52, where a
 * conversion would take four times as long. */
inline __device__ double
ToReal(std::uint32_t low, std::uint32_t high = 0)
{
  static_assert(wordInverseBits == 40, "one byte of the upper half");
  return __hiloint2double(static_cast<int>(__byte_perm(high, 0x43300000u, 0x7640)), static_cast<int>(low)) -
         4503599627370496.0;
}

template <int VWindow>
class WordBoxSums : private BoxSumsThread<VWindow>
{
  using Base = BoxSumsThread<VWindow>;
  using Base::m_BufferOffset;
  using Base::m_Position;
  using Base::m_Shared;
  using Base::m_Task;
  using Base::m_Tiling;

public:
  static constexpr int planes = VWindow;
  static constexpr int kinds = VWindow - 1; // k = 2 ... VWindow
  static constexpr int numberOfFeatures = 11;
  static constexpr int sumBytes = kinds * tileVoxels * static_cast<int>(sizeof(std::uint64_t));
  static constexpr int reciprocals = 1 << wordCountBits;

  __device__
  WordBoxSums(const RunLengthTask & task, const BoxSumsTiling & tiling, const BoxSumsPosition & position, char * shared)
    : Base(task, tiling, position, shared + TableBytes(task))
    , m_Reciprocals(reinterpret_cast<double *>(shared))
    , m_Words(reinterpret_cast<std::uint64_t *>(shared) + reciprocals)
  {}

  static __host__ __device__ int
  TableBytes(const RunLengthTask & task)
  {
    return reciprocals * static_cast<int>(sizeof(double)) + InverseTableBytes(task);
  }

  /** S_1, which is the same for all directions. */
  __device__ void
  ComputeFirst()
  {
    for (int n = threadIdx.x; n < reciprocals; n += boxSumsThreads)
    {
      m_Reciprocals[n] = CudaDivision::Reciprocal(static_cast<double>(n));
    }
    for (int level = threadIdx.x; level <= m_Task.numberOfGrayLevels; level += boxSumsThreads)
    {
      const auto i = static_cast<std::uint64_t>(level);
      m_Words[level] = level == 0
                         ? 0
                         : (i * i << (wordInverseBits + wordCountBits)) | std::uint64_t{ 1 } << wordInverseBits |
                             (m_Task.needsInverses ? m_Task.inverseSquares[level] : 0);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint64_t runLengthWords[planes];
      m_Position.Load(m_Task, m_Tiling, r, runLengthWords);
      std::uint64_t sum = 0;
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        m_Lengths[r][j] = static_cast<std::uint32_t>(runLengthWords[j]);
        const auto level = static_cast<std::uint32_t>(GetLevel(runLengthWords[j]));
        m_Levels[r] = j == 0 ? level : m_Levels[r] | level << (wordLevelBits * j);
        sum += m_Words[level];
      }
      this->SumAlongX(sum, 0, VWindow, r, this->Sums(2));
    }
    __syncthreads();
    std::uint64_t first[2] = { 0, 0 };
    if (m_Position.row < m_Tiling.rows)
    {
      RowSum(this->Sums(2) + m_Position.row * tileColumns + m_Position.warpLane, VWindow, first[0], first[1]);
    }
    this->NextBuffer();
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      m_Voxels[r] = GetCount(first[r]);
      m_Squares[r] = GetSquares(first[r]);
      m_Inverses[r] = GetInverses(first[r]);
    }
  }

  /** Averages over all directions of the output voxels of this thread. */
  __device__ void
  ComputeDirections()
  {
    double        averages[2][numberOfFeatures] = {};
    std::uint32_t runs[2] = { 0, 0 };
    const bool    hasOutput[2] = { m_Task.needsLevelCounts && m_Position.HasOutput(m_Task, m_Tiling, 0),
                                   m_Task.needsLevelCounts && m_Position.HasOutput(m_Task, m_Tiling, 1) };
    // Windows of up to 125 voxels: 16 bits.
    const auto * nonUniformities =
      static_cast<const std::uint16_t *>(m_Tiling.levelNonUniformities) + m_Position.OutputVoxel(m_Task, 0);
    const std::int64_t outputs = m_Task.outputSize[0] * m_Task.outputSize[1] * m_Task.outputSize[2];
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      if (d == 8)
      {
        this->LoadLastLengths();
      }
      const auto & step = m_Task.directions.steps[d];
      if (step[2] == 0)
      {
        step[0] == 0 ? this->SumColumns<false, false>(d) : this->SumColumns<true, false>(d);
      }
      else
      {
        step[0] == 0 ? this->SumColumns<false, true>(d) : this->SumColumns<true, true>(d);
      }
      // Asked for early, as it comes from far.
      std::uint32_t levelNonUniformities[2];
#pragma unroll
      for (int r = 0; r < 2; ++r)
      {
        levelNonUniformities[r] = hasOutput[r] ? nonUniformities[r * m_Task.outputSize[0]] : 0;
      }
      nonUniformities += outputs;
      __syncthreads();
      if (m_Position.row < m_Tiling.rows)
      {
        std::uint64_t starts[2][VWindow + 1];
        step[1] == 0 ? this->SumRows<false>(d, starts) : this->SumRows<true>(d, starts);
#pragma unroll
        for (int r = 0; r < 2; ++r)
        {
          this->AddDirection(r, starts[r], levelNonUniformities[r], runs[r], averages[r]);
        }
      }
      this->NextBuffer();
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      averages[r][static_cast<int>(RunLengthJob::Feature::RunPercentage)] = static_cast<double>(runs[r]);
      this->Write(r, IsPresent(m_Task, m_Position, r), static_cast<double>(m_Voxels[r]), averages[r]);
    }
  }

private:
  static __device__ std::uint32_t
                    HighWord(std::uint64_t word)
  {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static __device__ std::uint32_t
                    GetCount(std::uint64_t word)
  {
    return (HighWord(word) >> (wordInverseBits - 32)) & ((1u << wordCountBits) - 1);
  }
  static __device__ std::uint32_t
                    GetSquares(std::uint64_t word)
  {
    return HighWord(word) >> (32 - wordSquareBits);
  }
  static __device__ double
  GetInverses(std::uint64_t word)
  {
    return ToReal(static_cast<std::uint32_t>(word), HighWord(word));
  }

  __device__ std::uint64_t *
             Sums(int k) const
  {
    return reinterpret_cast<std::uint64_t *>(m_Shared + m_BufferOffset) + (k - 2) * tileVoxels;
  }

  /** The lengths of the directions from the eighth on. */
  __device__ void
  LoadLastLengths()
  {
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint64_t runLengthWords[planes];
      m_Position.Load(m_Task, m_Tiling, r, runLengthWords);
#pragma unroll
      for (int j = 0; j < planes; ++j)
      {
        m_Lengths[r][j] = HighWord(runLengthWords[j]);
      }
    }
  }

  /** Sums over z and x. In directions along z, k voxels start in the first planes only. */
  template <bool VStepX, bool VStepZ>
  __device__ void
  SumColumns(int d) const
  {
    const std::uint32_t bit = 1u << (lengthBits * (d % 8));
    const bool          isBackward = m_Task.directions.steps[d][0] < 0;
#pragma unroll
    for (int r = 0; r < 2; ++r)
    {
      std::uint64_t sums[VWindow + 1] = {};
#pragma unroll
      for (int j = 0; j < (VStepZ ? planes - 1 : planes); ++j)
      {
        const std::uint64_t word = m_Words[(m_Levels[r] >> (wordLevelBits * j)) & ((1u << wordLevelBits) - 1)];
#pragma unroll
        for (int k = 2; k <= VWindow; ++k)
        {
          if ((!VStepZ || j + k <= planes) && (m_Lengths[r][j] & (bit << (k - 2))))
          {
            sums[k] += word;
          }
        }
      }
#pragma unroll
      for (int k = 2; k <= VWindow; ++k)
      {
        const int start = VStepX && isBackward ? k - 1 : 0;
        this->SumAlongX(sums[k], start, VWindow - (VStepX ? k - 1 : 0), r, this->Sums(k));
      }
    }
  }

  /** S_k of the output rows of this thread. */
  template <bool VStepY>
  __device__ void
  SumRows(int d, std::uint64_t (&starts)[2][VWindow + 1]) const
  {
    const bool isBackward = m_Task.directions.steps[d][1] < 0;
#pragma unroll
    for (int k = 2; k <= VWindow; ++k)
    {
      const int row = m_Position.row + (VStepY && isBackward ? k - 1 : 0);
      RowSum(this->Sums(k) + row * tileColumns + m_Position.warpLane,
             VWindow - (VStepY ? k - 1 : 0),
             starts[0][k],
             starts[1][k]);
    }
  }

  /** Add the terms of one direction of one output voxel. All sums are integers below 2^53, so that their order does not
   * matter. */
  __device__ void
  AddDirection(int r, const std::uint64_t (&starts)[VWindow + 1], std::uint32_t levelNonUniformity,
               std::uint32_t & allRuns, double (&averages)[numberOfFeatures]) const
  {
    // S_2 ... S_5 in the bytes of a word, and from them the numbers of runs of the lengths 1 ... 4; those of length 5
    // are S_5.
    const auto          high = [&](int k) { return k <= VWindow ? HighWord(starts[k <= VWindow ? k : 2]) : 0; };
    const std::uint32_t counts =
      __byte_perm(__byte_perm(high(2), high(3), 0x5151), __byte_perm(high(4), high(5), 0x5151), 0x5410) & 0x7f7f7f7fu;
    const std::uint32_t fiveRuns = counts >> 24;
    const std::uint32_t atLeast = __byte_perm(m_Voxels[r], counts, 0x6540) - counts;
    const std::uint32_t lengthRuns = atLeast - __byte_perm(atLeast, fiveRuns, 0x4321);
    const std::uint32_t runs = __dp4a(lengthRuns, 0x01010101u, fiveRuns);
    allRuns += runs;

    RunLengthSums<double> sums{};
    sums.levelNonUniformity = ToReal(levelNonUniformity);
    sums.longRuns = ToReal(__dp4a(lengthRuns, 0x10090401u, 25u * fiveRuns));
    sums.lengthNonUniformity = ToReal(__dp4a(lengthRuns, lengthRuns, fiveRuns * fiveRuns));
    sums.shortRuns = ToReal(__dp4a(lengthRuns,
                                   m_Tiling.words.shortRunLowBytes,
                                   256u * __dp4a(lengthRuns, m_Tiling.words.shortRunHighBytes, 0u) +
                                     m_Tiling.words.fiveRunWeight * fiveRuns));

    std::uint32_t squares = GetSquares(starts[2]);
    double        inverses = GetInverses(starts[2]);
    sums.squares = ToReal(m_Squares[r] - squares);
    sums.inverses = m_Inverses[r] - inverses;
    std::uint32_t shortSquares = m_Tiling.words.shortStarts[1] * m_Squares[r] + m_Tiling.words.shortStarts[2] * squares;
    double        shortInverses =
      __fma_rn(m_Tiling.words.realShortStarts[2], inverses, m_Tiling.words.realShortStarts[1] * m_Inverses[r]);
#pragma unroll
    for (int k = 3; k <= VWindow; ++k)
    {
      const std::uint32_t kSquares = GetSquares(starts[k]);
      const double        kInverses = GetInverses(starts[k]);
      squares += kSquares;
      inverses += kInverses;
      shortSquares += m_Tiling.words.shortStarts[k] * kSquares;
      shortInverses = __fma_rn(m_Tiling.words.realShortStarts[k], kInverses, shortInverses);
    }
    // l^2 is 1 for S_1 and 2 for all others.
    sums.longRunSquares = ToReal(m_Squares[r] + 2 * squares);
    sums.longRunInverses = __fma_rn(2.0, inverses, m_Inverses[r]);
    sums.shortRunSquares = ToReal(shortSquares);
    sums.shortRunInverses = shortInverses;

    const double reciprocal = m_Reciprocals[runs % reciprocals];
#pragma unroll
    for (int f = 0; f < numberOfFeatures; ++f)
    {
      const auto feature = static_cast<RunLengthJob::Feature>(f);
      if (feature != RunLengthJob::Feature::RunPercentage)
      {
        averages[f] += RunLengthAverageTerm(feature, sums, reciprocal);
      }
    }
  }

  double *        m_Reciprocals;
  std::uint64_t * m_Words;
  std::uint32_t   m_Lengths[2][planes];
  std::uint32_t   m_Levels[2];
  // S_1
  std::uint32_t m_Voxels[2];
  std::uint32_t m_Squares[2];
  double        m_Inverses[2];
};

/** All averages of all windows but the sums over levels, which LevelNonUniformityKernel has written. */
template <int VWindow>
__global__ void
__launch_bounds__(boxSumsThreads, 1)
  WordBoxSumsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ BoxSumsTiling tiling,
                    std::int64_t firstTile)
{
  extern __shared__ __align__(16) char shared[];
  const BoxSumsPosition                position(task, tiling, firstTile + blockIdx.x);
  WordBoxSums<VWindow>                 sums(task, tiling, position, shared);
  sums.ComputeFirst();
  sums.ComputeDirections();
}
} // namespace voxelmaps

#endif // CudaBoxSumsWords_cuh
