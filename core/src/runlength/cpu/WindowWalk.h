// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef WindowWalk_h
#define WindowWalk_h

#include "runlength/RunLength.h"
#include "texture/cpu/WindowBox.h"

#include <functional>
#include <vector>

namespace voxelmaps
{
/** The general engine: walks the runs of one window after the other. It supports every job and is slow. */
class WindowWalk
{
public:
  WindowWalk(const RunLengthTask & task, const JobExecution & execution);

  /** Compute the output voxels of a box. Checks for an abort every few million steps. */
  void
  Compute(const Triple & start, const Triple & size);

  /** Compute again the output voxels in whose windows a direction without pairs is to be skipped. */
  void
  SkipDirections(const Triple & start, const Triple & size);

private:
  template <typename TCompute>
  void
  ForEachVoxel(const Triple & start, const Triple & size, const TCompute & compute);
  void
  ComputeVoxel(std::int64_t voxel, const WindowBox & window);
  double
  CountVoxels(const WindowBox & window) const;
  void
  ClearMatrix();
  void
  AddDirection(int direction, const WindowBox & window);
  void
  AddRun(std::uint32_t level, int length);
  void
  EvaluateMatrix(double voxels, double * values);

  const RunLengthTask & m_Task;
  const JobExecution &  m_Execution;
  std::vector<double>   m_Values;
  std::vector<double>   m_MatrixValues;
  std::uint64_t         m_Steps{ 0 };

  // Of the current matrix, by run length.
  std::vector<std::uint64_t> m_Runs;
  std::vector<std::uint64_t> m_Squares;
  std::vector<std::uint64_t> m_InversesHigh;
  std::vector<std::uint64_t> m_InversesLow;
  std::uint64_t              m_LevelSum{ 0 };
  std::uint64_t              m_LevelNonUniformity{ 0 };
  std::int64_t               m_EntropySum{ 0 };

  // Counts of levels, and of (level, length), while they fit a table; else a list of runs is sorted.
  bool                       m_UseTables{ true };
  std::vector<std::uint32_t> m_LevelCounts;
  std::vector<std::uint32_t> m_CellCounts;
  std::vector<std::uint32_t> m_RunKeys;
};
} // namespace voxelmaps

#endif // WindowWalk_h
