// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderPlan_h
#define FirstOrderPlan_h

#include "firstorder/FirstOrderTask.h"
#include "texture/TexturePlan.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The plan of a FirstOrderJob. */
class FirstOrderPlan : public TexturePlan<FirstOrderTask>
{
public:
  /** Throws EngineError if the job breaks a rule. */
  explicit FirstOrderPlan(const FirstOrderJob & job);

  /** The table of the task. */
  std::vector<std::int64_t> entropyTable;
};
} // namespace voxelmaps

#endif // FirstOrderPlan_h
