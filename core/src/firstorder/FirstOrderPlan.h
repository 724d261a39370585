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

  /** Set features, and what they need. Throws EngineError if they break a rule. */
  static void
  SetFeatures(const FirstOrderJob & job, FirstOrderTask & task);
};
} // namespace voxelmaps

#endif // FirstOrderPlan_h
