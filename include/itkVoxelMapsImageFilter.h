// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageFilter_h
#define itkVoxelMapsImageFilter_h

#include "itkImage.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsDeviceImageFilter.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace itk
{
/** \class VoxelMapsImageFilter
 * \brief Base of the filters that have a mask: the mask, and the grids of further images.
 *
 * \par Masks
 * Without InsidePixelValue, the voxels other than 0 and NaN are inside, and all of them must have the same value. With
 * InsidePixelValue, the voxels of this value are inside. It is an error if no voxel is inside; the message lists the
 * values of the mask. The filters request their masks entirely.
 *
 * \par Grids
 * Masks, selections and seed images must have the region of the input, and its grid: their corners may differ by at
 * most CoordinateTolerance voxels: 0.001, or what itk::ImageToImageFilterCommon::SetGlobalDefaultCoordinateTolerance()
 * has set before. NIfTI, for example, stores origins as float. DirectionTolerance is not used.
 *
 * - MaskImage (none), InsidePixelValue (not set): see above.
 * - Those of VoxelMapsDeviceImageFilter: Device, DeviceID, DeviceMemoryBudget.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if the mask has no voxel inside or several values but no
 * InsidePixelValue, if there is an InsidePixelValue but no mask, if grids differ, and for the errors of
 * VoxelMapsDeviceImageFilter.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT VoxelMapsImageFilter : public VoxelMapsDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(VoxelMapsImageFilter);

  using Self = VoxelMapsImageFilter;
  using Superclass = VoxelMapsDeviceImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(VoxelMapsImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::InputImageType;
  using typename Superclass::InputRegionType;
  using MaskImageType = TMaskImage;
  using MaskPixelType = typename MaskImageType::PixelType;

  static_assert(VoxelMapsDetail::hasPixelsInBuffer<MaskImageType>,
                "The mask must be an itk::Image: itk::CastImageFilter copies others, such as adaptors");
  static_assert(voxelmaps::hasPixelType<MaskPixelType>, "The mask must be a scalar image of integers, float or double");

  /** Optional image of the same geometry; voxels outside the mask are absent. */
  itkSetInputMacro(MaskImage, MaskImageType);
  itkGetInputMacro(MaskImage, MaskImageType);

  /** Value of the voxels inside the mask. Default: none, for masks of 0 and one other value; the get function then
   * returns 0. ClearInsidePixelValue() restores the default. */
  virtual void
  SetInsidePixelValue(const MaskPixelType & value)
  {
    if (m_InsidePixelValue != value)
    {
      m_InsidePixelValue = value;
      this->Modified();
    }
  }
  virtual void
  ClearInsidePixelValue()
  {
    if (m_InsidePixelValue)
    {
      m_InsidePixelValue.reset();
      this->Modified();
    }
  }
  virtual MaskPixelType
  GetInsidePixelValue() const
  {
    return m_InsidePixelValue.value_or(MaskPixelType{});
  }

protected:
  VoxelMapsImageFilter()
  {
    this->AddOptionalInputName("MaskImage");
    // Unless the program has chosen another one for all filters.
    constexpr double toleranceOfItk = 1e-6;
    if (ImageToImageFilterCommon::GetGlobalDefaultCoordinateTolerance() == toleranceOfItk)
    {
      this->SetCoordinateTolerance(1e-3);
    }
    if constexpr (DeviceImageTraits<TInputImage>::isDeviceImage)
    {
      // Masks, whose type is an itk::Image.
      RegisterDeviceImage<typename VoxelMapsDetail::ImageOf<TInputImage, MaskPixelType>::Type>();
    }
  }
  ~VoxelMapsImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "InsidePixelValue: ";
    if (m_InsidePixelValue)
    {
      os << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(*m_InsidePixelValue) << std::endl;
    }
    else
    {
      os << "(not set)" << std::endl;
    }
  }
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();
    if (m_InsidePixelValue && !this->HasMask())
    {
      itkExceptionMacro("InsidePixelValue is "
                        << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(*m_InsidePixelValue)
                        << ", but there is no mask: set one, or call ClearInsidePixelValue().");
    }
  }
  /** Whether there is an image that InsidePixelValue is for. */
  virtual bool
  HasMask() const
  {
    return this->GetMaskImage() != nullptr;
  }
  void
  VerifyInputInformation() const override
  {
    // Not that of the superclass, whose tolerance of the origin depends on the spacing along x alone.
    this->VerifySameGrid("the mask", this->GetMaskImage());
  }
  void
  GenerateInputRequestedRegion() override
  {
    Superclass::GenerateInputRequestedRegion();
    if (this->GetMaskImage() != nullptr)
    {
      const_cast<MaskImageType *>(this->GetMaskImage())->SetRequestedRegionToLargestPossibleRegion();
    }
  }

  /** Throw an itk::ExceptionObject unless an image is null or on the grid of the input. */
  void
  VerifySameGrid(const std::string & name, const ImageBase<ImageDimension> * image) const
  {
    if (image != nullptr)
    {
      VoxelMapsDetail::VerifySameGrid<ImageDimension>(
        this->GetNameOfClass(), name, *image, *this->GetInput(), this->GetCoordinateTolerance());
    }
  }

  /** One byte per voxel of a region of a mask, other than 0 inside, in the memory that a job reads; null without a
   * mask. Throws an itk::ExceptionObject if the mask has no voxel inside or is ambiguous, also beyond the region. */
  std::shared_ptr<const std::uint8_t[]>
  MakeMaskBytes(const char * name, const MaskImageType * mask, const InputRegionType & region,
                const voxelmaps::JobExecution & execution) const
  {
    if (mask == nullptr)
    {
      return nullptr;
    }
    using Location = VoxelMapsDetail::JobMemory::Location;
    const std::string           filter = this->GetNameOfClass();
    const auto                  whole = mask->GetLargestPossibleRegion();
    const auto                  type = voxelmaps::GetPixelType<MaskPixelType>();
    const MaskPixelType * const inside = m_InsidePixelValue ? &*m_InsidePixelValue : nullptr;
    auto                        pixels = VoxelMapsDetail::GetPixels(filter, name, mask, whole, this->GetMemory());
    if (pixels.location == Location::Device)
    {
      const auto bytes = VoxelMapsDetail::MakeDeviceMaskBytes<ImageDimension>(
        type, pixels.pointer, inside, mask->GetBufferedRegion(), region, this->GetMemory());
      if (bytes != nullptr)
      {
        return bytes;
      }
      // The text of the error tells its values.
      pixels.pointer = mask->GetBufferPointer();
    }
    const auto                            verified = std::make_tuple(mask, mask->GetMTime(), m_InsidePixelValue);
    const auto                            known = m_VerifiedMasks.find(name);
    const bool                            isVerified = known != m_VerifiedMasks.end() && known->second == verified;
    std::shared_ptr<const std::uint8_t[]> bytes = VoxelMapsDetail::MakeMaskBytes<ImageDimension>(
      filter, name, type, pixels.pointer, inside, *mask, region, isVerified, execution);
    m_VerifiedMasks[name] = verified;
    return this->GetMemory().options.inputLocation == Location::Device
             ? VoxelMapsDetail::CopyToDevice(bytes.get(), region.GetNumberOfPixels(), execution, this->GetMemory())
             : bytes;
  }

  std::optional<MaskPixelType> m_InsidePixelValue;

private:
  /** Masks, by their name, that the last update found to be valid, so that pieces of a stream do not search them again.
   */
  mutable std::map<std::string, std::tuple<const MaskImageType *, ModifiedTimeType, std::optional<MaskPixelType>>>
    m_VerifiedMasks;
};
} // namespace itk

#endif // itkVoxelMapsImageFilter_h
