// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsFeatures_h
#define BoxSumsFeatures_h

// Part of BoxSumsTileKernel.h: features from sums, and their way into the output.
#include "window/cpu/Simd.h"
#include "BoxSumsTileContext.h"

#include <type_traits>
#include <utility>

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** From the sums of a tile to features in the output. */
class FeatureWriter
{
public:
  explicit FeatureWriter(const TileContext & context)
    : m_Context(context)
    , m_Task(context.task)
    , m_Shape(context.shape)
    , m_Memory(context.memory)
  {}

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

  void
  WriteAverages() const
  {
    const Real zero = Real() * 0.0;
    const Real directions = zero + static_cast<double>(m_Task.directions.number);
    int        order[RunLengthFeatureMapEnums::NumberOfFeatures];
    for (int f = 0; f < m_Task.numberOfFeatures; ++f)
    {
      order[f] = f;
    }
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int y = 0; y < m_Shape.ny; ++y)
      {
        for (int x = 0; x < m_Shape.nx; x += simdWidth)
        {
          const std::ptrdiff_t at = z * m_Context.PlaneOutputs() + std::ptrdiff_t{ y } * m_Shape.nx + x;
          const double *       from = m_Memory.averages + at;
          const Real           voxels = this->Voxels(at);
          Real                 values[RunLengthFeatureMapEnums::NumberOfFeatures];
          for (int f = 0; f < m_Task.numberOfFeatures; ++f, from += m_Shape.outputVoxels)
          {
            values[f] =
              RunLengthAverage<Real, Division>(m_Task.features[f], Load<Real>(from), voxels, directions, m_Task.scales);
          }
          this->WriteBlock(values, order, 0, x, y, z);
        }
      }
    }
  }

  void
  WriteBackground() const
  {
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int y = 0; y < m_Shape.ny; ++y)
      {
        for (int x = 0; x < m_Context.tile.size[0]; ++x)
        {
          const std::int64_t out = (m_Context.OutputVoxel(y, z) + x) * m_Task.voxelStride;
          for (int c = 0; c < m_Task.numberOfComponents; ++c)
          {
            StoreComponent(m_Task, out, c, m_Task.backgroundValue);
          }
        }
      }
    }
  }

private:
  /** FinishPlane, with loops over run lengths unrolled if VLongest is not 0. */
  template <int VLongest>
  void
  FinishRows(int d, int longest, int z) const
  {
    const bool merge = m_Task.aggregation == BoxSumsTask::Aggregation::Merge;
    const bool average = m_Task.aggregation == BoxSumsTask::Aggregation::Average;
    const int  features = m_Task.numberOfFeatures;
    const Real zero = Real() * 0.0;
    const auto shortRunScale = Division::By(zero + m_Task.scales.shortRunScale);
    int        order[RunLengthFeatureMapEnums::NumberOfFeatures];
    for (int f = 0; f < features; ++f)
    {
      order[f] = static_cast<int>(m_Task.features[f]);
    }

    for (int y = 0; y < m_Shape.ny; ++y)
    {
      for (int x = 0; x < m_Shape.nx; x += simdWidth)
      {
        const std::ptrdiff_t inPlane = std::ptrdiff_t{ y } * m_Shape.nx + x;
        const std::ptrdiff_t at = z * m_Context.PlaneOutputs() + inPlane;
        const std::ptrdiff_t matrixAt = (merge ? 0 : d * m_Shape.outputVoxels) + at;

        RunLengthSums<Real> sums{};
        this->AddRuns<VLongest>(at, m_Memory.SumsOffset(2, z) + inPlane, longest, sums);
        sums.levelNonUniformity = m_Task.needsLevelCounts ? this->LevelNonUniformity(matrixAt) : zero;
        sums.entropy = m_Task.needsEntropy ? this->Entropy(sums.runs, matrixAt) : zero;

        Real all[RunLengthFeatureMapEnums::NumberOfFeatures];
        if (average)
        {
          const Real reciprocal = Division::Reciprocal(sums.runs);
          ForEachFeature(
            [&](auto feature) { all[static_cast<int>(feature())] = RunLengthAverageTerm(feature(), sums, reciprocal); },
            AllFeatures());
          double * to = m_Memory.averages + at;
          for (int f = 0; f < features; ++f, to += m_Shape.outputVoxels)
          {
            const Real sum = d > 0 ? Load<Real>(to) + all[order[f]] : all[order[f]];
            std::memcpy(to, &sum, sizeof(Real));
          }
        }
        else
        {
          const RunLengthDivisors<Real, Division> by(sums, shortRunScale);
          ForEachFeature(
            [&](auto feature) {
              all[static_cast<int>(feature())] = RunLengthFeatureValue(feature(), sums, by, m_Task.scales);
            },
            AllFeatures());
          this->WriteBlock(all, order, merge ? 0 : d * features, x, y, z);
        }
      }
    }
  }

  /** Sums over the runs of simdWidth windows, from S_k. */
  template <int VLongest>
  void
  AddRuns(std::ptrdiff_t at, std::ptrdiff_t atSums, int anyLongest, RunLengthSums<Real> & sums) const
  {
    const bool           merge = m_Task.aggregation == BoxSumsTask::Aggregation::Merge;
    const int            directions = merge ? m_Task.directions.number : 1;
    const std::ptrdiff_t stride = merge ? m_Shape.outputVoxels : m_Context.PlaneOutputs();
    const int            longest = VLongest > 0 ? VLongest : anyLongest;
    const auto           makeRuns = [&](auto type, int c) {
      return decltype(type)(this->FirstSum(c, at), this->Sum(c, atSums), stride, longest, directions);
    };

    ClearRuns(sums);
    sums.voxels = this->Voxels(at) * double(directions);
    auto       runs = makeRuns(LengthRuns32(), CountWeight);
    const auto addRuns = [&](auto && getSquares, auto && getInverses) {
      for (int l = 1; l <= longest; ++l)
      {
        AddRunsWithLength(
          sums, m_Task.lengthSquares[l], m_Task.shortRunWeights[l], runs.Of(l), getSquares.Of(l), getInverses.Of(l));
      }
    };
    const auto addWithSquares = [&](auto && getSquares) {
      if (m_Task.needsInverses)
      {
        addRuns(getSquares, makeRuns(LengthRuns64(), InverseWeight));
      }
      else
      {
        addRuns(getSquares, NoRuns());
      }
    };
    if (m_Task.needsSquares && m_Task.wideSquares)
    {
      addWithSquares(makeRuns(LengthRuns64(), SquareWeight));
    }
    else if (m_Task.needsSquares)
    {
      addWithSquares(makeRuns(LengthRuns32(), SquareWeight));
    }
    else
    {
      addWithSquares(NoRuns());
    }

    sums.levelVariance = Real() * 0.0;
    if (m_Task.needsLevelSum)
    {
      auto levels = makeRuns(LengthRuns32(), LevelWeight);
      Real levelSum = Real() * 0.0;
      for (int l = 1; l <= longest; ++l)
      {
        levelSum += levels.Of(l);
      }
      sums.levelVariance = sums.runs * sums.squares - levelSum * levelSum;
    }
  }

  /** t(runs) less the sum of t over the cells of the matrix. */
  Real
  Entropy(Real runs, std::ptrdiff_t at) const
  {
    double voxelValues[simdWidth];
    std::memcpy(voxelValues, &runs, sizeof(voxelValues));
    std::uint64_t difference[simdWidth];
    for (int i = 0; i < simdWidth; ++i)
    {
      difference[i] =
        static_cast<std::uint64_t>(m_Task.entropyTable[static_cast<int>(voxelValues[i])]) - m_Memory.entropies[at + i];
    }
    return ToReal(Load<Bits64>(difference));
  }

  /** Runs of length l from S_l, S_(l+1), S_(l+2), read while going up in l. */
  template <typename TBits, typename T>
  class LengthRuns
  {
  public:
    LengthRuns() = default;
    LengthRuns(const void * first, const void * sums, std::ptrdiff_t stride, int longest, int directions)
      : m_Sums(static_cast<const T *>(sums))
      , m_Stride(stride)
      , m_Longest(longest)
      , m_This(Load<TBits>(static_cast<const T *>(first)) * static_cast<T>(directions))
      , m_Next(this->Read(2))
    {}
    Real
    Of(int l)
    {
      const TBits afterNext = this->Read(l + 2);
      const TBits runs = m_This - m_Next - m_Next + afterNext;
      m_This = m_Next;
      m_Next = afterNext;
      return ToReal(runs);
    }

  private:
    TBits
    Read(int k) const
    {
      return k <= m_Longest ? Load<TBits>(m_Sums + (k - 2) * m_Stride) : TBits() * T{ 0 };
    }
    const T *      m_Sums{ nullptr };
    std::ptrdiff_t m_Stride{ 0 };
    int            m_Longest{ 0 };
    TBits          m_This{};
    TBits          m_Next{};
  };
  struct NoRuns
  {
    Real
    Of(int) const
    {
      return Real() * 0.0;
    }
  };
  using LengthRuns32 = LengthRuns<Bits32, std::uint32_t>;
  using LengthRuns64 = LengthRuns<Bits64, std::uint64_t>;

  const void *
  FirstSum(int weight, std::ptrdiff_t at) const
  {
    return static_cast<const char *>(m_Memory.firstSums[weight]) + at * WeightBytes(m_Task, weight);
  }
  const void *
  Sum(int weight, std::ptrdiff_t at) const
  {
    return static_cast<const char *>(m_Memory.sums[weight]) + at * WeightBytes(m_Task, weight);
  }

  Real
  Voxels(std::ptrdiff_t at) const
  {
    return ToReal(Load<Bits32>(static_cast<const std::uint32_t *>(this->FirstSum(CountWeight, at))));
  }

  Real
  LevelNonUniformity(std::ptrdiff_t at) const
  {
    switch (LevelCountBytes(m_Task))
    {
      case 1:
        return ToReal(Load<Bits16>(static_cast<const std::uint16_t *>(m_Memory.nonUniformities) + at));
      case 2:
      {
        // May exceed 2^31, so the signed conversion is not for it.
        double values[simdWidth];
        for (int i = 0; i < simdWidth; ++i)
        {
          values[i] = static_cast<const std::uint32_t *>(m_Memory.nonUniformities)[at + i];
        }
        return Load<Real>(values);
      }
      default:
        return ToReal(Load<Bits64>(static_cast<const std::uint64_t *>(m_Memory.nonUniformities) + at));
    }
  }

  /** Every feature, so that there is no branch per voxel; those that were not asked for are meaningless. */
  template <typename TEvaluate, int... VFeatures>
  static void
  ForEachFeature(const TEvaluate & evaluate, std::integer_sequence<int, VFeatures...>)
  {
    using Feature = RunLengthFeatureMapEnums::Feature;
    (evaluate(std::integral_constant<Feature, static_cast<Feature>(VFeatures)>()), ...);
  }
  using AllFeatures = std::make_integer_sequence<int, RunLengthFeatureMapEnums::NumberOfFeatures>;

  /** Write values[order[f]], f = 0, 1 ..., of simdWidth voxels to the output, from component `first` on. */
  void
  WriteBlock(const Real values[], const int order[], int first, int x, int y, int z) const
  {
    if (m_Task.outputIsDouble)
    {
      this->WriteBlockAs<double>(values, order, first, x, y, z);
    }
    else
    {
      this->WriteBlockAs<float>(values, order, first, x, y, z);
    }
  }

  template <typename TOutput>
  void
  WriteBlockAs(const Real values[], const int order[], int first, int x, int y, int z) const
  {
    const std::ptrdiff_t  voxelStride = m_Task.voxelStride;
    const std::ptrdiff_t  stride = m_Task.componentStride;
    const int             features = m_Task.numberOfFeatures;
    const int             voxels = m_Context.tile.size[0] - x < simdWidth ? m_Context.tile.size[0] - x : simdWidth;
    const std::uint16_t * centers = m_Context.CenterRow(y, z) + x;
    const std::int64_t    voxel = m_Context.OutputVoxel(y, z) + x;
    TOutput *             out = static_cast<TOutput *>(m_Task.output) + voxel * voxelStride + first * stride;
    const auto            background = static_cast<TOutput>(m_Task.backgroundValue);

    for (int f = 0; f < features; ++f)
    {
      double voxelValues[simdWidth];
      std::memcpy(voxelValues, values + order[f], sizeof(voxelValues));
      TOutput * const to = out + f * stride;
      if (m_Task.IsPlanar())
      {
        for (int i = 0; i < voxels; ++i)
        {
          to[i] = static_cast<TOutput>(voxelValues[i]);
        }
      }
      else
      {
        for (int i = 0; i < voxels; ++i)
        {
          to[i * voxelStride] = static_cast<TOutput>(voxelValues[i]);
        }
      }
    }
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

  const TileContext & m_Context;
  const BoxSumsTask & m_Task;
  const TileShape &   m_Shape;
  const TileMemory &  m_Memory;
};
} // namespace
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps

#endif // BoxSumsFeatures_h
