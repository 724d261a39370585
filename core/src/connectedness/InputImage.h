// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
