// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/TieDistances.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

TieSets::TieSets(const TieDistances & distances)
  : m_Distances(distances)
  , m_WordsPerSet((this->GetNumberOfLabels() + 31) / 32)
{}

TieSets::Words
TieSets::CopyWords(std::uint32_t set) const
{
  const std::uint32_t labels = this->GetNumberOfLabels();
  if (set > labels)
  {
    const auto first = m_Words.begin() + static_cast<std::ptrdiff_t>(std::size_t{ set - 1 - labels } * m_WordsPerSet);
    return Words(first, first + m_WordsPerSet);
  }
  Words words(m_WordsPerSet, 0);
  words[(set - 1) / 32] = 1u << (set - 1) % 32;
  return words;
}

std::uint32_t
TieSets::Join(std::uint32_t set, std::uint32_t other)
{
  if (set == other || this->GetView().AreWords())
  {
    return set | other;
  }
  const auto [found, isNew] = m_Joined.try_emplace(std::minmax(set, other), 0);
  if (isNew)
  {
    Words       words = this->CopyWords(set);
    const Words others = this->CopyWords(other);
    std::transform(words.begin(), words.end(), others.begin(), words.begin(), std::bit_or<>());
    found->second = this->Find(words, 0);
  }
  return found->second;
}

std::vector<std::uint32_t>
TieSets::Find(const std::vector<std::uint32_t> & words)
{
  if (this->GetView().AreWords())
  {
    return words;
  }
  std::vector<std::uint32_t> numbers(words.size() / m_WordsPerSet);
  for (std::size_t voxel = 0; voxel < numbers.size(); ++voxel)
  {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(voxel * m_WordsPerSet);
    // Most voxels have the set of the voxel before.
    if (voxel > 0 && std::equal(first, first + m_WordsPerSet, first - m_WordsPerSet))
    {
      numbers[voxel] = numbers[voxel - 1];
    }
    else if (std::any_of(first, first + m_WordsPerSet, [](std::uint32_t word) { return word != 0; }))
    {
      numbers[voxel] = this->Find(words, voxel * m_WordsPerSet);
    }
  }
  return numbers;
}

/** The number of the set whose words begin at first. */
std::uint32_t
TieSets::Find(const Words & words, std::size_t first)
{
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
  Words      set(begin, begin + m_WordsPerSet);
  const auto next = 1 + this->GetNumberOfLabels() + static_cast<std::uint32_t>(m_Sets.size());
  const auto used = std::find_if(set.begin(), set.end(), [](std::uint32_t word) { return word != 0; });
  const bool isOne =
    (*used & (*used - 1)) == 0 && std::all_of(used + 1, set.end(), [](std::uint32_t word) { return word == 0; });
  if (isOne)
  {
    std::uint32_t rank = 32 * static_cast<std::uint32_t>(used - set.begin());
    for (std::uint32_t word = *used; word != 1; word /= 2)
    {
      ++rank;
    }
    return rank + 1;
  }
  const auto [found, isNew] = m_Sets.try_emplace(set, next);
  if (isNew)
  {
    m_Words.insert(m_Words.end(), set.begin(), set.end());
  }
  return found->second;
}
} // namespace voxelmaps
