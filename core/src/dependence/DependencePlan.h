// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DependencePlan_h
#define DependencePlan_h

#include "dependence/DependenceTask.h"
#include "texture/SizeMatrixPlan.h"
#include "texture/TexturePlan.h"

#include <vector>

namespace voxelmaps
{
/** The plan of a DependenceJob. */
class DependencePlan : public TexturePlan<DependenceTask>
{
public:
  /** Throws EngineError if the job breaks a rule. */
  explicit DependencePlan(const DependenceJob & job);

  // The tables of the task.
  std::vector<PairOffset> offsets;
  SizeMatrixPlan          matrix;

private:
  void
  SetOffsets(const DependenceJob & job);
};
} // namespace voxelmaps

#endif // DependencePlan_h
