// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRunEntropy_cuh
#define CudaRunEntropy_cuh

#include "CudaRunAccumulator.cuh"
#include "texture/cpu/WindowBox.h"

#include <algorithm>
#include <cstdint>

// What the kernels of run entropy share.
namespace voxelmaps
{
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

#endif // CudaRunEntropy_cuh
