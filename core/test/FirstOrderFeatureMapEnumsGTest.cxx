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
#include "voxelmaps/FirstOrderFeatureMapEnums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Enums = voxelmaps::FirstOrderFeatureMapEnums;
using Feature = Enums::Feature;

template <typename TEnum>
std::string
Print(TEnum value)
{
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string
ToUpper(std::string text)
{
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text;
}

void
ExpectFound(Feature feature, const std::string & name)
{
  Feature found = feature == Feature::Mean ? Feature::Energy : Feature::Mean;
  EXPECT_TRUE(Enums::FindFeature(name, found)) << name;
  EXPECT_EQ(feature, found) << name;
}
} // namespace

TEST(FirstOrderFeatureMapEnums, FeaturesAreInTheOrderOfPyRadiomics)
{
  // sorted(radiomics.firstorder.RadiomicsFirstOrder.getFeatureNames())
  const std::vector<std::string> names{
    "10Percentile",
    "90Percentile",
    "Energy",
    "Entropy",
    "InterquartileRange",
    "Kurtosis",
    "Maximum",
    "MeanAbsoluteDeviation",
    "Mean",
    "Median",
    "Minimum",
    "Range",
    "RobustMeanAbsoluteDeviation",
    "RootMeanSquared",
    "Skewness",
    "StandardDeviation",
    "TotalEnergy",
    "Uniformity",
    "Variance",
  };
  const auto all = Enums::GetAllFeatures();
  ASSERT_EQ(names.size(), all.size());
  ASSERT_EQ(Enums::NumberOfFeatures + 0u, all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
    EXPECT_EQ(names[i], Enums::GetPyRadiomicsName(all[i]));
    EXPECT_EQ(Print(all[i]), Enums::GetName(all[i]));
  }
  auto expected = all;
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(Feature::StandardDeviation));
  EXPECT_EQ(expected, Enums::GetPyRadiomicsFeatures());
}

TEST(FirstOrderFeatureMapEnums, FeaturesAreFoundByAllNamesIgnoringCase)
{
  std::set<std::string> names;
  for (const Feature feature : Enums::GetAllFeatures())
  {
    for (const std::string name :
         { Enums::GetAbbreviation(feature), Enums::GetName(feature), Enums::GetPyRadiomicsName(feature) })
    {
      ExpectFound(feature, name);
      ExpectFound(feature, ToUpper(name));
    }
    EXPECT_TRUE(names.insert(Enums::GetAbbreviation(feature)).second);
  }
  ExpectFound(Feature::Percentile10, "10th_intensity_percentile");
  ExpectFound(Feature::RootMeanSquared, "root_mean_square_intensity");
  ExpectFound(Feature::Uniformity, "Discretised_Intensity_Uniformity");
  ExpectFound(Feature::RobustMeanAbsoluteDeviation, "intensity_based_robust_mean_absolute_deviation");
  for (const std::string text : { "", "M", "Meanx", " Mean", "10", "kurtosis_intensity" })
  {
    Feature found = Feature::Mean;
    EXPECT_FALSE(Enums::FindFeature(text, found)) << text;
  }
}

TEST(FirstOrderFeatureMapEnums, ValuesArePrinted)
{
  EXPECT_EQ("Percentile10", Print(Feature::Percentile10));
  EXPECT_EQ("Variance", Print(Feature::Variance));
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("SortingNetwork", Print(Enums::CudaMethod::SortingNetwork));
  EXPECT_EQ("RadixSelection", Print(Enums::CudaMethod::RadixSelection));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(99)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Feature>(19)).find("invalid"));
  EXPECT_NE(std::string::npos, std::string(Enums::GetPyRadiomicsName(static_cast<Feature>(255))).find("invalid"));
}
