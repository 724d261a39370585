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
#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/GrayLevelDiscretizationEnums.h"
#include "voxelmaps/RunLengthFeatureMapEnums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using RunLengthEnums = voxelmaps::RunLengthFeatureMapEnums;
using Feature = RunLengthEnums::Feature;

struct ExpectedFeature
{
  Feature     feature;
  std::string abbreviation;
  std::string name;
};

const std::vector<ExpectedFeature> expectedFeatures{
  { Feature::ShortRunEmphasis, "SRE", "ShortRunEmphasis" },
  { Feature::LongRunEmphasis, "LRE", "LongRunEmphasis" },
  { Feature::GrayLevelNonUniformity, "GLN", "GrayLevelNonUniformity" },
  { Feature::RunLengthNonUniformity, "RLN", "RunLengthNonUniformity" },
  { Feature::RunPercentage, "RP", "RunPercentage" },
  { Feature::LowGrayLevelRunEmphasis, "LGRE", "LowGrayLevelRunEmphasis" },
  { Feature::HighGrayLevelRunEmphasis, "HGRE", "HighGrayLevelRunEmphasis" },
  { Feature::ShortRunLowGrayLevelEmphasis, "SRLGE", "ShortRunLowGrayLevelEmphasis" },
  { Feature::ShortRunHighGrayLevelEmphasis, "SRHGE", "ShortRunHighGrayLevelEmphasis" },
  { Feature::LongRunLowGrayLevelEmphasis, "LRLGE", "LongRunLowGrayLevelEmphasis" },
  { Feature::LongRunHighGrayLevelEmphasis, "LRHGE", "LongRunHighGrayLevelEmphasis" },
  { Feature::GrayLevelNonUniformityNormalized, "GLNN", "GrayLevelNonUniformityNormalized" },
  { Feature::RunLengthNonUniformityNormalized, "RLNN", "RunLengthNonUniformityNormalized" },
  { Feature::GrayLevelVariance, "GLV", "GrayLevelVariance" },
  { Feature::RunVariance, "RV", "RunVariance" },
  { Feature::RunEntropy, "RE", "RunEntropy" }
};

std::string
ChangeCase(std::string text, int (*change)(int))
{
  std::transform(text.begin(), text.end(), text.begin(), [change](char c) {
    return static_cast<char>(change(static_cast<unsigned char>(c)));
  });
  return text;
}

template <typename TEnum>
std::string
Print(TEnum value)
{
  std::ostringstream out;
  out << value;
  return out.str();
}
} // namespace

TEST(RunLengthFeatureMapEnums, FeaturesHaveNames)
{
  ASSERT_EQ(expectedFeatures.size(), RunLengthEnums::NumberOfFeatures + 0u);
  for (const ExpectedFeature & expected : expectedFeatures)
  {
    EXPECT_EQ(expected.abbreviation, RunLengthEnums::GetAbbreviation(expected.feature));
    EXPECT_EQ(expected.name, RunLengthEnums::GetName(expected.feature));
    EXPECT_EQ(expected.name, Print(expected.feature));
  }
}

TEST(RunLengthFeatureMapEnums, FeaturesAreFoundByNameIgnoringCase)
{
  for (const ExpectedFeature & expected : expectedFeatures)
  {
    for (const std::string & text : { expected.abbreviation, expected.name })
    {
      for (const std::string & spelling : { text, ChangeCase(text, std::tolower), ChangeCase(text, std::toupper) })
      {
        // Start from a feature that is not the expected one.
        Feature found = expected.feature == Feature::RunEntropy ? Feature::ShortRunEmphasis : Feature::RunEntropy;
        EXPECT_TRUE(RunLengthEnums::FindFeature(spelling, found)) << spelling;
        EXPECT_EQ(expected.feature, found) << spelling;
      }
    }
  }
}

TEST(RunLengthFeatureMapEnums, UnknownNamesAreNotFound)
{
  for (const std::string text : { "", "S", "SR", "SREX", " SRE", "SRE ", "ShortRun", "ShortRunEmphasisX", "LRL" })
  {
    Feature found = Feature::RunEntropy;
    EXPECT_FALSE(RunLengthEnums::FindFeature(text, found)) << text;
  }
}

TEST(RunLengthFeatureMapEnums, ListsOfFeatures)
{
  std::vector<Feature> all;
  for (const ExpectedFeature & expected : expectedFeatures)
  {
    all.push_back(expected.feature);
  }
  EXPECT_EQ(all, RunLengthEnums::GetAllFeatures());
  // The eleven of Zhang et al. (2019).
  all.resize(11);
  EXPECT_EQ(all, RunLengthEnums::GetElevenFeatures());
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
  }
}

TEST(RunLengthFeatureMapEnums, AggregationsArePrinted)
{
  EXPECT_EQ("PerDirection", Print(RunLengthEnums::Aggregation::PerDirection));
  EXPECT_EQ("Average", Print(RunLengthEnums::Aggregation::Average));
  EXPECT_EQ("Merge", Print(RunLengthEnums::Aggregation::Merge));
}

TEST(RunLengthFeatureMapEnums, CudaMethodsArePrinted)
{
  EXPECT_EQ("Automatic", Print(RunLengthEnums::CudaMethod::Automatic));
  EXPECT_EQ("SortReduce", Print(RunLengthEnums::CudaMethod::SortReduce));
  EXPECT_EQ("WindowWalk", Print(RunLengthEnums::CudaMethod::WindowWalk));
  EXPECT_EQ("WindowWord", Print(RunLengthEnums::CudaMethod::WindowWord));
  EXPECT_EQ("BoxSums", Print(RunLengthEnums::CudaMethod::BoxSums));
  EXPECT_EQ("SlidingWindow", Print(RunLengthEnums::CudaMethod::SlidingWindow));
  EXPECT_NE(std::string::npos, Print(static_cast<RunLengthEnums::CudaMethod>(6)).find("invalid"));
}

TEST(RunLengthFeatureMapEnums, InvalidValuesAreNamedInvalid)
{
  EXPECT_NE(std::string::npos, Print(static_cast<Feature>(16)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<RunLengthEnums::Aggregation>(3)).find("invalid"));
  EXPECT_NE(std::string::npos, std::string(RunLengthEnums::GetAbbreviation(static_cast<Feature>(255))).find("invalid"));
}

TEST(GrayLevelDiscretizationEnums, ValuesArePrinted)
{
  using Enums = voxelmaps::GrayLevelDiscretizationEnums;
  EXPECT_EQ("FixedBinNumber", Print(Enums::Method::FixedBinNumber));
  EXPECT_EQ("FixedBinSize", Print(Enums::Method::FixedBinSize));
  EXPECT_EQ("FixedBinSizeAtMultiples", Print(Enums::Method::FixedBinSizeAtMultiples));
  EXPECT_EQ("Identity", Print(Enums::Method::Identity));
  EXPECT_EQ("Levels", Print(Enums::Method::Levels));
  EXPECT_EQ("Edges", Print(Enums::Method::Edges));
  EXPECT_EQ("Given", Print(Enums::RangeSource::Given));
  EXPECT_EQ("Image", Print(Enums::RangeSource::Image));
  EXPECT_EQ("Mask", Print(Enums::RangeSource::Mask));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Method>(6)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::RangeSource>(3)).find("invalid"));
}

TEST(FuzzyConnectednessEnums, ValuesArePrinted)
{
  using Enums = voxelmaps::FuzzyConnectednessEnums;
  EXPECT_EQ("GeometricMean", Print(Enums::AffinityFunction::GeometricMean));
  EXPECT_EQ("WeightedSum", Print(Enums::AffinityFunction::WeightedSum));
  EXPECT_EQ("Minimum", Print(Enums::AffinityFunction::Minimum));
  EXPECT_EQ("Homogeneity", Print(Enums::AffinityFunction::Homogeneity));
  EXPECT_EQ("AbsoluteDifference", Print(Enums::AffinityFunction::AbsoluteDifference));
  EXPECT_EQ("Face", Print(Enums::Adjacency::Face));
  EXPECT_EQ("FaceEdge", Print(Enums::Adjacency::FaceEdge));
  EXPECT_EQ("Full", Print(Enums::Adjacency::Full));
  EXPECT_EQ("Automatic", Print(Enums::Method::Automatic));
  EXPECT_EQ("Queue", Print(Enums::Method::Queue));
  EXPECT_EQ("Buckets", Print(Enums::Method::Buckets));
  EXPECT_EQ("Tiles", Print(Enums::Method::Tiles));
  EXPECT_EQ("Hierarchy", Print(Enums::Method::Hierarchy));
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("CorrectedKFOE", Print(Enums::CudaMethod::CorrectedKFOE));
  EXPECT_EQ("ActiveTiles", Print(Enums::CudaMethod::ActiveTiles));
  EXPECT_EQ("Hierarchy", Print(Enums::CudaMethod::Hierarchy));
}

TEST(FuzzyConnectednessEnums, InvalidValuesAreNamedInvalid)
{
  using Enums = voxelmaps::FuzzyConnectednessEnums;
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::AffinityFunction>(5)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Adjacency>(3)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Method>(5)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(4)).find("invalid"));
}
