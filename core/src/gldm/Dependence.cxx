// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "gldm/Dependence.h"

#include "common/ParallelFor.h"

#include <algorithm>

namespace voxelmaps
{
TextureClass<DependenceJob>::TextureClass(const DependenceJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  SetTextureTask(job, static_cast<int>(job.features.size()), task);
  SetTaskFeatures(job.features, "DependenceFeatureMapEnums::Feature", task);
  SizeMatrixPlan::SetFeatures(dependenceMatrixFeatures, task);
  offsets = MakeNeighborOffsets(job.offsets, task.window);
  task.numberOfOffsets = static_cast<int>(offsets.size());
  task.offsets = offsets.data();
  task.alpha = static_cast<int>(std::min(job.alpha, job.numberOfGrayLevels));
  task.maxSize = std::min(1 + 2 * task.numberOfOffsets, task.windowVoxels);
  matrix.Make(task.maxSize, job.execution, task);
}
} // namespace voxelmaps
