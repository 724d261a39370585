// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/Log2.h"
#include "common/ParallelFor.h"
#include "discretization/GrayLevelJob.h"
#include "firstorder/FirstOrderFormulas.h"
#include "region/RegionFormulas.h"
#include "region/RegionMatrices.h"
#include "region/RegionShape.h"
#include "sizezone/SizeZoneFormulas.h"
#include "texture/OffsetWeights.h"
#include "texture/PairOffsets.h"
#include "voxelmaps/RegionFeaturesJob.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

// --- Labels
// -----------------------------------------------------------------------------------------------------------

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

/** Call visit(label, begin, end) for the runs of a row with the same label other than 0. */
template <typename TLabel, typename TVisit>
void
ForEachRun(const TLabel * row, std::int64_t size, const TVisit & visit)
{
  for (std::int64_t begin = 0; begin < size;)
  {
    const TLabel label = row[begin];
    std::int64_t end = begin + 1;
    for (; end < size && row[end] == label; ++end)
    {
    }
    if (label != 0)
    {
      visit(static_cast<std::int64_t>(label), begin, end);
    }
    begin = end;
  }
}

/** Let all workers compute parts of the rows, with results of their own, and merge these. */
template <typename TResult, typename TCompute, typename TMerge>
void
ReduceRows(std::int64_t rows, std::int64_t rowSize, const JobExecution & execution, const TResult & start,
           const TCompute & compute, const TMerge & merge)
{
  constexpr std::int64_t minVoxels = std::int64_t{ 1 } << 17;
  const std::int64_t     rowsPerTask = std::max<std::int64_t>(1, minVoxels / std::max<std::int64_t>(rowSize, 1));
  std::mutex             mutex;
  std::vector<std::unique_ptr<TResult>> results;
  ForEachTask((rows + rowsPerTask - 1) / rowsPerTask, execution, [&](unsigned int) {
    TResult * result = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      results.push_back(std::make_unique<TResult>(start));
      result = results.back().get();
    }
    return [&, result](std::int64_t task) {
      const std::int64_t last = std::min(rows, (task + 1) * rowsPerTask);
      for (std::int64_t row = task * rowsPerTask; row < last; ++row)
      {
        compute(row, *result);
      }
      execution.ReportProgress(static_cast<std::uint64_t>((last - task * rowsPerTask) * rowSize));
    };
  });
  for (const auto & result : results)
  {
    merge(*result);
  }
}

/** The number of a region by its label; -1 for other labels. */
class RegionIndex
{
public:
  explicit RegionIndex(const std::vector<std::int64_t> & labels)
  {
    for (std::size_t i = 0; i < labels.size(); ++i)
    {
      m_Sorted.emplace_back(labels[i], static_cast<std::int64_t>(i));
    }
    std::sort(m_Sorted.begin(), m_Sorted.end());
    for (std::size_t i = 1; i < m_Sorted.size(); ++i)
    {
      if (m_Sorted[i].first == m_Sorted[i - 1].first)
      {
        throw EngineError("A job has the label " + std::to_string(m_Sorted[i].first) +
                          " twice, but each region must have one of its own.");
      }
    }
  }
  std::int64_t
  Find(std::int64_t label) const
  {
    const auto found = std::lower_bound(m_Sorted.begin(), m_Sorted.end(), std::make_pair(label, std::int64_t{ -1 }));
    return found != m_Sorted.end() && found->first == label ? found->second : -1;
  }

private:
  std::vector<std::pair<std::int64_t, std::int64_t>> m_Sorted;
};

// --- Regions
// ----------------------------------------------------------------------------------------------------------

/** What the first pass finds of a region. */
struct Region
{
  std::int64_t voxels{ 0 };
  std::int64_t infinite{ 0 };
  Triple       first{ { std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max() } };
  Triple       last{ { -1, -1, -1 } };
  double       minimum{ std::numeric_limits<double>::infinity() };
  double       maximum{ -std::numeric_limits<double>::infinity() };

  Triple
  Size() const
  {
    return { { last[0] - first[0] + 1, last[1] - first[1] + 1, last[2] - first[2] + 1 } };
  }
  void
  AddRow(const Triple & begin, std::int64_t end)
  {
    voxels += end - begin[0];
    for (int d = 0; d < 3; ++d)
    {
      first[d] = std::min(first[d], begin[d]);
      last[d] = std::max(last[d], d == 0 ? end - 1 : begin[d]);
    }
  }
  template <typename TPixel>
  void
  AddPixels(const TPixel * pixels, std::int64_t count)
  {
    TPixel least = std::numeric_limits<TPixel>::max();
    TPixel greatest = std::numeric_limits<TPixel>::lowest();
    bool   isFinite = true;
    for (std::int64_t i = 0; i < count; ++i)
    {
      least = pixels[i] < least ? pixels[i] : least;
      greatest = pixels[i] > greatest ? pixels[i] : greatest;
      if constexpr (!std::is_integral<TPixel>::value)
      {
        isFinite = isFinite && !std::isinf(pixels[i]);
      }
    }
    infinite += isFinite ? 0 : 1;
    if (least <= greatest)
    {
      minimum = std::min(minimum, static_cast<double>(least));
      maximum = std::max(maximum, static_cast<double>(greatest));
    }
  }
  void
  Merge(const Region & other)
  {
    voxels += other.voxels;
    infinite += other.infinite;
    for (int d = 0; d < 3; ++d)
    {
      first[d] = std::min(first[d], other.first[d]);
      last[d] = std::max(last[d], other.last[d]);
    }
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
};

// --- First order
// ------------------------------------------------------------------------------------------------------

/** Intensities in ascending order: a histogram of integers of at most 16 bits, or sorted values. */
class SortedIntensities
{
public:
  explicit SortedIntensities(double minimum)
    : m_Minimum(minimum)
  {}

  template <typename TPixel>
  void
  Add(TPixel pixel)
  {
    if constexpr (sizeof(TPixel) <= 2)
    {
      const auto at = static_cast<std::size_t>(static_cast<double>(pixel) - m_Minimum);
      m_Histogram.resize(std::max(m_Histogram.size(), at + 1));
      ++m_Histogram[at];
    }
    else if constexpr (std::is_same<TPixel, float>::value)
    {
      // Adding 0 makes negative zero positive.
      m_Floats.push_back(pixel + 0.0F);
    }
    else
    {
      m_Doubles.push_back(static_cast<double>(pixel) + 0.0);
    }
  }
  void
  Sort()
  {
    std::sort(m_Floats.begin(), m_Floats.end());
    std::sort(m_Doubles.begin(), m_Doubles.end());
  }

  /** Call visit(intensity, number of voxels) in ascending order. */
  template <typename TVisit>
  void
  ForEach(const TVisit & visit) const
  {
    for (std::size_t i = 0; i < m_Histogram.size(); ++i)
    {
      if (m_Histogram[i] != 0)
      {
        visit(m_Minimum + static_cast<double>(i), static_cast<double>(m_Histogram[i]));
      }
    }
    ForEachSorted(m_Floats, visit);
    ForEachSorted(m_Doubles, visit);
  }

  /** The intensity number k in ascending order. */
  double
  At(std::int64_t k) const
  {
    if (!m_Histogram.empty())
    {
      std::size_t  i = 0;
      std::int64_t below = static_cast<std::int64_t>(m_Histogram[0]);
      while (below <= k)
      {
        below += static_cast<std::int64_t>(m_Histogram[++i]);
      }
      return m_Minimum + static_cast<double>(i);
    }
    const auto at = static_cast<std::size_t>(k);
    return m_Floats.empty() ? m_Doubles[at] : static_cast<double>(m_Floats[at]);
  }

private:
  template <typename TValue, typename TVisit>
  static void
  ForEachSorted(const std::vector<TValue> & values, const TVisit & visit)
  {
    for (std::size_t begin = 0; begin < values.size();)
    {
      std::size_t end = begin + 1;
      for (; end < values.size() && values[end] == values[begin]; ++end)
      {
      }
      visit(static_cast<double>(values[begin]), static_cast<double>(end - begin));
      begin = end;
    }
  }

  double                     m_Minimum;
  std::vector<std::uint64_t> m_Histogram;
  std::vector<float>         m_Floats;
  std::vector<double>        m_Doubles;
};

/** The sums of all voxels, in ascending order of the intensities; intensities are differences from the median. */
FirstOrderSums<double>
ComputeFirstOrderSums(const SortedIntensities & intensities, const RegionLevels & levels, double shift)
{
  const std::int64_t voxels = levels.numberOfVoxels;
  const auto         percentile = [&](double part) {
    const double position = static_cast<double>(voxels - 1) * part;
    const auto   below = static_cast<std::int64_t>(position);
    return Interpolate(
      intensities.At(below), intensities.At(std::min(below + 1, voxels - 1)), position - static_cast<double>(below));
  };
  FirstOrderSums<double> sums{};
  sums.voxels = static_cast<double>(voxels);
  sums.minimum = intensities.At(0);
  sums.maximum = intensities.At(voxels - 1);
  sums.median =
    voxels % 2 == 1 ? intensities.At(voxels / 2) : (intensities.At(voxels / 2 - 1) + intensities.At(voxels / 2)) / 2.0;
  sums.percentile10 = percentile(0.1);
  sums.percentile25 = percentile(0.25);
  sums.percentile75 = percentile(0.75);
  sums.percentile90 = percentile(0.9);
  sums.origin = sums.median;

  CompensatedSum differences, energy, robustDifferences, robustVoxels;
  intensities.ForEach([&](double x, double count) {
    const double shifted = x + shift;
    differences += count * (x - sums.origin);
    energy += count * (shifted * shifted);
    if (x >= sums.percentile10 && x <= sums.percentile90)
    {
      robustVoxels += count;
      robustDifferences += count * (x - sums.median);
    }
  });
  sums.differences = differences;
  sums.energy = energy;
  sums.shift = differences / sums.voxels;
  sums.robustVoxels = robustVoxels;
  sums.robustDifferences = robustDifferences;
  sums.robustShift = robustDifferences / robustVoxels;

  CompensatedSum absolutes, squares, cubes, fourths, robustAbsolutes;
  intensities.ForEach([&](double x, double count) {
    const double deviation = (x - sums.origin) - sums.shift;
    const double square = deviation * deviation;
    absolutes += count * std::abs(deviation);
    squares += count * square;
    cubes += count * (square * deviation);
    fourths += count * (square * square);
    if (x >= sums.percentile10 && x <= sums.percentile90)
    {
      robustAbsolutes += count * std::abs((x - sums.median) - sums.robustShift);
    }
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

struct Root
{
  static double
  Of(double value)
  {
    return std::sqrt(value);
  }
};

// --- Classes
// ----------------------------------------------------------------------------------------------------------

template <typename TJob>
constexpr bool hasDirections = std::is_same<TJob, CooccurrenceJob>::value || std::is_same<TJob, RunLengthJob>::value;

/** What a class has computed of a direction of a region: values of the features, or cells that are merged; neither if
 * there are no pairs. */
struct DirectionResult
{
  std::vector<double> values;
  std::vector<Cell>   cells;
};

std::vector<double>
Evaluate(const CooccurrenceJob & job, const std::vector<Cell> & cells, const RegionLevels & levels)
{
  using Feature = CooccurrenceJob::Feature;
  const bool needsCorrelation =
    std::find(job.features.begin(), job.features.end(), Feature::MaximalCorrelationCoefficient) != job.features.end();
  const auto all = ComputeCooccurrenceValues(job.symmetric ? AddTransposed(cells) : cells,
                                             levels.numberOfGrayLevels,
                                             job.symmetric,
                                             needsCorrelation,
                                             levels.hasOneLevel);
  std::vector<double> values;
  for (const Feature feature : job.features)
  {
    values.push_back(all[static_cast<std::size_t>(feature)]);
  }
  return values;
}

template <typename TJob>
std::vector<double>
EvaluateSizes(const TJob & job, const std::vector<Cell> & cells)
{
  const auto          all = ComputeSizeMatrixValues(cells);
  std::vector<double> values;
  for (const auto feature : job.features)
  {
    values.push_back(all[static_cast<std::size_t>(ToSizeMatrixFeature(feature))]);
  }
  return values;
}

std::vector<double>
Evaluate(const RunLengthJob & job, const std::vector<Cell> & cells, const RegionLevels &)
{
  return EvaluateSizes(job, cells);
}

/** The features of all directions of a class: their mean, or those of the merged matrices. */
template <typename TJob>
std::vector<double>
Combine(const TJob & job, const std::vector<DirectionResult> & directions, const RegionLevels & levels)
{
  std::vector<double> values(job.features.size(), notANumber);
  if (job.aggregation == TJob::Aggregation::Merge)
  {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < directions.size(); ++i)
    {
      const double weight = job.offsetWeights.empty() ? 1.0 : job.offsetWeights[i];
      for (const Cell & cell : directions[i].cells)
      {
        if (weight > 0.0)
        {
          cells.push_back({ cell.row, cell.column, weight * cell.value });
        }
      }
    }
    if (!cells.empty())
    {
      values = Evaluate(job, MergeCells(std::move(cells)), levels);
    }
  }
  else
  {
    for (std::size_t f = 0; f < values.size(); ++f)
    {
      CompensatedSum sum;
      double         number = 0.0;
      for (const DirectionResult & direction : directions)
      {
        if (!direction.values.empty())
        {
          sum += direction.values[f];
          ++number;
        }
      }
      values[f] = number == 0.0 ? notANumber : sum / number;
    }
  }
  if constexpr (std::is_same<TJob, CooccurrenceJob>::value)
  {
    for (std::size_t f = 0; f < values.size(); ++f)
    {
      if (levels.hasOneLevel && job.features[f] == TJob::Feature::MaximalCorrelationCoefficient)
      {
        values[f] = 1.0;
      }
    }
  }
  return values;
}

// --- The job
// ----------------------------------------------------------------------------------------------------------

/** Computes regions in groups, so that memory holds the levels of a group, and all workers have parts of one to
 * compute: directions, and other classes. */
class RegionEngine
{
public:
  explicit RegionEngine(const RegionFeaturesJob & job)
    : m_Job(job)
    , m_Index(job.labels)
    , m_Features(GetNumberOfFeatures(job))
    , m_Regions(job.labels.size())
  {}

  std::vector<RegionSummary>
  Compute()
  {
    this->Verify();
    std::fill(m_Job.output, m_Job.output + m_Features * static_cast<std::int64_t>(m_Regions.size()), notANumber);
    this->FindRegions();
    std::vector<RegionSummary> summaries(m_Regions.size());
    constexpr std::int64_t     maxGroupVoxels = std::int64_t{ 1 } << 22;
    std::vector<Active>        group;
    std::int64_t               groupVoxels = 0;
    for (std::size_t r = 0; r < m_Regions.size(); ++r)
    {
      const Region & region = m_Regions[r];
      summaries[r].label = m_Job.labels[r];
      summaries[r].numberOfVoxels = region.voxels;
      if (region.voxels == 0)
      {
        continue;
      }
      summaries[r].first = region.first;
      summaries[r].last = region.last;
      summaries[r].minimum = region.minimum;
      summaries[r].maximum = region.maximum;
      const Triple       size = region.Size();
      const std::int64_t voxels = size[0] * size[1] * size[2];
      if (!group.empty() && groupVoxels + voxels > maxGroupVoxels)
      {
        this->ComputeGroup(group, summaries);
        group.clear();
        groupVoxels = 0;
      }
      group.emplace_back();
      group.back().number = r;
      groupVoxels += voxels;
    }
    this->ComputeGroup(group, summaries);
    return summaries;
  }

private:
  /** A region of the group. */
  struct Active
  {
    std::size_t                               number;
    std::unique_ptr<RegionLevels>             levels;
    std::unique_ptr<GrayLevelDiscretization>  discretization;
    std::vector<std::vector<DirectionResult>> directions;
  };

  /** A part of a region: a class, or a direction of one; or shape. */
  struct Part
  {
    Active *    active;
    std::size_t classNumber;
    std::size_t direction;
    double *    output;
  };

  void
  Verify() const
  {
    VerifyEnumerator("The pixel type", m_Job.pixelType, PixelType::Double);
    if (m_Job.labelType > PixelType::UInt64)
    {
      throw EngineError("The label image is of a real type, but labels must be integers.");
    }
    const std::int64_t voxels = m_Job.size[0] * m_Job.size[1] * m_Job.size[2];
    if (*std::min_element(m_Job.size.begin(), m_Job.size.end()) < 0)
    {
      throw EngineError("A job has a negative size.");
    }
    if (voxels > 0 && (m_Job.pixels == nullptr || m_Job.labelImage == nullptr))
    {
      throw EngineError("A job has " + std::to_string(voxels) + " voxels, but no pixels or no label image.");
    }
    if (m_Features == 0)
    {
      throw EngineError("A job has no features, but must have at least one.");
    }
    if (m_Job.output == nullptr && !m_Job.labels.empty())
    {
      throw EngineError("A job has regions, but its output is null.");
    }
    for (const std::int64_t label : m_Job.labels)
    {
      if (label == 0)
      {
        throw EngineError("A job has the label 0, but 0 is the background.");
      }
    }
    for (const double size : m_Job.spacing)
    {
      if (!(size > 0.0) || !std::isfinite(size))
      {
        throw EngineError("A job has the spacing " + std::to_string(size) + ", but it must be positive and finite.");
      }
    }
    m_Job.discretization.Verify();
    for (const TextureClassJob & classJob : m_Job.classes)
    {
      std::visit([](const auto & typedJob) { VerifyClass(typedJob); }, classJob);
    }
  }

  template <typename TJob>
  static void
  VerifyClass(const TJob & job)
  {
    if constexpr (hasDirections<TJob>)
    {
      if (job.aggregation == TJob::Aggregation::PerDirection)
      {
        throw EngineError("Features of regions have no aggregation PerDirection: choose Average or Merge.");
      }
      if (!job.offsetWeights.empty())
      {
        VerifyOffsetWeights(job.offsetWeights,
                            job.offsets.size(),
                            job.aggregation == TJob::Aggregation::Merge,
                            0,
                            job.numberOfGrayLevels);
      }
    }
    if constexpr (hasDirections<TJob> || std::is_same<TJob, DependenceJob>::value ||
                  std::is_same<TJob, GrayToneDifferenceJob>::value)
    {
      MakePairOffsets(job.offsets);
    }
    if constexpr (std::is_same<TJob, RunLengthJob>::value)
    {
      for (const Triple & offset : job.offsets)
      {
        if (*std::max_element(offset.begin(), offset.end()) > 1 || *std::min_element(offset.begin(), offset.end()) < -1)
        {
          throw EngineError("Offsets of runs must have components -1, 0 or 1.");
        }
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
  }

  /** Where a row of the array begins, in voxels. */
  std::int64_t
  RowOffset(std::int64_t y, std::int64_t z) const
  {
    return (z * m_Job.size[1] + y) * m_Job.size[0];
  }

  void
  FindRegions()
  {
    using Parameters = GrayLevelDiscretizationParameters;
    const bool needsImageRange =
      !m_Job.classes.empty() && m_Job.discretization.rangeSource == Parameters::RangeSourceEnum::Image;
    const auto start = std::make_pair(m_Regions, IntensityRange());
    ReduceRows(
      m_Job.size[1] * m_Job.size[2],
      m_Job.size[0],
      m_Job.execution,
      start,
      [&](std::int64_t row, auto & found) {
        const std::int64_t offset = row * m_Job.size[0];
        VisitPixelType(m_Job.pixelType, [&](auto pixel) {
          const auto * const pixels = static_cast<const decltype(pixel) *>(m_Job.pixels) + offset;
          if (needsImageRange)
          {
            found.second.AddRow(m_Job.pixelType, pixels, nullptr, m_Job.size[0]);
          }
          VisitLabelType(m_Job.labelType, [&](auto label) {
            const auto * const labels = static_cast<const decltype(label) *>(m_Job.labelImage) + offset;
            std::int64_t       last = 0;
            std::int64_t       number = -1;
            ForEachRun(labels, m_Job.size[0], [&](std::int64_t value, std::int64_t begin, std::int64_t end) {
              number = value == last ? number : m_Index.Find(value);
              last = value;
              if (number >= 0)
              {
                Region & region = found.first[static_cast<std::size_t>(number)];
                region.AddRow({ { begin, row % m_Job.size[1], row / m_Job.size[1] } }, end);
                region.AddPixels(pixels + begin, end - begin);
              }
            });
          });
        });
      },
      [&](const auto & found) {
        for (std::size_t r = 0; r < m_Regions.size(); ++r)
        {
          m_Regions[r].Merge(found.first[r]);
        }
        m_ImageRange.Merge(found.second);
      });
    for (std::size_t r = 0; r < m_Regions.size(); ++r)
    {
      if (m_Regions[r].infinite != 0 && !m_Job.classes.empty())
      {
        throw EngineError("The region with the label " + std::to_string(m_Job.labels[r]) +
                          " has infinite intensities, which have no features: leave these voxels out of the region.");
      }
    }
  }

  /** 1 for the voxels of a row of a region, of the size of its box, else 0. */
  void
  MakeMaskRow(const Active & active, std::int64_t y, std::int64_t z, std::uint8_t * mask) const
  {
    const Region &     region = m_Regions[active.number];
    const std::int64_t label = m_Job.labels[active.number];
    const std::int64_t offset = this->RowOffset(region.first[1] + y, region.first[2] + z) + region.first[0];
    VisitLabelType(m_Job.labelType, [&](auto pixel) {
      const auto * const labels = static_cast<const decltype(pixel) *>(m_Job.labelImage) + offset;
      const auto         wanted = static_cast<decltype(pixel)>(label);
      for (std::int64_t x = 0; x < region.Size()[0]; ++x)
      {
        mask[x] = labels[x] == wanted ? 1 : 0;
      }
    });
  }

  /** The offsets that fit into the box of a region. */
  static std::vector<Triple>
  FittingOffsets(const std::vector<Triple> & offsets, const Triple & size)
  {
    std::vector<Triple> fitting;
    for (const Triple & offset : offsets)
    {
      if (Fits(offset, size))
      {
        fitting.push_back(offset);
      }
    }
    return fitting;
  }
  static bool
  Fits(const Triple & offset, const Triple & size)
  {
    return std::abs(offset[0]) < size[0] && std::abs(offset[1]) < size[1] && std::abs(offset[2]) < size[2];
  }

  Triple
  MakeMargin(const Triple & size) const
  {
    Triple margin{ { 1, 1, 1 } };
    for (const TextureClassJob & classJob : m_Job.classes)
    {
      std::visit(
        [&](const auto & typedJob) {
          using Job = std::decay_t<decltype(typedJob)>;
          if constexpr (!std::is_same<Job, FirstOrderJob>::value && !std::is_same<Job, SizeZoneJob>::value)
          {
            for (const Triple & offset : FittingOffsets(typedJob.offsets, size))
            {
              for (int d = 0; d < 3; ++d)
              {
                margin[d] = std::max(margin[d], std::abs(offset[d]));
              }
            }
          }
        },
        classJob);
    }
    return margin;
  }

  void
  ComputeGroup(std::vector<Active> & group, std::vector<RegionSummary> & summaries)
  {
    if (!m_Job.classes.empty())
    {
      this->MakeLevels(group);
    }
    std::vector<Part> parts;
    for (Active & active : group)
    {
      double * output = m_Job.output + static_cast<std::int64_t>(active.number) * m_Features;
      active.directions.resize(m_Job.classes.size());
      const bool hasLevels = active.levels != nullptr && active.levels->numberOfVoxels > 0;
      for (std::size_t c = 0; c < m_Job.classes.size(); ++c)
      {
        std::visit(
          [&](const auto & typedJob) {
            std::size_t directions = 1;
            if constexpr (hasDirections<std::decay_t<decltype(typedJob)>>)
            {
              directions = typedJob.offsets.size();
              active.directions[c].resize(directions);
            }
            for (std::size_t d = 0; hasLevels && d < directions; ++d)
            {
              parts.push_back({ &active, c, d, output });
            }
            output += typedJob.features.size();
          },
          m_Job.classes[c]);
      }
      if (!m_Job.shapeFeatures.empty() || !m_Job.planarShapeFeatures.empty())
      {
        parts.push_back({ &active, m_Job.classes.size(), 0, output });
      }
    }
    ForEachTask(static_cast<std::int64_t>(parts.size()), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t number) {
        const Part & part = parts[static_cast<std::size_t>(number)];
        if (part.classNumber == m_Job.classes.size())
        {
          this->ComputeShape(part);
        }
        else
        {
          std::visit([&](const auto & typedJob) { this->ComputePart(typedJob, part); },
                     m_Job.classes[part.classNumber]);
        }
        m_Job.execution.CheckAbort();
      };
    });
    for (const Part & part : parts)
    {
      if (part.direction == 0 && part.classNumber < m_Job.classes.size())
      {
        std::visit(
          [&](const auto & typedJob) {
            if constexpr (hasDirections<std::decay_t<decltype(typedJob)>>)
            {
              const auto values = Combine(typedJob, part.active->directions[part.classNumber], *part.active->levels);
              std::copy(values.begin(), values.end(), part.output);
            }
          },
          m_Job.classes[part.classNumber]);
      }
    }
    for (const Active & active : group)
    {
      if (active.levels != nullptr)
      {
        summaries[active.number].numberOfPresentVoxels = active.levels->numberOfVoxels;
        summaries[active.number].numberOfGrayLevels = active.levels->numberOfGrayLevels;
      }
      m_Job.execution.ReportProgress(static_cast<std::uint64_t>(m_Regions[active.number].voxels));
    }
  }

  /** Discretize the regions, by planes. */
  void
  MakeLevels(std::vector<Active> & group)
  {
    using RangeSource = GrayLevelDiscretizationParameters::RangeSourceEnum;
    std::vector<std::pair<Active *, std::int64_t>> planes;
    for (Active & active : group)
    {
      const Region & region = m_Regions[active.number];
      const Triple   size = region.Size();
      if (region.minimum > region.maximum)
      {
        continue; // all NaN
      }
      IntensityRange range = m_ImageRange;
      if (m_Job.discretization.rangeSource != RangeSource::Image)
      {
        range = IntensityRange();
        range.AddRange(region.minimum, region.maximum, 0);
      }
      try
      {
        active.discretization =
          std::make_unique<GrayLevelDiscretization>(m_Job.discretization, m_Job.pixelType, range, region.voxels);
      }
      catch (const EngineError & error)
      {
        throw EngineError("Region with the label " + std::to_string(m_Job.labels[active.number]) + ": " + error.what());
      }
      active.levels = std::make_unique<RegionLevels>(size, this->MakeMargin(size));
      for (std::int64_t z = 0; z < size[2]; ++z)
      {
        planes.emplace_back(&active, z);
      }
    }
    const std::int64_t pixelSize = GetPixelSize(m_Job.pixelType);
    ForEachTask(static_cast<std::int64_t>(planes.size()), m_Job.execution, [&](unsigned int) {
      return [&, mask = std::vector<std::uint8_t>()](std::int64_t number) mutable {
        Active &           active = *planes[static_cast<std::size_t>(number)].first;
        const std::int64_t z = planes[static_cast<std::size_t>(number)].second;
        const Region &     region = m_Regions[active.number];
        const Triple       size = region.Size();
        mask.resize(static_cast<std::size_t>(size[0]));
        for (std::int64_t y = 0; y < size[1]; ++y)
        {
          this->MakeMaskRow(active, y, z, mask.data());
          const std::int64_t offset = this->RowOffset(region.first[1] + y, region.first[2] + z) + region.first[0];
          active.discretization->DiscretizeRow(static_cast<const char *>(m_Job.pixels) + offset * pixelSize,
                                               mask.data(),
                                               size[0],
                                               active.levels->Row(y, z));
        }
        m_Job.execution.CheckAbort();
      };
    });
    ForEachTask(static_cast<std::int64_t>(group.size()), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t number) {
        const Active & active = group[static_cast<std::size_t>(number)];
        if (active.levels != nullptr)
        {
          active.discretization->VerifyIntensities();
          active.levels->Count(active.discretization->GetNumberOfGrayLevels(), m_Job.execution);
        }
      };
    });
  }

  void
  ComputeShape(const Part & part) const
  {
    const Region & region = m_Regions[part.active->number];
    const Triple   size = region.Size();
    double *       output = part.output;
    if (!m_Job.shapeFeatures.empty())
    {
      const auto values = ComputeShapeValues(this->MakeShapeMask(*part.active, { { 0, 1, 2 } }), m_Job.execution);
      for (const auto feature : m_Job.shapeFeatures)
      {
        *output++ = values[static_cast<std::size_t>(feature)];
      }
    }
    if (!m_Job.planarShapeFeatures.empty())
    {
      // The axis across the plane: that along which voxels are not connected, or z.
      const auto         found = std::find(m_Job.connectsAxis.begin(), m_Job.connectsAxis.end(), false);
      const std::int64_t across = found == m_Job.connectsAxis.end() ? 2 : found - m_Job.connectsAxis.begin();
      if (size[across] != 1)
      {
        throw EngineError("The region with the label " + std::to_string(m_Job.labels[part.active->number]) + " has " +
                          std::to_string(size[across]) + " planes, but planar shape is that of one: choose a slice, " +
                          "or shape in three dimensions.");
      }
      const Triple axes{ { across == 0 ? 1 : 0, across == 2 ? 1 : 2, across } };
      const auto   values = ComputePlanarShapeValues(this->MakeShapeMask(*part.active, axes), m_Job.execution);
      for (const auto feature : m_Job.planarShapeFeatures)
      {
        *output++ = values[static_cast<std::size_t>(feature)];
      }
    }
  }

  /** Axis d of the mask is axes[d] of the array. */
  ShapeMask
  MakeShapeMask(const Active & active, const Triple & axes) const
  {
    const Triple size = m_Regions[active.number].Size();
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
        this->MakeMaskRow(active, y, z, row.data());
        for (std::int64_t x = 0; x < size[0]; ++x)
        {
          mask.inside[static_cast<std::size_t>((x + 1) * steps[0] + (y + 1) * steps[1] + (z + 1) * steps[2])] =
            row[static_cast<std::size_t>(x)];
        }
      }
    }
    return mask;
  }

  template <typename TJob>
  void
  ComputePart(const TJob & job, const Part & part) const
  {
    const RegionLevels & levels = *part.active->levels;
    if constexpr (hasDirections<TJob>)
    {
      const Triple & offset = job.offsets[part.direction];
      if (!Fits(offset, levels.size))
      {
        return;
      }
      DirectionResult &       result = part.active->directions[part.classNumber][part.direction];
      const std::vector<Cell> cells = this->Count(job, levels, offset);
      if (job.aggregation == TJob::Aggregation::Merge)
      {
        result.cells = cells;
      }
      else if (!cells.empty())
      {
        result.values = Evaluate(job, cells, levels);
      }
    }
    else
    {
      const std::vector<double> values = this->ComputeValues(job, *part.active);
      std::copy(values.begin(), values.end(), part.output);
    }
  }
  std::vector<Cell>
  Count(const CooccurrenceJob &, const RegionLevels & levels, const Triple & offset) const
  {
    return CountPairs(levels, offset, m_Job.execution);
  }
  std::vector<Cell>
  Count(const RunLengthJob & job, const RegionLevels & levels, const Triple & offset) const
  {
    return CountRuns(levels, offset, job.skipDirectionsWithoutPairs, m_Job.execution);
  }
  std::vector<double>
  ComputeValues(const DependenceJob & job, const Active & active) const
  {
    const RegionLevels & levels = *active.levels;
    return EvaluateSizes(
      job, CountDependences(levels, FittingOffsets(job.offsets, levels.size), job.alpha, m_Job.execution));
  }
  std::vector<double>
  ComputeValues(const SizeZoneJob & job, const Active & active) const
  {
    return EvaluateSizes(job, CountZones(*active.levels, m_Job.connectsAxis, m_Job.execution));
  }
  std::vector<double>
  ComputeValues(const GrayToneDifferenceJob & job, const Active & active) const
  {
    const auto levels =
      CountToneDifferences(*active.levels, FittingOffsets(job.offsets, active.levels->size), m_Job.execution);
    std::vector<double> values;
    for (const auto feature : job.features)
    {
      values.push_back(ComputeGrayToneDifferenceValue(feature, levels));
      m_Job.execution.CheckAbort();
    }
    return values;
  }
  std::vector<double>
  ComputeValues(const FirstOrderJob & job, const Active & active) const
  {
    const Region &       region = m_Regions[active.number];
    const RegionLevels & levels = *active.levels;
    SortedIntensities    intensities(region.minimum);
    VisitPixelType(m_Job.pixelType, [&](auto pixel) {
      levels.ForEachRow(
        m_Job.execution,
        [&](const std::uint16_t * row, std::int64_t begin, std::int64_t end, std::int64_t y, std::int64_t z) {
          const auto * const pixels = static_cast<const decltype(pixel) *>(m_Job.pixels) +
                                      this->RowOffset(region.first[1] + y, region.first[2] + z) + region.first[0];
          for (std::int64_t x = begin; x < end; ++x)
          {
            if (row[x] != 0)
            {
              intensities.Add(pixels[x]);
            }
          }
        });
    });
    intensities.Sort();
    const FirstOrderSums<double> sums = ComputeFirstOrderSums(intensities, levels, job.voxelArrayShift);
    const double                 volume = m_Job.spacing[0] * m_Job.spacing[1] * m_Job.spacing[2];
    std::vector<double>          values;
    for (const auto feature : job.features)
    {
      values.push_back(FirstOrderFeatureValue<double, Root>(feature, sums, volume, 1.0));
    }
    return values;
  }

  const RegionFeaturesJob & m_Job;
  RegionIndex               m_Index;
  std::int64_t              m_Features;
  std::vector<Region>       m_Regions;
  IntensityRange            m_ImageRange;
};
} // namespace

std::int64_t
GetNumberOfFeatures(const RegionFeaturesJob & job)
{
  std::size_t number = job.shapeFeatures.size() + job.planarShapeFeatures.size();
  for (const TextureClassJob & classJob : job.classes)
  {
    number += std::visit([](const auto & typedJob) { return typedJob.features.size(); }, classJob);
  }
  return static_cast<std::int64_t>(number);
}

std::vector<std::int64_t>
FindLabels(const void * labelImage, PixelType labelType, std::int64_t numberOfVoxels, const JobExecution & execution)
{
  if (labelType > PixelType::UInt64)
  {
    throw EngineError("The label image is of a real type, but labels must be integers.");
  }
  constexpr std::int64_t rowSize = std::int64_t{ 1 } << 16;
  using Labels = std::set<std::int64_t>;
  Labels all;
  ReduceRows((numberOfVoxels + rowSize - 1) / rowSize,
             rowSize,
             execution,
             Labels(),
             [&](std::int64_t row, Labels & found) {
               VisitLabelType(labelType, [&](auto label) {
                 const auto * const labels = static_cast<const decltype(label) *>(labelImage) + row * rowSize;
                 std::int64_t       last = 0;
                 ForEachRun(labels,
                            std::min(rowSize, numberOfVoxels - row * rowSize),
                            [&](std::int64_t value, std::int64_t, std::int64_t) {
                              if (value != last)
                              {
                                found.insert(value);
                              }
                              last = value;
                            });
               });
             },
             [&all](const Labels & found) { all.insert(found.begin(), found.end()); });
  return { all.begin(), all.end() };
}

std::vector<RegionSummary>
ComputeRegionFeatures(const RegionFeaturesJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  return RegionEngine(job).Compute();
}
} // namespace voxelmaps
