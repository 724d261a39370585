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
#include "voxelmaps/GrayLevelDiscretizationEnums.h"

#include <ostream>

namespace voxelmaps
{
std::ostream &
operator<<(std::ostream & out, GrayLevelDiscretizationEnums::Method value)
{
  switch (value)
  {
    case GrayLevelDiscretizationEnums::Method::FixedBinNumber:
      return out << "FixedBinNumber";
    case GrayLevelDiscretizationEnums::Method::FixedBinSize:
      return out << "FixedBinSize";
    case GrayLevelDiscretizationEnums::Method::FixedBinSizeAtMultiples:
      return out << "FixedBinSizeAtMultiples";
    case GrayLevelDiscretizationEnums::Method::Identity:
      return out << "Identity";
    case GrayLevelDiscretizationEnums::Method::Levels:
      return out << "Levels";
    case GrayLevelDiscretizationEnums::Method::Edges:
      return out << "Edges";
  }
  return out << "invalid method";
}

std::ostream &
operator<<(std::ostream & out, GrayLevelDiscretizationEnums::RangeSource value)
{
  switch (value)
  {
    case GrayLevelDiscretizationEnums::RangeSource::Given:
      return out << "Given";
    case GrayLevelDiscretizationEnums::RangeSource::Image:
      return out << "Image";
    case GrayLevelDiscretizationEnums::RangeSource::Mask:
      return out << "Mask";
  }
  return out << "invalid range source";
}
} // namespace voxelmaps
