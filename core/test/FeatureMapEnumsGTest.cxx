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
#include <set>
#include <string>
#include <utility>
#include <vector>

// Tables of the expected names, and the tests that compare all enumerations of features with their table.
namespace
{
using VoxelMapsTest::Print;

using Strings = std::vector<std::string>;
/** What is printed, and what is expected. */
using Printed = std::vector<std::pair<std::string, std::string>>;
template <typename TEnums>
using OtherNames = std::vector<std::pair<typename TEnums::Feature, std::string>>;

struct Cooccurrence
{
  using Enums = voxelmaps::CooccurrenceFeatureMapEnums;
  using Feature = Enums::Feature;
  using Method = Enums::CudaMethod;
  static constexpr bool hasPyRadiomicsNames = false;
  // sorted(radiomics.glcm.RadiomicsGLCM.getFeatureNames()), without the deprecated ones; the last one is not in order.
  static inline const Strings           names{ "Autocorrelation",
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
  static inline const Strings           abbreviations;
  static inline const OtherNames<Enums> otherNames{
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
  static Printed
  GetPrinted()
  {
    return {
      { Print(Feature::JointEnergy), "JointEnergy" },    { Print(Enums::Aggregation::PerDirection), "PerDirection" },
      { Print(Enums::Aggregation::Average), "Average" }, { Print(Enums::Aggregation::Merge), "Merge" },
      { Print(Method::SortedPairs), "SortedPairs" },     { Print(Method::RankTables), "RankTables" },
      { Print(Method::WindowWalk), "WindowWalk" }
    };
  }
  static Strings
  GetInvalid()
  {
    return { Print(static_cast<Enums::Aggregation>(3)) };
  }
};

struct Dependence
{
  using Enums = voxelmaps::DependenceFeatureMapEnums;
  using Feature = Enums::Feature;
  using Method = Enums::CudaMethod;
  static constexpr bool hasPyRadiomicsNames = true;
  // The methods of radiomics.gldm.RadiomicsGLDM, from first to last, without the deprecated ones.
  static inline const Strings           names{ "SmallDependenceEmphasis",
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
  static inline const Strings           abbreviations;
  static inline const OtherNames<Enums> otherNames{
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
  static Printed
  GetPrinted()
  {
    return { { Print(Feature::DependenceEntropy), "DependenceEntropy" },
             { Print(Method::BitPlanes), "BitPlanes" },
             { Print(Method::WindowWalk), "WindowWalk" } };
  }
  static Strings
  GetInvalid()
  {
    return {};
  }
};

struct FirstOrder
{
  using Enums = voxelmaps::FirstOrderFeatureMapEnums;
  using Feature = Enums::Feature;
  using Method = Enums::CudaMethod;
  static constexpr bool hasPyRadiomicsNames = false;
  // sorted(radiomics.firstorder.RadiomicsFirstOrder.getFeatureNames())
  static inline const Strings           names{ "10Percentile",
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
                                     "Variance" };
  static inline const Strings           abbreviations;
  static inline const OtherNames<Enums> otherNames{
    { Feature::Percentile10, "10th_intensity_percentile" },
    { Feature::RootMeanSquared, "root_mean_square_intensity" },
    { Feature::Uniformity, "Discretised_Intensity_Uniformity" },
    { Feature::RobustMeanAbsoluteDeviation, "intensity_based_robust_mean_absolute_deviation" },
  };
  static inline const Strings unknown{ "", "M", "Meanx", " Mean", "10", "kurtosis_intensity" };
  static Printed
  GetPrinted()
  {
    return { { Print(Feature::Percentile10), "Percentile10" },
             { Print(Feature::Variance), "Variance" },
             { Print(Method::RadixSelection), "RadixSelection" } };
  }
  static Strings
  GetInvalid()
  {
    return {};
  }
};

struct GrayToneDifference
{
  using Enums = voxelmaps::GrayToneDifferenceFeatureMapEnums;
  using Feature = Enums::Feature;
  using Method = Enums::CudaMethod;
  static constexpr bool hasPyRadiomicsNames = true;
  // sorted(radiomics.ngtdm.RadiomicsNGTDM.getFeatureNames())
  static inline const Strings           names{ "Busyness", "Coarseness", "Complexity", "Contrast", "Strength" };
  static inline const Strings           abbreviations;
  static inline const OtherNames<Enums> otherNames{ { Feature::Coarseness, "COA" } };
  static inline const Strings           unknown{ "", "C", "Contr", "Contrastx", " Contrast", "Dissimilarity" };
  static Printed
  GetPrinted()
  {
    return { { Print(Method::LevelTables), "LevelTables" }, { Print(Method::WindowWalk), "WindowWalk" } };
  }
  static Strings
  GetInvalid()
  {
    return {};
  }
};

struct RunLength
{
  using Enums = voxelmaps::RunLengthFeatureMapEnums;
  using Feature = Enums::Feature;
  using Method = Enums::CudaMethod;
  static constexpr bool       hasPyRadiomicsNames = true;
  static inline const Strings names{ "ShortRunEmphasis",
                                     "LongRunEmphasis",
                                     "GrayLevelNonUniformity",
                                     "RunLengthNonUniformity",
                                     "RunPercentage",
                                     "LowGrayLevelRunEmphasis",
                                     "HighGrayLevelRunEmphasis",
                                     "ShortRunLowGrayLevelEmphasis",
                                     "ShortRunHighGrayLevelEmphasis",
                                     "LongRunLowGrayLevelEmphasis",
                                     "LongRunHighGrayLevelEmphasis",
                                     "GrayLevelNonUniformityNormalized",
                                     "RunLengthNonUniformityNormalized",
                                     "GrayLevelVariance",
                                     "RunVariance",
                                     "RunEntropy" };
  static inline const Strings abbreviations{ "SRE",   "LRE",   "GLN",   "RLN",  "RP",   "LGRE", "HGRE", "SRLGE",
                                             "SRHGE", "LRLGE", "LRHGE", "GLNN", "RLNN", "GLV",  "RV",   "RE" };
  static inline const OtherNames<Enums> otherNames;
  static inline const Strings unknown{ "", "S", "SR", "SREX", " SRE", "SRE ", "ShortRun", "ShortRunEmphasisX", "LRL" };
  static Printed
  GetPrinted()
  {
    return { { Print(Enums::Aggregation::PerDirection), "PerDirection" },
             { Print(Enums::Aggregation::Average), "Average" },
             { Print(Enums::Aggregation::Merge), "Merge" },
             { Print(Method::SortReduce), "SortReduce" },
             { Print(Method::WindowWalk), "WindowWalk" },
             { Print(Method::WindowWord), "WindowWord" },
             { Print(Method::BoxSums), "BoxSums" },
             { Print(Method::SlidingWindow), "SlidingWindow" } };
  }
  static Strings
  GetInvalid()
  {
    return { Print(static_cast<Method>(6)), Print(static_cast<Enums::Aggregation>(3)) };
  }
};

struct SizeZone
{
  using Enums = voxelmaps::SizeZoneFeatureMapEnums;
  using Feature = Enums::Feature;
  using Method = Enums::CudaMethod;
  static constexpr bool hasPyRadiomicsNames = true;
  // sorted(radiomics.glszm.RadiomicsGLSZM.getFeatureNames())
  static inline const Strings           names{ "GrayLevelNonUniformity",
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
                                     "ZoneVariance" };
  static inline const Strings           abbreviations;
  static inline const OtherNames<Enums> otherNames{
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
  static Printed
  GetPrinted()
  {
    return { { Print(Feature::SmallAreaEmphasis), "SmallAreaEmphasis" },
             { Print(Enums::Connectivity::Full), "Full" },
             { Print(Enums::Connectivity::InPlane), "InPlane" },
             { Print(Method::BitPlanes), "BitPlanes" } };
  }
  static Strings
  GetInvalid()
  {
    return { Print(static_cast<Enums::Connectivity>(2)) };
  }
};

/** PyRadiomics' name of a feature, where an enumeration has one; else the name. */
template <typename TEnums, typename TFeature>
auto
GetPyRadiomicsName(TFeature feature, int) -> decltype(TEnums::GetPyRadiomicsName(feature))
{
  return TEnums::GetPyRadiomicsName(feature);
}

template <typename TEnums, typename TFeature>
const char *
GetPyRadiomicsName(TFeature feature, long)
{
  return TEnums::GetName(feature);
}

/** All names of a feature: abbreviation, name, and that of PyRadiomics. */
template <typename TEnums>
Strings
GetNames(typename TEnums::Feature feature)
{
  // The int prefers the enumeration's own function, if it has one.
  return { TEnums::GetAbbreviation(feature), TEnums::GetName(feature), GetPyRadiomicsName<TEnums>(feature, 0) };
}

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

void
ExpectInvalid(const std::string & printed)
{
  EXPECT_NE(std::string::npos, printed.find("invalid")) << printed;
}

template <typename TTable>
class FeatureMapEnums : public ::testing::Test
{};

struct TableName
{
  template <typename TTable>
  static std::string
  GetName(int number)
  {
    const char * const names[]{ "Cooccurrence",       "Dependence", "FirstOrder",
                                "GrayToneDifference", "RunLength",  "SizeZone" };
    return names[number];
  }
};

using Tables = ::testing::Types<Cooccurrence, Dependence, FirstOrder, GrayToneDifference, RunLength, SizeZone>;
TYPED_TEST_SUITE(FeatureMapEnums, Tables, TableName);
} // namespace

TYPED_TEST(FeatureMapEnums, FeaturesAreInTheOrderOfTheTable)
{
  using Enums = typename TypeParam::Enums;
  const auto all = Enums::GetAllFeatures();
  ASSERT_EQ(TypeParam::names.size(), all.size());
  ASSERT_EQ(Enums::NumberOfFeatures + 0u, all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    EXPECT_EQ(i, static_cast<std::size_t>(all[i]));
    EXPECT_EQ(TypeParam::names[i], GetPyRadiomicsName<Enums>(all[i], 0));
    EXPECT_EQ(Print(all[i]), Enums::GetName(all[i]));
    if (TypeParam::hasPyRadiomicsNames)
    {
      EXPECT_EQ(TypeParam::names[i], Enums::GetName(all[i]));
    }
    if (!TypeParam::abbreviations.empty())
    {
      EXPECT_EQ(TypeParam::abbreviations.at(i), Enums::GetAbbreviation(all[i]));
    }
  }
}

TYPED_TEST(FeatureMapEnums, FeaturesAreFoundByAllNamesIgnoringCase)
{
  using Enums = typename TypeParam::Enums;
  std::set<std::string> abbreviations;
  for (const auto feature : Enums::GetAllFeatures())
  {
    for (const std::string & name : GetNames<Enums>(feature))
    {
      ExpectFound<Enums>(feature, name);
    }
    EXPECT_TRUE(abbreviations.insert(Enums::GetAbbreviation(feature)).second);
  }
  for (const auto & other : TypeParam::otherNames)
  {
    ExpectFound<Enums>(other.first, other.second);
  }
  for (const std::string & text : TypeParam::unknown)
  {
    auto found = typename Enums::Feature{};
    EXPECT_FALSE(Enums::FindFeature(text, found)) << text;
  }
}

TYPED_TEST(FeatureMapEnums, ValuesArePrinted)
{
  using Enums = typename TypeParam::Enums;
  using Feature = typename Enums::Feature;
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  for (const auto & printed : TypeParam::GetPrinted())
  {
    EXPECT_EQ(printed.second, printed.first);
  }
  for (const std::string & printed : TypeParam::GetInvalid())
  {
    ExpectInvalid(printed);
  }
  ExpectInvalid(Print(static_cast<typename Enums::CudaMethod>(99)));
  ExpectInvalid(Print(static_cast<Feature>(TypeParam::names.size())));
  for (const std::string & name : GetNames<Enums>(static_cast<Feature>(255)))
  {
    ExpectInvalid(name);
  }
}

TEST(FirstOrderFeatureMapEnums, PyRadiomicsHasAllFeaturesButTheStandardDeviation)
{
  using Enums = voxelmaps::FirstOrderFeatureMapEnums;
  auto expected = Enums::GetAllFeatures();
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(Enums::Feature::StandardDeviation));
  EXPECT_EQ(expected, Enums::GetPyRadiomicsFeatures());
}

TEST(RunLengthFeatureMapEnums, TheElevenFeaturesOfZhangEtAlAreTheFirst)
{
  using Enums = voxelmaps::RunLengthFeatureMapEnums;
  auto expected = Enums::GetAllFeatures();
  expected.resize(11);
  EXPECT_EQ(expected, Enums::GetElevenFeatures());
}
