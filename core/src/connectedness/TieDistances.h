// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TieDistances_h
#define TieDistances_h

#include "common/HostDevice.h"
#include "connectedness/AffinityPlan.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The tie rule Distance: values derived from the parameters of a job.
 *
 * The zone of ties are the voxels that several labels have the same greatest strength for. Such a voxel gets the label
 * of the nearest voxel that has a label, along links between voxels of the zone that pass labels on: a link does if
 * neither it nor the voxel that it leads from is weaker than the voxel that it leads to. A path is as long as its links
 * in millimeters, each rounded to a unit of 1/64 of the smallest spacing. Of labels at equal distances, the one whose
 * first seed comes first in memory is the nearest, so that neither the numbers of labels nor the order of seeds matter.
 *
 * Only tied labels arrive at a voxel, because by such a link, a label has the strength of the voxel there. At least one
 * does: on a strongest path to the voxel, follow the links back to the first voxel that is stronger, or has a label.
 * All these links pass labels on, and the voxel has a label, or one arrives there for the same reason.
 *
 * If labels have affinities of their own, links pass on a label by its own affinity. A label that is stronger at the
 * voxels around can then cut off a voxel of the zone; this gets the tied label whose first seed comes first.
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

/** The ranks of labels that have the same affinity. */
struct TieGroup
{
  FuzzyConnectednessAffinity affinity;
  /** For every rank, 1 if its label is in the group, else 0. */
  std::vector<std::uint8_t> hasRank;
};

std::vector<TieGroup>
MakeTieGroups(const RelativeFuzzyConnectednessJob & job, const TieDistances & distances);

/** Keys of the nearest label and of the nearest other one. */
struct TieLead
{
  std::uint64_t first;
  std::uint64_t second;

  /** With those of other labels. */
  VOXELMAPS_HOST_DEVICE TieLead
  With(const TieLead & others) const
  {
    const bool          isNearer = first < others.first;
    const TieLead &     nearer = isNearer ? *this : others;
    const std::uint64_t farther = isNearer ? others.first : first;
    return { nearer.first, farther < nearer.second ? farther : nearer.second };
  }
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
