// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRankedWindows_cuh
#define CudaRankedWindows_cuh

#include "glcm/Cooccurrence.h"
#include "glcm/MaximalCorrelation.h"
#include "window/WindowBox.h"
#include "window/cuda/CudaLevelSet.cuh"

#include <cstdint>

// A block that computes some windows, in which a thread counts the pairs of one matrix, in a table of the ranks of
// levels: most windows of medical images have few levels.
namespace voxelmaps
{
/** The windows that a kernel computes: those of a list, as numbers from first on, or all. */
struct WindowNumbers
{
  std::int64_t          number;
  std::int64_t          first;
  const std::uint32_t * list;

  __device__ std::int64_t
             operator[](std::int64_t i) const
  {
    return list == nullptr ? first + i : first + list[i];
  }
};

/** A window of a block. Levels are numbers of bits, relative to the level of the center; bytes hold them. */
struct RankedWindow
{
  static constexpr int          setLevels = 255;
  static constexpr int          setWords = 8;
  static constexpr std::uint8_t noLevel = 0xff;

  WindowBox    box;
  std::int64_t number;
  /** The level of bit 0. */
  int                least;
  LevelSet<setWords> set;
  int                levels;
  bool               hasFarLevels;

  __device__ void
  Begin(const CooccurrenceTask & task, const WindowNumbers & numbers, std::int64_t i)
  {
    box.isComputed = false;
    number = -1;
    hasFarLevels = false;
    set.Clear(0, 1);
    if (i < numbers.number)
    {
      number = numbers[i];
      box = WindowBox::At(task, number);
    }
    if (box.isComputed)
    {
      least = task.levels[task.LevelOffset(
                box.first[0] + box.center[0], box.first[1] + box.center[1], box.first[2] + box.center[2])] -
              setLevels / 2;
    }
  }
};

/** The counts of a thread: those of four (or two) elements are a word, and the words of all threads lie side by side,
 * so that threads use different banks. */
template <typename TCount, int VThreads>
class ThreadCounts
{
public:
  static constexpr int perWord = 4 / static_cast<int>(sizeof(TCount));

  __device__
  ThreadCounts(char * tables, int thread)
    : m_First(tables + thread * 4)
  {}
  __device__ TCount &
  operator[](int element) const
  {
    return *reinterpret_cast<TCount *>(m_First + element / perWord * (4 * VThreads) +
                                       element % perWord * static_cast<int>(sizeof(TCount)));
  }
  /** Set at least the elements begin ... end - 1 to 0, and others of the same words. */
  __device__ void
  Clear(int begin, int end) const
  {
    for (int word = begin / perWord; word * perWord < end; ++word)
    {
      *reinterpret_cast<std::uint32_t *>(m_First + word * (4 * VThreads)) = 0;
    }
  }

private:
  char * const m_First;
};

/** The windows of a block, in shared memory, and the ranks of their levels. */
template <int VThreads>
class BlockWindows
{
public:
  __device__
  BlockWindows(const CooccurrenceTask & task, int number, RankedWindow * windows, std::uint8_t * ranks)
    : m_Task(task)
    , m_Number(number)
    , m_Windows(windows)
    , m_Ranks(ranks)
  {}

  /** Bytes of the ranks of a window: an odd number of words, so that windows lie in different banks. */
  static int
  RankBytes(const CooccurrenceTask & task)
  {
    return (static_cast<int>(NumberOfVoxels(task.window)) / 8 + 1) * 8 + 4;
  }

  __device__ RankedWindow &
  operator[](int w) const
  {
    return m_Windows[w];
  }

  /** Make the windows from the one with this number on, and replace their levels by ranks, where isUsed(window). */
  template <typename TIsUsed>
  __device__ void
  Make(const WindowNumbers & numbers, std::int64_t first, int rankBytes, const TIsUsed & isUsed)
  {
    const int thread = static_cast<int>(threadIdx.x);
    for (int w = thread; w < m_Number; w += VThreads)
    {
      m_Windows[w].Begin(m_Task, numbers, first + w);
    }
    __syncthreads();
    const int  windowThreads = VThreads / m_Number;
    const int  w = thread / windowThreads;
    const bool isComputed = w < m_Number && m_Windows[w].box.isComputed;
    // Calls visit(levels, ranks) for the rows of the window that this thread computes.
    const auto forEachRow = [&](const auto & visit) {
      const WindowBox & box = m_Windows[w].box;
      for (int row = thread - w * windowThreads; row < box.size[1] * box.size[2]; row += windowThreads)
      {
        const int z = row / box.size[1];
        const int y = row - z * box.size[1];
        visit(m_Task.levels + m_Task.LevelOffset(box.first[0], box.first[1] + y, box.first[2] + z),
              m_Ranks + w * rankBytes + (z * m_Task.window[1] + y) * m_Task.window[0]);
      }
    };
    if (isComputed)
    {
      RankedWindow & window = m_Windows[w];
      forEachRow([&](const std::uint16_t * levels, std::uint8_t * ranks) {
        for (int x = 0; x < window.box.size[0]; ++x)
        {
          const int  level = __ldg(levels + x);
          const int  bit = level - window.least;
          const bool isNear = bit >= 0 && bit < RankedWindow::setLevels;
          if (level != 0 && isNear)
          {
            window.set.Add(bit);
          }
          else if (level != 0)
          {
            window.hasFarLevels = true;
          }
          ranks[x] = level != 0 ? static_cast<std::uint8_t>(bit) : RankedWindow::noLevel;
        }
      });
    }
    __syncthreads();
    for (int i = thread; i < m_Number; i += VThreads)
    {
      m_Windows[i].levels = m_Windows[i].set.MakeRanks();
    }
    __syncthreads();
    if (isComputed && isUsed(m_Windows[w]))
    {
      const auto & set = m_Windows[w].set;
      forEachRow([&](const std::uint16_t *, std::uint8_t * ranks) {
        for (int x = 0; x < m_Windows[w].box.size[0]; ++x)
        {
          ranks[x] =
            ranks[x] == RankedWindow::noLevel ? RankedWindow::noLevel : static_cast<std::uint8_t>(set.Rank(ranks[x]));
        }
      });
    }
    __syncthreads();
  }

  /** Call visit(rank, rank) for the pairs of a window with some offsets, and visit(noLevel, ...) for others. */
  template <typename TVisit>
  __device__ void
  ForEachPair(int w, int rankBytes, int firstOffset, int endOffset, const TVisit & visit) const
  {
    const WindowBox & box = m_Windows[w].box;
    for (int offset = firstOffset; offset < endOffset; ++offset)
    {
      const auto &         step = m_Task.offsets[offset].step;
      const PairBox        pairs(m_Task.offsets[offset], box.size);
      const int            toSecond = (step[2] * m_Task.window[1] + step[1]) * m_Task.window[0] + step[0];
      const std::uint8_t * plane = m_Ranks + w * rankBytes +
                                   (pairs.begin[2] * m_Task.window[1] + pairs.begin[1]) * m_Task.window[0] +
                                   pairs.begin[0];
      for (int z = 0; z < pairs.size[2]; ++z, plane += m_Task.window[1] * m_Task.window[0])
      {
        const std::uint8_t * row = plane;
        for (int y = 0; y < pairs.size[1]; ++y, row += m_Task.window[0])
        {
          for (int x = 0; x < pairs.size[0]; ++x)
          {
            visit(int{ row[x] }, int{ row[x + toSecond] });
          }
        }
      }
    }
  }

private:
  const CooccurrenceTask & m_Task;
  const int                m_Number;
  RankedWindow * const     m_Windows;
  std::uint8_t * const     m_Ranks;
};

/** The element of a pair of ranks in a triangle, or the one behind all elements if a voxel has no level. */
inline __device__ int
PairElement(int a, int b, int elementBehind)
{
  return (a | b) == RankedWindow::noLevel ? elementBehind : TriangleRow(max(a, b)) + min(a, b);
}
} // namespace voxelmaps

#endif // CudaRankedWindows_cuh
