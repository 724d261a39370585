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
#include "CooccurrenceSlide.h"

#include "cooccurrence/CooccurrencePairs.h"

#include <algorithm>
#include <utility>

namespace itk
{
namespace voxelmaps
{
namespace
{
// Long rows hide that windows have to be filled at their start; sums of one row stay in the cache.
constexpr std::int64_t maxRowLength = 128;
constexpr std::int64_t minRowLength = 16;

// The table of cells grows with the square of the number of levels in the windows of a row: at most 8 MB per thread
// with counts of 16 bits.
constexpr std::int64_t maxRanks = 2895;

constexpr std::uint64_t pairsBetweenAbortChecks = 4000000;

// Where the moments that are not in the tables begin.
constexpr std::size_t atSums = CooccurrenceSlideTables::differenceSize;
constexpr std::size_t atSigned = atSums + CooccurrenceSlideTables::sumSize;
constexpr std::size_t atCubesHigh = atSigned + 2;
constexpr std::size_t atWeightsHigh = atCubesHigh + 2;
} // namespace

CooccurrenceSlideTables::CooccurrenceSlideTables(const CooccurrenceTask & task)
  : rowLength(maxRowLength)
{
  if (task.needsCells && task.numberOfGrayLevels > maxRanks)
  {
    const std::int64_t planes = maxRanks / (std::int64_t{ task.window[1] } * task.window[2]);
    rowLength = std::max(minRowLength, std::min(maxRowLength, planes - task.window[0] + 1));
  }
  if (task.wideMoments || task.wideWeights)
  {
    return;
  }
  const auto levels = static_cast<std::size_t>(task.numberOfGrayLevels);
  ofDifferences.assign(levels * differenceSize, 0);
  for (std::size_t k = 0; k < levels; ++k)
  {
    std::int64_t * const of = &ofDifferences[k * differenceSize];
    of[0] = 1;
    of[1] = static_cast<std::int64_t>(k);
    of[2] = of[1] * of[1];
    if (task.needsWeights)
    {
      std::copy_n(task.weights + k * NumberOfCooccurrenceWeights, NumberOfCooccurrenceWeights, of + 3);
    }
  }
  ofSums.assign((2 * levels + 1) * sumSize, 0);
  for (std::size_t u = 2; u <= 2 * levels; ++u)
  {
    std::int64_t * const of = &ofSums[u * sumSize];
    of[0] = static_cast<std::int64_t>(u) - task.scales.center;
    of[1] = of[0] * of[0];
    of[2] = of[1] * of[0];
    of[3] = of[1] * of[1];
  }
}

CooccurrenceSlide::CooccurrenceSlide(const CooccurrenceTask & task, const CooccurrenceSlideTables & tables,
                                     const JobExecution & execution)
  : m_Task(task)
  , m_Tables(tables)
  , m_Execution(execution)
  , m_Row(task)
  , m_Walk(task, execution)
  , m_RankOfLevel(static_cast<std::size_t>(task.numberOfGrayLevels) + 1)
{
  const auto levels = static_cast<std::size_t>(task.numberOfGrayLevels);
  const auto maxTotal = (task.scales.symmetric ? 2 : 1) * static_cast<std::size_t>(task.maxPairs);
  m_HasShortCounts = maxTotal <= 65535;
  const auto prepare = [&](auto & counts) {
    counts.sums.resize(task.needsSumCounts ? 2 * levels + 1 : 0);
    counts.differences.resize(task.needsDifferenceCounts ? levels : 0);
    counts.cellsOfCount.resize(task.needsCells ? maxTotal + 1 : 0);
  };
  if (m_HasShortCounts)
  {
    prepare(m_ShortCounts);
  }
  else
  {
    prepare(m_LongCounts);
  }
}

void
CooccurrenceSlide::Compute(const Triple & start, const Triple & size)
{
  for (std::int64_t z = start[2]; z < start[2] + size[2]; ++z)
  {
    for (std::int64_t y = start[1]; y < start[1] + size[1]; ++y)
    {
      this->ComputeRow(y, z, start[0], start[0] + size[0]);
    }
  }
}

void
CooccurrenceSlide::ComputeRow(std::int64_t y, std::int64_t z, std::int64_t xBegin, std::int64_t xEnd)
{
  std::vector<std::int64_t> voxels;
  WindowBox                 window;
  std::int64_t              first = 0;
  m_Windows.clear();
  for (std::int64_t x = xBegin; x < xEnd; ++x)
  {
    const std::int64_t voxel = (z * m_Task.outputSize[1] + y) * m_Task.outputSize[0] + x;
    const WindowBox    here(m_Task, { x, y, z });
    if (here.isComputed)
    {
      first = voxels.empty() ? here.first[0] : first;
      const int begin = static_cast<int>(here.first[0] - first);
      m_Windows.push_back({ begin, begin + here.size[0] });
      voxels.push_back(voxel);
      window = here;
    }
    else
    {
      for (int c = 0; c < m_Task.numberOfComponents; ++c)
      {
        StoreComponentOrNaN(m_Task, voxel * m_Task.numberOfComponents + c, m_Task.backgroundValue);
      }
    }
  }
  if (voxels.empty())
  {
    return;
  }
  this->CopyLevels(first, first + m_Windows.back().end, window);
  if (m_Task.needsCells && !this->RankLevels())
  {
    m_Walk.Compute({ { xBegin, y, z } }, { { xEnd - xBegin, 1, 1 } });
    return;
  }

  m_Row.Begin(std::move(voxels));
  const int  perMatrix = m_Task.OffsetsPerMatrix();
  const bool countsPairs = m_Task.needsCells || m_Task.needsSumCounts || m_Task.needsDifferenceCounts;
  for (int offset = 0; offset < m_Task.numberOfOffsets; offset += perMatrix)
  {
    m_Row.ClearSums();
    m_Moments.assign(m_Row.NumberOfVoxels(), Moments{});
    for (int i = 0; i < perMatrix; ++i)
    {
      this->AddMoments(this->GetPlane(m_Task.offsets[offset + i]));
    }
    this->StoreMoments();
    if (countsPairs)
    {
      this->CountPairs(offset, perMatrix);
    }
    m_Row.FinishMatrix(offset / perMatrix);
  }
  m_Row.Finish();
}

void
CooccurrenceSlide::CopyLevels(std::int64_t xBegin, std::int64_t xEnd, const WindowBox & window)
{
  m_SizeY = window.size[1];
  m_SizeZ = window.size[2];
  const auto planeSize = static_cast<std::size_t>(m_SizeY) * static_cast<std::size_t>(m_SizeZ);
  const auto planes = static_cast<std::size_t>(xEnd - xBegin);
  m_Levels.resize(planes * planeSize);
  for (int z = 0; z < m_SizeZ; ++z)
  {
    for (int y = 0; y < m_SizeY; ++y)
    {
      const std::uint16_t * const from =
        m_Task.levels + m_Task.LevelOffset(xBegin, window.first[1] + y, window.first[2] + z);
      std::uint16_t * const to = &m_Levels[static_cast<std::size_t>(z * m_SizeY + y)];
      for (std::size_t x = 0; x < planes; ++x)
      {
        to[x * planeSize] = from[x];
      }
    }
  }
}

bool
CooccurrenceSlide::RankLevels()
{
  m_Ranks.resize(m_Levels.size());
  m_LevelOfRank.clear();
  for (std::size_t i = 0; i < m_Levels.size(); ++i)
  {
    std::uint16_t & rank = m_RankOfLevel[m_Levels[i]];
    if (rank == 0 && m_Levels[i] != 0)
    {
      m_LevelOfRank.push_back(m_Levels[i]);
      rank = static_cast<std::uint16_t>(m_LevelOfRank.size());
      if (m_LevelOfRank.size() > static_cast<std::size_t>(maxRanks))
      {
        break;
      }
    }
    m_Ranks[i] = rank;
  }
  for (const std::uint16_t level : m_LevelOfRank)
  {
    m_RankOfLevel[level] = 0;
  }
  return m_LevelOfRank.size() <= static_cast<std::size_t>(maxRanks);
}

CooccurrenceSlide::PlaneOfPairs
CooccurrenceSlide::GetPlane(const CooccurrenceOffset & offset) const
{
  const auto & step = offset.step;
  PlaneOfPairs plane;
  plane.before = std::max(-step[0], 0);
  plane.after = std::max(step[0], 0);
  plane.yBegin = std::max(-step[1], 0);
  plane.yEnd = m_SizeY - std::max(step[1], 0);
  plane.zBegin = std::max(-step[2], 0);
  plane.zEnd = m_SizeZ - std::max(step[2], 0);
  plane.stride = (std::ptrdiff_t{ step[0] } * m_SizeZ + step[2]) * m_SizeY + step[1];
  if (plane.yEnd <= plane.yBegin)
  {
    plane.zEnd = plane.zBegin;
  }
  return plane;
}

template <typename TAdd, typename TRemove>
void
CooccurrenceSlide::MoveTo(const Window & window, const PlaneOfPairs & plane, PlaneRange & range, const TAdd & add,
                          const TRemove & remove)
{
  // Windows move upward: both ends never decrease.
  const int begin = window.begin + plane.before;
  const int end = window.end - plane.after;
  for (; range.begin < begin && range.begin < range.end; ++range.begin)
  {
    remove(range.begin);
  }
  if (range.begin == range.end)
  {
    range.begin = std::max(range.begin, begin);
    range.end = range.begin;
  }
  for (; range.end < end; ++range.end)
  {
    add(range.end);
  }
}

void
CooccurrenceSlide::CheckAbort(const PlaneOfPairs & plane)
{
  m_Pairs += static_cast<std::uint64_t>((plane.yEnd - plane.yBegin) * (plane.zEnd - plane.zBegin));
  if (m_Pairs >= pairsBetweenAbortChecks)
  {
    m_Pairs = 0;
    m_Execution.CheckAbort();
  }
}

void
CooccurrenceSlide::AddMoments(const PlaneOfPairs & plane)
{
  if (plane.zEnd <= plane.zBegin)
  {
    return;
  }
  m_MomentsOfPlanes.resize(static_cast<std::size_t>(m_Windows.back().end));
  Moments    total{};
  PlaneRange range;
  for (std::size_t n = 0; n < m_Windows.size(); ++n)
  {
    MoveTo(
      m_Windows[n],
      plane,
      range,
      [&](int x) {
        this->CheckAbort(plane);
        Moments & moments = m_MomentsOfPlanes[static_cast<std::size_t>(x)];
        moments = this->ComputeMoments(plane, x);
        for (std::size_t i = 0; i < numberOfMoments; ++i)
        {
          total[i] += moments[i];
        }
      },
      [&](int x) {
        const Moments & moments = m_MomentsOfPlanes[static_cast<std::size_t>(x)];
        for (std::size_t i = 0; i < numberOfMoments; ++i)
        {
          total[i] -= moments[i];
        }
      });
    for (std::size_t i = 0; i < numberOfMoments; ++i)
    {
      m_Moments[n][i] += total[i];
    }
  }
}

CooccurrenceSlide::Moments
CooccurrenceSlide::ComputeMoments(const PlaneOfPairs & plane, int x)
{
  Moments          moments{};
  CooccurrenceSums wide{};
  const bool       isWide = m_Task.wideMoments || m_Task.wideWeights;
  for (int z = plane.zBegin; z < plane.zEnd; ++z)
  {
    const std::uint16_t * const levels = &m_Levels[static_cast<std::size_t>((x * m_SizeZ + z) * m_SizeY)];
    for (int y = plane.yBegin; y < plane.yEnd; ++y)
    {
      const int a = levels[y];
      const int b = levels[y + plane.stride];
      if (a == 0 || b == 0)
      {
        continue;
      }
      if (isWide)
      {
        AddCooccurrencePair(m_Task, a, b, wide);
        continue;
      }
      const int                  e = a - b;
      const int                  k = e < 0 ? -e : e;
      const std::int64_t * const ofDifference =
        &m_Tables.ofDifferences[static_cast<std::size_t>(k) * CooccurrenceSlideTables::differenceSize];
      const std::int64_t * const ofSum =
        &m_Tables.ofSums[static_cast<std::size_t>(a + b) * CooccurrenceSlideTables::sumSize];
      for (std::size_t i = 0; i < CooccurrenceSlideTables::differenceSize; ++i)
      {
        moments[i] += ofDifference[i];
      }
      for (std::size_t i = 0; i < CooccurrenceSlideTables::sumSize; ++i)
      {
        moments[atSums + i] += ofSum[i];
      }
      moments[atSigned] += e;
      moments[atSigned + 1] += e * ofSum[0];
    }
  }
  if (isWide)
  {
    moments = {
      wide.pairs,          wide.differences,    wide.differenceSquares, wide.weights[0],     wide.weights[1],
      wide.weights[2],     wide.weights[3],     wide.weights[4],        wide.sums,           wide.sumSquares,
      wide.sumCubes,       wide.sumFourths,     wide.signedDifferences, wide.products,       wide.sumCubesHigh,
      wide.sumFourthsHigh, wide.weightsHigh[0], wide.weightsHigh[1],    wide.weightsHigh[2], wide.weightsHigh[3],
      wide.weightsHigh[4]
    };
  }
  return moments;
}

void
CooccurrenceSlide::StoreMoments()
{
  for (std::size_t n = 0; n < m_Moments.size(); ++n)
  {
    const Moments &    moments = m_Moments[n];
    CooccurrenceSums & sums = m_Row.Sums()[n];
    sums.pairs = moments[0];
    sums.differences = moments[1];
    sums.differenceSquares = moments[2];
    sums.sums = moments[atSums];
    sums.sumSquares = moments[atSums + 1];
    sums.sumCubes = moments[atSums + 2];
    sums.sumFourths = moments[atSums + 3];
    // The two orders of a pair cancel in symmetric matrices.
    sums.signedDifferences = m_Task.scales.symmetric ? 0 : moments[atSigned];
    sums.products = m_Task.scales.symmetric ? 0 : moments[atSigned + 1];
    sums.sumCubesHigh = moments[atCubesHigh];
    sums.sumFourthsHigh = moments[atCubesHigh + 1];
    for (std::size_t w = 0; w < NumberOfCooccurrenceWeights; ++w)
    {
      sums.weights[w] = moments[3 + w];
      sums.weightsHigh[w] = moments[atWeightsHigh + w];
    }
  }
}

void
CooccurrenceSlide::CountPairs(int firstOffset, int numberOfOffsets)
{
  if (m_HasShortCounts)
  {
    m_Task.scales.symmetric ? this->CountPairs<std::uint16_t, true>(firstOffset, numberOfOffsets, m_ShortCounts)
                            : this->CountPairs<std::uint16_t, false>(firstOffset, numberOfOffsets, m_ShortCounts);
  }
  else
  {
    m_Task.scales.symmetric ? this->CountPairs<std::uint32_t, true>(firstOffset, numberOfOffsets, m_LongCounts)
                            : this->CountPairs<std::uint32_t, false>(firstOffset, numberOfOffsets, m_LongCounts);
  }
}

template <typename TCount, bool VSymmetric>
void
CooccurrenceSlide::CountPairs(int firstOffset, int numberOfOffsets, Counts<TCount> & counts)
{
  if (m_Task.needsCells)
  {
    const std::size_t ranks = m_LevelOfRank.size();
    const std::size_t cells = VSymmetric ? ranks * (ranks + 1) / 2 : ranks * ranks;
    counts.cells.resize(std::max(counts.cells.size(), cells));
    counts.rows.resize(std::max(counts.rows.size(), ranks + 1));
    counts.columns.resize(std::max(counts.columns.size(), ranks + 1));
  }
  m_Planes.clear();
  for (int i = 0; i < numberOfOffsets; ++i)
  {
    const PlaneOfPairs plane = this->GetPlane(m_Task.offsets[firstOffset + i]);
    if (plane.zEnd > plane.zBegin)
    {
      m_Planes.push_back(plane);
    }
  }
  m_Ranges.assign(m_Planes.size(), PlaneRange{});

  CooccurrenceSums sums{};
  const auto       moveTo = [&](const Window & window) {
    for (std::size_t i = 0; i < m_Planes.size(); ++i)
    {
      MoveTo(
        window,
        m_Planes[i],
        m_Ranges[i],
        [&](int x) {
          this->CheckAbort(m_Planes[i]);
          this->CountPlane<TCount, VSymmetric, true>(m_Planes[i], x, counts, sums);
        },
        [&](int x) { this->CountPlane<TCount, VSymmetric, false>(m_Planes[i], x, counts, sums); });
    }
  };
  for (std::size_t n = 0; n < m_Windows.size(); ++n)
  {
    moveTo(m_Windows[n]);
    // Counts that fall leave the maximum too great.
    while (sums.maximum > 0 && counts.cellsOfCount[static_cast<std::size_t>(sums.maximum)] == 0)
    {
      --sums.maximum;
    }
    CooccurrenceSums & to = m_Row.Sums()[n];
    to.differenceTerms = sums.differenceTerms;
    to.sumTerms = sums.sumTerms;
    to.cellTerms = sums.cellTerms;
    to.rowTerms = sums.rowTerms;
    to.columnTerms = sums.columnTerms;
    to.cellSquares = sums.cellSquares;
    to.maximum = sums.maximum;
  }
  // Leave the tables empty.
  const int end = m_Windows.back().end;
  moveTo({ end, end });
}

template <typename TCount, bool VSymmetric, bool VAdd>
void
CooccurrenceSlide::CountPlane(const PlaneOfPairs & plane, int x, Counts<TCount> & counts, CooccurrenceSums & sums)
{
  const std::int64_t * const terms = m_Task.scales.entropyTable;
  const bool                 needsSumCounts = m_Task.needsSumCounts;
  const bool                 needsDifferenceCounts = m_Task.needsDifferenceCounts;
  const bool                 needsCells = m_Task.needsCells;
  const bool                 needsRows = m_Task.needsRows;
  CooccurrenceSums           change{};
  std::int64_t               maximum = sums.maximum;

  // The change of the sum of terms as a count goes up or down by one.
  const auto count = [terms](TCount & n) {
    const std::int64_t smaller = VAdd ? n : n - 1;
    n = static_cast<TCount>(VAdd ? smaller + 1 : smaller);
    return terms[smaller + 1] - terms[smaller];
  };
  for (int z = plane.zBegin; z < plane.zEnd; ++z)
  {
    const auto                  row = static_cast<std::size_t>((x * m_SizeZ + z) * m_SizeY);
    const std::uint16_t * const levels = &m_Levels[row];
    for (int y = plane.yBegin; y < plane.yEnd; ++y)
    {
      const int a = levels[y];
      const int b = levels[y + plane.stride];
      if (a == 0 || b == 0)
      {
        continue;
      }
      if (needsSumCounts)
      {
        change.sumTerms += count(counts.sums[static_cast<std::size_t>(a + b)]);
      }
      if (needsDifferenceCounts)
      {
        change.differenceTerms += count(counts.differences[static_cast<std::size_t>(a < b ? b - a : a - b)]);
      }
      if (!needsCells)
      {
        continue;
      }
      const std::size_t rankA = m_Ranks[row + static_cast<std::size_t>(y)];
      const std::size_t rankB = m_Ranks[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(row) + y + plane.stride)];
      const std::size_t greater = std::max(rankA, rankB);
      const std::size_t lesser = std::min(rankA, rankB);
      TCount &          cell = counts.cells[VSymmetric ? greater * (greater - 1) / 2 + lesser - 1
                                                       : (rankA - 1) * m_LevelOfRank.size() + rankB - 1];
      // Pairs of one level are counted twice in the same cell of a symmetric matrix, others in two cells.
      const int          isDouble = VSymmetric && rankA == rankB ? 1 : 0;
      const int          isTwice = VSymmetric ? 1 - isDouble : 0;
      const std::int64_t smaller = VAdd ? cell : cell - 1;
      cell = static_cast<TCount>(VAdd ? smaller + 1 : smaller);
      const std::int64_t less = smaller << isDouble;
      const std::int64_t more = (smaller + 1) << isDouble;
      change.cellTerms += (terms[more] - terms[less]) << isTwice;
      change.cellSquares += (more * more - less * less) << isTwice;
      const int sign = VAdd ? 1 : -1;
      counts.cellsOfCount[static_cast<std::size_t>(less)] -= static_cast<std::uint32_t>(sign);
      counts.cellsOfCount[static_cast<std::size_t>(more)] += static_cast<std::uint32_t>(sign);
      if (VAdd)
      {
        maximum = std::max(maximum, more);
      }
      if (needsRows)
      {
        change.rowTerms += count(counts.rows[rankA]);
        if (VSymmetric)
        {
          change.rowTerms += count(counts.rows[rankB]);
        }
        else
        {
          change.columnTerms += count(counts.columns[rankB]);
        }
      }
    }
  }
  const std::int64_t sign = VAdd ? 1 : -1;
  sums.sumTerms += sign * change.sumTerms;
  sums.differenceTerms += sign * change.differenceTerms;
  sums.cellTerms += sign * change.cellTerms;
  sums.cellSquares += sign * change.cellSquares;
  sums.rowTerms += sign * change.rowTerms;
  sums.columnTerms += sign * change.columnTerms;
  sums.maximum = maximum;
}
} // namespace voxelmaps
} // namespace itk
