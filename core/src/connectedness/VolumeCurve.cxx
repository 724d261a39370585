// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/FuzzyConnectednessVolumeCurve.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace voxelmaps
{
namespace
{
// Positive reals are ordered like their bits.
template <typename TReal>
using BitCount = std::conditional_t<sizeof(TReal) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;

constexpr std::size_t numberOfGroups = std::size_t{ 1 } << 16;

template <typename TBits>
std::size_t
GetGroup(TBits bits)
{
  return static_cast<std::size_t>(bits >> (8 * sizeof(TBits) - 16));
}
} // namespace

FuzzyConnectednessVolumeCurve::FuzzyConnectednessVolumeCurve(const float * strengths, std::int64_t numberOfVoxels,
                                                             const JobExecution & execution)
{
  this->Count(strengths, numberOfVoxels, execution);
}

FuzzyConnectednessVolumeCurve::FuzzyConnectednessVolumeCurve(const double * strengths, std::int64_t numberOfVoxels,
                                                             const JobExecution & execution)
{
  this->Count(strengths, numberOfVoxels, execution);
}

template <typename TReal>
void
FuzzyConnectednessVolumeCurve::Count(const TReal * strengths, std::int64_t numberOfVoxels,
                                     const JobExecution & execution)
{
  using Bits = BitCount<TReal>;
  // Strengths are divided into groups by their first two bytes, each part of the voxels by itself, and then sorted.
  constexpr std::int64_t minPartVoxels = std::int64_t{ 1 } << 20;
  const std::int64_t     parts =
    std::max<std::int64_t>(1, std::min<std::int64_t>(execution.numberOfWorkers, numberOfVoxels / minPartVoxels));
  std::vector<std::vector<std::size_t>> places(parts);
  const auto                            forEachStrength = [&](std::int64_t part, const auto & f) {
    const std::int64_t last = numberOfVoxels * (part + 1) / parts;
    for (std::int64_t voxel = numberOfVoxels * part / parts; voxel < last; ++voxel)
    {
      if (strengths[voxel] > TReal{ 0 })
      {
        Bits bits;
        std::memcpy(&bits, strengths + voxel, sizeof(bits));
        f(bits);
      }
    }
  };
  ForEachTask(parts, execution, [&](unsigned int) {
    return [&](std::int64_t part) {
      places[part].assign(numberOfGroups, 0);
      forEachStrength(part, [&counts = places[part]](Bits bits) { ++counts[GetGroup(bits)]; });
    };
  });
  struct Group
  {
    std::size_t              first;
    std::size_t              count;
    std::vector<Bits>        strengths; // that occur, in falling order
    std::vector<std::size_t> voxels;    // with each
  };
  std::vector<Group> groups; // in falling order
  std::size_t        total = 0;
  for (std::size_t group = numberOfGroups; group-- > 0;)
  {
    const std::size_t first = total;
    for (auto & partPlaces : places)
    {
      const std::size_t count = partPlaces[group];
      partPlaces[group] = total;
      total += count;
    }
    if (total != first)
    {
      groups.push_back({ first, total - first, {}, {} });
    }
  }
  const std::unique_ptr<Bits[]> sorted(new Bits[total]);
  ForEachTask(parts, execution, [&](unsigned int) {
    return [&](std::int64_t part) {
      forEachStrength(part,
                      [&, &partPlaces = places[part]](Bits bits) { sorted[partPlaces[GetGroup(bits)]++] = bits; });
    };
  });
  ForEachTask(static_cast<std::int64_t>(groups.size()), execution, [&](unsigned int) {
    return [&](std::int64_t i) {
      Group &      group = groups[i];
      Bits * const values = sorted.get() + group.first;
      if (sizeof(Bits) == sizeof(std::uint32_t) && group.count > numberOfGroups / 8)
      {
        // All values of a group of floats can be counted.
        std::vector<std::size_t> counts(numberOfGroups, 0);
        for (std::size_t j = 0; j < group.count; ++j)
        {
          ++counts[values[j] & 0xffffu];
        }
        for (std::size_t low = numberOfGroups; low-- > 0;)
        {
          if (counts[low] != 0)
          {
            group.strengths.push_back(static_cast<Bits>((values[0] & ~Bits{ 0xffff }) | low));
            group.voxels.push_back(counts[low]);
          }
        }
        return;
      }
      std::sort(values, values + group.count);
      for (std::size_t j = group.count; j-- > 0;)
      {
        if (group.strengths.empty() || group.strengths.back() != values[j])
        {
          group.strengths.push_back(values[j]);
          group.voxels.push_back(0);
        }
        ++group.voxels.back();
      }
    };
  });
  std::int64_t volume = 0;
  for (const Group & group : groups)
  {
    for (std::size_t i = 0; i < group.strengths.size(); ++i)
    {
      TReal strength;
      std::memcpy(&strength, &group.strengths[i], sizeof(strength));
      volume += static_cast<std::int64_t>(group.voxels[i]);
      m_Strengths.push_back(static_cast<double>(strength));
      m_Volumes.push_back(volume);
    }
  }
}

std::int64_t
FuzzyConnectednessVolumeCurve::GetNumberOfVoxels(double threshold) const
{
  const auto below = std::partition_point(
    m_Strengths.begin(), m_Strengths.end(), [threshold](double strength) { return strength >= threshold; });
  return below == m_Strengths.begin() ? 0 : m_Volumes[static_cast<std::size_t>(below - m_Strengths.begin()) - 1];
}

double
FuzzyConnectednessVolumeCurve::GetSuggestedThreshold(std::int64_t minNumberOfVoxels) const
{
  double suggested = 0.0;
  double largestGrowth = 0.0;
  for (std::size_t i = 1; i < m_Volumes.size(); ++i)
  {
    const double growth = static_cast<double>(m_Volumes[i]) / static_cast<double>(m_Volumes[i - 1]);
    if (m_Volumes[i - 1] >= minNumberOfVoxels && growth > largestGrowth)
    {
      largestGrowth = growth;
      suggested = m_Strengths[i - 1];
    }
  }
  return suggested;
}
} // namespace voxelmaps
