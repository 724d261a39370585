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

#include "texture/FeatureNames.h"

#include <ostream>

namespace voxelmaps
{
namespace
{
// In the order of the enumeration.
constexpr FeatureNames grayToneDifferenceFeatures[GrayToneDifferenceFeatureMapEnums::NumberOfFeatures] = {
  { "BUS", "Busyness", "Busyness", "busyness" },       //
  { "COA", "Coarseness", "Coarseness", "coarseness" }, //
  { "COM", "Complexity", "Complexity", "complexity" }, //
  { "CON", "Contrast", "Contrast", "contrast" },       //
  { "STR", "Strength", "Strength", "strength" },
};
} // namespace

const char *
GrayToneDifferenceFeatureMapEnums::GetAbbreviation(Feature feature)
{
  return GetFeatureNames(grayToneDifferenceFeatures, feature).abbreviation;
}

const char *
GrayToneDifferenceFeatureMapEnums::GetName(Feature feature)
{
  return GetFeatureNames(grayToneDifferenceFeatures, feature).name;
}

const char *
GrayToneDifferenceFeatureMapEnums::GetPyRadiomicsName(Feature feature)
{
  return GetFeatureNames(grayToneDifferenceFeatures, feature).pyRadiomicsName;
}

bool
GrayToneDifferenceFeatureMapEnums::FindFeature(const std::string & name, Feature & feature)
{
  return FindFeatureByName(grayToneDifferenceFeatures, name, feature);
}

std::vector<GrayToneDifferenceFeatureMapEnums::Feature>
GrayToneDifferenceFeatureMapEnums::GetAllFeatures()
{
  return GetFirstFeatures<Feature>(NumberOfFeatures);
}

std::ostream &
operator<<(std::ostream & out, GrayToneDifferenceFeatureMapEnums::Feature value)
{
  return out << GrayToneDifferenceFeatureMapEnums::GetName(value);
}

std::ostream &
operator<<(std::ostream & out, GrayToneDifferenceFeatureMapEnums::CudaMethod value)
{
  switch (value)
  {
    case GrayToneDifferenceFeatureMapEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case GrayToneDifferenceFeatureMapEnums::CudaMethod::LevelTables:
      return out << "LevelTables";
    case GrayToneDifferenceFeatureMapEnums::CudaMethod::WindowWalk:
      return out << "WindowWalk";
  }
  return out << "invalid method";
}
} // namespace voxelmaps
