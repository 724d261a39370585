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
#ifndef WindowWalk_h
#define WindowWalk_h

#include "RunLengthPlan.h"

namespace itk
{
namespace voxelmaps
{
/** The general engine: walk the runs of one window after the other. Takes every job, and is the slow one. */
class WindowWalk
{
public:
  WindowWalk(const RunLengthJob & job, const RunLengthPlan & plan);

  /** Compute the voxels of a part of the output region. Asks for an abort every few million steps. */
  void
  Compute(const RunLengthJob::Triple & index, const RunLengthJob::Triple & size);

private:
  void
  ComputeVoxel(const RunLengthJob::Triple & voxel, double * values);
  void
  ClearMatrix();
  void
  AddDirection(std::size_t direction, const RunLengthJob::Triple & first, const RunLengthJob::Triple & last);
  void
  AddRun(std::uint32_t level, int length);
  void
  EvaluateMatrix(std::uint64_t voxels, double * values);

  const RunLengthJob &  m_Job;
  const RunLengthPlan & m_Plan;

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
} // namespace itk

#endif // WindowWalk_h
