// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceColumns_h
#define CooccurrenceColumns_h

#include "CooccurrenceRow.h"
#include "CooccurrenceSlidingWindow.h"
#include "CooccurrenceTile.h"
#include "CorrelationBatch.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace voxelmaps
{
/** The fastest engine, for symmetric matrices of single offsets with few levels: the columns of windows slide along y,
 * and windows of columns along x. See CooccurrenceTile. */
class CooccurrenceColumns
{
public:
  CooccurrenceColumns(const CooccurrenceTask & task, const CooccurrenceTables & tables, const JobExecution & execution,
                      InstructionSet widest);

  static bool
  Supports(const CooccurrenceTask & task, InstructionSet widest);

  /** Compute the output voxels of a box. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  bool
  ComputePlane(const Triple & start, const Triple & size);
  void
  SelectWindows(const Triple & start, const Triple & size);
  bool
  RankLevels(const Triple & start, const Triple & size);
  /** Whether the table is small enough. */
  bool
  LayOutTable();
  void
  MakePlaces();
  void
  ComputeMatrices(int offset);
  void
  FinishWindow(int x, int y, const CooccurrenceTileSums & sums, const std::uint16_t * counts);
  void
  CorrelateCells(const std::uint16_t * counts, CooccurrenceSums & sums);

  const CooccurrenceTask &   m_Task;
  const CooccurrenceTables & m_Tables;
  const JobExecution &       m_Execution;
  CooccurrenceSlidingWindow  m_SlidingWindow;
  CorrelationBatch           m_Correlations;
  const int                  m_CountsPerPair;
  void (*m_ComputeTile)(const CooccurrenceTile &);
  CooccurrenceTile m_Tile{};

  std::vector<CooccurrenceRow> m_Rows;
  std::vector<std::uint8_t>    m_IsComputed;
  std::vector<std::int32_t>    m_RowVoxels; // of the windows, row by row

  std::vector<std::uint8_t>       m_Ranks;
  std::vector<std::uint8_t>       m_LevelRanks;
  std::vector<std::uint16_t>      m_RankLevels;
  std::vector<CooccurrencePlaces> m_Places;
  std::vector<int>                m_DifferenceBegins; // of the cells of a difference of ranks
  std::vector<std::uint16_t>      m_TermSlices;
  std::vector<int>                m_WindowRanks;
  std::shared_ptr<void>           m_Memory;
  std::size_t                     m_MemoryBytes{ 0 };
};
} // namespace voxelmaps

#endif // CooccurrenceColumns_h
