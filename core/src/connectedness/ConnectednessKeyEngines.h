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
#ifndef ConnectednessKeyEngines_h
#define ConnectednessKeyEngines_h

#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

// The engines up to their last step, in which keys become strengths.
namespace voxelmaps
{
/** Compute one key per voxel on the CPU, see ConnectednessKeys.h; the output of the job is not used. */
FuzzyConnectednessReport
ComputeFuzzyConnectednessKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys);

/** The same on a CUDA device. */
CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessKeysCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options,
                                  std::uint32_t * keys);

/** The method by which the CPU engine computes a job. */
FuzzyConnectednessJob::Method
ChooseMethod(const FuzzyConnectednessJob & job);
} // namespace voxelmaps

#endif // ConnectednessKeyEngines_h
