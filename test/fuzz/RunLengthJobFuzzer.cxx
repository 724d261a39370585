// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
#include "voxelmaps/RunLengthJob.h"

#include <algorithm>
#include <set>
#include <sstream>

// Valid and invalid jobs for the run length engine: it must refuse those that its header excludes with an EngineError,
// compute all others, and write every number of the output and nothing else.
namespace
{
using VoxelMapsFuzz::FuzzedInput;
using Job = voxelmaps::RunLengthJob;
using voxelmaps::Triple;
using VoxelMapsFuzz::ConsumeAnyInteger;
using VoxelMapsFuzz::ConsumeEnumerator;
using VoxelMapsFuzz::ConsumeOneIn;
using VoxelMapsFuzz::ConsumeSize;
using VoxelMapsFuzz::CountVoxels;
using VoxelMapsFuzz::Fail;
using VoxelMapsFuzz::IsLarge;
using VoxelMapsFuzz::Require;
using VoxelMapsTest::HasSameBits;

constexpr std::uint8_t numberOfFeatures = voxelmaps::RunLengthFeatureMapEnums::NumberOfFeatures;

Job
ConsumeJob(FuzzedInput & data)
{
  Job job;
  job.levelsSize = ConsumeSize(data);
  job.outputSize = ConsumeSize(data);
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    job.outputIndex[axis] = data.ConsumeIntegralInRange<std::int64_t>(-3, 7);
    const bool isLarge = ConsumeOneIn(data, 16);
    job.windowSize[axis] =
      isLarge ? data.ConsumeIntegralInRange<std::int64_t>(1, 256) : data.ConsumeIntegralInRange<std::int64_t>(1, 7);
    job.windowAnchor[axis] = job.windowSize[axis] / 2;
  }
  if (ConsumeOneIn(data, 16))
  {
    const auto axis = data.ConsumeIntegralInRange<std::size_t>(0, 2);
    auto &     triple =
      *data.PickValueInArray<Triple *>({ &job.levelsIndex, &job.outputIndex, &job.windowSize, &job.windowAnchor });
    triple[axis] = ConsumeAnyInteger<std::int64_t>(data);
  }
  job.numberOfGrayLevels = ConsumeOneIn(data, 50)  ? ConsumeAnyInteger<std::uint32_t>(data)
                           : ConsumeOneIn(data, 4) ? data.ConsumeIntegralInRange<std::uint32_t>(1, 65535)
                                                   : data.ConsumeIntegralInRange<std::uint32_t>(1, 64);
  const auto numberOfOffsets = data.ConsumeIntegralInRange<std::uint8_t>(0, 14);
  for (std::uint8_t i = 0; i < numberOfOffsets; ++i)
  {
    const auto   number = data.ConsumeIntegral<std::uint8_t>();
    const Triple offset{ { number % 3 - 1, number / 3 % 3 - 1, number / 9 % 3 - 1 } };
    job.offsets.push_back(number > 250 ? Triple{ { ConsumeAnyInteger<std::int64_t>(data), 0, 1 } } : offset);
  }
  const auto numberOfFeaturesOfJob = data.ConsumeIntegralInRange<std::uint8_t>(0, numberOfFeatures + 1);
  for (std::uint8_t i = 0; i < numberOfFeaturesOfJob; ++i)
  {
    const auto feature = ConsumeEnumerator<Job::Feature>(data, numberOfFeatures);
    if (std::find(job.features.begin(), job.features.end(), feature) == job.features.end() || ConsumeOneIn(data, 100))
    {
      job.features.push_back(feature);
    }
  }
  job.aggregation = ConsumeEnumerator<Job::Aggregation>(data, 3);
  job.skipDirectionsWithoutPairs = data.ConsumeBool();
  job.widestInstructionSet = ConsumeEnumerator<voxelmaps::InstructionSet>(data, 3);
  job.walkWindows = data.ConsumeBool();
  job.outputIsDouble = data.ConsumeBool();
  job.backgroundValue = VoxelMapsFuzz::ConsumeAnyDouble(data);
  job.execution.numberOfWorkers = data.ConsumeIntegralInRange<unsigned int>(0, 3);
  if (data.ConsumeBool())
  {
    job.execution.parallelFor = VoxelMapsTest::RunThreads;
  }
  return job;
}

/** Whether the header of the job excludes it. */
bool
IsInvalid(const Job & job)
{
  const auto isUnknown = [](Job::Feature feature) { return static_cast<std::uint8_t>(feature) >= numberOfFeatures; };
  bool       isInvalid = job.numberOfGrayLevels < 1 || job.numberOfGrayLevels > 65535 || job.offsets.empty() ||
                   job.offsets.size() > 13 || job.features.empty() || job.features.size() > numberOfFeatures ||
                   std::any_of(job.features.begin(), job.features.end(), isUnknown) ||
                   static_cast<std::uint8_t>(job.aggregation) > 2 ||
                   std::set<Job::Feature>(job.features.begin(), job.features.end()).size() < job.features.size() ||
                   std::min({ job.levelsSize[0], job.levelsSize[1], job.levelsSize[2] }) < 0 ||
                   std::min({ job.outputSize[0], job.outputSize[1], job.outputSize[2] }) < 0;
  std::int64_t voxels = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const std::int64_t size = job.windowSize[axis];
    isInvalid = isInvalid || size < 1 || size > 255 || job.windowAnchor[axis] < 0 || job.windowAnchor[axis] >= size;
    voxels *= isInvalid ? 1 : size;
  }
  for (const Triple & offset : job.offsets)
  {
    const auto range = std::minmax({ offset[0], offset[1], offset[2] });
    isInvalid = isInvalid || range.first < -1 || range.second > 1 || offset == Triple{ { 0, 0, 0 } };
  }
  return isInvalid || voxels > 65535;
}

/** Whether the engine may refuse the job although it is valid: a direction given twice, or indices and sizes near the
 * ends of 64 bits. */
bool
MayBeRefused(const Job & job)
{
  const auto isFar = [](std::int64_t index) { return index > INT64_C(1) << 56 || index < -(INT64_C(1) << 56); };
  return std::set<Triple>(job.offsets.begin(), job.offsets.end()).size() < job.offsets.size() ||
         std::any_of(job.levelsIndex.begin(), job.levelsIndex.end(), isFar) ||
         std::any_of(job.outputIndex.begin(), job.outputIndex.end(), isFar) || IsLarge(job.levelsSize) ||
         IsLarge(job.outputSize);
}

/** The output of a job; nothing if it is refused. */
template <typename TReal>
std::vector<TReal>
Compute(Job job)
{
  constexpr std::size_t guard = 16;
  // No feature is negative.
  const TReal        untouched = job.backgroundValue == -12345 ? -54321 : -12345;
  const std::size_t  count = job.GetNumberOfComponents() * static_cast<std::size_t>(CountVoxels(job.outputSize));
  std::vector<TReal> buffer(count + 2 * guard, untouched);
  job.output = buffer.data() + guard;
  const bool isInvalid = IsInvalid(job);
  try
  {
    voxelmaps::ComputeFeatureMaps(job);
  }
  catch (const voxelmaps::EngineError & error)
  {
    if (!isInvalid && !MayBeRefused(job))
    {
      Fail(std::string("a valid job was refused: ") + error.what());
    }
    return {};
  }
  Require(!isInvalid, "an invalid job was computed");
  const auto isUntouched = [untouched](TReal value) { return value == untouched; };
  Require(std::all_of(buffer.begin(), buffer.begin() + guard, isUntouched), "wrote before the output");
  Require(std::all_of(buffer.end() - guard, buffer.end(), isUntouched), "wrote after the output");
  Require(std::none_of(buffer.begin() + guard, buffer.end() - guard, isUntouched), "left out a voxel");
  return std::vector<TReal>(buffer.begin() + guard, buffer.end() - guard);
}

/** What a failure needs to be made again by hand. */
std::string
Describe(const Job & job)
{
  std::ostringstream text;
  const auto         print = [&text](const char * name, const Triple & triple) {
    text << ", " << name << ' ' << triple[0] << ' ' << triple[1] << ' ' << triple[2];
  };
  text << ": " << job.numberOfGrayLevels << " levels";
  print("levels at", job.levelsIndex);
  print("of size", job.levelsSize);
  print("output at", job.outputIndex);
  print("of size", job.outputSize);
  print("window", job.windowSize);
  print("anchor", job.windowAnchor);
  for (const Triple & offset : job.offsets)
  {
    print("direction", offset);
  }
  text << ", features";
  for (const Job::Feature feature : job.features)
  {
    text << ' ' << static_cast<int>(feature);
  }
  text << ", aggregation " << static_cast<int>(job.aggregation) << ", skip " << job.skipDirectionsWithoutPairs
       << ", instruction set " << static_cast<int>(job.widestInstructionSet) << ", walk " << job.walkWindows
       << ", background " << job.backgroundValue << ", selection " << (job.selection != nullptr) << ", workers "
       << job.execution.numberOfWorkers;
  return text.str();
}

template <typename TReal>
void
Check(Job job)
{
  const std::string        description = Describe(job);
  const std::vector<TReal> result = Compute<TReal>(job);
  if (result.empty())
  {
    return;
  }
  // All that must not matter.
  job.walkWindows = !job.walkWindows;
  job.widestInstructionSet = voxelmaps::InstructionSet::AVX2;
  job.execution.numberOfWorkers = 1;
  const std::vector<TReal> other = Compute<TReal>(job);
  for (std::size_t i = 0; i < result.size(); ++i)
  {
    if (!HasSameBits<TReal>({ result[i] }, { other[i] }))
    {
      Fail("another way to compute the job gives " + std::to_string(other[i]) + " instead of " +
           std::to_string(result[i]) + " at component " + std::to_string(i) + description);
    }
  }
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput data(bytes, numberOfBytes);
  Job         job = ConsumeJob(data);
  const auto  bits = data.ConsumeIntegral<std::uint8_t>();

  const auto                 voxelBytes = VoxelMapsFuzz::ConsumeBytesForVoxels(data, CountVoxels(job.levelsSize));
  std::vector<std::uint16_t> levels;
  for (const std::uint8_t byte : voxelBytes)
  {
    // Levels are a precondition: 0 ... numberOfGrayLevels. The largest make the largest sums.
    const auto count = std::max<std::uint32_t>(1, std::min<std::uint32_t>(job.numberOfGrayLevels, 65535));
    levels.push_back(static_cast<std::uint16_t>(byte >= 0xf0 ? count - std::min<std::uint32_t>(count, byte - 0xf0)
                                                             : byte % (count + 1)));
  }
  job.levels = levels.data();
  std::vector<std::uint8_t> selection(static_cast<std::size_t>(CountVoxels(job.outputSize)));
  if (bits % 4 == 0)
  {
    for (std::size_t i = 0; i < selection.size(); ++i)
    {
      selection[i] = static_cast<std::uint8_t>(i * bits / 64 % 3);
    }
    job.selection = selection.data();
  }
  if (job.outputIsDouble)
  {
    Check<double>(job);
  }
  else
  {
    Check<float>(job);
  }
  return 0;
}
