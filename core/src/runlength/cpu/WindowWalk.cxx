// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "WindowWalk.h"

#include "common/WideProduct.h"

#include <algorithm>
#include <limits>

namespace voxelmaps
{
namespace
{
using Division = PlainDivision<double>;

constexpr std::size_t   maxTableEntries = std::size_t{ 1 } << 20;
constexpr std::uint64_t stepsBetweenAbortChecks = 4000000;
} // namespace

WindowWalk::WindowWalk(const RunLengthTask & task, const JobExecution & execution)
  : m_Task(task)
  , m_Execution(execution)
  , m_Values(task.numberOfComponents)
  , m_MatrixValues(task.numberOfFeatures)
  , m_Runs(task.directions.longestLine + 1)
  , m_Squares(task.directions.longestLine + 1)
  , m_InversesHigh(task.directions.longestLine + 1)
  , m_InversesLow(task.directions.longestLine + 1)
{
  const std::size_t levels = static_cast<std::size_t>(task.numberOfGrayLevels) + 1;
  const std::size_t cells = task.needsEntropy ? levels * (task.directions.longestLine + 1) : 0;
  m_UseTables = levels + cells <= maxTableEntries;
  if (m_UseTables)
  {
    m_LevelCounts.resize(levels);
    m_CellCounts.resize(cells);
  }
}

template <typename TCompute>
void
WindowWalk::ForEachVoxel(const Triple & start, const Triple & size, const TCompute & compute)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      for (std::int64_t x = start[0]; x < start[0] + size[0]; ++x)
      {
        const std::int64_t voxel[3] = { x, y, z };
        compute((z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x, WindowBox(m_Task, voxel));
        if (m_Steps > stepsBetweenAbortChecks)
        {
          m_Steps = 0;
          m_Execution.CheckAbort();
        }
      }
    }
  }
}

void
WindowWalk::Compute(const Triple & start, const Triple & size)
{
  this->ForEachVoxel(
    start, size, [this](std::int64_t voxel, const WindowBox & window) { this->ComputeVoxel(voxel, window); });
}

void
WindowWalk::SkipDirections(const Triple & start, const Triple & size)
{
  this->ForEachVoxel(start, size, [this](std::int64_t voxel, const WindowBox & window) {
    m_Steps += window.isComputed ? m_Task.maxVoxels * m_Task.directions.number : 0;
    bool isAny = false;
    for (int d = 0; d < m_Task.directions.number && window.isComputed && !isAny; ++d)
    {
      isAny = !window.HasPair(m_Task, m_Task.directions.steps[d]);
    }
    if (isAny)
    {
      this->ComputeVoxel(voxel, window);
    }
  });
}

void
WindowWalk::ComputeVoxel(std::int64_t voxel, const WindowBox & window)
{
  using Aggregation = RunLengthJob::Aggregation;
  const int features = m_Task.numberOfFeatures;
  if (!window.isComputed)
  {
    std::fill(m_Values.begin(), m_Values.end(), m_Task.backgroundValue);
  }
  else
  {
    m_Steps += m_Task.maxVoxels * m_Task.directions.number;
    const double voxels = this->CountVoxels(window);
    int          used = 0;
    std::fill(m_Values.begin(),
              m_Values.end(),
              m_Task.aggregation == Aggregation::Average ? 0.0 : std::numeric_limits<double>::quiet_NaN());
    this->ClearMatrix();
    for (int d = 0; d < m_Task.directions.number; ++d)
    {
      if (m_Task.skipDirectionsWithoutPairs && !window.HasPair(m_Task, m_Task.directions.steps[d]))
      {
        continue;
      }
      ++used;
      this->AddDirection(d, window);
      if (m_Task.aggregation == Aggregation::PerDirection)
      {
        this->EvaluateMatrix(voxels, m_Values.data() + d * features);
        this->ClearMatrix();
      }
      else if (m_Task.aggregation == Aggregation::Average)
      {
        this->EvaluateMatrix(voxels, m_MatrixValues.data());
        this->ClearMatrix();
        for (int f = 0; f < features; ++f)
        {
          m_Values[f] += m_MatrixValues[f];
        }
      }
    }
    if (m_Task.aggregation == Aggregation::Average)
    {
      // 0 / 0 is NaN where all directions were skipped.
      for (int f = 0; f < features; ++f)
      {
        m_Values[f] = RunLengthAverage<double, Division>(
          m_Task.features[f], m_Values[f], voxels, static_cast<double>(used), m_Task.scales);
      }
    }
    else if (m_Task.aggregation == Aggregation::Merge && used > 0)
    {
      this->EvaluateMatrix(voxels * used, m_Values.data());
    }
  }
  for (int c = 0; c < m_Task.numberOfComponents; ++c)
  {
    StoreComponentOrNaN(m_Task, voxel * m_Task.voxelStride, c, m_Values[c]);
  }
}

double
WindowWalk::CountVoxels(const WindowBox & window) const
{
  int voxels = 0;
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      const std::uint16_t * row =
        m_Task.levels + m_Task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + z);
      voxels +=
        static_cast<int>(std::count_if(row, row + window.size[0], [](std::uint16_t level) { return level != 0; }));
    }
  }
  return voxels;
}

void
WindowWalk::ClearMatrix()
{
  std::fill(m_Runs.begin(), m_Runs.end(), 0);
  std::fill(m_Squares.begin(), m_Squares.end(), 0);
  std::fill(m_InversesHigh.begin(), m_InversesHigh.end(), 0);
  std::fill(m_InversesLow.begin(), m_InversesLow.end(), 0);
  m_LevelSum = 0;
  m_LevelNonUniformity = 0;
  m_EntropySum = 0;
  if (m_UseTables)
  {
    for (const std::uint32_t key : m_RunKeys)
    {
      m_LevelCounts[key >> 8] = 0;
      if (m_Task.needsEntropy)
      {
        m_CellCounts[(key >> 8) * (m_Task.directions.longestLine + 1) + (key & 0xff)] = 0;
      }
    }
  }
  m_RunKeys.clear();
}

void
WindowWalk::AddDirection(int direction, const WindowBox & window)
{
  const auto &       step = m_Task.directions.steps[direction];
  const std::int64_t stride = m_Task.LevelOffset(step[0], step[1], step[2]);
  for (int z = 0; z < window.size[2]; ++z)
  {
    for (int y = 0; y < window.size[1]; ++y)
    {
      const std::uint16_t * row =
        m_Task.levels + m_Task.LevelOffset(window.first[0], window.first[1] + y, window.first[2] + z);
      for (int x = 0; x < window.size[0]; ++x)
      {
        const std::uint16_t * voxel = row + x;
        const std::uint16_t   level = *voxel;
        if (level == 0 || (window.Contains(x - step[0], y - step[1], z - step[2]) && voxel[-stride] == level))
        {
          continue;
        }
        int length = 1;
        while (window.Contains(x + length * step[0], y + length * step[1], z + length * step[2]) &&
               voxel[length * stride] == level)
        {
          ++length;
        }
        this->AddRun(level, length);
      }
    }
  }
}

void
WindowWalk::AddRun(std::uint32_t level, int length)
{
  ++m_Runs[length];
  m_Squares[length] += std::uint64_t{ level } * level;
  m_LevelSum += level;
  if (m_Task.needsInverses)
  {
    const std::uint64_t inverse = m_Task.inverseSquares[level];
    if (m_Task.wideInverses)
    {
      m_InversesHigh[length] += inverse >> 32;
      m_InversesLow[length] += inverse & 0xffffffffu;
    }
    else
    {
      m_InversesLow[length] += inverse;
    }
  }
  if (!m_Task.needsLevelCounts && !m_Task.needsEntropy)
  {
    return;
  }
  m_RunKeys.push_back((level << 8) | static_cast<std::uint32_t>(length));
  if (m_UseTables)
  {
    // (n + 1)^2 - n^2 and t(n + 1) - t(n) keep the sums current.
    m_LevelNonUniformity += 2 * std::uint64_t{ m_LevelCounts[level]++ } + 1;
    if (m_Task.needsEntropy)
    {
      const std::uint32_t count = m_CellCounts[level * (m_Task.directions.longestLine + 1) + length]++;
      m_EntropySum += m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
    }
  }
}

void
WindowWalk::EvaluateMatrix(double voxels, double * values)
{
  if (!m_UseTables)
  {
    std::sort(m_RunKeys.begin(), m_RunKeys.end());
    std::uint64_t levelCount = 0;
    std::uint64_t cellCount = 0;
    for (std::size_t r = 0; r < m_RunKeys.size(); ++r)
    {
      levelCount = r > 0 && (m_RunKeys[r] >> 8) == (m_RunKeys[r - 1] >> 8) ? levelCount + 1 : 1;
      m_LevelNonUniformity += 2 * levelCount - 1;
      if (m_Task.needsEntropy)
      {
        cellCount = r > 0 && m_RunKeys[r] == m_RunKeys[r - 1] ? cellCount + 1 : 1;
        m_EntropySum += m_Task.entropyTable[cellCount] - m_Task.entropyTable[cellCount - 1];
      }
    }
  }

  RunLengthSums<double> sums{};
  ClearRuns(sums);
  sums.voxels = voxels;
  std::uint64_t runs = 0;
  std::uint64_t squares = 0;
  for (int l = 1; l <= m_Task.directions.longestLine; ++l)
  {
    const double inverses = m_Task.wideInverses ? static_cast<double>(m_InversesHigh[l]) * 4294967296.0 +
                                                    static_cast<double>(m_InversesLow[l])
                                                : static_cast<double>(m_InversesLow[l]);
    AddRunsWithLength(sums,
                      m_Task.lengthSquares[l],
                      m_Task.shortRunWeights[l],
                      static_cast<double>(m_Runs[l]),
                      static_cast<double>(m_Squares[l]),
                      inverses);
    runs += m_Runs[l];
    squares += m_Squares[l];
  }
  sums.levelNonUniformity = static_cast<double>(m_LevelNonUniformity);
  sums.levelVariance = VarianceNumerator(runs, squares, m_LevelSum);
  if (m_Task.needsEntropy)
  {
    sums.entropy = static_cast<double>(m_Task.entropyTable[runs] - m_EntropySum);
  }

  const RunLengthDivisors<double, Division> divisors(sums, Division::By(m_Task.scales.shortRunScale));
  const double                              reciprocal = Division::Reciprocal(sums.runs);
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    values[f] = m_Task.aggregation == RunLengthJob::Aggregation::Average
                  ? RunLengthAverageTerm(m_Task.features[f], sums, reciprocal)
                  : RunLengthFeatureValue(m_Task.features[f], sums, divisors, m_Task.scales);
  }
}
} // namespace voxelmaps
