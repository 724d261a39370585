// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WeightedRunLength_h
#define WeightedRunLength_h

#include "common/Log2.h"
#include "glrlm/RunLength.h"
#include "window/Walk.h"
#include "window/WindowLevels.h"

/** Merged matrices whose runs have the weights of their directions. One text for host and device.
 *
 * Weights are real numbers of any magnitude, so these matrices hold doubles: all sums are added in the order of the
 * loops below, from 0. The order of runs is that of the directions, then of their first voxel, x fastest; that of cells
 * is by rows in rising order of levels. Compile with contraction off, and all compilers give the same bits. */
namespace voxelmaps
{
/** A walk: computes windows one after the other, in memory of its own. */
class WeightedRunLength : public WindowWalk<RunLengthTask, true>
{
public:
  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    const auto levels = static_cast<std::uint64_t>(MaxWindowLevels(task));
    return (levels + 1) * (static_cast<std::uint64_t>(task.directions.longestLine) + 1) * sizeof(double);
  }

  /** The team is unused: a thread computes windows on its own. */
  template <typename TTeam>
  VOXELMAPS_HOST_DEVICE
  WeightedRunLength(const Task & task, const TTeam &, void * workspace)
    : m_Task(task)
    , m_Levels(static_cast<double *>(workspace))
    , m_LongestLine(task.directions.longestLine)
    , m_Lengths(static_cast<double *>(workspace) + MaxWindowLevels(task))
    , m_Cells(m_Lengths + m_LongestLine + 1)
  {}

  /** Compute one output voxel, counted x fastest. */
  VOXELMAPS_HOST_DEVICE void
  Compute(std::int64_t number)
  {
    const WindowBox window = WindowBox::At(m_Task, number);
    const double    runs = window.isComputed ? this->AddRuns(window) : 0.0;
    if (runs > 0.0)
    {
      this->AddCells(runs);
    }
    for (int f = 0; f < m_Task.numberOfFeatures; ++f)
    {
      // 0 / 0 is NaN where all directions were skipped.
      const double value = !window.isComputed ? m_Task.backgroundValue
                           : runs > 0.0       ? m_Values[static_cast<int>(m_Task.features[f])]
                                              : runs / runs;
      StoreComponentOrNaN(m_Task, number * m_Task.voxelStride, f, value);
    }
  }

private:
  using Feature = Task::Feature;

  /** Runs of a level and a length, from 1. */
  VOXELMAPS_HOST_DEVICE double &
  Cell(int i, int length)
  {
    return m_Cells[i * m_LongestLine + length - 1];
  }

  /** Fill the matrix; returns the sum of its cells. */
  VOXELMAPS_HOST_DEVICE double
  AddRuns(const WindowBox & window)
  {
    m_Levels.Collect(m_Task, window);
    m_Number = m_Levels.Number();
    for (int i = 0; i < m_Number * m_LongestLine; ++i)
    {
      m_Cells[i] = 0.0;
    }
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      if (!m_Task.skipDirectionsWithoutPairs || window.HasPair(m_Task, m_Task.directions.steps[d]))
      {
        this->AddDirection(window, m_Task.directions.steps[d], m_Task.offsetWeights[d]);
      }
    }
    double runs = 0.0;
    for (int i = 0; i < m_Number * m_LongestLine; ++i)
    {
      runs += m_Cells[i];
    }
    return runs;
  }

  VOXELMAPS_HOST_DEVICE void
  AddDirection(const WindowBox & window, const int (&step)[3], double weight)
  {
    for (int z = 0; z < window.size[2]; ++z)
    {
      for (int y = 0; y < window.size[1]; ++y)
      {
        for (int x = 0; x < window.size[0]; ++x)
        {
          const int level = window.Level(m_Task, x, y, z);
          if (level == 0 || window.Level(m_Task, x - step[0], y - step[1], z - step[2]) == level)
          {
            continue;
          }
          int length = 1;
          while (window.Level(m_Task, x + length * step[0], y + length * step[1], z + length * step[2]) == level)
          {
            ++length;
          }
          this->Cell(m_Levels.GetRank(level), length) += weight;
        }
      }
    }
  }

  /** Compute the values of all features. */
  VOXELMAPS_HOST_DEVICE void
  AddCells(double runs)
  {
    double     values[Task::maxFeatures] = {};
    const auto value = [&values](Feature feature) -> double & { return values[static_cast<int>(feature)]; };
    for (int l = 1; l <= m_LongestLine; ++l)
    {
      m_Lengths[l] = 0.0;
    }
    double lengthMean = 0.0;
    double levelMean = 0.0;
    for (int i = 0; i < m_Number; ++i)
    {
      const double level = m_Levels[i];
      const double levelSquared = level * level;
      double       levelRuns = 0.0;
      for (int l = 1; l <= m_LongestLine; ++l)
      {
        const double cell = this->Cell(i, l);
        if (!(cell > 0.0))
        {
          continue;
        }
        const double p = cell / runs;
        const double lengthSquared = static_cast<double>(l) * l;
        levelRuns += cell;
        m_Lengths[l] += cell;
        lengthMean += p * l;
        levelMean += p * level;
        value(Feature::ShortRunEmphasis) += p / lengthSquared;
        value(Feature::LongRunEmphasis) += p * lengthSquared;
        value(Feature::LowGrayLevelRunEmphasis) += p / levelSquared;
        value(Feature::HighGrayLevelRunEmphasis) += p * levelSquared;
        value(Feature::ShortRunLowGrayLevelEmphasis) += p / (lengthSquared * levelSquared);
        value(Feature::ShortRunHighGrayLevelEmphasis) += p / lengthSquared * levelSquared;
        value(Feature::LongRunLowGrayLevelEmphasis) += p * lengthSquared / levelSquared;
        value(Feature::LongRunHighGrayLevelEmphasis) += p * (lengthSquared * levelSquared);
        value(Feature::RunEntropy) -= p < 1.0 ? p * Log2(p) : 0.0;
      }
      value(Feature::GrayLevelNonUniformity) += levelRuns * (levelRuns / runs);
    }
    for (int l = 1; l <= m_LongestLine; ++l)
    {
      value(Feature::RunLengthNonUniformity) += m_Lengths[l] * (m_Lengths[l] / runs);
    }
    for (int i = 0; i < m_Number; ++i)
    {
      for (int l = 1; l <= m_LongestLine; ++l)
      {
        const double p = this->Cell(i, l) / runs;
        const double levelDeviation = m_Levels[i] - levelMean;
        const double lengthDeviation = l - lengthMean;
        value(Feature::GrayLevelVariance) += p * (levelDeviation * levelDeviation);
        value(Feature::RunVariance) += p * (lengthDeviation * lengthDeviation);
      }
    }
    value(Feature::GrayLevelNonUniformityNormalized) = value(Feature::GrayLevelNonUniformity) / runs;
    value(Feature::RunLengthNonUniformityNormalized) = value(Feature::RunLengthNonUniformity) / runs;
    // The lengths of the runs of a direction add up to the voxels of the window.
    value(Feature::RunPercentage) = 1.0 / lengthMean;
    // Only now, so that sums can stay in registers.
    for (int f = 0; f < Task::maxFeatures; ++f)
    {
      m_Values[f] = values[f];
    }
  }

  const Task & m_Task;
  WindowLevels m_Levels;
  int          m_LongestLine;
  int          m_Number{ 0 };
  double *     m_Lengths;
  double *     m_Cells;
  double       m_Values[Task::maxFeatures];
};
} // namespace voxelmaps

#endif // WeightedRunLength_h
