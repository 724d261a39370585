// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "cooccurrence/CooccurrenceWalk.h"

#include "CooccurrenceSlide.h"
#include "cooccurrence/MaximalCorrelation.h"
#include "texture/cpu/Walk.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
/** Sets the maximal correlations of windows, one by one. */
class WindowCorrelation
{
public:
  WindowCorrelation(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest)
    : m_Task(task)
    , m_Thread(execution)
    , m_Correlations(task, execution, widest)
  {}

  void
  operator()(const WindowBox & window, int firstOffset, int endOffset, CooccurrenceSums & sums)
  {
    if (!m_Task.needsMaximalCorrelation || sums.pairs == 0)
    {
      return;
    }
    const bool         isSymmetric = m_Task.scales.symmetric;
    std::vector<int> & columns = isSymmetric ? m_RowLevels : m_ColumnLevels;
    const auto         forEachPair = [&](const auto & visit) {
      for (int i = firstOffset; i < endOffset; ++i)
      {
        ForEachPair(m_Task, window, m_Task.offsets[i], m_Thread, visit);
      }
    };
    m_RowLevels.clear();
    m_ColumnLevels.clear();
    forEachPair([&](int a, int b) {
      m_RowLevels.push_back(a);
      columns.push_back(b);
    });
    for (std::vector<int> * const levels : { &m_RowLevels, &m_ColumnLevels })
    {
      std::sort(levels->begin(), levels->end());
      levels->erase(std::unique(levels->begin(), levels->end()), levels->end());
    }
    const auto findRank = [](const std::vector<int> & levels, int level) {
      return static_cast<int>(std::lower_bound(levels.begin(), levels.end(), level) - levels.begin());
    };
    const auto numberOfRows = static_cast<int>(m_RowLevels.size());
    const auto numberOfColumns = static_cast<int>(columns.size());
    if (isSymmetric)
    {
      double * const       counts = m_Correlations.BeginSymmetric(numberOfRows, &sums.maximalCorrelation);
      const std::ptrdiff_t stride = m_Correlations.GetStride();
      for (int i = 0; i < TriangleRow(numberOfRows); ++i)
      {
        counts[i * stride] = 0.0;
      }
      forEachPair([&](int a, int b) {
        const int i = findRank(m_RowLevels, a);
        const int j = findRank(m_RowLevels, b);
        counts[(TriangleRow(std::max(i, j)) + std::min(i, j)) * stride] += i == j ? 2.0 : 1.0;
      });
    }
    else
    {
      double * const counts = m_Correlations.BeginAsymmetric(numberOfRows, numberOfColumns, &sums.maximalCorrelation);
      forEachPair(
        [&](int a, int b) { counts[findRank(m_RowLevels, a) * numberOfColumns + findRank(m_ColumnLevels, b)] += 1.0; });
      m_Correlations.FinishAsymmetric();
    }
    m_Correlations.Flush();
  }

private:
  const CooccurrenceTask & m_Task;
  SingleThread             m_Thread;
  CorrelationBatch         m_Correlations;
  std::vector<int>         m_RowLevels;
  std::vector<int>         m_ColumnLevels;
};

template <typename TNumber>
struct Walker
{
  CooccurrenceCountTable                                     table;
  std::shared_ptr<void>                                      memory;
  WindowCorrelation                                          correlation;
  CooccurrenceWalk<SingleThread, TNumber, WindowCorrelation> walk;

  Walker(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest)
    : table(MakeCooccurrenceCountTable(task))
    , memory(MakeWorkspace(table.Bytes()))
    , correlation(task, execution, widest)
    , walk(task, table, SingleThread(execution), correlation, memory.get())
  {}
};
} // namespace

void
CooccurrenceWalker::Compute(const Triple & start, const Triple & size)
{
  const auto make = [this](auto number) {
    const auto walker = std::make_shared<Walker<decltype(number)>>(m_Task, m_Execution, m_Widest);
    m_Compute = [walker, this](const Triple & first, const Triple & extent) {
      ForEachVoxelOfBox(m_Task, first, extent, [&](std::int64_t voxel) { walker->walk.Compute(voxel); });
    };
  };
  if (!m_Compute)
  {
    switch (m_Task.arithmetic)
    {
      case CooccurrenceArithmetic::Double:
        make(double());
        break;
      case CooccurrenceArithmetic::Bits128:
        make(WideInteger<2>(0));
        break;
      case CooccurrenceArithmetic::Bits256:
        make(WideInteger<4>(0));
        break;
    }
  }
  m_Compute(start, size);
}
} // namespace voxelmaps
