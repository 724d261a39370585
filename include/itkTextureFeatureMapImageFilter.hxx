// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureFeatureMapImageFilter_hxx
#define itkTextureFeatureMapImageFilter_hxx

#include "itkTextureFeatureMapImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetInputRegion() const -> InputRegionType
{
  const InputRegionType & whole = this->GetInput()->GetLargestPossibleRegion();
  if (m_Parameters.discretization.Get().NeedsWholeInput())
  {
    return whole;
  }
  InputRegionType         region = this->GetOutput()->GetRequestedRegion();
  const voxelmaps::Triple size = m_Parameters.GetWindowSize();
  const voxelmaps::Triple anchor = m_Parameters.GetWindowAnchor();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    region.SetIndex(d, region.GetIndex(d) - anchor[d]);
    region.SetSize(d, region.GetSize(d) + static_cast<SizeValueType>(size[d] - 1));
  }
  region.Crop(whole);
  return region;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateFeatureMaps()
{
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  OutputImageType * const output = this->GetOutput();
  const OutputRegionType  region = output->GetRequestedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  VoxelMapsDetail::JobProgress  progress(this, region.GetNumberOfPixels() * m_Parameters.classes.size());
  const voxelmaps::JobExecution execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  const InputRegionType         inputRegion = this->GetInputRegion();
  const VoxelMapsDetail::InputRegion<InputImageType> input(
    this->GetNameOfClass(), this->GetInput(), inputRegion, execution);
  const auto mask = this->MakeMaskBytes("the mask", this->GetMaskImage(), inputRegion, execution);
  const auto selection = this->MakeMaskBytes("the selection", this->GetSelectionImage(), region, execution);
  voxelmaps::FeatureMapsJob job;
  double                    voxelVolume = 1.0;
  job.size = job.outputSize = { { 1, 1, 1 } };
  job.pixels = input.GetBufferPointer();
  job.pixelType = voxelmaps::GetPixelType<InputPixelType>();
  job.mask = mask.get();
  job.selection = selection.get();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    job.size[d] = static_cast<std::int64_t>(inputRegion.GetSize(d));
    job.outputIndex[d] = region.GetIndex(d) - inputRegion.GetIndex(d);
    job.outputSize[d] = static_cast<std::int64_t>(region.GetSize(d));
    voxelVolume *= this->GetInput()->GetSpacing()[d];
  }
  job.output = output->GetBufferPointer();
  job.voxelStride = output->GetNumberOfComponentsPerPixel();
  job.mapStride = 1;
  job.execution = execution;
  voxelmaps::UseHugePages(job.output, output->GetPixelContainer()->Size() * sizeof(OutputValueType));
  if (this->UsesCuda())
  {
    this->template CallCuda<voxelmaps::CudaOptions>(
      [&](const voxelmaps::CudaOptions & options) { m_Parameters.Compute(job, voxelVolume, &options); });
    this->SetUsedDeviceName(CudaDevices::GetName(this->GetDeviceID()));
  }
  else
  {
    VoxelMapsDetail::CallEngine(*this, [&] { m_Parameters.Compute(job, voxelVolume, nullptr); });
    this->SetUsedDeviceName("CPU");
  }
  this->UpdateProgress(1.0f);
}
} // namespace itk

#endif // itkTextureFeatureMapImageFilter_hxx
