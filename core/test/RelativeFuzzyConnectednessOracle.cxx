// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RelativeFuzzyConnectednessOracle.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace RelativeFuzzyConnectednessOracle
{
using FuzzyConnectednessOracle::Edge;
using FuzzyConnectednessOracle::seedKey;
using FuzzyConnectednessOracle::notReached;

namespace
{
/** Keys of paths from some seeds that do not use links of forbidden voxels: links are relaxed until nothing changes. */
Keys
RelaxKeys(const std::vector<Edge> & edges, const std::vector<std::int64_t> & seeds, const std::vector<char> & forbidden)
{
  Keys keys(forbidden.size(), notReached);
  for (const std::int64_t seed : seeds)
  {
    keys[static_cast<std::size_t>(seed)] = seedKey;
  }
  for (bool isChanged = true; isChanged;)
  {
    isChanged = false;
    for (const Edge & edge : edges)
    {
      if (forbidden[edge.a] == 0 && forbidden[edge.b] == 0)
      {
        const std::uint32_t toA = std::min(keys[edge.b], edge.key);
        const std::uint32_t toB = std::min(keys[edge.a], edge.key);
        isChanged = isChanged || toA > keys[edge.a] || toB > keys[edge.b];
        keys[edge.a] = std::max(keys[edge.a], toA);
        keys[edge.b] = std::max(keys[edge.b], toB);
      }
    }
  }
  return keys;
}

std::vector<std::int64_t>
SelectSeeds(const Scene & scene, const Labels & seedLabels, std::uint16_t label, bool isLabel)
{
  std::vector<std::int64_t> seeds;
  for (std::size_t i = 0; i < seedLabels.size(); ++i)
  {
    if ((seedLabels[i] == label) == isLabel)
    {
      seeds.push_back(scene.seeds[i]);
    }
  }
  return seeds;
}
} // namespace

Strengths
ComputeStrengths(const Scene & scene, const Labels & seedLabels,
                 const std::function<void(std::uint16_t, Scene &)> & prepare)
{
  const std::set<std::uint16_t> labels(seedLabels.begin(), seedLabels.end());
  const auto                    count = static_cast<std::size_t>(scene.GetNumberOfVoxels());
  Strengths                     strengths;
  strengths.labels.assign(labels.begin(), labels.end());
  strengths.first.assign(count, notReached);
  strengths.second.assign(count, notReached);
  for (const std::uint16_t label : strengths.labels)
  {
    Scene labelScene = scene;
    labelScene.seeds = SelectSeeds(scene, seedLabels, label, true);
    if (prepare)
    {
      prepare(label, labelScene);
    }
    strengths.scenes.push_back(FuzzyConnectednessOracle::ComputeKeys(labelScene));
    const Keys & keys = strengths.scenes.back();
    for (std::size_t voxel = 0; voxel < count; ++voxel)
    {
      strengths.second[voxel] = std::max(strengths.second[voxel], std::min(keys[voxel], strengths.first[voxel]));
      strengths.first[voxel] = std::max(strengths.first[voxel], keys[voxel]);
    }
  }
  return strengths;
}

Labels
ComputeRelative(const Strengths & strengths, TieRule tieRule)
{
  Labels labels(strengths.first.size(), 0);
  for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
  {
    std::vector<std::uint16_t> winners;
    for (std::size_t i = 0; i < strengths.labels.size(); ++i)
    {
      if (strengths.scenes[i][voxel] != notReached && strengths.scenes[i][voxel] == strengths.first[voxel])
      {
        winners.push_back(strengths.labels[i]);
      }
    }
    if (winners.size() == 1 || (!winners.empty() && tieRule == TieRule::LowestLabel))
    {
      labels[voxel] = winners.front();
    }
  }
  return labels;
}

Labels
ComputeNearest(const Scene & scene, const Labels & seedLabels, const Strengths & strengths,
               const std::vector<bool> & counts, std::vector<double> * margins)
{
  constexpr std::int64_t                far = std::int64_t{ 1 } << 62;
  Labels                                labels = ComputeRelative(strengths, TieRule::Background);
  const auto                            isTie = [&](std::int64_t voxel) { return counts[voxel] && labels[voxel] == 0; };
  std::map<std::int64_t, std::uint16_t> firstSeeds;
  for (const std::uint16_t label : strengths.labels)
  {
    const auto seeds = SelectSeeds(scene, seedLabels, label, true);
    firstSeeds[*std::min_element(seeds.begin(), seeds.end())] = label;
  }
  const double smallest = scene.size[2] > 1 ? std::min({ scene.spacing[0], scene.spacing[1], scene.spacing[2] })
                                            : std::min(scene.spacing[0], scene.spacing[1]);
  const int    most = scene.adjacency == FuzzyConnectednessOracle::Adjacency::Face       ? 1
                      : scene.adjacency == FuzzyConnectednessOracle::Adjacency::FaceEdge ? 2
                                                                                         : 3;
  const auto   isStrongest = [&](const Keys & keys, std::int64_t voxel) {
    return keys[voxel] != notReached && keys[voxel] == strengths.first[voxel];
  };
  // Whether all labels that are strongest at a voxel are so at another one.
  const auto includes = [&](std::int64_t voxel, std::int64_t other) {
    return std::all_of(strengths.scenes.begin(), strengths.scenes.end(), [&](const Keys & keys) {
      return !isStrongest(keys, other) || isStrongest(keys, voxel);
    });
  };
  std::vector<std::int64_t> nearest(labels.size(), far);
  std::vector<std::int64_t> next(labels.size(), far);
  Labels                    winners(labels.size(), 0);
  Labels                    firstTied(labels.size(), 0);
  for (const auto & [seed, label] : firstSeeds)
  {
    std::vector<std::int64_t>                       distances(labels.size(), far);
    std::set<std::pair<std::int64_t, std::int64_t>> open;
    for (std::int64_t voxel = 0; voxel < scene.GetNumberOfVoxels(); ++voxel)
    {
      if (counts[voxel] && labels[voxel] == label)
      {
        distances[voxel] = 0;
        open.emplace(0, voxel);
      }
    }
    while (!open.empty())
    {
      const auto [distance, voxel] = *open.begin();
      open.erase(open.begin());
      const std::int64_t at[3] = { voxel % scene.size[0],
                                   voxel / scene.size[0] % scene.size[1],
                                   voxel / (scene.size[0] * scene.size[1]) };
      for (int step = 0; step < 27; ++step)
      {
        const int by[3] = { step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1 };
        const int axes = std::abs(by[0]) + std::abs(by[1]) + std::abs(by[2]);
        bool      isInside = axes >= 1 && axes <= most;
        double    squares = 0.0;
        for (int d = 0; d < 3; ++d)
        {
          isInside = isInside && at[d] + by[d] >= 0 && at[d] + by[d] < scene.size[d];
          squares += by[d] * by[d] * (scene.spacing[d] / smallest) * (scene.spacing[d] / smallest);
        }
        const std::int64_t to = voxel + (by[2] * scene.size[1] + by[1]) * scene.size[0] + by[0];
        const std::int64_t length = distance + std::llround(64.0 * std::sqrt(squares));
        if (isInside && isTie(to) && includes(to, voxel) && length < distances[to])
        {
          open.erase({ distances[to], to });
          open.emplace(length, to);
          distances[to] = length;
        }
      }
    }
    const auto index = std::find(strengths.labels.begin(), strengths.labels.end(), label) - strengths.labels.begin();
    for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
    {
      const bool isTied =
        isStrongest(strengths.scenes[static_cast<std::size_t>(index)], static_cast<std::int64_t>(voxel));
      firstTied[voxel] = firstTied[voxel] == 0 && isTied ? label : firstTied[voxel];
      next[voxel] = std::min(next[voxel], std::max(nearest[voxel], distances[voxel]));
      if (distances[voxel] < nearest[voxel])
      {
        nearest[voxel] = distances[voxel];
        winners[voxel] = label;
      }
    }
  }
  for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
  {
    if (isTie(static_cast<std::int64_t>(voxel)))
    {
      winners[voxel] = nearest[voxel] == far ? firstTied[voxel] : winners[voxel];
      if (margins != nullptr)
      {
        const double lead = static_cast<double>(next[voxel] - nearest[voxel]);
        (*margins)[voxel] = nearest[voxel] == far ? -1.0 : next[voxel] == far ? 0.0 : -64.0 / (64.0 + lead);
      }
    }
  }
  return winners;
}

Labels
ComputeIterative(const Scene & scene, const Labels & seedLabels, const Strengths & strengths)
{
  const std::vector<Edge> edges = FuzzyConnectednessOracle::MakeEdges(scene);
  Labels                  labels(strengths.first.size(), 0);
  for (std::size_t i = 0; i < strengths.labels.size(); ++i)
  {
    const std::uint16_t label = strengths.labels[i];
    const auto          others = SelectSeeds(scene, seedLabels, label, false);
    std::vector<char>   object(labels.size(), 0);
    for (bool isChanged = true; isChanged;)
    {
      isChanged = false;
      const Keys otherKeys = RelaxKeys(edges, others, object);
      for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
      {
        if (object[voxel] == 0 && strengths.scenes[i][voxel] > otherKeys[voxel])
        {
          object[voxel] = 1;
          isChanged = true;
        }
      }
    }
    for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
    {
      if (object[voxel] != 0)
      {
        // No voxel is in two objects.
        labels[voxel] = labels[voxel] == 0 ? label : std::uint16_t{ 0xffff };
      }
    }
  }
  return labels;
}

Labels
ComputeLowestIterative(const Scene & scene, const Labels & seedLabels, const Strengths & strengths)
{
  const std::vector<Edge> edges = FuzzyConnectednessOracle::MakeEdges(scene);
  const Keys &            keys = strengths.first;
  Labels                  labels(keys.size(), 0);
  // Lowest first: what a label has reached stays its own.
  for (const std::uint16_t label : strengths.labels)
  {
    std::vector<char> isReached(labels.size(), 0);
    for (const std::int64_t seed : SelectSeeds(scene, seedLabels, label, true))
    {
      isReached[static_cast<std::size_t>(seed)] = 1;
    }
    for (bool isChanged = true; isChanged;)
    {
      isChanged = false;
      const auto pass = [&](std::uint32_t from, std::uint32_t to, std::uint32_t key) {
        if (isReached[from] != 0 && isReached[to] == 0 && std::min(keys[from], key) == keys[to])
        {
          isReached[to] = 1;
          isChanged = true;
        }
      };
      for (const Edge & edge : edges)
      {
        pass(edge.a, edge.b, edge.key);
        pass(edge.b, edge.a, edge.key);
      }
    }
    for (std::size_t voxel = 0; voxel < labels.size(); ++voxel)
    {
      labels[voxel] = labels[voxel] == 0 && isReached[voxel] != 0 ? label : labels[voxel];
    }
  }
  return labels;
}
} // namespace RelativeFuzzyConnectednessOracle
