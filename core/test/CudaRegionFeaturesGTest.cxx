// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaTestMemory.h"
#include "CudaTestUtilities.h"
#include "RegionRandomCase.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace
{
using namespace VoxelMapsTest;
using voxelmaps::RegionFeaturesJob;

class CudaRegionFeatures : public CudaTest
{};

template <typename T>
std::vector<char>
BytesOf(const void * array, T bytes)
{
  const auto * const first = static_cast<const char *>(array);
  return { first, first + bytes };
}

std::int64_t
SizeOf(voxelmaps::PixelType type)
{
  using voxelmaps::PixelType;
  return type <= PixelType::UInt8                                ? 1
         : type <= PixelType::UInt16                             ? 2
         : type <= PixelType::UInt32 || type == PixelType::Float ? 4
                                                                 : 8;
}
} // namespace

TEST_F(CudaRegionFeatures, SmallCasesInDeviceMemoryHaveTheBitsOfTheCPU)
{
  const Stream stream;
  for (const cudaStream_t used : { cudaStream_t{ nullptr }, cudaStream_t(stream) })
  {
    for (std::uint64_t seed = 1000; seed < 1020; ++seed)
    {
      const RegionRandomCase scene(seed);
      const auto             compute = [&scene, used](RegionFeaturesJob job) {
        const std::int64_t voxels = job.size[0] * job.size[1] * job.size[2];
        DelayStream<2>(used);
        const DeviceArray<char> pixels(BytesOf(job.pixels, voxels * SizeOf(job.pixelType)), used);
        const DeviceArray<char> labels(BytesOf(job.labelImage, voxels * SizeOf(job.labelType)), used);
        job.pixels = pixels.data();
        job.labelImage = labels.data();
        voxelmaps::CudaOptions options;
        options.inputLocation = voxelmaps::MemoryLocation::Device;
        options.stream = used;
        return voxelmaps::ComputeRegionFeaturesCuda(job, options);
      };
      ExpectRegionsOfOneWorker(scene.job, compute, "seed " + std::to_string(seed));
    }
  }
  EXPECT_EQ(GetUsedDeviceBytes(), 0u);
}

TEST_F(CudaRegionFeatures, GroupsThatFitIntoTheBudgetHaveTheBitsOfTheCPU)
{
  const RegionRandomCase scene(5, { { 50, 40, 30 } }, 12);
  const std::uint64_t    input =
    60000 * static_cast<std::uint64_t>(SizeOf(scene.job.pixelType) + SizeOf(scene.job.labelType));
  // All at once, in groups, and on the CPU.
  for (const std::uint64_t budget : { input + 720000, input + 500000, input + 10, input - 10 })
  {
    ExpectRegionsOfOneWorker(
      scene.job,
      [budget](const RegionFeaturesJob & job) {
        return voxelmaps::ComputeRegionFeaturesCuda(job, MakeCudaOptions(budget));
      },
      "budget " + std::to_string(budget));
  }
  EXPECT_EQ(GetUsedDeviceBytes(), 0u);
}
