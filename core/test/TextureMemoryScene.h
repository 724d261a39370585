// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureMemoryScene_h
#define TextureMemoryScene_h

// What the tests of the memory of the jobs of all texture classes share: jobs, and layouts of their outputs.

#include "CudaTestUtilities.h"
#include "TextureJobChecks.h"
#include "VoxelMapsTestUtilities.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
/** Part of an image. */
struct TextureRegion
{
  voxelmaps::Triple index;
  voxelmaps::Triple size;
};

inline std::ostream &
operator<<(std::ostream & out, const TextureRegion & region)
{
  for (const voxelmaps::Triple & triple : { region.index, region.size })
  {
    out << '(' << triple[0] << ", " << triple[1] << ", " << triple[2] << ')';
  }
  return out;
}

inline std::size_t
CountVoxels(const voxelmaps::Triple & size)
{
  return static_cast<std::size_t>(size[0] * size[1] * size[2]);
}

/** A scene of which regions are computed. */
template <typename TJob>
struct TextureMemoryScene : TextureScene<TJob>
{
  using TextureScene<TJob>::job;
  using TextureScene<TJob>::levels;

  TextureMemoryScene(const voxelmaps::Triple & size, const voxelmaps::Triple & windowSize,
                     std::uint32_t numberOfGrayLevels, std::uint64_t seed = 1)
    : TextureScene<TJob>(size, windowSize, numberOfGrayLevels, 0.6, 0.15, seed)
  {}

  void
  SetRegion(const TextureRegion & region)
  {
    job.outputIndex = region.index;
    job.outputSize = region.size;
  }
  /** Regions to compute: one voxel, a row, and a box in the inside. */
  std::vector<TextureRegion>
  GetRegions() const
  {
    const auto &  size = job.levelsSize;
    TextureRegion voxel{ {}, { { 1, 1, 1 } } };
    TextureRegion row{ { { 0, size[1] / 2, size[2] / 2 } }, { { size[0], 1, 1 } } };
    TextureRegion box{};
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      voxel.index[axis] = size[axis] / 2;
      box.index[axis] = size[axis] > 2 ? 1 : 0;
      box.size[axis] = size[axis] > 2 ? size[axis] - 2 : size[axis];
    }
    // The features of a voxel that is present.
    while (levels[static_cast<std::size_t>((voxel.index[2] * size[1] + voxel.index[1]) * size[0] + voxel.index[0])] ==
           0)
    {
      voxel.index[0] = (voxel.index[0] + 1) % size[0];
    }
    return { voxel, row, box };
  }
};

/** All aggregations that a class has. */
template <typename TJob>
std::vector<TJob>
WithAllAggregations(const TJob & job)
{
  std::vector<TJob> jobs{ job };
  if constexpr (HasAggregation<TJob>::value)
  {
    jobs.clear();
    for (const auto aggregation : voxelmaps::GetEnumerators<typename TJob::Aggregation>())
    {
      jobs.push_back(job);
      jobs.back().aggregation = aggregation;
    }
  }
  return jobs;
}

/** Strides of an output. */
struct OutputLayout
{
  const char * name;
  std::int64_t voxelStride;
  std::int64_t componentStride;

  void
  Set(voxelmaps::TextureFeatureMapJob & job) const
  {
    job.outputVoxelStride = voxelStride;
    job.outputComponentStride = componentStride;
  }
};

/** The default layout comes first. */
inline std::vector<OutputLayout>
GetOutputLayouts(std::size_t numberOfVoxels, std::size_t numberOfComponents)
{
  const auto voxels = static_cast<std::int64_t>(numberOfVoxels);
  const auto components = static_cast<std::int64_t>(numberOfComponents);
  return { { "default", 0, 0 },
           { "planar", 1, voxels },
           { "planar with gaps", 1, voxels + 7 },
           { "interleaved", components, 1 },
           { "interleaved with gaps", components + 3, 1 } };
}

/** An output of a layout between guards; all bits of what is not written are 1, which no result of a feature has. */
template <typename TReal>
class LaidOutOutput
{
public:
  /** Expects the numbers of a job with the default layout. */
  LaidOutOutput(const OutputLayout & layout, std::size_t voxels, std::size_t components)
    : m_Voxels(voxels)
    , m_Components(components)
    , m_VoxelStride(layout.voxelStride == 0 ? components : static_cast<std::size_t>(layout.voxelStride))
    , m_ComponentStride(layout.voxelStride == 0 ? 1 : static_cast<std::size_t>(layout.componentStride))
    , guard(64 + voxels * components)
    , buffer((voxels - 1) * m_VoxelStride + (components - 1) * m_ComponentStride + 1 + 2 * guard)
  {
    std::memset(buffer.data(), 0xff, buffer.size() * sizeof(TReal));
  }

  TReal *
  data()
  {
    return buffer.data() + guard;
  }

  /** Whether there are the expected bits, which are interleaved without gaps, and nothing else was written. */
  ::testing::AssertionResult
  Has(const std::vector<TReal> & expected) const
  {
    constexpr std::size_t    none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> sources(buffer.size(), none);
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
      sources[guard + i / m_Components * m_VoxelStride + i % m_Components * m_ComponentStride] = i;
    }
    if (expected.size() != m_Voxels * m_Components)
    {
      return ::testing::AssertionFailure() << expected.size() << " numbers are expected";
    }
    for (std::size_t i = 0; i < buffer.size(); ++i)
    {
      const std::size_t source = sources[i];
      if (source == none && GetBits(buffer[i]) != untouched)
      {
        const std::size_t last = buffer.size() - guard;
        return ::testing::AssertionFailure() << "wrote " << buffer[i]
                                             << (i < guard  ? " before the output"
                                                 : i < last ? " in a gap"
                                                            : " after it")
                                             << ", at " << i << " with " << guard << " numbers before the output";
      }
      if (source != none && GetBits(buffer[i]) != GetBits(expected[source]))
      {
        return ::testing::AssertionFailure()
               << "component " << source % m_Components << " of voxel " << source / m_Components << " is " << buffer[i]
               << " with bits " << GetBits(buffer[i]) << " instead of " << expected[source] << " with bits "
               << GetBits(expected[source]);
      }
    }
    return ::testing::AssertionSuccess();
  }

private:
  using Bits = std::conditional_t<std::is_same<TReal, double>::value, std::uint64_t, std::uint32_t>;

  static constexpr Bits untouched = std::numeric_limits<Bits>::max();

  static Bits
  GetBits(TReal number)
  {
    Bits bits = 0;
    static_assert(sizeof(bits) == sizeof(number), "has all bits");
    std::memcpy(&bits, &number, sizeof(bits));
    return bits;
  }

  const std::size_t m_Voxels;
  const std::size_t m_Components;
  const std::size_t m_VoxelStride;
  const std::size_t m_ComponentStride;

public:
  /** Numbers before and after the output: so many that strides of another layout stay within them. */
  const std::size_t guard;
  /** With guards. */
  std::vector<TReal> buffer;
};

/** Budgets with which jobs are computed in slabs: the least one, which the error for a smaller one states, and a larger
 * one. compute(budget) computes the job. None if a job needs no memory, or its method does not support it. */
template <typename TCompute>
std::vector<std::uint64_t>
FindSmallBudgets(const TCompute & compute)
{
  try
  {
    compute(1);
  }
  catch (const voxelmaps::UnsupportedMethodError &)
  {}
  catch (const voxelmaps::EngineError & error)
  {
    const std::uint64_t needed = GetRequiredBytes(error);
    return std::vector{ needed, 3 * needed };
  }
  return {};
}
} // namespace VoxelMapsTest

#endif // TextureMemoryScene_h
