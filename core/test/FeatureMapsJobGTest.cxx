// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TextureJobChecks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using voxelmaps::FeatureMapsJob;
using voxelmaps::GrayLevelDiscretizationResult;
using voxelmaps::Triple;

/** A small image with a mask, and all features of all classes. */
class Scene
{
public:
  Scene()
  {
    std::mt19937 random(7);
    for (std::int16_t & pixel : m_Pixels)
    {
      pixel = static_cast<std::int16_t>(static_cast<int>(random() % 200) - 90);
    }
    for (std::uint8_t & inside : m_Mask)
    {
      inside = random() % 5 != 0 ? 1 : 0;
    }
    for (std::uint8_t & selected : m_Selection)
    {
      selected = random() % 3 != 0 ? 1 : 0;
    }
    job.pixels = m_Pixels.data();
    job.pixelType = voxelmaps::PixelType::Int16;
    job.size = size;
    job.mask = m_Mask.data();
    job.discretization.method = voxelmaps::GrayLevelDiscretizationEnums::Method::FixedBinSizeAtMultiples;
    job.windowSize = { { 3, 5, 3 } };
    job.windowAnchor = { { 1, 2, 1 } };
    job.outputIndex = { { 1, 0, 2 } };
    job.outputSize = { { 7, 6, 3 } };
    job.selection = m_Selection.data();
    job.backgroundValue = -5.0;

    this->Add(voxelmaps::FirstOrderJob());
    voxelmaps::RunLengthJob runLength;
    runLength.aggregation = voxelmaps::RunLengthFeatureMapEnums::Aggregation::PerDirection;
    this->Add(runLength);
    this->Add(voxelmaps::CooccurrenceJob());
    this->Add(voxelmaps::DependenceJob());
    this->Add(voxelmaps::GrayToneDifferenceJob());
    this->Add(voxelmaps::SizeZoneJob());
  }

  /** Levels by DiscretizeGrayLevels, and maps by the jobs of the classes. */
  std::vector<float>
  MapsByClass()
  {
    std::vector<std::uint16_t>            levels(m_Pixels.size());
    voxelmaps::GrayLevelDiscretizationJob discretization;
    discretization.pixels = job.pixels;
    discretization.pixelType = job.pixelType;
    discretization.size = job.size;
    discretization.mask = job.mask;
    discretization.parameters = job.discretization;
    discretization.levels = levels.data();
    const GrayLevelDiscretizationResult result = voxelmaps::DiscretizeGrayLevels(discretization);
    std::vector<float>                  intensities(m_Pixels.size());
    for (std::size_t i = 0; i < levels.size(); ++i)
    {
      intensities[i] = levels[i] != 0 ? m_Pixels[i] : std::numeric_limits<float>::quiet_NaN();
    }
    std::vector<float> maps;
    for (const voxelmaps::TextureClassJob & classJob : job.classes)
    {
      std::visit(
        [&](auto typedJob) {
          typedJob.levels = levels.data();
          typedJob.levelsSize = job.size;
          typedJob.numberOfGrayLevels = result.numberOfGrayLevels;
          typedJob.intensities = intensities.data();
          typedJob.windowSize = job.windowSize;
          typedJob.windowAnchor = job.windowAnchor;
          typedJob.outputIndex = job.outputIndex;
          typedJob.outputSize = job.outputSize;
          typedJob.selection = job.selection;
          typedJob.backgroundValue = job.backgroundValue;
          typedJob.outputVoxelStride = 1;
          typedJob.outputComponentStride = voxels;
          std::vector<float> planar(voxels * typedJob.GetNumberOfComponents());
          typedJob.output = planar.data();
          voxelmaps::ComputeFeatureMaps(typedJob);
          maps.insert(maps.end(), planar.begin(), planar.end());
        },
        classJob);
    }
    return maps;
  }

  static constexpr std::size_t voxels = 7 * 6 * 3;
  const Triple                 size{ { 9, 8, 6 } };
  FeatureMapsJob               job;

private:
  template <typename TJob>
  void
  Add(TJob classJob)
  {
    classJob.features = TJob::Enums::GetAllFeatures();
    if constexpr (HasOffsets<TJob>::value)
    {
      classJob.offsets = { { { 1, 0, 0 } }, { { 0, 1, 1 } } };
    }
    job.classes.emplace_back(classJob);
  }

  std::vector<std::int16_t> m_Pixels = std::vector<std::int16_t>(9 * 8 * 6);
  std::vector<std::uint8_t> m_Mask = std::vector<std::uint8_t>(9 * 8 * 6);
  std::vector<std::uint8_t> m_Selection = std::vector<std::uint8_t>(voxels);
};

/** Planar and interleaved, with a gap between maps or voxels, in which nothing is written. */
template <typename TCompute>
void
ExpectClassMaps(Scene & scene, const TCompute & compute)
{
  const std::vector<float> expected = scene.MapsByClass();
  const std::size_t        maps = expected.size() / Scene::voxels;
  ASSERT_EQ(static_cast<std::int64_t>(maps), voxelmaps::GetNumberOfMaps(scene.job));
  for (const bool isPlanar : { true, false })
  {
    constexpr std::size_t gap = 5;
    const std::size_t     voxelStride = isPlanar ? 1 : maps + gap;
    const std::size_t     mapStride = isPlanar ? Scene::voxels + gap : 1;
    std::vector<float>    filled((maps + gap) * (Scene::voxels + gap), 77.0f);
    std::vector<float>    output = filled;
    scene.job.output = output.data();
    scene.job.voxelStride = static_cast<std::int64_t>(voxelStride);
    scene.job.mapStride = static_cast<std::int64_t>(mapStride);
    compute(scene.job);
    for (std::size_t m = 0; m < maps; ++m)
    {
      for (std::size_t v = 0; v < Scene::voxels; ++v)
      {
        filled[v * voxelStride + m * mapStride] = expected[m * Scene::voxels + v];
      }
    }
    ASSERT_EQ(std::memcmp(output.data(), filled.data(), filled.size() * sizeof(float)), 0) << "planar: " << isPlanar;
  }
}

} // namespace

TEST(FeatureMapsJob, MapsAreThoseOfTheClasses)
{
  // With a budget, levels are computed on the CPU, and the classes cut slabs.
  for (const std::uint64_t budget : { std::uint64_t{ 0 }, std::uint64_t{ 4 } << 20 })
  {
    Scene                  scene;
    voxelmaps::CudaOptions options;
    options.memoryBudget = budget;
    ExpectClassMaps(scene, [&options](const FeatureMapsJob & job) {
      IsCudaTest() ? voxelmaps::ComputeFeatureMapsCuda(job, options) : voxelmaps::ComputeFeatureMaps(job);
    });
  }
}

TEST(FeatureMapsJob, InvalidJobsAreErrors)
{
  Scene              scene;
  std::vector<float> output(Scene::voxels * 64);
  scene.job.classes.resize(2);
  scene.job.output = output.data();
  scene.job.mapStride = Scene::voxels;
  FeatureMapsJob job = scene.job;
  const auto     compute = [&job] { voxelmaps::ComputeFeatureMaps(job); };
  const auto     expectError = [&compute](const std::string & words) { ExpectEngineError(compute, { words }); };
  EXPECT_EQ("no error", GetErrorMessage(compute));

  job.outputIndex[1] = 3;
  expectError("an output of index 3 and size 6 along axis 1");
  job = scene.job;
  job.output = nullptr;
  expectError("the output is null");
  job = scene.job;
  job.classes.clear();
  expectError("no texture classes");
  job = scene.job;
  job.mapStride = Scene::voxels - 1;
  expectError("a map stride of 125");
  // One map of each class would be interleaved without a gap, and those of the two classes overlap.
  std::get<voxelmaps::FirstOrderJob>(job.classes[0]).features.resize(1);
  auto & runLength = std::get<voxelmaps::RunLengthJob>(job.classes[1]);
  runLength.features.resize(1);
  runLength.offsets.resize(1);
  job.mapStride = 1;
  expectError("a map stride of 1, but they must be 1 and at least 126");
  job.mapStride = std::numeric_limits<std::int64_t>::max();
  expectError("at most 2^56");
  job = scene.job;
  job.pixels = nullptr;
  expectError("pixels is null");
}

TEST(FeatureMapsJob, AbortEndsTheJob)
{
  Scene              scene;
  std::vector<float> output(Scene::voxels * 128);
  scene.job.output = output.data();
  scene.job.mapStride = Scene::voxels;
  scene.job.execution.reportProgress = [](std::uint64_t) { throw Aborted{}; };
  EXPECT_THROW(voxelmaps::ComputeFeatureMaps(scene.job), Aborted);
}
