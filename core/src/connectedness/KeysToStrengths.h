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
