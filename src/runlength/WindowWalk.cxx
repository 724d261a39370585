/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "WindowWalk.h"
#include "WideProduct.h"

#include <algorithm>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr std::size_t   mostTableEntries = std::size_t{ 1 } << 20;
constexpr std::uint64_t stepsBetweenAbortChecks = 4000000;
} // namespace

WindowWalk::WindowWalk(const RunLengthJob & job, const RunLengthPlan & plan)
  : m_Job(job)
  , m_Plan(plan)
  , m_Runs(plan.longestRun + 1)
  , m_Squares(plan.longestRun + 1)
  , m_InversesHigh(plan.longestRun + 1)
  , m_InversesLow(plan.longestRun + 1)
{
  const std::size_t levels = std::size_t{ job.numberOfGrayLevels } + 1;
  const std::size_t cells = plan.needsEntropy ? levels * (plan.longestRun + 1) : 0;
  m_UseTables = levels + cells <= mostTableEntries;
  if (m_UseTables)
  {
    m_LevelCounts.resize(levels);
    m_CellCounts.resize(cells);
  }
}

void
WindowWalk::Compute(const RunLengthJob::Triple & index, const RunLengthJob::Triple & size)
{
  const std::size_t   components = m_Job.GetNumberOfComponents();
  std::vector<double> values(components);
  std::uint64_t       steps = 0;
  for (std::int64_t z = 0; z < size[2]; ++z)
  {
    for (std::int64_t y = 0; y < size[1]; ++y)
    {
      for (std::int64_t x = 0; x < size[0]; ++x)
      {
        const RunLengthJob::Triple voxel{ { index[0] + x, index[1] + y, index[2] + z } };
        this->ComputeVoxel(voxel, values.data());

        const std::int64_t row =
          (voxel[2] - m_Job.outputIndex[2]) * m_Job.outputSize[1] + voxel[1] - m_Job.outputIndex[1];
        const std::size_t at =
          static_cast<std::size_t>(row * m_Job.outputSize[0] + voxel[0] - m_Job.outputIndex[0]) * components;
        for (std::size_t c = 0; c < components; ++c)
        {
          if (m_Job.outputIsDouble)
          {
            static_cast<double *>(m_Job.output)[at + c] = values[c];
          }
          else
          {
            static_cast<float *>(m_Job.output)[at + c] = static_cast<float>(values[c]);
          }
        }

        steps += m_Plan.mostVoxels * m_Plan.directions.size();
        if (steps > stepsBetweenAbortChecks && m_Job.completed)
        {
          steps = 0;
          m_Job.completed(0);
        }
      }
    }
  }
}

void
WindowWalk::ComputeVoxel(const RunLengthJob::Triple & voxel, double * values)
{
  const std::size_t features = m_Job.features.size();
  const std::size_t components = m_Job.GetNumberOfComponents();

  const RunLengthJob::Triple & size = m_Job.levelsSize;
  RunLengthJob::Triple         first;
  RunLengthJob::Triple         last;
  std::int64_t                 at[3];
  bool                         inBuffer = true;
  for (int d = 0; d < 3; ++d)
  {
    at[d] = voxel[d] - m_Job.levelsIndex[d];
    inBuffer = inBuffer && at[d] >= 0 && at[d] < size[d];
    first[d] = std::max<std::int64_t>(at[d] - m_Job.windowAnchor[d], 0);
    last[d] = std::min(at[d] - m_Job.windowAnchor[d] + m_Job.windowSize[d], size[d]) - 1;
  }
  if (!inBuffer || m_Job.levels[(at[2] * size[1] + at[1]) * size[0] + at[0]] == 0)
  {
    std::fill(values, values + components, m_Job.backgroundValue);
    return;
  }

  std::uint64_t voxels = 0;
  for (std::int64_t z = first[2]; z <= last[2]; ++z)
  {
    for (std::int64_t y = first[1]; y <= last[1]; ++y)
    {
      const std::uint16_t * row = m_Job.levels + (z * size[1] + y) * size[0];
      for (std::int64_t x = first[0]; x <= last[0]; ++x)
      {
        voxels += row[x] != 0 ? 1 : 0;
      }
    }
  }

  this->ClearMatrix();
  if (m_Job.aggregation == RunLengthJob::Aggregation::Merge)
  {
    for (std::size_t d = 0; d < m_Plan.directions.size(); ++d)
    {
      this->AddDirection(d, first, last);
    }
    this->EvaluateMatrix(voxels * m_Plan.directions.size(), values);
    return;
  }

  std::vector<double> sums(features, 0.0);
  for (std::size_t d = 0; d < m_Plan.directions.size(); ++d)
  {
    this->AddDirection(d, first, last);
    if (m_Job.aggregation == RunLengthJob::Aggregation::PerDirection)
    {
      this->EvaluateMatrix(voxels, values + d * features);
    }
    else
    {
      this->EvaluateMatrix(voxels, values);
      for (std::size_t f = 0; f < features; ++f)
      {
        sums[f] += values[f];
      }
    }
    this->ClearMatrix();
  }
  if (m_Job.aggregation == RunLengthJob::Aggregation::Average)
  {
    for (std::size_t f = 0; f < features; ++f)
    {
      values[f] = sums[f] / static_cast<double>(m_Plan.directions.size());
    }
  }
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
      if (m_Plan.needsEntropy)
      {
        m_CellCounts[(key >> 8) * (m_Plan.longestRun + 1) + (key & 0xff)] = 0;
      }
    }
  }
  m_RunKeys.clear();
}

void
WindowWalk::AddDirection(std::size_t direction, const RunLengthJob::Triple & first, const RunLengthJob::Triple & last)
{
  const RunLengthJob::Triple & step = m_Plan.directions[direction];
  const RunLengthJob::Triple & size = m_Job.levelsSize;
  const std::int64_t           stride = (step[2] * size[1] + step[1]) * size[0] + step[0];
  const auto                   inWindow = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return x >= first[0] && x <= last[0] && y >= first[1] && y <= last[1] && z >= first[2] && z <= last[2];
  };

  for (std::int64_t z = first[2]; z <= last[2]; ++z)
  {
    for (std::int64_t y = first[1]; y <= last[1]; ++y)
    {
      const std::uint16_t * row = m_Job.levels + (z * size[1] + y) * size[0];
      for (std::int64_t x = first[0]; x <= last[0]; ++x)
      {
        const std::uint16_t * voxel = row + x;
        const std::uint16_t   level = *voxel;
        if (level == 0 || (inWindow(x - step[0], y - step[1], z - step[2]) && voxel[-stride] == level))
        {
          continue;
        }
        int length = 1;
        while (inWindow(x + length * step[0], y + length * step[1], z + length * step[2]) &&
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
  if (m_Plan.needsInverses)
  {
    const std::uint64_t inverse = m_Plan.inverseSquares[level];
    if (m_Plan.wideInverses)
    {
      m_InversesHigh[length] += inverse >> 32;
      m_InversesLow[length] += inverse & 0xffffffffu;
    }
    else
    {
      m_InversesLow[length] += inverse;
    }
  }
  if (!m_Plan.needsLevelCounts && !m_Plan.needsEntropy)
  {
    return;
  }
  m_RunKeys.push_back((level << 8) | static_cast<std::uint32_t>(length));
  if (m_UseTables)
  {
    // (n + 1)^2 - n^2 and t(n + 1) - t(n) keep the sums current.
    m_LevelNonUniformity += 2 * std::uint64_t{ m_LevelCounts[level]++ } + 1;
    if (m_Plan.needsEntropy)
    {
      const std::uint32_t count = m_CellCounts[level * (m_Plan.longestRun + 1) + length]++;
      m_EntropySum += m_Plan.entropyTable[count + 1] - m_Plan.entropyTable[count];
    }
  }
}

void
WindowWalk::EvaluateMatrix(std::uint64_t voxels, double * values)
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
      if (m_Plan.needsEntropy)
      {
        cellCount = r > 0 && m_RunKeys[r] == m_RunKeys[r - 1] ? cellCount + 1 : 1;
        m_EntropySum += m_Plan.entropyTable[cellCount] - m_Plan.entropyTable[cellCount - 1];
      }
    }
  }

  RunLengthSums<double> sums{};
  ClearRuns(sums);
  sums.voxels = static_cast<double>(voxels);
  std::uint64_t runs = 0;
  std::uint64_t squares = 0;
  for (int l = 1; l <= m_Plan.longestRun; ++l)
  {
    const double inverses = m_Plan.wideInverses ? static_cast<double>(m_InversesHigh[l]) * 4294967296.0 +
                                                    static_cast<double>(m_InversesLow[l])
                                                : static_cast<double>(m_InversesLow[l]);
    AddRunsOfLength(sums,
                    m_Plan.lengthSquares[l],
                    m_Plan.shortRunWeights[l],
                    static_cast<double>(m_Runs[l]),
                    static_cast<double>(m_Squares[l]),
                    inverses);
    runs += m_Runs[l];
    squares += m_Squares[l];
  }
  sums.levelNonUniformity = static_cast<double>(m_LevelNonUniformity);
  sums.levelVariance = VarianceNumerator(runs, squares, m_LevelSum);
  if (m_Plan.needsEntropy)
  {
    sums.entropy = static_cast<double>(m_Plan.entropyTable[runs] - m_EntropySum);
  }

  using Division = PlainDivision<double>;
  const RunLengthDivisors<double, Division> divisors(sums, Division::By(m_Plan.scales.shortRunScale));
  for (std::size_t f = 0; f < m_Job.features.size(); ++f)
  {
    values[f] = RunLengthFeatureValue(m_Job.features[f], sums, divisors, m_Plan.scales);
  }
}
} // namespace voxelmaps
} // namespace itk
