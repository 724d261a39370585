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
#include "voxelmaps/DependenceFeatureMapEnums.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Enums = voxelmaps::DependenceFeatureMapEnums;
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
  Feature found = feature == Feature::DependenceEntropy ? Feature::GrayLevelVariance : Feature::DependenceEntropy;
  EXPECT_TRUE(Enums::FindFeature(name, found)) << name;
  EXPECT_EQ(feature, found) << name;
}
} // namespace

TEST(DependenceFeatureMapEnums, FeaturesAreInTheOrderOfPyRadiomics)
{
  // The methods of radiomics.gldm.RadiomicsGLDM, from first to last, without the deprecated ones.
  const std::vector<std::string> names{ "SmallDependenceEmphasis",
                                        "LargeDependenceEmphasis",
                                        "GrayLevelNonUniformity",
                                        "DependenceNonUniformity",
                                        "DependenceNonUniformityNormalized",
                                        "GrayLevelVariance",
                                        "DependenceVariance",
                                        "DependenceEntropy",
                                        "LowGrayLevelEmphasis",
                                        "HighGrayLevelEmphasis",
                                        "SmallDependenceLowGrayLevelEmphasis",
                                        "SmallDependenceHighGrayLevelEmphasis",
                                        "LargeDependenceLowGrayLevelEmphasis",
                                        "LargeDependenceHighGrayLevelEmphasis" };
  const auto                     all = Enums::GetAllFeatures();
  ASSERT_EQ(names.size(), all.size());
  ASSERT_EQ(Enums::NumberOfFeatures + 0u, all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
    EXPECT_EQ(names[i], Enums::GetName(all[i]));
    EXPECT_EQ(names[i], Print(all[i]));
  }
}

TEST(DependenceFeatureMapEnums, FeaturesAreFoundByAllNamesIgnoringCase)
{
  std::set<std::string> abbreviations;
  for (const Feature feature : Enums::GetAllFeatures())
  {
    ExpectFound(feature, Enums::GetAbbreviation(feature));
    ExpectFound(feature, Enums::GetName(feature));
    EXPECT_TRUE(abbreviations.insert(Enums::GetAbbreviation(feature)).second);
  }
  ExpectFound(Feature::SmallDependenceEmphasis, "sde");
  ExpectFound(Feature::LargeDependenceEmphasis, "LARGEDEPENDENCEEMPHASIS");
  // Of the Image Biomarker Standardisation Initiative.
  ExpectFound(Feature::SmallDependenceEmphasis, "low_dependence_emphasis");
  ExpectFound(Feature::LargeDependenceEmphasis, "High_Dependence_Emphasis");
  ExpectFound(Feature::GrayLevelNonUniformity, "grey_level_non_uniformity");
  ExpectFound(Feature::DependenceNonUniformity, "dependence_count_non_uniformity");
  ExpectFound(Feature::DependenceNonUniformityNormalized, "normalised_dependence_count_non_uniformity");
  ExpectFound(Feature::GrayLevelVariance, "grey_level_variance");
  ExpectFound(Feature::DependenceVariance, "dependence_count_variance");
  ExpectFound(Feature::DependenceEntropy, "dependence_count_entropy");
  ExpectFound(Feature::LowGrayLevelEmphasis, "low_grey_level_count_emphasis");
  ExpectFound(Feature::HighGrayLevelEmphasis, "high_grey_level_count_emphasis");
  ExpectFound(Feature::SmallDependenceLowGrayLevelEmphasis, "low_dependence_low_grey_level_emphasis");
  ExpectFound(Feature::SmallDependenceHighGrayLevelEmphasis, "low_dependence_high_grey_level_emphasis");
  ExpectFound(Feature::LargeDependenceLowGrayLevelEmphasis, "high_dependence_low_grey_level_emphasis");
  ExpectFound(Feature::LargeDependenceHighGrayLevelEmphasis, "high_dependence_high_grey_level_emphasis");
  for (const std::string text : { "", "S", "SD", "SDEX", " SDE", "dependence_count_energy", "DependencePercentage" })
  {
    Feature found = Feature::DependenceEntropy;
    EXPECT_FALSE(Enums::FindFeature(text, found)) << text;
  }
}

TEST(DependenceFeatureMapEnums, ValuesArePrinted)
{
  EXPECT_EQ("DependenceEntropy", Print(Feature::DependenceEntropy));
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("SortedDependences", Print(Enums::CudaMethod::SortedDependences));
  EXPECT_EQ("WindowWalk", Print(Enums::CudaMethod::WindowWalk));
  EXPECT_NE(std::string::npos, Print(static_cast<Feature>(14)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(99)).find("invalid"));
  for (const auto name : { Enums::GetAbbreviation, Enums::GetName })
  {
    EXPECT_NE(std::string::npos, std::string(name(static_cast<Feature>(255))).find("invalid"));
  }
}
