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
