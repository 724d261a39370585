// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WeightedCooccurrence_h
#define WeightedCooccurrence_h

#include "common/Log2.h"
#include "glcm/Cooccurrence.h"
#include "glcm/MaximalCorrelation.h"
#include "window/Walk.h"
#include "window/WindowLevels.h"

/** Merged matrices whose pairs have the weights of their offsets. One text for host and device.
 *
 * Weights are real numbers of any magnitude, so these matrices hold doubles: all sums are added in the order of the
 * loops below, from 0. The order of pairs is that of the first voxel, x fastest, then of the offsets; that of cells is
 * by rows in rising order of levels. Compile with contraction off, and all compilers give the same bits. */
namespace voxelmaps
{
/** A walk: computes windows one after the other, in memory of its own. */
class WeightedCooccurrence : public WindowWalk<CooccurrenceTask, true>
{
public:
  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    const auto levels = static_cast<std::uint64_t>(MaxWindowLevels(task));
    return (3 * levels + levels * levels + CorrelationNumbers(task) + NumberOfSums(task) + NumberOfDifferences(task)) *
           sizeof(double);
  }

  /** The team is unused: a thread computes windows on its own. */
  template <typename TTeam>
  VOXELMAPS_HOST_DEVICE
  WeightedCooccurrence(const Task & task, const TTeam &, void * workspace)
    : m_Task(task)
    , m_Levels(static_cast<double *>(workspace))
    , m_MaxLevels(MaxWindowLevels(task))
    , m_Rows(static_cast<double *>(workspace) + m_MaxLevels)
    , m_Columns(m_Rows + m_MaxLevels)
    , m_Cells(m_Columns + m_MaxLevels)
    , m_Correlation(m_Cells + std::int64_t{ m_MaxLevels } * m_MaxLevels)
    , m_Sums(m_Correlation + CorrelationNumbers(task))
    , m_Differences(m_Sums + NumberOfSums(task))
  {
    for (std::uint64_t i = 0; i < NumberOfSums(task) + NumberOfDifferences(task); ++i)
    {
      m_Sums[i] = 0.0;
    }
  }

  /** Compute one output voxel, counted x fastest. */
  VOXELMAPS_HOST_DEVICE void
  Compute(std::int64_t number)
  {
    const WindowBox window = WindowBox::At(m_Task, number);
    const double    total = window.isComputed ? this->AddPairs(window) : 0.0;
    if (total > 0.0)
    {
      this->Normalize(total);
      this->AddCells();
    }
    for (int f = 0; f < m_Task.numberOfFeatures; ++f)
    {
      const double value = !window.isComputed ? m_Task.backgroundValue
                           : total > 0.0      ? m_Values[static_cast<int>(m_Task.features[f])]
                                              : m_Task.emptyValue;
      StoreComponentOrNaN(m_Task, number * m_Task.voxelStride, f, value);
    }
  }

private:
  using Correlation = MaximalCorrelation<double, SerialLane>;
  using Feature = Task::Feature;

  /** Two numbers per row and column, and a triangle. */
  static VOXELMAPS_HOST_DEVICE std::uint64_t
                               CorrelationNumbers(const Task & task)
  {
    const auto levels = static_cast<std::uint64_t>(MaxWindowLevels(task));
    return task.needsMaximalCorrelation ? 4 * levels + levels * (levels + 1) / 2 : 0;
  }
  static VOXELMAPS_HOST_DEVICE std::uint64_t
                               NumberOfSums(const Task & task)
  {
    return task.needsSumCounts ? 2 * static_cast<std::uint64_t>(task.numberOfGrayLevels) + 1 : 0;
  }
  static VOXELMAPS_HOST_DEVICE std::uint64_t
                               NumberOfDifferences(const Task & task)
  {
    return task.needsDifferenceCounts ? static_cast<std::uint64_t>(task.numberOfGrayLevels) : 0;
  }

  VOXELMAPS_HOST_DEVICE double &
  Cell(int i, int j)
  {
    return m_Cells[i * m_Number + j];
  }

  /** Fill the matrix; returns the sum of its cells. */
  VOXELMAPS_HOST_DEVICE double
  AddPairs(const WindowBox & window)
  {
    m_Levels.Collect(m_Task, window);
    m_Number = m_Levels.Number();
    for (int i = 0; i < m_Number * m_Number; ++i)
    {
      m_Cells[i] = 0.0;
    }
    for (int z = 0; z < window.size[2]; ++z)
    {
      for (int y = 0; y < window.size[1]; ++y)
      {
        for (int x = 0; x < window.size[0]; ++x)
        {
          const int a = window.Level(m_Task, x, y, z);
          if (a == 0)
          {
            continue;
          }
          const int i = m_Levels.GetRank(a);
          for (int offset = 0; offset < m_Task.numberOfOffsets; ++offset)
          {
            const auto & step = m_Task.offsets[offset].step;
            const int    b = window.Level(m_Task, x + step[0], y + step[1], z + step[2]);
            if (b == 0)
            {
              continue;
            }
            const int    j = m_Levels.GetRank(b);
            const double weight = m_Task.offsetWeights[offset];
            this->Cell(i, j) += weight;
            if (m_Task.scales.symmetric)
            {
              this->Cell(j, i) += weight;
            }
          }
        }
      }
    }
    double total = 0.0;
    for (int i = 0; i < m_Number * m_Number; ++i)
    {
      total += m_Cells[i];
    }
    return total;
  }

  /** Divide by the sum of the cells, and add rows and columns. */
  VOXELMAPS_HOST_DEVICE void
  Normalize(double total)
  {
    for (int i = 0; i < m_Number; ++i)
    {
      m_Rows[i] = 0.0;
      m_Columns[i] = 0.0;
    }
    for (int i = 0; i < m_Number; ++i)
    {
      for (int j = 0; j < m_Number; ++j)
      {
        const double p = this->Cell(i, j) / total;
        this->Cell(i, j) = p;
        m_Rows[i] += p;
        m_Columns[j] += p;
      }
    }
  }

  /** Mean, variance and entropy of the levels of rows or columns; the latter two are 0 if there is one level. */
  struct Marginal
  {
    double mean, variance, entropy;
  };

  VOXELMAPS_HOST_DEVICE Marginal
  GetMarginal(const double * probabilities) const
  {
    int    number = 0;
    double mean = 0.0;
    double entropy = 0.0;
    for (int i = 0; i < m_Number; ++i)
    {
      if (probabilities[i] > 0.0)
      {
        ++number;
        mean += probabilities[i] * m_Levels[i];
        entropy -= probabilities[i] * Log2(probabilities[i]);
      }
    }
    double variance = 0.0;
    for (int i = 0; i < m_Number && number > 1; ++i)
    {
      const double deviation = m_Levels[i] - mean;
      variance += probabilities[i] * (deviation * deviation);
    }
    return { mean, variance, number > 1 ? entropy : 0.0 };
  }

  /** Compute the values of all features. */
  VOXELMAPS_HOST_DEVICE void
  AddCells()
  {
    double         values[Task::maxFeatures] = {};
    const auto     value = [&values](Feature feature) -> double & { return values[static_cast<int>(feature)]; };
    const Marginal rows = this->GetMarginal(m_Rows);
    const Marginal columns = this->GetMarginal(m_Columns);
    const double   levels = m_Task.numberOfGrayLevels;
    double         covariance = 0.0;
    for (int i = 0; i < m_Number; ++i)
    {
      for (int j = 0; j < m_Number; ++j)
      {
        const double p = this->Cell(i, j);
        if (!(p > 0.0))
        {
          continue;
        }
        const double a = m_Levels[i];
        const double b = m_Levels[j];
        const double rowDeviation = a - rows.mean;
        const double columnDeviation = b - columns.mean;
        const double deviation = rowDeviation + columnDeviation;
        const double square = deviation * deviation;
        const double k = a < b ? b - a : a - b;
        covariance += p * (rowDeviation * columnDeviation);
        value(Feature::Autocorrelation) += p * (a * b);
        value(Feature::ClusterTendency) += p * square;
        value(Feature::ClusterShade) += p * (square * deviation);
        value(Feature::ClusterProminence) += p * (square * square);
        value(Feature::Contrast) += p * (k * k);
        value(Feature::DifferenceAverage) += p * k;
        value(Feature::InverseDifference) += p / (1.0 + k);
        value(Feature::InverseDifferenceMoment) += p / (1.0 + k * k);
        value(Feature::InverseDifferenceMomentNormalized) += p / (1.0 + k * k / (levels * levels));
        value(Feature::InverseDifferenceNormalized) += p / (1.0 + k / levels);
        value(Feature::InverseVariance) += k > 0.0 ? p / (k * k) : 0.0;
        value(Feature::JointEnergy) += p * p;
        value(Feature::JointEntropy) -= p * Log2(p);
        value(Feature::MaximumProbability) =
          p > value(Feature::MaximumProbability) ? p : value(Feature::MaximumProbability);
        value(Feature::SumAverage) += p * (a + b);
        if (m_Task.needsSumCounts)
        {
          m_Sums[static_cast<int>(a + b)] += p;
        }
        if (m_Task.needsDifferenceCounts)
        {
          m_Differences[static_cast<int>(k)] += p;
        }
      }
    }
    value(Feature::JointAverage) = rows.mean;
    value(Feature::SumSquares) = rows.variance;
    value(Feature::Correlation) = rows.variance > 0.0 && columns.variance > 0.0
                                    ? covariance / SerialLane::SquareRoot(rows.variance * columns.variance)
                                    : 1.0;
    // 0 where it is not greater than what rounding could make of 0, since Imc2 has a root of it.
    constexpr double rounding = 1e-12;
    const double     difference = rows.entropy + columns.entropy - value(Feature::JointEntropy);
    const double     information = difference > rounding ? difference : 0.0;
    const double     greater = rows.entropy > columns.entropy ? rows.entropy : columns.entropy;
    value(Feature::InformationalMeasureOfCorrelation1) = information > 0.0 ? -information / greater : 0.0;
    value(Feature::InformationalMeasureOfCorrelation2) = SerialLane::SquareRoot(OneMinusExpMinus(2.0 * information));
    this->AddDifferences(value);
    value(Feature::MaximalCorrelationCoefficient) = m_Task.hasOneLevel               ? 1.0
                                                    : m_Task.needsMaximalCorrelation ? this->Correlate()
                                                                                     : 0.0;
    // Only now, so that sums can stay in registers.
    for (int f = 0; f < Task::maxFeatures; ++f)
    {
      m_Values[f] = values[f];
    }
  }

  /** What needs all cells before. Clears sums and differences. */
  template <typename TValue>
  VOXELMAPS_HOST_DEVICE void
  AddDifferences(const TValue & value)
  {
    for (int i = 0; i < m_Number; ++i)
    {
      for (int j = 0; j < m_Number; ++j)
      {
        const double p = this->Cell(i, j);
        if (!(p > 0.0))
        {
          continue;
        }
        const double k = m_Levels[i] < m_Levels[j] ? m_Levels[j] - m_Levels[i] : m_Levels[i] - m_Levels[j];
        const double deviation = k - value(Feature::DifferenceAverage);
        value(Feature::DifferenceVariance) += p * (deviation * deviation);
        if (m_Task.needsSumCounts)
        {
          value(Feature::SumEntropy) += TakeTerm(m_Sums[static_cast<int>(m_Levels[i] + m_Levels[j])]);
        }
        if (m_Task.needsDifferenceCounts)
        {
          value(Feature::DifferenceEntropy) += TakeTerm(m_Differences[static_cast<int>(k)]);
        }
      }
    }
  }
  /** A term of an entropy, which is 0 afterwards. */
  static VOXELMAPS_HOST_DEVICE double
  TakeTerm(double & p)
  {
    const double term = p > 0.0 && p < 1.0 ? -(p * Log2(p)) : 0.0;
    p = 0.0;
    return term;
  }

  VOXELMAPS_HOST_DEVICE double
  Correlate()
  {
    const SerialLane lane;
    double * const   diagonal = m_Correlation;
    double * const   squares = diagonal + 2 * m_MaxLevels;
    double * const   triangle = squares + 2 * m_MaxLevels;
    if (m_Task.scales.symmetric)
    {
      for (int i = 0; i < m_Number; ++i)
      {
        for (int j = 0; j <= i; ++j)
        {
          triangle[TriangleRow(i) + j] = this->Cell(i, j);
        }
      }
      Correlation::RemoveTrivialPart(lane, m_Number, triangle, diagonal, squares);
    }
    else
    {
      // The cells are not needed any more.
      Correlation::MultiplyByTransposed(lane, m_Number, m_Number, m_Cells, diagonal, squares, triangle, 1);
    }
    Correlation::Tridiagonalize(lane, m_Number, triangle, diagonal, squares);
    return Correlation::Search(lane, m_Number, diagonal, squares, !m_Task.scales.symmetric);
  }

  const Task & m_Task;
  WindowLevels m_Levels;
  int          m_MaxLevels;
  int          m_Number{ 0 };
  double *     m_Rows;
  double *     m_Columns;
  double *     m_Cells;
  double *     m_Correlation;
  double *     m_Sums;
  double *     m_Differences;
  double       m_Values[Task::maxFeatures];
};
} // namespace voxelmaps

#endif // WeightedCooccurrence_h
