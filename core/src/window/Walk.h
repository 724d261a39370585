// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Walk_h
#define Walk_h

#include "voxelmaps/Job.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** Base of walks, which compute windows one after the other: on the CPU in one thread, on a device in all threads of a
 * block together, or in single threads, each with windows of its own. A walk has a constructor (task, team, workspace)
 * and Compute(number of an output voxel, x fastest). */
template <typename TTask, bool VUsesSingleThreads>
struct WindowWalk
{
  using Task = TTask;

  static constexpr bool usesSingleThreads = VUsesSingleThreads;
  /** Windows of a call of Compute. */
  static constexpr int numberOfWindows = 1;

  static std::size_t
  GetWorkspaceBytes(const Task &)
  {
    return 0;
  }
};

/** A team of one thread of the CPU. A walk is written for a team, whose threads compute one window after the other
 * together: all of them run its functions, share loops by their rank, and synchronize between writing and reading the
 * memory of the team. CudaThreadBlock is the team of the device. */
class SingleThread
{
public:
  /** Threads of a team at most, and of one that can call Ballot. */
  static constexpr int maxSize = 1;
  static constexpr int maxBallotSize = 1;

  explicit SingleThread(const JobExecution & execution)
    : m_Execution(execution)
  {}

  static constexpr int
  Rank()
  {
    return 0;
  }
  static constexpr int
  Size()
  {
    return 1;
  }
  static void
  Synchronize()
  {}
  /** Result over the values of all threads, for all threads. */
  template <typename T>
  static T
  Sum(const T & value)
  {
    return value;
  }
  template <typename T>
  static T
  Max(const T & value)
  {
    return value;
  }
  /** A bit for each thread, at its rank. */
  static std::uint32_t
  Ballot(bool value)
  {
    return value ? 1 : 0;
  }
  /** Add to a number in the memory of the team; returns the number before. */
  template <typename T>
  static T
  Add(T & number, T value)
  {
    const T before = number;
    number += value;
    return before;
  }
  static void
  SetBits(std::uint32_t & word, std::uint32_t bits)
  {
    word |= bits;
  }
  /** Replace a number if it is 0; returns the number before. */
  template <typename T>
  static T
  ReplaceZero(T & number, T value)
  {
    const T before = number;
    number = before == 0 ? value : before;
    return before;
  }
  /** Call visit(x, y, z) for the voxels of a box. */
  template <typename TVisit>
  static void
  ForEachVoxel(const int (&size)[3], const TVisit & visit)
  {
    for (int z = 0; z < size[2]; ++z)
    {
      for (int y = 0; y < size[1]; ++y)
      {
        for (int x = 0; x < size[0]; ++x)
        {
          visit(x, y, z);
        }
      }
    }
  }
  /** Checks for an abort every few milliseconds. */
  void
  CountSteps(std::uint64_t steps)
  {
    constexpr std::uint64_t stepsBetweenAbortChecks = 2000000;
    m_Steps += steps;
    if (m_Steps > stepsBetweenAbortChecks)
    {
      m_Steps = 0;
      m_Execution.CheckAbort();
    }
  }

private:
  const JobExecution & m_Execution;
  std::uint64_t        m_Steps{ 0 };
};
} // namespace voxelmaps

#endif // Walk_h
