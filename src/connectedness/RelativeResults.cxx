/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "connectedness/RelativeResults.h"

#include "connectedness/AffinityPlan.h"

#include <algorithm>

namespace itk
{
namespace voxelmaps
{
RelativeResults::RelativeResults(const RelativeFuzzyConnectednessJob & job, const SeedTree & seeds)
  : m_Job(job)
  , m_Seeds(seeds)
  , m_Combination(MakeAffinityTerms(job).combination)
  , m_MinKey(MinKey(job))
{}

template <typename TLabel>
void
RelativeResults::WriteLabels(TLabel * out, int count, const std::uint32_t * strengths, const std::uint16_t * numbers,
                             const ComponentResult * components) const
{
  const bool isRelative = m_Job.competition == RelativeFuzzyConnectednessJob::Competition::Relative;
  const bool keepsTies = m_Job.tieRule == RelativeFuzzyConnectednessJob::TieRule::LowestLabel;
  for (int i = 0; i < count; ++i)
  {
    const ComponentResult & component = components[numbers[i]];
    const std::uint32_t     key = std::min(strengths[i], component.strength);
    TLabel                  label = 0;
    if (key >= m_MinKey)
    {
      if (!isRelative || key > m_Seeds.GetOtherKey(component.seed))
      {
        label = static_cast<TLabel>(m_Seeds.GetLabel(component.seed));
      }
      else if (keepsTies)
      {
        label = static_cast<TLabel>(m_Seeds.GetLowestLabel(component.seed, key));
      }
    }
    out[i] = label;
  }
}

template <typename TReal>
void
RelativeResults::WriteReals(TReal * strengthsOut, TReal * marginsOut, int count, const std::uint32_t * strengths,
                            const std::uint16_t * numbers, const ComponentResult * components) const
{
  for (int i = 0; i < count; ++i)
  {
    const ComponentResult & component = components[numbers[i]];
    const std::uint32_t     key = std::min(strengths[i], component.strength);
    const bool              isReached = key >= m_MinKey;
    const double            strength = isReached ? StrengthOfKey(m_Combination, key) : 0.0;
    if (strengthsOut != nullptr)
    {
      strengthsOut[i] = static_cast<TReal>(strength);
    }
    if (marginsOut != nullptr)
    {
      double margin = 0.0;
      if (isReached)
      {
        const std::uint32_t other = m_Seeds.GetOtherKey(component.seed);
        margin = key > other ? strength - StrengthOfKey(m_Combination, other) : 0.0;
      }
      marginsOut[i] = static_cast<TReal>(margin);
    }
  }
}

void
RelativeResults::Write(std::int64_t first, int count, const std::uint32_t * strengths, const std::uint16_t * numbers,
                       const ComponentResult * components, std::uint32_t * keys) const
{
  if (m_Job.labelsAre16Bit)
  {
    this->WriteLabels(static_cast<std::uint16_t *>(m_Job.labelOutput) + first, count, strengths, numbers, components);
  }
  else
  {
    this->WriteLabels(static_cast<std::uint8_t *>(m_Job.labelOutput) + first, count, strengths, numbers, components);
  }
  if (m_Job.strengthOutput != nullptr || m_Job.marginOutput != nullptr)
  {
    const auto writeReals = [&](auto * strengthOutput, auto * marginOutput) {
      this->WriteReals(strengthOutput != nullptr ? strengthOutput + first : nullptr,
                       marginOutput != nullptr ? marginOutput + first : nullptr,
                       count,
                       strengths,
                       numbers,
                       components);
    };
    if (m_Job.outputIsDouble)
    {
      writeReals(static_cast<double *>(m_Job.strengthOutput), static_cast<double *>(m_Job.marginOutput));
    }
    else
    {
      writeReals(static_cast<float *>(m_Job.strengthOutput), static_cast<float *>(m_Job.marginOutput));
    }
  }
  if (keys != nullptr)
  {
    for (int i = 0; i < count; ++i)
    {
      const std::uint32_t key = std::min(strengths[i], components[numbers[i]].strength);
      keys[i] = key >= m_MinKey ? key : noKey;
    }
  }
}
} // namespace voxelmaps
} // namespace itk
