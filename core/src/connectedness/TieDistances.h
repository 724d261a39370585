// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TieDistances_h
#define TieDistances_h

#include "common/HostDevice.h"
#include "connectedness/AffinityPlan.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** The tie rule Distance: values derived from the parameters of a job.
 *
 * The zone of ties consists of the voxels for which several labels have the same greatest strength: they are tied
 * there. Such a voxel gets the label of the nearest voxel that only one label is strongest at, along links between
 * voxels of the zone. A link leads from a voxel to another one at which all of its labels are tied, too, so that only
 * tied labels arrive. A path is as long as its links in millimeters, each rounded to a unit of 1/64 of the smallest
 * spacing. Of labels at equal distances, the one whose first seed comes first in memory is the nearest, so that neither
 * the numbers of labels nor the order of seeds matter.
 *
 * At least one label arrives, if all have the same affinity: follow a strongest path to the voxel back to the first
 * voxel that is stronger, or at which one label is strongest. None of these links is weaker than the voxel that it
 * leads to, so that what is tied before it has this strength behind it. And at the voxel that is stronger a label
 * arrives for the same reason. If labels have affinities of their own, stronger ones can cut off a voxel of the zone;
 * this gets the tied label whose first seed comes first.
 *
 * Distance and rank of the label make a key: distance << rankBits | rank. Keys of neighbors differ by stepKeys, and the
 * smallest key that paths lead to does not depend on the order in which voxels are looked at.
 *
 * The lead of the nearest label is the distance of the nearest voxel of any other label minus that of its own. A path
 * to the nearest voxel of another label leaves the voxels of the own one across some link, and from there on is the
 * shortest one of the neighbor. So leads follow from the distances by paths of another kind, which begin at links
 * between different labels. */
struct TieDistances
{
  explicit TieDistances(const RelativeFuzzyConnectednessJob & job);

  static constexpr std::int64_t unitsPerSpacing = 64;

  /** The labels by the first of their seeds in memory. */
  std::vector<std::uint16_t> rankLabels;
  /** For every label, its place in this list. */
  std::vector<std::uint32_t> labelRanks;
  int                        rankBits;
  /** The links of a voxel, and their lengths as keys. */
  std::vector<Link>          links;
  std::vector<std::uint64_t> stepKeys;
};

/** Sets of labels that are tied, for host and device. A set of up to 32 labels is a word, one bit per rank. If there
 * are more labels, sets have numbers: those of one label, its rank after 1, and then sets of several. No label is 0. */
struct TieSetView
{
  std::uint32_t         numberOfLabels;
  std::uint32_t         wordsPerSet;
  const std::uint32_t * words; // of sets of several labels that have numbers, one bit per rank

  VOXELMAPS_HOST_DEVICE bool
  AreWords() const
  {
    return wordsPerSet <= 1;
  }

  /** Whether a set has several labels. */
  VOXELMAPS_HOST_DEVICE bool
  IsTie(std::uint32_t set) const
  {
    return this->AreWords() ? (set & (set - 1)) != 0 : set > numberOfLabels;
  }

  /** Whether all labels of another set, which is not empty, are in a set of several labels. */
  VOXELMAPS_HOST_DEVICE bool
  Includes(std::uint32_t set, std::uint32_t other) const
  {
    if (set == other || this->AreWords())
    {
      return (other & ~set) == 0;
    }
    const std::uint32_t * const mine = words + std::size_t{ set - 1 - numberOfLabels } * wordsPerSet;
    if (other <= numberOfLabels)
    {
      return (mine[(other - 1) / 32] >> (other - 1) % 32 & 1u) != 0;
    }
    const std::uint32_t * const others = words + std::size_t{ other - 1 - numberOfLabels } * wordsPerSet;
    bool                        includes = true;
    for (std::uint32_t i = 0; includes && i < wordsPerSet; ++i)
    {
      includes = (others[i] & ~mine[i]) == 0;
    }
    return includes;
  }
};

/** Sets of labels, as TieSetView describes them. */
class TieSets
{
public:
  explicit TieSets(const TieDistances & distances);

  /** The set of one label. */
  std::uint32_t
  GetSet(std::uint16_t label) const
  {
    const std::uint32_t rank = m_Distances.labelRanks[label];
    return this->GetView().AreWords() ? 1u << rank : rank + 1;
  }
  std::uint32_t
  GetNumberOfLabels() const
  {
    return static_cast<std::uint32_t>(m_Distances.rankLabels.size());
  }
  std::uint32_t
  GetWordsPerSet() const
  {
    return m_WordsPerSet;
  }
  const std::vector<std::uint32_t> &
  GetWords() const
  {
    return m_Words;
  }
  TieSetView
  GetView() const
  {
    return { this->GetNumberOfLabels(), m_WordsPerSet, m_Words.data() };
  }

  /** The set that two sets make. */
  std::uint32_t
  Join(std::uint32_t set, std::uint32_t other);

  /** The sets of voxels from their words. */
  std::vector<std::uint32_t>
  Find(const std::vector<std::uint32_t> & words);

private:
  using Words = std::vector<std::uint32_t>;

  Words
  CopyWords(std::uint32_t set) const;
  std::uint32_t
  Find(const Words & words, std::size_t first);

  const TieDistances &                                             m_Distances;
  const std::uint32_t                                              m_WordsPerSet;
  Words                                                            m_Words;
  std::map<Words, std::uint32_t>                                   m_Sets;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_Joined;
};

/** The lead of a voxel whose zone of ties no other label reaches. */
constexpr std::uint64_t noLead = ~std::uint64_t{ 0 };

/** Margin of a voxel in the zone of ties: -1 / (1 + lead), from the lead in units, in smallest spacings. */
VOXELMAPS_HOST_DEVICE inline double
GetTieMargin(std::uint64_t lead)
{
  constexpr auto units = static_cast<double>(TieDistances::unitsPerSpacing);
  return lead == noLead ? 0.0 : -units / (units + static_cast<double>(lead));
}
} // namespace voxelmaps

#endif // TieDistances_h
