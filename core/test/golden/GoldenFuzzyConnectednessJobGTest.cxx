// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessJobChecks.h"
#include "GoldenHashes.h"

#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsGolden;
using Job = voxelmaps::FuzzyConnectednessJob;
using Enums = voxelmaps::FuzzyConnectednessEnums;
using voxelmaps::Triple;

/** A job, its pixels and its mask, which is empty if there is none. */
struct Case
{
  std::vector<unsigned char> pixels;
  std::vector<std::uint8_t>  mask;
  Job                        job;
  /** Whether the affinity is estimated from the seeds, and with which radius. */
  bool         isEstimated{ false };
  unsigned int estimationRadius{ 2 };
};

/** Give a job the affinity that a case has or estimates. */
void
SetAffinity(const Case & golden, Job & job)
{
  try
  {
    if (golden.isEstimated)
    {
      job.affinity =
        voxelmaps::EstimateAffinity(job, { job.affinityFunction, golden.estimationRadius }, job.execution).affinity;
      return;
    }
  }
  catch (const voxelmaps::EngineError &)
  {
    // The surroundings of the seeds are constant.
  }
  const auto scalar = job.affinity;
  const auto n = static_cast<std::size_t>(job.GetAffinityLength());
  job.affinity = {};
  for (std::size_t i = 0; i < n; ++i)
  {
    job.affinity.objectMean.push_back(scalar.objectMean[0] + static_cast<double>(i));
    job.affinity.differenceMean.push_back(scalar.differenceMean[0] + 0.25 * static_cast<double>(i));
    for (std::size_t j = 0; j < n; ++j)
    {
      const double correlation = i == j ? static_cast<double>(n) : 0.375;
      job.affinity.objectCovariance.push_back(scalar.objectCovariance[0] * correlation);
      job.affinity.differenceCovariance.push_back(scalar.differenceCovariance[0] * correlation);
    }
  }
}

/** Check keys and strengths of all engines, each with guards. */
void
CheckAllEngines(GoldenGroup & group, const Case & golden)
{
  Job job = golden.job;
  job.image = golden.pixels.data();
  job.mask = golden.mask.empty() ? nullptr : golden.mask.data();
  SetAffinity(golden, job);
  for (const auto & engine : VoxelMapsTest::GetEngines(job))
  {
    const auto                 computed = engine.computeKeys(job);
    std::vector<unsigned char> keys = MakeGuardedBuffer(computed.size() * sizeof(std::uint32_t));
    std::memcpy(keys.data() + guardBytes, computed.data(), computed.size() * sizeof(std::uint32_t));
    std::vector<unsigned char> strengths =
      MakeGuardedBuffer(computed.size() * (job.outputIsDouble ? sizeof(double) : sizeof(float)));
    job.output = strengths.data() + guardBytes;
    engine.compute(job);
    group.Check(engine.name, Hash(strengths, Hash(keys)));
  }
}

template <typename TPixel>
void
StorePixels(Case & golden, const std::vector<std::int64_t> & quarters, bool hasHoles)
{
  std::vector<TPixel> pixels;
  for (const std::int64_t quarter : quarters)
  {
    constexpr bool isReal = std::is_floating_point<TPixel>::value;
    // Signed integers have a negative half.
    const std::int64_t shift = std::is_signed<TPixel>::value ? 60 : 0;
    pixels.push_back(isReal ? static_cast<TPixel>(static_cast<double>(quarter) * 0.25)
                            : static_cast<TPixel>(quarter / 4 - shift));
    if (isReal && hasHoles && quarter % 37 == 0)
    {
      pixels.back() =
        quarter % 2 == 0 ? std::numeric_limits<TPixel>::quiet_NaN() : std::numeric_limits<TPixel>::infinity();
    }
  }
  golden.pixels.resize(pixels.size() * sizeof(TPixel));
  std::memcpy(golden.pixels.data(), pixels.data(), golden.pixels.size());
}

/** Intensities 0 ... 120 in steps of 1/4: objects with noise, slopes, walls with gaps. */
void
DrawPixels(Case & golden, Draws & draws)
{
  const Triple &            size = golden.job.size;
  const std::int64_t        pattern = draws.Below(4);
  const std::int64_t        width = draws.Between(1, 9);
  const std::int64_t        noise = draws.OneOf<std::int64_t>({ 1, 8, 40, 120 });
  std::vector<std::int64_t> quarters;
  for (std::int64_t z = 0; z < size[2]; ++z)
  {
    for (std::int64_t y = 0; y < size[1]; ++y)
    {
      for (std::int64_t x = 0; x < size[0]; ++x)
      {
        std::int64_t value = draws.Below(361);
        if (pattern == 1) // blocks
        {
          value = (x / width + 3 * (y / width) + 5 * (z / width)) % 7 * 60;
        }
        else if (pattern == 2) // a slope
        {
          value = (3 * x + 5 * y + 7 * z) % 361;
        }
        else if (pattern == 3) // a path that winds between walls
        {
          const bool isGap = y % 4 == 1 ? x == size[0] - 1 : x == 0;
          value = y % 2 == 1 && !isGap ? 300 : z % 2 == 1 && x + y > 0 ? 200 : 40;
        }
        quarters.push_back(value + draws.Below(noise));
      }
    }
  }
  const bool hasHoles = draws.Percent(40);
  VisitPixelType(golden.job.pixelType, [&](auto pixel) { StorePixels<decltype(pixel)>(golden, quarters, hasHoles); });
}

Triple
DrawSize(unsigned int dimension, Draws & draws)
{
  Triple             size{ { 1, 1, 1 } };
  const std::int64_t kind = draws.Below(10);
  // Some have many tiles.
  const std::int64_t maxSize = kind < 1 ? 6 : dimension == 2 ? (kind < 8 ? 40 : 90) : (kind < 8 ? 12 : 24);
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    size[axis] = draws.Between(kind < 1 ? 1 : maxSize / 3, maxSize);
  }
  if (kind == 2) // a line
  {
    size = { { 1, 1, 1 } };
    size[static_cast<std::size_t>(draws.Below(dimension))] = draws.Between(2, 300);
  }
  return size;
}

/** The number of the case decides affinity function, adjacency and pixel type, so that all combinations occur. */
Case
DrawCase(unsigned int dimension, int number, Draws & draws)
{
  Case golden;
  golden.job.affinityFunction = static_cast<Enums::AffinityFunction>(number % 4);
  golden.job.adjacency = static_cast<Enums::Adjacency>(number / 4 % 3);
  golden.job.pixelType = static_cast<Job::PixelType>(number / 12 % 8);
  golden.job.size = DrawSize(dimension, draws);
  DrawPixels(golden, draws);
  for (double & spacing : golden.job.spacing)
  {
    spacing = draws.OneOf<double>({ 0.5, 1.0, 1.0, 1.25, 3.0 });
  }
  const std::int64_t voxels = golden.job.size[0] * golden.job.size[1] * golden.job.size[2];
  for (std::int64_t i = draws.OneOf<std::int64_t>({ 1, 1, 2, 3, 10 }); i > 0; --i)
  {
    golden.job.seeds.push_back(draws.Below(voxels));
  }
  if (draws.Percent(35))
  {
    const std::int64_t inside = draws.OneOf<std::int64_t>({ 55, 85, 98 });
    for (std::int64_t voxel = 0; voxel < voxels; ++voxel)
    {
      golden.mask.push_back(draws.Percent(inside) ? static_cast<std::uint8_t>(draws.Between(1, 255)) : std::uint8_t{});
    }
    for (const std::int64_t seed : golden.job.seeds)
    {
      golden.mask[static_cast<std::size_t>(seed)] = 1;
    }
  }
  golden.job.affinity.objectMean = { static_cast<double>(draws.Between(-80, 320)) * 0.25 };
  golden.job.affinity.objectCovariance = { draws.OneOf<double>({ 1.0, 100.5, 400.0, 2500.0, 2500.0, 10000.0 }) };
  golden.job.affinity.differenceMean = { draws.OneOf<double>({ 0.0, 1.5, 10.0 }) };
  golden.job.affinity.differenceCovariance = { draws.OneOf<double>({ 0.5, 50.0, 400.0, 400.0, 3000.0 }) };
  golden.isEstimated = draws.Percent(20);
  golden.estimationRadius = static_cast<unsigned int>(draws.Between(1, 3));
  golden.job.weight = draws.OneOf<double>({ 0.0, 0.25, 0.5, 0.5, 0.875, 1.0 });
  golden.job.minimumStrength = draws.OneOf<double>({ 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.001, 0.25, 0.875 });
  golden.job.distanceWeighting = draws.Percent(30);
  golden.job.outputIsDouble = draws.Percent(50);
  return golden;
}

/** A drawn case in which every component has its own pixels. */
Case
DrawVectorCase(int number, Draws & draws)
{
  Case golden = DrawCase(number % 2 == 0 ? 2 : 3, number, draws);
  golden.job.numberOfComponents = static_cast<unsigned int>(1 + number % 16);
  if (draws.Percent(15))
  {
    golden.job.affinityFunction = Enums::AffinityFunction::AbsoluteDifference;
    golden.job.distanceWeighting = false;
  }
  const auto voxels = static_cast<std::size_t>(golden.job.size[0] * golden.job.size[1] * golden.job.size[2]);
  const auto bytes = golden.pixels.size() / voxels;
  Case       component = golden;
  std::vector<unsigned char> pixels(golden.pixels.size() * golden.job.numberOfComponents);
  for (std::size_t c = 0; c < golden.job.numberOfComponents; ++c)
  {
    for (std::size_t voxel = 0; voxel < voxels; ++voxel)
    {
      std::memcpy(pixels.data() + (voxel * golden.job.numberOfComponents + c) * bytes,
                  component.pixels.data() + voxel * bytes,
                  bytes);
    }
    DrawPixels(component, draws);
  }
  golden.pixels = pixels;
  return golden;
}

void
CheckDrawnCases(const std::string & name, unsigned int dimension, int count)
{
  GoldenGroup group(name);
  for (int i = 0; i < count; ++i)
  {
    Draws draws(group.NextCase());
    CheckAllEngines(group, DrawCase(dimension, i, draws));
  }
}
} // namespace

TEST(GoldenFuzzyConnectednessJob, Drawn2D)
{
  CheckDrawnCases("FuzzyConnectednessJob2D", 2, 192);
}

TEST(GoldenFuzzyConnectednessJob, Drawn3D)
{
  CheckDrawnCases("FuzzyConnectednessJob3D", 3, 192);
}

TEST(GoldenFuzzyConnectednessJob, DrawnVectors)
{
  GoldenGroup group("FuzzyConnectednessJobOfVectors");
  for (int i = 0; i < 96; ++i)
  {
    Draws draws(group.NextCase());
    CheckAllEngines(group, DrawVectorCase(i, draws));
  }
}
