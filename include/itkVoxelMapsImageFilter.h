// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageFilter_h
#define itkVoxelMapsImageFilter_h

#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsEngineCall.h"
#include "itkVoxelMapsEnums.h"
#include "itkVoxelMapsImageRows.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace itk
{
/** \class VoxelMapsImageFilter
 * \brief Base of all filters of this module: the mask, the grids of further images, and the device.
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
 * \par Device
 * Results are bit-identical on the CPU and on CUDA devices. Images may be larger than the memory of a device: except
 * for labels, they are computed in slabs that fit. Up to 1/32 of the device memory and 128 MB of page-locked host
 * memory remain allocated for later calls of Update() in the same program, until CudaDevices::ReleaseResources().
 *
 * Pixels of an itk::CudaImage, or of another image with DevicePixels, stay on their device, which computes unless
 * Device is CPU; so do those of outputs of such a type. Work is in the default stream, or in that of the DevicePixels.
 *
 * - MaskImage (none), InsidePixelValue (not set): see above.
 * - Device (Automatic), DeviceID (0): what computes; see DeviceEnums::Device.
 * - DeviceMemoryBudget (0): maximum number of bytes of device memory to use; 0 for all free memory.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if the mask has no voxel inside or several values but no
 * InsidePixelValue, if there is an InsidePixelValue but no mask, if the pixels of an image are not in memory, such as
 * after ReleaseDataFlag, if grids differ, if Device is CUDA but the device DeviceID does not exist or this build has no
 * code for it, if the device has too little memory for the smallest slab (the message says how much is needed), and for
 * every error of CUDA, with the text of CUDA and advice.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT VoxelMapsImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(VoxelMapsImageFilter);

  using Self = VoxelMapsImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(VoxelMapsImageFilter);

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using InputImageType = TInputImage;
  using InputRegionType = typename InputImageType::RegionType;
  using MaskImageType = TMaskImage;
  using MaskPixelType = typename MaskImageType::PixelType;
  using DeviceEnum = DeviceEnums::Device;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "VoxelMaps filters support 2D and 3D images");
  static_assert(
    VoxelMapsDetail::hasPixelsInBuffer<TInputImage> && VoxelMapsDetail::hasPixelsInBuffer<MaskImageType>,
    "Images must be an itk::Image or itk::VectorImage: itk::CastImageFilter copies others, such as adaptors");
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

  /** What computes: the CPU or a CUDA device. Default: Automatic. */
  itkSetEnumMacro(Device, DeviceEnum);
  itkGetEnumMacro(Device, DeviceEnum);

  /** Number of the CUDA device. Default: 0. */
  itkSetMacro(DeviceID, int);
  itkGetConstMacro(DeviceID, int);

  /** Maximum number of bytes of device memory to use; 0 for all that is free. Default: 0. */
  itkSetMacro(DeviceMemoryBudget, SizeValueType);
  itkGetConstMacro(DeviceMemoryBudget, SizeValueType);

  /** What the last Update() used: the name of the device, or "CPU". */
  itkGetStringMacro(UsedDeviceName);

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
    os << indent << "Device: " << m_Device << std::endl;
    os << indent << "DeviceID: " << m_DeviceID << std::endl;
    os << indent << "DeviceMemoryBudget: " << m_DeviceMemoryBudget << std::endl;
    os << indent << "UsedDeviceName: " << m_UsedDeviceName << std::endl;
  }
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();
    VoxelMapsDetail::VerifyEnumerator(*this, "Device", m_Device, DeviceEnum::CUDA);
    if (m_Device == DeviceEnum::CUDA)
    {
      VoxelMapsDetail::CallEngine(*this, [this] { CudaDevices::Verify(m_DeviceID); }, ", which needs a CUDA device");
    }
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

  /** Not Modified(): it is a result. */
  void
  SetUsedDeviceName(const std::string & name)
  {
    m_UsedDeviceName = name;
  }

  /** Choose what computes, and the memory of the job, for an input and allocated outputs. Pixels in the memory of a
   * device stay there, unless mayUseCuda is false. Outputs may be null. */
  template <typename... TOutputs>
  void
  ChooseMemory(bool mayUseCuda, const TOutputs *... outputs)
  {
    using Location = VoxelMapsDetail::JobMemory::Location;
    m_Memory = {};
    m_Memory.options.deviceID = m_DeviceID;
    m_Memory.options.memoryBudget = m_DeviceMemoryBudget;
    if (!mayUseCuda || m_Device == DeviceEnum::CPU ||
        (m_Device == DeviceEnum::Automatic && !VoxelMapsDetail::IsCudaAllowed()))
    {
      return;
    }
    bool       isFirst = true;
    const auto find = [&](const auto * image, Location & location) {
      const auto pixels = VoxelMapsDetail::FindDevicePixels(image);
      const int  deviceID = pixels != nullptr ? pixels->GetDeviceID() : -1;
      if (isFirst && CudaDevices::IsUsable(deviceID))
      {
        // Where the first of the pixels are.
        m_Memory.options.deviceID = deviceID;
        m_Memory.options.stream = pixels->GetStream();
        isFirst = false;
      }
      location = m_Memory.Has(pixels.get(), Location::Device) ? Location::Device : Location::Host;
      return location == Location::Device;
    };
    find(this->GetInput(), m_Memory.options.inputLocation);
    // A job has all of its outputs in one place.
    m_Memory.options.outputLocation = ((outputs == nullptr || find(outputs, m_Memory.options.outputLocation)) && ...)
                                        ? Location::Device
                                        : Location::Host;
    m_Memory.usesCuda = m_Memory.options.UsesStream() || this->AllowsCuda();
  }
  const VoxelMapsDetail::JobMemory &
  GetMemory() const
  {
    return m_Memory;
  }
  /** Whether the device that is set may compute pixels of host memory, which is known before an update. */
  bool
  AllowsCuda() const
  {
    return m_Device == DeviceEnum::CUDA ||
           (m_Device == DeviceEnum::Automatic && VoxelMapsDetail::IsCudaAllowed() && CudaDevices::IsUsable(m_DeviceID));
  }
  /** Whether the CUDA device is to compute, if it is worth while or the pixels are there. */
  bool
  UsesCuda(bool isWorthWhile = true) const
  {
    return m_Memory.usesCuda && (isWorthWhile || m_Memory.options.UsesStream());
  }

  /** Call an engine with options for the device; errors become an itk::ExceptionObject. */
  template <typename TOptions, typename TCompute>
  auto
  CallCuda(const TCompute & compute) const
  {
    TOptions options;
    static_cast<voxelmaps::CudaOptions &>(options) = m_Memory.options;
    return VoxelMapsDetail::CallEngine(*this, [&] { return compute(options); });
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
    auto                        pixels = VoxelMapsDetail::GetPixels(filter, name, mask, whole, m_Memory);
    if (pixels.location == Location::Device)
    {
      const auto bytes = VoxelMapsDetail::MakeDeviceMaskBytes<ImageDimension>(
        type, pixels.pointer, inside, mask->GetBufferedRegion(), region, m_Memory);
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
    return m_Memory.options.inputLocation == Location::Device
             ? VoxelMapsDetail::CopyToDevice(bytes.get(), region.GetNumberOfPixels(), execution, m_Memory)
             : bytes;
  }

  std::optional<MaskPixelType> m_InsidePixelValue;

private:
  DeviceEnum    m_Device{ DeviceEnum::Automatic };
  int           m_DeviceID{ 0 };
  SizeValueType m_DeviceMemoryBudget{ 0 };
  std::string   m_UsedDeviceName;

  VoxelMapsDetail::JobMemory m_Memory;

  /** Masks, by their name, that the last update found to be valid, so that pieces of a stream do not search them again.
   */
  mutable std::map<std::string, std::tuple<const MaskImageType *, ModifiedTimeType, std::optional<MaskPixelType>>>
    m_VerifiedMasks;
};
} // namespace itk

#endif // itkVoxelMapsImageFilter_h
