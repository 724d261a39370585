// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZonePlan_h
#define SizeZonePlan_h

#include "sizezone/SizeZoneTask.h"
#include "texture/SizeMatrixPlan.h"
#include "texture/TexturePlan.h"

namespace voxelmaps
{
/** The plan of a SizeZoneJob. */
class SizeZonePlan : public TexturePlan<SizeZoneTask>
{
public:
  /** Throws EngineError if the job breaks a rule. */
  explicit SizeZonePlan(const SizeZoneJob & job);

  /** The tables of the task. */
  SizeMatrixPlan matrix;
};
} // namespace voxelmaps

#endif // SizeZonePlan_h
