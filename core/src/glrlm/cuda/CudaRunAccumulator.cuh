// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRunAccumulator_cuh
#define CudaRunAccumulator_cuh

#include "window/WindowBox.h"
#include "CudaRunLengthMethods.h"

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
/** Division on the device: faster than the operator, with the same bits. */
using CudaDivision = FusedDivision<double, DoubleArithmetic>;

/** Add the terms of the first VFeatures features of a matrix to their averages. */
template <int VFeatures>
__device__ void
AddAverageTerms(const FeatureComponents & components, const RunLengthSums<double> & sums, double (&averages)[VFeatures])
{
  const double reciprocal = CudaDivision::Reciprocal(sums.runs);
#pragma unroll
  for (int f = 0; f < VFeatures; ++f)
  {
    if (components.of[f] >= 0)
    {
      averages[f] += RunLengthAverageTerm(static_cast<RunLengthJob::Feature>(f), sums, reciprocal);
    }
  }
}

/** Call store(component, value) for the averages of a window with so many voxels. */
template <int VFeatures, typename TStore>
__device__ void
StoreAverages(const RunLengthTask & task, const FeatureComponents & components, const double (&averages)[VFeatures],
              double voxels, const TStore & store)
{
  const auto directions = static_cast<double>(task.directions.number);
#pragma unroll
  for (int f = 0; f < VFeatures; ++f)
  {
    if (components.of[f] >= 0)
    {
      store(components.of[f],
            RunLengthAverage<double, CudaDivision>(
              static_cast<RunLengthJob::Feature>(f), averages[f], voxels, directions, task.scales));
    }
  }
}

/** Call store(component, value) for the first VFeatures features of one matrix. */
template <int VFeatures, typename TStore>
__device__ void
StoreFeatures(const RunLengthTask & task, const FeatureComponents & components, const RunLengthSums<double> & sums,
              const TStore & store)
{
  const RunLengthDivisors<double, CudaDivision> divisors(sums, CudaDivision::By(task.scales.shortRunScale));
#pragma unroll
  for (int f = 0; f < VFeatures; ++f)
  {
    if (components.of[f] >= 0)
    {
      store(components.of[f],
            RunLengthFeatureValue(static_cast<RunLengthJob::Feature>(f), sums, divisors, task.scales));
    }
  }
}

/** How sums over runs are kept. */
enum class SumWidth
{
  /** Numbers of runs and sums of i^2 in one word; weighted sums fit 32 bits. */
  Narrow,
  /** In one word; weighted sums are doubles, which are exact below 2^53. */
  Packed,
  /** In two words; weighted sums are doubles. */
  Separate
};

/** l^2 and c(l) of the plan for short runs, where kernels read them fastest: among their parameters. */
struct RunWeights
{
  static constexpr int maxLength = 9;
  double               lengthSquares[maxLength + 1];
  double               shortRunWeights[maxLength + 1];
  std::uint32_t        integerWeights[maxLength + 1];

  RunWeights() = default;
  explicit RunWeights(const RunLengthTask & task)
    : RunWeights()
  {
    for (int l = 1; l <= task.directions.longestLine; ++l)
    {
      lengthSquares[l] = static_cast<double>(l) * static_cast<double>(l);
      shortRunWeights[l] = task.scales.shortRunScale / lengthSquares[l];
      integerWeights[l] = static_cast<std::uint32_t>(shortRunWeights[l]);
    }
  }
};

/** Weights of lengths for sums over S_k instead of runs: what c(l) is for runs, c(k) - 2 c(k - 1) + c(k - 2) is for
 * S_k. For sums of numbers of runs, bytes of the weights of the lengths 1 to 4. */
struct StartWeights
{
  static constexpr int maxLength = 5;
  std::uint32_t        shortRunLowBytes;
  std::uint32_t        shortRunHighBytes;
  std::uint32_t        fiveRunWeight;
  std::uint32_t        shortStarts[maxLength + 1];
  double               realShortStarts[maxLength + 1];

  StartWeights() = default;
  explicit StartWeights(const RunWeights & runs)
    : StartWeights()
  {
    double beforeLast = 0.0;
    double last = 0.0;
    for (int k = 1; k <= maxLength; ++k)
    {
      const double        weight = runs.shortRunWeights[k];
      const std::uint32_t integer = runs.integerWeights[k];
      realShortStarts[k] = weight - 2.0 * last + beforeLast;
      shortStarts[k] = static_cast<std::uint32_t>(static_cast<std::int64_t>(realShortStarts[k]));
      if (k < maxLength)
      {
        shortRunLowBytes |= (integer & 0xffu) << (8 * (k - 1));
        shortRunHighBytes |= (integer >> 8) << (8 * (k - 1));
      }
      beforeLast = last;
      last = weight;
    }
    fiveRunWeight = runs.integerWeights[maxLength];
  }
};

/** Sums over the runs of one direction of one window, as runs of length 1, 2 ... are added. */
template <SumWidth VWidth>
class RunAccumulator
{
public:
  __device__ void
  Clear()
  {
    ClearRuns(m_Sums);
  }
  __device__ void
  Add(const RunWeights & weights, int length, std::uint32_t runs, std::uint32_t squares, std::uint64_t inverses)
  {
    AddRunsWithLength(m_Sums,
                      weights.lengthSquares[length],
                      weights.shortRunWeights[length],
                      static_cast<double>(runs),
                      static_cast<double>(squares),
                      static_cast<double>(inverses));
  }
  const __device__ RunLengthSums<double> &
                   Get()
  {
    return m_Sums;
  }

private:
  RunLengthSums<double> m_Sums;
};

/** The same in integers, but for the inverses, whose sums are rounded length by length. */
template <>
class RunAccumulator<SumWidth::Narrow>
{
public:
  __device__ void
  Clear()
  {
    ClearRuns(m_Sums);
    ClearRuns(m_Integers);
  }
  __device__ void
  Add(const RunWeights & weights, int length, std::uint32_t runs, std::uint32_t squares, std::uint64_t inverses)
  {
    AddRunsWithLength(m_Integers,
                      static_cast<std::uint32_t>(length * length),
                      weights.integerWeights[length],
                      runs,
                      squares,
                      std::uint32_t{ 0 });
    const auto real = static_cast<double>(inverses);
    m_Sums.inverses += real;
    m_Sums.longRunInverses += real * weights.lengthSquares[length];
    m_Sums.shortRunInverses += real * weights.shortRunWeights[length];
  }
  const __device__ RunLengthSums<double> &
                   Get()
  {
    m_Sums.runs = static_cast<double>(m_Integers.runs);
    m_Sums.squares = static_cast<double>(m_Integers.squares);
    m_Sums.longRuns = static_cast<double>(m_Integers.longRuns);
    m_Sums.longRunSquares = static_cast<double>(m_Integers.longRunSquares);
    m_Sums.shortRuns = static_cast<double>(m_Integers.shortRuns);
    m_Sums.shortRunSquares = static_cast<double>(m_Integers.shortRunSquares);
    m_Sums.lengthNonUniformity = static_cast<double>(m_Integers.lengthNonUniformity);
    return m_Sums;
  }

private:
  RunLengthSums<double>        m_Sums;
  RunLengthSums<std::uint32_t> m_Integers;
};

// --- Run entropy

/** Sums over the runs of a matrix: of t(n) over the numbers n of runs of each level and length, and of n. */
struct RunEntropySums
{
  std::int64_t  entropy;
  std::uint32_t runs;
};

/** The place of run entropy among the features of a task. */
inline int
FindRunEntropy(const RunLengthTask & task)
{
  return static_cast<int>(
    std::find(task.features, task.features + task.numberOfFeatures, RunLengthJob::Feature::RunEntropy) - task.features);
}

/** Store run entropy of an output from getSums(m), the sums of matrix m. */
template <typename TGetSums>
__device__ void
StoreRunEntropy(const RunLengthTask & task, std::int64_t out, int component, const TGetSums & getSums)
{
  constexpr auto feature = RunLengthJob::Feature::RunEntropy;
  const bool     isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  const int      matrices = task.aggregation == RunLengthJob::Aggregation::Merge ? 1 : task.directions.number;
  double         average = 0.0;
  for (int m = 0; m < matrices; ++m)
  {
    const RunEntropySums  entropySums = getSums(m);
    RunLengthSums<double> sums{};
    sums.runs = static_cast<double>(entropySums.runs);
    sums.entropy = static_cast<double>(task.entropyTable[entropySums.runs] - entropySums.entropy);
    if (isAverage)
    {
      average += RunLengthAverageTerm(feature, sums, CudaDivision::Reciprocal(sums.runs));
      continue;
    }
    const double quotient = CudaDivision::Quotient(RunLengthNumerator(feature, sums), CudaDivision::By(sums.runs));
    StoreComponent(task, out, m * task.numberOfFeatures + component, RunLengthToUnit(feature, quotient, task.scales));
  }
  if (isAverage)
  {
    StoreComponent(task,
                   out,
                   component,
                   RunLengthAverage<double, CudaDivision>(
                     feature, average, 1.0, static_cast<double>(task.directions.number), task.scales));
  }
}

/** Store the background of an output that is not computed. */
inline __device__ void
StoreRunEntropyBackground(const RunLengthTask & task, std::int64_t out, int component)
{
  const int matrices = task.aggregation == RunLengthJob::Aggregation::PerDirection ? task.directions.number : 1;
  for (int m = 0; m < matrices; ++m)
  {
    StoreComponentOrNaN(task, out, m * task.numberOfFeatures + component, task.backgroundValue);
  }
}
} // namespace voxelmaps

#endif // CudaRunAccumulator_cuh
