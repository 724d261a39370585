// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
