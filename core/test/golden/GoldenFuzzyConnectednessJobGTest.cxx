// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestUtilities.h"
#include "GoldenHashes.h"
#include "TestedProcessor.h"
#include "VoxelMapsTestUtilities.h"

#include "connectedness/ConnectednessKeyEngines.h"
#include "voxelmaps/FuzzyConnectednessVectorAffinity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsGolden;
using Job = voxelmaps::FuzzyConnectednessJob;
using Enums = voxelmaps::FuzzyConnectednessEnums;
using voxelmaps::Triple;

/** All that a result depends on. */
struct Case
{
  std::vector<unsigned char> pixels;
  Job::PixelType             pixelType{ Job::PixelType::Float };
  unsigned int               numberOfComponents{ 0 };
  Triple                     size{ { 1, 1, 1 } };
  std::array<double, 3>      spacing{ { 1.0, 1.0, 1.0 } };
  std::vector<std::uint8_t>  mask; // empty if there is none
  std::vector<std::int64_t>  seeds;
  Enums::AffinityFunction    affinityFunction{ Enums::AffinityFunction::GeometricMean };
  double                     objectMean{ 0.0 };
  double                     objectVariance{ 1.0 };
  double                     differenceMean{ 0.0 };
  double                     differenceVariance{ 1.0 };
  bool                       isEstimated{ false }; // the four above
  unsigned int               estimationRadius{ 2 };
  double                     weight{ 0.5 };
  double                     minimumStrength{ 0.0 };
  Enums::Adjacency           adjacency{ Enums::Adjacency::Face };
  bool                       distanceWeighting{ false };
  bool                       outputIsDouble{ false };
};

/** Give a job an affinity of vectors. */
void
SetVectors(const Case & golden, Job & job)
{
  const std::size_t           n = golden.numberOfComponents;
  voxelmaps::VectorAffinity & vectors = job.vectors;
  if (golden.isEstimated)
  {
    vectors =
      voxelmaps::EstimateVectorAffinity(job, { golden.affinityFunction, golden.estimationRadius }, job.execution)
        .vectors;
    // Components may be constant.
    for (std::size_t i = 0; i < n; ++i)
    {
      vectors.objectCovariance[i * n + i] += 0.5;
      vectors.differenceCovariance[i * n + i] += 0.5;
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i)
  {
    vectors.objectMean.push_back(golden.objectMean + static_cast<double>(i));
    vectors.differenceMean.push_back(golden.differenceMean + 0.25 * static_cast<double>(i));
    for (std::size_t j = 0; j < n; ++j)
    {
      const double correlation = i == j ? static_cast<double>(n) : 0.375;
      vectors.objectCovariance.push_back(golden.objectVariance * correlation);
      vectors.differenceCovariance.push_back(golden.differenceVariance * correlation);
    }
  }
}

/** The only place that knows the job. */
Job
MakeJob(const Case & golden)
{
  Job job;
  job.image = golden.pixels.data();
  job.pixelType = golden.pixelType;
  job.numberOfComponents = golden.numberOfComponents;
  job.size = golden.size;
  job.spacing = golden.spacing;
  job.mask = golden.mask.empty() ? nullptr : golden.mask.data();
  job.seeds = golden.seeds;
  job.affinityFunction = golden.affinityFunction;
  job.objectMean = golden.objectMean;
  job.objectVariance = golden.objectVariance;
  job.differenceMean = golden.differenceMean;
  job.differenceVariance = golden.differenceVariance;
  job.weight = golden.weight;
  job.minimumStrength = golden.minimumStrength;
  job.adjacency = golden.adjacency;
  job.distanceWeighting = golden.distanceWeighting;
  job.outputIsDouble = golden.outputIsDouble;
  job.execution.numberOfWorkers = 3;
  job.execution.parallelFor = VoxelMapsTest::RunThreads;
  if (golden.numberOfComponents > 0)
  {
    SetVectors(golden, job);
  }
  else if (golden.isEstimated)
  {
    const voxelmaps::AffinityEstimate estimate =
      voxelmaps::EstimateAffinity(job, { golden.affinityFunction, golden.estimationRadius }, job.execution);
    job.objectMean = estimate.mean;
    job.objectVariance = estimate.variance + 0.5;
    job.differenceMean = estimate.differenceMean;
    job.differenceVariance = estimate.differenceVariance + 0.5;
  }
  return job;
}

/** Hash of keys and strengths, each with guards. computeKeys(job, keys) and compute(job) call an engine. */
template <typename TComputeKeys, typename TCompute>
std::uint64_t
HashResult(Job job, const TComputeKeys & computeKeys, const TCompute & compute)
{
  const auto                 count = static_cast<std::size_t>(job.GetNumberOfVoxels());
  std::vector<unsigned char> keys = MakeGuardedBuffer(count * sizeof(std::uint32_t));
  computeKeys(job, reinterpret_cast<std::uint32_t *>(keys.data() + guardBytes));
  std::vector<unsigned char> strengths =
    MakeGuardedBuffer(count * (job.outputIsDouble ? sizeof(double) : sizeof(float)));
  job.output = strengths.data() + guardBytes;
  compute(job);
  return Hash(strengths, Hash(keys));
}

void
CheckOnCpu(GoldenGroup & group, const Case & golden)
{
  using Method = Enums::Method;
  for (const Method method : { Method::Buckets, Method::Hierarchy, Method::Automatic })
  {
    for (const unsigned int workers : { 1u, 3u })
    {
      Job job = MakeJob(golden);
      job.method = method;
      job.execution.numberOfWorkers = workers;
      std::ostringstream variant;
      variant << method << ", " << workers << " workers";
      group.Check(variant.str(),
                  HashResult(job, voxelmaps::ComputeFuzzyConnectednessKeys, voxelmaps::ComputeFuzzyConnectedness));
    }
  }
}

using Options = voxelmaps::CudaFuzzyConnectednessOptions;

void
CheckOnDevice(GoldenGroup & group, const Case & golden, Enums::CudaMethod method, std::uint64_t memoryBudget)
{
  const Options options = VoxelMapsTest::MakeCudaOptions<Options>(method, memoryBudget);
  std::uint64_t slabs = 0;

  const std::uint64_t hash = HashResult(
    MakeJob(golden),
    [&](const Job & job, std::uint32_t * keys) { voxelmaps::ComputeFuzzyConnectednessKeysCuda(job, options, keys); },
    [&](const Job & job) { slabs = voxelmaps::ComputeFuzzyConnectednessCuda(job, options).numberOfSlabs; });
  std::ostringstream variant;
  variant << method << ", " << slabs << " slabs";
  group.Check(variant.str(), hash);
}

/** Bytes for slabs of three planes, as the error message for a budget of one byte tells. */
std::uint64_t
FindMinBudget(const Case & golden, Enums::CudaMethod method)
{
  try
  {
    voxelmaps::ComputeFuzzyConnectednessCuda(MakeJob(golden), VoxelMapsTest::MakeCudaOptions<Options>(method, 1));
  }
  catch (const voxelmaps::EngineError & error)
  {
    const std::string message = error.what();
    const std::string before = "needs about ";
    const std::size_t at = message.find(before);
    // The number in the message is rounded down.
    return at == std::string::npos ? 0 : std::stoull(message.substr(at + before.size())) + 1;
  }
  return 0;
}

void
CheckOnDevice(GoldenGroup & group, const Case & golden)
{
  using Method = Enums::CudaMethod;
  const auto methods = VoxelMapsTest::GetMethods<Method>();
  for (const Method method : methods)
  {
    CheckOnDevice(group, golden, method, 0);
  }
  // One method in slabs; over all cases, each method has its turn.
  const Method        inSlabs = methods[golden.pixels.size() % 7 % methods.size()];
  const std::uint64_t budget = FindMinBudget(golden, inSlabs);
  EXPECT_GT(budget, 0u) << inSlabs;
  CheckOnDevice(group, golden, inSlabs, budget);
}

void
CheckAllVariants(GoldenGroup & group, const Case & golden)
{
  VoxelMapsTest::IsCudaTest() ? CheckOnDevice(group, golden) : CheckOnCpu(group, golden);
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
  const Triple &            size = golden.size;
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
  switch (golden.pixelType)
  {
    case Job::PixelType::Int8:
      return StorePixels<std::int8_t>(golden, quarters, hasHoles);
    case Job::PixelType::UInt8:
      return StorePixels<std::uint8_t>(golden, quarters, hasHoles);
    case Job::PixelType::Int16:
      return StorePixels<std::int16_t>(golden, quarters, hasHoles);
    case Job::PixelType::UInt16:
      return StorePixels<std::uint16_t>(golden, quarters, hasHoles);
    case Job::PixelType::Int32:
      return StorePixels<std::int32_t>(golden, quarters, hasHoles);
    case Job::PixelType::UInt32:
      return StorePixels<std::uint32_t>(golden, quarters, hasHoles);
    case Job::PixelType::Float:
      return StorePixels<float>(golden, quarters, hasHoles);
    case Job::PixelType::Double:
      return StorePixels<double>(golden, quarters, hasHoles);
  }
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
  golden.affinityFunction = static_cast<Enums::AffinityFunction>(number % 4);
  golden.adjacency = static_cast<Enums::Adjacency>(number / 4 % 3);
  golden.pixelType = static_cast<Job::PixelType>(number / 12 % 8);
  golden.size = DrawSize(dimension, draws);
  DrawPixels(golden, draws);
  for (double & spacing : golden.spacing)
  {
    spacing = draws.OneOf<double>({ 0.5, 1.0, 1.0, 1.25, 3.0 });
  }
  const std::int64_t voxels = golden.size[0] * golden.size[1] * golden.size[2];
  for (std::int64_t i = draws.OneOf<std::int64_t>({ 1, 1, 2, 3, 10 }); i > 0; --i)
  {
    golden.seeds.push_back(draws.Below(voxels));
  }
  if (draws.Percent(35))
  {
    const std::int64_t inside = draws.OneOf<std::int64_t>({ 55, 85, 98 });
    for (std::int64_t voxel = 0; voxel < voxels; ++voxel)
    {
      golden.mask.push_back(draws.Percent(inside) ? static_cast<std::uint8_t>(draws.Between(1, 255)) : std::uint8_t{});
    }
    for (const std::int64_t seed : golden.seeds)
    {
      golden.mask[static_cast<std::size_t>(seed)] = 1;
    }
  }
  golden.objectMean = static_cast<double>(draws.Between(-80, 320)) * 0.25;
  golden.objectVariance = draws.OneOf<double>({ 1.0, 100.5, 400.0, 2500.0, 2500.0, 10000.0 });
  golden.differenceMean = draws.OneOf<double>({ 0.0, 1.5, 10.0 });
  golden.differenceVariance = draws.OneOf<double>({ 0.5, 50.0, 400.0, 400.0, 3000.0 });
  golden.isEstimated = draws.Percent(20);
  golden.estimationRadius = static_cast<unsigned int>(draws.Between(1, 3));
  golden.weight = draws.OneOf<double>({ 0.0, 0.25, 0.5, 0.5, 0.875, 1.0 });
  golden.minimumStrength = draws.OneOf<double>({ 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.001, 0.25, 0.875 });
  golden.distanceWeighting = draws.Percent(30);
  golden.outputIsDouble = draws.Percent(50);
  return golden;
}

/** A drawn case in which every component has its own pixels. */
Case
DrawVectorCase(int number, Draws & draws)
{
  Case golden = DrawCase(number % 2 == 0 ? 2 : 3, number, draws);
  golden.numberOfComponents = static_cast<unsigned int>(1 + number % 16);
  if (draws.Percent(15))
  {
    golden.affinityFunction = Enums::AffinityFunction::AbsoluteDifference;
    golden.distanceWeighting = false;
  }
  const auto                 voxels = static_cast<std::size_t>(golden.size[0] * golden.size[1] * golden.size[2]);
  const auto                 bytes = golden.pixels.size() / voxels;
  Case                       component = golden;
  std::vector<unsigned char> pixels(golden.pixels.size() * golden.numberOfComponents);
  for (std::size_t c = 0; c < golden.numberOfComponents; ++c)
  {
    for (std::size_t voxel = 0; voxel < voxels; ++voxel)
    {
      std::memcpy(pixels.data() + (voxel * golden.numberOfComponents + c) * bytes,
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
    CheckAllVariants(group, DrawCase(dimension, i, draws));
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
    CheckAllVariants(group, DrawVectorCase(i, draws));
  }
}
