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
