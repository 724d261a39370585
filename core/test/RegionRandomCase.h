// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionRandomCase_h
#define RegionRandomCase_h

#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/RegionFeaturesJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace VoxelMapsTest
{
/** A random job of all classes and its arrays: labels that touch, of single voxels, and at borders; images of one
 * slice; absent voxels; several types, levels, offsets and weights. */
class RegionRandomCase
{
public:
  using Enums = voxelmaps::GrayLevelDiscretizationEnums;

  explicit RegionRandomCase(std::uint64_t seed)
    : RegionRandomCase(seed, { { 0, 0, 0 } }, 0)
  {}

  /** With a size, and so many labels, which all have rows. */
  RegionRandomCase(std::uint64_t seed, const voxelmaps::Triple & size, std::int64_t numberOfLabels)
    : m_IsSmall(numberOfLabels == 0)
    , m_Random(seed)
  {
    job.size = size;
    for (std::int64_t & length : job.size)
    {
      length = length > 0 ? length : m_Random.Chance(0.2) ? 1 : m_Random.Between(1, 11);
    }
    numberOfLabels = numberOfLabels > 0 ? numberOfLabels : m_Random.Between(1, 9);
    const auto voxels = static_cast<std::size_t>(job.size[0] * job.size[1] * job.size[2]);
    this->MakeLabels(voxels, numberOfLabels);
    this->MakePixels(voxels);
    this->MakeDiscretization();
    this->MakeClasses();
    job.spacing = { { 0.8, 1.1, 2.5 } };
    for (bool & connects : job.connectsAxis)
    {
      connects = m_Random.Chance(0.85);
    }
    for (unsigned int i = 0; i < voxelmaps::GetShapeFeatureTable().GetNumberOfFeatures(); ++i)
    {
      job.shapeFeatures.push_back(i);
    }
    this->MakePlanarShape();
  }

  void
  RemoveOffsetWeights()
  {
    for (voxelmaps::TextureClassJob & classJob : job.classes)
    {
      std::visit(
        [](auto & typedJob) {
          if constexpr (hasDirections<std::decay_t<decltype(typedJob)>>)
          {
            typedJob.offsetWeights.clear();
          }
        },
        classJob);
    }
  }

  voxelmaps::RegionFeaturesJob job;

private:
  template <typename TJob>
  static constexpr bool hasDirections =
    std::is_same<TJob, voxelmaps::CooccurrenceJob>::value || std::is_same<TJob, voxelmaps::RunLengthJob>::value;

  void
  MakeLabels(std::size_t voxels, std::int64_t numberOfLabels)
  {
    // Boxes on top of each other, and noise.
    std::vector<std::int64_t> labels(voxels);
    const double              noise = m_IsSmall ? m_Random.OneOf<double>({ 0.0, 0.02, 0.6 }) : 0.6;
    const std::int64_t        boxes = m_Random.Between(0, 2 * std::min<std::int64_t>(numberOfLabels, 20));
    const std::int64_t        first = !m_IsSmall ? 1 : m_Random.Chance(0.2) ? -2 : m_Random.Chance(0.1) ? 120 : 1;
    const auto                label = [&] { return first + m_Random.Below(numberOfLabels); };
    for (std::int64_t box = 0; box < boxes; ++box)
    {
      voxelmaps::Triple begin;
      voxelmaps::Triple end;
      for (std::size_t d = 0; d < 3; ++d)
      {
        begin[d] = m_Random.Below(job.size[d]);
        end[d] = m_Random.Between(begin[d] + 1, job.size[d]);
      }
      const std::int64_t ofBox = label();
      for (std::size_t i = 0; i < voxels; ++i)
      {
        const auto at = GetPosition(static_cast<std::int64_t>(i), job.size);
        bool       isInside = true;
        for (std::size_t d = 0; d < 3; ++d)
        {
          isInside = isInside && at[d] >= begin[d] && at[d] < end[d];
        }
        labels[i] = isInside ? ofBox : labels[i];
      }
    }
    for (std::int64_t & one : labels)
    {
      one = m_Random.Chance(noise) ? label() : one;
    }
    if (m_IsSmall && (first < 0 || m_Random.Chance(0.2)))
    {
      // Some that are there, in another order, and one that may be missing.
      job.labels = { first + numberOfLabels, first + numberOfLabels - 1, first };
      job.labels.erase(std::remove(job.labels.begin(), job.labels.end(), 0), job.labels.end());
      job.labels.erase(std::unique(job.labels.begin(), job.labels.end()), job.labels.end());
    }
    const bool isShort = first + numberOfLabels <= 127;
    switch (isShort ? m_Random.Below(4) : 1 + m_Random.Below(3))
    {
      case 0:
        return this->SetLabels(labels, m_Labels8);
      case 1:
        return this->SetLabels(labels, m_Labels16);
      case 2:
        return this->SetLabels(labels, m_Labels32);
      default:
        return this->SetLabels(labels, m_Labels64);
    }
  }

  template <typename T>
  void
  SetLabels(const std::vector<std::int64_t> & labels, std::vector<T> & typed)
  {
    typed.assign(labels.begin(), labels.end());
    job.labelImage = typed.data();
    job.labelType = voxelmaps::GetPixelType<T>();
  }

  void
  MakePixels(std::size_t voxels)
  {
    const std::int64_t range = m_Random.OneOf<std::int64_t>({ 1, 3, 40, 250 });
    m_Lowest = m_Random.Chance(0.5) ? 0 : -range / 2;
    switch (m_Random.Below(6))
    {
      case 0:
        return this->SetPixels(voxels, range, m_PixelsByte);
      case 1:
        return this->SetPixels(voxels, range, m_PixelsShort);
      case 2:
        return this->SetPixels(voxels, range, m_PixelsUnsigned);
      case 3:
        return this->SetPixels(voxels, range, m_PixelsLong);
      case 4:
        return this->SetPixels(voxels, range, m_PixelsFloat);
      default:
        return this->SetPixels(voxels, range, m_PixelsDouble);
    }
  }

  template <typename T>
  void
  SetPixels(std::size_t voxels, std::int64_t range, std::vector<T> & pixels)
  {
    m_Lowest = std::is_unsigned<T>::value ? 0 : std::max<std::int64_t>(m_Lowest, sizeof(T) == 1 ? -128 : m_Lowest);
    m_Range = std::min<std::int64_t>(range, sizeof(T) == 1 ? 120 : range);
    const double absent = m_Random.OneOf<double>({ 0.0, 0.1, m_IsSmall ? 0.9 : 0.2 });
    for (std::size_t i = 0; i < voxels; ++i)
    {
      auto value = static_cast<T>(m_Lowest + m_Random.Below(m_Range));
      if constexpr (std::is_floating_point<T>::value)
      {
        m_HasFractions = m_HasFractions || i == 0;
        value = value == T{ 0 } && m_Random.Chance(0.5) ? -T{ 0 } : value;
        value += m_Random.Chance(0.5) ? static_cast<T>(m_Random.Below(1000)) / T{ 1001 } : T{ 0 };
        value = m_Random.Chance(absent) ? std::numeric_limits<T>::quiet_NaN() : value;
      }
      pixels.push_back(value);
    }
    job.pixels = pixels.data();
    job.pixelType = voxelmaps::GetPixelType<T>();
  }

  void
  MakeDiscretization()
  {
    auto & parameters = job.discretization;
    using Method = Enums::Method;
    std::vector<Method> methods{
      Method::FixedBinNumber, Method::FixedBinSize, Method::FixedBinSizeAtMultiples, Method::Edges
    };
    if (m_Lowest == 0 && !m_HasFractions)
    {
      methods.push_back(Method::Identity);
      methods.push_back(Method::Levels);
    }
    parameters.method = m_Random.OneOf(methods);
    parameters.numberOfGrayLevels = static_cast<unsigned int>(
      parameters.method == Method::FixedBinNumber ? m_Random.OneOf<std::int64_t>({ 1, 8, 300 }) : m_Range + 5);
    parameters.binWidth = m_Random.OneOf<double>({ 0.7, 3.0, 25.0 });
    parameters.binEdges = { -20.0, 0.0, 7.5, 100.0 };
    parameters.rangeSource = m_Random.OneOf<Enums::RangeSource>(
      { Enums::RangeSource::Mask, Enums::RangeSource::Image, Enums::RangeSource::Given });
    parameters.rangeMinimum = -10.0;
    parameters.rangeMaximum = 60.0;
  }

  void
  MakeClasses()
  {
    std::vector<voxelmaps::Triple> offsets = GetNeighborOffsets(true);
    std::vector<voxelmaps::Triple> farOffsets = offsets;
    if (m_Random.Chance(0.3))
    {
      farOffsets = GetNeighborOffsets(true, 2);
      farOffsets.push_back({ { 30, 0, 0 } });
    }
    const auto add = [this](auto classJob) {
      classJob.features = decltype(classJob)::Enums::GetAllFeatures();
      job.classes.emplace_back(classJob);
    };
    const auto setDirections = [this](auto & classJob) {
      using Aggregation = typename std::decay_t<decltype(classJob)>::Aggregation;
      classJob.aggregation = m_Random.Chance(0.5) ? Aggregation::Average : Aggregation::Merge;
      if (classJob.aggregation == Aggregation::Merge && m_Random.Chance(0.5))
      {
        for (std::size_t i = 0; i < classJob.offsets.size(); ++i)
        {
          classJob.offsetWeights.push_back(static_cast<double>(m_Random.Below(4)) / 3.0);
        }
      }
    };
    voxelmaps::FirstOrderJob firstOrder;
    firstOrder.voxelArrayShift = 13.0;
    add(firstOrder);
    voxelmaps::CooccurrenceJob cooccurrence;
    cooccurrence.offsets = farOffsets;
    cooccurrence.symmetric = m_Random.Chance(0.7);
    setDirections(cooccurrence);
    add(cooccurrence);
    voxelmaps::RunLengthJob runLength;
    runLength.offsets = offsets;
    runLength.skipDirectionsWithoutPairs = m_Random.Chance(0.7);
    setDirections(runLength);
    add(runLength);
    add(voxelmaps::SizeZoneJob());
    voxelmaps::DependenceJob dependence;
    dependence.offsets = farOffsets;
    dependence.alpha = static_cast<std::uint32_t>(m_Random.Below(4));
    add(dependence);
    voxelmaps::GrayToneDifferenceJob toneDifference;
    toneDifference.offsets = farOffsets;
    add(toneDifference);
  }

  /** Planar shape, if all regions are in one plane. */
  void
  MakePlanarShape()
  {
    const auto is = [this](std::size_t d) { return job.size[d] == 1; };
    const bool isPlane = (is(0) || is(1) || is(2)) && job.connectsAxis == std::array<bool, 3>{ { true, true, true } };
    for (unsigned int i = 0; isPlane && i < voxelmaps::GetPlanarShapeFeatureTable().GetNumberOfFeatures(); ++i)
    {
      job.planarShapeFeatures.push_back(i);
    }
  }

  const bool                 m_IsSmall;
  RandomNumbers              m_Random;
  std::int64_t               m_Lowest{ 0 };
  std::int64_t               m_Range{ 0 };
  bool                       m_HasFractions{ false };
  std::vector<std::int8_t>   m_Labels8;
  std::vector<std::int16_t>  m_Labels16;
  std::vector<std::int32_t>  m_Labels32;
  std::vector<std::int64_t>  m_Labels64;
  std::vector<std::int8_t>   m_PixelsByte;
  std::vector<std::int16_t>  m_PixelsShort;
  std::vector<std::uint32_t> m_PixelsUnsigned;
  std::vector<std::int64_t>  m_PixelsLong;
  std::vector<float>         m_PixelsFloat;
  std::vector<double>        m_PixelsDouble;
};

/** Expect that a computation has the results of one worker of the CPU, bit for bit, or its error. */
template <typename TCompute>
void
ExpectRegionsOfOneWorker(const voxelmaps::RegionFeaturesJob & job, const TCompute & compute, const std::string & what)
{
  std::vector<voxelmaps::RegionFeatures> expected;
  std::vector<voxelmaps::RegionFeatures> found;
  const std::string            error = GetErrorMessage([&] { expected = voxelmaps::ComputeRegionFeatures(job); });
  voxelmaps::RegionFeaturesJob other = job;
  other.execution.numberOfWorkers = 3;
  other.execution.parallelFor = &RunThreads;
  ASSERT_EQ(error, GetErrorMessage([&] { found = compute(other); })) << what;
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t r = 0; r < expected.size(); ++r)
  {
    const std::string region = what + ", label " + std::to_string(expected[r].label);
    EXPECT_EQ(expected[r].label, found[r].label) << region;
    EXPECT_EQ(expected[r].numberOfVoxels, found[r].numberOfVoxels) << region;
    EXPECT_EQ(expected[r].numberOfGrayLevels, found[r].numberOfGrayLevels) << region;
    EXPECT_EQ(expected[r].boxIndex, found[r].boxIndex) << region;
    EXPECT_EQ(expected[r].boxSize, found[r].boxSize) << region;
    ASSERT_EQ(expected[r].values.size(), found[r].values.size()) << region;
    for (std::size_t f = 0; f < expected[r].values.size(); ++f)
    {
      // NaN has no bits of its own.
      const double a = expected[r].values[f];
      const double b = found[r].values[f];
      EXPECT_TRUE(std::isnan(a) ? std::isnan(b) : HasSameBits<double>({ a }, { b }))
        << region << ", feature " << f << ": " << a << " is " << b;
    }
  }
}
} // namespace VoxelMapsTest

#endif // RegionRandomCase_h
