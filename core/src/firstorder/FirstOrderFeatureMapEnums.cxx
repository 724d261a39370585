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
#include "voxelmaps/FirstOrderFeatureMapEnums.h"

#include "texture/FeatureNames.h"

#include <ostream>

namespace voxelmaps
{
namespace
{
// In the order of the enumeration. No name where the IBSI has no such feature, or defines it in another way.
constexpr FeatureNames firstOrderFeatures[FirstOrderFeatureMapEnums::NumberOfFeatures] = {
  { "P10", "Percentile10", "10Percentile", "10th_intensity_percentile" },
  { "P90", "Percentile90", "90Percentile", "90th_intensity_percentile" },
  { "ENE", "Energy", "Energy", "intensity_based_energy" },
  { "ENT", "Entropy", "Entropy", "discretised_intensity_entropy" },
  { "IQR", "InterquartileRange", "InterquartileRange", "intensity_interquartile_range" },
  { "KUR", "Kurtosis", "Kurtosis", "" },
  { "MAX", "Maximum", "Maximum", "maximum_intensity" },
  { "MAD", "MeanAbsoluteDeviation", "MeanAbsoluteDeviation", "intensity_based_mean_absolute_deviation" },
  { "MEAN", "Mean", "Mean", "mean_intensity" },
  { "MED", "Median", "Median", "median_intensity" },
  { "MIN", "Minimum", "Minimum", "minimum_intensity" },
  { "RAN", "Range", "Range", "intensity_range" },
  { "RMAD",
    "RobustMeanAbsoluteDeviation",
    "RobustMeanAbsoluteDeviation",
    "intensity_based_robust_mean_absolute_deviation" },
  { "RMS", "RootMeanSquared", "RootMeanSquared", "root_mean_square_intensity" },
  { "SKE", "Skewness", "Skewness", "intensity_skewness" },
  { "SD", "StandardDeviation", "StandardDeviation", "" },
  { "TE", "TotalEnergy", "TotalEnergy", "" },
  { "UNI", "Uniformity", "Uniformity", "discretised_intensity_uniformity" },
  { "VAR", "Variance", "Variance", "intensity_variance" },
};
} // namespace

const char *
FirstOrderFeatureMapEnums::GetAbbreviation(Feature feature)
{
  return GetFeatureNames(firstOrderFeatures, feature).abbreviation;
}

const char *
FirstOrderFeatureMapEnums::GetName(Feature feature)
{
  return GetFeatureNames(firstOrderFeatures, feature).name;
}

const char *
FirstOrderFeatureMapEnums::GetPyRadiomicsName(Feature feature)
{
  return GetFeatureNames(firstOrderFeatures, feature).pyRadiomicsName;
}

bool
FirstOrderFeatureMapEnums::FindFeature(const std::string & name, Feature & feature)
{
  return FindFeatureByName(firstOrderFeatures, name, feature);
}

std::vector<FirstOrderFeatureMapEnums::Feature>
FirstOrderFeatureMapEnums::GetPyRadiomicsFeatures()
{
  std::vector<Feature> features;
  for (const Feature feature : GetAllFeatures())
  {
    if (feature != Feature::StandardDeviation)
    {
      features.push_back(feature);
    }
  }
  return features;
}

std::vector<FirstOrderFeatureMapEnums::Feature>
FirstOrderFeatureMapEnums::GetAllFeatures()
{
  return GetFirstFeatures<Feature>(NumberOfFeatures);
}

std::ostream &
operator<<(std::ostream & out, FirstOrderFeatureMapEnums::Feature value)
{
  return out << FirstOrderFeatureMapEnums::GetName(value);
}

std::ostream &
operator<<(std::ostream & out, FirstOrderFeatureMapEnums::CudaMethod value)
{
  switch (value)
  {
    case FirstOrderFeatureMapEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case FirstOrderFeatureMapEnums::CudaMethod::SortingNetwork:
      return out << "SortingNetwork";
    case FirstOrderFeatureMapEnums::CudaMethod::RadixSelection:
      return out << "RadixSelection";
  }
  return out << "invalid method";
}
} // namespace voxelmaps
