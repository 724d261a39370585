// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "connectedness/ConnectednessKeys.h"
#include "cooccurrence/Cooccurrence.h"
#include "dependence/Dependence.h"
#include "discretization/GrayLevelFormula.h"
#include "firstorder/FirstOrderFormulas.h"
#include "graytone/GrayToneDifferenceFormulas.h"
#include "runlength/RunLengthFormulas.h"
#include "sizezone/SizeZone.h"
#include "texture/SizeMatrix.h"

// Instantiated for host and device by name alone, so that this file need not follow every change of an argument.
using namespace voxelmaps;

template struct voxelmaps::RunLengthSums<double>;
template struct voxelmaps::RunLengthDivisors<double, PlainDivision<double>>;
template struct voxelmaps::CooccurrenceDivisors<PlainDivision<double>>;
template struct voxelmaps::CooccurrenceDivisors<FusedDivision<double, DoubleArithmetic>>;

template class voxelmaps::GrayToneDifferenceTotals<NarrowDifference::Number>;
template class voxelmaps::GrayToneDifferenceTotals<WideDifference::Number>;

namespace
{
struct Root
{
  static __host__ __device__ double
  Of(double value)
  {
    return sqrt(value);
  }
};

struct Numbers
{
  __host__ __device__ double
  operator()(int k) const
  {
    return k;
  }
};

__host__ __device__ bool
HasAllFunctions()
{
  const auto add = &AddRunsWithLength<double>;
  const auto evaluate = &RunLengthFeatureValue<double, PlainDivision<double>>;
  const auto averageTerm = &RunLengthAverageTerm<double>;
  const auto average = &RunLengthAverage<double, PlainDivision<double>>;
  const auto cooccurrence = &CooccurrenceFeatureValue<double, FusedDivision<double, DoubleArithmetic>>;
  const auto wideCooccurrence = &CooccurrenceFeatureValue<WideInteger<2>, PlainDivision<double>>;
  const auto widestCooccurrence = &CooccurrenceFeatureValue<WideInteger<4>, PlainDivision<double>>;
  const auto termKey = &TermKey;
  const auto keyStrength = &KeyStrength;
  const auto meanTerm = &MeanTerm;
  const auto differenceTerm = &DifferenceTerm;
  const auto startFirstOrder = &StartFirstOrderSums<double>;
  const auto addIntensity = &AddIntensity<double>;
  const auto addDeviation = &AddDeviation<double>;
  const auto addRobustIntensity = &AddRobustIntensity<double>;
  const auto addRobustDeviation = &AddRobustDeviation<double>;
  const auto firstOrder = &FirstOrderFeatureValue<double, Root>;
  const auto percentile = &Percentile<Numbers>;
  const auto median = &ComputeMedian<Numbers>;
  const auto grayToneDifference = &GrayToneDifferenceFeatureValue;
  const auto pairTerm = &GrayToneDifferencePairTerm<double>;
  const auto dependent = &AreDependent;
  const auto storeDependences = &StoreDependenceFeatures;
  const auto grayLevel = &GrayLevelFormula::GetLevel;
  const auto addLevel = &AddGroup<levelAxis>;
  const auto addSize = &AddGroup<sizeAxis>;
  const auto sizeMatrix = &SizeMatrixFeatureValue;
  const auto zoneSizeMatrix = &ToSizeMatrixFeature;
  if (startFirstOrder == nullptr || addIntensity == nullptr || addDeviation == nullptr ||
      addRobustIntensity == nullptr || addRobustDeviation == nullptr || firstOrder == nullptr ||
      percentile == nullptr || median == nullptr || addLevel == nullptr || addSize == nullptr ||
      sizeMatrix == nullptr || grayToneDifference == nullptr || pairTerm == nullptr || dependent == nullptr ||
      storeDependences == nullptr || zoneSizeMatrix == nullptr || grayLevel == nullptr)
  {
    return false;
  }
  return add != nullptr && evaluate != nullptr && averageTerm != nullptr && average != nullptr &&
         cooccurrence != nullptr && wideCooccurrence != nullptr && widestCooccurrence != nullptr &&
         termKey != nullptr && keyStrength != nullptr && meanTerm != nullptr && differenceTerm != nullptr;
}
} // namespace

__global__ void
HasAllFunctionsKernel(bool * result)
{
  *result = HasAllFunctions();
}

bool
HasAllFunctionsOnHost()
{
  return HasAllFunctions();
}
