// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RunLengthWalk_h
#define RunLengthWalk_h

#include "common/WideInteger.h"
#include "glrlm/RunLength.h"
#include "window/CountTable.h"
#include "window/Walk.h"
#include "window/PaddedWindow.h"

#include <cstddef>

namespace voxelmaps
{
/** Walks the runs of windows. Supports every task but those with weights of directions, and is slow. */
template <typename TTeam>
class RunLengthWalk : public WindowWalk<RunLengthTask, false>
{
public:
  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    return MakeWindow(task).Bytes() + MakeTable(task).Bytes() +
           static_cast<std::size_t>(task.directions.longestLine + 1) * sizeof(LengthSums) +
           static_cast<std::size_t>(task.numberOfFeatures) * sizeof(double);
  }

  VOXELMAPS_DEVICE
  RunLengthWalk(const Task & task, const TTeam & team, void * workspace)
    : m_Task(task)
    , m_Team(team)
    , m_Levels(MakeWindow(task))
    , m_Counts(MakeTable(task))
    , m_Lengths(static_cast<LengthSums *>(workspace))
    , m_Values(reinterpret_cast<double *>(m_Lengths + task.directions.longestLine + 1))
  {
    char * const window = reinterpret_cast<char *>(m_Values + task.numberOfFeatures);
    m_Levels.SetMemory(window);
    m_Counts.SetMemory(window + m_Levels.Bytes());
  }

  /** Compute an output voxel, counted x fastest. */
  VOXELMAPS_DEVICE void
  Compute(std::int64_t voxel)
  {
    this->Compute(voxel, WindowBox::At(m_Task, voxel));
  }

protected:
  VOXELMAPS_DEVICE void
  Compute(std::int64_t voxel, const WindowBox & window)
  {
    using Aggregation = RunLengthJob::Aggregation;
    if (!window.isComputed)
    {
      StoreBackground(m_Task, voxel, m_Team);
      return;
    }
    this->CountSteps();
    const std::uint32_t directions = m_Task.skipDirectionsWithoutPairs ? this->FindDirections(window) : ~0u;
    const double        voxels = m_Team.Sum(m_Levels.Load(m_Task, window, m_Team));
    const std::int64_t  out = voxel * m_Task.voxelStride;
    int                 used = 0;
    this->ForEachFeature([&](int f) { m_Values[f] = 0.0; });
    this->ClearMatrix();
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      const bool isUsed = (directions >> d & 1u) != 0;
      if (isUsed)
      {
        ++used;
        this->AddDirection(m_Task.directions.steps[d], window);
      }
      if (m_Task.aggregation == Aggregation::PerDirection)
      {
        this->Evaluate(voxels, out, d * m_Task.numberOfFeatures);
        this->ClearMatrix();
      }
      else if (m_Task.aggregation == Aggregation::Average && isUsed)
      {
        const RunLengthSums<double> sums = this->GetSums(voxels);
        const double                reciprocal = Division::Reciprocal(sums.runs);
        this->ForEachFeature([&](int f) { m_Values[f] += RunLengthAverageTerm(m_Task.features[f], sums, reciprocal); });
        this->ClearMatrix();
      }
    }
    if (m_Task.aggregation == Aggregation::Merge)
    {
      this->Evaluate(voxels * used, out, 0);
    }
    else if (m_Task.aggregation == Aggregation::Average)
    {
      // 0 / 0 is NaN where all directions were skipped.
      this->ForEachFeature([&](int f) {
        StoreComponentOrNaN(m_Task,
                            out,
                            f,
                            RunLengthAverage<double, Division>(
                              m_Task.features[f], m_Values[f], voxels, static_cast<double>(used), m_Task.scales));
      });
    }
  }

  /** Bit d is set if some line along direction d holds two voxels. */
  VOXELMAPS_DEVICE std::uint32_t
                   FindDirections(const WindowBox & window)
  {
    this->CountSteps();
    std::uint32_t directions = 0;
    for (int d = m_Team.Rank(); d < m_Task.directions.number; d += m_Team.Size())
    {
      directions |= (window.HasPair(m_Task, m_Task.directions.steps[d]) ? 1u : 0u) << d;
    }
    return m_Team.Sum(directions);
  }

  const Task & m_Task;
  TTeam        m_Team;

private:
  using Division = PlainDivision<double>;

  /** Sums over the runs of a length, of the team. */
  struct LengthSums
  {
    std::uint32_t runs;
    std::uint64_t squares;
    std::uint64_t inversesHigh;
    std::uint64_t inversesLow;
  };

  static VOXELMAPS_HOST_DEVICE PaddedWindow<>
                               MakeWindow(const Task & task)
  {
    int margin[3] = { 0, 0, 0 };
    for (int d = 0; d < task.directions.number; ++d)
    {
      for (int axis = 0; axis < 3; ++axis)
      {
        margin[axis] = task.directions.steps[d][axis] != 0 ? 1 : margin[axis];
      }
    }
    return PaddedWindow<>(task, margin);
  }
  /** Counts of the levels of runs, if they are needed, then of level and length: the elements of the matrix. */
  static VOXELMAPS_HOST_DEVICE CountTable
  MakeTable(const Task & task)
  {
    const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
    const auto lengths = static_cast<std::uint64_t>(task.directions.longestLine);
    return CountTable((task.needsLevelCounts ? levels : 0) + levels * lengths,
                      task.maxVoxels * (task.needsLevelCounts ? 2 : 1));
  }
  /** First key of the elements. */
  VOXELMAPS_DEVICE std::uint32_t
                   FirstKey() const
  {
    return 1 + (m_Task.needsLevelCounts ? static_cast<std::uint32_t>(m_Task.numberOfGrayLevels) : 0);
  }

  VOXELMAPS_DEVICE void
  CountSteps()
  {
    m_Team.CountSteps(m_Task.maxVoxels * static_cast<std::uint64_t>(m_Task.directions.number));
  }

  template <typename TVisit>
  VOXELMAPS_DEVICE void
  ForEachFeature(const TVisit & visit) const
  {
    for (int f = m_Team.Rank(); f < m_Task.numberOfFeatures; f += m_Team.Size())
    {
      visit(f);
    }
  }

  VOXELMAPS_DEVICE void
  ClearMatrix()
  {
    m_Team.Synchronize();
    for (int l = m_Team.Rank(); l <= m_Task.directions.longestLine; l += m_Team.Size())
    {
      m_Lengths[l] = LengthSums{ 0, 0, 0, 0 };
    }
    m_Counts.Clear(m_Team);
    m_LevelSum = 0;
    m_LevelNonUniformity = 0;
    m_EntropySum = 0;
    m_Team.Synchronize();
  }

  VOXELMAPS_DEVICE void
  AddDirection(const int (&step)[3], const WindowBox & window)
  {
    const int stride = m_Levels.Stride(step);
    m_Levels.ForEachVoxel(window, m_Team, [this, stride](const std::uint16_t * voxel) {
      const std::uint16_t level = *voxel;
      if (voxel[-stride] != level)
      {
        int length = 1;
        while (voxel[length * stride] == level)
        {
          ++length;
        }
        const std::uint32_t row = this->FirstKey() + (std::uint32_t{ level } - 1) * m_Task.directions.longestLine;
        m_Counts.Count(row + static_cast<std::uint32_t>(length) - 1, 1, m_Team);
      }
    });
    m_Team.Synchronize();
  }

  /** Add the runs of a level and length. */
  VOXELMAPS_DEVICE void
  AddElement(std::uint32_t level, std::uint32_t length, std::uint32_t number)
  {
    LengthSums & sums = m_Lengths[length];
    m_Team.Add(sums.runs, number);
    m_LevelSum += std::uint64_t{ number } * level;
    if (m_Task.needsSquares)
    {
      m_Team.Add(sums.squares, number * (std::uint64_t{ level } * level));
    }
    if (m_Task.needsInverses)
    {
      const std::uint64_t inverse = m_Task.inverseSquares[level];
      m_Team.Add(sums.inversesLow, number * (m_Task.wideInverses ? inverse & 0xffffffffu : inverse));
      if (m_Task.wideInverses)
      {
        m_Team.Add(sums.inversesHigh, number * (inverse >> 32));
      }
    }
    if (m_Task.needsLevelCounts)
    {
      // (a + n)^2 - a^2 add up to the same square in any order of the lengths.
      const std::uint64_t before = m_Counts.Count(level, number, m_Team);
      m_LevelNonUniformity += (2 * before + number) * number;
    }
    if (m_Task.needsEntropy)
    {
      m_EntropySum += m_Task.entropyTable[number];
    }
  }

  /** Sums over the matrix. */
  VOXELMAPS_DEVICE RunLengthSums<double>
                   GetSums(double voxels)
  {
    m_Counts.ForEach(this->FirstKey(), m_Team, [this](std::uint32_t key, std::uint32_t number) {
      const std::uint32_t element = key - this->FirstKey();
      const auto          lengths = static_cast<std::uint32_t>(m_Task.directions.longestLine);
      this->AddElement(element / lengths + 1, element % lengths + 1, number);
    });
    m_Team.Synchronize();
    const std::uint64_t   levelSum = m_Team.Sum(m_LevelSum);
    RunLengthSums<double> sums{};
    ClearRuns(sums);
    sums.voxels = voxels;
    std::uint64_t runs = 0;
    std::uint64_t squares = 0;
    for (int l = 1; l <= m_Task.directions.longestLine; ++l)
    {
      const LengthSums & length = m_Lengths[l];
      AddRunsWithLength(sums,
                        m_Task.lengthSquares[l],
                        m_Task.shortRunWeights[l],
                        static_cast<double>(length.runs),
                        static_cast<double>(length.squares),
                        static_cast<double>(length.inversesHigh) * 4294967296.0 +
                          static_cast<double>(length.inversesLow));
      runs += length.runs;
      squares += length.squares;
    }
    sums.levelNonUniformity = static_cast<double>(m_Team.Sum(m_LevelNonUniformity));
    if (m_Task.needsLevelSum)
    {
      sums.levelVariance = VarianceNumerator(runs, squares, levelSum);
    }
    const std::int64_t entropySum = m_Team.Sum(m_EntropySum);
    if (m_Task.needsEntropy)
    {
      sums.entropy = static_cast<double>(m_Task.entropyTable[runs] - entropySum);
    }
    return sums;
  }

  /** Store the features of the matrix from a component on. */
  VOXELMAPS_DEVICE void
  Evaluate(double voxels, std::int64_t out, int component)
  {
    const RunLengthSums<double>               sums = this->GetSums(voxels);
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(m_Task.scales.shortRunScale));
    this->ForEachFeature([&](int f) {
      // 0 / 0 is NaN where the direction, or all of them, were skipped.
      const double value = sums.runs > 0.0 ? RunLengthFeatureValue(m_Task.features[f], sums, divisors, m_Task.scales)
                                           : sums.runs / sums.runs;
      StoreComponentOrNaN(m_Task, out, component + f, value);
    });
  }

  PaddedWindow<> m_Levels;
  CountTable     m_Counts;
  LengthSums *   m_Lengths;
  double *       m_Values;
  std::uint64_t  m_LevelSum{ 0 };
  std::uint64_t  m_LevelNonUniformity{ 0 };
  std::int64_t   m_EntropySum{ 0 };
};

/** Computes those windows again in which a direction without pairs is to be skipped. */
template <typename TTeam>
class SkippedDirectionsWalk : public RunLengthWalk<TTeam>
{
public:
  using Base = RunLengthWalk<TTeam>;
  using Base::Base;

  static constexpr int numberOfWindows = TTeam::maxBallotSize;

  /** Look at output voxels from numberOfWindows * group on. */
  VOXELMAPS_DEVICE void
  Compute(std::int64_t group)
  {
    const RunLengthTask & task = this->m_Task;
    const std::int64_t    first = group * numberOfWindows;
    const std::int64_t    voxels = task.outputSize[0] * task.outputSize[1] * task.outputSize[2];
    // Each thread looks at the neighbors of one voxel; only where some are absent does the team search a window.
    bool isSearched = false;
    if (first + this->m_Team.Rank() < voxels)
    {
      const WindowBox window = WindowBox::At(task, first + this->m_Team.Rank());
      for (int d = 0; d < task.directions.number && window.isComputed && !isSearched; ++d)
      {
        isSearched = !window.HasPairAtCenter(task, task.directions.steps[d]);
      }
    }
    for (std::uint32_t searched = this->m_Team.Ballot(isSearched); searched != 0; searched &= searched - 1)
    {
      const std::int64_t voxel = first + CountBits((searched & (~searched + 1)) - 1);
      const WindowBox    window = WindowBox::At(task, voxel);
      if (this->FindDirections(window) != (1u << task.directions.number) - 1)
      {
        Base::Compute(voxel, window);
      }
    }
  }
};
} // namespace voxelmaps

#endif // RunLengthWalk_h
