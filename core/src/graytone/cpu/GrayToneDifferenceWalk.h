// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceWalk_h
#define GrayToneDifferenceWalk_h

#include "graytone/GrayToneDifferenceFormulas.h"
#include "graytone/GrayToneDifference.h"
#include "voxelmaps/Job.h"
#include "texture/cpu/WindowBox.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The general engine: visits the neighbors of every voxel of one window after the other. It supports every job and
 * is slow. TDifference is WideDifference if the task says so, or NarrowDifference. */
template <typename TDifference>
class GrayToneDifferenceWalk
{
public:
  GrayToneDifferenceWalk(const GrayToneDifferenceTask & task, const JobExecution & execution);

  /** Compute the output voxels of a box. Checks for an abort every few million neighbors or pairs of levels. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  struct Level
  {
    std::uint32_t count; // n(i)
    TDifference   difference;
    bool          isListed;
  };

  void
  AddVoxels(const WindowBox & window);
  std::ptrdiff_t
  OffsetInWindow(int x, int y, int z) const;
  GrayToneDifferenceSums
  AddLevels();
  void
  ComparePairs(GrayToneDifferenceSums & sums);
  void
  CountSteps(std::uint64_t steps);

  const GrayToneDifferenceTask & m_Task;
  const JobExecution &           m_Execution;
  std::uint64_t                  m_Steps{ 0 };

  // The window with margins that neighbors reach, and steps to neighbors in it.
  std::int64_t                m_Size[3];
  std::vector<std::uint64_t>  m_Window;
  std::vector<std::ptrdiff_t> m_NeighborSteps;

  std::vector<Level>         m_Levels; // by level
  std::vector<std::uint16_t> m_ListedLevels;

  // Of the levels with n(i) > 0, ascending.
  std::vector<double> m_Present;
  std::vector<double> m_Counts;
  std::vector<double> m_Products; // n(i) A(i)
};

extern template class GrayToneDifferenceWalk<NarrowDifference>;
extern template class GrayToneDifferenceWalk<WideDifference>;
} // namespace voxelmaps

#endif // GrayToneDifferenceWalk_h
