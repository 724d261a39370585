// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "glszm/SizeZone.h"

#include "common/ParallelFor.h"

namespace voxelmaps
{
const FeatureTable &
SizeZoneFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table(
    "glszm",
    {
      { "GLN", "GrayLevelNonUniformity", "", "grey_level_non_uniformity" },
      { "GLNN", "GrayLevelNonUniformityNormalized", "", "normalised_grey_level_non_uniformity" },
      { "GLV", "GrayLevelVariance", "", "grey_level_variance" },
      { "HGLZE", "HighGrayLevelZoneEmphasis", "", "high_grey_level_zone_emphasis" },
      { "LAE", "LargeAreaEmphasis", "", "large_zone_emphasis" },
      { "LAHGLE", "LargeAreaHighGrayLevelEmphasis", "", "large_zone_high_grey_level_emphasis" },
      { "LALGLE", "LargeAreaLowGrayLevelEmphasis", "", "large_zone_low_grey_level_emphasis" },
      { "LGLZE", "LowGrayLevelZoneEmphasis", "", "low_grey_level_zone_emphasis" },
      { "SZN", "SizeZoneNonUniformity", "", "zone_size_non_uniformity" },
      { "SZNN", "SizeZoneNonUniformityNormalized", "", "normalised_zone_size_non_uniformity" },
      { "SAE", "SmallAreaEmphasis", "", "small_zone_emphasis" },
      { "SAHGLE", "SmallAreaHighGrayLevelEmphasis", "", "small_zone_high_grey_level_emphasis" },
      { "SALGLE", "SmallAreaLowGrayLevelEmphasis", "", "small_zone_low_grey_level_emphasis" },
      { "ZE", "ZoneEntropy", "", "zone_size_entropy" },
      { "ZP", "ZonePercentage", "", "zone_percentage" },
      { "ZV", "ZoneVariance", "", "zone_size_variance" },
    });
  return table;
}

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
