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
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"

#include <ostream>

namespace voxelmaps
{
std::ostream &
operator<<(std::ostream & out, RelativeFuzzyConnectednessEnums::Competition value)
{
  switch (value)
  {
    case RelativeFuzzyConnectednessEnums::Competition::Relative:
      return out << "Relative";
    case RelativeFuzzyConnectednessEnums::Competition::Iterative:
      return out << "Iterative";
  }
  return out << "invalid competition";
}

std::ostream &
operator<<(std::ostream & out, RelativeFuzzyConnectednessEnums::TieRule value)
{
  switch (value)
  {
    case RelativeFuzzyConnectednessEnums::TieRule::Background:
      return out << "Background";
    case RelativeFuzzyConnectednessEnums::TieRule::LowestLabel:
      return out << "LowestLabel";
  }
  return out << "invalid tie rule";
}

std::ostream &
operator<<(std::ostream & out, RelativeFuzzyConnectednessEnums::CudaMethod value)
{
  switch (value)
  {
    case RelativeFuzzyConnectednessEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case RelativeFuzzyConnectednessEnums::CudaMethod::Hierarchy:
      return out << "Hierarchy";
  }
  return out << "invalid CUDA method";
}
} // namespace voxelmaps
