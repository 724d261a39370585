// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include "common/ParallelFor.h"
#include "connectedness/VectorKeys.h"
#include "connectedness/VerifyJob.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

namespace voxelmaps
{
namespace
{
using Function = FuzzyConnectednessEnums::AffinityFunction;
using Vector = std::vector<double>;

// Boxes of so many voxels, 2^26, take about 3 s on one thread.
constexpr double maxBoxVoxels = 67108864.0;
// Sums are over the seeds of a chunk, then over the chunks, whatever the number of workers.
constexpr std::int64_t chunkSeeds = 64;
// exp(-x^2 / (2 v)) is 1/2 for v = x^2 / (2 ln 2).
constexpr double halfValueFactor = 0.72134752044448170;

/** Sums over vectors, and over the products of their elements. */
struct Moments
{
  explicit Moments(std::size_t n)
    : sums(n, 0.0)
    , products(n * n, 0.0)
  {}

  void
  Add(const double * vector)
  {
    const std::size_t n = sums.size();
    ++count;
    for (std::size_t i = 0; i < n; ++i)
    {
      sums[i] += vector[i];
      for (std::size_t j = 0; j < n; ++j)
      {
        products[i * n + j] += vector[i] * vector[j];
      }
    }
  }
  void
  Add(const Moments & other)
  {
    count += other.count;
    std::transform(sums.begin(), sums.end(), other.sums.begin(), sums.begin(), std::plus<>());
    std::transform(products.begin(), products.end(), other.products.begin(), products.begin(), std::plus<>());
  }

  /** Mean and covariance; the mean is 0 unless it is wanted. */
  void
  Get(bool wantsMean, Vector & mean, Vector & covariance) const
  {
    const std::size_t n = sums.size();
    const auto        divisor = static_cast<double>(std::max<std::int64_t>(count, 1));
    mean.assign(n, 0.0);
    covariance.resize(n * n);
    for (std::size_t i = 0; i < n; ++i)
    {
      mean[i] = wantsMean ? sums[i] / divisor : 0.0;
      for (std::size_t j = 0; j < n; ++j)
      {
        covariance[i * n + j] = (products[i * n + j] - (wantsMean ? sums[i] * sums[j] / divisor : 0.0)) / divisor;
      }
    }
  }

  std::int64_t count{ 0 };
  Vector       sums;
  Vector       products;
};

/** Sums over the boxes of seeds. Intensities are relative to those of one of the seeds. */
struct Sums
{
  explicit Sums(std::size_t n)
    : object(n)
    , differences(n)
    , others(n)
    , contrasts(n, 0.0)
  {}

  void
  Add(const Sums & other)
  {
    object.Add(other.object);
    differences.Add(other.differences);
    others.Add(other.others);
    std::transform(contrasts.begin(), contrasts.end(), other.contrasts.begin(), contrasts.begin(), std::plus<>());
  }

  Moments object;
  Moments differences;
  Moments others;
  Vector  contrasts;
};

/** The box around a seed; its memory serves one seed after the other. */
class SeedBox
{
public:
  SeedBox(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters, const Vector & origin,
          const JobExecution & execution)
    : m_Input(input)
    , m_Radius(parameters.radius)
    , m_IsSum(parameters.affinityFunction == Function::WeightedSum)
    , m_Origin(origin)
    , m_Execution(execution)
    , m_Count(origin.size())
  {}

  void
  AddTo(std::int64_t seed, Sums & sums)
  {
    const std::int64_t seedVoxel = this->Load(seed);
    if (m_States[seedVoxel] == State::Absent)
    {
      return;
    }
    this->FindObject(seedVoxel);

    Sums box(m_Count);
    box.object = this->MeasureObject();
    double mean[maxComponents];
    for (std::size_t i = 0; i < m_Count; ++i)
    {
      mean[i] = box.object.sums[i] / static_cast<double>(box.object.count);
    }
    std::int64_t present = 0;
    std::int64_t different = 0;
    for (std::size_t voxel = 0; voxel < m_States.size(); ++voxel)
    {
      present += m_States[voxel] != State::Absent ? 1 : 0;
      different += m_States[voxel] == State::Other && !this->IsClose(this->At(voxel), mean, 3.0) ? 1 : 0;
    }
    const bool isInside = different * 10 < present;
    for (std::size_t voxel = 0; voxel < m_States.size(); ++voxel)
    {
      if (m_States[voxel] == State::Other && isInside)
      {
        m_States[voxel] = this->IsClose(this->At(voxel), mean, 3.0) ? State::Object : State::Other;
      }
      else if (m_States[voxel] == State::Other)
      {
        for (std::size_t i = 0; i < m_Count; ++i)
        {
          box.contrasts[i] += std::abs(this->At(voxel)[i] - mean[i]);
        }
        box.others.Add(this->At(voxel));
      }
    }
    if (isInside)
    {
      box.object = this->MeasureObject();
    }
    this->ForEachPair([&](std::size_t voxel, std::size_t neighbor) {
      if (m_States[voxel] == State::Object && m_States[neighbor] == State::Object)
      {
        double difference[maxComponents];
        for (std::size_t i = 0; i < m_Count; ++i)
        {
          difference[i] = this->At(voxel)[i] - this->At(neighbor)[i];
          difference[i] = m_IsSum ? std::abs(difference[i]) : 0.5 * difference[i];
        }
        box.differences.Add(difference);
      }
    });
    sums.Add(box);
  }

private:
  enum class State : std::uint8_t
  {
    Absent,
    Other,
    Object
  };

  const double *
  At(std::size_t voxel) const
  {
    return m_Vectors.data() + voxel * m_Count;
  }

  Moments
  MeasureObject() const
  {
    Moments moments(m_Count);
    for (std::size_t voxel = 0; voxel < m_States.size(); ++voxel)
    {
      if (m_States[voxel] == State::Object)
      {
        moments.Add(this->At(voxel));
      }
    }
    return moments;
  }

  /** Load the intensities of a box. Returns the number of the seed in it. */
  std::int64_t
  Load(std::int64_t seed)
  {
    const Triple & size = m_Input.size;
    const Triple   place{ { seed % size[0], seed / size[0] % size[1], seed / size[0] / size[1] } };
    Triple         begin;
    for (int d = 0; d < 3; ++d)
    {
      begin[d] = std::max<std::int64_t>(place[d] - m_Radius, 0);
      m_Size[d] = std::min(place[d] + m_Radius + 1, size[d]) - begin[d];
    }
    const auto count = static_cast<std::size_t>(m_Size[0] * m_Size[1] * m_Size[2]);
    m_States.assign(count, State::Absent);
    m_Vectors.resize(count * m_Count);
    const std::size_t bytes = ComponentSize(m_Input.pixelType) * m_Count;
    std::size_t       to = 0;
    for (std::int64_t z = 0; z < m_Size[2]; ++z)
    {
      for (std::int64_t y = 0; y < m_Size[1]; ++y)
      {
        m_Execution.CheckAbort();
        std::int64_t voxel = ((begin[2] + z) * size[1] + begin[1] + y) * size[0] + begin[0];
        for (std::int64_t x = 0; x < m_Size[0]; ++x, ++voxel, ++to)
        {
          double * const components = m_Vectors.data() + to * m_Count;
          const auto *   pixel =
            static_cast<const unsigned char *>(m_Input.image) + static_cast<std::size_t>(voxel) * bytes;
          if ((m_Input.mask == nullptr || m_Input.mask[voxel] != 0) &&
              LoadComponents(pixel, m_Input.pixelType, static_cast<int>(m_Count), components))
          {
            m_States[to] = State::Other;
            std::transform(components, components + m_Count, m_Origin.begin(), components, std::minus<>());
          }
        }
      }
    }
    return ((place[2] - begin[2]) * m_Size[1] + place[1] - begin[1]) * m_Size[0] + place[0] - begin[0];
  }

  /** Call f(voxel, neighbor) for each voxel and its neighbor across the next face along each axis. */
  template <typename TFunction>
  void
  ForEachPair(const TFunction & f) const
  {
    std::size_t voxel = 0;
    for (std::int64_t z = 0; z < m_Size[2]; ++z)
    {
      for (std::int64_t y = 0; y < m_Size[1]; ++y)
      {
        for (std::int64_t x = 0; x < m_Size[0]; ++x, ++voxel)
        {
          std::size_t stride = 1;
          for (int d = 0; d < 3; ++d)
          {
            if ((d == 0 ? x : d == 1 ? y : z) + 1 < m_Size[d])
            {
              f(voxel, voxel + stride);
            }
            stride *= static_cast<std::size_t>(m_Size[d]);
          }
        }
      }
    }
  }

  /** The median of the differences of a component that are not 0; the lower one of two, and 0 if there is none. */
  double
  GetMedianDifference(std::size_t component)
  {
    m_Differences.clear();
    this->ForEachPair([&](std::size_t voxel, std::size_t neighbor) {
      const double difference = std::abs(this->At(voxel)[component] - this->At(neighbor)[component]);
      if (m_States[voxel] != State::Absent && m_States[neighbor] != State::Absent && difference > 0.0)
      {
        m_Differences.push_back(difference);
      }
    });
    if (m_Differences.empty())
    {
      return 0.0;
    }
    const auto median = m_Differences.begin() + (static_cast<std::ptrdiff_t>(m_Differences.size()) - 1) / 2;
    std::nth_element(m_Differences.begin(), median, m_Differences.end());
    return *median;
  }

  /** Whether the root mean square of the differences of two vectors, in units of the medians, is at most a number. */
  bool
  IsClose(const double * a, const double * b, double most) const
  {
    double squares = 0.0;
    for (std::size_t i = 0; i < m_Count; ++i)
    {
      const double difference = m_Medians[i] > 0.0 ? (a[i] - b[i]) / m_Medians[i] : 0.0;
      squares += difference * difference;
    }
    return squares <= most * most * static_cast<double>(m_Count);
  }

  void
  FindObject(std::int64_t seed)
  {
    for (std::size_t i = 0; i < m_Count; ++i)
    {
      m_Medians[i] = this->GetMedianDifference(i);
    }
    const std::int64_t strides[3] = { 1, m_Size[0], m_Size[0] * m_Size[1] };
    m_States[seed] = State::Object;
    m_Next.assign(1, seed);
    for (std::uint64_t steps = 1; !m_Next.empty(); ++steps)
    {
      if (steps % 65536 == 0)
      {
        m_Execution.CheckAbort();
      }
      const std::int64_t voxel = m_Next.back();
      m_Next.pop_back();
      for (int d = 0; d < 3; ++d)
      {
        const std::int64_t place = voxel / strides[d] % m_Size[d];
        for (const std::int64_t step : { -1, 1 })
        {
          const std::int64_t neighbor = voxel + step * strides[d];
          if (place + step >= 0 && place + step < m_Size[d] && m_States[neighbor] == State::Other &&
              this->IsClose(this->At(neighbor), this->At(seed), 2.0))
          {
            m_States[neighbor] = State::Object;
            m_Next.push_back(neighbor);
          }
        }
      }
    }
  }

  const FuzzyConnectednessInput & m_Input;
  const std::int64_t              m_Radius;
  const bool                      m_IsSum;
  const Vector &                  m_Origin;
  const JobExecution &            m_Execution;
  const std::size_t               m_Count; // of components
  Triple                          m_Size{};
  Vector                          m_Vectors;
  std::vector<State>              m_States;
  std::vector<std::int64_t>       m_Next;
  Vector                          m_Differences;
  double                          m_Medians[maxComponents]{};
};

/** Voxels that are seeds, in ascending order; evenly spaced ones if their boxes are too large for all. */
std::vector<std::int64_t>
ChooseSeeds(const FuzzyConnectednessInput & input, unsigned int radius)
{
  std::vector<std::int64_t> seeds(input.seeds);
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  // Not clipped, so that an image that ends at the boxes has the same estimate.
  double boxVoxels = 1.0;
  for (const std::int64_t size : input.size)
  {
    boxVoxels *= size > 1 ? 2.0 * radius + 1.0 : 1.0;
  }
  const auto count = static_cast<std::int64_t>(seeds.size());
  const auto used = std::min(count, std::max<std::int64_t>(static_cast<std::int64_t>(maxBoxVoxels / boxVoxels), 1));
  for (std::int64_t i = 0; i < used; ++i)
  {
    seeds[i] = seeds[i * count / used];
  }
  seeds.resize(static_cast<std::size_t>(used));
  return seeds;
}

/** Let the variance of each component be at least that which makes its Gaussian 1/2 at a deviation; correlations stay.
 */
void
Widen(Vector & covariance, const Vector & deviations)
{
  const std::size_t n = deviations.size();
  Vector            factors(n, 1.0);
  for (std::size_t i = 0; i < n; ++i)
  {
    double &     variance = covariance[i * n + i];
    const double least = deviations[i] > 0.0 ? halfValueFactor * (deviations[i] * deviations[i]) : 0.0;
    factors[i] = variance > 0.0 && variance < least ? std::sqrt(least / variance) : 1.0;
    variance = std::max(variance, least);
  }
  for (std::size_t i = 0; i < n; ++i)
  {
    for (std::size_t j = 0; j < n; ++j)
    {
      covariance[i * n + j] *= i == j ? 1.0 : factors[i] * factors[j];
    }
  }
}

/** See AffinityEstimate::warning. */
std::string
MakeWarning(const Sums & sums, const Vector & covariance)
{
  const Moments &   others = sums.others;
  const std::size_t n = others.sums.size();
  double            clearest = 0.0;
  double            deviation = 0.0;
  double            distance = 0.0;
  for (std::size_t i = 0; i < n; ++i)
  {
    const auto   count = static_cast<double>(others.count);
    const double mean = sums.object.sums[i] / static_cast<double>(sums.object.count);
    const double squares = others.products[i * n + i] / count - 2.0 * mean * (others.sums[i] / count) + mean * mean;
    const double ratio = std::sqrt(std::max(squares, 0.0) / covariance[i * n + i]);
    if (i == 0 || ratio > clearest)
    {
      clearest = ratio;
      deviation = std::sqrt(covariance[i * n + i]);
      distance = std::sqrt(std::max(squares, 0.0));
    }
  }
  if (!(clearest < 2.0))
  {
    return {};
  }
  std::ostringstream warning;
  warning.precision(3);
  warning << "The object may leak: the intensities that the seeds suggest for it have the standard deviation "
          << deviation << ", but those around it differ from its mean by only " << distance
          << "; move seeds that are at edges or in other objects, or set the affinity";
  return warning.str();
}

/** The sums over the boxes of seeds. */
Sums
AddBoxes(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters, const Vector & origin,
         const std::vector<std::int64_t> & seeds, const JobExecution & execution)
{
  const auto        numberOfSeeds = static_cast<std::int64_t>(seeds.size());
  std::vector<Sums> chunks(static_cast<std::size_t>((numberOfSeeds + chunkSeeds - 1) / chunkSeeds),
                           Sums(origin.size()));
  ForEachTask(static_cast<std::int64_t>(chunks.size()), execution, [&](unsigned int) {
    return [&, box = SeedBox(input, parameters, origin, execution)](std::int64_t chunk) mutable {
      for (std::int64_t i = chunk * chunkSeeds; i < std::min((chunk + 1) * chunkSeeds, numberOfSeeds); ++i)
      {
        box.AddTo(seeds[i], chunks[chunk]);
      }
    };
  });
  Sums sums(origin.size());
  for (const Sums & chunk : chunks)
  {
    sums.Add(chunk);
  }
  return sums;
}

/** Throw EngineError if the objects of two labels differ too much for one affinity. */
void
VerifyLabels(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
             const Vector & origin, const JobExecution & execution)
{
  std::map<std::uint16_t, std::vector<std::int64_t>> seedsOfLabels;
  for (std::size_t i = 0; i < input.seeds.size(); ++i)
  {
    seedsOfLabels[parameters.labels[i]].push_back(input.seeds[i]);
  }
  struct Object
  {
    std::uint16_t label;
    double        mean;
    double        deviation;
  };
  std::vector<std::vector<Object>> objects(origin.size());
  for (const auto & [label, seeds] : seedsOfLabels)
  {
    FuzzyConnectednessInput ofLabel = input;
    ofLabel.seeds = seeds;
    const Sums sums = AddBoxes(ofLabel, parameters, origin, ChooseSeeds(ofLabel, parameters.radius), execution);
    Vector     mean;
    Vector     covariance;
    sums.object.Get(true, mean, covariance);
    for (std::size_t i = 0; i < origin.size() && sums.object.count > 0; ++i)
    {
      const double variance = std::max(covariance[i * origin.size() + i], 0.0);
      objects[i].push_back({ label, mean[i] + origin[i], std::sqrt(variance) });
    }
  }
  for (const auto & ofComponent : objects)
  {
    for (const Object & a : ofComponent)
    {
      for (const Object & b : ofComponent)
      {
        if (a.label < b.label && std::abs(a.mean - b.mean) > 2.0 * std::max(a.deviation, b.deviation))
        {
          std::ostringstream message;
          message.precision(3);
          message << "One affinity is to be estimated for all labels, but their intensities differ: those of the label "
                  << a.label << " have the mean " << a.mean << " and the standard deviation " << a.deviation
                  << ", those of the label " << b.label << " have " << b.mean << " and " << b.deviation
                  << ". Estimate the affinity of every label, set it, or use absolute differences.";
          throw EngineError(message.str());
        }
      }
    }
  }
}
} // namespace

AffinityEstimate
EstimateAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                 const JobExecution & execution)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyInput(input);
  const unsigned int              n = input.GetAffinityLength();
  const std::vector<std::int64_t> seeds = ChooseSeeds(input, parameters.radius);
  Vector                          origin(n, 0.0);
  for (const std::int64_t seed : seeds)
  {
    const auto * const image = static_cast<const unsigned char *>(input.image);
    if (LoadComponents(image + static_cast<std::size_t>(seed) * ComponentSize(input.pixelType) * n,
                       input.pixelType,
                       static_cast<int>(n),
                       origin.data()))
    {
      break;
    }
    origin.assign(n, 0.0);
  }
  if (!parameters.labels.empty() && parameters.affinityFunction != Function::Homogeneity)
  {
    VerifyLabels(input, parameters, origin, execution);
  }
  const Sums sums = AddBoxes(input, parameters, origin, seeds, execution);

  AffinityEstimate             estimate;
  FuzzyConnectednessAffinity & affinity = estimate.affinity;
  const bool                   isSum = parameters.affinityFunction == Function::WeightedSum;
  estimate.numberOfVoxels = sums.object.count;
  sums.object.Get(true, affinity.objectMean, affinity.objectCovariance);
  std::transform(origin.begin(), origin.end(), affinity.objectMean.begin(), affinity.objectMean.begin(), std::plus<>());
  sums.differences.Get(isSum, affinity.differenceMean, affinity.differenceCovariance);
  if (sums.others.count > 0)
  {
    Vector contrasts(sums.contrasts);
    Vector halves;
    Vector differences;
    for (std::size_t i = 0; i < n; ++i)
    {
      contrasts[i] /= static_cast<double>(sums.others.count);
      halves.push_back(0.5 * contrasts[i]);
      differences.push_back(isSum ? 0.5 * contrasts[i] - affinity.differenceMean[i] : 0.25 * contrasts[i]);
    }
    if (parameters.affinityFunction != Function::Homogeneity)
    {
      estimate.warning = MakeWarning(sums, affinity.objectCovariance);
    }
    Widen(affinity.objectCovariance, halves);
    Widen(affinity.differenceCovariance, differences);
  }
  try
  {
    VerifyAffinity(affinity, parameters.affinityFunction, n, "the estimate");
  }
  catch (const EngineError & error)
  {
    std::ostringstream message;
    message << "The affinity cannot be estimated from the " << sums.object.count
            << " voxels of the object in boxes of radius " << parameters.radius << " around the seeds. " << error.what()
            << " Increase the radius, or set the affinity.";
    throw EngineError(message.str());
  }
  return estimate;
}
} // namespace voxelmaps
