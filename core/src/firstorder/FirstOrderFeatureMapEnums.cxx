// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/FirstOrderFeatureMapEnums.h"

#include <algorithm>

namespace voxelmaps
{
const FeatureTable &
FirstOrderFeatureMapEnums::GetFeatureTable()
{
  // No IBSI name where the IBSI has no such feature, or defines it in another way.
  static const FeatureTable table(
    "firstorder",
    {
      { "P10", "Percentile10", "10Percentile", "10th_intensity_percentile" },
      { "P90", "Percentile90", "90Percentile", "90th_intensity_percentile" },
      { "ENE", "Energy", "", "intensity_based_energy" },
      { "ENT", "Entropy", "", "discretised_intensity_entropy" },
      { "IQR", "InterquartileRange", "", "intensity_interquartile_range" },
      { "KUR", "Kurtosis" },
      { "MAX", "Maximum", "", "maximum_intensity" },
      { "MAD", "MeanAbsoluteDeviation", "", "intensity_based_mean_absolute_deviation" },
      { "MEAN", "Mean", "", "mean_intensity" },
      { "MED", "Median", "", "median_intensity" },
      { "MIN", "Minimum", "", "minimum_intensity" },
      { "RAN", "Range", "", "intensity_range" },
      { "RMAD", "RobustMeanAbsoluteDeviation", "", "intensity_based_robust_mean_absolute_deviation" },
      { "RMS", "RootMeanSquared", "", "root_mean_square_intensity" },
      { "SKE", "Skewness", "", "intensity_skewness" },
      { "SD", "StandardDeviation" },
      { "TE", "TotalEnergy" },
      { "UNI", "Uniformity", "", "discretised_intensity_uniformity" },
      { "VAR", "Variance", "", "intensity_variance" },
    });
  return table;
}

std::vector<FirstOrderFeatureMapEnums::Feature>
FirstOrderFeatureMapEnums::GetPyRadiomicsFeatures()
{
  std::vector<Feature> features = GetAllFeatures();
  features.erase(std::find(features.begin(), features.end(), Feature::StandardDeviation));
  return features;
}
} // namespace voxelmaps
