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
#ifndef CooccurrencePlan_h
#define CooccurrencePlan_h

#include "cooccurrence/CooccurrenceTask.h"
#include "texture/TexturePlan.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The plan of a CooccurrenceJob. */
class CooccurrencePlan : public TexturePlan<CooccurrenceTask>
{
public:
  /** Throws EngineError if the job breaks a rule. */
  explicit CooccurrencePlan(const CooccurrenceJob & job);

  // The tables of the task.
  std::vector<PairOffset>   offsets;
  std::vector<double>       offsetWeights;
  std::vector<std::int64_t> weights;
  std::vector<std::int64_t> entropyTable;

private:
  void
  SetOffsets(const CooccurrenceJob & job);
  void
  SetFeatures(const CooccurrenceJob & job);
  void
  ChooseArithmetic();
  void
  MakeWeights();
  void
  SetEntropyTable(const JobExecution & execution);
};
} // namespace voxelmaps

#endif // CooccurrencePlan_h
