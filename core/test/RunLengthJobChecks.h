// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
