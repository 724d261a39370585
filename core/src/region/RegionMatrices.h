// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionMatrices_h
#define RegionMatrices_h

#include "region/CellCounts.h"
#include "region/RegionFormulas.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The gray levels of a region in its bounding box, 0 elsewhere and in a margin that all steps stay in. */
class RegionLevels
{
public:
  /** The margin is that of steps of up to so many voxels along each axis. */
  RegionLevels(const Triple & size, const Triple & margin);

  std::uint16_t *
  Row(std::int64_t y, std::int64_t z)
  {
    return m_Levels.data() + m_Start + z * m_PlanePitch + y * m_Pitch;
  }
  const std::uint16_t *
  Row(std::int64_t y, std::int64_t z) const
  {
    return m_Levels.data() + m_Start + z * m_PlanePitch + y * m_Pitch;
  }
  /** The distance in memory of two voxels. */
  std::int64_t
  Step(const Triple & offset) const
  {
    return offset[0] + offset[1] * m_Pitch + offset[2] * m_PlanePitch;
  }

  /** Call visit(row, begin, end, y, z) for the rows with voxels of the region: from the first to the last one. */
  template <typename TVisit>
  void
  ForEachRow(const JobExecution & execution, const TVisit & visit) const
  {
    for (std::int64_t z = 0; z < size[2]; ++z)
    {
      for (std::int64_t y = 0; y < size[1]; ++y)
      {
        const std::uint16_t * const row = this->Row(y, z);
        std::int64_t                begin = 0;
        std::int64_t                end = size[0];
        for (; begin < end && row[begin] == 0; ++begin)
        {
        }
        for (; begin < end && row[end - 1] == 0; --end)
        {
        }
        if (begin < end)
        {
          visit(row, begin, end, y, z);
        }
      }
      execution.CheckAbort();
    }
  }

  /** Fill counts, when all levels are there. */
  void
  Count(std::uint32_t largestLevel, const JobExecution & execution);

  Triple        size;
  std::uint32_t numberOfGrayLevels{ 0 };
  /** Number of voxels of each level; those of level 0 are not counted. */
  std::vector<std::uint64_t> counts;
  std::int64_t               numberOfVoxels{ 0 };
  bool                       hasOneLevel{ false };

private:
  friend std::vector<Cell>
  CountZones(const RegionLevels & levels, const std::array<bool, 3> & connectsAxis, const JobExecution & execution);

  std::int64_t               m_Pitch;
  std::int64_t               m_PlanePitch;
  std::int64_t               m_Start;
  std::vector<std::uint16_t> m_Levels;
};

/** Pairs of levels of the voxels p and p + offset. */
std::vector<Cell>
CountPairs(const RegionLevels & levels, const Triple & offset, const JobExecution & execution);

/** Runs by level and length; none if no line along the direction has two voxels of the region and these are skipped. */
std::vector<Cell>
CountRuns(const RegionLevels & levels, const Triple & direction, bool skipsWithoutPairs,
          const JobExecution & execution);

/** Zones by level and number of voxels. */
std::vector<Cell>
CountZones(const RegionLevels & levels, const std::array<bool, 3> & connectsAxis, const JobExecution & execution);

/** Voxels by level and 1 + number of dependent neighbors at p + offset and p - offset. */
std::vector<Cell>
CountDependences(const RegionLevels & levels, const std::vector<Triple> & offsets, std::uint32_t alpha,
                 const JobExecution & execution);

/** The levels with voxels; those without a neighbor have no difference. */
std::vector<ToneDifference>
CountToneDifferences(const RegionLevels & levels, const std::vector<Triple> & offsets, const JobExecution & execution);
} // namespace voxelmaps

#endif // RegionMatrices_h
