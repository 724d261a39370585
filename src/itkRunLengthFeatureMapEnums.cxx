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
#include "itkRunLengthFeatureMapEnums.h"

#include "texture/FeatureNames.h"

#include <ostream>

namespace itk
{
namespace
{
using voxelmaps::EqualIgnoringCase;

struct FeatureName
{
  const char * abbreviation;
  const char * name;
};

// In the order of the enumeration.
constexpr FeatureName featureNames[RunLengthFeatureMapEnums::NumberOfFeatures] = {
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

std::vector<RunLengthFeatureMapEnums::Feature>
FirstFeatures(unsigned int count)
{
  std::vector<RunLengthFeatureMapEnums::Feature> features;
  for (unsigned int i = 0; i < count; ++i)
  {
    features.push_back(static_cast<RunLengthFeatureMapEnums::Feature>(i));
  }
  return features;
}
} // namespace

const char *
RunLengthFeatureMapEnums::GetAbbreviation(Feature feature)
{
  const auto i = static_cast<unsigned int>(feature);
  return i < NumberOfFeatures ? featureNames[i].abbreviation : "invalid feature";
}

const char *
RunLengthFeatureMapEnums::GetName(Feature feature)
{
  const auto i = static_cast<unsigned int>(feature);
  return i < NumberOfFeatures ? featureNames[i].name : "invalid feature";
}

bool
RunLengthFeatureMapEnums::FindFeature(const std::string & name, Feature & feature)
{
  for (unsigned int i = 0; i < NumberOfFeatures; ++i)
  {
    if (EqualIgnoringCase(name, featureNames[i].abbreviation) || EqualIgnoringCase(name, featureNames[i].name))
    {
      feature = static_cast<Feature>(i);
      return true;
    }
  }
  return false;
}

std::vector<RunLengthFeatureMapEnums::Feature>
RunLengthFeatureMapEnums::GetElevenFeatures()
{
  return FirstFeatures(11);
}

std::vector<RunLengthFeatureMapEnums::Feature>
RunLengthFeatureMapEnums::GetAllFeatures()
{
  return FirstFeatures(NumberOfFeatures);
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
} // namespace itk
