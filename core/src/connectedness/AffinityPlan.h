// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef AffinityPlan_h
#define AffinityPlan_h

#include "connectedness/ConnectednessKeys.h"
#include "voxelmaps/FuzzyConnectednessJob.h"
#include "common/ParallelFor.h"

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace voxelmaps
{
/** A link from a voxel to a neighbor. */
struct Link
{
  int          x, y, z;
  std::int64_t stride;
  LinkWeight   weight;
};

/** The affinity function of a problem, in the units of keys. */
AffinityTerms
MakeAffinityTerms(const FuzzyConnectednessProblem & problem);

/** The links of a voxel to all its neighbors. */
std::vector<Link>
MakeLinks(const FuzzyConnectednessProblem & problem);

/** The smallest key whose strength is not below the minimumStrength of the problem; at least 1. */
std::uint32_t
MinKey(const FuzzyConnectednessProblem & problem);

/** Keys of links between voxels of one pixel type. The terms of integers are looked up in tables if their range is not
 * too large. */
template <typename TPixel>
class EdgeKeys
{
public:
  explicit EdgeKeys(const FuzzyConnectednessProblem & problem)
    : m_Terms(MakeAffinityTerms(problem))
  {
    const DefaultFloatingPointEnvironment environment;
    if constexpr (std::is_integral<TPixel>::value)
    {
      // Not std::minmax_element: compilers do not vectorize it.
      const auto * image = static_cast<const TPixel *>(problem.image);
      TPixel       minPixel = image[0];
      TPixel       maxPixel = image[0];
      for (std::int64_t voxel = 1; voxel < problem.GetNumberOfVoxels(); ++voxel)
      {
        minPixel = image[voxel] < minPixel ? image[voxel] : minPixel;
        maxPixel = image[voxel] > maxPixel ? image[voxel] : maxPixel;
      }
      const auto min = static_cast<std::int64_t>(minPixel);
      const auto max = static_cast<std::int64_t>(maxPixel);
      if (max - min <= maxTableRange)
      {
        m_MinSum = 2 * min;
        for (std::int64_t sum = 2 * min; sum <= 2 * max; ++sum)
        {
          m_MeanTerms.push_back(MeanTerm(m_Terms, static_cast<double>(sum)));
        }
        for (std::int64_t difference = 0; difference <= max - min; ++difference)
        {
          m_DifferenceTerms.push_back(DifferenceTerm(m_Terms, static_cast<double>(difference)));
        }
      }
    }
  }

  /** Whether the tables, if there are any, have all of these pixels. */
  bool
  IsInRange(const TPixel * pixels, std::int64_t count) const
  {
    bool isInRange = true;
    if constexpr (std::is_integral<TPixel>::value)
    {
      if (m_DifferenceTerms.empty())
      {
        return true;
      }
      // In the pixels' own type, so that compilers vectorize the loop.
      const auto min = static_cast<TPixel>(m_MinSum / 2);
      const auto max = static_cast<TPixel>(m_MinSum / 2 + static_cast<std::int64_t>(m_DifferenceTerms.size()) - 1);
      for (std::int64_t i = 0; i < count; ++i)
      {
        isInRange &= pixels[i] >= min && pixels[i] <= max;
      }
    }
    return isInRange;
  }

  std::uint32_t
  Key(TPixel a, TPixel b, const LinkWeight & link) const
  {
    if constexpr (std::is_integral<TPixel>::value)
    {
      if (!m_MeanTerms.empty())
      {
        const std::int64_t sum = static_cast<std::int64_t>(a) + b - m_MinSum;
        const std::int64_t difference = a > b ? static_cast<std::int64_t>(a) - b : static_cast<std::int64_t>(b) - a;
        return TermKey(m_Terms.combination, m_MeanTerms[sum], m_DifferenceTerms[difference], link);
      }
    }
    else if (!std::isfinite(a) || !std::isfinite(b))
    {
      return noKey;
    }
    const auto   x = static_cast<double>(a);
    const auto   y = static_cast<double>(b);
    const double difference = x > y ? x - y : y - x;
    return TermKey(m_Terms.combination, MeanTerm(m_Terms, x + y), DifferenceTerm(m_Terms, difference), link);
  }

private:
  // The range of all 16-bit images, for which the tables have 768 kB.
  static constexpr std::int64_t maxTableRange = 65535;

  AffinityTerms              m_Terms;
  std::int64_t               m_MinSum{ 0 };
  std::vector<std::uint32_t> m_MeanTerms;
  std::vector<std::uint32_t> m_DifferenceTerms;
};
} // namespace voxelmaps

#endif // AffinityPlan_h
