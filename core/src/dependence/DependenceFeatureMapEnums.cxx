// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/DependenceFeatureMapEnums.h"

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
} // namespace voxelmaps
