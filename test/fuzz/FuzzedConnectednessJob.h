// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzedConnectednessJob_h
#define FuzzedConnectednessJob_h

#include "FuzzerUtilities.h"
#include "discretization/GrayLevelJob.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/** What the fuzz targets of the connectedness engines share. */
namespace VoxelMapsFuzz
{
/** A job without image and mask, of which the parameters are valid or not. */
inline voxelmaps::FuzzyConnectednessJob
ConsumeConnectednessJob(FuzzedInput & data)
{
  using Job = voxelmaps::FuzzyConnectednessJob;
  Job job;
  job.size = ConsumeSmallSize(data);
  if (ConsumeOneIn(data, 32))
  {
    // No voxel, or a negative number of them.
    job.size[data.ConsumeIntegralInRange<std::size_t>(0, 2)] = data.ConsumeIntegralInRange<std::int64_t>(-2, 0);
  }
  job.pixelType = ConsumeEnumerator<Job::PixelType>(data, 8);
  job.affinityFunction = ConsumeEnumerator<Job::AffinityFunction>(data, 5);
  job.adjacency = ConsumeEnumerator<Job::Adjacency>(data, 3);
  constexpr const char * methods[]{ "", "Buckets", "Hierarchy" };
  job.method = methods[data.ConsumeIntegralInRange<std::uint8_t>(0, 2)];
  job.distanceWeighting = data.ConsumeBool();
  job.outputIsDouble = data.ConsumeBool();
  const auto consume = [&data](double usual) {
    return ConsumeOneIn(data, 8) ? ConsumeAnyDouble(data)
                                 : usual * data.ConsumeIntegralInRange<std::uint16_t>(1, 1000) / 100.0;
  };
  for (double & spacing : job.spacing)
  {
    spacing = consume(1.0);
  }
  job.affinity = { { consume(30.0) }, { consume(300.0) }, { consume(3.0) }, { consume(100.0) } };
  job.weight = consume(0.1);
  job.minimumStrength = data.ConsumeBool() ? 0.0 : consume(0.1);
  job.execution.numberOfWorkers = data.ConsumeIntegralInRange<unsigned int>(0, 4);
  if (data.ConsumeBool())
  {
    job.execution.parallelFor = VoxelMapsTest::RunThreads;
  }
  const auto numberOfSeeds = data.ConsumeIntegralInRange<std::uint8_t>(0, 5);
  for (std::uint8_t i = 0; i < numberOfSeeds; ++i)
  {
    job.seeds.push_back(ConsumeOneIn(data, 50) ? ConsumeAnyInteger<std::int64_t>(data)
                                               : data.ConsumeIntegralInRange<std::int64_t>(
                                                   0, std::max<std::int64_t>(1, CountVoxels(job.size)) - 1));
  }
  return job;
}

/** Whether the header excludes an input. */
inline bool
IsInvalidInput(const voxelmaps::FuzzyConnectednessInput & input)
{
  const std::int64_t voxels = CountVoxels(input.size);
  const auto         isOutside = [&](std::int64_t seed) { return seed < 0 || seed >= voxels; };
  return std::min({ input.size[0], input.size[1], input.size[2] }) < 0 ||
         static_cast<std::uint8_t>(input.pixelType) > 7 ||
         std::any_of(input.seeds.begin(), input.seeds.end(), isOutside);
}

/** Whether the header excludes an affinity of scalars. */
inline bool
IsInvalidAffinity(const voxelmaps::FuzzyConnectednessAffinity &                affinity,
                  const voxelmaps::FuzzyConnectednessProblem::AffinityFunction function)
{
  using Function = voxelmaps::FuzzyConnectednessProblem::AffinityFunction;
  const auto isMean = [](double mean) { return std::abs(mean) <= 8.9e307; };
  const auto isVariance = [](double variance) { return variance >= 1e-299 && variance <= 1e307; };
  const bool isObjectInvalid = !isMean(affinity.objectMean[0]) || !isVariance(affinity.objectCovariance[0]);
  return function != Function::AbsoluteDifference &&
         ((function != Function::Homogeneity && isObjectInvalid) ||
          (function == Function::WeightedSum && !isMean(affinity.differenceMean[0])) ||
          !isVariance(affinity.differenceCovariance[0]));
}

/** Whether the header excludes a problem, apart from its affinity. */
inline bool
IsInvalidProblem(const voxelmaps::FuzzyConnectednessProblem & problem)
{
  const auto isSpacing = [](double spacing) { return spacing >= 1e-140 && spacing <= 1e140; };
  const auto isFraction = [](double fraction) { return fraction >= 0.0 && fraction <= 1.0; };
  const auto isMasked = [&problem](std::int64_t seed) { return problem.mask != nullptr && problem.mask[seed] == 0; };
  const bool isDifference =
    problem.affinityFunction == voxelmaps::FuzzyConnectednessProblem::AffinityFunction::AbsoluteDifference;
  return IsInvalidInput(problem) || std::any_of(problem.seeds.begin(), problem.seeds.end(), isMasked) ||
         static_cast<std::uint8_t>(problem.affinityFunction) > 4 || (isDifference && problem.distanceWeighting) ||
         static_cast<std::uint8_t>(problem.adjacency) > 2 || !isFraction(problem.weight) ||
         !isFraction(problem.minimumStrength) ||
         (problem.distanceWeighting && !std::all_of(problem.spacing.begin(), problem.spacing.end(), isSpacing));
}

/** Image and mask of a job, out of the bytes that are left. */
class FuzzedImage
{
public:
  FuzzedImage(FuzzedInput & data, voxelmaps::FuzzyConnectednessInput & input)
  {
    const bool hasMask = data.ConsumeBool();
    const auto scale = data.ConsumeIntegral<std::uint8_t>();
    const auto bytes = ConsumeBytesForVoxels(data, CountVoxels(input.size));
    for (const std::uint8_t byte : bytes)
    {
      m_Mask.push_back(byte % 8 == 7 ? 0 : byte);
    }
    using PixelType = voxelmaps::PixelType;
    const auto number = static_cast<std::uint8_t>(input.pixelType);
    const auto type = number < 6 ? static_cast<PixelType>(number) : number == 6 ? PixelType::Float : PixelType::Double;
    voxelmaps::VisitPixelType(type, [&](auto pixel) {
      using Pixel = decltype(pixel);
      m_Pixels = MakePixels<Pixel>(bytes, scale);
      const auto * const pixels = reinterpret_cast<const Pixel *>(m_Pixels.data());
      m_Intensities.assign(pixels, pixels + bytes.size());
    });
    input.mask = hasMask ? m_Mask.data() : nullptr;
    input.image = m_Pixels.data();
  }

  /** The same pixels as numbers. */
  const std::vector<double> &
  GetIntensities() const
  {
    return m_Intensities;
  }
  const std::vector<std::uint8_t> &
  GetMask() const
  {
    return m_Mask;
  }

private:
  std::vector<char>         m_Pixels;
  std::vector<double>       m_Intensities;
  std::vector<std::uint8_t> m_Mask;
};
} // namespace VoxelMapsFuzz

#endif // FuzzedConnectednessJob_h
