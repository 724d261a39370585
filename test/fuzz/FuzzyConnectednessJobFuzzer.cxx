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
#include "FuzzerUtilities.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <algorithm>
#include <cmath>

// Valid and invalid jobs for the connectedness engine, and images for the estimate of its parameters: the engine must
// refuse those that its header excludes with an EngineError, compute all others, and write strengths in [0, 1] for
// every voxel and nothing else.
namespace
{
using VoxelMapsFuzz::FuzzedInput;
using Job = voxelmaps::FuzzyConnectednessJob;
using voxelmaps::Triple;
using VoxelMapsFuzz::ConsumeAnyDouble;
using VoxelMapsFuzz::ConsumeAnyInteger;
using VoxelMapsFuzz::ConsumeEnumerator;
using VoxelMapsFuzz::ConsumeOneIn;
using VoxelMapsFuzz::Require;
using VoxelMapsTest::HasSameBits;

std::int64_t
CountVoxels(const Triple & size)
{
  return std::min({ size[0], size[1], size[2] }) < 1 ? 0 : size[0] * size[1] * size[2];
}

Job
ConsumeJob(FuzzedInput & data)
{
  Job job;
  job.size = VoxelMapsFuzz::ConsumeSmallSize(data);
  if (ConsumeOneIn(data, 32))
  {
    // Of no voxel, or of a negative number of them.
    job.size[data.ConsumeIntegralInRange<std::size_t>(0, 2)] = data.ConsumeIntegralInRange<std::int64_t>(-2, 0);
  }
  job.pixelType = ConsumeEnumerator<Job::PixelType>(data, 8);
  job.affinityFunction = ConsumeEnumerator<Job::AffinityFunction>(data, 4);
  job.adjacency = ConsumeEnumerator<Job::Adjacency>(data, 3);
  job.method = ConsumeEnumerator<Job::Method>(data, 5);
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
  job.objectMean = consume(30.0);
  job.objectVariance = consume(300.0);
  job.differenceMean = consume(3.0);
  job.differenceVariance = consume(100.0);
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

bool
IsInvalidInput(const voxelmaps::FuzzyConnectednessInput & input)
{
  const std::int64_t voxels = CountVoxels(input.size);
  const auto         isOutside = [&](std::int64_t seed) { return seed < 0 || seed >= voxels; };
  return std::min({ input.size[0], input.size[1], input.size[2] }) < 0 ||
         static_cast<std::uint8_t>(input.pixelType) > 7 ||
         std::any_of(input.seeds.begin(), input.seeds.end(), isOutside);
}

/** Whether the header of the job excludes it. */
bool
IsInvalid(const Job & job)
{
  const auto isVariance = [](double variance) { return variance >= 1e-299 && std::isfinite(variance); };
  const auto isSpacing = [](double spacing) { return spacing >= 1e-140 && spacing <= 1e140; };
  const auto isFraction = [](double fraction) { return fraction >= 0.0 && fraction <= 1.0; };
  const auto isMasked = [&job](std::int64_t seed) { return job.mask != nullptr && job.mask[seed] == 0; };
  return IsInvalidInput(job) || std::any_of(job.seeds.begin(), job.seeds.end(), isMasked) ||
         static_cast<std::uint8_t>(job.affinityFunction) > 3 || static_cast<std::uint8_t>(job.adjacency) > 2 ||
         static_cast<std::uint8_t>(job.method) > 4 || !std::isfinite(job.objectMean) ||
         !isVariance(job.objectVariance) || !std::isfinite(job.differenceMean) || !isVariance(job.differenceVariance) ||
         !isFraction(job.weight) || !isFraction(job.minimumStrength) ||
         (job.distanceWeighting && !std::all_of(job.spacing.begin(), job.spacing.end(), isSpacing));
}

template <typename TReal>
std::vector<TReal>
Compute(Job job)
{
  constexpr std::size_t guard = 16;
  constexpr TReal       untouched = -12345;
  std::vector<TReal>    buffer(static_cast<std::size_t>(CountVoxels(job.size)) + 2 * guard, untouched);
  job.output = buffer.data() + guard;
  const bool isInvalid = IsInvalid(job);
  try
  {
    const auto report = voxelmaps::ComputeFuzzyConnectedness(job);
    Require(report.method != Job::Method::Automatic || buffer.size() == 2 * guard, "the report names no method");
  }
  catch (const voxelmaps::EngineError & error)
  {
    if (!isInvalid)
    {
      VoxelMapsFuzz::Fail(std::string("a valid job was refused: ") + error.what());
    }
    return {};
  }
  Require(!isInvalid, "an invalid job was computed");
  const auto isUntouched = [](TReal value) { return value == untouched; };
  Require(std::all_of(buffer.begin(), buffer.begin() + guard, isUntouched), "wrote before the output");
  Require(std::all_of(buffer.end() - guard, buffer.end(), isUntouched), "wrote after the output");
  const std::vector<TReal> result(buffer.begin() + guard, buffer.end() - guard);
  Require(std::all_of(result.begin(), result.end(), [](TReal value) { return value >= 0 && value <= 1; }),
          "a strength is not in [0, 1]");
  for (const std::int64_t seed : job.seeds)
  {
    Require(result[static_cast<std::size_t>(seed)] == 1, "the strength of a seed is not 1");
  }
  return result;
}

template <typename TReal>
void
Check(Job job, std::uint8_t otherMethod)
{
  const std::vector<TReal> result = Compute<TReal>(job);
  if (result.empty())
  {
    return;
  }
  // All that must not matter.
  job.method = static_cast<Job::Method>(otherMethod);
  job.execution.numberOfWorkers = 1;
  std::reverse(job.seeds.begin(), job.seeds.end());
  Require(HasSameBits(result, Compute<TReal>(job)), "another way to compute the job gives another result");
}

void
CheckEstimate(const Job & job, unsigned int radius)
{
  try
  {
    const auto estimate = voxelmaps::EstimateAffinity(job, { job.affinityFunction, radius }, job.execution);
    Require(!IsInvalidInput(job), "the estimate of an invalid input was computed");
    Require(estimate.numberOfVoxels >= 0 && estimate.numberOfVoxels <= CountVoxels(job.size),
            "the estimate uses more voxels than there are");
    Require(!(estimate.variance < 0.0) && !(estimate.differenceVariance < 0.0), "a variance is negative");
  }
  catch (const voxelmaps::EngineError & error)
  {
    if (!IsInvalidInput(job))
    {
      VoxelMapsFuzz::Fail(std::string("the estimate of a valid input was refused: ") + error.what());
    }
  }
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput data(bytes, numberOfBytes);
  Job         job = ConsumeJob(data);
  const auto  otherMethod = data.ConsumeIntegralInRange<std::uint8_t>(0, 4);
  const auto  radius =
    ConsumeOneIn(data, 16) ? ConsumeAnyInteger<unsigned int>(data) : data.ConsumeIntegralInRange<unsigned int>(0, 4);
  const bool hasMask = data.ConsumeBool();
  const auto scale = data.ConsumeIntegral<std::uint8_t>();

  const std::int64_t        voxels = CountVoxels(job.size);
  const auto                bytesOfVoxels = VoxelMapsFuzz::ConsumeBytesForVoxels(data, voxels);
  std::vector<std::uint8_t> mask;
  for (const std::uint8_t byte : bytesOfVoxels)
  {
    mask.push_back(byte % 8 == 7 ? 0 : byte);
  }
  job.mask = hasMask ? mask.data() : nullptr;

  // Pixels of every type out of the same bytes: as they are, or as numbers near the ends of the type's range.
  std::vector<double> buffer(static_cast<std::size_t>(voxels) + 1);
  job.image = buffer.data();
  const auto store = [&](auto * pixels) {
    using Pixel = std::remove_pointer_t<decltype(pixels)>;
    using Limits = std::numeric_limits<Pixel>;
    for (std::size_t i = 0; i < bytesOfVoxels.size(); ++i)
    {
      const auto value = static_cast<Pixel>(bytesOfVoxels[i] % 128);
      switch (scale % 8 == 0 ? bytesOfVoxels[i] % 16 : 0)
      {
        case 13:
          pixels[i] = Limits::max();
          break;
        case 14:
          pixels[i] = Limits::lowest();
          break;
        case 15:
          pixels[i] = Limits::has_infinity ? Limits::infinity() : Limits::max() / 2;
          break;
        default:
          pixels[i] =
            std::is_floating_point<Pixel>::value ? static_cast<Pixel>(std::ldexp(value, scale / 8 * 60 - 900)) : value;
          pixels[i] = scale < 200 ? value : pixels[i];
      }
    }
  };
  switch (job.pixelType)
  {
    case Job::PixelType::Int8:
      store(reinterpret_cast<std::int8_t *>(buffer.data()));
      break;
    case Job::PixelType::UInt8:
      store(reinterpret_cast<std::uint8_t *>(buffer.data()));
      break;
    case Job::PixelType::Int16:
      store(reinterpret_cast<std::int16_t *>(buffer.data()));
      break;
    case Job::PixelType::UInt16:
      store(reinterpret_cast<std::uint16_t *>(buffer.data()));
      break;
    case Job::PixelType::Int32:
      store(reinterpret_cast<std::int32_t *>(buffer.data()));
      break;
    case Job::PixelType::UInt32:
      store(reinterpret_cast<std::uint32_t *>(buffer.data()));
      break;
    case Job::PixelType::Float:
      store(reinterpret_cast<float *>(buffer.data()));
      break;
    default:
      store(buffer.data());
  }
  CheckEstimate(job, radius);
  if (job.outputIsDouble)
  {
    Check<double>(job, otherMethod);
  }
  else
  {
    Check<float>(job, otherMethod);
  }
  return 0;
}
