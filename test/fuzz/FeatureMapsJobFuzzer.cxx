// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
#include "TestedEngines.h"
#include "maps/FeatureMapsClasses.h"

#include <cmath>
#include <set>
#include <utility>

// Valid and invalid jobs of all texture classes from pixels: the engine must refuse those that the headers exclude with
// an EngineError, and compute all others with the same bits by the job of each class in another layout and by another
// method, and slice by slice with another number of workers.
namespace
{
using namespace VoxelMapsFuzz;
using Job = voxelmaps::FeatureMapsJob;
using voxelmaps::Triple;
using namespace VoxelMapsTest;

template <typename TJob, typename TOther>
constexpr bool isSame = std::is_same<TJob, TOther>::value;
template <typename TJob>
constexpr bool hasOffsets = !isSame<TJob, voxelmaps::FirstOrderJob> && !isSame<TJob, voxelmaps::SizeZoneJob>;
template <typename TJob>
constexpr bool hasAggregation = isSame<TJob, voxelmaps::CooccurrenceJob> || isSame<TJob, voxelmaps::RunLengthJob>;

/** In the order of the classes of TextureClassJob. */
constexpr std::uint8_t featureCounts[] = { voxelmaps::CooccurrenceFeatureMapEnums::NumberOfFeatures,
                                           voxelmaps::DependenceFeatureMapEnums::NumberOfFeatures,
                                           voxelmaps::FirstOrderFeatureMapEnums::NumberOfFeatures,
                                           voxelmaps::GrayToneDifferenceFeatureMapEnums::NumberOfFeatures,
                                           voxelmaps::RunLengthFeatureMapEnums::NumberOfFeatures,
                                           voxelmaps::SizeZoneFeatureMapEnums::NumberOfFeatures };

double
ConsumeParameter(FuzzedInput & data, double usual)
{
  return ConsumeOneIn(data, 16) ? ConsumeAnyDouble(data)
                                : usual * data.ConsumeIntegralInRange<std::uint8_t>(1, 200) / 20.0;
}

/** 1 ... max, or rarely 0. */
std::uint8_t
ConsumeCount(FuzzedInput & data, std::uint8_t max)
{
  return ConsumeOneIn(data, 50) ? 0 : data.ConsumeIntegralInRange<std::uint8_t>(1, max);
}

void
ConsumeDiscretization(FuzzedInput & data, voxelmaps::GrayLevelDiscretizationParameters & parameters)
{
  parameters.method = ConsumeEnumerator<decltype(parameters.method)>(data, 6);
  parameters.numberOfGrayLevels = ConsumeOneIn(data, 50)  ? ConsumeAnyInteger<unsigned int>(data)
                                  : ConsumeOneIn(data, 8) ? data.ConsumeIntegralInRange<unsigned int>(1, 65535)
                                                          : data.ConsumeIntegralInRange<unsigned int>(1, 150);
  parameters.binWidth = ConsumeParameter(data, 5.0);
  const bool needsLevels = parameters.method == decltype(parameters.method)::Identity ||
                           parameters.method == decltype(parameters.method)::Levels;
  if (needsLevels && !ConsumeOneIn(data, 8))
  {
    // All pixels are levels then.
    parameters.numberOfGrayLevels = std::max(parameters.numberOfGrayLevels, 128u);
  }
  double edge = 0.0;
  for (auto i = ConsumeCount(data, 6); i > 0; --i)
  {
    edge = ConsumeOneIn(data, 50) ? ConsumeAnyDouble(data) : edge + ConsumeParameter(data, 4.0);
    parameters.binEdges.push_back(edge);
  }
  parameters.rangeSource = ConsumeEnumerator<decltype(parameters.rangeSource)>(data, 3);
  parameters.rangeMinimum = ConsumeParameter(data, 2.0);
  parameters.rangeMaximum = ConsumeParameter(data, 30.0);
}

/** Features and parameters of a class. */
template <typename TJob>
void
ConsumeClass(FuzzedInput & data, std::uint8_t numberOfFeatures, TJob & job)
{
  const auto bits = data.ConsumeIntegral<std::uint32_t>() | (ConsumeOneIn(data, 50) ? 0u : 1u);
  for (std::uint8_t i = 0; i < numberOfFeatures; ++i)
  {
    if ((bits >> i & 1) != 0)
    {
      job.features.push_back(static_cast<typename TJob::Feature>(i));
    }
  }
  if (ConsumeOneIn(data, 50))
  {
    job.features.push_back(ConsumeEnumerator<typename TJob::Feature>(data, numberOfFeatures));
  }
  job.widestInstructionSet = ConsumeEnumerator<voxelmaps::InstructionSet>(data, 3);
  if constexpr (hasOffsets<TJob>)
  {
    for (auto i = ConsumeCount(data, 5); i > 0; --i)
    {
      // Few are given twice, also where no bytes are left.
      const auto drawn = data.ConsumeIntegral<std::uint8_t>();
      const int  number = drawn + i;
      job.offsets.push_back({ { number % 3 - 1, number / 3 % 3 - 1, number / 9 % 3 - 1 } });
      std::int64_t & x = job.offsets.back()[0];
      x = drawn > 253         ? ConsumeAnyInteger<std::int64_t>(data)
          : drawn > 230       ? data.ConsumeIntegralInRange<std::int64_t>(-4, 4)
          : number % 27 == 13 ? 1
                              : x;
    }
    job.method = data.ConsumeBool() ? "WindowWalk" : "";
  }
  if constexpr (hasAggregation<TJob>)
  {
    job.aggregation = ConsumeEnumerator<typename TJob::Aggregation>(data, 3);
  }
  const auto parameter = data.ConsumeIntegral<std::uint8_t>();
  if constexpr (isSame<TJob, voxelmaps::CooccurrenceJob>)
  {
    job.symmetric = parameter % 2 == 0;
    job.hasOneLevel = parameter > 240;
    job.emptyValue = ConsumeAnyDouble(data);
  }
  else if constexpr (isSame<TJob, voxelmaps::DependenceJob>)
  {
    job.alpha = parameter > 240 ? ConsumeAnyInteger<std::uint32_t>(data) : parameter % 4;
  }
  else if constexpr (isSame<TJob, voxelmaps::FirstOrderJob>)
  {
    job.voxelArrayShift = ConsumeParameter(data, 100.0);
    job.voxelVolume = ConsumeParameter(data, 1.0);
  }
  else if constexpr (isSame<TJob, voxelmaps::GrayToneDifferenceJob>)
  {
    job.countVoxelsWithoutNeighbors = parameter % 2 == 0;
  }
  else if constexpr (isSame<TJob, voxelmaps::RunLengthJob>)
  {
    job.skipDirectionsWithoutPairs = parameter % 2 == 0;
  }
  else
  {
    job.connectivity = static_cast<voxelmaps::SizeZoneJob::Connectivity>(parameter > 240 ? parameter : parameter % 2);
  }
}

template <std::size_t... indices>
voxelmaps::TextureClassJob
MakeClass(std::size_t index, std::index_sequence<indices...>)
{
  return std::array<voxelmaps::TextureClassJob, sizeof...(indices)>{
    { std::variant_alternative_t<indices, voxelmaps::TextureClassJob>{}... }
  }[index];
}

/** Without arrays. */
Job
ConsumeJob(FuzzedInput & data)
{
  Job job;
  job.size = ConsumeSize(data);
  job.pixelType = ConsumeEnumerator<voxelmaps::PixelType>(data, 10);
  ConsumeDiscretization(data, job.discretization);
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    job.windowSize[axis] = data.ConsumeIntegralInRange<std::int64_t>(1, ConsumeOneIn(data, 32) ? 256 : 5);
    job.windowAnchor[axis] = data.ConsumeIntegralInRange<std::int64_t>(0, job.windowSize[axis] - 1);
    const std::int64_t size = std::max<std::int64_t>(job.size[axis], 0);
    const std::int64_t least = ConsumeOneIn(data, 50) ? 0 : std::min<std::int64_t>(size, 1);
    job.outputIndex[axis] = data.ConsumeIntegralInRange<std::int64_t>(0, std::min<std::int64_t>(size - least, 3));
    job.outputSize[axis] = data.ConsumeIntegralInRange<std::int64_t>(least, size - job.outputIndex[axis]);
  }
  if (ConsumeOneIn(data, 32))
  {
    const auto axis = data.ConsumeIntegralInRange<std::size_t>(0, 2);
    auto &     triple = *data.PickValueInArray<Triple *>({ &job.outputIndex, &job.windowSize, &job.windowAnchor });
    triple[axis] = ConsumeAnyInteger<std::int64_t>(data);
  }
  if (ConsumeOneIn(data, 64))
  {
    job.outputSize[data.ConsumeIntegralInRange<std::size_t>(0, 2)] = -1;
  }
  constexpr std::size_t numberOfClasses = std::variant_size_v<voxelmaps::TextureClassJob>;
  for (auto i = ConsumeCount(data, 3); i > 0; --i)
  {
    const auto index = data.ConsumeIntegralInRange<std::size_t>(0, numberOfClasses - 1);
    job.classes.push_back(MakeClass(index, std::make_index_sequence<numberOfClasses>()));
    std::visit([&](auto & typedJob) { ConsumeClass(data, featureCounts[index], typedJob); }, job.classes.back());
  }
  job.outputIsDouble = data.ConsumeBool();
  job.backgroundValue = ConsumeAnyDouble(data);
  job.execution.numberOfWorkers = data.ConsumeIntegralInRange<unsigned int>(0, 3);
  if (data.ConsumeBool())
  {
    job.execution.parallelFor = RunThreads;
  }
  // Sometimes too small, or so large that no buffer would do.
  job.mapStride = CountVoxels(job.outputSize) + data.ConsumeIntegralInRange<std::int64_t>(0, 5);
  if (ConsumeOneIn(data, 32))
  {
    job.mapStride = data.ConsumeBool() ? data.ConsumeIntegralInRange<std::int64_t>(-1, job.mapStride)
                                       : std::numeric_limits<std::int64_t>::max() - job.mapStride;
  }
  return job;
}

/** Whether the header of the job of a class excludes it. */
template <typename TJob>
bool
IsInvalidClass(const TJob & job, std::uint8_t numberOfFeatures)
{
  const std::set<typename TJob::Feature> features(job.features.begin(), job.features.end());
  bool                                   isInvalid = features.empty() || features.size() < job.features.size() ||
                   static_cast<std::uint8_t>(*features.rbegin()) >= numberOfFeatures;
  if constexpr (hasAggregation<TJob>)
  {
    isInvalid = isInvalid || static_cast<std::uint8_t>(job.aggregation) > 2;
  }
  if constexpr (hasOffsets<TJob>)
  {
    constexpr std::int64_t longest = isSame<TJob, voxelmaps::RunLengthJob> ? 1 : 254;
    std::set<Triple>       offsets;
    isInvalid = isInvalid || job.offsets.empty();
    for (const Triple & offset : job.offsets)
    {
      const auto range = std::minmax({ offset[0], offset[1], offset[2] });
      isInvalid = isInvalid || range.first < -longest || range.second > longest || offset == Triple{ { 0, 0, 0 } };
      if (!isInvalid && !hasAggregation<TJob>)
      {
        isInvalid = offsets.count(offset) > 0 || offsets.count({ { -offset[0], -offset[1], -offset[2] } }) > 0;
        offsets.insert(offset);
      }
    }
  }
  if constexpr (isSame<TJob, voxelmaps::FirstOrderJob>)
  {
    isInvalid =
      isInvalid || !std::isfinite(job.voxelArrayShift) || !std::isfinite(job.voxelVolume) || !(job.voxelVolume > 0.0);
  }
  else if constexpr (isSame<TJob, voxelmaps::SizeZoneJob>)
  {
    isInvalid = isInvalid || static_cast<std::uint8_t>(job.connectivity) > 1;
  }
  return isInvalid;
}

/** Whether the headers exclude the job, apart from its discretization. */
bool
IsInvalid(const Job & job)
{
  // The stride of a single map has no effect.
  const bool isSingle = job.mapStride == 1 && voxelmaps::GetNumberOfMaps(job) <= 1;
  bool       isInvalid = job.classes.empty() || (job.mapStride < CountVoxels(job.outputSize) && !isSingle) ||
                   job.mapStride > std::numeric_limits<std::int64_t>::max() / 2;
  std::int64_t windowVoxels = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const std::int64_t window = job.windowSize[axis];
    isInvalid = isInvalid || job.size[axis] < 0 || job.outputIndex[axis] < 0 || job.outputSize[axis] < 0 ||
                job.outputIndex[axis] > job.size[axis] - job.outputSize[axis] || window < 1 || window > 255 ||
                job.windowAnchor[axis] < 0 || job.windowAnchor[axis] >= window;
    windowVoxels *= isInvalid ? 1 : window;
  }
  for (const auto & classJob : job.classes)
  {
    const auto numberOfFeatures = featureCounts[classJob.index()];
    isInvalid = isInvalid ||
                std::visit([&](const auto & typedJob) { return IsInvalidClass(typedJob, numberOfFeatures); }, classJob);
  }
  return isInvalid || windowVoxels > 65535;
}

/** Whether it would take seconds to compute the job, because of its eigenvalues or its large windows. */
bool
IsSlow(const Job & job)
{
  double windowVoxels = 1.0;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    windowVoxels *= static_cast<double>(std::min(std::max<std::int64_t>(job.windowSize[axis], 1), job.size[axis]));
  }
  double steps = 0.0;
  for (const auto & classJob : job.classes)
  {
    const auto   maps = std::visit([](const auto & each) { return each.GetNumberOfComponents(); }, classJob);
    const auto * cooccurrence = std::get_if<voxelmaps::CooccurrenceJob>(&classJob);
    const bool   isSlow =
      cooccurrence != nullptr && std::count(cooccurrence->features.begin(),
                                            cooccurrence->features.end(),
                                            voxelmaps::CooccurrenceJob::Feature::MaximalCorrelationCoefficient) > 0;
    steps += windowVoxels * static_cast<double>(maps) * (isSlow ? windowVoxels * windowVoxels : 4.0);
  }
  return steps * static_cast<double>(CountVoxels(job.outputSize)) > 2e7;
}

/** Memory for maps, of which every number that is not written can be told. */
template <typename TReal>
class Output
{
public:
  explicit Output(std::size_t count)
    : m_Buffer(count + 2 * guard, m_Untouched)
  {}

  TReal *
  GetData()
  {
    return m_Buffer.data() + guard;
  }

  /** The numbers whose index is isInside(index); they were all written, and the others were not. */
  template <typename TIsInside>
  std::vector<TReal>
  Take(const TIsInside & isInside) const
  {
    std::vector<TReal> result;
    for (std::size_t i = 0; i < m_Buffer.size(); ++i)
    {
      const bool isPart = i >= guard && i < m_Buffer.size() - guard && isInside(i - guard);
      Require(HasSameBits<TReal>({ m_Buffer[i] }, { m_Untouched }) != isPart,
              isPart ? "left out a voxel" : "wrote outside the maps");
      if (isPart)
      {
        result.push_back(m_Buffer[i]);
      }
    }
    return result;
  }

private:
  static constexpr std::size_t guard = 16;

  /** Not the NaN of the engines. */
  const TReal        m_Untouched{ static_cast<TReal>(isSame<TReal, float> ? std::nanf("4660") : std::nan("4660")) };
  std::vector<TReal> m_Buffer;
};

/** All maps of a job, one after the other; throws EngineError. */
template <typename TReal>
std::vector<TReal>
Compute(Job job)
{
  const std::int64_t maps = voxelmaps::GetNumberOfMaps(job);
  const std::int64_t voxels = CountVoxels(job.outputSize);
  const auto         stride = static_cast<std::size_t>(std::max(voxels, std::min(job.mapStride, voxels + 5)));
  Output<TReal>      output(static_cast<std::size_t>(maps) * stride);
  job.output = output.GetData();
  voxelmaps::ComputeFeatureMaps(job);
  return output.Take([&](std::size_t i) { return i % stride < static_cast<std::size_t>(voxels); });
}

/** The maps of a class by its own job: interleaved with gaps, on one thread, by another method. */
template <typename TReal, typename TJob>
std::vector<TReal>
ComputeClass(const Job & job, const TJob & parameters, const std::vector<std::uint16_t> & levels,
             unsigned int numberOfGrayLevels)
{
  TJob typedJob = parameters;
  voxelmaps::SetClassJob(job, typedJob);
  const auto        maps = static_cast<std::size_t>(typedJob.GetNumberOfComponents());
  const std::size_t stride = maps + 2;
  const auto        voxels = static_cast<std::size_t>(CountVoxels(job.outputSize));
  typedJob.levels = levels.data();
  typedJob.numberOfGrayLevels = numberOfGrayLevels;
  typedJob.execution = {};
  typedJob.widestInstructionSet = voxelmaps::InstructionSet::Baseline;
  typedJob.outputVoxelStride = static_cast<std::int64_t>(stride);
  typedJob.outputComponentStride = 1;
  std::vector<char> intensities;
  if constexpr (isSame<TJob, voxelmaps::FirstOrderJob>)
  {
    typedJob.intensitiesAreDouble = voxelmaps::NeedsDoubleIntensities(job.pixelType);
    intensities.resize(levels.size() * sizeof(double));
    typedJob.intensities = intensities.data();
    const auto count = static_cast<std::int64_t>(levels.size());
    voxelmaps::SelectIntensities(
      job.pixelType, job.pixels, levels.data(), count, intensities.data(), typedJob.intensitiesAreDouble, {});
  }
  if constexpr (hasOffsets<TJob>)
  {
    typedJob.method = typedJob.method.empty() ? "WindowWalk" : "";
  }
  Output<TReal> output(voxels * stride);
  typedJob.output = output.GetData();
  voxelmaps::ComputeFeatureMaps(typedJob);
  const std::vector<TReal> interleaved = output.Take([&](std::size_t i) { return i % stride < maps; });
  std::vector<TReal>       result;
  for (std::size_t i = 0; i < interleaved.size(); ++i)
  {
    result.push_back(interleaved[i % voxels * maps + i / voxels]);
  }
  return result;
}

/** The maps of a job, computed slice by slice along an axis. */
template <typename TReal>
std::vector<TReal>
ComputeBySlices(const Job & job, std::size_t axis, std::vector<TReal> result)
{
  const Triple & size = job.outputSize;
  const auto     voxels = static_cast<std::size_t>(CountVoxels(size));
  for (std::int64_t slice = 0; slice < size[axis] && voxels > 0; ++slice)
  {
    std::vector<std::size_t>  places;
    std::vector<std::uint8_t> selection;
    for (std::size_t voxel = 0; voxel < voxels; ++voxel)
    {
      const auto at = static_cast<std::int64_t>(voxel);
      if (Triple{ { at % size[0], at / size[0] % size[1], at / size[0] / size[1] } }[axis] == slice)
      {
        places.push_back(voxel);
        selection.push_back(job.selection == nullptr ? 1 : job.selection[voxel]);
      }
    }
    Job part = job;
    part.outputIndex[axis] += slice;
    part.outputSize[axis] = 1;
    part.mapStride = CountVoxels(part.outputSize);
    part.selection = job.selection == nullptr ? nullptr : selection.data();
    const std::vector<TReal> partMaps = Compute<TReal>(part);
    for (std::size_t i = 0; i < partMaps.size(); ++i)
    {
      result[i / places.size() * voxels + places[i % places.size()]] = partMaps[i];
    }
  }
  return result;
}

template <typename TReal>
void
Check(Job job, std::size_t axis)
{
  std::vector<std::uint16_t> levels(static_cast<std::size_t>(CountVoxels(job.size)));
  levels.reserve(1);
  voxelmaps::GrayLevelDiscretizationJob discretization = voxelmaps::MakeDiscretizationJob(job);
  discretization.levels = levels.data();
  bool               isInvalid = IsInvalid(job);
  unsigned int       numberOfGrayLevels = 0;
  std::vector<TReal> result;
  try
  {
    // Which images it refuses is checked by another target.
    numberOfGrayLevels = voxelmaps::DiscretizeGrayLevels(discretization).numberOfGrayLevels;
  }
  catch (const voxelmaps::EngineError &)
  {
    isInvalid = true;
  }
  try
  {
    result = Compute<TReal>(job);
  }
  catch (const voxelmaps::EngineError & error)
  {
    if (!isInvalid && !IsLarge(job.size))
    {
      Fail(std::string("a valid job was refused: ") + error.what());
    }
    return;
  }
  Require(!isInvalid, "an invalid job was computed");
  std::vector<TReal> maps;
  for (const auto & classJob : job.classes)
  {
    const auto typedJob = std::visit(
      [&](const auto & each) { return ComputeClass<TReal>(job, each, levels, numberOfGrayLevels); }, classJob);
    maps.insert(maps.end(), typedJob.begin(), typedJob.end());
  }
  Require(HasSameBits(result, maps), "the jobs of the classes give other maps");
  job.execution.numberOfWorkers = job.execution.numberOfWorkers == 2 ? 1 : 2;
  job.execution.parallelFor = RunThreads;
  Require(HasSameBits(result, ComputeBySlices(job, axis, std::vector<TReal>(result.size()))),
          "the job gives other maps slice by slice");
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  FuzzedInput data(bytes, numberOfBytes);
  Job         job = ConsumeJob(data);
  const auto  axis = data.ConsumeIntegralInRange<std::size_t>(0, 2);
  const auto  bits = data.ConsumeIntegral<std::uint8_t>();
  const auto  scale = data.ConsumeIntegral<std::uint8_t>();
  if (IsSlow(job))
  {
    return 0;
  }
  const auto                voxelBytes = ConsumeBytesForVoxels(data, CountVoxels(job.size));
  std::vector<std::uint8_t> mask;
  for (const std::uint8_t byte : voxelBytes)
  {
    mask.push_back(byte % 8 == 7 ? 0 : byte);
  }
  job.mask = bits % 2 == 0 ? nullptr : mask.data();
  std::vector<std::uint8_t> selection(static_cast<std::size_t>(CountVoxels(job.outputSize)));
  for (std::size_t i = 0; i < selection.size(); ++i)
  {
    selection[i] = static_cast<std::uint8_t>(i * bits / 64 % 3);
  }
  job.selection = bits % 4 < 2 ? nullptr : selection.data();
  std::vector<char> pixels(1);
  voxelmaps::VisitPixelType(job.pixelType,
                            [&](auto pixel) { pixels = MakePixels<decltype(pixel)>(voxelBytes, scale); });
  job.pixels = pixels.data();
  if (job.outputIsDouble)
  {
    Check<double>(job, axis);
  }
  else
  {
    Check<float>(job, axis);
  }
  return 0;
}
