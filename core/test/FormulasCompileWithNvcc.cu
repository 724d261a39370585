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
#include "texture/SizeMatrixPlan.h"

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

template <typename... TFunctions>
__host__ __device__ bool
AreFunctions(TFunctions... functions)
{
  return (... && (functions != nullptr));
}

__host__ __device__ bool
HasAllFunctions()
{
  return AreFunctions(&AddRunsWithLength<double, double>,
                      &RunLengthFeatureValue<double, PlainDivision<double>>,
                      &RunLengthAverageTerm<double>,
                      &RunLengthAverage<double, PlainDivision<double>>,
                      &CooccurrenceFeatureValue<double, FusedDivision<double, DoubleArithmetic>>,
                      &CooccurrenceFeatureValue<WideInteger<2>, PlainDivision<double>>,
                      &CooccurrenceFeatureValue<WideInteger<4>, PlainDivision<double>>,
                      &TermKey,
                      &KeyStrength,
                      &MeanTerm,
                      &DifferenceTerm,
                      &StartFirstOrderSums<double>,
                      &AddIntensity<double>,
                      &AddDeviation<double>,
                      &AddRobustIntensity<double>,
                      &AddRobustDeviation<double>,
                      &FirstOrderFeatureValue<double, Root>,
                      &Percentile<Numbers>,
                      &ComputeMedian<Numbers>,
                      &GrayToneDifferenceFeatureValue,
                      &GrayToneDifferencePairTerm<double>,
                      &AreDependent,
                      &StoreSizeMatrixFeatures<DependenceFeatureMapEnums>,
                      &StoreSizeMatrixFeatures<SizeZoneFeatureMapEnums>,
                      &GrayLevelFormula::GetLevel,
                      &AddGroup<levelAxis>,
                      &AddGroup<sizeAxis>,
                      &SizeMatrixFeatureValue);
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
