// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/FuzzyConnectednessVectorAffinity.h"

#include "common/ParallelFor.h"
#include "connectedness/InputImage.h"
#include "connectedness/VectorKeys.h"
#include "connectedness/VerifyJob.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

namespace voxelmaps
{
namespace
{
/** Asks about an abort once in many steps of a loop. */
class AbortChecker
{
public:
  explicit AbortChecker(const JobExecution & execution)
    : m_Execution(execution)
  {}
  void
  Step()
  {
    if (++m_Steps % 65536 == 0)
    {
      m_Execution.CheckAbort();
    }
  }

private:
  const JobExecution & m_Execution;
  std::uint64_t        m_Steps{ 0 };
};

/** Mean and variance of values that forEach(f) passes to f, each in one pass in their order. */
struct Moments
{
  double mean{ 0.0 };
  double variance{ 0.0 };

  template <typename TForEach>
  Moments(std::int64_t count, const TForEach & forEach)
  {
    if (count == 0)
    {
      return;
    }
    double sum = 0.0;
    forEach([&sum](double value) { sum += value; });
    mean = sum / static_cast<double>(count);
    double squares = 0.0;
    forEach([&squares, this](double value) { squares += (value - mean) * (value - mean); });
    variance = squares / static_cast<double>(count);
  }
};

/** The size of an image without its axes of one voxel, which come last instead. The voxels keep their numbers. */
Triple
WithoutFlatAxes(const Triple & size)
{
  Triple result{ { 1, 1, 1 } };
  std::copy_if(size.begin(), size.end(), result.begin(), [](std::int64_t voxels) { return voxels != 1; });
  return result;
}

/** Voxels begin ... end - 1 of one row of the image. */
struct Interval
{
  std::int64_t begin;
  std::int64_t end;
};

/** The voxels in any of the boxes around the seeds: intervals in ascending order that do not overlap. Boxes grow axis
 * by axis, so that those that overlap are united early, and to twice their extent in each step. */
class Boxes
{
public:
  Boxes(const Triple & size, std::vector<std::int64_t> seeds, unsigned int radius, AbortChecker & abort)
    : m_Size(size)
    , m_Abort(abort)
  {
    const auto radiusAlong = [&](int axis) { return std::min(std::int64_t{ radius }, m_Size[axis] - 1); };
    std::sort(seeds.begin(), seeds.end());
    for (const std::int64_t seed : seeds)
    {
      const std::int64_t row = seed - seed % m_Size[0];
      this->Append(intervals,
                   { std::max(seed - radiusAlong(0), row), std::min(seed + radiusAlong(0) + 1, row + m_Size[0]) });
    }
    for (int axis = 1; axis < 3; ++axis)
    {
      if (radiusAlong(axis) > 0)
      {
        intervals = this->Unite(this->Grow(intervals, axis, 1, radiusAlong(axis)),
                                this->Grow(intervals, axis, -1, radiusAlong(axis)),
                                axis,
                                0);
      }
    }
  }

  using Intervals = std::vector<Interval>;
  Intervals intervals;

private:
  /** Add an interval that begins at or after the last one. */
  void
  Append(Intervals & to, const Interval & interval) const
  {
    if (!to.empty() && (interval.begin < to.back().end ||
                        // In the same row.
                        (interval.begin == to.back().end && interval.begin % m_Size[0] != 0)))
    {
      to.back().end = std::max(to.back().end, interval.end);
    }
    else
    {
      to.push_back(interval);
    }
    m_Abort.Step();
  }

  /** The union of intervals shifted by 0 ... radius along an axis, in direction 1 or -1. */
  Intervals
  Grow(Intervals grown, int axis, std::int64_t direction, std::int64_t radius) const
  {
    for (std::int64_t reached = 0; reached < radius;)
    {
      const std::int64_t step = std::min(reached + 1, radius - reached);
      grown = this->Unite(grown, grown, axis, direction * step);
      reached += step;
    }
    return grown;
  }

  /** The union of a with b shifted along an axis, clipped to the image. */
  Intervals
  Unite(const Intervals & a, const Intervals & b, int axis, std::int64_t shift) const
  {
    const std::int64_t stride = axis == 1 ? m_Size[0] : m_Size[0] * m_Size[1];
    auto               nextA = a.begin();
    auto               nextB = b.begin();
    Intervals          result;
    result.reserve(std::max(a.size(), b.size()));
    // Of b, only what stays in the image.
    const auto skip = [&] {
      for (; nextB != b.end(); ++nextB)
      {
        const std::int64_t at = nextB->begin / stride % m_Size[axis] + shift;
        if (at >= 0 && at < m_Size[axis])
        {
          return;
        }
      }
    };
    for (skip(); nextA != a.end() || nextB != b.end();)
    {
      if (nextB == b.end() || (nextA != a.end() && nextA->begin < nextB->begin + shift * stride))
      {
        this->Append(result, *nextA++);
      }
      else
      {
        this->Append(result, { nextB->begin + shift * stride, nextB->end + shift * stride });
        ++nextB;
        skip();
      }
    }
    return result;
  }

  const Triple   m_Size;
  AbortChecker & m_Abort;
};

/** Answers whether intervals contain voxels, which must be asked about in ascending order. */
class Membership
{
public:
  explicit Membership(const std::vector<Interval> & intervals)
    : m_Next(intervals.begin())
    , m_End(intervals.end())
  {}
  bool
  Contains(std::int64_t voxel)
  {
    while (m_Next != m_End && m_Next->end <= voxel)
    {
      ++m_Next;
    }
    return m_Next != m_End && m_Next->begin <= voxel;
  }

private:
  std::vector<Interval>::const_iterator       m_Next;
  const std::vector<Interval>::const_iterator m_End;
};

/** Voxels and pairs of face neighbors in boxes, where isFinite(voxel). */
template <typename TIsFinite>
class Neighborhoods
{
public:
  Neighborhoods(const TIsFinite & isFinite, const std::uint8_t * mask, const Triple & size,
                const std::vector<Interval> & intervals, AbortChecker & abort)
    : m_IsFinite(isFinite)
    , m_Mask(mask)
    , m_Size(size)
    , m_Intervals(intervals)
    , m_Abort(abort)
  {}

  /** Call f(voxel) for all voxels in ascending order. */
  template <typename TFunction>
  void
  ForEachVoxel(const TFunction & f) const
  {
    for (const Interval & interval : m_Intervals)
    {
      for (std::int64_t voxel = interval.begin; voxel < interval.end; ++voxel)
      {
        m_Abort.Step();
        if (this->IsUsed(voxel))
        {
          f(voxel);
        }
      }
    }
  }

  /** Call f(voxel, neighbor) for all pairs, in ascending order of the voxel, then of the neighbor. */
  template <typename TFunction>
  void
  ForEachPair(const TFunction & f) const
  {
    const std::int64_t strides[3] = { 1, m_Size[0], m_Size[0] * m_Size[1] };
    Membership         neighbors[3] = { Membership(m_Intervals), Membership(m_Intervals), Membership(m_Intervals) };
    for (const Interval & interval : m_Intervals)
    {
      const std::int64_t row = interval.begin / m_Size[0];
      // The neighbors of voxels before these are in the image.
      const std::int64_t ends[3] = { (row + 1) * m_Size[0] - 1,
                                     row % m_Size[1] + 1 < m_Size[1] ? interval.end : interval.begin,
                                     row / m_Size[1] + 1 < m_Size[2] ? interval.end : interval.begin };
      for (std::int64_t voxel = interval.begin; voxel < interval.end; ++voxel)
      {
        m_Abort.Step();
        if (!this->IsUsed(voxel))
        {
          continue;
        }
        for (int d = 0; d < 3; ++d)
        {
          const std::int64_t neighbor = voxel + strides[d];
          if (voxel < ends[d] && neighbors[d].Contains(neighbor) && this->IsUsed(neighbor))
          {
            f(voxel, neighbor);
          }
        }
      }
    }
  }

private:
  bool
  IsUsed(std::int64_t voxel) const
  {
    return (m_Mask == nullptr || m_Mask[voxel] != 0) && m_IsFinite(voxel);
  }

  const TIsFinite               m_IsFinite;
  const std::uint8_t *          m_Mask;
  const Triple                  m_Size;
  const std::vector<Interval> & m_Intervals;
  AbortChecker &                m_Abort;
};

/** Whether an intensity is finite. */
template <typename TPixel>
struct IsFinitePixel
{
  const TPixel * image;

  bool
  operator()(std::int64_t voxel) const
  {
    return std::isfinite(static_cast<double>(image[voxel]));
  }
};

/** The intensities in boxes, and their differences between face neighbors. */
template <typename TPixel>
class Surroundings
{
public:
  Surroundings(const TPixel * image, const std::uint8_t * mask, const Triple & size,
               const std::vector<Interval> & intervals, AbortChecker & abort)
    : m_Image(image)
    , m_Neighborhoods({ image }, mask, size, intervals, abort)
  {}

  /** Call f(intensity) for all voxels in ascending order. */
  template <typename TFunction>
  void
  ForEachIntensity(const TFunction & f) const
  {
    m_Neighborhoods.ForEachVoxel([&](std::int64_t voxel) { f(static_cast<double>(m_Image[voxel])); });
  }

  /** Call f(difference) for all pairs of neighbors. */
  template <typename TFunction>
  void
  ForEachDifference(const TFunction & f) const
  {
    m_Neighborhoods.ForEachPair([&](std::int64_t voxel, std::int64_t neighbor) {
      f(std::abs(static_cast<double>(m_Image[voxel]) - static_cast<double>(m_Image[neighbor])));
    });
  }

private:
  const TPixel *                       m_Image;
  Neighborhoods<IsFinitePixel<TPixel>> m_Neighborhoods;
};

/** How many of so many differences are used. */
std::int64_t
SmallestNinetyPercent(std::int64_t count)
{
  return count - count / 10;
}

/** Moments of the smallest 90 % of the differences of small integers, which are counted. */
template <typename TPixel>
Moments
CountDifferences(const Surroundings<TPixel> & surroundings, AbortChecker & abort)
{
  std::vector<std::int64_t> counts(std::size_t{ 1 } << (8 * sizeof(TPixel)), 0);
  std::int64_t              all = 0;
  surroundings.ForEachDifference([&](double difference) {
    ++counts[static_cast<std::size_t>(difference)];
    ++all;
  });
  const std::int64_t used = SmallestNinetyPercent(all);
  return Moments(used, [&](const auto & f) {
    std::int64_t rest = used;
    for (std::size_t difference = 0; rest > 0; ++difference)
    {
      const std::int64_t count = std::min(counts[difference], rest);
      for (std::int64_t i = 0; i < count; ++i)
      {
        abort.Step();
        f(static_cast<double>(difference));
      }
      rest -= count;
    }
  });
}

/** Moments of the smallest 90 % of the differences, which are put into bins of equal width, and sorted there. */
template <typename TPixel>
Moments
SortDifferences(const Surroundings<TPixel> & surroundings, const JobExecution & execution, AbortChecker & abort)
{
  // Bins of about so many differences fit in the first-level cache; more bins would not fit in the second one.
  constexpr std::int64_t binDifferences = 1024;
  constexpr std::int64_t maxBins = 16384;

  std::int64_t all = 0;
  double       maximum = 0.0;
  surroundings.ForEachDifference([&](double difference) {
    ++all;
    maximum = std::max(maximum, difference);
  });
  std::int64_t bins = std::min(all / binDifferences + 1, maxBins);
  double       binsPerUnit = static_cast<double>(bins - 1) / maximum;
  if (!(maximum >= std::numeric_limits<double>::min() && std::isfinite(maximum) && std::isfinite(binsPerUnit)))
  {
    bins = 1;
    binsPerUnit = 0.0;
  }
  const auto getBin = [&](double difference) {
    return bins == 1 ? 0 : std::min(static_cast<std::int64_t>(difference * binsPerUnit), bins - 1);
  };
  std::vector<std::int64_t> ends(static_cast<std::size_t>(bins), 0);
  surroundings.ForEachDifference([&](double difference) { ++ends[static_cast<std::size_t>(getBin(difference))]; });
  std::int64_t before = 0;
  for (std::int64_t & end : ends)
  {
    const std::int64_t count = end;
    end = before;
    before += count;
  }
  std::vector<double> differences(static_cast<std::size_t>(all));
  surroundings.ForEachDifference([&](double difference) {
    differences[static_cast<std::size_t>(ends[static_cast<std::size_t>(getBin(difference))]++)] = difference;
  });
  ForEachTask(bins, execution, [&](unsigned int) {
    return [&](std::int64_t bin) {
      execution.CheckAbort();
      std::sort(differences.begin() + (bin == 0 ? 0 : ends[static_cast<std::size_t>(bin - 1)]),
                differences.begin() + ends[static_cast<std::size_t>(bin)]);
    };
  });
  differences.resize(static_cast<std::size_t>(SmallestNinetyPercent(all)));
  return Moments(static_cast<std::int64_t>(differences.size()), [&](const auto & f) {
    for (const double difference : differences)
    {
      abort.Step();
      f(difference);
    }
  });
}
/** Mean vector, and sums of products of two components. */
class VectorMoments
{
public:
  explicit VectorMoments(unsigned int numberOfComponents)
    : mean(numberOfComponents, 0.0)
    , m_Products(std::size_t{ numberOfComponents } * numberOfComponents, 0.0)
  {}

  void
  AddToMean(const double * vector)
  {
    for (std::size_t i = 0; i < mean.size(); ++i)
    {
      mean[i] += vector[i];
    }
  }
  void
  DivideMean(std::int64_t count)
  {
    for (double & each : mean)
    {
      each = count == 0 ? 0.0 : each / static_cast<double>(count);
    }
  }
  /** Add the products of the components, relative to the mean. */
  void
  AddProducts(const double * vector)
  {
    double relative[maxComponents];
    for (std::size_t i = 0; i < mean.size(); ++i)
    {
      relative[i] = vector[i] - mean[i];
      for (std::size_t j = 0; j <= i; ++j)
      {
        m_Products[i * mean.size() + j] += relative[i] * relative[j];
      }
    }
  }
  std::vector<double>
  GetCovariance(std::int64_t count) const
  {
    const std::size_t   n = mean.size();
    std::vector<double> covariance(m_Products);
    for (std::size_t i = 0; i < n; ++i)
    {
      for (std::size_t j = 0; j <= i; ++j)
      {
        covariance[i * n + j] = count == 0 ? 0.0 : covariance[i * n + j] / static_cast<double>(count);
        covariance[j * n + i] = covariance[i * n + j];
      }
    }
    return covariance;
  }

  std::vector<double> mean;

private:
  std::vector<double> m_Products; // of the lower triangle
};

/** The vectors of an image. */
struct Vectors
{
  const FuzzyConnectednessInput & input;
  const std::size_t               bytes;

  bool
  Load(std::int64_t voxel, double * components) const
  {
    return LoadComponents(static_cast<const unsigned char *>(input.image) + static_cast<std::size_t>(voxel) * bytes,
                          input.pixelType,
                          static_cast<int>(input.numberOfComponents),
                          components);
  }
  bool
  operator()(std::int64_t voxel) const
  {
    double components[maxComponents];
    return this->Load(voxel, components);
  }
};

/** A pair of neighbors, and the length of the difference of their vectors. */
struct VectorPair
{
  double       length;
  std::int64_t voxel;
  std::int64_t neighbor;

  bool
  operator<(const VectorPair & other) const
  {
    return std::tie(length, voxel, neighbor) < std::tie(other.length, other.voxel, other.neighbor);
  }
};
} // namespace

AffinityEstimate
EstimateAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                 const JobExecution & execution)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyInput(input);
  AffinityEstimate estimate;
  AbortChecker     abort(execution);
  const Triple     size = WithoutFlatAxes(input.size);
  if (input.GetNumberOfVoxels() == 0)
  {
    return estimate;
  }
  const Boxes boxes(size, input.seeds, parameters.radius, abort);
  WithImage(input, [&](const auto * image) {
    using Pixel = std::remove_cv_t<std::remove_reference_t<decltype(*image)>>;
    const Surroundings<Pixel> surroundings(image, input.mask, size, boxes.intervals, abort);
    surroundings.ForEachIntensity([&estimate](double) { ++estimate.numberOfVoxels; });
    const Moments intensityMoments(estimate.numberOfVoxels, [&](const auto & f) { surroundings.ForEachIntensity(f); });
    estimate.mean = intensityMoments.mean;
    estimate.variance = intensityMoments.variance;

    constexpr bool isSmallInteger = std::is_integral<Pixel>::value && sizeof(Pixel) <= 2;
    const Moments  differenceMoments = [&] {
      if constexpr (isSmallInteger)
      {
        return CountDifferences(surroundings, abort);
      }
      else
      {
        return SortDifferences(surroundings, execution, abort);
      }
    }();
    if (parameters.affinityFunction == FuzzyConnectednessEnums::AffinityFunction::WeightedSum)
    {
      estimate.differenceMean = differenceMoments.mean;
      estimate.differenceVariance = differenceMoments.variance;
    }
    else
    {
      // The mean square of half the difference, from E[d^2] = variance + mean^2.
      estimate.differenceVariance =
        0.25 * (differenceMoments.variance + differenceMoments.mean * differenceMoments.mean);
    }
  });
  return estimate;
}

VectorAffinityEstimate
EstimateVectorAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                       const JobExecution & execution)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyInput(input);
  const unsigned int     n = input.numberOfComponents;
  VectorAffinityEstimate estimate;
  if (input.GetNumberOfVoxels() == 0)
  {
    return estimate;
  }
  AbortChecker                 abort(execution);
  const Triple                 size = WithoutFlatAxes(input.size);
  const Boxes                  boxes(size, input.seeds, parameters.radius, abort);
  const Vectors                vectors{ input, ComponentSize(input.pixelType) * n };
  const Neighborhoods<Vectors> neighborhoods(vectors, input.mask, size, boxes.intervals, abort);
  double                       vector[maxComponents];

  VectorMoments vectorMoments(n);
  neighborhoods.ForEachVoxel([&](std::int64_t voxel) {
    vectors.Load(voxel, vector);
    vectorMoments.AddToMean(vector);
    ++estimate.numberOfVoxels;
  });
  vectorMoments.DivideMean(estimate.numberOfVoxels);
  neighborhoods.ForEachVoxel([&](std::int64_t voxel) {
    vectors.Load(voxel, vector);
    vectorMoments.AddProducts(vector);
  });
  estimate.vectors.objectMean = vectorMoments.mean;
  estimate.vectors.objectCovariance = vectorMoments.GetCovariance(estimate.numberOfVoxels);

  const auto loadDifference = [&](std::int64_t voxel, std::int64_t neighbor) {
    double other[maxComponents];
    vectors.Load(voxel, vector);
    vectors.Load(neighbor, other);
    for (unsigned int i = 0; i < n; ++i)
    {
      vector[i] = vector[i] - other[i];
    }
  };
  std::vector<VectorPair> pairs;
  neighborhoods.ForEachPair([&](std::int64_t voxel, std::int64_t neighbor) {
    loadDifference(voxel, neighbor);
    double squares = 0.0;
    for (unsigned int i = 0; i < n; ++i)
    {
      const double variance = estimate.vectors.objectCovariance[i * n + i];
      squares += variance > 0.0 ? vector[i] * vector[i] / variance : 0.0;
    }
    // NaN, of infinite components, would have no place in an order.
    pairs.push_back({ squares >= 0.0 ? squares : std::numeric_limits<double>::infinity(), voxel, neighbor });
  });
  const std::int64_t used = SmallestNinetyPercent(static_cast<std::int64_t>(pairs.size()));
  if (used < static_cast<std::int64_t>(pairs.size()))
  {
    std::vector<VectorPair> ordered(pairs);
    std::nth_element(ordered.begin(), ordered.begin() + used, ordered.end());
    const VectorPair end = ordered[static_cast<std::size_t>(used)];
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [&end](const VectorPair & pair) { return !(pair < end); }),
                pairs.end());
  }

  const bool    isSum = parameters.affinityFunction == FuzzyConnectednessEnums::AffinityFunction::WeightedSum;
  VectorMoments differenceMoments(n);
  const auto    forEachDifference = [&](const auto & f) {
    for (const VectorPair & pair : pairs)
    {
      abort.Step();
      loadDifference(pair.voxel, pair.neighbor);
      for (unsigned int i = 0; i < n; ++i)
      {
        vector[i] = isSum ? std::abs(vector[i]) : 0.5 * vector[i];
      }
      f(vector);
    }
  };
  if (isSum)
  {
    forEachDifference([&](const double * difference) { differenceMoments.AddToMean(difference); });
    differenceMoments.DivideMean(used);
  }
  forEachDifference([&](const double * difference) { differenceMoments.AddProducts(difference); });
  estimate.vectors.differenceMean = differenceMoments.mean;
  estimate.vectors.differenceCovariance = differenceMoments.GetCovariance(used);
  return estimate;
}
} // namespace voxelmaps
