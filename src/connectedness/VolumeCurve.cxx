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
#include "itkFuzzyConnectednessVolumeCurve.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

namespace itk
{
namespace voxelmaps
{
FuzzyConnectednessVolumeCurve::FuzzyConnectednessVolumeCurve(const float * strengths, std::int64_t numberOfVoxels)
{
  this->Count(strengths, numberOfVoxels);
}

FuzzyConnectednessVolumeCurve::FuzzyConnectednessVolumeCurve(const double * strengths, std::int64_t numberOfVoxels)
{
  this->Count(strengths, numberOfVoxels);
}

template <typename TReal>
void
FuzzyConnectednessVolumeCurve::Count(const TReal * strengths, std::int64_t numberOfVoxels)
{
  std::vector<TReal> sorted;
  std::copy_if(strengths, strengths + numberOfVoxels, std::back_inserter(sorted), [](TReal strength) {
    return strength > TReal{ 0 };
  });
  std::sort(sorted.begin(), sorted.end(), std::greater<TReal>());
  for (std::size_t i = 0; i < sorted.size(); ++i)
  {
    if (i + 1 == sorted.size() || sorted[i] != sorted[i + 1])
    {
      m_Strengths.push_back(static_cast<double>(sorted[i]));
      m_Volumes.push_back(static_cast<std::int64_t>(i) + 1);
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
} // namespace itk
