// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkGrayLevelDiscretizationImageFilter_hxx
#define itkGrayLevelDiscretizationImageFilter_hxx

#include "itkGrayLevelDiscretizationImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                     Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Discretization.Print(os, indent);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::CallEngine(*this, [this] { m_Discretization.Verify(); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::EnlargeOutputRequestedRegion(
  DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  if (m_Discretization.Get().NeedsWholeInput())
  {
    output->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateData()
{
  VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { this->GenerateLevels(); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateLevels()
{
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  const auto region = this->GetOutput()->GetRequestedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  VoxelMapsDetail::JobProgress          progress(this, region.GetNumberOfPixels());
  voxelmaps::GrayLevelDiscretizationJob job;
  job.execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  const auto pixels = VoxelMapsDetail::MakeBufferedRegion(this->GetInput(), region, job.execution);
  const auto mask = this->MakeMaskBytes("the mask", this->GetMaskImage(), region, job.execution);
  job.pixels = pixels->GetBufferPointer();
  job.pixelType = voxelmaps::GetPixelType<typename InputImageType::PixelType>();
  job.mask = mask.get();
  job.size[2] = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    job.size[d] = static_cast<std::int64_t>(region.GetSize(d));
  }
  job.parameters = m_Discretization.Get();
  job.levels = this->GetOutput()->GetBufferPointer();
  voxelmaps::UseHugePages(job.levels, region.GetNumberOfPixels() * sizeof(unsigned short));
  // The copies to and from a device take longer than the CPU.
  const bool usesCuda = this->GetDevice() == DeviceEnums::Device::CUDA;
  m_Discretization.used = usesCuda ? this->template CallCuda<voxelmaps::CudaOptions>([&job](const auto & options) {
    return voxelmaps::DiscretizeGrayLevelsCuda(job, options);
  })
                                   : VoxelMapsDetail::CallEngine(*this, [&job] { return DiscretizeGrayLevels(job); });
  this->SetUsedDeviceName(usesCuda ? CudaDevices::GetName(this->GetDeviceID()) : "CPU");
  this->UpdateProgress(1.0f);
}
} // namespace itk

#endif // itkGrayLevelDiscretizationImageFilter_hxx
