// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "gldm/Dependence.h"

#include "common/ParallelFor.h"

#include <algorithm>

namespace voxelmaps
{
const FeatureTable &
DependenceFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table(
    "gldm",
    {
      { "SDE", "SmallDependenceEmphasis", "", "low_dependence_emphasis" },
      { "LDE", "LargeDependenceEmphasis", "", "high_dependence_emphasis" },
      { "GLN", "GrayLevelNonUniformity", "", "grey_level_non_uniformity" },
      { "DN", "DependenceNonUniformity", "", "dependence_count_non_uniformity" },
      { "DNN", "DependenceNonUniformityNormalized", "", "normalised_dependence_count_non_uniformity" },
      { "GLV", "GrayLevelVariance", "", "grey_level_variance" },
      { "DV", "DependenceVariance", "", "dependence_count_variance" },
      { "DE", "DependenceEntropy", "", "dependence_count_entropy" },
      { "LGLE", "LowGrayLevelEmphasis", "", "low_grey_level_count_emphasis" },
      { "HGLE", "HighGrayLevelEmphasis", "", "high_grey_level_count_emphasis" },
      { "SDLGLE", "SmallDependenceLowGrayLevelEmphasis", "", "low_dependence_low_grey_level_emphasis" },
      { "SDHGLE", "SmallDependenceHighGrayLevelEmphasis", "", "low_dependence_high_grey_level_emphasis" },
      { "LDLGLE", "LargeDependenceLowGrayLevelEmphasis", "", "high_dependence_low_grey_level_emphasis" },
      { "LDHGLE", "LargeDependenceHighGrayLevelEmphasis", "", "high_dependence_high_grey_level_emphasis" },
    });
  return table;
}

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
