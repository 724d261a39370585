// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ItkTestUtilities_h
#define ItkTestUtilities_h

#include "VoxelMapsTestUtilities.h"

#include "itkDataObject.h"
#include "itkImage.h"
#include "itkMacro.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** An image of these pixels, x fastest. */
template <typename TImage>
typename TImage::Pointer
MakeImage(const typename TImage::SizeType & size, const std::vector<typename TImage::PixelType> & pixels,
          const typename TImage::IndexType & start = typename TImage::IndexType{ {} })
{
  auto image = TImage::New();
  image->SetRegions(typename TImage::RegionType(start, size));
  image->Allocate();
  EXPECT_EQ(pixels.size(), image->GetBufferedRegion().GetNumberOfPixels());
  std::copy(pixels.begin(), pixels.end(), image->GetBufferPointer());
  return image;
}

/** The pixels of an image's buffer. */
template <typename TImage>
std::vector<typename TImage::InternalPixelType>
GetBuffer(const TImage * image)
{
  const auto * const begin = image->GetBufferPointer();
  const std::size_t  count = image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  return std::vector<typename TImage::InternalPixelType>(begin, begin + count);
}

/** The pixels of a region inside an image's buffer, all components. */
template <typename TImage>
std::vector<typename TImage::InternalPixelType>
GetBuffer(const TImage * image, const typename TImage::RegionType & region)
{
  std::vector<typename TImage::InternalPixelType> values;
  const auto *                                    buffer = image->GetBufferPointer();
  const std::size_t                               components = image->GetNumberOfComponentsPerPixel();
  for (std::size_t i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    auto        index = region.GetIndex();
    std::size_t rest = i;
    for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
    {
      index[axis] += static_cast<itk::IndexValueType>(rest % region.GetSize(axis));
      rest /= region.GetSize(axis);
    }
    const auto * const pixel = buffer + static_cast<std::size_t>(image->ComputeOffset(index)) * components;
    values.insert(values.end(), pixel, pixel + components);
  }
  return values;
}

/** Expect an itk::ExceptionObject whose message contains all of these words; "~0.5" may be a part of a longer one. */
template <typename TAction>
void
ExpectError(TAction && action, const std::vector<std::string> & words)
{
  try
  {
    action();
  }
  catch (const itk::ExceptionObject & error)
  {
    std::string message = error.GetDescription();
    // The address of the object is no part of what the message tells.
    const std::size_t prefix = message.find("): ");
    message = prefix == std::string::npos ? message : message.substr(prefix + 3);
    for (const std::string & word : words)
    {
      const bool found =
        word[0] == '~' ? message.find(word.substr(1)) != std::string::npos : ContainsWord(message, word);
      EXPECT_TRUE(found) << "\"" << word << "\" is missing in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "no itk::ExceptionObject";
}

/** Mark a test as unable to go on if an ITK call throws, with the message. */
#define VOXELMAPS_ASSERT_NO_ITK_ERROR(statement)                                                                       \
  try                                                                                                                  \
  {                                                                                                                    \
    statement;                                                                                                         \
  }                                                                                                                    \
  catch (const itk::ExceptionObject & error)                                                                           \
  {                                                                                                                    \
    FAIL() << error.what();                                                                                            \
  }                                                                                                                    \
  static_assert(true, "")
} // namespace VoxelMapsTest

#endif // ItkTestUtilities_h
