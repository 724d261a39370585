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
#ifndef TexturePlan_h
#define TexturePlan_h

#include "voxelmaps/Job.h"

#include <algorithm>
#include <string>
#include <vector>

namespace voxelmaps
{
/** Values derived from the parameters of a job, which are the same for all its voxels and for all engines. The plan of
 * a texture class fills the task, and owns the tables to which the task points. */
template <typename TTask>
class TexturePlan
{
public:
  TexturePlan(const TexturePlan &) = delete;
  TexturePlan &
  operator=(const TexturePlan &) = delete;

  /** The task of the whole job, with host pointers. */
  TTask task{};

protected:
  TexturePlan() = default;
  ~TexturePlan() = default;
};

/** Copy the features of a job into its task. Throws EngineError, with the name of the enumeration, unless there is a
 * feature, all exist, and none is given twice: engines may leave components of the second one unwritten. */
template <typename TFeature, typename TTask>
void
SetTaskFeatures(const std::vector<TFeature> & features, const char * enumeration, TTask & task)
{
  const auto isUnknown = [](TFeature feature) { return static_cast<int>(feature) >= TTask::maxFeatures; };
  if (features.empty() || features.size() > std::size_t{ TTask::maxFeatures } ||
      std::any_of(features.begin(), features.end(), isUnknown))
  {
    throw EngineError("A job has " + std::to_string(features.size()) + " features, but must have 1 to " +
                      std::to_string(TTask::maxFeatures) + " of " + enumeration + '.');
  }
  for (auto it = features.begin(); it != features.end(); ++it)
  {
    if (std::find(features.begin(), it, *it) != it)
    {
      throw EngineError("A job has the feature " + std::to_string(static_cast<int>(*it)) + " of " + enumeration +
                        " twice, but must have each at most once.");
    }
  }
  task.numberOfFeatures = static_cast<int>(features.size());
  std::copy(features.begin(), features.end(), task.features);
}
} // namespace voxelmaps

#endif // TexturePlan_h
