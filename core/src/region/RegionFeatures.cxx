// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/RegionFeaturesJob.h"

#include "common/Log2.h"
#include "common/ParallelFor.h"
#include "gldm/Dependence.h"
#include "discretization/GrayLevelJob.h"
#include "firstorder/FirstOrderFormulas.h"
#include "region/RegionTypes.h"
#include "glszm/SizeZone.h"
#include "window/OffsetWeights.h"
#include "window/PairOffsets.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// --- Regions

/** What the first pass finds of a region. */
struct Extent
{
  std::int64_t voxels{ 0 };
  Triple       first{ { std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max() } };
  Triple       last{ { -1, -1, -1 } };
  double       minimum{ infinity };
  double       maximum{ -infinity };

  /** Voxels of a row that begin here. NaN changes no extreme. */
  template <typename TPixel>
  void
  Add(const Triple & begin, std::int64_t count, const TPixel * pixels)
  {
    Extent row;
    row.voxels = count;
    row.first = row.last = begin;
    row.last[0] += count - 1;
    for (std::int64_t i = 0; i < count; ++i)
    {
      const auto value = static_cast<double>(pixels[i]);
      row.minimum = value < row.minimum ? value : row.minimum;
      row.maximum = value > row.maximum ? value : row.maximum;
    }
    this->Merge(row);
  }
  void
  Merge(const Extent & other)
  {
    voxels += other.voxels;
    for (int d = 0; d < 3; ++d)
    {
      first[d] = std::min(first[d], other.first[d]);
      last[d] = std::max(last[d], other.last[d]);
    }
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
};

/** A region while it is computed. */
struct Region
{
  RegionFeatures &              features;
  const Extent &                extent;
  RegionMask                    mask{};
  std::unique_ptr<RegionLevels> levels{};
  /** Of each class, then of shape. */
  std::vector<std::vector<double>> values{};
};

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

/** The offsets that fit into a box. */
std::vector<Triple>
FittingOffsets(const std::vector<Triple> & offsets, const Triple & size)
{
  std::vector<Triple> fitting;
  std::copy_if(offsets.begin(), offsets.end(), std::back_inserter(fitting), [&size](const Triple & offset) {
    return std::abs(offset[0]) < size[0] && std::abs(offset[1]) < size[1] && std::abs(offset[2]) < size[2];
  });
  return fitting;
}

// --- First order

struct Root
{
  static double
  Of(double value)
  {
    return std::sqrt(value);
  }
};

/** The sums of intensities in ascending order, which are differences from the median. */
template <typename TPixel>
FirstOrderSums<double>
ComputeFirstOrderSums(const std::vector<TPixel> & sorted, const RegionLevels & levels, double shift)
{
  const auto at = [&sorted](std::size_t k) { return static_cast<double>(sorted[std::min(k, sorted.size() - 1)]); };
  const auto percentile = [&](double part) {
    const double position = static_cast<double>(sorted.size() - 1) * part;
    const auto   below = static_cast<std::size_t>(position);
    return Interpolate(at(below), at(below + 1), position - static_cast<double>(below));
  };
  const auto forEach = [&](const auto & visit) {
    for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end)
    {
      while (end < sorted.size() && sorted[end] == sorted[begin])
      {
        ++end;
      }
      visit(at(begin), static_cast<double>(end - begin));
    }
  };
  FirstOrderSums<double> sums{};
  sums.voxels = static_cast<double>(sorted.size());
  sums.minimum = at(0);
  sums.maximum = at(sorted.size() - 1);
  sums.percentile10 = percentile(0.1);
  sums.percentile25 = percentile(0.25);
  sums.median = (at((sorted.size() - 1) / 2) + at(sorted.size() / 2)) / 2.0;
  sums.percentile75 = percentile(0.75);
  sums.percentile90 = percentile(0.9);
  sums.origin = sums.median;
  const auto isRobust = [&sums](double x) { return x >= sums.percentile10 && x <= sums.percentile90; };

  CompensatedSum differences, energy, robustDifferences, robustVoxels;
  forEach([&](double x, double count) {
    const double shifted = x + shift;
    differences += count * (x - sums.origin);
    energy += count * (shifted * shifted);
    robustVoxels += isRobust(x) ? count : 0.0;
    robustDifferences += isRobust(x) ? count * (x - sums.origin) : 0.0;
  });
  sums.energy = energy;
  sums.shift = differences / sums.voxels;
  sums.robustVoxels = robustVoxels;
  sums.robustShift = robustDifferences / robustVoxels;

  CompensatedSum absolutes, squares, cubes, fourths, robustAbsolutes;
  forEach([&](double x, double count) {
    const double deviation = (x - sums.origin) - sums.shift;
    const double square = deviation * deviation;
    absolutes += count * std::abs(deviation);
    squares += count * square;
    cubes += count * (square * deviation);
    fourths += count * (square * square);
    robustAbsolutes += isRobust(x) ? count * std::abs((x - sums.origin) - sums.robustShift) : 0.0;
  });
  sums.absolutes = absolutes;
  sums.squares = squares;
  sums.cubes = cubes;
  sums.fourths = fourths;
  sums.robustAbsolutes = robustAbsolutes;

  CompensatedSum entropy, levelSquares;
  for (const std::uint64_t count : levels.counts)
  {
    const auto n = static_cast<double>(count);
    entropy += count == 0 ? 0.0 : -n * Log2(n / sums.voxels);
    levelSquares += n * n;
  }
  sums.entropy = entropy;
  sums.levelSquares = levelSquares;
  return sums;
}

// --- Classes

template <typename TJob>
constexpr bool hasDirections = std::is_same<TJob, CooccurrenceJob>::value || std::is_same<TJob, RunLengthJob>::value;

template <typename TJob>
constexpr bool hasOffsets =
  hasDirections<TJob> || std::is_same<TJob, DependenceJob>::value || std::is_same<TJob, GrayToneDifferenceJob>::value;

/** The features of a job from values by their number. */
template <typename TFeature, typename TValues>
std::vector<double>
Select(const std::vector<TFeature> & features, const TValues & values)
{
  std::vector<double> selected;
  for (const TFeature feature : features)
  {
    if constexpr (std::is_same<TValues, SizeMatrixValues>::value)
    {
      selected.push_back(values[static_cast<std::size_t>(ToSizeMatrixFeature(feature))]);
    }
    else
    {
      selected.push_back(values[static_cast<std::size_t>(feature)]);
    }
  }
  return selected;
}

/** The mean of the features of the directions with pairs, or the features of the sum of their matrices. */
template <typename TJob>
std::vector<double>
ComputeDirections(const TJob & job, const RegionLevels & levels, const JobExecution & execution)
{
  const auto count = [&](const Triple & offset) {
    if constexpr (std::is_same<TJob, CooccurrenceJob>::value)
    {
      return CountPairs(levels, offset, job.symmetric, execution);
    }
    else
    {
      return CountRuns(levels, offset, job.skipDirectionsWithoutPairs, execution);
    }
  };
  // Of the maximal correlation, which is 1 even without pairs if there is one level; else -1.
  std::ptrdiff_t correlation = -1;
  if constexpr (std::is_same<TJob, CooccurrenceJob>::value)
  {
    const auto place =
      std::find(job.features.begin(), job.features.end(), TJob::Feature::MaximalCorrelationCoefficient);
    correlation = place == job.features.end() ? -1 : place - job.features.begin();
  }
  const auto evaluate = [&](const std::vector<Cell> & cells) {
    if constexpr (std::is_same<TJob, CooccurrenceJob>::value)
    {
      return Select(job.features,
                    ComputeCooccurrenceValues(cells, levels.numberOfGrayLevels, correlation >= 0, levels.hasOneLevel));
    }
    else
    {
      return Select(job.features, ComputeSizeMatrixValues(cells));
    }
  };
  const bool                  isMerged = job.aggregation == TJob::Aggregation::Merge;
  std::vector<Cell>           merged;
  std::vector<CompensatedSum> sums(job.features.size());
  double                      directions = 0.0;
  for (std::size_t i = 0; i < job.offsets.size(); ++i)
  {
    if (FittingOffsets({ job.offsets[i] }, levels.size).empty())
    {
      continue;
    }
    const std::vector<Cell> cells = count(job.offsets[i]);
    const double            weight = job.offsetWeights.empty() ? 1.0 : job.offsetWeights[i];
    for (std::size_t c = 0; isMerged && weight > 0.0 && c < cells.size(); ++c)
    {
      merged.push_back({ cells[c].row, cells[c].column, weight * cells[c].value });
    }
    if (!isMerged && !cells.empty())
    {
      const std::vector<double> values = evaluate(cells);
      for (std::size_t f = 0; f < sums.size(); ++f)
      {
        sums[f] += values[f];
      }
      ++directions;
    }
  }
  if (!merged.empty())
  {
    return evaluate(MergeCells(std::move(merged)));
  }
  std::vector<double> means(sums.size(), notANumber);
  for (std::size_t f = 0; f < sums.size() && directions > 0.0; ++f)
  {
    means[f] = sums[f] / directions;
  }
  if (correlation >= 0 && levels.hasOneLevel)
  {
    means[static_cast<std::size_t>(correlation)] = 1.0;
  }
  return means;
}

/** Throw EngineError if a class is invalid, and extend the reach of its offsets along each axis. */
template <typename TJob>
void
VerifyClass(const TJob & job, Triple & reach)
{
  if constexpr (hasDirections<TJob>)
  {
    if (job.aggregation == TJob::Aggregation::PerDirection)
    {
      throw EngineError("Features of regions have no aggregation PerDirection: choose Average or Merge.");
    }
    if (!job.offsetWeights.empty())
    {
      VerifyOffsetWeights(
        job.offsetWeights, job.offsets.size(), job.aggregation == TJob::Aggregation::Merge, 0, job.numberOfGrayLevels);
    }
  }
  if constexpr (std::is_same<TJob, FirstOrderJob>::value)
  {
    if (!std::isfinite(job.voxelArrayShift))
    {
      throw EngineError("A job has the voxelArrayShift " + std::to_string(job.voxelArrayShift) +
                        ", but must have a finite one.");
    }
  }
  else if constexpr (hasOffsets<TJob>)
  {
    MakePairOffsets(job.offsets);
    for (const Triple & offset : job.offsets)
    {
      for (int d = 0; d < 3; ++d)
      {
        reach[d] = std::max(reach[d], std::abs(offset[d]));
        if (std::is_same<TJob, RunLengthJob>::value && std::abs(offset[d]) > 1)
        {
          throw EngineError("Offsets of runs must have components -1, 0 or 1.");
        }
      }
    }
  }
}

// --- The job

/** Computes regions in groups, so that memory holds the levels of a group, and all workers have something to compute:
 * a class of a region each. */
class RegionEngine
{
public:
  explicit RegionEngine(const RegionFeaturesJob & job)
    : m_Job(job)
  {
    VerifyEnumerator("The pixel type", job.pixelType, PixelType::Double);
    VerifyEnumerator("The type of labels", job.labelType, PixelType::UInt64);
    job.discretization.Verify();
    std::set<std::int64_t> labels;
    for (const std::int64_t label : job.labels)
    {
      if (label == 0 || !labels.insert(label).second)
      {
        throw EngineError("A job has the label " + std::to_string(label) +
                          ", but labels of regions must be other than 0, and each be given once.");
      }
    }
    const auto verify = [](const std::vector<unsigned int> & features, const FeatureTable & table) {
      if (!features.empty() && *std::max_element(features.begin(), features.end()) >= table.GetNumberOfFeatures())
      {
        throw EngineError(std::string("A job has a number of a feature that the class ") + table.GetClassName() +
                          " does not have.");
      }
    };
    verify(job.shapeFeatures, GetShapeFeatureTable());
    verify(job.planarShapeFeatures, GetPlanarShapeFeatureTable());
    for (const double size : job.spacing)
    {
      if (!(size > 0.0) || !std::isfinite(size))
      {
        throw EngineError("A job has the spacing " + std::to_string(size) + ", but it must be positive and finite.");
      }
    }
    for (const TextureClassJob & classJob : job.classes)
    {
      std::visit([this](const auto & typedJob) { VerifyClass(typedJob, m_Reach); }, classJob);
    }
  }

  std::vector<RegionFeatures>
  Compute()
  {
    this->FindRegions();
    constexpr std::int64_t maxGroupVoxels = std::int64_t{ 1 } << 22;
    for (auto next = m_Features.begin(); next != m_Features.end();)
    {
      std::vector<Region> regions;
      for (std::int64_t voxels = 0; next != m_Features.end() && (regions.empty() || voxels < maxGroupVoxels); ++next)
      {
        regions.push_back({ *next, m_Extents.at(next->label) });
        voxels += next->boxSize[0] * next->boxSize[1] * next->boxSize[2];
      }
      this->ComputeGroup(regions);
    }
    return std::move(m_Features);
  }

private:
  /** Where a row of a region begins in the array. */
  std::int64_t
  RowOffset(const RegionFeatures & region, std::int64_t y, std::int64_t z) const
  {
    return ((region.boxIndex[2] + z) * m_Job.size[1] + region.boxIndex[1] + y) * m_Job.size[0] + region.boxIndex[0];
  }

  /** One pass over all voxels: boxes and ranges of all labels. */
  void
  FindRegions()
  {
    using Parameters = GrayLevelDiscretizationParameters;
    const bool needsRange = m_Job.discretization.rangeSource == Parameters::RangeSourceEnum::Image;
    const auto pixelSize = GetPixelSize(m_Job.pixelType);
    std::mutex mutex;
    ForEachTask(m_Job.size[2], m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t z) {
        std::map<std::int64_t, Extent> extents;
        IntensityRange                 range;
        for (std::int64_t y = 0; y < m_Job.size[1]; ++y)
        {
          const std::int64_t offset = (z * m_Job.size[1] + y) * m_Job.size[0];
          const auto * const pixels = static_cast<const char *>(m_Job.pixels) + offset * pixelSize;
          if (needsRange)
          {
            range.AddRow(m_Job.pixelType, pixels, nullptr, m_Job.size[0]);
          }
          VisitLabelType(m_Job.labelType, [&](auto label) {
            const auto * const labels = static_cast<const decltype(label) *>(m_Job.labelImage) + offset;
            this->AddRow(labels, pixels, y, z, extents);
          });
        }
        const std::lock_guard<std::mutex> lock(mutex);
        for (const auto & [label, extent] : extents)
        {
          m_Extents[label].Merge(extent);
        }
        m_ImageRange.Merge(range);
        m_Job.execution.ReportProgress(static_cast<std::uint64_t>(m_Job.size[0] * m_Job.size[1]));
      };
    });
    std::vector<std::int64_t> labels = m_Job.labels;
    for (auto extent = m_Extents.begin(); m_Job.labels.empty() && extent != m_Extents.end(); ++extent)
    {
      if (extent->first > 0)
      {
        labels.push_back(extent->first);
      }
    }
    for (const std::int64_t label : labels)
    {
      const Extent & extent = m_Extents[label];
      if (!m_Job.classes.empty() && (extent.minimum == -infinity || extent.maximum == infinity) && extent.voxels > 0 &&
          extent.minimum <= extent.maximum)
      {
        throw EngineError("The region with the label " + std::to_string(label) +
                          " has infinite intensities, which have no features: leave these voxels out of the region.");
      }
      RegionFeatures features;
      features.label = label;
      features.numberOfVoxels = extent.voxels;
      for (int d = 0; d < 3 && extent.voxels > 0; ++d)
      {
        features.boxIndex[d] = extent.first[d];
        features.boxSize[d] = extent.last[d] - extent.first[d] + 1;
      }
      m_Features.push_back(features);
    }
  }

  template <typename TLabel>
  void
  AddRow(const TLabel * labels, const char * pixels, std::int64_t y, std::int64_t z,
         std::map<std::int64_t, Extent> & extents) const
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
          extent.Add({ { begin, y, z } }, end - begin, reinterpret_cast<const decltype(pixel) *>(pixels) + begin);
        });
      }
    }
  }

  void
  ComputeGroup(std::vector<Region> & regions) const
  {
    const auto parts = static_cast<std::int64_t>(m_Job.classes.size() + 1);
    ForEachTask(static_cast<std::int64_t>(regions.size()), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t i) {
        Region & region = regions[static_cast<std::size_t>(i)];
        region.values.resize(static_cast<std::size_t>(parts));
        this->MakeMask(region);
        this->MakeLevels(region);
      };
    });
    ForEachTask(parts * static_cast<std::int64_t>(regions.size()), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t number) {
        Region &   region = regions[static_cast<std::size_t>(number / parts)];
        const auto part = static_cast<std::size_t>(number % parts);
        if (part < m_Job.classes.size())
        {
          std::visit([&](const auto & job) { region.values[part] = this->ComputeClass(job, region); },
                     m_Job.classes[part]);
        }
        else
        {
          region.values[part] = this->ComputeShape(region);
        }
        m_Job.execution.CheckAbort();
      };
    });
    for (Region & region : regions)
    {
      for (const std::vector<double> & part : region.values)
      {
        region.features.values.insert(region.features.values.end(), part.begin(), part.end());
      }
    }
  }

  void
  MakeMask(Region & region) const
  {
    region.mask.spacing = m_Job.spacing;
    const Triple & size = region.features.boxSize;
    std::transform(size.begin(), size.end(), region.mask.size.begin(), [](auto length) { return length + 2; });
    region.mask.inside.resize(
      static_cast<std::size_t>(region.mask.size[0] * region.mask.size[1] * region.mask.size[2]));
    VisitLabelType(m_Job.labelType, [&](auto pixel) {
      const auto label = static_cast<decltype(pixel)>(region.features.label);
      for (std::int64_t z = 0; z < size[2]; ++z)
      {
        for (std::int64_t y = 0; y < size[1]; ++y)
        {
          const auto * const row =
            static_cast<const decltype(pixel) *>(m_Job.labelImage) + this->RowOffset(region.features, y, z);
          std::transform(row, row + size[0], region.mask.Row(y + 1, z + 1) + 1, [label](auto one) {
            return static_cast<std::uint8_t>(one == label);
          });
        }
        m_Job.execution.CheckAbort();
      }
    });
  }

  /** Discretize a region. */
  void
  MakeLevels(Region & region) const
  {
    // A region of NaN has no range.
    if (m_Job.classes.empty() || region.extent.minimum > region.extent.maximum)
    {
      return;
    }
    IntensityRange range = m_ImageRange;
    if (range.IsEmpty())
    {
      range.AddRange(region.extent.minimum, region.extent.maximum, 0);
    }
    const Triple & size = region.features.boxSize;
    Triple         margin{};
    std::transform(size.begin(), size.end(), m_Reach.begin(), margin.begin(), [](auto length, auto reach) {
      return std::max<std::int64_t>(1, std::min(length - 1, reach));
    });
    try
    {
      GrayLevelDiscretization discretization(m_Job.discretization, m_Job.pixelType, range);
      region.levels = std::make_unique<RegionLevels>(size, margin);
      for (std::int64_t z = 0; z < size[2]; ++z)
      {
        for (std::int64_t y = 0; y < size[1]; ++y)
        {
          const std::uint8_t * const mask = region.mask.Row(y + 1, z + 1) + 1;
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
            std::uint16_t * const row = region.levels->Row(y, z);
            const auto offset = (this->RowOffset(region.features, y, z) + begin) * GetPixelSize(m_Job.pixelType);
            const auto * const pixels = static_cast<const char *>(m_Job.pixels) + offset;
            discretization.DiscretizeRow(pixels, mask + begin, end - begin, row + begin);
            region.levels->rows.push_back({ row, begin, end, y, z });
          }
        }
        m_Job.execution.CheckAbort();
      }
      discretization.VerifyIntensities();
      region.levels->Count(discretization.GetNumberOfGrayLevels(), m_Job.execution);
    }
    catch (const EngineError & error)
    {
      throw EngineError("Region with the label " + std::to_string(region.features.label) + ": " + error.what());
    }
    region.features.numberOfGrayLevels = region.levels->numberOfVoxels > 0 ? region.levels->numberOfGrayLevels : 0;
    m_Job.execution.ReportProgress(static_cast<std::uint64_t>(region.extent.voxels));
  }

  std::vector<double>
  ComputeShape(const Region & region) const
  {
    if (region.extent.voxels == 0)
    {
      return std::vector<double>(m_Job.shapeFeatures.size() + m_Job.planarShapeFeatures.size(), notANumber);
    }
    std::vector<double> values;
    if (!m_Job.shapeFeatures.empty())
    {
      values = Select(m_Job.shapeFeatures, ComputeShapeValues(region.mask, m_Job.execution));
    }
    if (!m_Job.planarShapeFeatures.empty())
    {
      // The axis across the plane: that along which voxels are not connected, or that of one voxel, or z.
      const auto & connects = m_Job.connectsAxis;
      const auto & boxSize = region.features.boxSize;
      int          across = !connects[0] ? 0 : !connects[1] ? 1 : 2;
      if (connects[across] && boxSize[2] != 1)
      {
        across = boxSize[1] == 1 ? 1 : boxSize[0] == 1 ? 0 : 2;
      }
      const std::int64_t planes = boxSize[across];
      if (planes != 1)
      {
        throw EngineError(
          "The region with the label " + std::to_string(region.features.label) + " has " + std::to_string(planes) +
          " planes, but planar shape is that of one: choose a slice, the axis across it, or shape in three "
          "dimensions.");
      }
      const auto planar = ComputePlanarShapeValues(region.mask, across, m_Job.execution);
      const auto selected = Select(m_Job.planarShapeFeatures, planar);
      values.insert(values.end(), selected.begin(), selected.end());
    }
    return values;
  }

  template <typename TJob>
  std::vector<double>
  ComputeClass(const TJob & job, const Region & region) const
  {
    if (region.levels == nullptr || region.levels->numberOfVoxels == 0)
    {
      return std::vector<double>(job.features.size(), notANumber);
    }
    const RegionLevels & levels = *region.levels;
    if constexpr (hasDirections<TJob>)
    {
      return ComputeDirections(job, levels, m_Job.execution);
    }
    else if constexpr (std::is_same<TJob, SizeZoneJob>::value)
    {
      return Select(job.features, ComputeSizeMatrixValues(CountZones(levels, m_Job.connectsAxis, m_Job.execution)));
    }
    else if constexpr (std::is_same<TJob, FirstOrderJob>::value)
    {
      return this->ComputeFirstOrder(job, region);
    }
    else if constexpr (std::is_same<TJob, DependenceJob>::value)
    {
      const auto offsets = FittingOffsets(job.offsets, levels.size);
      const auto cells = CountDependences(levels, offsets, job.alpha, m_Job.execution);
      return Select(job.features, ComputeSizeMatrixValues(cells));
    }
    else if constexpr (std::is_same<TJob, GrayToneDifferenceJob>::value)
    {
      const auto offsets = FittingOffsets(job.offsets, levels.size);
      const auto differences = CountToneDifferences(levels, offsets, m_Job.execution);
      return Select(job.features, ComputeGrayToneDifferenceValues(differences));
    }
    else
    {
      throw EngineError("This class has no features of regions: compute feature maps.");
    }
  }

  std::vector<double>
  ComputeFirstOrder(const FirstOrderJob & job, const Region & region) const
  {
    FirstOrderSums<double> sums{};
    VisitPixelType(m_Job.pixelType, [&](auto pixel) {
      using Pixel = decltype(pixel);
      // Sorted level by level: levels rise with intensities.
      const RegionLevels &       levels = *region.levels;
      std::vector<Pixel>         sorted(static_cast<std::size_t>(levels.numberOfVoxels));
      std::vector<std::uint64_t> ends(levels.counts.size());
      std::exclusive_scan(levels.counts.begin(), levels.counts.end(), ends.begin(), std::uint64_t{ 0 });
      levels.ForEachRow(m_Job.execution, [&](const RegionLevels::RowSpan & row) {
        const auto * const pixels =
          static_cast<const Pixel *>(m_Job.pixels) + this->RowOffset(region.features, row.y, row.z);
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
        std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(ends[level - 1]),
                  sorted.begin() + static_cast<std::ptrdiff_t>(ends[level]));
      }
      sums = ComputeFirstOrderSums(sorted, levels, job.voxelArrayShift);
    });
    const double        volume = m_Job.spacing[0] * m_Job.spacing[1] * m_Job.spacing[2];
    std::vector<double> values;
    for (const auto feature : job.features)
    {
      values.push_back(FirstOrderFeatureValue<double, Root>(feature, sums, volume, 1.0));
    }
    return values;
  }

  const RegionFeaturesJob &      m_Job;
  Triple                         m_Reach{};
  std::map<std::int64_t, Extent> m_Extents;
  IntensityRange                 m_ImageRange;
  std::vector<RegionFeatures>    m_Features;
};
} // namespace

std::vector<RegionFeatures>
ComputeRegionFeatures(const RegionFeaturesJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  return RegionEngine(job).Compute();
}
} // namespace voxelmaps
