// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "window/SizeMatrixPlan.h"

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
SizeMatrixPlan::MakeTables(int maxEntries, int greatest, bool needsEntropy, const JobExecution & execution,
                           SizeMatrixScales & scales)
{
  const auto entries = static_cast<std::uint64_t>(maxEntries);
  const int  bits = std::min(maxInverseBits, (sumBits - CeilLog2(entries + 1)) / 2);
  m_InverseSquares = MakeInverseSquares(static_cast<std::uint64_t>(greatest), bits);
  scales.inverseSquares = m_InverseSquares.data();
  scales.inverseScale = PowerOfTwo(-bits);
  const int entropyBits = EntropyBits(entries);
  scales.entropyScale = PowerOfTwo(-entropyBits);
  scales.entropyTable = nullptr;
  if (needsEntropy)
  {
    m_EntropyTable = MakeEntropyTable(entries, entropyBits, execution);
    scales.entropyTable = m_EntropyTable.data();
  }
}
} // namespace voxelmaps
