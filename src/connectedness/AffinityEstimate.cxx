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
#include "itkFuzzyConnectednessAffinityEstimate.h"

#include "connectedness/ImageOfInput.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace itk
{
namespace voxelmaps
{
namespace
{
/** Asks about an abort once in many steps of a loop. */
class AbortChecker
{
public:
  explicit AbortChecker(const JobExecution & execution)
    : m_Execution(execution)
  {}
  void
  Step()
  {
    if (++m_Steps % 65536 == 0)
    {
      m_Execution.CheckAbort();
    }
  }

private:
  const JobExecution & m_Execution;
  std::uint64_t        m_Steps{ 0 };
};

/** Mean and variance, each in one pass in the order of the values. */
struct Moments
{
  double mean{ 0.0 };
  double variance{ 0.0 };

  explicit Moments(const std::vector<double> & values)
  {
    double sum = 0.0;
    for (const double value : values)
    {
      sum += value;
    }
    mean = values.empty() ? 0.0 : sum / static_cast<double>(values.size());
    double squares = 0.0;
    for (const double value : values)
    {
      squares += (value - mean) * (value - mean);
    }
    variance = values.empty() ? 0.0 : squares / static_cast<double>(values.size());
  }
};

/** Voxels begin ... end - 1 of one row of the image. */
struct Interval
{
  std::int64_t begin;
  std::int64_t end;
};

/** The voxels in any of the boxes around the seeds: intervals in ascending order that do not overlap. Boxes grow axis
 * by axis, so that those that overlap are united early. */
class Boxes
{
public:
  Boxes(const FuzzyConnectednessInput & input, unsigned int radius, AbortChecker & abort)
    : m_Size(input.size)
    , m_Abort(abort)
  {
    for (int d = 0; d < 3; ++d)
    {
      m_Radius[d] = std::max<std::int64_t>(std::min(std::int64_t{ radius }, m_Size[d] - 1), 0);
    }
    std::vector<std::int64_t> seeds = input.seeds;
    std::sort(seeds.begin(), seeds.end());
    for (const std::int64_t seed : seeds)
    {
      const std::int64_t row = seed - seed % m_Size[0];
      this->Append(intervals, { std::max(seed - m_Radius[0], row), std::min(seed + m_Radius[0] + 1, row + m_Size[0]) });
    }
    for (int d = 1; d < 3; ++d)
    {
      intervals = this->UniteShifted(intervals, d, -m_Radius[d], m_Radius[d]);
    }
  }

  using Intervals = std::vector<Interval>;
  Intervals intervals;

private:
  /** Add an interval that begins at or after the last one. */
  void
  Append(Intervals & to, const Interval & interval) const
  {
    if (!to.empty() && (interval.begin < to.back().end ||
                        // In the same row.
                        (interval.begin == to.back().end && interval.begin % m_Size[0] != 0)))
    {
      to.back().end = std::max(to.back().end, interval.end);
    }
    else
    {
      to.push_back(interval);
    }
    m_Abort.Step();
  }

  /** The union of the intervals shifted by first ... last along an axis, clipped to the image. */
  Intervals
  UniteShifted(const Intervals & from, int axis, std::int64_t first, std::int64_t last) const
  {
    Intervals result;
    if (first == last)
    {
      const std::int64_t stride = axis == 1 ? m_Size[0] : m_Size[0] * m_Size[1];
      for (const Interval & interval : from)
      {
        const std::int64_t at = interval.begin / stride % m_Size[axis] + first;
        if (at >= 0 && at < m_Size[axis])
        {
          this->Append(result, { interval.begin + first * stride, interval.end + first * stride });
        }
      }
      return result;
    }
    const std::int64_t middle = first + (last - first) / 2;
    const Intervals    a = this->UniteShifted(from, axis, first, middle);
    const Intervals    b = this->UniteShifted(from, axis, middle + 1, last);
    auto               nextA = a.begin();
    auto               nextB = b.begin();
    while (nextA != a.end() || nextB != b.end())
    {
      const bool takesA = nextB == b.end() || (nextA != a.end() && nextA->begin < nextB->begin);
      this->Append(result, takesA ? *nextA++ : *nextB++);
    }
    return result;
  }

  const Triple   m_Size;
  AbortChecker & m_Abort;
  Triple         m_Radius;
};

/** Answers whether intervals contain voxels, which must be asked about in ascending order. */
class Membership
{
public:
  explicit Membership(const std::vector<Interval> & intervals)
    : m_Next(intervals.begin())
    , m_End(intervals.end())
  {}
  bool
  Contains(std::int64_t voxel)
  {
    while (m_Next != m_End && m_Next->end <= voxel)
    {
      ++m_Next;
    }
    return m_Next != m_End && m_Next->begin <= voxel;
  }

private:
  std::vector<Interval>::const_iterator       m_Next;
  const std::vector<Interval>::const_iterator m_End;
};
} // namespace

AffinityEstimate
EstimateAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                 const JobExecution & execution)
{
  AbortChecker        abort(execution);
  const Boxes         boxes(input, parameters.radius, abort);
  std::vector<double> intensities;
  std::vector<double> differences;
  WithImage(input, [&](const auto * image) {
    const auto isUsed = [&](std::int64_t voxel) {
      return (input.mask == nullptr || input.mask[voxel] != 0) && std::isfinite(static_cast<double>(image[voxel]));
    };
    const std::int64_t strides[3] = { 1, input.size[0], input.size[0] * input.size[1] };
    Membership neighbors[3] = { Membership(boxes.intervals), Membership(boxes.intervals), Membership(boxes.intervals) };
    for (const Interval & interval : boxes.intervals)
    {
      const std::int64_t row = interval.begin / input.size[0];
      // The neighbors of voxels before these are in the image.
      const std::int64_t ends[3] = { (row + 1) * input.size[0] - 1,
                                     row % input.size[1] + 1 < input.size[1] ? interval.end : interval.begin,
                                     row / input.size[1] + 1 < input.size[2] ? interval.end : interval.begin };
      for (std::int64_t voxel = interval.begin; voxel < interval.end; ++voxel)
      {
        abort.Step();
        if (!isUsed(voxel))
        {
          continue;
        }
        intensities.push_back(static_cast<double>(image[voxel]));
        for (int d = 0; d < 3; ++d)
        {
          const std::int64_t neighbor = voxel + strides[d];
          if (voxel < ends[d] && neighbors[d].Contains(neighbor) && isUsed(neighbor))
          {
            differences.push_back(std::abs(intensities.back() - static_cast<double>(image[neighbor])));
          }
        }
      }
    }
  });
  std::sort(differences.begin(), differences.end());
  differences.resize(differences.size() - differences.size() / 10);

  const Moments    ofIntensities(intensities);
  const Moments    ofDifferences(differences);
  AffinityEstimate estimate;
  estimate.mean = ofIntensities.mean;
  estimate.variance = ofIntensities.variance;
  estimate.numberOfVoxels = static_cast<std::int64_t>(intensities.size());
  if (parameters.affinityFunction == FuzzyConnectednessEnums::AffinityFunction::WeightedSum)
  {
    estimate.differenceMean = ofDifferences.mean;
    estimate.differenceVariance = ofDifferences.variance;
  }
  else
  {
    // The mean square of half the difference, from E[d^2] = variance + mean^2.
    estimate.differenceVariance = 0.25 * (ofDifferences.variance + ofDifferences.mean * ofDifferences.mean);
  }
  return estimate;
}
} // namespace voxelmaps
} // namespace itk
