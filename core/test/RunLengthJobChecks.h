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
#ifndef RunLengthJobChecks_h
#define RunLengthJobChecks_h

#include "TextureRandomCase.h"
#include "TextureJobChecks.h"

#include <cstdint>
#include <vector>

namespace VoxelMapsTest
{
/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal>
void
CheckRunLengthCase(const TextureRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  CheckAllEnginesAndWindowWalk<TReal>(
    MakeRunLengthJob(randomCase),
    random,
    [&](const std::vector<TReal> & result, double backgroundValue) {
      return AgreesWithOracle(randomCase, result, backgroundValue, random, budget);
    },
    2e7);
}
} // namespace VoxelMapsTest

#endif // RunLengthJobChecks_h
