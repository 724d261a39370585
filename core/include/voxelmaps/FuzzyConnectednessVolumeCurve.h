// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessVolumeCurve_h
#define voxelmaps_FuzzyConnectednessVolumeCurve_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class FuzzyConnectednessVolumeCurve
 * \brief How many voxels have at least a certain strength, for all thresholds of one strength map.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT FuzzyConnectednessVolumeCurve
{
public:
  FuzzyConnectednessVolumeCurve() = default;
  FuzzyConnectednessVolumeCurve(const float * strengths, std::int64_t numberOfVoxels,
                                const JobExecution & execution = {});
  FuzzyConnectednessVolumeCurve(const double * strengths, std::int64_t numberOfVoxels,
                                const JobExecution & execution = {});

  /** Number of voxels whose strength is not 0 and not below a threshold. */
  std::int64_t
  GetNumberOfVoxels(double threshold) const;

  /** The threshold above the largest relative growth of the object, from at least minNumberOfVoxels voxels on: where it
   * leaks, all voxels that it reaches through the weakest link on their way have the strength of that link, so that
   * their number is added to the object's at once. The threshold is the smallest strength of the object before. Of
   * several that grow equally, the greatest. 0 if there is none. */
  double
  GetSuggestedThreshold(std::int64_t minNumberOfVoxels) const;

private:
  template <typename TReal>
  void
  Count(const TReal * strengths, std::int64_t numberOfVoxels, const JobExecution & execution);

  /** The strengths that occur, except 0, in falling order, and how many voxels have at least each. */
  std::vector<double>       m_Strengths;
  std::vector<std::int64_t> m_Volumes;
};
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessVolumeCurve_h
