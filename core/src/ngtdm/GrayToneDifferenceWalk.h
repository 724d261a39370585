// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceWalk_h
#define GrayToneDifferenceWalk_h

#include "ngtdm/GrayToneDifferenceFormulas.h"
#include "ngtdm/GrayToneDifference.h"
#include "window/PaddedWindow.h"
#include "window/Walk.h"

#include <cmath>
#include <cstddef>

namespace voxelmaps
{
/** Visits the neighbors of every voxel of windows. Supports every task, and is slow. TDifference is WideDifference if
 * the task says so, or NarrowDifference. */
template <typename TTeam, typename TDifference>
class GrayToneDifferenceWalk : public WindowWalk<GrayToneDifferenceTask, false>
{
public:
  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    return static_cast<std::size_t>(MaxLevels(task)) *
             (sizeof(TDifference) + 4 * sizeof(double) + 2 * sizeof(std::uint32_t)) +
           Window(task, task.reach).Bytes() +
           static_cast<std::size_t>(2 * LevelWords(task) + TTeam::maxSize + task.numberOfOffsets + 1) *
             sizeof(std::uint32_t);
  }

  VOXELMAPS_DEVICE
  GrayToneDifferenceWalk(const Task & task, const TTeam & team, void * workspace)
    : m_Task(task)
    , m_Team(team)
    , m_Window(task, task.reach)
    , m_Differences(static_cast<TDifference *>(workspace))
  {
    m_Products = reinterpret_cast<double *>(m_Differences + MaxLevels(task));
    m_RealLevels = m_Products + MaxLevels(task);
    m_RealCounts = m_RealLevels + MaxLevels(task);
    m_Complexities = m_RealCounts + MaxLevels(task);
    char * const window = reinterpret_cast<char *>(m_Complexities + MaxLevels(task));
    m_Window.SetMemory(window);
    m_Counts = reinterpret_cast<std::uint32_t *>(window + m_Window.Bytes());
    m_Levels = m_Counts + MaxLevels(task);
    m_Bits = m_Levels + MaxLevels(task);
    m_LevelsBefore = m_Bits + LevelWords(task);
    m_PartLevels = m_LevelsBefore + LevelWords(task);
    m_NumberOfLevels = m_PartLevels + TTeam::maxSize;
    m_Strides = reinterpret_cast<int *>(m_NumberOfLevels + 1);
    for (int k = m_Team.Rank(); k < m_Task.numberOfOffsets; k += m_Team.Size())
    {
      const PairOffset offset = m_Task.offsets[k];
      m_Strides[k] = m_Window.Stride(offset.step);
    }
  }

  /** Compute an output voxel, counted x fastest. */
  VOXELMAPS_DEVICE void
  Compute(std::int64_t voxel)
  {
    const WindowBox window = WindowBox::At(m_Task, voxel);
    if (!window.isComputed)
    {
      StoreBackground(m_Task, voxel, m_Team);
      return;
    }
    m_Team.Synchronize();
    m_Window.Load(m_Task, window, m_Team);
    this->RankLevels(window);
    this->AddVoxels(window);
    GrayToneDifferenceSums sums{};
    if (m_Team.Rank() == 0)
    {
      sums = this->AddLevels();
    }
    m_Team.Synchronize();
    if (m_Task.needsComplexity || m_Task.needsImbalances)
    {
      sums.imbalances = static_cast<std::uint64_t>(m_Team.Sum(this->ComparePairs()));
      m_Team.Synchronize();
    }
    if (m_Team.Rank() == 0)
    {
      for (std::uint32_t i = 0; i < *m_NumberOfLevels && m_Task.needsComplexity; ++i)
      {
        sums.complexity += m_Complexities[i];
      }
      for (int f = 0; f < m_Task.numberOfFeatures; ++f)
      {
        StoreComponent(m_Task,
                       voxel * m_Task.voxelStride,
                       f,
                       GrayToneDifferenceFeatureValue(m_Task.features[f], sums, m_Task.scale));
      }
    }
  }

private:
  // Sums of levels, up to 2^29, have the number of voxels above them.
  static constexpr std::uint64_t oneVoxel = std::uint64_t{ 1 } << 32;

  using Window = PaddedWindow<std::uint64_t, oneVoxel>;

  static VOXELMAPS_HOST_DEVICE int
  MaxLevels(const Task & task)
  {
    return (task.numberOfGrayLevels < task.windowVoxels ? task.numberOfGrayLevels : task.windowVoxels);
  }
  /** Words with a bit for each level, the first of which stands for no level. */
  static VOXELMAPS_HOST_DEVICE int
  LevelWords(const Task & task)
  {
    return task.numberOfGrayLevels / 32 + 1;
  }

  /** List the levels of the window in rising order, and clear their numbers. */
  VOXELMAPS_DEVICE void
  RankLevels(const WindowBox & window)
  {
    // Each thread lists the levels of a part of the words.
    const int words = LevelWords(m_Task);
    const int partWords = (words + m_Team.Size() - 1) / m_Team.Size();
    const int first = m_Team.Rank() * partWords;
    const int end = first + partWords < words ? first + partWords : words;
    for (int word = first; word < end; ++word)
    {
      m_Bits[word] = 0;
    }
    m_Team.Synchronize();
    m_Window.ForEachVoxel(window, m_Team, [this](const std::uint64_t * voxel) {
      const auto level = static_cast<std::uint32_t>(*voxel);
      m_Team.SetBits(m_Bits[level / 32], 1u << (level % 32));
    });
    m_Team.Synchronize();
    std::uint32_t partLevels = 0;
    for (int word = first; word < end; ++word)
    {
      partLevels += static_cast<std::uint32_t>(CountBits(m_Bits[word]));
    }
    m_PartLevels[m_Team.Rank()] = partLevels;
    m_Team.Synchronize();
    std::uint32_t rank = 0;
    for (int part = 0; part < m_Team.Rank(); ++part)
    {
      rank += m_PartLevels[part];
    }
    for (int word = first; word < end; ++word)
    {
      m_LevelsBefore[word] = rank;
      for (std::uint32_t bits = m_Bits[word]; bits != 0; bits &= bits - 1, ++rank)
      {
        m_Levels[rank] = static_cast<std::uint32_t>(word * 32 + CountBits((bits & (~bits + 1)) - 1));
        m_Counts[rank] = 0;
        m_Differences[rank] = TDifference{};
      }
    }
    if (m_Team.Rank() == m_Team.Size() - 1)
    {
      *m_NumberOfLevels = rank;
    }
    m_Team.Synchronize();
  }

  VOXELMAPS_DEVICE void
  AddVoxels(const WindowBox & window)
  {
    m_Window.ForEachVoxel(window, m_Team, [this](const std::uint64_t * voxel) {
      m_Team.CountSteps(static_cast<std::uint64_t>(m_Task.numberOfOffsets));
      std::uint64_t sum = 0;
      for (int k = 0; k < m_Task.numberOfOffsets; ++k)
      {
        sum += voxel[m_Strides[k]] + voxel[-m_Strides[k]];
      }
      const auto          neighbors = static_cast<std::uint32_t>(sum / oneVoxel);
      const auto          level = static_cast<std::uint32_t>(*voxel);
      const std::uint32_t below = m_Bits[level / 32] & ((1u << (level % 32)) - 1);
      const std::uint32_t rank = m_LevelsBefore[level / 32] + static_cast<std::uint32_t>(CountBits(below));
      if (neighbors != 0 || m_Task.countVoxelsWithoutNeighbors)
      {
        m_Team.Add(m_Counts[rank], std::uint32_t{ 1 });
      }
      TDifference difference{};
      difference.Add(NeighborDifference(level, neighbors, static_cast<std::uint32_t>(sum)), m_Task.weights[neighbors]);
      this->AddDifference(m_Differences[rank], difference);
    });
    m_Team.Synchronize();
  }

  VOXELMAPS_DEVICE void
  AddDifference(NarrowDifference & sum, const NarrowDifference & difference)
  {
    m_Team.Add(sum.value, difference.value);
  }
  VOXELMAPS_DEVICE void
  AddDifference(WideDifference & sum, const WideDifference & difference)
  {
    m_Team.Add(sum.low, difference.low);
    m_Team.Add(sum.high, difference.high);
  }

  /** For one thread; retains the levels that have voxels. */
  VOXELMAPS_DEVICE GrayToneDifferenceSums
  AddLevels()
  {
    GrayToneDifferenceTotals<typename TDifference::Number> totals;
    std::uint32_t                                          number = 0;
    for (std::uint32_t i = 0; i < *m_NumberOfLevels; ++i)
    {
      if (m_Counts[i] != 0)
      {
        m_Products[number] = totals.AddLevel(m_Levels[i], m_Counts[i], m_Differences[i].Get());
        m_RealLevels[number] = m_Levels[i];
        m_RealCounts[number] = m_Counts[i];
        ++number;
      }
    }
    *m_NumberOfLevels = number;
    return totals.GetSums();
  }

  /** Returns the imbalances that this thread has found; their sums are integers below 2^48. */
  VOXELMAPS_DEVICE double
  ComparePairs()
  {
    const int number = static_cast<int>(*m_NumberOfLevels);
    double    imbalances = 0.0;
    for (int i = m_Team.Rank(); i < number; i += m_Team.Size())
    {
      double complexity = 0.0;
      for (int j = i + 1; j < number; ++j)
      {
        complexity += GrayToneDifferencePairTerm(
          m_Products[i], m_Products[j], m_RealLevels[j] - m_RealLevels[i], 1.0 / (m_RealCounts[i] + m_RealCounts[j]));
        imbalances += std::abs(m_RealLevels[i] * m_RealCounts[i] - m_RealLevels[j] * m_RealCounts[j]);
      }
      m_Complexities[i] = complexity;
      m_Team.CountSteps(static_cast<std::uint64_t>(number));
    }
    return imbalances;
  }

  const Task &    m_Task;
  TTeam           m_Team;
  Window          m_Window;
  TDifference *   m_Differences; // A(i) of the levels of the window
  std::uint32_t * m_Counts;      // n(i)
  std::uint32_t * m_Levels;
  // Arrays of the levels with n(i) > 0.
  double * m_Products; // n(i) A(i)
  double * m_RealLevels;
  double * m_RealCounts;
  double * m_Complexities; // sums over the pairs with greater levels

  std::uint32_t * m_Bits;
  std::uint32_t * m_LevelsBefore; // each word of bits
  std::uint32_t * m_PartLevels;   // of a thread
  std::uint32_t * m_NumberOfLevels;
  int *           m_Strides;
};
} // namespace voxelmaps

#endif // GrayToneDifferenceWalk_h
