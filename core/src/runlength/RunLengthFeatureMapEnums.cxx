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
#include "voxelmaps/RunLengthFeatureMapEnums.h"

#include "texture/FeatureNames.h"

#include <ostream>

namespace voxelmaps
{
namespace
{
// In the order of the enumeration.
constexpr FeatureNames runLengthFeatures[RunLengthFeatureMapEnums::NumberOfFeatures] = {
  { "SRE", "ShortRunEmphasis" },
  { "LRE", "LongRunEmphasis" },
  { "GLN", "GrayLevelNonUniformity" },
  { "RLN", "RunLengthNonUniformity" },
  { "RP", "RunPercentage" },
  { "LGRE", "LowGrayLevelRunEmphasis" },
  { "HGRE", "HighGrayLevelRunEmphasis" },
  { "SRLGE", "ShortRunLowGrayLevelEmphasis" },
  { "SRHGE", "ShortRunHighGrayLevelEmphasis" },
  { "LRLGE", "LongRunLowGrayLevelEmphasis" },
  { "LRHGE", "LongRunHighGrayLevelEmphasis" },
  { "GLNN", "GrayLevelNonUniformityNormalized" },
  { "RLNN", "RunLengthNonUniformityNormalized" },
  { "GLV", "GrayLevelVariance" },
  { "RV", "RunVariance" },
  { "RE", "RunEntropy" },
};
} // namespace

const char *
RunLengthFeatureMapEnums::GetAbbreviation(Feature feature)
{
  return GetFeatureNames(runLengthFeatures, feature).abbreviation;
}

const char *
RunLengthFeatureMapEnums::GetName(Feature feature)
{
  return GetFeatureNames(runLengthFeatures, feature).name;
}

bool
RunLengthFeatureMapEnums::FindFeature(const std::string & name, Feature & feature)
{
  return FindFeatureByName(runLengthFeatures, name, feature);
}

std::vector<RunLengthFeatureMapEnums::Feature>
RunLengthFeatureMapEnums::GetElevenFeatures()
{
  return GetFirstFeatures<Feature>(11);
}

std::vector<RunLengthFeatureMapEnums::Feature>
RunLengthFeatureMapEnums::GetAllFeatures()
{
  return GetFirstFeatures<Feature>(NumberOfFeatures);
}

std::ostream &
operator<<(std::ostream & out, RunLengthFeatureMapEnums::Feature value)
{
  return out << RunLengthFeatureMapEnums::GetName(value);
}

std::ostream &
operator<<(std::ostream & out, RunLengthFeatureMapEnums::Aggregation value)
{
  switch (value)
  {
    case RunLengthFeatureMapEnums::Aggregation::PerDirection:
      return out << "PerDirection";
    case RunLengthFeatureMapEnums::Aggregation::Average:
      return out << "Average";
    case RunLengthFeatureMapEnums::Aggregation::Merge:
      return out << "Merge";
  }
  return out << "invalid aggregation";
}

std::ostream &
operator<<(std::ostream & out, RunLengthFeatureMapEnums::CudaMethod value)
{
  switch (value)
  {
    case RunLengthFeatureMapEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case RunLengthFeatureMapEnums::CudaMethod::SortReduce:
      return out << "SortReduce";
    case RunLengthFeatureMapEnums::CudaMethod::WindowWalk:
      return out << "WindowWalk";
    case RunLengthFeatureMapEnums::CudaMethod::WindowWord:
      return out << "WindowWord";
    case RunLengthFeatureMapEnums::CudaMethod::BoxSums:
      return out << "BoxSums";
    case RunLengthFeatureMapEnums::CudaMethod::SlidingWindow:
      return out << "SlidingWindow";
  }
  return out << "invalid method";
}
} // namespace voxelmaps
