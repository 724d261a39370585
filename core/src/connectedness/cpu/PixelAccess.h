// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PixelAccess_h
#define PixelAccess_h

#include "connectedness/InputImage.h"
#include "VectorVoxel.h"

namespace voxelmaps
{
/** Access to the pixels of an image: a pointer, or VectorVoxelIterator. */
template <typename TPixel>
struct PixelAccess
{
  using Iterator = const TPixel *;

  static Iterator
  Get(const FuzzyConnectednessInput & input)
  {
    return static_cast<Iterator>(input.image);
  }
};
template <>
struct PixelAccess<VectorVoxel>
{
  using Iterator = VectorVoxelIterator;

  static Iterator
  Get(const FuzzyConnectednessInput & input)
  {
    return Iterator(input);
  }
};

/** Call f with a pointer to the type of the pixels of a graph. */
template <typename TFunction>
auto
WithPixels(const FuzzyConnectednessInput & input, const TFunction & f)
{
  return input.numberOfComponents > 0 ? f(static_cast<const VectorVoxel *>(nullptr)) : WithImage(input, f);
}
} // namespace voxelmaps

#endif // PixelAccess_h
