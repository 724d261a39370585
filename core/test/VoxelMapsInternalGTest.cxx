// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "InternalRunLengthJob.h"
#include "VoxelMapsTestUtilities.h"
#include "common/HostMemory.h"
#include "common/ParallelFor.h"
#include "common/WideInteger.h"
#include "connectedness/cpu/NearestLabelsRow.h"
#include "device/CudaArchitectures.h"
#include "window/cpu/TileKernel.h"
#include "voxelmaps/RunLengthJob.h"
#include "glrlm/RunLength.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Parts that the library does not export.
namespace
{
using namespace voxelmaps;
using Feature = RunLengthJob::Feature;
using Aggregation = RunLengthJob::Aggregation;
using namespace VoxelMapsTest;
using RunLengthClass = TextureClass<RunLengthJob>;

} // namespace

TEST(RunLengthClass, RefusesJobsThatExceedItsArrays)
{
  const RunLengthJob valid = MakeJob({ { 4, 4, 1 } }, fourDirections, 8, Aggregation::Average, false);
  EXPECT_NO_THROW(RunLengthClass{ valid });
  const std::pair<void (*)(RunLengthJob &), const char *> changes[]{
    { [](RunLengthJob & job) { job.offsets.assign(14, { { 1, 0, 0 } }); }, "14 offsets" },
    { [](RunLengthJob & job) { job.offsets.clear(); }, "0 offsets" },
    { [](RunLengthJob & job) { job.offsets = { { { 1, 2, 0 } } }; }, "(1, 2, 0)" },
    { [](RunLengthJob & job) { job.offsets = { { { 0, 0, 0 } } }; }, "not a valid direction" },
    { [](RunLengthJob & job) { job.features.assign(17, Feature::RunPercentage); }, "17 features" },
    { [](RunLengthJob & job) { job.features = { static_cast<Feature>(16) }; }, "features" },
    { [](RunLengthJob & job) { job.windowSize = { { 256, 1, 1 } }; }, "[256, 1, 1]" },
    { [](RunLengthJob & job) { job.windowAnchor = { { 4, 0, 0 } }; }, "anchor is [4, 0, 0]" },
    { [](RunLengthJob & job) { job.windowSize = { { 255, 255, 2 } }; }, "130050" },
    { [](RunLengthJob & job) { job.numberOfGrayLevels = 65536; }, "65536" },
  };
  for (const auto & change : changes)
  {
    RunLengthJob job = valid;
    change.first(job);
    ExpectEngineError([&job] { RunLengthClass plan(job); }, { change.second });
  }
}

TEST(Architectures, MachineCodeAndPTXRunOnCompatibleDevices)
{
  const std::string all = "75-real,80-real,90-real,100-real,120";
  for (const int capability : { 75, 80, 86, 87, 89, 90, 100, 103, 120, 121, 130 })
  {
    EXPECT_TRUE(ArchitecturesRunOn(all, capability)) << capability;
  }
  for (const int capability : { 50, 61, 70, 72, 110 })
  {
    EXPECT_FALSE(ArchitecturesRunOn(all, capability)) << capability;
  }
  EXPECT_FALSE(ArchitecturesRunOn("90-real", 89));
  EXPECT_FALSE(ArchitecturesRunOn("90-real", 100));
  EXPECT_TRUE(ArchitecturesRunOn("90", 100));
  EXPECT_TRUE(ArchitecturesRunOn("80-virtual", 90));
  EXPECT_FALSE(ArchitecturesRunOn("90a-real", 100));
  EXPECT_FALSE(ArchitecturesRunOn("90a", 100));
  EXPECT_TRUE(ArchitecturesRunOn("90a", 90));
  EXPECT_TRUE(ArchitecturesRunOn("100f", 103));
  EXPECT_FALSE(ArchitecturesRunOn("100f", 120));
  EXPECT_TRUE(ArchitecturesRunOn("native", 61));
  EXPECT_FALSE(ArchitecturesRunOn("", 90));
}

TEST(ParallelFor, RangesCoverEverythingOnce)
{
  JobExecution execution;
  for (const unsigned int workers : { 1u, 3u, 16u })
  {
    execution.numberOfWorkers = workers;
    execution.parallelFor = RunBackward;
    for (const std::int64_t size : { 0, 1, 7, 100, 1000 })
    {
      std::vector<int> counts(static_cast<std::size_t>(size), 0);
      std::int64_t     ranges = 0;
      ForEachRange(size, 10, execution, [&](std::int64_t begin, std::int64_t end) {
        ++ranges;
        for (std::int64_t i = begin; i < end; ++i)
        {
          ++counts[static_cast<std::size_t>(i)];
        }
      });
      EXPECT_EQ(std::vector<int>(counts.size(), 1), counts);
      EXPECT_LE(ranges, std::max<std::int64_t>(1, std::min<std::int64_t>(workers, size / 10)));
    }
  }
}

TEST(ParallelFor, TheExceptionIsThatOfTheLowestTask)
{
  JobExecution execution;
  execution.numberOfWorkers = 4;
  execution.parallelFor = RunThreads;
  for (int repetition = 0; repetition < 200; ++repetition)
  {
    try
    {
      ForEachTask(64, execution, [](unsigned int) {
        return [](std::int64_t task) {
          if (task == 5)
          {
            std::this_thread::yield();
          }
          if (task >= 5)
          {
            throw EngineError(std::to_string(task));
          }
        };
      });
      FAIL() << "no exception";
    }
    catch (const EngineError & error)
    {
      ASSERT_STREQ("5", error.what());
    }
  }
}

TEST(ParallelFor, TasksComputeInTheDefaultFloatingPointEnvironment)
{
  JobExecution execution;
  execution.numberOfWorkers = 2;
  execution.parallelFor = RunThreads;
  std::fesetround(FE_UPWARD);
#if defined(__GLIBC__)
  // A flag that an earlier test of this process left would trap at the next instruction.
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_INVALID);
#endif
  std::atomic<int> defaults{ 0 };
  ForEachTask(8, execution, [&](unsigned int) {
    return [&](std::int64_t) {
      bool isDefault = std::fegetround() == FE_TONEAREST;
#if defined(__GLIBC__)
      isDefault = isDefault && fegetexcept() == 0;
#endif
      defaults += isDefault ? 1 : 0;
    };
  });
  const int roundingAfter = std::fegetround();
#if defined(__GLIBC__)
  EXPECT_EQ(FE_INVALID, fedisableexcept(FE_INVALID));
#endif
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(8, defaults);
  EXPECT_EQ(FE_UPWARD, roundingAfter);
}

TEST(HostMemory, EveryPageOfABufferIsTouchedAndNothingElse)
{
  constexpr std::size_t mebibyte = std::size_t{ 1 } << 20;
  const char            before = 0x5a;
  std::vector<char>     memory(23 * mebibyte, before);
  const auto            address = reinterpret_cast<std::uintptr_t>(memory.data());
  constexpr std::size_t pageBytes = 4096;
  JobExecution          execution;
  for (const unsigned int workers : { 1u, 3u, 16u })
  {
    execution.numberOfWorkers = workers;
    execution.parallelFor = RunBackward;
    for (const std::size_t offset : { std::size_t{ 0 }, std::size_t{ 1 }, std::size_t{ 4095 }, mebibyte + 16 })
    {
      for (const std::size_t bytes : { std::size_t{ 0 },
                                       std::size_t{ 1 },
                                       std::size_t{ 4095 },
                                       std::size_t{ 4097 },
                                       3 * mebibyte + 7,
                                       4 * mebibyte,
                                       21 * mebibyte + 1 })
      {
        SCOPED_TRACE(::testing::Message() << workers << " workers, " << bytes << " bytes from byte " << offset);
        UseHugePages(memory.data() + offset, bytes);
        EXPECT_EQ(memory.size(), static_cast<std::size_t>(std::count(memory.begin(), memory.end(), before)));

        TouchMemory(memory.data() + offset, bytes, execution);
        const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
        const auto count = [before](auto first, auto last) { return std::count(first, last, before); };
        EXPECT_EQ(begin - memory.begin(), count(memory.begin(), begin));
        EXPECT_EQ(memory.end() - end, count(end, memory.end()));
        std::size_t pages = 0;
        for (auto first = begin; first != end; ++pages)
        {
          const auto        inPage = (address + static_cast<std::size_t>(first - memory.begin())) % pageBytes;
          const auto        last = first + std::min<std::ptrdiff_t>(end - first, pageBytes - inPage);
          const std::size_t touched = static_cast<std::size_t>(last - first - count(first, last));
          ASSERT_EQ(1u, touched) << "in page " << pages;
          first = last;
        }
        std::fill(begin, end, before);
      }
    }
  }
  // Memory that is populated keeps its content.
  for (const std::size_t offset : { std::size_t{ 0 }, std::size_t{ 5000 }, mebibyte + 16 })
  {
    const std::size_t bytes = memory.size() - offset - 3;
    for (std::size_t begin = 0; begin < bytes + 8 * mebibyte; begin += mebibyte + 77)
    {
      PopulateHugePages(memory.data() + offset, bytes, begin, begin + mebibyte + 77);
    }
    EXPECT_EQ(memory.size(), static_cast<std::size_t>(std::count(memory.begin(), memory.end(), before)));
  }
  UseHugePages(nullptr, 100 * mebibyte);
  UseHugePages(nullptr, 0);
  TouchMemory(nullptr, 0, execution);
}

TEST(HostMemory, CopiesPastCachesAreCopies)
{
  std::vector<char> from(5000);
  for (std::size_t i = 0; i < from.size(); ++i)
  {
    from[i] = static_cast<char>(i * 7 + i / 256);
  }
  for (const std::size_t source : { 0, 1, 16, 37 })
  {
    for (std::size_t target = 0; target < 20; ++target)
    {
      for (const std::size_t bytes : { 0, 1, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 4096, 4801 })
      {
        std::vector<char> to(6000, 'x');
        std::vector<char> expected = to;
        std::copy(from.begin() + source, from.begin() + source + bytes, expected.begin() + target);
        CopyPastCaches(to.data() + target, from.data() + source, bytes);
        ASSERT_EQ(expected, to) << bytes << " bytes from " << source << " to " << target;
      }
    }
  }
}

/** Keys of rows of all lengths by the kernel of an instruction set, and by relaxing one voxel at a time. */
template <typename TKey>
void
ExpectKeysOfRows(TKey (*kernel)(const NearestLabelsRow<TKey> &))
{
  using Row = NearestLabelsRow<TKey>;
  constexpr std::int64_t                pitch = Row::maxLength + 2;
  std::mt19937                          random(7);
  const std::vector<typename Row::Step> others{ { -pitch, 900, 0 }, { pitch, 1400, 1 } };
  const std::vector<typename Row::Step> alongX{ { -1, 640, 2 }, { 1, 640, 3 } };
  for (std::int64_t length = 1; length <= Row::maxLength; ++length)
  {
    for (int i = 0; i < 24; ++i)
    {
      const bool                 isMixed = i % 2 != 0;
      std::vector<TKey>          keys(3 * pitch);
      std::vector<std::uint32_t> blocked(Row::maxLength);
      for (TKey & key : keys)
      {
        key = random() % 3 == 0 ? static_cast<TKey>(random() % 10000) : unreachedKey<TKey>;
      }
      for (std::uint32_t & word : blocked)
      {
        word = random() % 4 == 0 ? allBlocked : isMixed ? static_cast<std::uint32_t>(random() % 16) : 0u;
      }
      std::vector<TKey> expected = keys;
      for (bool isDone = false; !isDone;)
      {
        isDone = true;
        for (std::int64_t x = 0; x < length; ++x)
        {
          for (const auto & steps : { others, alongX })
          {
            for (const auto & step : steps)
            {
              const TKey offer = expected[pitch + 1 + x + step.stride] + step.key;
              TKey &     key = expected[pitch + 1 + x];
              if ((blocked[x] >> step.bit & 1u) == 0 && offer < key)
              {
                key = offer;
                isDone = false;
              }
            }
          }
        }
      }
      Row row{ keys.data() + pitch + 1, blocked.data(), length, others.data(), 2, alongX.data(), isMixed, false };
      const bool isChanged = expected != keys;
      EXPECT_EQ(isChanged, kernel(row) != 0) << length << " voxels, case " << i;
      EXPECT_EQ(expected, keys) << length << " voxels, case " << i;
      row.isSettled = true;
      EXPECT_EQ(TKey{ 0 }, kernel(row));
    }
  }
}

TEST(NearestLabelsRow, HasTheKeysOfShortestPathsWithAllInstructionSets)
{
  for (const auto set : { InstructionSet::Baseline, InstructionSet::AVX2, InstructionSet::AVX512 })
  {
    SCOPED_TRACE(static_cast<int>(set));
    using Kernel32 = std::uint32_t (*)(const NearestLabelsRow<std::uint32_t> &);
    using Kernel64 = std::uint64_t (*)(const NearestLabelsRow<std::uint64_t> &);
    ExpectKeysOfRows(ChooseKernel<Kernel32>(set, VOXELMAPS_KERNELS(PassKeysOn)));
    ExpectKeysOfRows(ChooseKernel<Kernel64>(set, VOXELMAPS_KERNELS(PassKeysOn)));
  }
}

#if defined(__SIZEOF_INT128__)
TEST(WideProduct, AgreesWithLongMultiplication)
{
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t factors[] = {
    0, 1, 2, 0x7fffffff, 0xffffffff, 0x100000000, 0x123456789abcdef, 0x8000000000000000, 0xfedcba9876543210, ~0ull
  };
  for (const std::uint64_t a : factors)
  {
    for (const std::uint64_t b : factors)
    {
      EXPECT_EQ(static_cast<std::uint64_t>((Wide{ a } * b) >> 64), MultiplyHigh(a, b)) << a << " * " << b;
    }
  }
  EXPECT_EQ(VarianceNumerator(3, 14, 6), 6.0);
  EXPECT_EQ(VarianceNumerator(1ull << 40, 1ull << 50, 1ull << 44),
            1125899906842624.0 * 1099511627776.0 - 17592186044416.0 * 17592186044416.0);
}
#endif
