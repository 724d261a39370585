// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WeightedCooccurrence_h
#define WeightedCooccurrence_h

#include "common/Log2.h"
#include "cooccurrence/Cooccurrence.h"
#include "cooccurrence/MaximalCorrelation.h"
#include "texture/SingleThread.h"
#include "texture/WindowLevels.h"

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
                           : total > 0.0      ? this->GetValue(m_Task.features[f])
                                              : m_Task.emptyValue;
      StoreComponentOrNaN(m_Task, number * m_Task.voxelStride, f, value);
    }
  }

private:
  using Correlation = MaximalCorrelation<double, SerialLane>;

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

  /** Mean and variance of the levels; the variance is 0 if they have one. Returns the entropy. */
  VOXELMAPS_HOST_DEVICE double
  AddMarginals(const double * marginals, double & mean, double & variance) const
  {
    int    number = 0;
    double entropy = 0.0;
    mean = 0.0;
    for (int i = 0; i < m_Number; ++i)
    {
      if (marginals[i] > 0.0)
      {
        ++number;
        mean += marginals[i] * m_Levels[i];
        entropy -= marginals[i] * Log2(marginals[i]);
      }
    }
    variance = 0.0;
    for (int i = 0; i < m_Number && number > 1; ++i)
    {
      const double deviation = m_Levels[i] - mean;
      variance += marginals[i] * (deviation * deviation);
    }
    return number > 1 ? entropy : 0.0;
  }

  VOXELMAPS_HOST_DEVICE void
  AddCells()
  {
    m_Values = Values{};
    m_Values.rowEntropy = this->AddMarginals(m_Rows, m_Values.rowMean, m_Values.rowVariance);
    m_Values.columnEntropy = this->AddMarginals(m_Columns, m_Values.columnMean, m_Values.columnVariance);
    const double levels = m_Task.numberOfGrayLevels;
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
        const double rowDeviation = a - m_Values.rowMean;
        const double columnDeviation = b - m_Values.columnMean;
        const double deviation = rowDeviation + columnDeviation;
        const double square = deviation * deviation;
        const double k = a < b ? b - a : a - b;
        m_Values.autocorrelation += p * (a * b);
        m_Values.tendency += p * square;
        m_Values.shade += p * (square * deviation);
        m_Values.prominence += p * (square * square);
        m_Values.contrast += p * (k * k);
        m_Values.covariance += p * (rowDeviation * columnDeviation);
        m_Values.differenceAverage += p * k;
        m_Values.inverseDifference += p / (1.0 + k);
        m_Values.inverseDifferenceMoment += p / (1.0 + k * k);
        m_Values.inverseDifferenceMomentNormalized += p / (1.0 + k * k / (levels * levels));
        m_Values.inverseDifferenceNormalized += p / (1.0 + k / levels);
        m_Values.inverseVariance += k > 0.0 ? p / (k * k) : 0.0;
        m_Values.energy += p * p;
        m_Values.entropy -= p * Log2(p);
        m_Values.maximum = p > m_Values.maximum ? p : m_Values.maximum;
        m_Values.sumAverage += p * (a + b);
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
    this->AddDifferences();
    if (m_Task.needsMaximalCorrelation)
    {
      m_Values.maximalCorrelation = this->Correlate();
    }
  }

  /** What needs all cells before. Clears sums and differences. */
  VOXELMAPS_HOST_DEVICE void
  AddDifferences()
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
        const double deviation = k - m_Values.differenceAverage;
        m_Values.differenceVariance += p * (deviation * deviation);
        if (m_Task.needsSumCounts)
        {
          m_Values.sumEntropy += TakeTerm(m_Sums[static_cast<int>(m_Levels[i] + m_Levels[j])]);
        }
        if (m_Task.needsDifferenceCounts)
        {
          m_Values.differenceEntropy += TakeTerm(m_Differences[static_cast<int>(k)]);
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

  /** 0 where it is not greater than what rounding could make of 0, since Imc2 has a root of it. */
  VOXELMAPS_HOST_DEVICE double
  GetMutualInformation() const
  {
    constexpr double rounding = 1e-12;
    const double     information = m_Values.rowEntropy + m_Values.columnEntropy - m_Values.entropy;
    return information > rounding ? information : 0.0;
  }

  VOXELMAPS_HOST_DEVICE double
  GetValue(CooccurrenceFeatureMapEnums::Feature feature) const
  {
    using Feature = CooccurrenceFeatureMapEnums::Feature;
    switch (feature)
    {
      case Feature::Autocorrelation:
        return m_Values.autocorrelation;
      case Feature::ClusterProminence:
        return m_Values.prominence;
      case Feature::ClusterShade:
        return m_Values.shade;
      case Feature::ClusterTendency:
        return m_Values.tendency;
      case Feature::Contrast:
        return m_Values.contrast;
      case Feature::Correlation:
        return m_Values.rowVariance > 0.0 && m_Values.columnVariance > 0.0
                 ? m_Values.covariance / SerialLane::SquareRoot(m_Values.rowVariance * m_Values.columnVariance)
                 : 1.0;
      case Feature::DifferenceAverage:
        return m_Values.differenceAverage;
      case Feature::DifferenceEntropy:
        return m_Values.differenceEntropy;
      case Feature::DifferenceVariance:
        return m_Values.differenceVariance;
      case Feature::InverseDifference:
        return m_Values.inverseDifference;
      case Feature::InverseDifferenceMoment:
        return m_Values.inverseDifferenceMoment;
      case Feature::InverseDifferenceMomentNormalized:
        return m_Values.inverseDifferenceMomentNormalized;
      case Feature::InverseDifferenceNormalized:
        return m_Values.inverseDifferenceNormalized;
      case Feature::InformationalMeasureOfCorrelation1:
      {
        const double greater =
          m_Values.rowEntropy > m_Values.columnEntropy ? m_Values.rowEntropy : m_Values.columnEntropy;
        const double information = this->GetMutualInformation();
        return information > 0.0 ? -information / greater : 0.0;
      }
      case Feature::InformationalMeasureOfCorrelation2:
        return SerialLane::SquareRoot(OneMinusExpMinus(2.0 * this->GetMutualInformation()));
      case Feature::InverseVariance:
        return m_Values.inverseVariance;
      case Feature::MaximalCorrelationCoefficient:
        return m_Task.hasOneLevel ? 1.0 : m_Values.maximalCorrelation;
      case Feature::JointAverage:
        return m_Values.rowMean;
      case Feature::JointEnergy:
        return m_Values.energy;
      case Feature::JointEntropy:
        return m_Values.entropy;
      case Feature::MaximumProbability:
        return m_Values.maximum;
      case Feature::SumAverage:
        return m_Values.sumAverage;
      case Feature::SumEntropy:
        return m_Values.sumEntropy;
      case Feature::SumSquares:
        return m_Values.rowVariance;
    }
    return 0.0;
  }

  /** Inputs of the features of a matrix. */
  struct Values
  {
    double autocorrelation, tendency, shade, prominence, contrast, covariance;
    double differenceAverage, differenceVariance, differenceEntropy;
    double inverseDifference, inverseDifferenceMoment, inverseDifferenceMomentNormalized, inverseDifferenceNormalized;
    double inverseVariance, energy, entropy, maximum, sumAverage, sumEntropy;
    double rowMean, rowVariance, rowEntropy, columnMean, columnVariance, columnEntropy;
    double maximalCorrelation;
  };

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
  Values       m_Values{};
};
} // namespace voxelmaps

#endif // WeightedCooccurrence_h
