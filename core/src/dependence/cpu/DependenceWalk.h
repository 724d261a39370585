// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependenceWalk_h
#define DependenceWalk_h

#include "dependence/Dependence.h"
#include "texture/cpu/WindowBox.h"

#include <vector>

namespace voxelmaps
{
/** Looks at all neighbors of all voxels of one window after the other; supports every task. */
class DependenceWalk
{
public:
  DependenceWalk(const DependenceTask & task, const JobExecution & execution);

  /** Compute a box of the output region. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  /** Fill m_Keys. */
  void
  FindEntries(const WindowBox & window);
  void
  AddEntries(SizeMatrixSums & sums);

  const DependenceTask & m_Task;
  const JobExecution &   m_Execution;
  /** Level and size of the entries of a window: level 2^16 + size. */
  std::vector<std::uint32_t> m_Keys;
  std::vector<std::uint32_t> m_Sizes;
  std::uint64_t              m_Steps{ 0 };
};
} // namespace voxelmaps

#endif // DependenceWalk_h
