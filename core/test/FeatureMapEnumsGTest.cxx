// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/CooccurrenceFeatureMapEnums.h"
#include "voxelmaps/DependenceFeatureMapEnums.h"
#include "voxelmaps/FirstOrderFeatureMapEnums.h"
#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"
#include "voxelmaps/RunLengthFeatureMapEnums.h"
#include "voxelmaps/SizeZoneFeatureMapEnums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Every feature has names of its own by which it is found, and some have others.
namespace
{
using VoxelMapsTest::Print;

template <typename TEnums>
using OtherNames = std::vector<std::pair<typename TEnums::Feature, std::string>>;
using Strings = std::vector<std::string>;

/** Number of features, names that are none of the feature's own, and what is not a name. */
template <typename TEnums>
struct Expected;

template <>
struct Expected<voxelmaps::CooccurrenceFeatureMapEnums>
{
  using Feature = voxelmaps::CooccurrenceFeatureMapEnums::Feature;
  static constexpr unsigned int                                          number = 24;
  static inline const OtherNames<voxelmaps::CooccurrenceFeatureMapEnums> otherNames{
    { Feature::MaximumProbability, "joint_maximum" },
    { Feature::SumSquares, "Joint_Variance" },
    { Feature::JointEnergy, "angular_second_moment" },
    { Feature::DifferenceAverage, "dissimilarity" },
    { Feature::DifferenceAverage, "difference_average" },
    { Feature::ClusterTendency, "sum_variance" },
    { Feature::InverseDifferenceMomentNormalized, "normalised_inverse_difference_moment" },
    { Feature::InformationalMeasureOfCorrelation2, "second_measure_of_information_correlation" },
  };
  static inline const Strings unknown{ "", "C", "Contr", "Contrastx", " Contrast", "MCCs", "Homogeneity" };
};

template <>
struct Expected<voxelmaps::DependenceFeatureMapEnums>
{
  using Feature = voxelmaps::DependenceFeatureMapEnums::Feature;
  static constexpr unsigned int                                        number = 14;
  static inline const OtherNames<voxelmaps::DependenceFeatureMapEnums> otherNames{
    { Feature::SmallDependenceEmphasis, "sde" },
    { Feature::LargeDependenceEmphasis, "LARGEDEPENDENCEEMPHASIS" },
    // Of the Image Biomarker Standardisation Initiative.
    { Feature::SmallDependenceEmphasis, "low_dependence_emphasis" },
    { Feature::LargeDependenceEmphasis, "High_Dependence_Emphasis" },
    { Feature::GrayLevelNonUniformity, "grey_level_non_uniformity" },
    { Feature::DependenceNonUniformity, "dependence_count_non_uniformity" },
    { Feature::DependenceNonUniformityNormalized, "normalised_dependence_count_non_uniformity" },
    { Feature::GrayLevelVariance, "grey_level_variance" },
    { Feature::DependenceVariance, "dependence_count_variance" },
    { Feature::DependenceEntropy, "dependence_count_entropy" },
    { Feature::LowGrayLevelEmphasis, "low_grey_level_count_emphasis" },
    { Feature::HighGrayLevelEmphasis, "high_grey_level_count_emphasis" },
    { Feature::SmallDependenceLowGrayLevelEmphasis, "low_dependence_low_grey_level_emphasis" },
    { Feature::SmallDependenceHighGrayLevelEmphasis, "low_dependence_high_grey_level_emphasis" },
    { Feature::LargeDependenceLowGrayLevelEmphasis, "high_dependence_low_grey_level_emphasis" },
    { Feature::LargeDependenceHighGrayLevelEmphasis, "high_dependence_high_grey_level_emphasis" },
  };
  static inline const Strings unknown{
    "", "S", "SD", "SDEX", " SDE", "dependence_count_energy", "DependencePercentage"
  };
};

template <>
struct Expected<voxelmaps::FirstOrderFeatureMapEnums>
{
  using Feature = voxelmaps::FirstOrderFeatureMapEnums::Feature;
  static constexpr unsigned int                                        number = 19;
  static inline const OtherNames<voxelmaps::FirstOrderFeatureMapEnums> otherNames{
    { Feature::Percentile10, "10th_intensity_percentile" },
    { Feature::RootMeanSquared, "root_mean_square_intensity" },
    { Feature::Uniformity, "Discretised_Intensity_Uniformity" },
    { Feature::RobustMeanAbsoluteDeviation, "intensity_based_robust_mean_absolute_deviation" },
  };
  static inline const Strings unknown{ "", "M", "Meanx", " Mean", "10", "kurtosis_intensity" };
};

template <>
struct Expected<voxelmaps::GrayToneDifferenceFeatureMapEnums>
{
  using Feature = voxelmaps::GrayToneDifferenceFeatureMapEnums::Feature;
  static constexpr unsigned int                                                number = 5;
  static inline const OtherNames<voxelmaps::GrayToneDifferenceFeatureMapEnums> otherNames{ { Feature::Coarseness,
                                                                                             "COA" } };
  static inline const Strings unknown{ "", "C", "Contr", "Contrastx", " Contrast", "Dissimilarity" };
};

template <>
struct Expected<voxelmaps::RunLengthFeatureMapEnums>
{
  static constexpr unsigned int                                       number = 16;
  static inline const OtherNames<voxelmaps::RunLengthFeatureMapEnums> otherNames{};
  static inline const Strings unknown{ "", "S", "SR", "SREX", " SRE", "SRE ", "ShortRun", "ShortRunEmphasisX", "LRL" };
};

template <>
struct Expected<voxelmaps::SizeZoneFeatureMapEnums>
{
  using Feature = voxelmaps::SizeZoneFeatureMapEnums::Feature;
  static constexpr unsigned int                                      number = 16;
  static inline const OtherNames<voxelmaps::SizeZoneFeatureMapEnums> otherNames{
    // Names in the IBSI's manual.
    { Feature::GrayLevelNonUniformity, "grey_level_non_uniformity" },
    { Feature::GrayLevelNonUniformityNormalized, "normalised_grey_level_non_uniformity" },
    { Feature::GrayLevelVariance, "grey_level_variance" },
    { Feature::HighGrayLevelZoneEmphasis, "high_grey_level_zone_emphasis" },
    { Feature::LargeAreaEmphasis, "large_zone_emphasis" },
    { Feature::LargeAreaHighGrayLevelEmphasis, "large_zone_high_grey_level_emphasis" },
    { Feature::LargeAreaLowGrayLevelEmphasis, "large_zone_low_grey_level_emphasis" },
    { Feature::LowGrayLevelZoneEmphasis, "low_grey_level_zone_emphasis" },
    { Feature::SizeZoneNonUniformity, "zone_size_non_uniformity" },
    { Feature::SizeZoneNonUniformityNormalized, "normalised_zone_size_non_uniformity" },
    { Feature::SmallAreaEmphasis, "small_zone_emphasis" },
    { Feature::SmallAreaHighGrayLevelEmphasis, "small_zone_high_grey_level_emphasis" },
    { Feature::SmallAreaLowGrayLevelEmphasis, "small_zone_low_grey_level_emphasis" },
    { Feature::ZoneEntropy, "zone_size_entropy" },
    { Feature::ZonePercentage, "zone_percentage" },
    { Feature::ZoneVariance, "zone_size_variance" },
    { Feature::SmallAreaEmphasis, "sae" },
    { Feature::LargeAreaLowGrayLevelEmphasis, "LALGLE" },
    { Feature::SizeZoneNonUniformityNormalized, "SIZEZONENONUNIFORMITYNORMALIZED" },
  };
  static inline const Strings unknown{ "", "Z", "ZoneEntropyx", " ZE", "run_entropy" };
};

std::string
ChangeCase(std::string text, int (*change)(int))
{
  std::transform(text.begin(), text.end(), text.begin(), [change](char c) {
    return static_cast<char>(change(static_cast<unsigned char>(c)));
  });
  return text;
}

template <typename TEnums>
void
ExpectFound(typename TEnums::Feature feature, const std::string & name)
{
  using Feature = typename TEnums::Feature;
  for (const std::string & spelling : { name, ChangeCase(name, std::tolower), ChangeCase(name, std::toupper) })
  {
    // Start from a feature that is not the expected one.
    Feature found = static_cast<Feature>(feature == Feature{} ? 1 : 0);
    EXPECT_TRUE(TEnums::FindFeature(spelling, found)) << spelling;
    EXPECT_EQ(feature, found) << spelling;
  }
}

template <typename TEnums>
class FeatureMapEnums : public ::testing::Test
{};
struct ClassName
{
  template <typename TEnums>
  static std::string
  GetName(int number)
  {
    const char * const names[]{ "Cooccurrence",       "Dependence", "FirstOrder",
                                "GrayToneDifference", "RunLength",  "SizeZone" };
    return names[number];
  }
};
using AllEnums = ::testing::Types<voxelmaps::CooccurrenceFeatureMapEnums, voxelmaps::DependenceFeatureMapEnums,
                                  voxelmaps::FirstOrderFeatureMapEnums, voxelmaps::GrayToneDifferenceFeatureMapEnums,
                                  voxelmaps::RunLengthFeatureMapEnums, voxelmaps::SizeZoneFeatureMapEnums>;
TYPED_TEST_SUITE(FeatureMapEnums, AllEnums, ClassName);
} // namespace

TYPED_TEST(FeatureMapEnums, FeaturesHaveNamesOfTheirOwn)
{
  const auto all = TypeParam::GetAllFeatures();
  ASSERT_EQ(Expected<TypeParam>::number, all.size());
  ASSERT_EQ(Expected<TypeParam>::number, TypeParam::NumberOfFeatures + 0u);
  const voxelmaps::FeatureTable &    table = TypeParam::GetFeatureTable();
  std::map<std::string, std::size_t> features;
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
    EXPECT_EQ(TypeParam::GetName(all[i]), Print(all[i]));
    const voxelmaps::FeatureNames & names = table[static_cast<unsigned int>(i)];
    for (const std::string name : { names.abbreviation, names.name, names.pyRadiomicsName, names.ibsiName })
    {
      if (!name.empty())
      {
        EXPECT_EQ(i, features.emplace(ChangeCase(name, std::tolower), i).first->second) << name;
        ExpectFound<TypeParam>(all[i], name);
      }
    }
    EXPECT_STRNE("", names.abbreviation);
    EXPECT_STRNE("", names.name);
  }
}

TYPED_TEST(FeatureMapEnums, FeaturesAreFoundByOtherNames)
{
  for (const auto & other : Expected<TypeParam>::otherNames)
  {
    ExpectFound<TypeParam>(other.first, other.second);
  }
  for (const std::string & text : Expected<TypeParam>::unknown)
  {
    auto found = typename TypeParam::Feature{};
    EXPECT_FALSE(TypeParam::FindFeature(text, found)) << text;
  }
}

TYPED_TEST(FeatureMapEnums, MethodsHaveNamesOfTheirOwn)
{
  const auto            methods = voxelmaps::GetEnumerators<typename TypeParam::CudaMethod>();
  std::set<std::string> names;
  for (const auto method : methods)
  {
    names.insert(Print(method));
  }
  EXPECT_EQ(methods.size(), names.size());
  EXPECT_EQ("Automatic", Print(methods.front()));
  EXPECT_EQ(0u, names.count(Print(static_cast<typename TypeParam::CudaMethod>(methods.size()))));
}

TEST(TextureEnums, OtherValuesArePrinted)
{
  const auto print = [](auto enumerators) {
    Strings names;
    for (const auto enumerator : enumerators)
    {
      names.push_back(Print(enumerator));
    }
    return names;
  };
  const Strings aggregations{ "PerDirection", "Average", "Merge" };
  EXPECT_EQ(aggregations, print(voxelmaps::GetEnumerators<voxelmaps::CooccurrenceFeatureMapEnums::Aggregation>()));
  EXPECT_EQ(aggregations, print(voxelmaps::GetEnumerators<voxelmaps::RunLengthFeatureMapEnums::Aggregation>()));
  EXPECT_EQ((Strings{ "Full", "InPlane" }),
            print(voxelmaps::GetEnumerators<voxelmaps::SizeZoneFeatureMapEnums::Connectivity>()));
}

TEST(FirstOrderFeatureMapEnums, PyRadiomicsFeaturesAreAllButStandardDeviation)
{
  using Enums = voxelmaps::FirstOrderFeatureMapEnums;
  auto expected = Enums::GetAllFeatures();
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(Enums::Feature::StandardDeviation));
  EXPECT_EQ(expected, Enums::GetPyRadiomicsFeatures());
}

TEST(RunLengthFeatureMapEnums, ElevenFeaturesAreTheFirst)
{
  using Enums = voxelmaps::RunLengthFeatureMapEnums;
  auto expected = Enums::GetAllFeatures();
  expected.resize(11);
  EXPECT_EQ(expected, Enums::GetElevenFeatures());
}
