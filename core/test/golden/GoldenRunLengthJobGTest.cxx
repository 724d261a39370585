// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "TestedProcessor.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/RunLengthJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsGolden;
using Job = voxelmaps::RunLengthJob;
using Enums = voxelmaps::RunLengthFeatureMapEnums;
using Triple = std::array<std::int64_t, 3>;

/** All that a result depends on. */
struct Case
{
  std::vector<std::uint16_t>  levels;
  Triple                      levelsIndex{ { 0, 0, 0 } };
  Triple                      levelsSize{ { 1, 1, 1 } };
  std::uint32_t               numberOfGrayLevels{ 32 };
  bool                        outputIsDouble{ false };
  Triple                      outputIndex{ { 0, 0, 0 } };
  Triple                      outputSize{ { 1, 1, 1 } };
  double                      backgroundValue{ 0.0 };
  Triple                      windowSize{ { 1, 1, 1 } };
  Triple                      windowAnchor{ { 0, 0, 0 } };
  std::vector<Triple>         offsets;
  std::vector<Enums::Feature> features;
  Enums::Aggregation          aggregation{ Enums::Aggregation::Average };
};

/** The only place that knows the job; makes the output that it writes to. */
Job
MakeJob(const Case & golden, std::vector<unsigned char> & output)
{
  Job job;
  job.levels = golden.levels.data();
  job.levelsIndex = golden.levelsIndex;
  job.levelsSize = golden.levelsSize;
  job.numberOfGrayLevels = golden.numberOfGrayLevels;
  job.outputIsDouble = golden.outputIsDouble;
  job.outputIndex = golden.outputIndex;
  job.outputSize = golden.outputSize;
  job.backgroundValue = golden.backgroundValue;
  job.windowSize = golden.windowSize;
  job.windowAnchor = golden.windowAnchor;
  job.offsets = golden.offsets;
  job.features = golden.features;
  job.aggregation = golden.aggregation;
  output =
    MakeGuardedBuffer(job.GetNumberOfComponents() * (golden.outputIsDouble ? sizeof(double) : sizeof(float)) *
                      static_cast<std::size_t>(golden.outputSize[0] * golden.outputSize[1] * golden.outputSize[2]));
  job.output = output.data() + guardBytes;
  job.execution.numberOfWorkers = 3;
  job.execution.parallelFor = VoxelMapsTest::RunThreads;
  return job;
}

void
CheckOnCpu(GoldenGroup & group, const Case & golden)
{
  for (const unsigned int workers : { 1u, 3u })
  {
    const auto check = [&](bool walkWindows, voxelmaps::InstructionSet instructionSet) {
      std::vector<unsigned char> output;
      Job                        job = MakeJob(golden, output);
      job.execution.numberOfWorkers = workers;
      job.walkWindows = walkWindows;
      job.widestInstructionSet = instructionSet;
      voxelmaps::ComputeRunLengthFeatureMaps(job);
      group.Check((walkWindows ? "walk" : "instruction set " + std::to_string(static_cast<int>(instructionSet))) +
                    ", " + std::to_string(workers) + " workers",
                  Hash(output));
    };
    check(true, voxelmaps::InstructionSet::Baseline);
    for (const auto set :
         { voxelmaps::InstructionSet::Baseline, voxelmaps::InstructionSet::AVX2, voxelmaps::InstructionSet::AVX512 })
    {
      if (set <= voxelmaps::GetWidestInstructionSet())
      {
        check(false, set);
      }
    }
  }
}

/** False if the method cannot support the job; all other errors are thrown. */
bool
CheckOnDevice(GoldenGroup & group, const Case & golden, Enums::CudaMethod method, std::uint64_t memoryBudget)
{
  std::vector<unsigned char>      output;
  const Job                       job = MakeJob(golden, output);
  voxelmaps::CudaRunLengthOptions options;
  options.method = method;
  options.memoryBudget = memoryBudget;
  std::uint64_t slabs = 0;
  try
  {
    slabs = voxelmaps::ComputeRunLengthFeatureMapsCuda(job, options).numberOfSlabs;
  }
  catch (const std::runtime_error & error)
  {
    if (!VoxelMapsTest::IsUnsupported(error.what()))
    {
      throw;
    }
    return false;
  }
  std::ostringstream variant;
  variant << method << ", " << slabs << " slabs";
  group.Check(variant.str(), Hash(output));
  return true;
}

/** Bytes for slabs of one row, which the error of a budget of one byte tells. */
std::uint64_t
FindLeastBudget(const Case & golden, Enums::CudaMethod method)
{
  try
  {
    std::vector<unsigned char>      output;
    const Job                       job = MakeJob(golden, output);
    voxelmaps::CudaRunLengthOptions options;
    options.method = method;
    options.memoryBudget = 1;
    voxelmaps::ComputeRunLengthFeatureMapsCuda(job, options);
  }
  catch (const std::runtime_error & error)
  {
    const std::string message = error.what();
    const std::string before = "needs ";
    const std::size_t at = message.find(before);
    return at == std::string::npos ? 0 : std::stoull(message.substr(at + before.size()));
  }
  return 0;
}

void
CheckOnDevice(GoldenGroup & group, const Case & golden)
{
  using Method = Enums::CudaMethod;
  std::vector<Method> methods;
  for (const Method method : VoxelMapsTest::GetMethods<Method>())
  {
    if (CheckOnDevice(group, golden, method, 0))
    {
      methods.push_back(method);
    }
  }
  // One method in many slabs: each has its turn.
  const Method        inSlabs = methods[golden.levels.size() % methods.size()];
  const std::uint64_t budget = FindLeastBudget(golden, inSlabs);
  EXPECT_GT(budget, 0u) << inSlabs;
  CheckOnDevice(group, golden, inSlabs, budget);
}

void
CheckAllVariants(GoldenGroup & group, const Case & golden)
{
  VoxelMapsTest::IsCudaTest() ? CheckOnDevice(group, golden) : CheckOnCpu(group, golden);
}

/** All directions of a dimension, one of each two opposite ones. */
std::vector<Triple>
GetAllOffsets(unsigned int dimension)
{
  std::vector<Triple> offsets{ { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } }, { { -1, 1, 0 } } };
  for (std::int64_t y = -1; dimension == 3 && y <= 1; ++y)
  {
    for (std::int64_t x = -1; x <= 1; ++x)
    {
      offsets.push_back({ { x, y, 1 } });
    }
  }
  return offsets;
}

void
DrawLevels(Case & golden, Draws & draws)
{
  const Triple &             size = golden.levelsSize;
  std::vector<std::uint16_t> palette;
  for (std::int64_t i = draws.OneOf<std::int64_t>({ 1, 2, 2, 3, 5, 9, 300 }); i > 0; --i)
  {
    palette.push_back(static_cast<std::uint16_t>(draws.Between(1, golden.numberOfGrayLevels)));
  }
  palette[0] = static_cast<std::uint16_t>(draws.Percent(50) ? golden.numberOfGrayLevels : palette[0]);
  const std::int64_t pattern = draws.Below(4);
  const std::int64_t width = draws.Between(1, 5);
  const Triple       step{ { draws.Between(0, 2), draws.Between(0, 2), draws.Between(0, 2) } };
  const std::int64_t holes = draws.OneOf<std::int64_t>({ 0, 0, 0, 2, 20, 60 });
  const Triple       first{ { draws.Below(size[0]), draws.Below(size[1]), draws.Below(size[2]) } };
  const bool         hasBox = draws.Percent(20);
  const auto fromPalette = [&](std::int64_t at) { return palette[static_cast<std::size_t>(at) % palette.size()]; };
  for (std::int64_t z = 0; z < size[2]; ++z)
  {
    for (std::int64_t y = 0; y < size[1]; ++y)
    {
      for (std::int64_t x = 0; x < size[0]; ++x)
      {
        std::uint16_t level = draws.OneOf(palette);
        if (pattern == 1 && x > 0 && draws.Percent(75)) // runs
        {
          level = golden.levels.back() > 0 ? golden.levels.back() : level;
        }
        else if (pattern == 2 && draws.Percent(95)) // stripes
        {
          level = fromPalette(step[0] * x + step[1] * y + step[2] * z);
        }
        else if (pattern == 3) // blocks
        {
          level = fromPalette(x / width + 3 * (y / width) + 5 * (z / width));
        }
        const bool isHole = draws.Percent(holes) || (hasBox && (x < first[0] || y < first[1] || z < first[2]));
        golden.levels.push_back(isHole ? std::uint16_t{ 0 } : level);
      }
    }
  }
}

/** The whole image, a part of it, or more than it; shortened where walking the windows would take long. */
void
DrawOutputRegion(Case & golden, Draws & draws)
{
  golden.outputIndex = golden.levelsIndex;
  golden.outputSize = golden.levelsSize;
  const std::int64_t kind = draws.Below(10);
  std::int64_t       work = static_cast<std::int64_t>(golden.offsets.size());
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t size = golden.levelsSize[axis];
    if (kind < 3)
    {
      const std::int64_t start = draws.Below(size);
      golden.outputIndex[axis] += start;
      golden.outputSize[axis] = draws.Between(1, size - start);
    }
    else if (kind < 5 && size > 1)
    {
      const std::int64_t before = draws.Between(-2, 3);
      golden.outputIndex[axis] -= before;
      golden.outputSize[axis] = std::max<std::int64_t>(size + before + draws.Between(-2, 3), 1);
    }
    work *= std::min(golden.windowSize[axis], size) * golden.outputSize[axis];
  }
  constexpr std::int64_t maxWork = 1000000;
  while (work > maxWork)
  {
    std::int64_t & longest = *std::max_element(golden.outputSize.begin(), golden.outputSize.end());
    work = work / longest * (longest / 2);
    longest /= 2;
  }
}

void
DrawFeatures(Case & golden, Draws & draws)
{
  golden.features = Enums::GetElevenFeatures();
  const std::int64_t kind = draws.Below(6);
  if (kind > 1)
  {
    golden.features = Enums::GetAllFeatures();
  }
  if (kind > 2)
  {
    draws.Shuffle(golden.features);
  }
  if (kind > 3)
  {
    golden.features.resize(static_cast<std::size_t>(draws.Between(1, 15)));
  }
  golden.aggregation = static_cast<Enums::Aggregation>(draws.Below(3));
}

void
DrawOffsets(Case & golden, unsigned int dimension, Draws & draws)
{
  golden.offsets = GetAllOffsets(dimension);
  const std::int64_t kind = draws.Below(3);
  if (kind > 0)
  {
    draws.Shuffle(golden.offsets);
    for (Triple & offset : golden.offsets)
    {
      const std::int64_t sign = draws.Percent(50) ? 1 : -1;
      offset = { { sign * offset[0], sign * offset[1], sign * offset[2] } };
    }
  }
  if (kind > 1)
  {
    golden.offsets.resize(static_cast<std::size_t>(draws.Between(1, static_cast<std::int64_t>(golden.offsets.size()))));
  }
}

/** A case with a window, and all else drawn. */
Case
DrawCase(unsigned int dimension, const Triple & windowSize, Draws & draws)
{
  Case golden;
  golden.windowSize = windowSize;
  golden.numberOfGrayLevels =
    draws.OneOf<std::uint32_t>({ 1, 2, 3, 4, 8, 16, 32, 33, 64, 100, 255, 256, 257, 1000, 4096, 65535 });
  golden.outputIsDouble = draws.Percent(50);
  golden.backgroundValue = draws.OneOf<double>({ 0.0, 0.0, -1.0, 0.25 });
  const bool         isAnchored = draws.Percent(30);
  const bool         isShifted = draws.Percent(30);
  const std::int64_t most = dimension == 2 ? 40 : 14;
  const std::int64_t kind = draws.Below(8);
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    golden.levelsSize[axis] = draws.Between(kind < 2 ? 1 : most / 3, kind < 2 ? 6 : most);
    golden.windowAnchor[axis] = isAnchored ? draws.Below(windowSize[axis]) : windowSize[axis] / 2;
    golden.levelsIndex[axis] = isShifted ? draws.Between(-9, 9) : 0;
  }
  if (kind == 2) // a line, or one long axis
  {
    const auto axis = static_cast<std::size_t>(draws.Below(dimension));
    golden.levelsSize = { { 1, draws.Between(1, 3), 1 } };
    golden.levelsSize[axis] = draws.Between(20, 300);
  }
  DrawLevels(golden, draws);
  DrawOffsets(golden, dimension, draws);
  DrawFeatures(golden, draws);
  DrawOutputRegion(golden, draws);
  return golden;
}

/** Cases with drawn windows, most of them small. */
void
CheckDrawnCases(const std::string & name, unsigned int dimension, int count)
{
  GoldenGroup group(name);
  for (int i = 0; i < count; ++i)
  {
    Draws              draws(group.NextCase());
    Triple             window{ { 1, 1, 1 } };
    const std::int64_t most = draws.OneOf<std::int64_t>({ 3, 5, 7, 9, 9, 15 });
    const std::int64_t edge = draws.Between(1, most);
    const bool         isCube = draws.Percent(50);
    for (unsigned int axis = 0; axis < dimension; ++axis)
    {
      window[axis] = isCube ? edge : draws.Between(1, most);
    }
    CheckAllVariants(group, DrawCase(dimension, window, draws));
  }
}
} // namespace

TEST(GoldenRunLengthJob, Drawn2D)
{
  CheckDrawnCases("RunLengthJob2D", 2, 180);
}

TEST(GoldenRunLengthJob, Drawn3D)
{
  CheckDrawnCases("RunLengthJob3D", 3, 180);
}

/** Every feature alone, with every aggregation. */
TEST(GoldenRunLengthJob, SingleFeatures)
{
  GoldenGroup group("RunLengthJobOfOneFeature");
  for (const Enums::Feature feature : Enums::GetAllFeatures())
  {
    for (const auto aggregation :
         { Enums::Aggregation::PerDirection, Enums::Aggregation::Average, Enums::Aggregation::Merge })
    {
      Draws              draws(group.NextCase());
      const unsigned int dimension = draws.Percent(50) ? 2 : 3;
      Case golden = DrawCase(dimension, dimension == 2 ? Triple{ { 5, 5, 1 } } : Triple{ { 3, 3, 3 } }, draws);
      golden.features = { feature };
      golden.aggregation = aggregation;
      CheckAllVariants(group, golden);
    }
  }
}

/** Every square window of 1 ... 15 and cube of 1 ... 9, for engines that have code for each. */
TEST(GoldenRunLengthJob, EveryWindowSize)
{
  GoldenGroup group("RunLengthJobOfEverySize");
  for (const unsigned int dimension : { 2u, 3u })
  {
    for (std::int64_t edge = 1; edge <= (dimension == 2 ? 15 : 9); ++edge)
    {
      for (const auto & features : { Enums::GetElevenFeatures(), Enums::GetAllFeatures() })
      {
        Draws draws(group.NextCase());
        Case  golden = DrawCase(dimension, { { edge, edge, dimension == 2 ? 1 : edge } }, draws);
        golden.features = features;
        CheckAllVariants(group, golden);
      }
    }
  }
}

TEST(GoldenRunLengthJob, LargeWindows)
{
  GoldenGroup               group("RunLengthJobOfLargeWindow");
  const std::vector<Triple> windows{ { { 21, 21, 1 } },  { { 20, 22, 1 } },   { { 255, 1, 1 } }, { { 1, 255, 1 } },
                                     { { 1, 1, 255 } },  { { 255, 255, 1 } }, { { 31, 3, 1 } },  { { 2, 40, 1 } },
                                     { { 16, 16, 1 } },  { { 17, 9, 1 } },    { { 10, 10, 1 } }, { { 64, 64, 1 } },
                                     { { 11, 11, 11 } }, { { 10, 10, 10 } },  { { 13, 1, 13 } }, { { 20, 20, 2 } },
                                     { { 9, 9, 10 } },   { { 40, 40, 40 } } };
  for (int repetition = 0; repetition < 2; ++repetition)
  {
    for (const Triple & window : windows)
    {
      Draws draws(group.NextCase());
      CheckAllVariants(group, DrawCase(window[2] > 1 ? 3 : 2, window, draws));
    }
  }
}
