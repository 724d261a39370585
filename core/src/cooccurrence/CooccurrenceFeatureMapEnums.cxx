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
#include "voxelmaps/CooccurrenceFeatureMapEnums.h"

#include "texture/FeatureNames.h"

#include <ostream>

namespace voxelmaps
{
namespace
{
// In the order of the enumeration.
constexpr FeatureNames cooccurrenceFeatures[CooccurrenceFeatureMapEnums::NumberOfFeatures] = {
  { "AC", "Autocorrelation", "Autocorrelation", "autocorrelation" },
  { "CP", "ClusterProminence", "ClusterProminence", "cluster_prominence" },
  { "CS", "ClusterShade", "ClusterShade", "cluster_shade" },
  { "CT", "ClusterTendency", "ClusterTendency", "cluster_tendency" },
  { "CON", "Contrast", "Contrast", "contrast" },
  { "COR", "Correlation", "Correlation", "correlation" },
  { "DA", "DifferenceAverage", "DifferenceAverage", "difference_average" },
  { "DE", "DifferenceEntropy", "DifferenceEntropy", "difference_entropy" },
  { "DV", "DifferenceVariance", "DifferenceVariance", "difference_variance" },
  { "ID", "InverseDifference", "Id", "inverse_difference" },
  { "IDM", "InverseDifferenceMoment", "Idm", "inverse_difference_moment" },
  { "IDMN", "InverseDifferenceMomentNormalized", "Idmn", "normalised_inverse_difference_moment" },
  { "IDN", "InverseDifferenceNormalized", "Idn", "normalised_inverse_difference" },
  { "IMC1", "InformationalMeasureOfCorrelation1", "Imc1", "first_measure_of_information_correlation" },
  { "IMC2", "InformationalMeasureOfCorrelation2", "Imc2", "second_measure_of_information_correlation" },
  { "IV", "InverseVariance", "InverseVariance", "inverse_variance" },
  { "JA", "JointAverage", "JointAverage", "joint_average" },
  { "JEN", "JointEnergy", "JointEnergy", "angular_second_moment" },
  { "JE", "JointEntropy", "JointEntropy", "joint_entropy" },
  { "MP", "MaximumProbability", "MaximumProbability", "joint_maximum" },
  { "SA", "SumAverage", "SumAverage", "sum_average" },
  { "SE", "SumEntropy", "SumEntropy", "sum_entropy" },
  { "SS", "SumSquares", "SumSquares", "joint_variance" },
  { "MCC", "MaximalCorrelationCoefficient", "MCC" },
};

// Second names that the IBSI has for features, and names of these.
constexpr const char * secondNames[][2] = {
  { "sum_variance", "ClusterTendency" },
  { "dissimilarity", "DifferenceAverage" },
};
} // namespace

const char *
CooccurrenceFeatureMapEnums::GetAbbreviation(Feature feature)
{
  return GetFeatureNames(cooccurrenceFeatures, feature).abbreviation;
}

const char *
CooccurrenceFeatureMapEnums::GetName(Feature feature)
{
  return GetFeatureNames(cooccurrenceFeatures, feature).name;
}

const char *
CooccurrenceFeatureMapEnums::GetPyRadiomicsName(Feature feature)
{
  return GetFeatureNames(cooccurrenceFeatures, feature).pyRadiomicsName;
}

bool
CooccurrenceFeatureMapEnums::FindFeature(const std::string & name, Feature & feature)
{
  for (const auto & second : secondNames)
  {
    if (EqualIgnoringCase(name, second[0]))
    {
      return FindFeature(second[1], feature);
    }
  }
  return FindFeatureByName(cooccurrenceFeatures, name, feature);
}

std::vector<CooccurrenceFeatureMapEnums::Feature>
CooccurrenceFeatureMapEnums::GetAllFeatures()
{
  return GetFirstFeatures<Feature>(NumberOfFeatures);
}

std::ostream &
operator<<(std::ostream & out, CooccurrenceFeatureMapEnums::Feature value)
{
  return out << CooccurrenceFeatureMapEnums::GetName(value);
}

std::ostream &
operator<<(std::ostream & out, CooccurrenceFeatureMapEnums::Aggregation value)
{
  switch (value)
  {
    case CooccurrenceFeatureMapEnums::Aggregation::PerDirection:
      return out << "PerDirection";
    case CooccurrenceFeatureMapEnums::Aggregation::Average:
      return out << "Average";
    case CooccurrenceFeatureMapEnums::Aggregation::Merge:
      return out << "Merge";
  }
  return out << "invalid aggregation";
}

std::ostream &
operator<<(std::ostream & out, CooccurrenceFeatureMapEnums::CudaMethod value)
{
  switch (value)
  {
    case CooccurrenceFeatureMapEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case CooccurrenceFeatureMapEnums::CudaMethod::SortedPairs:
      return out << "SortedPairs";
    case CooccurrenceFeatureMapEnums::CudaMethod::WindowWalk:
      return out << "WindowWalk";
  }
  return out << "invalid method";
}
} // namespace voxelmaps
