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
#include "voxelmaps/CooccurrenceFeatureMapEnums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
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
  Feature found = feature == Feature::Contrast ? Feature::SumSquares : Feature::Contrast;
  EXPECT_TRUE(Enums::FindFeature(name, found)) << name;
  EXPECT_EQ(feature, found) << name;
}
} // namespace

TEST(CooccurrenceFeatureMapEnums, FeaturesAreInTheOrderOfPyRadiomicsButForTheLast)
{
  // sorted(radiomics.glcm.RadiomicsGLCM.getFeatureNames()), without the deprecated ones
  const std::vector<std::string> names{ "Autocorrelation",
                                        "ClusterProminence",
                                        "ClusterShade",
                                        "ClusterTendency",
                                        "Contrast",
                                        "Correlation",
                                        "DifferenceAverage",
                                        "DifferenceEntropy",
                                        "DifferenceVariance",
                                        "Id",
                                        "Idm",
                                        "Idmn",
                                        "Idn",
                                        "Imc1",
                                        "Imc2",
                                        "InverseVariance",
                                        "JointAverage",
                                        "JointEnergy",
                                        "JointEntropy",
                                        "MaximumProbability",
                                        "SumAverage",
                                        "SumEntropy",
                                        "SumSquares",
                                        "MCC" };
  const auto                     all = Enums::GetAllFeatures();
  ASSERT_EQ(names.size(), all.size());
  ASSERT_EQ(Enums::NumberOfFeatures + 0u, all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
    EXPECT_EQ(names[i], Enums::GetPyRadiomicsName(all[i]));
    EXPECT_EQ(Print(all[i]), Enums::GetName(all[i]));
  }
}

TEST(CooccurrenceFeatureMapEnums, FeaturesAreFoundByAllNamesIgnoringCase)
{
  std::set<std::string> abbreviations;
  for (const Feature feature : Enums::GetAllFeatures())
  {
    for (const std::string name :
         { Enums::GetAbbreviation(feature), Enums::GetName(feature), Enums::GetPyRadiomicsName(feature) })
    {
      ExpectFound(feature, name);
      ExpectFound(feature, ToUpper(name));
    }
    EXPECT_TRUE(abbreviations.insert(Enums::GetAbbreviation(feature)).second);
  }
  ExpectFound(Feature::MaximumProbability, "joint_maximum");
  ExpectFound(Feature::SumSquares, "Joint_Variance");
  ExpectFound(Feature::JointEnergy, "angular_second_moment");
  ExpectFound(Feature::DifferenceAverage, "dissimilarity");
  ExpectFound(Feature::DifferenceAverage, "difference_average");
  ExpectFound(Feature::ClusterTendency, "sum_variance");
  ExpectFound(Feature::InverseDifferenceMomentNormalized, "normalised_inverse_difference_moment");
  ExpectFound(Feature::InformationalMeasureOfCorrelation2, "second_measure_of_information_correlation");
  for (const std::string text : { "", "C", "Contr", "Contrastx", " Contrast", "MCCs", "Homogeneity" })
  {
    Feature found = Feature::Contrast;
    EXPECT_FALSE(Enums::FindFeature(text, found)) << text;
  }
}

TEST(CooccurrenceFeatureMapEnums, ValuesArePrinted)
{
  EXPECT_EQ("JointEnergy", Print(Feature::JointEnergy));
  EXPECT_EQ("PerDirection", Print(Enums::Aggregation::PerDirection));
  EXPECT_EQ("Average", Print(Enums::Aggregation::Average));
  EXPECT_EQ("Merge", Print(Enums::Aggregation::Merge));
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("SortedPairs", Print(Enums::CudaMethod::SortedPairs));
  EXPECT_EQ("WindowWalk", Print(Enums::CudaMethod::WindowWalk));
  EXPECT_NE(std::string::npos, Print(static_cast<Feature>(24)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Aggregation>(3)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(99)).find("invalid"));
  for (const auto name : { Enums::GetAbbreviation, Enums::GetName, Enums::GetPyRadiomicsName })
  {
    EXPECT_NE(std::string::npos, std::string(name(static_cast<Feature>(255))).find("invalid"));
  }
}
