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

namespace voxelmaps
{
const FeatureTable &
CooccurrenceFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table(
    {
      { "AC", "Autocorrelation", "", "autocorrelation" },
      { "CP", "ClusterProminence", "", "cluster_prominence" },
      { "CS", "ClusterShade", "", "cluster_shade" },
      { "CT", "ClusterTendency", "", "cluster_tendency" },
      { "CON", "Contrast", "", "contrast" },
      { "COR", "Correlation", "", "correlation" },
      { "DA", "DifferenceAverage", "", "difference_average" },
      { "DE", "DifferenceEntropy", "", "difference_entropy" },
      { "DV", "DifferenceVariance", "", "difference_variance" },
      { "ID", "InverseDifference", "Id", "inverse_difference" },
      { "IDM", "InverseDifferenceMoment", "Idm", "inverse_difference_moment" },
      { "IDMN", "InverseDifferenceMomentNormalized", "Idmn", "normalised_inverse_difference_moment" },
      { "IDN", "InverseDifferenceNormalized", "Idn", "normalised_inverse_difference" },
      { "IMC1", "InformationalMeasureOfCorrelation1", "Imc1", "first_measure_of_information_correlation" },
      { "IMC2", "InformationalMeasureOfCorrelation2", "Imc2", "second_measure_of_information_correlation" },
      { "IV", "InverseVariance", "", "inverse_variance" },
      { "JA", "JointAverage", "", "joint_average" },
      { "JEN", "JointEnergy", "", "angular_second_moment" },
      { "JE", "JointEntropy", "", "joint_entropy" },
      { "MP", "MaximumProbability", "", "joint_maximum" },
      { "SA", "SumAverage", "", "sum_average" },
      { "SE", "SumEntropy", "", "sum_entropy" },
      { "SS", "SumSquares", "", "joint_variance" },
      { "MCC", "MaximalCorrelationCoefficient", "MCC" },
    },
    // Second names that the IBSI has for features.
    { { "sum_variance", "ClusterTendency" }, { "dissimilarity", "DifferenceAverage" } });
  return table;
}
} // namespace voxelmaps
