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
#include "itkFuzzyConnectednessEnums.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace
{
using Enums = itk::FuzzyConnectednessEnums;

template <typename TEnum>
std::string
Print(TEnum value)
{
  std::ostringstream out;
  out << value;
  return out.str();
}
} // namespace

TEST(FuzzyConnectednessEnums, ValuesArePrinted)
{
  EXPECT_EQ("GeometricMean", Print(Enums::AffinityFunction::GeometricMean));
  EXPECT_EQ("WeightedSum", Print(Enums::AffinityFunction::WeightedSum));
  EXPECT_EQ("Minimum", Print(Enums::AffinityFunction::Minimum));
  EXPECT_EQ("Homogeneity", Print(Enums::AffinityFunction::Homogeneity));
  EXPECT_EQ("Face", Print(Enums::Adjacency::Face));
  EXPECT_EQ("FaceEdge", Print(Enums::Adjacency::FaceEdge));
  EXPECT_EQ("Full", Print(Enums::Adjacency::Full));
  EXPECT_EQ("Automatic", Print(Enums::Method::Automatic));
  EXPECT_EQ("Queue", Print(Enums::Method::Queue));
  EXPECT_EQ("Buckets", Print(Enums::Method::Buckets));
  EXPECT_EQ("Tiles", Print(Enums::Method::Tiles));
  EXPECT_EQ("Hierarchy", Print(Enums::Method::Hierarchy));
}

TEST(FuzzyConnectednessEnums, InvalidValuesAreNamedInvalid)
{
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::AffinityFunction>(4)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Adjacency>(3)).find("invalid"));
  EXPECT_NE(std::string::npos, Print(static_cast<Enums::Method>(5)).find("invalid"));
}
