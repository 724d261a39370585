// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceColumns.h"
#include "CooccurrenceSlidingWindow.h"
#include "glcm/Cooccurrence.h"
#include "glcm/WeightedCooccurrence.h"
#include "window/Tiling.h"
#include "window/cpu/CpuWalk.h"
#include "glcm/CooccurrenceWalk.h"
#include "glcm/MaximalCorrelation.h"

#include <algorithm>
#include <memory>
#include <vector>

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

// What a worker does between two reports: about ten milliseconds.
constexpr std::int64_t maxTilePairs = 1000000;

/** Cost of the maximal correlation of a matrix, in pairs that are counted meanwhile. */
std::int64_t
CorrelationPairs(const CooccurrenceTask & task)
{
  constexpr std::int64_t stepsPerPair = 64;
  const std::int64_t     levels = task.needsMaximalCorrelation ? task.maxCorrelationLevels : 0;
  return levels * levels * levels / stepsPerPair;
}

void
ComputeBySlidingWindow(const CooccurrenceTask & task, const CooccurrenceJob & job)
{
  const Triple &           outputSize = job.outputSize;
  const JobExecution &     execution = job.execution;
  const CooccurrenceTables tables(task);
  // Rows of at least as many voxels as are computed side by side.
  constexpr std::int64_t minRowLength = 8;
  const std::int64_t     correlationPairs = CorrelationPairs(task) * (task.numberOfOffsets / task.OffsetsPerMatrix());
  const std::int64_t     rowLength =
    std::min(tables.rowLength, std::max(maxTilePairs / std::max<std::int64_t>(correlationPairs, 1), minRowLength));
  const std::int64_t length = EqualPart(outputSize[0], rowLength);
  // Per voxel, one plane of each offset enters and one leaves.
  const std::int64_t pairs =
    std::int64_t{ task.window[1] } * task.window[2] * task.numberOfOffsets * (length + task.window[0]) +
    correlationPairs * length;
  const std::int64_t rows = std::min<std::int64_t>(std::max<std::int64_t>(maxTilePairs / pairs, 1), 64);
  const Tiling       tiling(outputSize, { { length, EqualPart(outputSize[1], rows), 1 } });
  ForEachTile(tiling, execution, [&]() {
    auto slidingWindow = std::make_shared<CooccurrenceSlidingWindow>(task, tables, execution, job.widestInstructionSet);
    return [slidingWindow](const Triple & start, const Triple & size) { slidingWindow->Compute(start, size); };
  });
}

void
ComputeByColumns(const CooccurrenceTask & task, const CooccurrenceJob & job)
{
  const Triple &           outputSize = job.outputSize;
  const JobExecution &     execution = job.execution;
  const CooccurrenceTables tables(task);
  // Wide and high enough that filling the first windows costs little.
  constexpr std::int64_t maxWidth = 64;
  constexpr std::int64_t maxHeight = 8;
  const Tiling tiling(outputSize, { { EqualPart(outputSize[0], maxWidth), EqualPart(outputSize[1], maxHeight), 1 } });
  ForEachTile(tiling, execution, [&]() {
    auto columns = std::make_shared<CooccurrenceColumns>(task, tables, execution, job.widestInstructionSet);
    return [columns](const Triple & start, const Triple & size) { columns->Compute(start, size); };
  });
}
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

std::vector<TextureMethod<CooccurrenceJob>>
TextureClass<CooccurrenceJob>::GetMethods(const CooccurrenceJob & job) const
{
  if (!job.offsetWeights.empty())
  {
    return { { "WindowWalk", MethodSupport::Full, [this](const CooccurrenceJob & job) {
                const auto         levels = static_cast<std::int64_t>(MaxWindowLevels(task));
                const std::int64_t steps = static_cast<std::int64_t>(task.maxPairs) + levels * levels;
                ComputeByWalk<WeightedCooccurrence>(task, 2 * (steps + CorrelationPairs(task)), job.execution);
              } } };
  }
  const bool slides = CooccurrenceSlidingWindow::Supports(task);
  return { { "Columns",
             FullSupportIf(slides && CooccurrenceColumns::Supports(task, job.widestInstructionSet)),
             [this](const CooccurrenceJob & job) { ComputeByColumns(task, job); } },
           { "SlidingWindow",
             FullSupportIf(slides),
             [this](const CooccurrenceJob & job) { ComputeBySlidingWindow(task, job); } },
           { "WindowWalk", MethodSupport::Full, [this](const CooccurrenceJob & job) {
              const std::int64_t pairs = static_cast<std::int64_t>(task.maxPairs) + CorrelationPairs(task);
              ComputeByWalkers(
                task, 2 * pairs * (task.numberOfOffsets / task.OffsetsPerMatrix()), job.execution, [&]() {
                  auto walker = std::make_shared<CooccurrenceWalker>(task, job.execution, job.widestInstructionSet);
                  return [walker](const Triple & start, const Triple & size) { walker->Compute(start, size); };
                });
            } } };
}
} // namespace voxelmaps
