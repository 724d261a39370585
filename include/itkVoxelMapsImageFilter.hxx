// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageFilter_hxx
#define itkVoxelMapsImageFilter_hxx

#include "itkVoxelMapsImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VoxelMapsImageFilter()
{
  this->AddOptionalInputName("MaskImage");
  this->SetCoordinateTolerance(1e-3);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
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

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::VerifyEnumerator(*this, "Device", m_Device, DeviceEnum::CUDA);
  if (m_Device == DeviceEnum::CUDA)
  {
    VoxelMapsDetail::CallEngine(*this, [this] { CudaDevices::Verify(m_DeviceID); }, ", which needs a CUDA device");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  // Not that of the superclass, whose tolerance of the origin depends on the spacing along x alone.
  this->VerifySameGrid("the mask", this->GetMaskImage());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  if (this->GetMaskImage() != nullptr)
  {
    const_cast<MaskImageType *>(this->GetMaskImage())->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
bool
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::UsesCuda() const
{
  return m_Device == DeviceEnum::CUDA ||
         (m_Device == DeviceEnum::Automatic && VoxelMapsDetail::IsCudaAllowed() && CudaDevices::IsUsable(m_DeviceID));
}
} // namespace itk

#endif // itkVoxelMapsImageFilter_hxx
