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

/** The voxels in any of the boxes around the seeds. */
struct Boxes
{
  std::vector<bool> contains;
  // Most of a large image lies before or after all boxes.
  std::int64_t first;
  std::int64_t end;

  Boxes(const FuzzyConnectednessInput & input, unsigned int radius, AbortChecker & abort)
    : contains(static_cast<std::size_t>(input.GetNumberOfVoxels()))
    , first(input.GetNumberOfVoxels())
    , end(0)
  {
    for (const std::int64_t seed : input.seeds)
    {
      Triple             boxFirst;
      Triple             boxLast;
      const std::int64_t row = seed / input.size[0];
      const Triple       at{ { seed % input.size[0], row % input.size[1], row / input.size[1] } };
      for (int d = 0; d < 3; ++d)
      {
        boxFirst[d] = std::max<std::int64_t>(at[d] - std::int64_t{ radius }, 0);
        boxLast[d] = std::min(at[d] + std::int64_t{ radius }, input.size[d] - 1);
      }
      for (std::int64_t z = boxFirst[2]; z <= boxLast[2]; ++z)
      {
        for (std::int64_t y = boxFirst[1]; y <= boxLast[1]; ++y)
        {
          const std::int64_t begin = (z * input.size[1] + y) * input.size[0];
          std::fill(contains.begin() + begin + boxFirst[0], contains.begin() + begin + boxLast[0] + 1, true);
          first = std::min(first, begin + boxFirst[0]);
          end = std::max(end, begin + boxLast[0] + 1);
          abort.Step();
        }
      }
    }
  }
};
} // namespace

AffinityEstimate
EstimateAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                 const JobExecution & execution)
{
  AbortChecker        abort(execution);
  Boxes               boxes(input, parameters.radius, abort);
  std::vector<double> intensities;
  std::vector<double> differences;
  WithImage(input, [&](const auto * image) {
    std::vector<std::int64_t> voxels;
    for (std::int64_t voxel = boxes.first; voxel < boxes.end; ++voxel)
    {
      if (boxes.contains[voxel])
      {
        boxes.contains[voxel] =
          (input.mask == nullptr || input.mask[voxel] != 0) && std::isfinite(static_cast<double>(image[voxel]));
        if (boxes.contains[voxel])
        {
          voxels.push_back(voxel);
        }
      }
      abort.Step();
    }

    const std::int64_t strides[3] = { 1, input.size[0], input.size[0] * input.size[1] };
    for (const std::int64_t voxel : voxels)
    {
      intensities.push_back(static_cast<double>(image[voxel]));
      const std::int64_t row = voxel / input.size[0];
      const std::int64_t at[3] = { voxel % input.size[0], row % input.size[1], row / input.size[1] };
      for (int d = 0; d < 3; ++d)
      {
        const std::int64_t neighbor = voxel + strides[d];
        if (at[d] + 1 < input.size[d] && boxes.contains[neighbor])
        {
          differences.push_back(std::abs(intensities.back() - static_cast<double>(image[neighbor])));
        }
      }
      abort.Step();
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
