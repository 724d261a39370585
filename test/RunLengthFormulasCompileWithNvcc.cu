/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "RunLengthFormulas.h"

namespace
{
using itk::RunLengthFeatureMapEnums;
using namespace itk::voxelmaps;

// Uses all of the header, so that templates are compiled as well.
__host__ __device__ double
SumOfFeatures(const RunLengthScales & scales)
{
  using Division = PlainDivision<double>;
  RunLengthSums<double> sums{};
  ClearRuns(sums);
  AddRunsOfLength(sums, 4.0, 0.25, 3.0, 5.0, 7.0);
  const RunLengthDivisors<double, Division> by(sums, Division::By(scales.shortRunScale));
  double                                    total = 0.0;
  for (unsigned int i = 0; i < RunLengthFeatureMapEnums::NumberOfFeatures; ++i)
  {
    total += RunLengthFeatureValue(static_cast<RunLengthFeatureMapEnums::Feature>(i), sums, by, scales);
  }
  return total;
}
} // namespace

__global__ void
SumOfFeaturesKernel(RunLengthScales scales, double * result)
{
  *result = SumOfFeatures(scales);
}

double
SumOfFeaturesOnHost(RunLengthScales scales)
{
  return SumOfFeatures(scales);
}
