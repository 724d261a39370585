// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef KeysToStrengths_h
#define KeysToStrengths_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

namespace voxelmaps
{
/** The part of the output in which the keys lie until they become strengths: all of it for float, the second half for
 * double. */
std::uint32_t *
GetKeysInOutput(const FuzzyConnectednessJob & job);

/** Set all keys to noKey. */
void
ClearKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys);

/** Fill the output of the job with the strengths of keys, which lie there (see GetKeysInOutput) or anywhere else. */
void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, const std::uint32_t * keys);
} // namespace voxelmaps

#endif // KeysToStrengths_h
