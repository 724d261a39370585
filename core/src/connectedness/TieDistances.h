// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TieDistances_h
#define TieDistances_h

#include "connectedness/AffinityPlan.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The tie rule Distance: values derived from the parameters of a job.
 *
 * The zone of ties are the voxels that several labels have the same greatest strength for. Such a voxel gets the label
 * of the nearest voxel that has a label, along links between voxels of the zone. A path is as long as its links in
 * millimeters, each rounded to a unit of 1/64 of the smallest spacing. Of labels at equal distances, the one whose
 * first seed comes first in memory is the nearest, so that neither the numbers of labels nor the order of seeds matter.
 *
 * Distance and rank of the label make a key: distance << rankBits | rank. Keys of neighbors differ by stepKeys, and the
 * smallest key that paths lead to does not depend on the order in which voxels are looked at. */
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
} // namespace voxelmaps

#endif // TieDistances_h
