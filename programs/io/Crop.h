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
#ifndef Crop_h
#define Crop_h

// Maps of only the part of an image that a mask needs.

#include "itkImageScanlineConstIterator.h"

#include <algorithm>

namespace ProgramIO
{
/** The smallest region with all voxels of a mask that are not 0; it has no voxels if there are none. */
template <typename TMask>
typename TMask::RegionType
GetBoundingBox(const TMask * mask)
{
  const auto                image = mask->GetBufferedRegion();
  typename TMask::IndexType low = image.GetUpperIndex();
  typename TMask::IndexType high = image.GetIndex();
  bool                      isEmpty = true;

  for (itk::ImageScanlineConstIterator<TMask> it(mask, image); !it.IsAtEnd(); it.NextLine())
  {
    for (; !it.IsAtEndOfLine(); ++it)
    {
      if (it.Get() == 0)
      {
        continue;
      }
      isEmpty = false;
      const auto index = it.GetIndex();
      for (unsigned int d = 0; d < TMask::ImageDimension; ++d)
      {
        low[d] = std::min(low[d], index[d]);
        high[d] = std::max(high[d], index[d]);
      }
    }
  }

  typename TMask::RegionType box;
  if (!isEmpty)
  {
    box.SetIndex(low);
    box.SetUpperIndex(high);
  }
  return box;
}

/** A region with the windows of all its voxels, as far as they are in the image. */
template <typename TRegion, typename TSize, typename TOffset>
TRegion
PadByWindow(const TRegion & region, const TSize & windowSize, const TOffset & anchor, const TRegion & image)
{
  auto low = region.GetIndex();
  auto high = region.GetUpperIndex();
  for (unsigned int d = 0; d < TRegion::ImageDimension; ++d)
  {
    low[d] = std::max(low[d] - anchor[d], image.GetIndex()[d]);
    high[d] =
      std::min(high[d] + static_cast<itk::OffsetValueType>(windowSize[d]) - 1 - anchor[d], image.GetUpperIndex()[d]);
  }
  TRegion padded;
  padded.SetIndex(low);
  padded.SetUpperIndex(high);
  return padded;
}

/** Make the buffered part of an image a whole image. It begins at index 0, and its voxels keep their physical points.
 */
template <typename TImage>
void
ShrinkToBuffer(TImage * image)
{
  const auto                 region = image->GetBufferedRegion();
  typename TImage::PointType origin;
  image->TransformIndexToPhysicalPoint(region.GetIndex(), origin);
  image->SetOrigin(origin);
  image->SetRegions(region.GetSize());
}
} // namespace ProgramIO

#endif // Crop_h
