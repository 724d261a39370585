// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

#include "CudaTextureJobChecks.h"
#include "TextureClassCase.h"
#include "TextureMemoryScene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

// Where the numbers of an output are: strides must not change their bits, and nothing else must be written.
namespace
{
using namespace VoxelMapsTest;

/** Compute a job in all layouts, and expect the bits of the default one. compute(job) returns false if it does not
 * support the job. */
template <typename TReal, typename TJob, typename TCompute>
void
ExpectSameBitsInAllLayouts(TJob job, const std::vector<TReal> & expected, const TCompute & compute)
{
  const std::size_t voxels = CountVoxels(job.outputSize);
  const std::size_t components = job.GetNumberOfComponents();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  for (const OutputLayout & layout : GetOutputLayouts(voxels, components))
  {
    SCOPED_TRACE(layout.name);
    LaidOutOutput<TReal> output(layout, voxels, components);
    layout.Set(job);
    job.output = output.data();
    if (!compute(job))
    {
      return;
    }
    ASSERT_TRUE(output.Has(expected));
  }
}

/** By all engines, with different numbers of threads. */
template <typename TReal, typename TJob>
void
CheckJob(TJob job)
{
  SCOPED_TRACE((std::is_same<TReal, double>::value ? "double" : "float"));
  const auto expected = ComputeJob<TReal>(job);
  unsigned   number = 0;
  for (const Engine<TJob> & engine : GetEngines(job))
  {
    SCOPED_TRACE(engine.name);
    job.execution.numberOfWorkers = number++ % 3 + 1;
    job.execution.parallelFor = job.execution.numberOfWorkers > 1 ? RunThreads : voxelmaps::ParallelFor{};
    ExpectSameBitsInAllLayouts(job, expected, engine.compute);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

/** All regions and aggregations, with and without a selection. */
template <typename TJob>
void
CheckScene(TextureMemoryScene<TJob> & scene)
{
  for (const TextureRegion & region : scene.GetRegions())
  {
    SCOPED_TRACE(::testing::Message() << "region " << region);
    scene.SetRegion(region);
    for (TJob job : WithAllAggregations(scene.job))
    {
      if constexpr (HasAggregation<TJob>::value)
      {
        SCOPED_TRACE(::testing::Message() << job.aggregation);
      }
      for (const bool isSelected : { false, true })
      {
        SCOPED_TRACE(isSelected ? "selection" : "no selection");
        job.selection = isSelected ? scene.selection.data() : nullptr;
        job.backgroundValue = isSelected ? std::numeric_limits<double>::quiet_NaN() : -7.0;
        CheckJob<float>(job);
        CheckJob<double>(job);
        // It is NaN after an instruction with MMX registers.
        const volatile long double half = 0.5L;
        EXPECT_EQ(1.0L, half + half);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

template <typename TJob>
class TextureMemory : public ::testing::Test
{};

/** What only the CUDA engines have. */
template <typename TJob>
class CudaTextureLayouts : public CudaTest
{};

TYPED_TEST_SUITE(TextureMemory, AllTextureJobs, TextureJobName);
TYPED_TEST_SUITE(CudaTextureLayouts, AllTextureJobs, TextureJobName);
} // namespace

TYPED_TEST(TextureMemory, LayoutsOfVolumesHaveTheSameBits)
{
  TextureMemoryScene<TypeParam> scene({ { 41, 7, 5 } }, { { 3, 3, 3 } }, 8);
  CheckScene(scene);
}

TYPED_TEST(TextureMemory, LayoutsOfPlanesHaveTheSameBits)
{
  TextureMemoryScene<TypeParam> scene({ { 37, 11, 1 } }, { { 5, 4, 1 } }, 32);
  CheckScene(scene);
}

TYPED_TEST(TextureMemory, LayoutsWithLargeWindowsAndManyLevelsHaveTheSameBits)
{
  TextureMemoryScene<TypeParam> scene({ { 9, 5, 3 } }, { { 10, 7, 5 } }, 300);
  CheckScene(scene);
}

TYPED_TEST(TextureMemory, LayoutsOfSomeFeaturesHaveTheSameBits)
{
  // Engines compute some features, or a single one, in their own way.
  TextureMemoryScene<TypeParam> scene({ { 35, 3, 2 } }, { { 3, 3, 3 } }, 8);
  RandomNumbers                 random(1);
  const auto                    all = scene.job.features;
  for (std::size_t i = 0; i < 2 * all.size(); ++i)
  {
    auto features = all;
    random.Shuffle(features);
    features.resize(static_cast<std::size_t>(random.Between(2, static_cast<std::int64_t>(all.size()))));
    scene.job.features = i < all.size() ? decltype(features){ all[i] } : features;
    SCOPED_TRACE(::testing::Message() << scene.job.features.size() << " features, first " << scene.job.features[0]);
    for (const TypeParam & job : WithAllAggregations(scene.job))
    {
      CheckJob<float>(job);
      CheckJob<double>(job);
      ASSERT_FALSE(this->HasFailure());
    }
  }
}

TYPED_TEST(CudaTextureLayouts, SlabsHaveTheSameBits)
{
  // Rows that are copied in several parts, and a part of the image, so that slabs reach beyond the output.
  TextureMemoryScene<TypeParam> scene({ { 43, 9, 7 } }, { { 3, 4, 5 } }, 16);
  scene.SetRegion({ { { 1, 2, 0 } }, { { 40, 7, 7 } } });
  scene.job.selection = scene.selection.data();
  std::uint64_t maxNumberOfSlabs = 0; // of any method: some need scratch memory for more than a slab
  for (const TypeParam & job : WithAllAggregations(scene.job))
  {
    const auto expected = ComputeOnCpu<float>(job);
    for (const std::string method : MethodNames<TypeParam>::cuda)
    {
      SCOPED_TRACE(method);
      const auto budgets = FindSmallBudgets([&](std::uint64_t budget) { ComputeOnDevice<float>(job, method, budget); });
      for (const std::uint64_t budget : budgets)
      {
        SCOPED_TRACE(::testing::Message() << "budget " << budget);
        ExpectSameBitsInAllLayouts(job, expected, [&](const TypeParam & laidOut) {
          const auto report = voxelmaps::ComputeFeatureMapsCuda(WithMethod(laidOut, method), MakeCudaOptions(budget));
          maxNumberOfSlabs = std::max(maxNumberOfSlabs, report.numberOfSlabs);
          return true;
        });
        ASSERT_FALSE(this->HasFailure());
      }
    }
  }
  EXPECT_GT(maxNumberOfSlabs, 7u);
}

TYPED_TEST(TextureMemory, InvalidStridesAreRefused)
{
  TextureMemoryScene<TypeParam> scene({ { 9, 5, 5 } }, { { 3, 3, 3 } }, 8);
  scene.SetRegion({ { { 1, 1, 1 } }, { { 7, 3, 3 } } });
  const auto     voxels = static_cast<std::int64_t>(CountVoxels(scene.job.outputSize));
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
  for (TypeParam job : WithAllAggregations(scene.job))
  {
    const auto                      components = static_cast<std::int64_t>(job.GetNumberOfComponents());
    const std::vector<OutputLayout> layouts{ { "components overlap", components - 1, 1 },
                                             { "maps overlap", 1, voxels - 1 },
                                             { "all at one place", 0, 1 },
                                             { "voxels at one place", 0, voxels },
                                             { "components at one place", components, 0 },
                                             { "maps at one place", 1, 0 },
                                             { "neither interleaved nor planar", 2 * components, 2 },
                                             { "nor planar", 2, 2 * voxels },
                                             { "backward", -components, 1 },
                                             { "backward maps", 1, -voxels },
                                             { "backward components", components, -1 },
                                             { "backward voxels", -1, voxels },
                                             { "lowest", least, 1 },
                                             { "lowest of maps", 1, least },
                                             { "both lowest", least, least },
                                             { "both greatest", greatest, greatest } };
    for (const OutputLayout & layout : layouts)
    {
      SCOPED_TRACE(layout.name);
      layout.Set(job);
      ExpectRefusal(job,
                    { "voxel stride " + std::to_string(layout.voxelStride),
                      "component stride " + std::to_string(layout.componentStride),
                      std::to_string(components),
                      std::to_string(voxels) });
    }
  }
}
