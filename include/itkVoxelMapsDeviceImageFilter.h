// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsDeviceImageFilter_h
#define itkVoxelMapsDeviceImageFilter_h

#include "itkImageToImageFilter.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsEngineCall.h"
#include "itkVoxelMapsEnums.h"
#include "itkVoxelMapsImageRows.h"

#include <string>

namespace itk
{
/** \class VoxelMapsDeviceImageFilter
 * \brief Base of all filters of this module: the CPU or a CUDA device.
 *
 * \par Device
 * Results are bit-identical on the CPU and on CUDA devices. Images may be larger than the memory of a device: except
 * for labels and response maps, they are computed in slabs that fit. Up to 1/32 of the device memory and 128 MB of
 * page-locked host memory remain allocated for later calls of Update() in the same program, until
 * CudaDevices::ReleaseResources().
 *
 * Pixels of an itk::CudaImage, or of another image with DevicePixels, stay on their device, which computes unless
 * Device is CPU; so do those of outputs of such a type. Work is in the default stream, or in that of the DevicePixels.
 *
 * - Device (Automatic), DeviceID (0): what computes; see DeviceEnums::Device.
 * - DeviceMemoryBudget (0): maximum number of bytes of device memory to use; 0 for all free memory.
 *
 * \par Errors
 * Throws an itk::ExceptionObject if the pixels of an image are not in memory, such as after ReleaseDataFlag, if Device
 * is CUDA but the device DeviceID does not exist or this build has no code for it, if the device has too little memory
 * for the smallest slab (the message says how much is needed), and for every error of CUDA, with the text of CUDA and
 * advice.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT VoxelMapsDeviceImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(VoxelMapsDeviceImageFilter);

  using Self = VoxelMapsDeviceImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(VoxelMapsDeviceImageFilter);

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using InputImageType = TInputImage;
  using InputRegionType = typename InputImageType::RegionType;
  using DeviceEnum = DeviceEnums::Device;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "VoxelMaps filters support 2D and 3D images");
  static_assert(
    VoxelMapsDetail::hasPixelsInBuffer<TInputImage>,
    "Images must be an itk::Image or itk::VectorImage: itk::CastImageFilter copies others, such as adaptors");

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
  VoxelMapsDeviceImageFilter() = default;
  ~VoxelMapsDeviceImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
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

private:
  DeviceEnum    m_Device{ DeviceEnum::Automatic };
  int           m_DeviceID{ 0 };
  SizeValueType m_DeviceMemoryBudget{ 0 };
  std::string   m_UsedDeviceName;

  VoxelMapsDetail::JobMemory m_Memory;
};
} // namespace itk

#endif // itkVoxelMapsDeviceImageFilter_h
