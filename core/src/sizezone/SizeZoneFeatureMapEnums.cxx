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
#include "voxelmaps/SizeZoneFeatureMapEnums.h"

#include "texture/FeatureNames.h"

#include <ostream>

namespace voxelmaps
{
namespace
{
// In the order of the enumeration.
constexpr FeatureNames sizeZoneFeatures[SizeZoneFeatureMapEnums::NumberOfFeatures] = {
  { "GLN", "GrayLevelNonUniformity", "GrayLevelNonUniformity", "grey_level_non_uniformity" },
  { "GLNN",
    "GrayLevelNonUniformityNormalized",
    "GrayLevelNonUniformityNormalized",
    "normalised_grey_level_non_uniformity" },
  { "GLV", "GrayLevelVariance", "GrayLevelVariance", "grey_level_variance" },
  { "HGLZE", "HighGrayLevelZoneEmphasis", "HighGrayLevelZoneEmphasis", "high_grey_level_zone_emphasis" },
  { "LAE", "LargeAreaEmphasis", "LargeAreaEmphasis", "large_zone_emphasis" },
  { "LAHGLE",
    "LargeAreaHighGrayLevelEmphasis",
    "LargeAreaHighGrayLevelEmphasis",
    "large_zone_high_grey_level_emphasis" },
  { "LALGLE", "LargeAreaLowGrayLevelEmphasis", "LargeAreaLowGrayLevelEmphasis", "large_zone_low_grey_level_emphasis" },
  { "LGLZE", "LowGrayLevelZoneEmphasis", "LowGrayLevelZoneEmphasis", "low_grey_level_zone_emphasis" },
  { "SZN", "SizeZoneNonUniformity", "SizeZoneNonUniformity", "zone_size_non_uniformity" },
  { "SZNN",
    "SizeZoneNonUniformityNormalized",
    "SizeZoneNonUniformityNormalized",
    "normalised_zone_size_non_uniformity" },
  { "SAE", "SmallAreaEmphasis", "SmallAreaEmphasis", "small_zone_emphasis" },
  { "SAHGLE",
    "SmallAreaHighGrayLevelEmphasis",
    "SmallAreaHighGrayLevelEmphasis",
    "small_zone_high_grey_level_emphasis" },
  { "SALGLE", "SmallAreaLowGrayLevelEmphasis", "SmallAreaLowGrayLevelEmphasis", "small_zone_low_grey_level_emphasis" },
  { "ZE", "ZoneEntropy", "ZoneEntropy", "zone_size_entropy" },
  { "ZP", "ZonePercentage", "ZonePercentage", "zone_percentage" },
  { "ZV", "ZoneVariance", "ZoneVariance", "zone_size_variance" },
};
} // namespace

const char *
SizeZoneFeatureMapEnums::GetAbbreviation(Feature feature)
{
  return GetFeatureNames(sizeZoneFeatures, feature).abbreviation;
}

const char *
SizeZoneFeatureMapEnums::GetName(Feature feature)
{
  return GetFeatureNames(sizeZoneFeatures, feature).name;
}

const char *
SizeZoneFeatureMapEnums::GetPyRadiomicsName(Feature feature)
{
  return GetFeatureNames(sizeZoneFeatures, feature).pyRadiomicsName;
}

bool
SizeZoneFeatureMapEnums::FindFeature(const std::string & name, Feature & feature)
{
  return FindFeatureByName(sizeZoneFeatures, name, feature);
}

std::vector<SizeZoneFeatureMapEnums::Feature>
SizeZoneFeatureMapEnums::GetAllFeatures()
{
  return GetFirstFeatures<Feature>(NumberOfFeatures);
}

std::ostream &
operator<<(std::ostream & out, SizeZoneFeatureMapEnums::Feature value)
{
  return out << SizeZoneFeatureMapEnums::GetName(value);
}

std::ostream &
operator<<(std::ostream & out, SizeZoneFeatureMapEnums::Connectivity value)
{
  switch (value)
  {
    case SizeZoneFeatureMapEnums::Connectivity::Full:
      return out << "Full";
    case SizeZoneFeatureMapEnums::Connectivity::InPlane:
      return out << "InPlane";
  }
  return out << "invalid connectivity";
}

std::ostream &
operator<<(std::ostream & out, SizeZoneFeatureMapEnums::CudaMethod value)
{
  switch (value)
  {
    case SizeZoneFeatureMapEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case SizeZoneFeatureMapEnums::CudaMethod::BitPlanes:
      return out << "BitPlanes";
    case SizeZoneFeatureMapEnums::CudaMethod::UnionFind:
      return out << "UnionFind";
  }
  return out << "invalid method";
}
} // namespace voxelmaps
