// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "glcm/Cooccurrence.h"

#include "common/FixedPoint.h"
#include "common/ParallelFor.h"
#include "glcm/MaximalCorrelation.h"
#include "window/OffsetWeights.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace voxelmaps
{
namespace
{
constexpr std::uint64_t maxMatrixPairs = 4194304; // the table of n log2 n has 64 MiB

// Fixed-point weights must be good to 2^-38 for the greatest difference.
constexpr int minWeightBits = 38;
constexpr int weightSumBits = 62;
} // namespace

TextureClass<CooccurrenceJob>::TextureClass(const CooccurrenceJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyEnumerator("The aggregation", job.aggregation, CooccurrenceJob::Aggregation::Merge);
  SetTextureTask(job, static_cast<int>(job.GetNumberOfComponents()), task);
  task.aggregation = job.aggregation;
  // The sign and payload of NaN would depend on the processor.
  task.emptyValue = std::isnan(job.emptyValue) ? std::numeric_limits<double>::quiet_NaN() : job.emptyValue;
  task.scales.center = std::int64_t{ task.numberOfGrayLevels } + 1;
  task.scales.symmetric = job.symmetric;
  this->SetFeatures(job);
  this->SetOffsets(job);
  SetOffsetWeights(job, offsetWeights, task);
  this->ChooseArithmetic();
  this->MakeWeights();
  this->SetEntropyTable(job.execution);
}

void
TextureClass<CooccurrenceJob>::SetOffsets(const CooccurrenceJob & job)
{
  offsets = MakePairOffsets(job.offsets);
  task.maxPairs = 1;
  std::uint64_t allPairs = 0;
  for (const PairOffset & offset : offsets)
  {
    std::uint64_t pairs = 1;
    for (int d = 0; d < 3; ++d)
    {
      pairs *= static_cast<std::uint64_t>(std::max(task.window[d] - std::abs(offset.step[d]), 0));
    }
    task.maxPairs = std::max(task.maxPairs, pairs);
    allPairs += pairs;
  }
  if (job.aggregation == CooccurrenceJob::Aggregation::Merge)
  {
    if (allPairs > maxMatrixPairs)
    {
      throw EngineError("There are merged matrices of up to " + std::to_string(allPairs) + " pairs, but at most " +
                        std::to_string(maxMatrixPairs) + " are possible.");
    }
    task.maxPairs = std::max<std::uint64_t>(allPairs, 1);
  }
  task.numberOfOffsets = static_cast<int>(offsets.size());
  task.offsets = offsets.data();
  if (task.needsMaximalCorrelation)
  {
    const std::uint64_t voxels = NumberOfVoxels(job.windowSize);
    task.maxCorrelationLevels = static_cast<int>(std::min<std::uint64_t>(voxels, job.numberOfGrayLevels));
    if (task.maxCorrelationLevels > maxCorrelationLevels)
    {
      throw EngineError(
        "There are windows of " + std::to_string(voxels) + " voxels and " + std::to_string(job.numberOfGrayLevels) +
        " gray levels, but MaximalCorrelationCoefficient supports at most " + std::to_string(maxCorrelationLevels) +
        " of either; leave it out of the features, or use fewer levels or smaller windows.");
    }
  }
}

void
TextureClass<CooccurrenceJob>::SetFeatures(const CooccurrenceJob & job)
{
  using Feature = CooccurrenceJob::Feature;
  SetTaskFeatures(job.features, "CooccurrenceFeatureMapEnums::Feature", task);
  for (const Feature feature : job.features)
  {
    switch (feature)
    {
      case Feature::InverseDifference:
      case Feature::InverseDifferenceMoment:
      case Feature::InverseDifferenceMomentNormalized:
      case Feature::InverseDifferenceNormalized:
      case Feature::InverseVariance:
        task.needsWeights = true;
        break;
      case Feature::DifferenceEntropy:
        task.needsDifferenceCounts = true;
        break;
      case Feature::SumEntropy:
        task.needsSumCounts = true;
        break;
      case Feature::JointEnergy:
      case Feature::JointEntropy:
      case Feature::MaximumProbability:
        task.needsCells = true;
        break;
      case Feature::InformationalMeasureOfCorrelation1:
      case Feature::InformationalMeasureOfCorrelation2:
        task.needsCells = true;
        task.needsRows = true;
        break;
      case Feature::MaximalCorrelationCoefficient:
        task.hasOneLevel = job.hasOneLevel || job.numberOfGrayLevels == 1;
        task.needsMaximalCorrelation = !task.hasOneLevel;
        task.needsCells = task.needsCells || task.needsMaximalCorrelation;
        task.needsRows = task.needsRows || task.needsMaximalCorrelation;
        break;
      case Feature::Autocorrelation:
      case Feature::ClusterProminence:
      case Feature::ClusterShade:
      case Feature::ClusterTendency:
      case Feature::Contrast:
      case Feature::Correlation:
      case Feature::DifferenceAverage:
      case Feature::DifferenceVariance:
      case Feature::JointAverage:
      case Feature::SumAverage:
      case Feature::SumSquares:
        break;
    }
  }
}

void
TextureClass<CooccurrenceJob>::ChooseArithmetic()
{
  // |v| and k are at most Ng - 1; the bounds of CooccurrenceProminence are the greatest ones.
  const double pairs = static_cast<double>(task.maxPairs);
  const double pairsFourth = pairs * pairs * pairs * pairs;
  const double difference = task.numberOfGrayLevels - 1;
  const double differenceFourth = difference * difference * difference * difference;
  const double bound = std::max(4.0 * pairsFourth, 6.0 * pairs * pairs * pairs) * differenceFourth;
  if (bound <= PowerOfTwo(53) && pairsFourth < maxFusedDivisor)
  {
    task.arithmetic = CooccurrenceArithmetic::Double;
  }
  else
  {
    task.arithmetic = bound < PowerOfTwo(126) ? CooccurrenceArithmetic::Bits128 : CooccurrenceArithmetic::Bits256;
  }
  task.wideMoments = pairs * differenceFourth >= PowerOfTwo(62);
}

void
TextureClass<CooccurrenceJob>::MakeWeights()
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  int        bits = weightSumBits - CeilLog2(task.maxPairs);
  if (bits < minWeightBits + CeilLog2(1 + (levels - 1) * (levels - 1)))
  {
    bits = weightSumBits;
    task.wideWeights = true;
  }
  task.scales.weightScale = PowerOfTwo(-bits);
  if (task.needsWeights)
  {
    weights.resize(levels * NumberOfCooccurrenceWeights);
    for (std::uint64_t k = 0; k < levels; ++k)
    {
      std::int64_t * of = &weights[k * NumberOfCooccurrenceWeights];
      of[InverseDifferenceWeight] = FixedPointQuotient(1, 1 + k, bits);
      of[InverseDifferenceMomentWeight] = FixedPointQuotient(1, 1 + k * k, bits);
      of[InverseDifferenceMomentNormalizedWeight] = FixedPointQuotient(levels * levels, levels * levels + k * k, bits);
      of[InverseDifferenceNormalizedWeight] = FixedPointQuotient(levels, levels + k, bits);
      of[InverseVarianceWeight] = k == 0 ? 0 : FixedPointQuotient(1, k * k, bits);
    }
    task.weights = weights.data();
  }
}

void
TextureClass<CooccurrenceJob>::SetEntropyTable(const JobExecution & execution)
{
  const std::uint64_t maxTotal = task.scales.symmetric ? 2 * task.maxPairs : task.maxPairs;
  const int           bits = EntropyBits(maxTotal);
  task.scales.entropyScale = PowerOfTwo(-bits);
  if (task.needsDifferenceCounts || task.needsSumCounts || task.needsCells)
  {
    entropyTable = MakeEntropyTable(maxTotal, bits, execution);
    task.scales.entropyTable = entropyTable.data();
  }
}
} // namespace voxelmaps
