// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/RegionEngine.h"

#include "common/Log2.h"
#include "common/ParallelFor.h"
#include "discretization/GrayLevelJob.h"
#include "firstorder/FirstOrderFormulas.h"
#include "gldm/Dependence.h"
#include "glszm/SizeZone.h"
#include "window/OffsetWeights.h"
#include "window/PairOffsets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace voxelmaps
{
namespace
{
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/** Call compute; errors name the region. */
template <typename TCompute>
auto
WithLabel(const Region & region, const TCompute & compute)
{
  try
  {
    return compute();
  }
  catch (const EngineError & error)
  {
    throw EngineError("Region with the label " + std::to_string(region.features.label) + ": " + error.what());
  }
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
ComputeFirstOrderSums(const TPixel * sorted, const LevelCounts & levels, double shift)
{
  const auto size = static_cast<std::size_t>(levels.numberOfVoxels);
  const auto at = [sorted, size](std::size_t k) { return static_cast<double>(sorted[std::min(k, size - 1)]); };
  const auto percentile = [&](double part) {
    const double position = static_cast<double>(size - 1) * part;
    const auto   below = static_cast<std::size_t>(position);
    return Interpolate(at(below), at(below + 1), position - static_cast<double>(below));
  };
  const auto forEach = [&](const auto & visit) {
    for (std::size_t begin = 0, end = 0; begin < size; begin = end)
    {
      while (end < size && sorted[end] == sorted[begin])
      {
        ++end;
      }
      visit(at(begin), static_cast<double>(end - begin));
    }
  };
  FirstOrderSums<double> sums{};
  sums.voxels = static_cast<double>(size);
  sums.minimum = at(0);
  sums.maximum = at(size - 1);
  sums.percentile10 = percentile(0.1);
  sums.percentile25 = percentile(0.25);
  sums.median = (at((size - 1) / 2) + at(size / 2)) / 2.0;
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

/** The mean of the features of the offsets with cells, or the features of the sum of their matrices. */
template <typename TJob>
std::vector<double>
ComputeDirections(const TJob & job, std::size_t classNumber, const Region & region)
{
  const LevelCounts & levels = region.levels;
  // Index of the maximal correlation, which is 1 even without pairs if there is one level; else -1.
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
    const std::vector<Cell> cells = region.counter->CountCells(classNumber, i);
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
} // namespace

// --- The job

RegionEngine::RegionEngine(const RegionFeaturesJob & job)
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
RegionEngine::Compute()
{
  this->FindRegions();
  this->ComputeGroups(0, m_Features.size());
  return std::move(m_Features);
}

bool
RegionEngine::NeedsImageRange() const
{
  return m_Job.discretization.rangeSource == GrayLevelDiscretizationEnums::RangeSource::Image;
}

void
RegionEngine::FindRegions()
{
  this->FindExtents(m_Extents, m_ImageRange);
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

void
RegionEngine::ComputeGroup(std::size_t first, std::size_t last)
{
  std::vector<Region> regions;
  for (std::size_t i = first; i < last; ++i)
  {
    regions.push_back({ m_Features[i], m_Extents.at(m_Features[i].label) });
  }
  this->CountGroup(regions);
  const auto parts = static_cast<std::int64_t>(m_Job.classes.size() + 1);
  for (Region & region : regions)
  {
    region.values.resize(static_cast<std::size_t>(parts));
    region.features.numberOfGrayLevels = region.levels.numberOfVoxels > 0 ? region.levels.numberOfGrayLevels : 0;
  }
  ForEachTask(parts * static_cast<std::int64_t>(regions.size()), m_Job.execution, [&](unsigned int) {
    return [&](std::int64_t number) {
      Region &   region = regions[static_cast<std::size_t>(number / parts)];
      const auto part = static_cast<std::size_t>(number % parts);
      region.values[part] = part < m_Job.classes.size() ? this->ComputeClass(part, region) : this->ComputeShape(region);
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

std::unique_ptr<GrayLevelDiscretization>
RegionEngine::MakeDiscretization(const Region & region) const
{
  // A region of NaN has no range.
  if (m_Job.classes.empty() || region.extent.minimum > region.extent.maximum)
  {
    return nullptr;
  }
  IntensityRange range = m_ImageRange;
  if (range.IsEmpty())
  {
    range.AddRange(region.extent.minimum, region.extent.maximum, 0);
  }
  return WithLabel(
    region, [&] { return std::make_unique<GrayLevelDiscretization>(m_Job.discretization, m_Job.pixelType, range); });
}

void
RegionEngine::VerifyIntensities(const GrayLevelDiscretization & discretization, const Region & region)
{
  WithLabel(region, [&] { discretization.VerifyIntensities(); });
}

std::vector<double>
RegionEngine::ComputeShape(const Region & region) const
{
  if (region.extent.voxels == 0)
  {
    return std::vector<double>(m_Job.shapeFeatures.size() + m_Job.planarShapeFeatures.size(), notANumber);
  }
  std::vector<double> values;
  if (!this->NeedsShape())
  {
    return values;
  }
  const ShapeCounts counts = region.counter->CountShape();
  if (!m_Job.shapeFeatures.empty())
  {
    values = Select(m_Job.shapeFeatures, ComputeShapeValues(counts, m_Job.spacing));
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
    const auto planar = ComputePlanarShapeValues(counts, m_Job.spacing, across);
    const auto selected = Select(m_Job.planarShapeFeatures, planar);
    values.insert(values.end(), selected.begin(), selected.end());
  }
  return values;
}

std::vector<double>
RegionEngine::ComputeClass(std::size_t classNumber, const Region & region) const
{
  return std::visit(
    [&](const auto & job) {
      using Job = std::decay_t<decltype(job)>;
      if (region.levels.numberOfVoxels == 0)
      {
        return std::vector<double>(job.features.size(), notANumber);
      }
      if constexpr (hasDirections<Job>)
      {
        return ComputeDirections(job, classNumber, region);
      }
      else if constexpr (std::is_same<Job, FirstOrderJob>::value)
      {
        return this->ComputeFirstOrder(job, region);
      }
      else if constexpr (std::is_same<Job, GrayToneDifferenceJob>::value)
      {
        const auto cells = region.counter->CountCells(classNumber, 0);
        return Select(job.features, ComputeGrayToneDifferenceValues(MakeToneDifferences(region.levels, cells)));
      }
      else
      {
        return Select(job.features, ComputeSizeMatrixValues(region.counter->CountCells(classNumber, 0)));
      }
    },
    m_Job.classes[classNumber]);
}

std::vector<double>
RegionEngine::ComputeFirstOrder(const FirstOrderJob & job, const Region & region) const
{
  FirstOrderSums<double> sums{};
  std::vector<char>      buffer;
  const void * const     sorted = region.counter->SortIntensities(buffer);
  VisitPixelType(m_Job.pixelType, [&](auto pixel) {
    sums = ComputeFirstOrderSums(static_cast<const decltype(pixel) *>(sorted), region.levels, job.voxelArrayShift);
  });
  const double        volume = m_Job.spacing[0] * m_Job.spacing[1] * m_Job.spacing[2];
  std::vector<double> values;
  for (const auto feature : job.features)
  {
    values.push_back(FirstOrderFeatureValue<double, Root>(feature, sums, volume, 1.0));
  }
  return values;
}
} // namespace voxelmaps
