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
#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Enums = voxelmaps::GrayToneDifferenceFeatureMapEnums;
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
ExpectFound(Feature feature, std::string name)
{
  for (int i = 0; i < 2; ++i)
  {
    Feature found = feature == Feature::Contrast ? Feature::Strength : Feature::Contrast;
    EXPECT_TRUE(Enums::FindFeature(name, found)) << name;
    EXPECT_EQ(feature, found) << name;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
  }
}
} // namespace

TEST(GrayToneDifferenceFeatureMapEnums, FeaturesAreInTheOrderOfPyRadiomics)
{
  // sorted(radiomics.ngtdm.RadiomicsNGTDM.getFeatureNames())
  const std::vector<std::string> names{ "Busyness", "Coarseness", "Complexity", "Contrast", "Strength" };
  const auto                     all = Enums::GetAllFeatures();
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

TEST(GrayToneDifferenceFeatureMapEnums, FeaturesAreFoundByAllNamesIgnoringCase)
{
  std::set<std::string> abbreviations;
  for (const Feature feature : Enums::GetAllFeatures())
  {
    ExpectFound(feature, Enums::GetAbbreviation(feature));
    ExpectFound(feature, Enums::GetName(feature));
    EXPECT_TRUE(abbreviations.insert(Enums::GetAbbreviation(feature)).second);
  }
  ExpectFound(Feature::Coarseness, "COA");
  for (const std::string text : { "", "C", "Contr", "Contrastx", " Contrast", "Dissimilarity" })
  {
    Feature found = Feature::Contrast;
    EXPECT_FALSE(Enums::FindFeature(text, found)) << text;
  }
}

TEST(GrayToneDifferenceFeatureMapEnums, ValuesArePrinted)
{
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("LevelTables", Print(Enums::CudaMethod::LevelTables));
  EXPECT_EQ("WindowWalk", Print(Enums::CudaMethod::WindowWalk));
  EXPECT_NE(std::string::npos, Print(static_cast<Feature>(5)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(99)).find("invalid"));
  for (const auto name : { Enums::GetAbbreviation, Enums::GetName, Enums::GetPyRadiomicsName })
  {
    EXPECT_NE(std::string::npos, std::string(name(static_cast<Feature>(255))).find("invalid"));
  }
}
