// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
