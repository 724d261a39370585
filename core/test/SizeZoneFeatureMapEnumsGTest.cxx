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

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Enums = voxelmaps::SizeZoneFeatureMapEnums;
using Feature = Enums::Feature;

template <typename TEnum>
std::string
Print(TEnum value)
{
  std::ostringstream out;
  out << value;
  return out.str();
}

void
ExpectFound(Feature feature, const std::string & name)
{
  Feature found = feature == Feature::ZoneEntropy ? Feature::ZoneVariance : Feature::ZoneEntropy;
  EXPECT_TRUE(Enums::FindFeature(name, found)) << name;
  EXPECT_EQ(feature, found) << name;
}
} // namespace

TEST(SizeZoneFeatureMapEnums, FeaturesAreInTheOrderOfPyRadiomics)
{
  // sorted(radiomics.glszm.RadiomicsGLSZM.getFeatureNames())
  const std::vector<std::string> names{
    "GrayLevelNonUniformity",
    "GrayLevelNonUniformityNormalized",
    "GrayLevelVariance",
    "HighGrayLevelZoneEmphasis",
    "LargeAreaEmphasis",
    "LargeAreaHighGrayLevelEmphasis",
    "LargeAreaLowGrayLevelEmphasis",
    "LowGrayLevelZoneEmphasis",
    "SizeZoneNonUniformity",
    "SizeZoneNonUniformityNormalized",
    "SmallAreaEmphasis",
    "SmallAreaHighGrayLevelEmphasis",
    "SmallAreaLowGrayLevelEmphasis",
    "ZoneEntropy",
    "ZonePercentage",
    "ZoneVariance",
  };
  const auto all = Enums::GetAllFeatures();
  ASSERT_EQ(names.size(), all.size());
  ASSERT_EQ(Enums::NumberOfFeatures + 0u, all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
    EXPECT_EQ(names[i], Enums::GetPyRadiomicsName(all[i]));
    EXPECT_EQ(names[i], Enums::GetName(all[i]));
    EXPECT_EQ(names[i], Print(all[i]));
  }
}

TEST(SizeZoneFeatureMapEnums, FeaturesAreFoundByAllNamesIgnoringCase)
{
  // Names in the IBSI's manual.
  const std::vector<std::string> names{
    "grey_level_non_uniformity",
    "normalised_grey_level_non_uniformity",
    "grey_level_variance",
    "high_grey_level_zone_emphasis",
    "large_zone_emphasis",
    "large_zone_high_grey_level_emphasis",
    "large_zone_low_grey_level_emphasis",
    "low_grey_level_zone_emphasis",
    "zone_size_non_uniformity",
    "normalised_zone_size_non_uniformity",
    "small_zone_emphasis",
    "small_zone_high_grey_level_emphasis",
    "small_zone_low_grey_level_emphasis",
    "zone_size_entropy",
    "zone_percentage",
    "zone_size_variance",
  };
  std::set<std::string> abbreviations;
  for (const Feature feature : Enums::GetAllFeatures())
  {
    ExpectFound(feature, names[static_cast<std::size_t>(feature)]);
    ExpectFound(feature, Enums::GetAbbreviation(feature));
    ExpectFound(feature, Enums::GetName(feature));
    EXPECT_TRUE(abbreviations.insert(Enums::GetAbbreviation(feature)).second);
  }
  ExpectFound(Feature::SmallAreaEmphasis, "sae");
  ExpectFound(Feature::LargeAreaLowGrayLevelEmphasis, "LALGLE");
  ExpectFound(Feature::SizeZoneNonUniformityNormalized, "SIZEZONENONUNIFORMITYNORMALIZED");
  for (const std::string text : { "", "Z", "ZoneEntropyx", " ZE", "run_entropy" })
  {
    Feature found = Feature::ZoneEntropy;
    EXPECT_FALSE(Enums::FindFeature(text, found)) << text;
  }
}

TEST(SizeZoneFeatureMapEnums, ValuesArePrinted)
{
  EXPECT_EQ("SmallAreaEmphasis", Print(Feature::SmallAreaEmphasis));
  EXPECT_EQ("Full", Print(Enums::Connectivity::Full));
  EXPECT_EQ("InPlane", Print(Enums::Connectivity::InPlane));
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("BitPlanes", Print(Enums::CudaMethod::BitPlanes));
  EXPECT_EQ("UnionFind", Print(Enums::CudaMethod::UnionFind));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Connectivity>(2)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(99)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Feature>(16)).find("invalid"));
  EXPECT_NE(std::string::npos, std::string(Enums::GetPyRadiomicsName(static_cast<Feature>(255))).find("invalid"));
}
