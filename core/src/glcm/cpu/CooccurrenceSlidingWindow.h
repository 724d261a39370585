// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceSlidingWindow_h
#define CooccurrenceSlidingWindow_h

#include "CooccurrenceRow.h"
#include "CooccurrenceTile.h"
#include "CorrelationBatch.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace voxelmaps
{
/** Computes windows one by one, for one thread; supports every task without weights of offsets. */
class CooccurrenceWalker
{
public:
  CooccurrenceWalker(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest)
    : m_Task(task)
    , m_Execution(execution)
    , m_Widest(widest)
  {}

  /** Compute the output voxels of a box. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  const CooccurrenceTask &                                       m_Task;
  const JobExecution &                                           m_Execution;
  InstructionSet                                                 m_Widest;
  std::function<void(const Triple & start, const Triple & size)> m_Compute; // once it is needed
};

/** What all threads of CooccurrenceSlidingWindow share. */
class CooccurrenceTables
{
public:
  explicit CooccurrenceTables(const CooccurrenceTask & task);

  /** Moments of a pair. */
  static constexpr std::size_t differenceSize = cooccurrenceDifferenceMoments;
  static constexpr std::size_t sumSize = cooccurrenceSumMoments;

  /** 1, k, k^2 and the weights w(k) at [k * differenceSize]; v, v^2, v^3 and v^4 at [u * sumSize]. Empty if the sums of
   * moments or weights need more than 64 bits. */
  std::vector<std::int64_t> differenceTable;
  std::vector<std::int64_t> sumTable;

  /** How sums over the cells of one pair of levels, in both orders, grow when a pair is added to m. */
  struct CellStep
  {
    std::int64_t terms;
    std::int64_t squares;
  };
  /** t(n + 1) - t(n), and the steps of cells, at [2 m] of two levels and at [2 m + 1] of one. */
  std::vector<std::int64_t> termSteps;
  std::vector<CellStep>     cellSteps;

  /** Voxels of a row that are computed together. */
  std::int64_t rowLength;
};

/** The fast engine: windows slide along x; one plane of pairs enters and one leaves their counts, offset by offset. */
class CooccurrenceSlidingWindow
{
public:
  CooccurrenceSlidingWindow(const CooccurrenceTask & task, const CooccurrenceTables & tables,
                            const JobExecution & execution, InstructionSet widest);

  /** Whether counts fit 16 bits. */
  static bool
  Supports(const CooccurrenceTask & task);

  /** Compute the output voxels of a box, of at most rowLength voxels along x. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  /** Sums of moments and weights: those of CooccurrenceTables, sums of e and v e, then upper halves. */
  static constexpr std::size_t numberOfMoments = 24;
  using Moments = std::array<std::int64_t, numberOfMoments>;

  /** Where a pair is counted. */
  struct Pair
  {
    std::uint32_t cell;
    std::uint32_t sum;
    std::uint16_t difference;
    std::uint16_t firstRank;
    std::uint16_t secondRank;
    std::uint16_t isEqual; // 1 if both levels are the same
  };
  /** The pairs whose first voxel has the same x. */
  struct Plane
  {
    std::vector<Pair> pairs; // the first number ones
    std::size_t       number{ 0 };
    Moments           moments{};
  };
  /** A window along x, among the planes of the row. */
  struct Window
  {
    int begin;
    int end;
  };
  /** The pairs of one offset in the current window. */
  struct Slider
  {
    int            before; // voxels that the first voxel is away from the two ends of the window
    int            after;
    int            yBegin;
    int            yEnd;
    int            zBegin;
    int            zEnd;
    std::ptrdiff_t stride; // from the level of the first to that of the second voxel

    // The planes begin ... end - 1 are in the sums; that of x is planes[x % planes.size()].
    int                begin;
    int                end;
    std::vector<Plane> planes;
    Moments            moments;
  };

  void
  ComputeRow(std::int64_t y, std::int64_t z, std::int64_t xBegin, std::int64_t xEnd);
  void
  CopyLevels(std::int64_t xBegin, std::int64_t xEnd, const WindowBox & window);
  bool
  RankLevels();
  void
  SetOffset(const PairOffset & offset, Slider & slider) const;
  template <bool VSymmetric>
  void
  MakePlane(const Slider & slider, int x, Plane & plane);
  void
  StoreMoments(const Moments & moments, CooccurrenceSums & sums) const;
  void
  CheckAbort(const Slider & slider);

  using Count = std::uint16_t;
  struct Counts
  {
    std::vector<Count>         cells;
    std::vector<Count>         rows;
    std::vector<Count>         columns;
    std::vector<Count>         sums;
    std::vector<Count>         differences;
    std::vector<std::uint32_t> countCells; // by their count
  };
  template <bool VSymmetric>
  void
  ComputeMatrix(int firstOffset, int numberOfOffsets);
  template <bool VSymmetric>
  void
  MoveTo(const Window & window, Slider & slider, CooccurrenceSums & sums);
  template <bool VSymmetric, bool VAdd>
  void
  CountPlane(const Plane & plane, CooccurrenceSums & sums);
  template <bool VSymmetric>
  void
  CorrelateCells(CooccurrenceSums & sums);

  const CooccurrenceTask &   m_Task;
  const CooccurrenceTables & m_Tables;
  const JobExecution &       m_Execution;
  CooccurrenceRow            m_Row;
  CooccurrenceWalker         m_Walk;
  CorrelationBatch           m_Correlations;
  const bool                 m_IsWide;
  const bool                 m_CountsPairs;
  std::uint64_t              m_Pairs{ 0 };

  // The levels that the windows of a row hold, plane by plane: y fastest, x slowest; and their ranks, from 1: in rising
  // order, if the order of levels matters.
  int                        m_SizeY{ 0 };
  int                        m_SizeZ{ 0 };
  std::vector<std::uint16_t> m_Levels;
  std::vector<std::uint16_t> m_Ranks;
  std::vector<std::uint16_t> m_LevelRanks;
  std::vector<std::uint16_t> m_RankLevels;
  std::vector<std::size_t>   m_WindowRows;
  std::vector<std::size_t>   m_WindowColumns;
  std::vector<Window>        m_Windows;
  std::vector<Slider>        m_Sliders;
  Counts                     m_Counts;
};
} // namespace voxelmaps

#endif // CooccurrenceSlidingWindow_h
