// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Benchmark.h"
#include "SyntheticImages.h"

#include "voxelmaps/FeatureMapsJob.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsBenchmarks;
using voxelmaps::InstructionSet;

// --- Cases -----------------------------------------------------------------------------------------------------------

/** Part of the image, and a window. */
struct Case
{
  Triple       size;
  std::int64_t window;
  unsigned int levels;

  std::string
  GetName(const std::string & jobName) const
  {
    return jobName + "/" + ToText(size) + "/window:" + ToText(window) + "/levels:" + ToText(levels);
  }
};

/** 8-bit voxels of --image; empty for a synthetic head of the size of each case. */
std::vector<std::uint8_t> givenImage;
Triple                    givenSize{ { 0, 0, 0 } };

/** The middle of the given image, or a synthetic head. */
std::vector<std::uint8_t>
GetImage(const Triple & size)
{
  if (size[0] > givenSize[0] || size[1] > givenSize[1] || size[2] > givenSize[2])
  {
    return MakeHead(size);
  }
  std::vector<std::uint8_t> box;
  for (std::int64_t z = (givenSize[2] - size[2]) / 2, slices = 0; slices < size[2]; ++z, ++slices)
  {
    for (std::int64_t y = (givenSize[1] - size[1]) / 2, rows = 0; rows < size[1]; ++y, ++rows)
    {
      const auto row = givenImage.begin() + (z * givenSize[1] + y) * givenSize[0] + (givenSize[0] - size[0]) / 2;
      box.insert(box.end(), row, row + size[0]);
    }
  }
  return box;
}

/** The parameters with image and windows of a case, without its arrays. */
template <typename TJob>
TJob
MakeCaseJob(const Case & thisCase, TJob job)
{
  job.levelsSize = thisCase.size;
  job.outputSize = thisCase.size;
  job.numberOfGrayLevels = thisCase.levels;
  job.windowSize.fill(thisCase.window);
  job.windowAnchor.fill(thisCase.window / 2);
  return job;
}

/** A job with its input, and the result of the CPU engine with all threads. */
template <typename TJob>
struct Fixture
{
  Fixture(const Case & thisCase, const TJob & parameters)
    : job(MakeCaseJob(thisCase, parameters))
  {
    const auto image = GetImage(thisCase.size);
    const auto range = std::minmax_element(image.begin(), image.end());
    const auto minimum = *range.first;
    const auto width = *range.second - minimum + 1u;
    for (const std::uint8_t value : image)
    {
      levels.push_back(static_cast<std::uint16_t>((value - minimum) * thisCase.levels / width + 1));
    }
    intensities.assign(image.begin(), image.end());
    job.levels = levels.data();
    job.intensities = intensities.data();
    expected.resize(intensities.size() * job.GetNumberOfComponents());
    output.resize(expected.size());
    job.output = expected.data();
    job.execution = MakeExecution(allThreads);
    voxelmaps::ComputeFeatureMaps(job);
    job.output = output.data();
    job.execution = {};
  }

  std::vector<std::uint16_t> levels;
  std::vector<float>         intensities;
  TJob                       job;
  std::vector<float>         expected;
  std::vector<float>         output;
};

/** Benchmarks of one case run one after the other and share its fixture. */
template <typename TJob>
Fixture<TJob> &
GetFixture(const std::string & name, const Case & thisCase, const TJob & parameters)
{
  static std::string                    lastName;
  static std::unique_ptr<Fixture<TJob>> last;
  if (lastName != name)
  {
    last.reset();
    last = std::make_unique<Fixture<TJob>>(thisCase, parameters);
    lastName = name;
  }
  // So that Finish finds the voxels that an engine leaves out.
  std::fill(last->output.begin(), last->output.end(), -1.2345e33f);
  return *last;
}

template <typename TJob>
void
Finish(State & state, const Fixture<TJob> & fixture)
{
  Verify(std::memcmp(fixture.expected.data(), fixture.output.data(), fixture.output.size() * sizeof(float)) == 0,
         "differs from the CPU engine with all threads");
  CountVoxels(state, GetNumberOfVoxels(fixture.job.outputSize));
}

/** The automatic choice, and all methods of the device, unless the image is so large that others take minutes. */
std::vector<std::string>
GetMethods(const voxelmaps::TextureClassJob & job, const Case & thisCase)
{
  std::vector<std::string> methods;
  if (voxelmaps::CudaDevices::IsUsable(0) && GetNumberOfVoxels(thisCase.size) <= 1000000)
  {
    methods = voxelmaps::GetCudaMethods(job);
  }
  methods.insert(methods.begin(), "");
  return methods;
}

/** The CPU engine with one thread and each instruction set and with all threads, and the methods of the device. */
template <typename TJob>
void
RegisterEngines(const std::string & jobName, const Case & thisCase, const TJob & parameters)
{
  const std::string name = thisCase.GetName(jobName);
  const auto        registerCpu = [=](InstructionSet instructionSet, unsigned int threads) {
    const char * const sets[] = { "Baseline", "AVX2", "AVX512" };
    RegisterWall(name + "/" + sets[static_cast<int>(instructionSet)] + "/threads:" + ToText(threads),
                 [=](State & state) {
                   const auto & fixture = GetFixture(name, thisCase, parameters);
                   TJob         job = fixture.job;
                   job.widestInstructionSet = instructionSet;
                   job.execution = MakeExecution(threads);
                   for (auto _ : state)
                   {
                     voxelmaps::ComputeFeatureMaps(job);
                   }
                   Finish(state, fixture);
                 });
  };
  for (const auto instructionSet : { InstructionSet::Baseline, InstructionSet::AVX2, InstructionSet::AVX512 })
  {
    if (instructionSet <= voxelmaps::GetWidestInstructionSet())
    {
      registerCpu(instructionSet, 1);
    }
  }
  if (allThreads > 1)
  {
    registerCpu(voxelmaps::GetWidestInstructionSet(), allThreads);
  }
  for (const std::string & method : GetMethods(MakeCaseJob(thisCase, parameters), thisCase))
  {
    Register(name + "/Cuda" + (method.empty() ? "Automatic" : method), [=](State & state) {
      RequireDevice();
      const auto & fixture = GetFixture(name, thisCase, parameters);
      RunKernels(state, [&] {
        TJob job = fixture.job;
        job.method = method;
        const auto report = voxelmaps::ComputeFeatureMapsCuda(job, {});
        state.SetLabel(report.method);
        return report.kernelMilliseconds;
      });
      Finish(state, fixture);
    })->UseManualTime();
  }
}

// --- Jobs ------------------------------------------------------------------------------------------------------------

/** Steps to the neighbors of a voxel, one of each two opposite ones. */
std::vector<Triple>
GetDirections()
{
  std::vector<Triple> directions{ { { 1, 0, 0 } }, { { 1, 1, 0 } }, { { 0, 1, 0 } }, { { -1, 1, 0 } } };
  for (std::int64_t y = -1; y <= 1; ++y)
  {
    for (std::int64_t x = -1; x <= 1; ++x)
    {
      directions.push_back({ { x, y, 1 } });
    }
  }
  return directions;
}

/** All features of a class. */
template <typename TJob, typename TEnums>
TJob
MakeJob()
{
  TJob job;
  job.features = TEnums::GetAllFeatures();
  if constexpr (!std::is_same_v<TJob, voxelmaps::FirstOrderJob> && !std::is_same_v<TJob, voxelmaps::SizeZoneJob>)
  {
    job.offsets = GetDirections();
  }
  return job;
}

/** All classes without the maximal correlation coefficient, from pixels to maps, as a filter or Python calls them. */
void
RegisterAllClasses(const Case & thisCase, const std::vector<voxelmaps::TextureClassJob> & classes)
{
  for (const bool isOnDevice : { false, true })
  {
    RegisterWall(thisCase.GetName("allclasses") + (isOnDevice ? "/Cuda" : "/CPU/threads:" + ToText(allThreads)),
                 [=](State & state) {
                   if (isOnDevice)
                   {
                     RequireDevice();
                   }
                   const auto                image = GetImage(thisCase.size);
                   voxelmaps::FeatureMapsJob job;
                   job.pixels = image.data();
                   job.pixelType = voxelmaps::PixelType::UInt8;
                   job.size = thisCase.size;
                   job.outputSize = thisCase.size;
                   job.mapStride = GetNumberOfVoxels(thisCase.size);
                   job.windowSize.fill(thisCase.window);
                   job.windowAnchor.fill(thisCase.window / 2);
                   job.discretization.numberOfGrayLevels = thisCase.levels;
                   job.classes = classes;
                   job.execution = MakeExecution(allThreads);
                   std::size_t maps = 0;
                   for (const auto & each : classes)
                   {
                     maps += std::visit([](const auto & classJob) { return classJob.features.size(); }, each);
                   }
                   std::vector<float> output(maps * image.size());
                   job.output = output.data();
                   for (auto _ : state)
                   {
                     isOnDevice ? voxelmaps::ComputeFeatureMapsCuda(job, {}) : voxelmaps::ComputeFeatureMaps(job);
                   }
                   state.counters["maps"] = static_cast<double>(maps);
                   CountVoxels(state, GetNumberOfVoxels(thisCase.size));
                 });
  }
}

void
RegisterBenchmarks(int & argc, char ** argv)
{
  const Triple      size = TakeSize(argc, argv, { { 512, 512, 155 } });
  const std::string fileName = TakeOption(argc, argv, "image");
  if (!fileName.empty())
  {
    std::ifstream file(fileName, std::ios::binary);
    givenImage.assign(std::istreambuf_iterator<char>(file), {});
    givenSize = size;
    Verify(static_cast<std::int64_t>(givenImage.size()) == GetNumberOfVoxels(size),
           fileName + " has " + ToText(givenImage.size()) + " bytes; it must hold the 8-bit voxels of --size alone");
  }
  benchmark::AddCustomContext("image", fileName.empty() ? "synthetic head" : fileName);
  const auto part = [&](std::int64_t edge, std::int64_t depth) {
    return Triple{ { std::min(edge, size[0]), std::min(edge, size[1]), std::min(depth, size[2]) } };
  };
  const std::vector<Case> cases{ { part(96, 96), 3, 32 },  { part(96, 96), 5, 32 }, { part(96, 96), 5, 256 },
                                 { part(96, 96), 7, 32 },  { part(96, 24), 9, 32 }, { part(96, 24), 9, 256 },
                                 { part(96, 24), 15, 32 }, { size, 5, 32 } };

  const auto cooccurrence = MakeJob<voxelmaps::CooccurrenceJob, voxelmaps::CooccurrenceFeatureMapEnums>();
  const auto dependence = MakeJob<voxelmaps::DependenceJob, voxelmaps::DependenceFeatureMapEnums>();
  const auto firstOrder = MakeJob<voxelmaps::FirstOrderJob, voxelmaps::FirstOrderFeatureMapEnums>();
  const auto grayTone = MakeJob<voxelmaps::GrayToneDifferenceJob, voxelmaps::GrayToneDifferenceFeatureMapEnums>();
  const auto runLength = MakeJob<voxelmaps::RunLengthJob, voxelmaps::RunLengthFeatureMapEnums>();
  const auto sizeZone = MakeJob<voxelmaps::SizeZoneJob, voxelmaps::SizeZoneFeatureMapEnums>();
  auto       withoutCorrelation = cooccurrence;
  auto       correlation = cooccurrence;
  auto       elevenFeatures = runLength;
  const auto mcc = voxelmaps::CooccurrenceJob::Feature::MaximalCorrelationCoefficient;
  auto &     others = withoutCorrelation.features;
  others.erase(std::remove(others.begin(), others.end(), mcc), others.end());
  correlation.features = { mcc };
  elevenFeatures.features = voxelmaps::RunLengthFeatureMapEnums::GetElevenFeatures();
  auto merged = elevenFeatures;
  merged.aggregation = voxelmaps::RunLengthJob::Aggregation::Merge;
  auto weightedCooccurrence = withoutCorrelation;
  auto weightedRunLength = runLength;
  for (std::size_t d = 0; d < weightedRunLength.offsets.size(); ++d)
  {
    weightedRunLength.offsetWeights.push_back(1.0 / (1.0 + static_cast<double>(d)));
  }
  weightedRunLength.aggregation = voxelmaps::RunLengthJob::Aggregation::Merge;
  weightedCooccurrence.aggregation = voxelmaps::CooccurrenceJob::Aggregation::Merge;
  weightedCooccurrence.offsetWeights = weightedRunLength.offsetWeights;

  for (const Case & each : cases)
  {
    if (&each == &cases.back() && each.size == cases.front().size)
    {
      break; // a small image: this is the second case
    }
    if (each.window == 3)
    {
      RegisterEngines("cooccurrence,weighted", each, weightedCooccurrence);
      RegisterEngines("runlength,weighted", each, weightedRunLength);
    }
    RegisterEngines("cooccurrence", each, withoutCorrelation);
    RegisterEngines("correlation", each, correlation);
    RegisterEngines("dependence", each, dependence);
    RegisterEngines("firstorder", each, firstOrder);
    RegisterEngines("graytonedifference", each, grayTone);
    RegisterEngines("runlength", each, runLength);
    RegisterEngines("runlength11", each, elevenFeatures);
    RegisterEngines("runlength11,merged", each, merged);
    RegisterEngines("sizezone", each, sizeZone);
  }
  RegisterAllClasses(cases.back(), { withoutCorrelation, dependence, firstOrder, grayTone, runLength, sizeZone });
}
} // namespace

int
main(int argc, char * argv[])
{
  return RunProgram(argc, argv, RegisterBenchmarks);
}
