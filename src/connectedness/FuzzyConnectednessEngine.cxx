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
#include "BucketsMethod.h"
#include "HierarchyMethod.h"
#include "QueueMethod.h"
#include "TilesMethod.h"

namespace itk
{
namespace
{
using namespace voxelmaps;

// Tiles visit voxels several times, so fewer threads are slower than one that settles every voxel once.
constexpr unsigned int leastWorkersForTiles = 4;

// Hierarchy needs more than 12 bytes per voxel for more.
constexpr std::size_t mostLinksForHierarchy = 8;

FuzzyConnectednessJob::Method
ChooseMethod(const FuzzyConnectednessJob & job, std::size_t links)
{
  // Hierarchy always works on the whole image, which a search for strong voxels does not visit.
  if (job.minimumStrength == 0.0 && links <= mostLinksForHierarchy)
  {
    return FuzzyConnectednessJob::Method::Hierarchy;
  }
  return job.numberOfWorkers >= leastWorkersForTiles ? FuzzyConnectednessJob::Method::Tiles
                                                     : FuzzyConnectednessJob::Method::Buckets;
}

/** Call f with a value of the job's pixel type. */
template <typename TFunction>
void
WithPixelType(const FuzzyConnectednessJob & job, const TFunction & f)
{
  switch (job.pixelType)
  {
    case FuzzyConnectednessJob::PixelType::Int8:
      return f(std::int8_t());
    case FuzzyConnectednessJob::PixelType::UInt8:
      return f(std::uint8_t());
    case FuzzyConnectednessJob::PixelType::Int16:
      return f(std::int16_t());
    case FuzzyConnectednessJob::PixelType::UInt16:
      return f(std::uint16_t());
    case FuzzyConnectednessJob::PixelType::Int32:
      return f(std::int32_t());
    case FuzzyConnectednessJob::PixelType::UInt32:
      return f(std::uint32_t());
    case FuzzyConnectednessJob::PixelType::Float:
      return f(float());
    case FuzzyConnectednessJob::PixelType::Double:
      return f(double());
  }
}

template <typename TReal>
void
ConvertKeys(const FuzzyConnectednessJob & job, std::int64_t first, std::int64_t last, TReal * strengths)
{
  const Combination combination = MakeAffinityTerms(job).combination;
  for (std::int64_t voxel = first; voxel < last; ++voxel)
  {
    // Copied, since strengths may lie where keys lie.
    std::uint32_t key;
    std::memcpy(&key, job.keys + voxel, sizeof(key));
    const auto strength = static_cast<TReal>(StrengthOfKey(combination, key));
    std::memcpy(strengths + voxel, &strength, sizeof(strength));
  }
}

/** Mean and variance, the same for any order of the values in one pass each. */
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
} // namespace

void
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job)
{
  constexpr std::int64_t piece = 1 << 22; // between looks for an abort
  for (std::int64_t voxel = 0; voxel < job.GetNumberOfVoxels(); voxel += piece)
  {
    std::fill_n(job.keys + voxel, std::min(piece, job.GetNumberOfVoxels() - voxel), noKey);
    if (job.completed)
    {
      job.completed(0);
    }
  }
  WithPixelType(job, [&](auto pixel) {
    const ConnectednessSearch<decltype(pixel)> search(job);
    using Method = FuzzyConnectednessJob::Method;
    const Method method = job.method == Method::Automatic ? ChooseMethod(job, search.links.size()) : job.method;
    if (method == Method::Queue)
    {
      RunQueueMethod(search);
    }
    else if (method == Method::Tiles)
    {
      TilesMethod<decltype(pixel)>(search).Run();
    }
    else if (method == Method::Hierarchy && HierarchyMethod<decltype(pixel)>::CanRun(search))
    {
      HierarchyMethod<decltype(pixel)>(search).Run();
    }
    else if (job.GetNumberOfVoxels() <= std::int64_t{ 0xffffffff })
    {
      BucketsMethod<decltype(pixel), std::uint32_t>(search).Run();
    }
    else
    {
      BucketsMethod<decltype(pixel), std::int64_t>(search).Run();
    }
  });
}

void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, std::int64_t first, std::int64_t last, float * strengths)
{
  ConvertKeys(job, first, last, strengths);
}

void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, std::int64_t first, std::int64_t last, double * strengths)
{
  ConvertKeys(job, first, last, strengths);
}

AffinityEstimate
EstimateAffinity(const FuzzyConnectednessJob & job, unsigned int radius)
{
  // Whether a voxel is in a box, and then: in memory order, usable.
  std::vector<bool>         inBox(static_cast<std::size_t>(job.GetNumberOfVoxels()));
  std::vector<std::int64_t> voxels;
  // Where boxes are: most of a large image has none.
  std::int64_t  firstInBox = job.GetNumberOfVoxels();
  std::int64_t  endOfBoxes = 0;
  std::uint64_t steps = 0;
  const auto    poll = [&]() {
    if (++steps % 65536 == 0 && job.completed)
    {
      job.completed(0);
    }
  };
  for (const std::int64_t seed : job.seeds)
  {
    std::array<std::int64_t, 3> first;
    std::array<std::int64_t, 3> last;
    const std::int64_t          row = seed / job.size[0];
    const std::int64_t          at[3] = { seed % job.size[0], row % job.size[1], row / job.size[1] };
    for (int d = 0; d < 3; ++d)
    {
      first[d] = std::max<std::int64_t>(at[d] - std::int64_t{ radius }, 0);
      last[d] = std::min(at[d] + std::int64_t{ radius }, job.size[d] - 1);
    }
    for (std::int64_t z = first[2]; z <= last[2]; ++z)
    {
      for (std::int64_t y = first[1]; y <= last[1]; ++y)
      {
        const std::int64_t begin = (z * job.size[1] + y) * job.size[0];
        std::fill(inBox.begin() + begin + first[0], inBox.begin() + begin + last[0] + 1, true);
        firstInBox = std::min(firstInBox, begin + first[0]);
        endOfBoxes = std::max(endOfBoxes, begin + last[0] + 1);
        poll();
      }
    }
  }

  AffinityEstimate estimate;
  WithPixelType(job, [&](auto pixel) {
    const auto * image = static_cast<const decltype(pixel) *>(job.image);
    for (std::int64_t voxel = firstInBox; voxel < endOfBoxes; ++voxel)
    {
      if (inBox[voxel])
      {
        inBox[voxel] =
          (job.mask == nullptr || job.mask[voxel] != 0) && std::isfinite(static_cast<double>(image[voxel]));
        if (inBox[voxel])
        {
          voxels.push_back(voxel);
        }
      }
      poll();
    }

    std::vector<double> intensities;
    std::vector<double> differences;
    const std::int64_t  strides[3] = { 1, job.size[0], job.size[0] * job.size[1] };
    for (const std::int64_t voxel : voxels)
    {
      intensities.push_back(static_cast<double>(image[voxel]));
      const std::int64_t row = voxel / job.size[0];
      const std::int64_t at[3] = { voxel % job.size[0], row % job.size[1], row / job.size[1] };
      for (int d = 0; d < 3; ++d)
      {
        const std::int64_t neighbor = voxel + strides[d];
        if (at[d] + 1 < job.size[d] && inBox[neighbor])
        {
          differences.push_back(std::abs(intensities.back() - static_cast<double>(image[neighbor])));
        }
      }
    }
    std::sort(differences.begin(), differences.end());
    differences.resize(differences.size() - differences.size() / 10);

    const Moments ofIntensities(intensities);
    const Moments ofDifferences(differences);
    estimate.mean = ofIntensities.mean;
    estimate.variance = ofIntensities.variance;
    estimate.numberOfVoxels = static_cast<std::int64_t>(intensities.size());
    if (job.affinityFunction == FuzzyConnectednessJob::AffinityFunction::WeightedSum)
    {
      estimate.differenceMean = ofDifferences.mean;
      estimate.differenceVariance = ofDifferences.variance;
    }
    else
    {
      // Of half the difference, about zero.
      estimate.differenceVariance = 0.25 * (ofDifferences.variance + ofDifferences.mean * ofDifferences.mean);
    }
  });
  return estimate;
}
} // namespace itk
