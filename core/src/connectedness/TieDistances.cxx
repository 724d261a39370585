// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/TieDistances.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace voxelmaps
{
TieDistances::TieDistances(const RelativeFuzzyConnectednessJob & job)
  : labelRanks(std::size_t{ 1 } << 16, 0)
  , rankBits(0)
  , links(MakeLinks(job))
{
  std::map<std::uint16_t, std::int64_t> firstSeeds;
  for (std::size_t i = 0; i < job.seeds.size(); ++i)
  {
    const auto entry = firstSeeds.emplace(job.labels[i], job.seeds[i]).first;
    entry->second = std::min(entry->second, job.seeds[i]);
  }
  std::vector<std::pair<std::int64_t, std::uint16_t>> order;
  for (const auto & [label, seed] : firstSeeds)
  {
    order.emplace_back(seed, label);
  }
  std::sort(order.begin(), order.end());
  for (const auto & entry : order)
  {
    labelRanks[entry.second] = static_cast<std::uint32_t>(rankLabels.size());
    rankLabels.push_back(entry.second);
  }
  while (rankLabels.size() > std::size_t{ 1 } << rankBits)
  {
    ++rankBits;
  }

  const DefaultFloatingPointEnvironment environment;
  const int                             dimension = job.size[2] > 1 ? 3 : 2;
  const double smallest = *std::min_element(job.spacing.begin(), job.spacing.begin() + dimension);
  for (const Link & link : links)
  {
    const double x = link.x * (job.spacing[0] / smallest);
    const double y = link.y * (job.spacing[1] / smallest);
    const double z = dimension == 3 ? link.z * (job.spacing[2] / smallest) : 0.0;
    // Far more than any image has, so that keys of paths fit into 64 bits.
    const double length = std::min(std::sqrt(x * x + y * y + z * z), 1e6);
    stepKeys.push_back(static_cast<std::uint64_t>(length * unitsPerSpacing + 0.5) << rankBits);
  }
}

std::vector<TieGroup>
MakeTieGroups(const RelativeFuzzyConnectednessJob & job, const TieDistances & distances)
{
  const std::vector<std::uint16_t> & labels = distances.rankLabels;
  std::vector<TieGroup>              groups;
  TieGroup                           common{ job.affinity, std::vector<std::uint8_t>(labels.size(), 0) };
  bool                               isCommon = false;
  for (std::size_t rank = 0; rank < labels.size(); ++rank)
  {
    const auto own = job.labelAffinities.find(labels[rank]);
    if (own == job.labelAffinities.end())
    {
      common.hasRank[rank] = 1;
      isCommon = true;
      continue;
    }
    groups.push_back({ own->second, std::vector<std::uint8_t>(labels.size(), 0) });
    groups.back().hasRank[rank] = 1;
  }
  if (isCommon)
  {
    groups.push_back(common);
  }
  return groups;
}
} // namespace voxelmaps
