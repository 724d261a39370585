// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsParameters_h
#define itkVoxelMapsParameters_h

#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsEngineCall.h"

namespace itk
{
/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
/** Throw an itk::ExceptionObject unless the other image, such as a mask, has the region of the image. */
template <typename TImage, typename TOtherImage>
void
VerifySameRegion(const ProcessObject & filter, const char * otherName, const TOtherImage * other, const TImage * image)
{
  if (other != nullptr && other->GetLargestPossibleRegion() != image->GetLargestPossibleRegion())
  {
    const auto & region = other->GetLargestPossibleRegion();
    const auto & expected = image->GetLargestPossibleRegion();
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": " << otherName << " has index " << region.GetIndex()
                             << " and size " << region.GetSize() << ", but the image has index " << expected.GetIndex()
                             << " and size " << expected.GetSize() << ": both must be the same.");
  }
}

/** Throw an itk::ExceptionObject if a value is NaN, which no voxel equals. */
template <typename TValue>
void
VerifyInsidePixelValue(const Object & filter, const TValue & value)
{
  if (value != value)
  {
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": InsidePixelValue is " << value
                             << ", which no voxel equals; it must be a number.");
  }
}

/** Throw an itk::ExceptionObject unless an enumerator exists, of an enumeration that counts from 0 to the last one. */
template <typename TEnum>
void
VerifyEnumerator(const ProcessObject & filter, const char * parameterName, TEnum value, TEnum last)
{
  CallEngine(filter, [&] { voxelmaps::VerifyEnumerator(parameterName, value, last); });
}
} // namespace VoxelMapsDetail
} // namespace itk

/** Set and get a parameter that is a field of a struct. NaN is the same value as NaN. */
#define VoxelMapsSetGetMacro(name, type, field)                                                                        \
  virtual void Set##name(const type & value)                                                                           \
  {                                                                                                                    \
    itkDebugMacro("setting " #name);                                                                                   \
    if (field != value && !(field != field && value != value))                                                         \
    {                                                                                                                  \
      field = value;                                                                                                   \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return field;                                                                                                      \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

#endif // itkVoxelMapsParameters_h
