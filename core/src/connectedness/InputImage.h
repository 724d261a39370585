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
#ifndef InputImage_h
#define InputImage_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

namespace voxelmaps
{
/** Call f with a pointer to the image, of the type of its pixels. */
template <typename TFunction>
auto
WithImage(const FuzzyConnectednessInput & input, const TFunction & f)
{
  using PixelType = FuzzyConnectednessInput::PixelType;
  switch (input.pixelType)
  {
    case PixelType::Int8:
      return f(static_cast<const std::int8_t *>(input.image));
    case PixelType::UInt8:
      return f(static_cast<const std::uint8_t *>(input.image));
    case PixelType::Int16:
      return f(static_cast<const std::int16_t *>(input.image));
    case PixelType::UInt16:
      return f(static_cast<const std::uint16_t *>(input.image));
    case PixelType::Int32:
      return f(static_cast<const std::int32_t *>(input.image));
    case PixelType::UInt32:
      return f(static_cast<const std::uint32_t *>(input.image));
    case PixelType::Float:
      return f(static_cast<const float *>(input.image));
    default:
      return f(static_cast<const double *>(input.image));
  }
}
} // namespace voxelmaps

#endif // InputImage_h
