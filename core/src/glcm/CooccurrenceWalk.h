// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceWalk_h
#define CooccurrenceWalk_h

#include "window/WindowBox.h"
#include "glcm/Cooccurrence.h"

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
/** Add a pair to the sums of moments and weights: all sums that do not depend on other pairs. */
VOXELMAPS_HOST_DEVICE inline void
AddCooccurrencePair(const CooccurrenceTask & task, int a, int b, CooccurrenceSums & sums)
{
  const std::int64_t e = a - b;
  const std::int64_t k = e < 0 ? -e : e;
  const std::int64_t v = a + b - task.scales.center;
  const std::int64_t square = v * v;
  const std::int64_t cube = square * v;
  ++sums.pairs;
  sums.sums += v;
  sums.sumSquares += square;
  if (task.wideMoments)
  {
    // |v| < 2^16, so the fourth power fits 64 bits without a sign.
    const std::uint64_t fourth = static_cast<std::uint64_t>(square) * static_cast<std::uint64_t>(square);
    const std::int64_t  cubeLow = cube & 0xffffffff;
    sums.sumCubes += cubeLow;
    sums.sumCubesHigh += (cube - cubeLow) / 4294967296;
    sums.sumFourths += static_cast<std::int64_t>(fourth & 0xffffffffu);
    sums.sumFourthsHigh += static_cast<std::int64_t>(fourth >> 32);
  }
  else
  {
    sums.sumCubes += cube;
    sums.sumFourths += square * square;
  }
  sums.differences += k;
  sums.differenceSquares += k * k;
  if (!task.scales.symmetric)
  {
    sums.signedDifferences += e;
    sums.products += v * e;
  }
  if (task.needsWeights)
  {
    const std::int64_t * const weights = task.weights + k * NumberOfCooccurrenceWeights;
    for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
    {
      if (task.wideWeights)
      {
        sums.weights[w] += weights[w] & 0xffffffff;
        sums.weightsHigh[w] += weights[w] >> 32;
      }
      else
      {
        sums.weights[w] += weights[w];
      }
    }
  }
}

/** Counts cells, sums of rows and columns, sums and differences of levels: an array over all keys, or a hash table
 * where that would be much larger than the number of keys that a matrix can have. */
struct CooccurrenceCountTable
{
  // Where the keys of each kind begin.
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t sums;
  std::uint64_t differences;

  std::uint64_t keys;
  std::uint64_t entries;
  bool          isHash;
  /** Whether it fits the shared memory of every device. */
  bool isShared;

  VOXELMAPS_HOST_DEVICE std::uint64_t
                        Bytes() const
  {
    return entries * (sizeof(std::uint32_t) + (isHash ? sizeof(std::uint64_t) : 0));
  }
};

inline CooccurrenceCountTable
MakeCooccurrenceCountTable(const CooccurrenceTask & task)
{
  constexpr std::uint64_t sharedBytes = 49152;
  const auto              levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  const std::uint64_t     voxels = NumberOfVoxels(task.window);
  CooccurrenceCountTable  table{};
  std::uint64_t           maxKeys = 0;
  // Adds keys of which so many can occur in a matrix; returns where they begin.
  const auto add = [&](bool isNeeded, std::uint64_t number, std::uint64_t maxOccurring) {
    const std::uint64_t begin = table.keys;
    if (isNeeded)
    {
      table.keys += number;
      maxKeys += std::min(number, maxOccurring);
    }
    return begin;
  };
  add(task.needsCells, task.scales.symmetric ? levels * (levels + 1) / 2 : levels * levels, task.maxPairs);
  table.rows = add(task.needsRows, levels, voxels);
  table.columns = add(task.needsRows && !task.scales.symmetric, levels, voxels);
  table.sums = add(task.needsSumCounts, 2 * levels - 1, task.maxPairs);
  table.differences = add(task.needsDifferenceCounts, levels, task.maxPairs);
  table.entries = table.keys;
  if (table.keys > 4 * maxKeys && table.Bytes() > sharedBytes)
  {
    table.isHash = true;
    table.entries = 64;
    while (table.entries < 2 * maxKeys)
    {
      table.entries *= 2;
    }
  }
  table.isShared = table.Bytes() <= sharedBytes;
  return table;
}

/** Call visit(level, level) for the pairs of a window with an offset; the threads of a team share them. */
template <typename TTeam, typename TVisit>
VOXELMAPS_DEVICE inline void
ForEachPair(const CooccurrenceTask & task, const WindowBox & window, const PairOffset & offset, const TTeam & team,
            const TVisit & visit)
{
  for (int i = team.Rank(); i < window.NumberOfVoxels(); i += TTeam::Size())
  {
    const int row = i / window.size[0];
    const int at[3] = { i - row * window.size[0], row % window.size[1], row / window.size[1] };
    const int a = window.Level(task, at[0], at[1], at[2]);
    const int b = window.Level(task, at[0] + offset.step[0], at[1] + offset.step[1], at[2] + offset.step[2]);
    if (a != 0 && b != 0)
    {
      visit(a, b);
    }
  }
}

/** Counts the pairs of windows one by one. Supports every task without weights of offsets. TTeam has the functions of
 * SingleThread, but a constant size. TCorrelate sets the maximal correlation of the matrix of some offsets. */
template <typename TTeam, typename TNumber, typename TCorrelate>
class CooccurrenceWalk
{
public:
  /** The memory is that of a table. */
  VOXELMAPS_DEVICE
  CooccurrenceWalk(const CooccurrenceTask & task, const CooccurrenceCountTable & table, const TTeam & team,
                   TCorrelate & correlate, void * memory)
    : m_Task(task)
    , m_Table(table)
    , m_Team(team)
    , m_Correlate(correlate)
    , m_Keys(static_cast<std::uint64_t *>(memory)) // first, as they have 64 bits
    , m_Counts(reinterpret_cast<std::uint32_t *>(m_Keys + (table.isHash ? table.entries : 0)))
  {}

  /** Compute an output voxel, counted x fastest. */
  VOXELMAPS_DEVICE void
  Compute(std::int64_t number)
  {
    m_Window = WindowBox::At(m_Task, number);
    if (!m_Window.isComputed)
    {
      StoreBackground(m_Task, number, m_Team);
      return;
    }
    // A thread has the features that it computes.
    constexpr int      threadFeatures = (CooccurrenceTask::maxFeatures + TTeam::Size() - 1) / TTeam::Size();
    const std::int64_t out = number * m_Task.voxelStride;
    const bool         isPerDirection = m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection;
    const int          offsetsPerMatrix = m_Task.OffsetsPerMatrix();
    double             totals[threadFeatures] = {};
    double             matrices = 0.0;
    for (int first = 0; first < m_Task.numberOfOffsets; first += offsetsPerMatrix)
    {
      this->ClearTable();
      CooccurrenceSums sums{};
      sums.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
      for (int i = first; i < first + offsetsPerMatrix; ++i)
      {
        this->AddPairs(m_Task.offsets[i], sums);
      }
      m_Team.Synchronize();
      this->Reduce(sums);
      m_Correlate(m_Window, first, first + offsetsPerMatrix, sums);
      matrices += sums.pairs != 0 ? 1.0 : 0.0;
      for (int i = 0; i < threadFeatures; ++i)
      {
        const int  f = m_Team.Rank() + i * TTeam::Size();
        const bool isFeature = f < m_Task.numberOfFeatures;
        double     value = m_Task.emptyValue;
        if (sums.pairs != 0 && isFeature)
        {
          const CooccurrenceDivisors<Division> divisors(sums.pairs);
          value = CooccurrenceFeatureValue<TNumber, Division>(m_Task.features[f], sums, divisors, m_Task.scales);
          totals[i] += value;
        }
        if (isPerDirection && isFeature)
        {
          StoreComponentOrNaN(
            m_Task, out, std::int64_t{ first / offsetsPerMatrix } * m_Task.numberOfFeatures + f, value);
        }
      }
    }
    for (int i = 0; i < threadFeatures && !isPerDirection; ++i)
    {
      const int f = m_Team.Rank() + i * TTeam::Size();
      if (f < m_Task.numberOfFeatures)
      {
        StoreComponentOrNaN(m_Task, out, f, matrices > 0.0 ? totals[i] / matrices : m_Task.emptyValue);
      }
    }
  }

private:
  using Division = PlainDivision<double>;

  VOXELMAPS_DEVICE void
  ClearTable()
  {
    m_Team.Synchronize();
    for (auto i = static_cast<std::uint64_t>(m_Team.Rank()); i < m_Table.entries; i += std::uint64_t{ TTeam::Size() })
    {
      m_Counts[i] = 0;
      if (m_Table.isHash)
      {
        m_Keys[i] = 0;
      }
    }
    m_Team.Synchronize();
  }

  /** Count one more of a key; returns how many there were. */
  VOXELMAPS_DEVICE std::uint32_t
                   CountOneMore(std::uint64_t key)
  {
    if (!m_Table.isHash)
    {
      return m_Team.Add(m_Counts[key], std::uint32_t{ 1 });
    }
    const std::uint64_t mask = m_Table.entries - 1;
    std::uint64_t       slot = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
    for (;;)
    {
      const std::uint64_t found = m_Team.ReplaceZero(m_Keys[slot], key + 1);
      if (found == 0 || found == key + 1)
      {
        return m_Team.Add(m_Counts[slot], std::uint32_t{ 1 });
      }
      slot = (slot + 1) & mask;
    }
  }
  /** The same; returns t(n + 1) - t(n), which add up to the sum of t in any order of the pairs. */
  VOXELMAPS_DEVICE std::int64_t
                   CountTerm(std::uint64_t key)
  {
    const std::uint32_t count = this->CountOneMore(key);
    return m_Task.scales.entropyTable[count + 1] - m_Task.scales.entropyTable[count];
  }

  VOXELMAPS_DEVICE void
  AddPairs(const PairOffset & offset, CooccurrenceSums & sums)
  {
    m_Team.CountSteps(static_cast<std::uint64_t>(m_Window.NumberOfVoxels()));
    ForEachPair(m_Task, m_Window, offset, m_Team, [&](int a, int b) {
      AddCooccurrencePair(m_Task, a, b, sums);
      this->Count(static_cast<std::uint64_t>(a - 1), static_cast<std::uint64_t>(b - 1), sums);
    });
  }

  /** Levels from 0 on. */
  VOXELMAPS_DEVICE void
  Count(std::uint64_t a, std::uint64_t b, CooccurrenceSums & sums)
  {
    const std::uint64_t lower = a < b ? a : b;
    const std::uint64_t upper = a < b ? b : a;
    if (m_Task.needsCells)
    {
      this->CountCell(a, b, lower, upper, sums);
    }
    if (m_Task.needsRows)
    {
      sums.rowTerms += this->CountTerm(m_Table.rows + a);
      if (m_Task.scales.symmetric)
      {
        sums.rowTerms += this->CountTerm(m_Table.rows + b);
      }
      else
      {
        sums.columnTerms += this->CountTerm(m_Table.columns + b);
      }
    }
    if (m_Task.needsSumCounts)
    {
      sums.sumTerms += this->CountTerm(m_Table.sums + a + b);
    }
    if (m_Task.needsDifferenceCounts)
    {
      sums.differenceTerms += this->CountTerm(m_Table.differences + upper - lower);
    }
  }

  VOXELMAPS_DEVICE void
  CountCell(std::uint64_t a, std::uint64_t b, std::uint64_t lower, std::uint64_t upper, CooccurrenceSums & sums)
  {
    const std::int64_t * const terms = m_Task.scales.entropyTable;
    const auto                 raiseMaximum = [&sums](std::int64_t count) {
      sums.maximum = sums.maximum < count ? count : sums.maximum;
    };
    if (!m_Task.scales.symmetric)
    {
      const std::int64_t n = this->CountOneMore(a * static_cast<std::uint64_t>(m_Task.numberOfGrayLevels) + b);
      sums.cellTerms += terms[n + 1] - terms[n];
      sums.cellSquares += 2 * n + 1;
      raiseMaximum(n + 1);
      return;
    }
    // The cells (a, b) and (b, a) have n pairs each, a cell of the diagonal 2 n.
    const std::int64_t n = this->CountOneMore(upper * (upper + 1) / 2 + lower);
    if (a == b)
    {
      sums.cellTerms += terms[2 * n + 2] - terms[2 * n];
      sums.cellSquares += 8 * n + 4;
      raiseMaximum(2 * n + 2);
    }
    else
    {
      sums.cellTerms += 2 * (terms[n + 1] - terms[n]);
      sums.cellSquares += 4 * n + 2;
      raiseMaximum(n + 1);
    }
  }

  /** From sums of threads to sums of the team. */
  VOXELMAPS_DEVICE void
  Reduce(CooccurrenceSums & sums) const
  {
    for (std::int64_t * sum : { &sums.pairs,
                                &sums.sums,
                                &sums.sumSquares,
                                &sums.sumCubes,
                                &sums.sumFourths,
                                &sums.differences,
                                &sums.differenceSquares,
                                &sums.differenceTerms,
                                &sums.sumTerms,
                                &sums.cellTerms,
                                &sums.rowTerms,
                                &sums.cellSquares })
    {
      *sum = m_Team.Sum(*sum);
    }
    sums.maximum = m_Team.Max(sums.maximum);
    if (m_Task.needsWeights)
    {
      for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
      {
        sums.weights[w] = m_Team.Sum(sums.weights[w]);
        sums.weightsHigh[w] = m_Team.Sum(sums.weightsHigh[w]);
      }
    }
    if (m_Task.wideMoments)
    {
      sums.sumCubesHigh = m_Team.Sum(sums.sumCubesHigh);
      sums.sumFourthsHigh = m_Team.Sum(sums.sumFourthsHigh);
    }
    if (!m_Task.scales.symmetric)
    {
      sums.signedDifferences = m_Team.Sum(sums.signedDifferences);
      sums.products = m_Team.Sum(sums.products);
      sums.columnTerms = m_Team.Sum(sums.columnTerms);
    }
  }

  const CooccurrenceTask &       m_Task;
  const CooccurrenceCountTable & m_Table;
  TTeam                          m_Team;
  TCorrelate &                   m_Correlate;
  std::uint64_t *                m_Keys;
  std::uint32_t *                m_Counts;
  WindowBox                      m_Window{};
};
} // namespace voxelmaps

#endif // CooccurrenceWalk_h
