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
#ifndef RunLengthPlan_h
#define RunLengthPlan_h

#include "runlength/RunLengthTask.h"
#include "texture/TexturePlan.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The plan of a RunLengthJob. */
class RunLengthPlan : public TexturePlan<RunLengthTask>
{
public:
  /** Throws EngineError if the job breaks a rule. */
  explicit RunLengthPlan(const RunLengthJob & job);

  // The tables of the task.
  std::vector<double>        offsetWeights;
  std::vector<double>        lengthSquares;
  std::vector<double>        shortRunWeights;
  std::vector<std::uint64_t> inverseSquares;
  std::vector<std::int64_t>  entropyTable;

private:
  void
  SetFeatures(const RunLengthJob & job);
  void
  MakeLengthTables();
  void
  MakeInverses();
};
} // namespace voxelmaps

#endif // RunLengthPlan_h
