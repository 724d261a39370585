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
