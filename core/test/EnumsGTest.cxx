// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/GrayLevelDiscretizationEnums.h"
#include "voxelmaps/RegionFeaturesJob.h"
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"
#include "voxelmaps/ResampleImageJob.h"
#include "voxelmaps/ResponseMapJob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>

// Numbers of enumerators, and names: unique, printed, and by which features are found.
namespace
{
using namespace voxelmaps;
using VoxelMapsTest::Print;

template <typename TEnum>
void
ExpectNames(std::size_t number)
{
  const auto            enumerators = GetEnumerators<TEnum>();
  std::set<std::string> names;
  for (const TEnum enumerator : enumerators)
  {
    EXPECT_EQ(static_cast<TEnum>(names.size()), enumerator);
    names.insert(Print(enumerator));
  }
  EXPECT_EQ(number, enumerators.size());
  EXPECT_EQ(number, names.size()) << *names.begin();
  EXPECT_EQ(0u, Print(static_cast<TEnum>(number)).find("invalid"));
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

template <typename TEnums>
void
ExpectFeatures(unsigned int number)
{
  using Feature = typename TEnums::Feature;
  const auto all = TEnums::GetAllFeatures();
  ASSERT_EQ(number, all.size());
  ASSERT_EQ(number, TEnums::NumberOfFeatures + 0u);
  std::map<std::string, Feature> features;
  for (const Feature feature : all)
  {
    const FeatureNames & names = TEnums::GetFeatureTable()[static_cast<unsigned int>(feature)];
    EXPECT_EQ(names.name, Print(feature));
    EXPECT_STRNE("", names.abbreviation);
    EXPECT_STRNE("", names.name);
    for (const std::string name :
         { names.abbreviation, names.name, names.pyRadiomicsName, names.ibsiName, names.secondIbsiName })
    {
      if (!name.empty())
      {
        EXPECT_EQ(feature, features.emplace(ChangeCase(name, std::tolower), feature).first->second) << name;
        ExpectFound<TEnums>(feature, name);
        for (const std::string & unknown : { name + "x", " " + name, name + " " })
        {
          Feature found{};
          EXPECT_FALSE(TEnums::FindFeature(unknown, found)) << unknown;
        }
      }
    }
  }
  Feature found{};
  EXPECT_FALSE(TEnums::FindFeature("", found));
}
} // namespace

TEST(Enums, NamesAreUniqueAndPrinted)
{
  ExpectNames<FuzzyConnectednessEnums::AffinityFunction>(5);
  ExpectNames<FuzzyConnectednessEnums::Adjacency>(3);
  ExpectNames<GrayLevelDiscretizationEnums::Method>(6);
  ExpectNames<GrayLevelDiscretizationEnums::RangeSource>(3);
  ExpectNames<RelativeFuzzyConnectednessEnums::Competition>(2);
  ExpectNames<RelativeFuzzyConnectednessEnums::TieRule>(3);
  ExpectNames<ResampleImageEnums::Interpolation>(3);
  ExpectNames<ResponseMapEnums::Filter>(5);
  ExpectNames<ResponseMapEnums::Pooling>(3);
  ExpectNames<FilterBoundary>(5);
  ExpectNames<FilterCombination>(4);
  ExpectNames<SizeZoneFeatureMapEnums::Connectivity>(2);
  ExpectNames<TextureFeatureMapEnums::Aggregation>(3);
}

TEST(Enums, FeaturesAreFoundByTheirNames)
{
  ExpectFeatures<CooccurrenceFeatureMapEnums>(24);
  ExpectFeatures<DependenceFeatureMapEnums>(14);
  ExpectFeatures<FirstOrderFeatureMapEnums>(19);
  ExpectFeatures<GrayToneDifferenceFeatureMapEnums>(5);
  ExpectFeatures<RunLengthFeatureMapEnums>(16);
  ExpectFeatures<SizeZoneFeatureMapEnums>(16);
}

TEST(Enums, IdentifiersOfTheIbsiBelongToOneFeature)
{
  std::set<std::string> identifiers;
#define EXPECT_IDENTIFIERS(GetTable, className, ...)                                                                   \
  EXPECT_EQ(&GetTable(), &GetFeatureTable(className));                                                                 \
  EXPECT_STREQ(className, GetTable().GetClassName());                                                                  \
  for (unsigned int i = 0; i < GetTable().GetNumberOfFeatures(); ++i)                                                  \
  {                                                                                                                    \
    const std::string text = GetTable()[i].ibsiIdentifier;                                                             \
    EXPECT_TRUE(text.empty() || (text.size() == 4 && identifiers.insert(text).second)) << text;                        \
  }
  VOXELMAPS_FEATURE_CLASSES(EXPECT_IDENTIFIERS)
#undef EXPECT_IDENTIFIERS
  EXPECT_THROW(GetFeatureTable("ngldm"), EngineError);
}
