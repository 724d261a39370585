// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/GrayLevelDiscretizationEnums.h"

#include <gtest/gtest.h>

#include <string>

using VoxelMapsTest::Print;

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
  EXPECT_EQ("Buckets", Print(Enums::Method::Buckets));
  EXPECT_EQ("Hierarchy", Print(Enums::Method::Hierarchy));
  EXPECT_EQ("Automatic", Print(Enums::CudaMethod::Automatic));
  EXPECT_EQ("CorrectedKFOE", Print(Enums::CudaMethod::CorrectedKFOE));
  EXPECT_EQ("Hierarchy", Print(Enums::CudaMethod::Hierarchy));
}

TEST(FuzzyConnectednessEnums, InvalidValuesAreNamedInvalid)
{
  using Enums = voxelmaps::FuzzyConnectednessEnums;
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::AffinityFunction>(5)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Adjacency>(3)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Method>(3)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::CudaMethod>(3)).find("invalid"));
}
