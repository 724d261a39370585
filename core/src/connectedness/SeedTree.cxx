// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/SeedTree.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace voxelmaps
{
SeedTree::SeedTree(const std::vector<std::uint16_t> & labels, std::vector<ComponentLink> links, TieSets * sets,
                   const std::function<void()> & checkAbort)
  : m_Labels(labels)
  , m_Values(labels.begin(), labels.end())
  , m_Parents(labels.size())
  , m_Keys(labels.size(), noKey)
  , m_OtherKeys(labels.size(), noKey)
  , m_FirstSteps(labels.size() + 1, 0)
{
  std::iota(m_Parents.begin(), m_Parents.end(), 0u);
  if (sets != nullptr)
  {
    std::transform(
      labels.begin(), labels.end(), m_Values.begin(), [sets](std::uint16_t label) { return sets->GetSet(label); });
  }
  std::vector<std::uint32_t> sizes(labels.size(), 1);
  std::vector<std::uint32_t> values(m_Values);
  std::vector<std::uint32_t> mixedKeys(labels.size(), noKey); // at which a root's tree got a second label
  std::vector<std::pair<std::uint32_t, SeedTreeStep>> rootSteps;
  const auto                                          findRoot = [this](std::uint32_t seed) {
    while (m_Parents[seed] != seed)
    {
      seed = m_Parents[seed];
    }
    return seed;
  };

  std::sort(links.begin(), links.end(), [](const ComponentLink & a, const ComponentLink & b) { return a.key > b.key; });
  constexpr std::size_t linksBetweenChecks = std::size_t{ 1 } << 16;
  for (std::size_t i = 0; i < links.size(); ++i)
  {
    if (checkAbort && i % linksBetweenChecks == 0)
    {
      checkAbort();
    }
    const ComponentLink & link = links[i];
    std::uint32_t         root = findRoot(link.a);
    std::uint32_t         other = findRoot(link.b);
    if (root == other)
    {
      continue;
    }
    if (sizes[root] < sizes[other])
    {
      std::swap(root, other);
    }
    m_Parents[other] = root;
    m_Keys[other] = link.key;
    sizes[root] += sizes[other];
    if (mixedKeys[root] == noKey && (mixedKeys[other] != noKey || values[root] != values[other]))
    {
      mixedKeys[root] = link.key;
    }
    const std::uint32_t value =
      sets != nullptr ? sets->Join(values[root], values[other]) : std::min(values[root], values[other]);
    if (value != values[root])
    {
      values[root] = value;
      rootSteps.push_back({ root, { link.key, value } });
      ++m_FirstSteps[root + 1];
    }
  }

  std::partial_sum(m_FirstSteps.begin(), m_FirstSteps.end(), m_FirstSteps.begin());
  m_Steps.resize(rootSteps.size());
  std::vector<std::uint32_t> next(m_FirstSteps.begin(), m_FirstSteps.end() - 1);
  for (const auto & each : rootSteps)
  {
    m_Steps[next[each.first]++] = each.second;
  }

  for (std::uint32_t seed = 0; seed < m_Parents.size(); ++seed)
  {
    // The first tree on the way up that had two labels, either already when this part joined it or later.
    std::uint32_t joined = seedKey;
    for (std::uint32_t at = seed;; at = m_Parents[at])
    {
      if (mixedKeys[at] != noKey)
      {
        m_OtherKeys[seed] = std::min(joined, mixedKeys[at]);
        break;
      }
      if (m_Parents[at] == at)
      {
        break;
      }
      joined = m_Keys[at];
    }
  }
}
} // namespace voxelmaps
