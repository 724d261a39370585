// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureFeatureMapImageFilter_hxx
#define itkTextureFeatureMapImageFilter_hxx

#include "itkTextureFeatureMapImageFilter.h"

#include <algorithm>
#include <cstdint>
#include <memory>

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
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::UpdateNumberOfOutputs()
{
  if constexpr (!hasOneOutput)
  {
    // One also without features, which are an error of Update().
    const auto number = std::max<ProcessObject::DataObjectPointerArraySizeType>(this->GetFeatureNames().size(), 1);
    for (auto map = this->GetNumberOfIndexedOutputs(); map > number; --map)
    {
      this->RemoveOutput(map - 1);
    }
    for (auto map = this->GetNumberOfIndexedOutputs(); map < number; ++map)
    {
      this->SetNthOutput(map, this->MakeOutput(map));
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::AllocateOutputs()
{
  if (!this->HasSharedBlock())
  {
    Superclass::AllocateOutputs();
  }
  else if constexpr (!hasOneOutput)
  {
    // One block for all: engines write maps at a constant distance from each other.
    const auto                               outputs = this->GetNumberOfIndexedOutputs();
    const SizeValueType                      voxels = this->GetOutput()->GetRequestedRegion().GetNumberOfPixels();
    const std::shared_ptr<OutputValueType[]> block(new OutputValueType[outputs * voxels]);
    for (unsigned int map = 0; map < outputs; ++map)
    {
      const auto pixels = VoxelMapsDetail::SharedPixelContainer<OutputValueType>::New();
      pixels->SetPart(block, map * voxels, voxels);
      this->GetOutput(map)->SetBufferedRegion(this->GetOutput()->GetRequestedRegion());
      this->GetOutput(map)->SetPixelContainer(pixels);
    }
  }
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
  this->ChooseMemory(true, output);
  const VoxelMapsDetail::InputRegion<InputImageType> input(
    this->GetNameOfClass(), this->GetInput(), inputRegion, execution, this->GetMemory());
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
  const auto          location = this->GetMemory().options.outputLocation;
  const SizeValueType components = hasOneOutput ? output->GetNumberOfComponentsPerPixel() : 1;
  const std::uint64_t bytes = region.GetNumberOfPixels() * components * sizeof(OutputValueType);
  const std::uint64_t bytesOfAll = bytes * this->GetNumberOfIndexedOutputs();
  // From which the maps are copied to outputs that do not share one.
  std::shared_ptr<void> block;
  if (hasOneOutput || this->HasSharedBlock())
  {
    job.output = output->GetBufferPointer();
  }
  else
  {
    block = this->GetMemory().Allocate(bytesOfAll, location);
    job.output = block.get();
  }
  job.voxelStride = static_cast<std::int64_t>(components);
  job.mapStride = hasOneOutput ? 1 : static_cast<std::int64_t>(region.GetNumberOfPixels());
  job.execution = execution;
  if (location == VoxelMapsDetail::JobMemory::Location::Host)
  {
    voxelmaps::UseHugePages(job.output, bytesOfAll);
  }
  if (this->UsesCuda())
  {
    this->template CallCuda<voxelmaps::CudaOptions>(
      [&](const voxelmaps::CudaOptions & options) { m_Parameters.Compute(job, voxelVolume, &options); });
    this->SetUsedDeviceName(CudaDevices::GetName(this->GetMemory().options.deviceID));
  }
  else
  {
    VoxelMapsDetail::CallEngine(*this, [&] { m_Parameters.Compute(job, voxelVolume, nullptr); });
    this->SetUsedDeviceName("CPU");
  }
  if constexpr (!hasOneOutput)
  {
    voxelmaps::CudaOptions options = this->GetMemory().options;
    options.inputLocation = location;
    for (unsigned int map = 0; block != nullptr && map < this->GetNumberOfIndexedOutputs(); ++map)
    {
      VoxelMapsDetail::OutputRegion<OutputImageType> part(this->GetOutput(map), region, this->GetMemory());
      VoxelMapsDetail::CopyPixels(static_cast<const char *>(block.get()) + map * bytes,
                                  region,
                                  part.GetBufferPointer(),
                                  region,
                                  sizeof(OutputValueType),
                                  execution,
                                  options);
    }
  }
  this->UpdateProgress(1.0f);
}
} // namespace itk

#endif // itkTextureFeatureMapImageFilter_hxx
