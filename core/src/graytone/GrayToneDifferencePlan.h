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
#ifndef GrayToneDifferencePlan_h
#define GrayToneDifferencePlan_h

#include "graytone/GrayToneDifferenceTask.h"
#include "texture/TexturePlan.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The plan of a GrayToneDifferenceJob. */
class GrayToneDifferencePlan : public TexturePlan<GrayToneDifferenceTask>
{
public:
  /** Throws EngineError if the job breaks a rule. */
  explicit GrayToneDifferencePlan(const GrayToneDifferenceJob & job);

  // The tables of the task.
  std::vector<PairOffset>    offsets;
  std::vector<std::uint64_t> weights;

private:
  void
  SetFeatures(const GrayToneDifferenceJob & job);
  void
  SetOffsets(const GrayToneDifferenceJob & job);
  void
  MakeWeights();
};
} // namespace voxelmaps

#endif // GrayToneDifferencePlan_h
