// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "texture/SizeMatrixPlan.h"

#include "common/FixedPoint.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
// Sums of q(i) q(j) must stay below 2^127, and q(n) needs some bits to round.
constexpr int sumBits = 127;
constexpr int maxInverseBits = 62;
} // namespace

void
SizeMatrixPlan::Make(const Bounds & bounds, bool needsEntropy, const JobExecution & execution,
                     SizeMatrixScales & scales)
{
  const int bits = std::min(maxInverseBits, (sumBits - CeilLog2(bounds.entries + 1)) / 2);
  inverseSquares = MakeInverseSquares(std::max(bounds.level, bounds.size), bits);
  scales.inverseSquares = inverseSquares.data();
  scales.inverseScale = PowerOfTwo(-bits);
  const int entropyBits = EntropyBits(bounds.entries);
  scales.entropyScale = PowerOfTwo(-entropyBits);
  scales.entropyTable = nullptr;
  if (needsEntropy)
  {
    entropyTable = MakeEntropyTable(bounds.entries, entropyBits, execution);
    scales.entropyTable = entropyTable.data();
  }
}
} // namespace voxelmaps
