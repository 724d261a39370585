// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RelativeFuzzyConnectednessOracle.h"

#include <algorithm>
#include <set>

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
