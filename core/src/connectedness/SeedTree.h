// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SeedTree_h
#define SeedTree_h

#include "connectedness/ConnectednessKeys.h"
#include "connectedness/TieDistances.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace voxelmaps
{
/** What the labels of a tree of seeds give together from a key downwards: the lowest of them, or their set. */
struct SeedTreeStep
{
  std::uint32_t key;
  std::uint32_t value;
};

/** The arrays of a SeedTree, for host and device. */
struct SeedTreeView
{
  const std::uint32_t * values;     // of the seeds themselves
  const std::uint32_t * parents;    // of a root: itself
  const std::uint32_t * keys;       // at which a seed was hung below its parent
  const std::uint32_t * firstSteps; // of every seed; at the end, the number of steps
  const SeedTreeStep *  steps;      // by falling keys

  /** See SeedTree. */
  VOXELMAPS_HOST_DEVICE std::uint32_t
                        GetValue(std::uint32_t seed, std::uint32_t key) const
  {
    while (parents[seed] != seed && keys[seed] >= key)
    {
      seed = parents[seed];
    }
    // The steps that are not weaker than the key come first.
    std::uint32_t begin = firstSteps[seed];
    std::uint32_t end = firstSteps[seed + 1];
    while (begin < end)
    {
      const std::uint32_t middle = begin + (end - begin) / 2;
      begin = steps[middle].key >= key ? middle + 1 : begin;
      end = steps[middle].key >= key ? end : middle;
    }
    return begin == firstSteps[seed] ? values[seed] : steps[begin - 1].value;
  }
};

/** How strongly the seeds of several labels are connected to each other.
 *
 * Let s be a seed to which a voxel v has its greatest strength t. A path from another seed to v continues to s without
 * becoming weaker than min(strength, t), and a path from it to s continues to v in the same way. So the strength of v
 * for any label is min(t, strength of s for this label), and all that labels have at v follows from s and t.
 *
 * Seeds are joined in the order of their strongest links (Kruskal's algorithm). Of two trees, the smaller one is hung
 * below the root of the larger one, and nothing else changes, so that every tree of any stage can still be found. */
class SeedTree
{
public:
  /** labels has one label per seed. Values are sets, or if this is null, labels. Links are consumed. checkAbort is
   * called every few milliseconds, if there is any. */
  SeedTree(const std::vector<std::uint16_t> & labels, std::vector<ComponentLink> links, TieSets * sets,
           const std::function<void()> & checkAbort = {});

  std::uint16_t
  GetLabel(std::uint32_t seed) const
  {
    return m_Labels[seed];
  }

  /** Key of the strongest path from a seed to one of another label; noKey if there is none. */
  std::uint32_t
  GetOtherKey(std::uint32_t seed) const
  {
    return m_OtherKeys[seed];
  }

  /** The value of the label of a seed. */
  std::uint32_t
  GetValue(std::uint32_t seed) const
  {
    return m_Values[seed];
  }

  /** The value of the labels of all seeds that are connected to this one by paths of at least this key. */
  std::uint32_t
  GetValue(std::uint32_t seed, std::uint32_t key) const
  {
    return this->GetView().GetValue(seed, key);
  }

  SeedTreeView
  GetView() const
  {
    return { m_Values.data(), m_Parents.data(), m_Keys.data(), m_FirstSteps.data(), m_Steps.data() };
  }

  const std::vector<std::uint32_t> &
  GetOtherKeys() const
  {
    return m_OtherKeys;
  }
  std::size_t
  GetNumberOfSteps() const
  {
    return m_Steps.size();
  }

private:
  const std::vector<std::uint16_t> & m_Labels;
  std::vector<std::uint32_t>         m_Values;
  std::vector<std::uint32_t>         m_Parents;
  std::vector<std::uint32_t>         m_Keys;
  std::vector<std::uint32_t>         m_OtherKeys;
  /** For seeds that are or were roots of more than themselves: the values of their trees. */
  std::vector<std::uint32_t> m_FirstSteps;
  std::vector<SeedTreeStep>  m_Steps;
};
} // namespace voxelmaps

#endif // SeedTree_h
