// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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

  /** The task of the entire job, with host pointers. */
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
