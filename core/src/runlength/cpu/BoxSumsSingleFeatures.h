// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsSingleFeatures_h
#define BoxSumsSingleFeatures_h

// Part of BoxSumsTileKernel.h: features of tasks that SingleQuotientsTake.
#include "texture/cpu/Simd.h"
#include "BoxSumsTileContext.h"

#if defined(VOXELMAPS_SINGLES)
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** As FeatureWriter, for matrices of one direction and output in single precision, twice as many voxels at a time.
 * Exact sums over runs come from S_k without the runs of every length:
 *   sum R_l = S_1 - S_2, sum l^2 R_l = S_1 + 2 (S_2 + S_3 + ...), since l^2 has second differences 1, 2, 2 ...,
 *   sum c(l) R_l = c(1) S_1 + sum over k > 1 of c''(k) S_k, c''(k) = c(k) - 2 c(k - 1) + c(k - 2) with c(0) = 0.
 * Only c''(2) is negative, so that no partial sum is larger than c(1) S_1, and all are exact. */
class SingleFeatureWriter
{
public:
  explicit SingleFeatureWriter(const TileContext & context)
    : m_Context(context)
    , m_Task(context.task)
    , m_Shape(context.shape)
    , m_Memory(context.memory)
    , m_ShortRunScale(SingleDivision::By(Singles() * 0.0f + static_cast<float>(context.task.scales.shortRunScale)))
    , m_WideShortRunScale(Division::By(Real() * 0.0 + context.task.scales.shortRunScale))
  {
    const double * weights = m_Task.shortRunWeights;
    for (int l = 1; l <= m_Task.directions.longestLine; ++l)
    {
      m_ShortRunWeights[l] = static_cast<float>(weights[l]);
      m_SecondDifferences[l] = weights[l] - (l > 1 ? 2.0 * weights[l - 1] : 0.0) + (l > 2 ? weights[l - 2] : 0.0);
    }
    for (int f = 0; f < RunLengthTask::maxFeatures; ++f)
    {
      m_Order[f] = static_cast<int>(m_Task.features[f < m_Task.numberOfFeatures ? f : 0]);
    }
  }

  /** Features of one matrix of every voxel of an output plane. */
  void
  FinishPlane(int d, int longest, int z) const
  {
    switch (longest)
    {
      case 1:
        return this->FinishRows<1>(d, longest, z);
      case 2:
        return this->FinishRows<2>(d, longest, z);
      case 3:
        return this->FinishRows<3>(d, longest, z);
      case 4:
        return this->FinishRows<4>(d, longest, z);
      case 5:
        return this->FinishRows<5>(d, longest, z);
      default:
        return this->FinishRows<0>(d, longest, z);
    }
  }

private:
  using Feature = RunLengthFeatureMapEnums::Feature;

  /** FinishPlane, with loops over run lengths unrolled if VLongest is not 0. */
  template <int VLongest>
  void
  FinishRows(int d, int longest, int z) const
  {
    for (int y = 0; y < m_Shape.ny; ++y)
    {
      for (int x = 0; x < m_Shape.nx; x += singlesWidth)
      {
        const std::ptrdiff_t inPlane = std::ptrdiff_t{ y } * m_Shape.nx + x;
        const std::ptrdiff_t at = z * m_Context.PlaneOutputs() + inPlane;
        Singles              values[singlesWidth];
        this->ComputeBlock<VLongest>(d, longest, at, m_Memory.SumsOffset(2, z) + inPlane, values);
        this->WriteBlock(values, d * m_Task.numberOfFeatures, x, y, z);
      }
    }
  }

  /** Every feature, so that few branches are taken; those that were not asked for are meaningless. */
  template <int VLongest>
  void
  ComputeBlock(int d, int anyLongest, std::ptrdiff_t at, std::ptrdiff_t atSums, Singles values[]) const
  {
    const int  longest = VLongest > 0 ? VLongest : anyLongest;
    const auto value = [&](Feature feature) -> Singles & { return values[static_cast<int>(feature)]; };
    const auto count = [&](int k) { return this->ReadSingles(CountWeight, k, longest, at, atSums); };
    const auto zero = Singles() * 0.0f;

    const Singles voxels = count(1);
    Singles       starts = voxels;
    Singles       next = count(2);
    const Singles numberOfRuns = starts - next;
    Singles       longerStarts = zero;
    Singles       shortRuns = zero;
    Singles       lengthNonUniformity = zero;
    for (int l = 1; l <= longest; ++l)
    {
      const Singles afterNext = count(l + 2);
      const Singles runs = starts - next - next + afterNext;
      shortRuns = SingleArithmetic::MultiplyAdd(runs, zero + m_ShortRunWeights[l], shortRuns);
      lengthNonUniformity = SingleArithmetic::MultiplyAdd(runs, runs, lengthNonUniformity);
      longerStarts += next;
      starts = next;
      next = afterNext;
    }

    const auto byRuns = SingleDivision::By(numberOfRuns);
    value(Feature::ShortRunEmphasis) =
      SingleDivision::Quotient(shortRuns, SingleDivision::ByProduct(byRuns, m_ShortRunScale));
    value(Feature::LongRunEmphasis) = SingleDivision::Quotient(voxels + longerStarts + longerStarts, byRuns);
    value(Feature::RunLengthNonUniformity) = SingleDivision::Quotient(lengthNonUniformity, byRuns);
    value(Feature::RunPercentage) = numberOfRuns / voxels;
    if (m_Task.needsLevelCounts)
    {
      const auto * nonUniformities = static_cast<const std::uint16_t *>(m_Memory.nonUniformities);
      value(Feature::GrayLevelNonUniformity) = SingleDivision::Quotient(
        ToSingles(Load<SinglesBits16>(nonUniformities + d * m_Shape.outputVoxels + at)), byRuns);
    }
    if (m_Task.needsSquares)
    {
      const Singles first = this->ReadSingles(SquareWeight, 1, longest, at, atSums);
      const Singles second = this->ReadSingles(SquareWeight, 2, longest, at, atSums);
      Singles       longer = second;
      for (int k = 3; k <= longest; ++k)
      {
        longer += this->ReadSingles(SquareWeight, k, longest, at, atSums);
      }
      value(Feature::HighGrayLevelRunEmphasis) = SingleDivision::Quotient(first - second, byRuns);
      value(Feature::LongRunHighGrayLevelEmphasis) = SingleDivision::Quotient(first + longer + longer, byRuns);
    }
    if (m_Task.needsSquares || m_Task.needsInverses)
    {
      this->ComputeWide<VLongest>(longest, at, atSums, numberOfRuns, byRuns.reciprocal, values);
    }
  }

  /** The features whose numerators need double precision. */
  template <int VLongest>
  void
  ComputeWide(int anyLongest, std::ptrdiff_t at, std::ptrdiff_t atSums, Singles runs, Singles reciprocal,
              Singles values[]) const
  {
    const int longest = VLongest > 0 ? VLongest : anyLongest;
    Floats    shortRunSquares[2];
    Floats    inverses[2];
    Floats    shortRunInverses[2];
    Floats    longRunInverses[2];
    for (int half = 0; half < 2; ++half)
    {
      const int               shift = half * simdWidth;
      const Real              wideRuns = ToReal(GetHalf(runs, half));
      const Division::Divisor byRuns{ wideRuns, RefineReciprocal(wideRuns, ToReal(GetHalf(reciprocal, half))) };
      const Division::Divisor byShortRuns = Division::ByProduct(byRuns, m_WideShortRunScale);
      const auto              toFloats = [](const Real & value) { return __builtin_convertvector(value, Floats); };
      if (m_Task.needsSquares)
      {
        Real shortRuns =
          this->ReadWide<Bits32, std::uint32_t>(SquareWeight, 1, at + shift, atSums + shift) * m_SecondDifferences[1];
        for (int k = 2; k <= longest; ++k)
        {
          shortRuns = VectorArithmetic::MultiplyAdd(
            this->ReadWide<Bits32, std::uint32_t>(SquareWeight, k, at + shift, atSums + shift),
            Real() * 0.0 + m_SecondDifferences[k],
            shortRuns);
        }
        shortRunSquares[half] = toFloats(Division::Quotient(shortRuns, byShortRuns));
      }
      if (m_Task.needsInverses)
      {
        // These sums may need more than 53 bits, so that the order of roundings counts: that of AddRunsWithLength.
        const auto sum = [&](int k) {
          return k <= longest ? Load<Bits64>(this->SumsAt<std::uint64_t>(InverseWeight, k, at + shift, atSums + shift))
                              : Bits64() * std::uint64_t{ 0 };
        };
        Bits64 starts = sum(2);
        Bits64 next = sum(3);
        Real   all = ToReal(sum(1) - starts - starts + next);
        Real   longRuns = all;
        Real   shortRuns = all * m_Task.shortRunWeights[1];
        for (int l = 2; l <= longest; ++l)
        {
          const Bits64 afterNext = sum(l + 2);
          const Real   lengthRuns = ToReal(starts - next - next + afterNext);
          all += lengthRuns;
          longRuns += lengthRuns * m_Task.lengthSquares[l];
          shortRuns += lengthRuns * m_Task.shortRunWeights[l];
          starts = next;
          next = afterNext;
        }
        inverses[half] = toFloats(Division::Quotient(all, byRuns));
        shortRunInverses[half] = toFloats(Division::Quotient(shortRuns, byShortRuns));
        longRunInverses[half] = toFloats(Division::Quotient(longRuns, byRuns));
      }
    }
    // Powers of two may be multiplied after rounding.
    const auto inverseScale = static_cast<float>(m_Task.scales.inverseScale);
    const auto value = [&](Feature feature) -> Singles & { return values[static_cast<int>(feature)]; };
    if (m_Task.needsSquares)
    {
      value(Feature::ShortRunHighGrayLevelEmphasis) = Join(shortRunSquares);
    }
    if (m_Task.needsInverses)
    {
      value(Feature::LowGrayLevelRunEmphasis) = Join(inverses) * inverseScale;
      value(Feature::ShortRunLowGrayLevelEmphasis) = Join(shortRunInverses) * inverseScale;
      value(Feature::LongRunLowGrayLevelEmphasis) = Join(longRunInverses) * inverseScale;
    }
  }

  /** S_k of a weight with sums of 32 bits; 0 for k > longest. */
  Singles
  ReadSingles(int weight, int k, int longest, std::ptrdiff_t at, std::ptrdiff_t atSums) const
  {
    return k <= longest ? ToSingles(Load<SinglesSigned32>(this->SumsAt<std::int32_t>(weight, k, at, atSums)))
                        : Singles() * 0.0f;
  }
  template <typename TBits, typename T>
  Real
  ReadWide(int weight, int k, std::ptrdiff_t at, std::ptrdiff_t atSums) const
  {
    return ToReal(Load<TBits>(this->SumsAt<T>(weight, k, at, atSums)));
  }
  template <typename T>
  const T *
  SumsAt(int weight, int k, std::ptrdiff_t at, std::ptrdiff_t atSums) const
  {
    return k == 1 ? static_cast<const T *>(m_Memory.firstSums[weight]) + at
                  : static_cast<const T *>(m_Memory.sums[weight]) + (k - 2) * m_Context.PlaneOutputs() + atSums;
  }

  /** Write the selected features to the output, from component `first` on. */
  void
  WriteBlock(const Singles values[], int first, int x, int y, int z) const
  {
    const std::ptrdiff_t voxelStride = m_Task.voxelStride;
    const std::ptrdiff_t stride = m_Task.componentStride;
    const int            features = m_Task.numberOfFeatures;
    const int            voxels = m_Context.tile.size[0] - x < singlesWidth ? m_Context.tile.size[0] - x : singlesWidth;
    if (voxels <= 0)
    {
      // Rows of the tile are rounded up by more than a block.
      return;
    }
    const std::int64_t voxel = m_Context.OutputVoxel(y, z) + x;
    float *            out = static_cast<float *>(m_Task.output) + voxel * voxelStride + first * stride;
    if (first == 0 && !m_Task.IsPlanar())
    {
      const std::size_t blockBytes = sizeof(float) * singlesWidth * static_cast<std::size_t>(voxelStride);
      // The first direction brings the output into the cache, in steps that the processor does not foresee in time.
      PrefetchForWriting(reinterpret_cast<std::uintptr_t>(out) + 2 * blockBytes, blockBytes);
    }
    if (m_Task.IsPlanar())
    {
      for (int f = 0; f < features; ++f)
      {
        std::memcpy(out + f * stride, values + m_Order[f], sizeof(float) * static_cast<std::size_t>(voxels));
      }
    }
    else
    {
      StoreInterleaved(values, m_Order, features, out, voxelStride, voxels);
    }

    const std::uint16_t * centers = m_Context.CenterRow(y, z) + x;
    if (m_Task.selection != nullptr || HasZero(Load<SinglesBits16>(centers)))
    {
      const auto background = static_cast<float>(m_Task.backgroundValue);
      for (int i = 0; i < voxels; ++i)
      {
        if (centers[i] == 0 || !m_Task.IsSelected(voxel + i))
        {
          for (int f = 0; f < features; ++f)
          {
            out[i * voxelStride + f * stride] = background;
          }
        }
      }
    }
  }

  const TileContext &           m_Context;
  const BoxSumsTask &           m_Task;
  const TileShape &             m_Shape;
  const TileMemory &            m_Memory;
  const SingleDivision::Divisor m_ShortRunScale;
  const Division::Divisor       m_WideShortRunScale;
  float                         m_ShortRunWeights[maxSinglePrecisionLength + 1];
  double                        m_SecondDifferences[maxSinglePrecisionLength + 1];
  int                           m_Order[RunLengthTask::maxFeatures];
};
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
#endif

#endif // BoxSumsSingleFeatures_h
