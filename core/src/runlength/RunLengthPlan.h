// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
