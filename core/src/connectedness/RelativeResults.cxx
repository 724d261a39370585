// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/RelativeResults.h"

#include "connectedness/AffinityPlan.h"

#include <algorithm>
#include <type_traits>

namespace voxelmaps
{
namespace
{
struct Keys
{
  std::uint32_t winner;
  std::uint32_t others;
};
} // namespace

RelativeResults::RelativeResults(const RelativeFuzzyConnectednessJob & job, std::uint32_t * sets)
  : m_Job(job)
  , m_Combination(MakeAffinityTerms(job).combination)
  , m_MinKey(MinKey(job))
  , m_Sets(sets)
{}

template <typename TGetLabel>
void
RelativeResults::WriteLabels(std::int64_t first, int count, const TGetLabel & getLabel) const
{
  const auto write = [&](auto * out) {
    for (int i = 0; i < count; ++i)
    {
      out[i] = static_cast<std::remove_reference_t<decltype(*out)>>(getLabel(i));
    }
  };
  m_Job.labelsAre16Bit ? write(static_cast<std::uint16_t *>(m_Job.labelOutput) + first)
                       : write(static_cast<std::uint8_t *>(m_Job.labelOutput) + first);
}

template <typename TGetKeys>
void
RelativeResults::WriteStrengths(std::int64_t first, int count, const TGetKeys & getKeys) const
{
  const auto writeReals = [&](auto * strengths, auto * margins) {
    using Real = std::remove_reference_t<decltype(*strengths)>;
    for (int i = 0; i < count; ++i)
    {
      const Keys keys = getKeys(i);
      if (strengths != nullptr)
      {
        strengths[first + i] = static_cast<Real>(GetStrength(m_Combination, m_MinKey, keys.winner));
      }
      if (margins != nullptr)
      {
        margins[first + i] = static_cast<Real>(GetMargin(m_Combination, m_MinKey, keys.winner, keys.others));
      }
    }
  };
  if (m_Job.strengthOutput != nullptr || m_Job.marginOutput != nullptr)
  {
    m_Job.outputIsDouble
      ? writeReals(static_cast<double *>(m_Job.strengthOutput), static_cast<double *>(m_Job.marginOutput))
      : writeReals(static_cast<float *>(m_Job.strengthOutput), static_cast<float *>(m_Job.marginOutput));
  }
}

void
RelativeResults::Write(std::int64_t first, int count, const std::uint32_t * strengths, const std::uint16_t * numbers,
                       const ComponentResult * components, const SeedTree & seeds) const
{
  const bool isRelative = ResolvesTiesPerVoxel(m_Job);
  const bool keepsTies = m_Job.tieRule == RelativeFuzzyConnectednessJob::TieRule::LowestLabel;
  const auto getKeys = [&](int i) {
    const ComponentResult & component = components[numbers[i]];
    return Keys{ std::min(strengths[i], component.strength), component.otherKey };
  };
  const auto getLabel = [&, sets = m_Sets, minKey = m_MinKey](int i) -> std::uint16_t {
    const ComponentResult & component = components[numbers[i]];
    const Keys              keys = getKeys(i);
    const bool              isStrong = keys.winner >= minKey;
    const bool              isTie = keys.winner <= keys.others;
    if (sets != nullptr)
    {
      sets[first + i] = !isStrong ? 0
                        : isTie   ? seeds.GetValue(component.seed, keys.winner)
                                  : seeds.GetValue(component.seed);
    }
    if (!isStrong)
    {
      return 0;
    }
    return !isRelative || !isTie ? component.label
           : keepsTies           ? static_cast<std::uint16_t>(seeds.GetValue(component.seed, keys.winner))
                                 : std::uint16_t{ 0 };
  };
  this->WriteLabels(first, count, getLabel);
  this->WriteStrengths(first, count, getKeys);
}

void
RelativeResults::Write(std::int64_t first, int count, const std::uint32_t * keys, const std::uint32_t * otherKeys,
                       const std::uint16_t * labels) const
{
  const auto getKeys = [&](int i) { return Keys{ keys[i], otherKeys[i] }; };
  const auto getLabel = [&](int i) { return keys[i] >= m_MinKey ? labels[i] : std::uint16_t{ 0 }; };
  this->WriteLabels(first, count, getLabel);
  this->WriteStrengths(first, count, getKeys);
}
} // namespace voxelmaps
