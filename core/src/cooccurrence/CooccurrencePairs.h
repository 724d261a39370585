// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrencePairs_h
#define CooccurrencePairs_h

#include "cooccurrence/Cooccurrence.h"

#include <cstdint>

namespace voxelmaps
{
/** Add a pair to the sums of moments and weights: all sums that do not depend on other pairs. */
VOXELMAPS_HOST_DEVICE inline void
AddCooccurrencePair(const CooccurrenceTask & task, int a, int b, CooccurrenceSums & sums)
{
  const std::int64_t e = a - b;
  const std::int64_t k = e < 0 ? -e : e;
  const std::int64_t v = a + b - task.scales.center;
  const std::int64_t square = v * v;
  const std::int64_t cube = square * v;
  ++sums.pairs;
  sums.sums += v;
  sums.sumSquares += square;
  if (task.wideMoments)
  {
    // |v| < 2^16, so the fourth power fits 64 bits without a sign.
    const std::uint64_t fourth = static_cast<std::uint64_t>(square) * static_cast<std::uint64_t>(square);
    const std::int64_t  cubeLow = cube & 0xffffffff;
    sums.sumCubes += cubeLow;
    sums.sumCubesHigh += (cube - cubeLow) / 4294967296;
    sums.sumFourths += static_cast<std::int64_t>(fourth & 0xffffffffu);
    sums.sumFourthsHigh += static_cast<std::int64_t>(fourth >> 32);
  }
  else
  {
    sums.sumCubes += cube;
    sums.sumFourths += square * square;
  }
  sums.differences += k;
  sums.differenceSquares += k * k;
  if (!task.scales.symmetric)
  {
    sums.signedDifferences += e;
    sums.products += v * e;
  }
  if (task.needsWeights)
  {
    const std::int64_t * const weights = task.weights + k * NumberOfCooccurrenceWeights;
    for (int w = 0; w < NumberOfCooccurrenceWeights; ++w)
    {
      if (task.wideWeights)
      {
        sums.weights[w] += weights[w] & 0xffffffff;
        sums.weightsHigh[w] += weights[w] >> 32;
      }
      else
      {
        sums.weights[w] += weights[w];
      }
    }
  }
}
} // namespace voxelmaps

#endif // CooccurrencePairs_h
