// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RegionRandomCase.h"
#include "TestedProcessor.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/RegionFeaturesJob.h"
#include "voxelmaps/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using voxelmaps::RegionFeaturesJob;

std::vector<voxelmaps::RegionFeatures>
Compute(const RegionFeaturesJob & job)
{
  return IsCudaTest() ? voxelmaps::ComputeRegionFeaturesCuda(job, {}) : voxelmaps::ComputeRegionFeatures(job);
}

/** Noise with the labels 0, 1 and 2, and a feature of each kind. */
class RegionFeatures : public testing::Test
{
protected:
  RegionFeatures()
  {
    std::mt19937 random(3);
    for (std::size_t i = 0; i < m_Pixels.size(); ++i)
    {
      m_Pixels[i] = static_cast<float>(random() % 200);
      m_Labels[i] = static_cast<std::int16_t>(random() % 3);
    }
    job.pixels = m_Pixels.data();
    job.size = { { 20, 30, 12 } };
    job.labelImage = m_Labels.data();
    job.labelType = voxelmaps::PixelType::Int16;
    job.shapeFeatures = { 7, 8 };
    voxelmaps::CooccurrenceJob cooccurrence;
    cooccurrence.features = voxelmaps::CooccurrenceFeatureMapEnums::GetAllFeatures();
    cooccurrence.offsets = { { { 1, 0, 0 } }, { { 1, -1, 1 } } };
    job.classes.emplace_back(cooccurrence);
  }

  void
  ExpectError(const std::string & message)
  {
    ExpectEngineError([this] { Compute(job); }, { message });
  }

  RegionFeaturesJob         job;
  std::vector<float>        m_Pixels = std::vector<float>(20 * 30 * 12);
  std::vector<std::int16_t> m_Labels = std::vector<std::int16_t>(m_Pixels.size());
};
} // namespace

TEST_F(RegionFeatures, DoNotDependOnWorkers)
{
  const auto expected = voxelmaps::ComputeRegionFeatures(job);
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(expected[1].label, 2);
  EXPECT_EQ(expected[1].boxSize, job.size);
  ASSERT_EQ(expected[0].values.size(), 26u);
  job.execution.parallelFor = voxelmaps::GetThreadPool();
  for (const unsigned int workers : { 2u, 7u })
  {
    job.execution.numberOfWorkers = workers;
    const auto found = Compute(job);
    for (std::size_t r = 0; r < 2; ++r)
    {
      EXPECT_EQ(std::memcmp(found[r].values.data(), expected[r].values.data(), 26 * sizeof(double)), 0);
    }
  }
}

TEST_F(RegionFeatures, ReportProgressOfArrayAndRegions)
{
  std::atomic<std::uint64_t> reported{ 0 };
  job.execution.reportProgress = [&reported](std::uint64_t voxels) { reported += voxels; };
  const auto features = Compute(job);
  const auto voxels = static_cast<std::uint64_t>(features[0].numberOfVoxels + features[1].numberOfVoxels);
  EXPECT_EQ(reported, m_Pixels.size() + voxels);
}

TEST_F(RegionFeatures, CanBeAborted)
{
  int reports = 0;
  job.execution.reportProgress = [&reports](std::uint64_t) { ++reports; };
  Compute(job);
  ASSERT_GT(reports, 5);
  for (int calls = 0; calls < reports; calls += 1 + reports / 16)
  {
    int left = calls;
    job.execution.reportProgress = [&left](std::uint64_t) {
      if (left-- == 0)
      {
        throw Aborted{};
      }
    };
    EXPECT_THROW(Compute(job), Aborted) << calls;
  }
}

TEST_F(RegionFeatures, RefuseInvalidJobs)
{
  job.labels = { 1, 1 };
  this->ExpectError("A job has the label 1, but labels");
  job.labels = { 0 };
  this->ExpectError("A job has the label 0, but labels");
  job.labels.clear();
  job.labelType = voxelmaps::PixelType::Float;
  this->ExpectError("The type of labels is 8");
  job.labelType = voxelmaps::PixelType::Int16;
  job.shapeFeatures = { 17 };
  this->ExpectError("that the class shape does not have");
  job.shapeFeatures.clear();
  job.planarShapeFeatures = { 0 };
  this->ExpectError("planes, but planar shape is that of one");
  job.planarShapeFeatures.clear();
  job.spacing[1] = -1.0;
  this->ExpectError("A job has the spacing -1.000000");
  job.spacing[1] = 1.0;
  std::get<voxelmaps::CooccurrenceJob>(job.classes[0]).aggregation =
    voxelmaps::CooccurrenceFeatureMapEnums::Aggregation::PerDirection;
  this->ExpectError("no aggregation PerDirection");
  job.classes = { voxelmaps::RunLengthJob() };
  std::get<voxelmaps::RunLengthJob>(job.classes[0]).offsets = { { { 2, 0, 0 } } };
  this->ExpectError("Offsets of runs must have components -1, 0 or 1");
  job.classes = { voxelmaps::FirstOrderJob() };
  m_Labels[0] = 1;
  m_Pixels[0] = std::numeric_limits<float>::infinity();
  this->ExpectError("The region with the label 1 has infinite intensities");
}

TEST_F(RegionFeatures, RefuseIntensitiesThatAreNoLevels)
{
  // The least one of the first region that has any.
  job.discretization.method = voxelmaps::GrayLevelDiscretizationEnums::Method::Levels;
  job.discretization.numberOfGrayLevels = 255;
  m_Pixels[5] = 12.5f;
  m_Labels[5] = 1;
  m_Pixels[70] = -3.0f;
  m_Labels[70] = 1;
  m_Pixels[71] = -4.0f;
  m_Labels[71] = 2;
  this->ExpectError("Region with the label 1: Intensity -3 is not a valid gray level");
}

// Those of several workers, or of a device, are those of one.
TEST(RegionFeaturesOf, RandomRegionsHaveTheBitsOfOneWorker)
{
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
  {
    RegionRandomCase scene(seed);
    ExpectRegionsOfOneWorker(scene.job, &Compute, "seed " + std::to_string(seed));
  }
}

TEST(RegionFeaturesOf, ManyLabelsHaveTheBitsOfOneWorker)
{
  // Most of them have one voxel, or a few that do not touch; others touch regions on all sides.
  RegionRandomCase scene(7, { { 40, 37, 20 } }, 4000);
  ASSERT_GT(Compute(scene.job).size(), 3000u);
  ExpectRegionsOfOneWorker(scene.job, &Compute, "many labels");
}

TEST(RegionFeaturesOf, ManyLevelsHaveTheBitsOfOneWorker)
{
  // More elements of matrices than a table has.
  RegionRandomCase scene(8, { { 30, 20, 10 } }, 3);
  scene.job.discretization.method = voxelmaps::GrayLevelDiscretizationEnums::Method::FixedBinNumber;
  scene.job.discretization.numberOfGrayLevels = 20000;
  scene.RemoveOffsetWeights();
  ASSERT_EQ(Compute(scene.job)[2].numberOfGrayLevels, 20000u);
  ExpectRegionsOfOneWorker(scene.job, &Compute, "many levels");
}
