// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "glszm/SizeZone.h"

#include "common/ParallelFor.h"

namespace voxelmaps
{
TextureClass<SizeZoneJob>::TextureClass(const SizeZoneJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyEnumerator("The connectivity", job.connectivity, SizeZoneJob::Connectivity::InPlane);
  SetTextureTask(job, static_cast<int>(job.features.size()), task);
  SetTaskFeatures(job.features, "SizeZoneFeatureMapEnums::Feature", task);
  task.connectsSlices = job.connectivity == SizeZoneJob::Connectivity::Full;
  SizeMatrixPlan::SetFeatures(sizeZoneMatrixFeatures, task);
  matrix.Make(task.windowVoxels, job.execution, task);
}
} // namespace voxelmaps
