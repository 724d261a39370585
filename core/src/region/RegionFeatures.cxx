// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/RegionFeaturesJob.h"

#include "common/ParallelFor.h"
#include "discretization/GrayLevelJob.h"
#include "region/RegionEngine.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace voxelmaps
{
namespace
{
template <typename TVisit>
void
VisitLabelType(PixelType labelType, const TVisit & visit)
{
  VisitPixelType(labelType, [&](auto pixel) {
    if constexpr (std::is_integral<decltype(pixel)>::value)
    {
      visit(pixel);
    }
  });
}

/** Add voxels of a row that begin here. NaN changes no extreme. */
template <typename TPixel>
void
AddRun(Extent & extent, const Triple & begin, std::int64_t count, const TPixel * pixels)
{
  const Triple end{ { begin[0] + count - 1, begin[1], begin[2] } };
  for (std::int64_t i = 0; i < count; ++i)
  {
    const auto value = static_cast<double>(pixels[i]);
    extent.minimum = value < extent.minimum ? value : extent.minimum;
    extent.maximum = value > extent.maximum ? value : extent.maximum;
  }
  extent.voxels += count;
  for (int d = 0; d < 3; ++d)
  {
    extent.first[d] = std::min(extent.first[d], begin[d]);
    extent.last[d] = std::max(extent.last[d], end[d]);
  }
}

void
Merge(Extent & extent, const Extent & other)
{
  extent.voxels += other.voxels;
  for (int d = 0; d < 3; ++d)
  {
    extent.first[d] = std::min(extent.first[d], other.first[d]);
    extent.last[d] = std::max(extent.last[d], other.last[d]);
  }
  extent.minimum = std::min(extent.minimum, other.minimum);
  extent.maximum = std::max(extent.maximum, other.maximum);
}

/** Where a row of a region begins in the array. */
std::int64_t
RowOffset(const RegionFeaturesJob & job, const RegionFeatures & region, std::int64_t y, std::int64_t z)
{
  return ((region.boxIndex[2] + z) * job.size[1] + region.boxIndex[1] + y) * job.size[0] + region.boxIndex[0];
}

/** Counts on the CPU when it is asked for the counts. */
class CpuRegionCounter final : public RegionCounter
{
public:
  CpuRegionCounter(const RegionFeaturesJob & job, const RegionFeatures & region)
    : m_Job(job)
    , m_Region(region)
  {
    const Triple & size = region.boxSize;
    std::transform(size.begin(), size.end(), m_Mask.size.begin(), [](auto length) { return length + 2; });
    m_Mask.inside.resize(static_cast<std::size_t>(m_Mask.size[0] * m_Mask.size[1] * m_Mask.size[2]));
    VisitLabelType(job.labelType, [&](auto pixel) {
      const auto label = static_cast<decltype(pixel)>(region.label);
      for (std::int64_t z = 0; z < size[2]; ++z)
      {
        for (std::int64_t y = 0; y < size[1]; ++y)
        {
          const auto * const row = static_cast<const decltype(pixel) *>(job.labelImage) + RowOffset(job, region, y, z);
          std::transform(row, row + size[0], m_Mask.Row(y + 1, z + 1) + 1, [label](auto one) {
            return static_cast<std::uint8_t>(one == label);
          });
        }
        job.execution.CheckAbort();
      }
    });
  }

  void
  Discretize(GrayLevelDiscretization & discretization, const Triple & reach)
  {
    const Triple & size = m_Region.boxSize;
    Triple         margin{};
    std::transform(size.begin(), size.end(), reach.begin(), margin.begin(), [](auto length, auto one) {
      return std::max<std::int64_t>(1, std::min(length - 1, one));
    });
    m_Levels = std::make_unique<RegionLevels>(size, margin);
    for (std::int64_t z = 0; z < size[2]; ++z)
    {
      for (std::int64_t y = 0; y < size[1]; ++y)
      {
        const std::uint8_t * const mask = m_Mask.Row(y + 1, z + 1) + 1;
        std::int64_t               begin = 0;
        std::int64_t               end = size[0];
        for (; begin < end && mask[begin] == 0; ++begin)
        {
        }
        for (; begin < end && mask[end - 1] == 0; --end)
        {
        }
        if (begin < end)
        {
          std::uint16_t * const row = m_Levels->Row(y, z);
          const auto            offset = (RowOffset(m_Job, m_Region, y, z) + begin) * GetPixelSize(m_Job.pixelType);
          const auto * const    pixels = static_cast<const char *>(m_Job.pixels) + offset;
          discretization.DiscretizeRow(pixels, mask + begin, end - begin, row + begin);
          m_Levels->rows.push_back({ row, begin, end, y, z });
        }
      }
      m_Job.execution.CheckAbort();
    }
    m_Levels->Count(discretization.GetNumberOfGrayLevels(), m_Job.execution);
  }

  const RegionLevels &
  GetLevels() const
  {
    return *m_Levels;
  }

  std::vector<Cell>
  CountCells(std::size_t classNumber, std::size_t offset) override
  {
    return std::visit(
      [&](const auto & job) -> std::vector<Cell> {
        using Job = std::decay_t<decltype(job)>;
        if constexpr (std::is_same<Job, CooccurrenceJob>::value || std::is_same<Job, RunLengthJob>::value)
        {
          return Fits(job.offsets[offset], m_Region) ? this->CountDirection(job, job.offsets[offset])
                                                     : std::vector<Cell>();
        }
        else if constexpr (std::is_same<Job, SizeZoneJob>::value)
        {
          return CountZones(*m_Levels, m_Job.connectsAxis, m_Job.execution);
        }
        else if constexpr (std::is_same<Job, DependenceJob>::value)
        {
          return CountDependences(*m_Levels, this->FittingOffsets(job.offsets), job.alpha, m_Job.execution);
        }
        else if constexpr (std::is_same<Job, GrayToneDifferenceJob>::value)
        {
          return CountToneDifferences(*m_Levels, this->FittingOffsets(job.offsets), m_Job.execution);
        }
        return {};
      },
      m_Job.classes[classNumber]);
  }

  const void *
  SortIntensities(std::vector<char> & buffer) override
  {
    VisitPixelType(m_Job.pixelType, [&](auto pixel) {
      using Pixel = decltype(pixel);
      buffer.resize(static_cast<std::size_t>(m_Levels->numberOfVoxels) * sizeof(Pixel));
      // Sorted level by level: levels rise with intensities.
      auto * const               sorted = reinterpret_cast<Pixel *>(buffer.data());
      std::vector<std::uint64_t> ends(m_Levels->counts.size());
      std::exclusive_scan(m_Levels->counts.begin(), m_Levels->counts.end(), ends.begin(), std::uint64_t{ 0 });
      m_Levels->ForEachRow(m_Job.execution, [&](const RegionLevels::RowSpan & row) {
        const auto * const pixels = static_cast<const Pixel *>(m_Job.pixels) + RowOffset(m_Job, m_Region, row.y, row.z);
        for (std::int64_t x = row.begin; x < row.end; ++x)
        {
          if (row.levels[x] != 0)
          {
            // Adding 0 makes negative zero positive.
            sorted[ends[row.levels[x]]++] = static_cast<Pixel>(pixels[x] + Pixel{ 0 });
          }
        }
      });
      for (std::size_t level = 1; level < ends.size(); ++level)
      {
        std::sort(sorted + ends[level - 1], sorted + ends[level]);
      }
    });
    return buffer.data();
  }

  ShapeCounts
  CountShape() override
  {
    return voxelmaps::CountShape(m_Mask, m_Job.execution);
  }

private:
  std::vector<Cell>
  CountDirection(const CooccurrenceJob & job, const Triple & offset) const
  {
    return CountPairs(*m_Levels, offset, job.symmetric, m_Job.execution);
  }
  std::vector<Cell>
  CountDirection(const RunLengthJob & job, const Triple & offset) const
  {
    return CountRuns(*m_Levels, offset, job.skipDirectionsWithoutPairs, m_Job.execution);
  }

  /** The offsets that fit into the box: steps must stay in the margin. */
  std::vector<Triple>
  FittingOffsets(const std::vector<Triple> & offsets) const
  {
    std::vector<Triple> fitting;
    std::copy_if(offsets.begin(), offsets.end(), std::back_inserter(fitting), [this](const Triple & offset) {
      return Fits(offset, m_Region);
    });
    return fitting;
  }

  const RegionFeaturesJob &     m_Job;
  const RegionFeatures &        m_Region;
  RegionMask                    m_Mask{};
  std::unique_ptr<RegionLevels> m_Levels;
};

class CpuRegionEngine final : public RegionEngine
{
public:
  using RegionEngine::RegionEngine;

private:
  void
  FindExtents(Extents & extents, IntensityRange & imageRange) override
  {
    const auto pixelSize = GetPixelSize(m_Job.pixelType);
    std::mutex mutex;
    ForEachTask(m_Job.size[2], m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t z) {
        Extents        ofPlane;
        IntensityRange range;
        for (std::int64_t y = 0; y < m_Job.size[1]; ++y)
        {
          const std::int64_t offset = (z * m_Job.size[1] + y) * m_Job.size[0];
          const auto * const pixels = static_cast<const char *>(m_Job.pixels) + offset * pixelSize;
          if (this->NeedsImageRange())
          {
            range.AddRow(m_Job.pixelType, pixels, nullptr, m_Job.size[0]);
          }
          VisitLabelType(m_Job.labelType, [&](auto label) {
            this->AddRow(static_cast<const decltype(label) *>(m_Job.labelImage) + offset, pixels, y, z, ofPlane);
          });
        }
        const std::lock_guard<std::mutex> lock(mutex);
        for (const auto & [label, extent] : ofPlane)
        {
          Merge(extents[label], extent);
        }
        imageRange.Merge(range);
        m_Job.execution.ReportProgress(static_cast<std::uint64_t>(m_Job.size[0] * m_Job.size[1]));
      };
    });
  }

  template <typename TLabel>
  void
  AddRow(const TLabel * labels, const char * pixels, std::int64_t y, std::int64_t z, Extents & extents) const
  {
    const auto size = static_cast<std::size_t>(m_Job.size[0]);
    // Most rows of most images have no label.
    if (size == 0 || (labels[0] == 0 && std::memcmp(labels, labels + 1, (size - 1) * sizeof(TLabel)) == 0))
    {
      return;
    }
    for (std::int64_t begin = 0, end = 0; begin < m_Job.size[0]; begin = end)
    {
      while (end < m_Job.size[0] && labels[end] == labels[begin])
      {
        ++end;
      }
      if (labels[begin] != 0)
      {
        Extent & extent = extents[static_cast<std::int64_t>(labels[begin])];
        VisitPixelType(m_Job.pixelType, [&](auto pixel) {
          AddRun(extent, { { begin, y, z } }, end - begin, reinterpret_cast<const decltype(pixel) *>(pixels) + begin);
        });
      }
    }
  }

  void
  ComputeGroups(std::size_t first, std::size_t last) override
  {
    constexpr std::int64_t maxVoxels = std::int64_t{ 1 } << 22;
    while (first < last)
    {
      std::size_t end = first;
      for (std::int64_t voxels = 0; end < last && (end == first || voxels < maxVoxels); ++end)
      {
        const Triple & size = m_Features[end].boxSize;
        voxels += size[0] * size[1] * size[2];
      }
      this->ComputeGroup(first, end);
      first = end;
    }
  }

  void
  CountGroup(std::vector<Region> & regions) override
  {
    ForEachTask(static_cast<std::int64_t>(regions.size()), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t i) {
        Region & region = regions[static_cast<std::size_t>(i)];
        auto     counter = std::make_unique<CpuRegionCounter>(m_Job, region.features);
        if (const auto discretization = this->MakeDiscretization(region))
        {
          counter->Discretize(*discretization, m_Reach);
          VerifyIntensities(*discretization, region);
          region.levels = counter->GetLevels();
          m_Job.execution.ReportProgress(static_cast<std::uint64_t>(region.extent.voxels));
        }
        region.counter = std::move(counter);
      };
    });
  }
};
} // namespace

std::vector<RegionFeatures>
ComputeRegionFeatures(const RegionFeaturesJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  return CpuRegionEngine(job).Compute();
}
} // namespace voxelmaps
