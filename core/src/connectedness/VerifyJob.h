// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef VerifyJob_h
#define VerifyJob_h

#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <string>

namespace voxelmaps
{
/** Throw an EngineError that names the value if size, pixel type or seeds are invalid. */
void
VerifyInput(const FuzzyConnectednessInput & input);

/** What limits the methods, for messages. */
std::string
DescribeImage(const FuzzyConnectednessInput & input);

/** Throw an EngineError if a seed is outside the mask, whose value there is given. */
void
VerifySeedMask(std::int64_t seed, std::uint8_t mask);

/** Throw an EngineError, with the context, unless the means and covariance matrices that an affinity function uses are
 * valid for so many components; see FuzzyConnectednessAffinity. */
void
VerifyAffinity(const FuzzyConnectednessAffinity & affinity, FuzzyConnectednessEnums::AffinityFunction function,
               unsigned int numberOfComponents, const std::string & context);

/** VerifyInput, and the same for the parameters except the affinity. The spacing is verified where the links are made,
 * and a mask in device memory by VerifyDeviceMask. */
void
VerifyProblem(const FuzzyConnectednessProblem & problem, MemoryLocation maskLocation = MemoryLocation::Host);

/** VerifyProblem, and the same for the affinity. */
void
VerifyJob(const FuzzyConnectednessJob & job, MemoryLocation maskLocation = MemoryLocation::Host);

/** Throws EngineError if the input is invalid or the output is null, which jobs whose keys go elsewhere may be. */
void
VerifyOutput(const FuzzyConnectednessJob & job);

/** VerifyProblem, and the same for the method, labels and their affinities. */
void
VerifyRelativeJob(const RelativeFuzzyConnectednessJob & job, MemoryLocation maskLocation = MemoryLocation::Host);
} // namespace voxelmaps

#endif // VerifyJob_h
