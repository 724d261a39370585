// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/RunLengthFeatureMapEnums.h"

namespace voxelmaps
{
const FeatureTable &
RunLengthFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table(
    "glrlm",
    {
      { "SRE", "ShortRunEmphasis", "", "short_runs_emphasis" },
      { "LRE", "LongRunEmphasis", "", "long_runs_emphasis" },
      { "GLN", "GrayLevelNonUniformity", "", "grey_level_non_uniformity" },
      { "RLN", "RunLengthNonUniformity", "", "run_length_non_uniformity" },
      { "RP", "RunPercentage", "", "run_percentage" },
      { "LGRE", "LowGrayLevelRunEmphasis", "", "low_grey_level_run_emphasis" },
      { "HGRE", "HighGrayLevelRunEmphasis", "", "high_grey_level_run_emphasis" },
      { "SRLGE", "ShortRunLowGrayLevelEmphasis", "", "short_run_low_grey_level_emphasis" },
      { "SRHGE", "ShortRunHighGrayLevelEmphasis", "", "short_run_high_grey_level_emphasis" },
      { "LRLGE", "LongRunLowGrayLevelEmphasis", "", "long_run_low_grey_level_emphasis" },
      { "LRHGE", "LongRunHighGrayLevelEmphasis", "", "long_run_high_grey_level_emphasis" },
      { "GLNN", "GrayLevelNonUniformityNormalized", "", "normalised_grey_level_non_uniformity" },
      { "RLNN", "RunLengthNonUniformityNormalized", "", "normalised_run_length_non_uniformity" },
      { "GLV", "GrayLevelVariance", "", "grey_level_variance" },
      { "RV", "RunVariance", "", "run_length_variance" },
      { "RE", "RunEntropy", "", "run_entropy" },
    });
  return table;
}

std::vector<RunLengthFeatureMapEnums::Feature>
RunLengthFeatureMapEnums::GetElevenFeatures()
{
  return GetFirstEnumerators<Feature>(11);
}
} // namespace voxelmaps
