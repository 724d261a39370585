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
#ifndef SizeMatrixPlan_h
#define SizeMatrixPlan_h

#include "voxelmaps/Job.h"
#include "texture/SizeMatrix.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** Owns the tables of SizeMatrixScales. */
class SizeMatrixPlan
{
public:
  /** What a matrix can have at most. */
  struct Bounds
  {
    std::uint64_t entries;
    std::uint64_t level;
    std::uint64_t size;
  };

  /** Make the tables, and the scales that point to them. */
  void
  Make(const Bounds & bounds, bool needsEntropy, const JobExecution & execution, SizeMatrixScales & scales);

  /** Add the tables to those of a device, to which the scales will point. */
  template <typename TDeviceTables>
  void
  AddTables(TDeviceTables & tables, SizeMatrixScales & scales) const
  {
    tables.Add(inverseSquares, scales.inverseSquares);
    if (scales.entropyTable != nullptr)
    {
      tables.Add(entropyTable, scales.entropyTable);
    }
  }

  std::vector<std::uint64_t> inverseSquares;
  std::vector<std::int64_t>  entropyTable;
};
} // namespace voxelmaps

#endif // SizeMatrixPlan_h
