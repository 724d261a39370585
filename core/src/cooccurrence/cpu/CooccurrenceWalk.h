// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceWalk_h
#define CooccurrenceWalk_h

#include "CooccurrenceRow.h"
#include "CorrelationBatch.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The general engine: lists the pairs of one window after the other, and sorts them. It supports every job and is
 * slow. */
class CooccurrenceWalk
{
public:
  CooccurrenceWalk(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest);

  /** Compute the output voxels of a box. Checks for an abort every few million pairs. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  void
  AddPairs(const PairOffset & offset, const WindowBox & window, CooccurrenceSums & sums);
  void
  CountCells(CooccurrenceSums & sums);
  /** After CountCells, which sorts cells, rows and columns. */
  void
  CorrelateCells(CooccurrenceSums & sums);

  const CooccurrenceTask & m_Task;
  const JobExecution &     m_Execution;
  CooccurrenceRow          m_Row;
  CorrelationBatch         m_Correlations;
  std::uint64_t            m_Pairs{ 0 };

  // Of the current matrix: one entry per pair, or two per pair of a symmetric matrix.
  std::vector<std::uint32_t> m_Cells;
  std::vector<std::uint32_t> m_Rows;
  std::vector<std::uint32_t> m_Columns;
  std::vector<std::uint32_t> m_LevelSums;
  std::vector<std::uint32_t> m_Differences;
  std::vector<std::uint32_t> m_RowLevels;
  std::vector<std::uint32_t> m_ColumnLevels;
};
} // namespace voxelmaps

#endif // CooccurrenceWalk_h
