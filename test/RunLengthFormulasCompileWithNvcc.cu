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

// Instantiated for host and device by name alone, so that this file need not follow every change of an argument.
using namespace itk::voxelmaps;

template struct itk::voxelmaps::RunLengthSums<double>;
template struct itk::voxelmaps::RunLengthDivisors<double, PlainDivision<double>>;

namespace
{
__host__ __device__ bool
HasAllFunctions()
{
  const auto add = &AddRunsOfLength<double>;
  const auto evaluate = &RunLengthFeatureValue<double, PlainDivision<double>>;
  return add != nullptr && evaluate != nullptr;
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
