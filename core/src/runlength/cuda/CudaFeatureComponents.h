// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFeatureComponents_h
#define CudaFeatureComponents_h

#include "runlength/RunLength.h"

namespace voxelmaps
{
/** Where each feature goes, for kernels that compute features in the order of the enumeration, without entropy. */
struct FeatureComponents
{
  /** Component of a feature among those of a direction, -1 if it is not selected. */
  int  of[RunLengthTask::maxFeatures];
  bool beyondEleven;
};

inline FeatureComponents
MakeFeatureComponents(const RunLengthTask & task)
{
  FeatureComponents components{};
  for (int & component : components.of)
  {
    component = -1;
  }
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    const RunLengthJob::Feature feature = task.features[f];
    if (feature != RunLengthJob::Feature::RunEntropy)
    {
      components.of[static_cast<int>(feature)] = f;
      components.beyondEleven =
        components.beyondEleven || feature > RunLengthJob::Feature::LongRunHighGrayLevelEmphasis;
    }
  }
  return components;
}
} // namespace voxelmaps

#endif // CudaFeatureComponents_h
