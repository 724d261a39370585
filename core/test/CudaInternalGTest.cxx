// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "InternalRunLengthJob.h"

#include "glcm/Cooccurrence.h"
#include "glcm/cuda/CudaCooccurrenceMethods.h"
#include "device/CudaMemory.h"
#include "device/CudaContext.h"
#include "glrlm/RunLength.h"
#include "glrlm/cuda/CudaRunLengthMethods.h"
#include "window/cuda/CudaRegisterSort.cuh"
#include "voxelmaps/CudaDevices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

// Parts of the CUDA engines that the library does not export. All but one test need no device.
namespace
{
using namespace voxelmaps;
using Aggregation = RunLengthJob::Aggregation;
using namespace VoxelMapsTest;
using RunLengthClass = TextureClass<RunLengthJob>;
using CooccurrenceClass = TextureClass<CooccurrenceJob>;
} // namespace

TEST(SlabsOfCuda, RetriesWithSmallerSizes)
{
  std::vector<std::int64_t> sizes;
  const auto                fits = [&sizes](std::int64_t limit) {
    return [&sizes, limit](std::int64_t size) {
      sizes.push_back(size);
      return size <= limit ? std::optional<std::int64_t>(size) : std::nullopt;
    };
  };
  EXPECT_EQ(25, RetryWithSmallerSize(100, 1, fits(30)).value());
  EXPECT_EQ((std::vector<std::int64_t>{ 100, 50, 25 }), sizes);
  EXPECT_EQ(3, RetryWithSmallerSize(100, 3, fits(3)).value());
  EXPECT_FALSE(RetryWithSmallerSize(100, 3, fits(2)).has_value());
}

TEST(ContextOfCuda, GivesThePoolBackBeforeItRunsOutOfMemory)
{
  if (!CudaDevices::IsUsable(0))
  {
    GTEST_SKIP() << CudaDevices::GetReasonForNoDevice();
  }
  constexpr std::size_t kept = std::size_t{ 200 } << 20;
  const CudaStream      stream;
  {
    const DeviceBuffer<char> buffer(kept, stream);
  }
  stream.Synchronize();
  const auto unused = static_cast<std::size_t>(CudaContext::Current().GetUnusedBytes());
  EXPECT_GE(unused, kept);
  const auto         free = static_cast<std::size_t>(CudaDevices::GetFreeMemory(0));
  DeviceBuffer<char> large;
  EXPECT_TRUE(large.TryAllocate(free + unused / 2, stream));
  EXPECT_FALSE(DeviceBuffer<char>().TryAllocate(free, stream));
  EXPECT_THROW(DeviceBuffer<char>().Allocate(free, stream), CudaOutOfMemory);
}

/** Shared memory that a block can have, by compute capability (CUDA C++ Programming Guide, technical specifications).
 */
struct KnownDevice
{
  const char * capability;
  std::size_t  sharedMemory;
};
constexpr KnownDevice knownDevices[] = { { "7.5", 65536 },  { "8.0", 166912 }, { "8.6", 101376 },
                                         { "8.9", 101376 }, { "9.0", 232448 }, { "10.0", 232448 } };

TEST(RunLengthMethodsOfCuda, SupportWhatFitsSharedMemory)
{
  // 66,072 bytes: output and voxels of a tile.
  const RunLengthClass word(MakeJob({ { 4, 4, 1 } }, fourDirections, 16, Aggregation::PerDirection, true));
  // 69,648 bytes: averages of 512 voxels on their way to the output, and 1,024 levels.
  const RunLengthClass boxSums(MakeJob({ { 3, 3, 1 } }, fourDirections, 1024, Aggregation::Average, true));
  // 160,016 bytes: counts of 20,001 levels in 4 windows.
  const RunLengthClass sliding(MakeJob({ { 4, 4, 1 } }, fourDirections, 20000, Aggregation::Merge, true));
  for (const KnownDevice & device : knownDevices)
  {
    SCOPED_TRACE(device.capability);
    const CudaDeviceLimits limits{ device.sharedMemory, 1 };
    EXPECT_EQ(device.sharedMemory >= 66072, CudaWindowWordSupports(word.task, limits));
    EXPECT_EQ(device.sharedMemory >= 69648, CudaBoxSumsSupports(boxSums.task, limits));
    EXPECT_EQ(device.sharedMemory >= 160016, CudaSlidingWindowSupports(sliding.task, limits));
  }
}

TEST(RunLengthMethodsOfCuda, SmallJobsFitEveryDevice)
{
  const CudaDeviceLimits smallest{ 65536, 1 };
  const RunLengthClass   word(MakeJob({ { 4, 4, 1 } }, fourDirections, 256, Aggregation::Average, false));
  const RunLengthClass   boxSums(MakeJob({ { 5, 5, 5 } }, fourDirections, 32, Aggregation::Average, false));
  EXPECT_TRUE(CudaWindowWordSupports(word.task, smallest));
  EXPECT_TRUE(CudaBoxSumsSupports(boxSums.task, smallest));
  const RunLengthClass sliding(MakeJob({ { 31, 31, 1 } }, fourDirections, 256, Aggregation::Merge, false));
  EXPECT_TRUE(CudaSlidingWindowSupports(sliding.task, smallest));
}

namespace
{
template <int VNumber>
void
CheckSortHalves()
{
  SCOPED_TRACE(VNumber);
  std::uint32_t state = VNumber;
  for (int repetition = 0; repetition < 500; ++repetition)
  {
    std::uint32_t                      words[VNumber];
    std::array<std::uint32_t, VNumber> low;
    std::array<std::uint32_t, VNumber> high;
    for (int i = 0; i < VNumber; ++i)
    {
      state = state * 1664525u + 1013904223u;
      // Few different keys, or many.
      words[i] = repetition % 2 == 0 ? state : state & 0x80018001u;
      low[i] = words[i] & 0xffffu;
      high[i] = words[i] >> 16;
    }
    SortHalves(words);
    std::sort(low.begin(), low.end());
    std::sort(high.begin(), high.end());
    for (int i = 0; i < VNumber; ++i)
    {
      ASSERT_EQ(low[i] | high[i] << 16, words[i]) << i;
    }
  }
}
} // namespace

TEST(RegisterSortOfCuda, SortsBothHalves)
{
  CheckSortHalves<16>();
  CheckSortHalves<32>();
  CheckSortHalves<48>();
  CheckSortHalves<64>();
  CheckSortHalves<80>();
  CheckSortHalves<100>();
  CheckSortHalves<128>();
}

TEST(SortedPairsOfCuda, SupportsWhatFitsSharedMemory)
{
  CooccurrenceJob job;
  job.windowSize = { { 5, 5, 5 } };
  job.windowAnchor = { { 2, 2, 2 } };
  job.offsets = { { { 1, 0, 0 } } };
  job.features = CooccurrenceFeatureMapEnums::GetAllFeatures();
  for (const KnownDevice & device : knownDevices)
  {
    SCOPED_TRACE(device.capability);
    const CudaDeviceLimits limits{ device.sharedMemory, 1 };
    job.numberOfGrayLevels = 32;
    EXPECT_TRUE(CudaSortedPairsSupports(CooccurrenceClass(job).task, limits));
    // 68,192 bytes in blocks of two warps.
    job.numberOfGrayLevels = 256;
    EXPECT_EQ(device.sharedMemory >= 68192, CudaSortedPairsSupports(CooccurrenceClass(job).task, limits));
  }
}
