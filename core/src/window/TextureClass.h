// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureClass_h
#define TextureClass_h

#include "common/Methods.h"
#include "window/TextureTask.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace voxelmaps
{
class CudaTables;
template <typename TJob>
struct CudaTextureMethod;

/** A method of the CPU engine for one job. */
template <typename TJob>
struct TextureMethod
{
  const char *                          name;
  MethodSupport                         support;
  std::function<void(const TJob & job)> compute;
};

/** A texture class, by its job: the values derived from the parameters of a job, which are the same for all its voxels
 * and for all engines, and the engines. Every class specializes it, with the base TextureClassBase:
 * - TextureClass(const TJob &) throws EngineError if the job breaks a rule. It fills the task, and owns the tables to
 *   which the task points.
 * - GetMethods(const TJob &) lists the methods of the CPU for the job, the faster ones first; one must support every
 *   job. They compute jobs whose output is not empty.
 * - GetCudaMethods() lists the methods of CUDA for the job, the faster ones first. The CPU computes jobs that none of
 *   them supports without being named.
 * - AddCudaTables(CudaTables &, TTask &) adds the tables, if there are any, to those that are copied to the device, and
 *   whose pointers in the task are set. */
template <typename TJob>
class TextureClass;

template <typename TTask>
class TextureClassBase
{
public:
  using Task = TTask;

  TextureClassBase(const TextureClassBase &) = delete;
  TextureClassBase &
  operator=(const TextureClassBase &) = delete;

  void
  AddCudaTables(CudaTables &, TTask &) const
  {}

  /** The task of the entire job, with host pointers. */
  TTask task{};

protected:
  TextureClassBase() = default;
  ~TextureClassBase() = default;
};

/** What limits the methods, for messages. */
std::string
DescribeJob(const TextureTask & task);

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
      throw EngineError("The feature " + std::to_string(static_cast<int>(*it)) + " of " + enumeration +
                        " is given twice, but each may be given once.");
    }
  }
  task.numberOfFeatures = static_cast<int>(features.size());
  std::copy(features.begin(), features.end(), task.features);
}
} // namespace voxelmaps

#endif // TextureClass_h
