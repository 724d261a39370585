// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/ParallelFor.h"
#include "discretization/GrayLevelJob.h"
#include "preprocess/ResamplePixel.h"
#include "preprocess/ResamplePlan.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace voxelmaps
{
namespace
{
/** Samples of so many lines, in which compilers use vectors. */
constexpr std::int64_t numberOfLanes = 8;
struct Lanes
{
  double values[numberOfLanes];
};

template <typename TGetValue>
Lanes
MakeLanes(const TGetValue & getValue)
{
  Lanes result;
  for (std::int64_t i = 0; i < numberOfLanes; ++i)
  {
    result.values[i] = getValue(i);
  }
  return result;
}
inline Lanes
operator+(const Lanes & a, const Lanes & b)
{
  return MakeLanes([&](std::int64_t i) { return a.values[i] + b.values[i]; });
}
inline Lanes
operator-(const Lanes & a, const Lanes & b)
{
  return MakeLanes([&](std::int64_t i) { return a.values[i] - b.values[i]; });
}
inline Lanes
operator*(double a, const Lanes & b)
{
  return MakeLanes([&](std::int64_t i) { return a * b.values[i]; });
}
inline Lanes
operator/(const Lanes & a, double b)
{
  return MakeLanes([&](std::int64_t i) { return a.values[i] / b; });
}

inline void
CopyLanes(double * to, const double * from, std::size_t count)
{
  // A constant size needs no call.
  count == numberOfLanes ? std::memcpy(to, from, sizeof(Lanes)) : std::memcpy(to, from, count * sizeof(double));
}

/** Computes a job. What is not copied is computed from a buffer of doubles, which has the box for all z of the padded
 * one.
 */
class Resampler
{
public:
  explicit Resampler(const ResampleImageJob & job)
    : m_Job(job)
    , m_Plan(MakeResamplePlan(job))
  {}

  void
  Run()
  {
    if (m_Plan.numberOfOutputVoxels == 0)
    {
      return;
    }
    if (!m_Plan.isCopy && !m_Plan.IsEmpty())
    {
      this->AllocateBuffer();
      this->LoadPlanes();
      this->FilterAlongZ();
    }
    if (m_Plan.isSeparable)
    {
      this->MakeTables();
    }
    const Triple & size = m_Job.outputGrid.size;
    VisitPixelType(m_Job.outputType, [&](auto pixel) {
      using TPixel = decltype(pixel);
      ForEachTask(size[1] * size[2], m_Job.execution, [&](unsigned int) {
        return [&, sums = std::vector<double>(static_cast<std::size_t>(size[0]))](std::int64_t row) mutable {
          m_Job.execution.CheckAbort();
          TPixel * const output = static_cast<TPixel *>(m_Job.output) + row * size[0];
          std::fill(output, output + size[0], static_cast<TPixel>(m_Job.defaultValue));
          if (!m_Plan.IsEmpty())
          {
            m_Plan.isSeparable ? this->ComputeSeparableRow(row % size[1], row / size[1], sums.data(), output)
                               : this->ComputeRow(row % size[1], row / size[1], output);
          }
          m_Job.execution.ReportProgress(static_cast<std::uint64_t>(size[0]));
        };
      });
    });
  }

private:
  void
  AllocateBuffer()
  {
    const Triple size{ { m_Plan.boxSize[0], m_Plan.boxSize[1], m_Plan.paddedSize[2] } };
    const auto   count = static_cast<std::size_t>(size[0] * size[1] * size[2]);
    m_Buffer.reset(new (std::nothrow) double[count]);
    if (m_Buffer == nullptr)
    {
      throw EngineError(GetResampleMemoryError(size));
    }
    UseHugePages(m_Buffer.get(), count * sizeof(double));
    m_Source.rowStride = size[0];
    m_Source.planeStride = size[0] * size[1];
    m_Source.values = m_Buffer.get() + (m_Plan.boxIndex[2] - m_Plan.paddedIndex[2]) * m_Source.planeStride;
    std::copy(m_Plan.boxIndex.begin(), m_Plan.boxIndex.end(), m_Source.boxIndex);
  }

  /** Fill the buffer with planes that are filtered along x and y. */
  void
  LoadPlanes()
  {
    ForEachTask(m_Plan.paddedSize[2], m_Job.execution, [&](unsigned int) {
      const auto length = static_cast<std::size_t>(std::max(m_Plan.paddedSize[0], m_Plan.paddedSize[1]));
      const auto rows = static_cast<std::size_t>(m_Source.rowStride * m_Plan.paddedSize[1]);
      return [&, plane = std::vector<double>(rows), lanes = std::vector<Lanes>(length)](std::int64_t z) mutable {
        for (std::int64_t y = 0; y < m_Plan.paddedSize[1]; y += numberOfLanes)
        {
          m_Job.execution.CheckAbort();
          VisitPixelType(m_Job.pixelType, [&](auto pixel) {
            this->LoadRows<decltype(pixel)>(y, z, lanes.data(), plane.data() + y * m_Source.rowStride);
          });
        }
        this->FilterLines(1, plane.data(), m_Source.rowStride, lanes.data(), m_Buffer.get() + z * m_Source.planeStride);
      };
    });
  }

  /** Filter rows of the padded box along x, and write their part in the box to a plane. */
  template <typename TPixel>
  void
  LoadRows(std::int64_t firstY, std::int64_t z, Lanes * lanes, double * to) const
  {
    const Triple &     size = m_Job.inputGrid.size;
    const std::int64_t count = std::min(numberOfLanes, m_Plan.paddedSize[1] - firstY);
    std::int64_t       numbers[numberOfLanes];
    for (std::int64_t lane = 0; lane < numberOfLanes; ++lane)
    {
      // Lanes behind the last row have its pixels.
      const std::int64_t y = m_Plan.paddedIndex[1] + firstY + std::min(lane, count - 1);
      numbers[lane] = ((m_Plan.paddedIndex[2] + z) * size[1] + y) * size[0] + m_Plan.paddedIndex[0];
    }
    const TPixel * const pixels = static_cast<const TPixel *>(m_Job.pixels);
    Lanes                zeros{};
    for (std::int64_t x = 0; x < m_Plan.paddedSize[0]; ++x)
    {
      for (std::int64_t lane = 0; lane < numberOfLanes; ++lane)
      {
        const auto value = static_cast<double>(pixels[numbers[lane] + x]);
        lanes[x].values[lane] = value;
        zeros.values[lane] += value * 0.0;
      }
    }
    if (m_Plan.hasPoles)
    {
      for (std::int64_t lane = 0; lane < count; ++lane)
      {
        for (std::int64_t x = 0; zeros.values[lane] != 0.0 && x < m_Plan.paddedSize[0]; ++x)
        {
          const double value = lanes[x].values[lane];
          if (!std::isfinite(value))
          {
            ThrowNonfinitePixel(m_Job, numbers[lane] + x, value);
          }
        }
      }
    }
    FilterSplineLine(m_Plan.filters[0], [lanes](std::int64_t n) -> Lanes & { return lanes[n]; });
    const std::int64_t skipped = m_Plan.boxIndex[0] - m_Plan.paddedIndex[0];
    for (std::int64_t x = 0; x < m_Plan.boxSize[0]; ++x)
    {
      for (std::int64_t lane = 0; lane < count; ++lane)
      {
        to[lane * m_Source.rowStride + x] = lanes[skipped + x].values[lane];
      }
    }
  }

  void
  FilterAlongZ()
  {
    if (m_Plan.filters[2].numberOfPoles > 0)
    {
      ForEachTask(m_Plan.boxSize[1], m_Job.execution, [&](unsigned int) {
        return [&, lanes = std::vector<Lanes>(static_cast<std::size_t>(m_Plan.paddedSize[2]))](std::int64_t y) mutable {
          m_Job.execution.CheckAbort();
          double * const row = m_Buffer.get() + y * m_Source.rowStride;
          const auto     first = (m_Plan.boxIndex[2] - m_Plan.paddedIndex[2]) * m_Source.planeStride;
          this->FilterLines(2, row, m_Source.planeStride, lanes.data(), row + first);
        };
      });
    }
  }

  /** Filter the lines along an axis that begin in a row, and write their part in the box. */
  void
  FilterLines(int axis, const double * from, std::int64_t stride, Lanes * lanes, double * to) const
  {
    const SplineFilter & filter = m_Plan.filters[axis];
    const std::int64_t   skipped = m_Plan.boxIndex[axis] - m_Plan.paddedIndex[axis];
    for (std::int64_t x = 0; x < m_Plan.boxSize[0]; x += numberOfLanes)
    {
      const auto count = static_cast<std::size_t>(std::min(numberOfLanes, m_Plan.boxSize[0] - x));
      for (std::int64_t n = 0; n < filter.length; ++n)
      {
        CopyLanes(lanes[n].values, from + n * stride + x, count);
      }
      FilterSplineLine(filter, [lanes](std::int64_t n) -> Lanes & { return lanes[n]; });
      for (std::int64_t n = 0; n < m_Plan.boxSize[axis]; ++n)
      {
        CopyLanes(to + n * stride + x, lanes[skipped + n].values, count);
      }
    }
  }

  /** What an axis of the output depends on, if the map is separable. */
  void
  MakeTables()
  {
    const RowOfIndices firstRow = m_Plan.map.GetRow(0, 0);
    for (int axis = 0; axis < 3; ++axis)
    {
      Table &            table = m_Tables[axis];
      const std::int64_t count = m_Job.outputGrid.size[axis];
      table.taps.resize(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i)
      {
        const double index = axis == 0 ? m_Plan.map.GetIndex(firstRow, i, 0)
                                       : (axis == 1 ? m_Plan.map.GetRow(i, 0) : m_Plan.map.GetRow(0, i)).start[axis];
        if (IsInsideAxis(index, m_Plan.formula.size[axis]))
        {
          table.begin = table.end == 0 ? i : table.begin;
          table.end = i + 1;
          table.taps[static_cast<std::size_t>(i)] = m_Plan.formula.GetTaps(axis, index, m_Source.boxIndex[axis]);
        }
      }
    }
    const Table & alongX = m_Tables[0];
    const auto    count = alongX.taps.size();
    m_IndicesAlongX.resize(count * maxNumberOfTaps);
    m_WeightsAlongX.resize(count * maxNumberOfTaps);
    for (std::size_t i = 0; i < count * maxNumberOfTaps; ++i)
    {
      m_IndicesAlongX[i] = alongX.taps[i % count].index[i / count];
      m_WeightsAlongX[i] = alongX.taps[i % count].weight[i / count];
    }
  }

  template <typename TPixel>
  void
  ComputeSeparableRow(std::int64_t y, std::int64_t z, double * sums, TPixel * output) const
  {
    const Table & alongX = m_Tables[0];
    if (!m_Tables[1].Contains(y) || !m_Tables[2].Contains(z))
    {
      return;
    }
    const AxisTaps &           ofY = m_Tables[1].taps[static_cast<std::size_t>(y)];
    const AxisTaps &           ofZ = m_Tables[2].taps[static_cast<std::size_t>(z)];
    const std::int64_t * const indices = m_IndicesAlongX.data();
    if (m_Plan.isCopy)
    {
      const Triple &       size = m_Job.inputGrid.size;
      const TPixel * const row =
        static_cast<const TPixel *>(m_Job.pixels) + (ofZ.index[0] * size[1] + ofY.index[0]) * size[0];
      for (std::int64_t x = alongX.begin; x < alongX.end; ++x)
      {
        output[x] = row[indices[x]];
      }
      return;
    }
    if (m_Plan.formula.isLinear)
    {
      for (std::int64_t x = alongX.begin; x < alongX.end; ++x)
      {
        const AxisTaps taps[3]{ alongX.taps[static_cast<std::size_t>(x)], ofY, ofZ };
        sums[x] = m_Plan.formula.GetValue(m_Source, taps);
      }
    }
    else
    {
      std::fill(sums + alongX.begin, sums + alongX.end, 0.0);
      switch (m_Plan.formula.numberOfTaps[0])
      {
        case 1:
          this->SumRow<1>(ofY, ofZ, sums);
          break;
        case 2:
          this->SumRow<2>(ofY, ofZ, sums);
          break;
        case 3:
          this->SumRow<3>(ofY, ofZ, sums);
          break;
        case 4:
          this->SumRow<4>(ofY, ofZ, sums);
          break;
        case 5:
          this->SumRow<5>(ofY, ofZ, sums);
          break;
        default:
          this->SumRow<6>(ofY, ofZ, sums);
      }
    }
    for (std::int64_t x = alongX.begin; x < alongX.end; ++x)
    {
      output[x] = ConvertTo<TPixel>(sums[x]);
    }
  }

  /** The sums of ResampleFormula::GetValue of a row, term by term, so that compilers use vectors. */
  template <int VNumberOfTaps>
  void
  SumRow(const AxisTaps & ofY, const AxisTaps & ofZ, double * sums) const
  {
    const auto                 count = static_cast<std::int64_t>(m_Tables[0].taps.size());
    const std::int64_t * const indices = m_IndicesAlongX.data();
    const double * const       weights = m_WeightsAlongX.data();
    const std::int64_t         begin = m_Tables[0].begin;
    const std::int64_t         end = m_Tables[0].end;
    for (int kz = 0; kz < m_Plan.formula.numberOfTaps[2]; ++kz)
    {
      for (int ky = 0; ky < m_Plan.formula.numberOfTaps[1]; ++ky)
      {
        const double * const row =
          m_Source.values + ofZ.index[kz] * m_Source.planeStride + ofY.index[ky] * m_Source.rowStride;
        const double ofRow[2]{ ofY.weight[ky], ofZ.weight[kz] };
        for (std::int64_t x = begin; x < end; ++x)
        {
          double sum = sums[x];
          for (int kx = 0; kx < VNumberOfTaps; ++kx)
          {
            sum += weights[kx * count + x] * ofRow[0] * ofRow[1] * row[indices[kx * count + x]];
          }
          sums[x] = sum;
        }
      }
    }
  }

  template <typename TPixel>
  void
  ComputeRow(std::int64_t y, std::int64_t z, TPixel * output) const
  {
    const RowOfIndices      row = m_Plan.map.GetRow(y, z);
    const ResampleFormula & formula = m_Plan.formula;
    for (std::int64_t x = 0; x < m_Job.outputGrid.size[0]; ++x)
    {
      double index[3];
      bool   isInside = true;
      for (int axis = 0; axis < 3; ++axis)
      {
        index[axis] = m_Plan.map.GetIndex(row, x, axis);
        isInside = isInside && IsInsideAxis(index[axis], formula.size[axis]);
      }
      if (!isInside)
      {
        continue;
      }
      AxisTaps taps[3];
      for (int axis = 0; axis < 3; ++axis)
      {
        taps[axis] = formula.GetTaps(axis, index[axis], m_Source.boxIndex[axis]);
      }
      if (m_Plan.isCopy)
      {
        output[x] = static_cast<const TPixel *>(
          m_Job.pixels)[(taps[2].index[0] * formula.size[1] + taps[1].index[0]) * formula.size[0] + taps[0].index[0]];
        continue;
      }
      output[x] = ConvertTo<TPixel>(formula.GetValue(m_Source, taps));
    }
  }

  /** Taps of the voxels of an axis of the output; those in the image are begin ... end - 1. */
  struct Table
  {
    std::vector<AxisTaps> taps;
    std::int64_t          begin{ 0 };
    std::int64_t          end{ 0 };

    bool
    Contains(std::int64_t i) const
    {
      return i >= begin && i < end;
    }
  };

  const ResampleImageJob &  m_Job;
  const ResamplePlan        m_Plan;
  std::unique_ptr<double[]> m_Buffer;
  ResampleSource            m_Source{};
  Table                     m_Tables[3];
  // Tap by tap.
  std::vector<std::int64_t> m_IndicesAlongX;
  std::vector<double>       m_WeightsAlongX;
};
} // namespace

void
ResampleImage(const ResampleImageJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  Resampler(job).Run();
}
} // namespace voxelmaps
