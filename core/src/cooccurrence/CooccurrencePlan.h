// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
