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
#ifndef CudaFeatureComponents_h
#define CudaFeatureComponents_h

#include "runlength/RunLengthTask.h"

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
