// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/CooccurrenceFeatureMapEnums.h"

namespace voxelmaps
{
const FeatureTable &
CooccurrenceFeatureMapEnums::GetFeatureTable()
{
  static const FeatureTable table(
    "glcm",
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
