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
#include "voxelmaps/RunLengthFeatureMapEnums.h"

namespace voxelmaps
{
const FeatureTable &
RunLengthFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table({
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
