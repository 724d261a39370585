// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/RegionFeaturesJob.h"

#include "common/Log2.h"
#include "common/ParallelFor.h"
#include "discretization/GrayLevelJob.h"
#include "firstorder/FirstOrderFormulas.h"
#include "region/RegionParts.h"
#include "sizezone/SizeZone.h"
#include "texture/OffsetWeights.h"
#include "texture/PairOffsets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// --- Regions

/** What the first pass finds of a region, and its levels while it is computed. */
struct Region
{
  std::int64_t voxels{ 0 };
  Triple       first{ { std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max() } };
  Triple       last{ { -1, -1, -1 } };
  double       minimum{ infinity };
  double       maximum{ -infinity };

  std::shared_ptr<RegionLevels> levels;

  Triple
  Size() const
  {
    return voxels == 0 ? Triple{ { 0, 0, 0 } }
                       : Triple{ { last[0] - first[0] + 1, last[1] - first[1] + 1, last[2] - first[2] + 1 } };
  }

  /** Voxels of a row that begin here. NaN changes no extreme. */
  template <typename TPixel>
  void
  Add(const Triple & begin, std::int64_t count, const TPixel * pixels)
  {
    Region row;
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
  Merge(const Region & other)
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

std::vector<Cell>
CountDirection(const CooccurrenceJob & job, const RegionLevels & levels, const Triple & offset,
               const JobExecution & execution)
{
  std::vector<Cell> cells = CountPairs(levels, offset, execution);
  for (std::size_t i = 0, pairs = cells.size(); job.symmetric && i < pairs; ++i)
  {
    cells.push_back({ cells[i].column, cells[i].row, cells[i].value });
  }
  return MergeCells(std::move(cells));
}

std::vector<Cell>
CountDirection(const RunLengthJob & job, const RegionLevels & levels, const Triple & offset,
               const JobExecution & execution)
{
  return CountRuns(levels, offset, job.skipDirectionsWithoutPairs, execution);
}

std::vector<double>
Evaluate(const CooccurrenceJob & job, const std::vector<Cell> & cells, const RegionLevels & levels)
{
  const auto correlation = CooccurrenceJob::Feature::MaximalCorrelationCoefficient;
  const bool needsIt = std::find(job.features.begin(), job.features.end(), correlation) != job.features.end();
  return Select(job.features, ComputeCooccurrenceValues(cells, levels.numberOfGrayLevels, needsIt, levels.hasOneLevel));
}

std::vector<double>
Evaluate(const RunLengthJob & job, const std::vector<Cell> & cells, const RegionLevels &)
{
  return Select(job.features, ComputeSizeMatrixValues(cells));
}

/** The mean of the features of the directions with pairs, or the features of the sum of their matrices. */
template <typename TJob>
std::vector<double>
ComputeDirections(const TJob & job, const RegionLevels & levels, const JobExecution & execution)
{
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
    const std::vector<Cell> cells = CountDirection(job, levels, job.offsets[i], execution);
    const double            weight = job.offsetWeights.empty() ? 1.0 : job.offsetWeights[i];
    for (std::size_t c = 0; isMerged && weight > 0.0 && c < cells.size(); ++c)
    {
      merged.push_back({ cells[c].row, cells[c].column, weight * cells[c].value });
    }
    if (!isMerged && !cells.empty())
    {
      const std::vector<double> values = Evaluate(job, cells, levels);
      std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), [](CompensatedSum sum, double value) {
        sum += value;
        return sum;
      });
      ++directions;
    }
  }
  if (!merged.empty())
  {
    return Evaluate(job, MergeCells(std::move(merged)), levels);
  }
  std::vector<double> means;
  for (std::size_t f = 0; f < sums.size(); ++f)
  {
    means.push_back(directions > 0.0 ? sums[f] / directions : notANumber);
    if constexpr (std::is_same<TJob, CooccurrenceJob>::value)
    {
      const bool isOne = levels.hasOneLevel && job.features[f] == TJob::Feature::MaximalCorrelationCoefficient;
      means[f] = isOne ? 1.0 : means[f];
    }
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
    std::size_t            begin = 0;
    for (std::size_t end = 0; begin < m_Features.size(); begin = end)
    {
      for (std::int64_t voxels = 0; end < m_Features.size() && (end == begin || voxels < maxGroupVoxels); ++end)
      {
        const Triple size = m_Regions[m_Features[end].label].Size();
        voxels += size[0] * size[1] * size[2];
      }
      this->ComputeGroup(begin, end);
    }
    return std::move(m_Features);
  }

private:
  /** Where a row of a region begins in the array. */
  std::int64_t
  RowOffset(const Region & region, std::int64_t y, std::int64_t z) const
  {
    return ((region.first[2] + z) * m_Job.size[1] + region.first[1] + y) * m_Job.size[0] + region.first[0];
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
        std::map<std::int64_t, Region> regions;
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
            this->AddRow(labels, pixels, y, z, regions);
          });
        }
        const std::lock_guard<std::mutex> lock(mutex);
        for (const auto & [label, region] : regions)
        {
          m_Regions[label].Merge(region);
        }
        m_ImageRange.Merge(range);
        m_Job.execution.ReportProgress(static_cast<std::uint64_t>(m_Job.size[0] * m_Job.size[1]));
      };
    });
    std::vector<std::int64_t> labels = m_Job.labels;
    for (auto region = m_Regions.begin(); m_Job.labels.empty() && region != m_Regions.end(); ++region)
    {
      if (region->first > 0)
      {
        labels.push_back(region->first);
      }
    }
    for (const std::int64_t label : labels)
    {
      const Region & region = m_Regions[label];
      if (!m_Job.classes.empty() && (region.minimum == -infinity || region.maximum == infinity) && region.voxels > 0 &&
          region.minimum <= region.maximum)
      {
        throw EngineError("The region with the label " + std::to_string(label) +
                          " has infinite intensities, which have no features: leave these voxels out of the region.");
      }
      m_Features.push_back({ label, region.voxels, 0, {} });
    }
  }

  template <typename TLabel>
  void
  AddRow(const TLabel * labels, const char * pixels, std::int64_t y, std::int64_t z,
         std::map<std::int64_t, Region> & regions) const
  {
    for (std::int64_t begin = 0, end = 0; begin < m_Job.size[0]; begin = end)
    {
      while (end < m_Job.size[0] && labels[end] == labels[begin])
      {
        ++end;
      }
      if (labels[begin] != 0)
      {
        Region & region = regions[static_cast<std::int64_t>(labels[begin])];
        VisitPixelType(m_Job.pixelType, [&](auto pixel) {
          region.Add({ { begin, y, z } }, end - begin, reinterpret_cast<const decltype(pixel) *>(pixels) + begin);
        });
      }
    }
  }

  /** 1 for the voxels of a row of a region, of the size of its box, else 0. */
  void
  MakeMaskRow(const Region & region, std::int64_t label, std::int64_t y, std::int64_t z, std::uint8_t * mask) const
  {
    VisitLabelType(m_Job.labelType, [&](auto pixel) {
      const auto * const labels =
        static_cast<const decltype(pixel) *>(m_Job.labelImage) + this->RowOffset(region, y, z);
      const auto wanted = static_cast<decltype(pixel)>(label);
      std::transform(labels, labels + region.Size()[0], mask, [wanted](auto one) { return one == wanted ? 1 : 0; });
    });
  }

  void
  ComputeGroup(std::size_t begin, std::size_t end)
  {
    const auto                                    classes = m_Job.classes.size();
    const auto                                    parts = static_cast<std::int64_t>(classes + 1);
    std::vector<std::vector<std::vector<double>>> values(end - begin, std::vector<std::vector<double>>(classes + 1));
    ForEachTask(static_cast<std::int64_t>(end - begin), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t i) { this->MakeLevels(m_Features[begin + static_cast<std::size_t>(i)]); };
    });
    ForEachTask(parts * static_cast<std::int64_t>(end - begin), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t number) {
        const auto     i = static_cast<std::size_t>(number / parts);
        const auto     part = static_cast<std::size_t>(number % parts);
        const Region & region = m_Regions.at(m_Features[begin + i].label);
        values[i][part] = part == classes
                            ? this->ComputeShape(m_Features[begin + i].label, region)
                            : std::visit([&](const auto & typedJob) { return this->ComputeClass(typedJob, region); },
                                         m_Job.classes[part]);
        m_Job.execution.CheckAbort();
      };
    });
    for (std::size_t i = begin; i < end; ++i)
    {
      m_Regions[m_Features[i].label].levels.reset();
      for (const std::vector<double> & part : values[i - begin])
      {
        m_Features[i].values.insert(m_Features[i].values.end(), part.begin(), part.end());
      }
    }
  }

  /** Discretize a region. */
  void
  MakeLevels(RegionFeatures & features)
  {
    Region & region = m_Regions.at(features.label);
    // A region of NaN has no range.
    if (m_Job.classes.empty() || region.minimum > region.maximum)
    {
      return;
    }
    IntensityRange range = m_ImageRange;
    if (range.IsEmpty())
    {
      range.AddRange(region.minimum, region.maximum, 0);
    }
    const Triple size = region.Size();
    Triple       margin{};
    std::transform(size.begin(), size.end(), m_Reach.begin(), margin.begin(), [](auto length, auto reach) {
      return std::max<std::int64_t>(1, std::min(length - 1, reach));
    });
    try
    {
      GrayLevelDiscretization   discretization(m_Job.discretization, m_Job.pixelType, range, region.voxels);
      auto                      levels = std::make_shared<RegionLevels>(size, margin);
      std::vector<std::uint8_t> mask(static_cast<std::size_t>(size[0]));
      for (std::int64_t z = 0; z < size[2]; ++z)
      {
        for (std::int64_t y = 0; y < size[1]; ++y)
        {
          this->MakeMaskRow(region, features.label, y, z, mask.data());
          const auto * const pixels =
            static_cast<const char *>(m_Job.pixels) + this->RowOffset(region, y, z) * GetPixelSize(m_Job.pixelType);
          discretization.DiscretizeRow(pixels, mask.data(), size[0], levels->Row(y, z));
        }
        m_Job.execution.CheckAbort();
      }
      discretization.VerifyIntensities();
      levels->Count(discretization.GetNumberOfGrayLevels(), m_Job.execution);
      features.numberOfGrayLevels = levels->numberOfVoxels > 0 ? levels->numberOfGrayLevels : 0;
      region.levels = std::move(levels);
    }
    catch (const EngineError & error)
    {
      throw EngineError("Region with the label " + std::to_string(features.label) + ": " + error.what());
    }
    m_Job.execution.ReportProgress(static_cast<std::uint64_t>(region.voxels));
  }

  /** A region, with axis d of the mask along axes[d] of the array. */
  ShapeMask
  MakeShapeMask(const Region & region, std::int64_t label, const std::array<int, 3> & axes) const
  {
    const Triple size = region.Size();
    ShapeMask    mask;
    Triple       steps{};
    std::int64_t step = 1;
    for (int d = 0; d < 3; ++d)
    {
      mask.size[d] = size[axes[d]] + 2;
      mask.spacing[d] = m_Job.spacing[axes[d]];
      steps[axes[d]] = step;
      step *= mask.size[d];
    }
    mask.inside.resize(static_cast<std::size_t>(step));
    std::vector<std::uint8_t> row(static_cast<std::size_t>(size[0]));
    for (std::int64_t z = 0; z < size[2]; ++z)
    {
      for (std::int64_t y = 0; y < size[1]; ++y)
      {
        this->MakeMaskRow(region, label, y, z, row.data());
        std::uint8_t * inside = mask.inside.data() + steps[0] + (y + 1) * steps[1] + (z + 1) * steps[2];
        for (std::int64_t x = 0; x < size[0]; ++x)
        {
          inside[x * steps[0]] = row[static_cast<std::size_t>(x)];
        }
      }
    }
    return mask;
  }

  std::vector<double>
  ComputeShape(std::int64_t label, const Region & region) const
  {
    if (region.voxels == 0)
    {
      return std::vector<double>(m_Job.shapeFeatures.size() + m_Job.planarShapeFeatures.size(), notANumber);
    }
    std::vector<double> values;
    if (!m_Job.shapeFeatures.empty())
    {
      const ShapeMask mask = this->MakeShapeMask(region, label, { { 0, 1, 2 } });
      values = Select(m_Job.shapeFeatures, ComputeShapeValues(mask, m_Job.execution));
    }
    if (!m_Job.planarShapeFeatures.empty())
    {
      // The axis across the plane: that along which voxels are not connected, or z.
      const int across = !m_Job.connectsAxis[0] ? 0 : !m_Job.connectsAxis[1] ? 1 : 2;
      if (region.Size()[across] != 1)
      {
        throw EngineError(
          "The region with the label " + std::to_string(label) + " has " + std::to_string(region.Size()[across]) +
          " planes, but planar shape is that of one: choose a " + "slice, or shape in three dimensions.");
      }
      const ShapeMask mask = this->MakeShapeMask(region, label, { { across == 0, across == 2 ? 1 : 2, across } });
      const auto      planar = Select(m_Job.planarShapeFeatures, ComputePlanarShapeValues(mask, m_Job.execution));
      values.insert(values.end(), planar.begin(), planar.end());
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
      std::vector<Pixel> sorted;
      region.levels->ForEachRow(
        m_Job.execution,
        [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, std::int64_t y, std::int64_t z) {
          const auto * const pixels = static_cast<const Pixel *>(m_Job.pixels) + this->RowOffset(region, y, z);
          for (std::int64_t x = begin; x < end; ++x)
          {
            if (row[x] != 0)
            {
              // Adding 0 makes negative zero positive.
              sorted.push_back(static_cast<Pixel>(pixels[x] + Pixel{ 0 }));
            }
          }
        });
      std::sort(sorted.begin(), sorted.end());
      sums = ComputeFirstOrderSums(sorted, *region.levels, job.voxelArrayShift);
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
  std::map<std::int64_t, Region> m_Regions;
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
