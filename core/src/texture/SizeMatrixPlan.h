// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
  /** Limits of a matrix. */
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
