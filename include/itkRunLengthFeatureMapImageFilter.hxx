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
#ifndef itkRunLengthFeatureMapImageFilter_hxx
#define itkRunLengthFeatureMapImageFilter_hxx

#include "itkRunLengthFeatureMapImageFilter.h"

#include "itkVoxelMapsCudaFactory.h"
#include "itkVoxelMapsJobUtilities.h"

#include <algorithm>
#include <string>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::RunLengthFeatureMapImageFilter()
  : m_NeighborhoodRadius(SizeType::Filled(2))
  , m_Offsets(GetAllOffsets())
  , m_Features(RunLengthFeatureMapEnums::GetElevenFeatures())
{
  // Naming it is enough: it registers as the program is loaded.
  using CudaFilterType = CudaRunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  static_cast<void>(VoxelMapsCudaOverride<Self, CudaFilterType>::isRegistered);
  this->AddOptionalInputName("MaskImage");
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetNeighborhoodRadius(const SizeType & radius)
{
  if (m_NeighborhoodRadius != radius || m_WindowSize || m_WindowAnchor)
  {
    m_NeighborhoodRadius = radius;
    m_WindowSize.reset();
    m_WindowAnchor.reset();
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetNeighborhoodRadius(SizeValueType radius)
{
  this->SetNeighborhoodRadius(SizeType::Filled(radius));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetWindowSize(const SizeType & size)
{
  if (m_WindowSize != size)
  {
    m_WindowSize = size;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetWindowSize(SizeValueType size)
{
  this->SetWindowSize(SizeType::Filled(size));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetWindowSize() const -> SizeType
{
  if (m_WindowSize)
  {
    return *m_WindowSize;
  }
  SizeType size;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    // A radius beyond the limit must not wrap around to a small window.
    size[d] = 2 * std::min<SizeValueType>(m_NeighborhoodRadius[d], NumericTraits<SizeValueType>::max() / 4) + 1;
  }
  return size;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetWindowAnchor(const OffsetType & anchor)
{
  if (m_WindowAnchor != anchor)
  {
    m_WindowAnchor = anchor;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetWindowAnchor() const -> OffsetType
{
  if (m_WindowAnchor)
  {
    return *m_WindowAnchor;
  }
  OffsetType     anchor;
  const SizeType size = this->GetWindowSize();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    anchor[d] = static_cast<OffsetValueType>(size[d] / 2);
  }
  return anchor;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetOffsets(const OffsetsType & offsets)
{
  if (m_Offsets != offsets)
  {
    m_Offsets = offsets;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetFeatures(const FeaturesType & features)
{
  if (m_Features != features)
  {
    m_Features = features;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetInPlaneOffsets() -> OffsetsType
{
  constexpr int inPlane[4][2] = { { 1, 0 }, { 1, -1 }, { 0, 1 }, { 1, 1 } };
  OffsetsType   offsets;
  for (const auto & direction : inPlane)
  {
    OffsetType offset{};
    offset[0] = direction[0];
    offset[1] = direction[1];
    offsets.push_back(offset);
  }
  return offsets;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetAllOffsets() -> OffsetsType
{
  OffsetsType offsets = GetInPlaneOffsets();
  if constexpr (ImageDimension == 3)
  {
    for (int y = -1; y <= 1; ++y)
    {
      for (int x = -1; x <= 1; ++x)
      {
        offsets.push_back(OffsetType{ { x, y, 1 } });
      }
    }
  }
  return offsets;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::string>
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  std::vector<std::string> names;
  if (m_Aggregation != AggregationEnum::PerDirection)
  {
    for (const FeatureEnum feature : m_Features)
    {
      names.emplace_back(RunLengthFeatureMapEnums::GetAbbreviation(feature));
    }
    return names;
  }
  for (const OffsetType & offset : m_Offsets)
  {
    for (const FeatureEnum feature : m_Features)
    {
      std::string name = RunLengthFeatureMapEnums::GetAbbreviation(feature);
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        name += "_" + std::to_string(offset[d]);
      }
      names.push_back(name);
    }
  }
  return names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent
     << "InsidePixelValue: " << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(m_InsidePixelValue)
     << std::endl;
  os << indent << "BackgroundValue: " << m_BackgroundValue << std::endl;
  os << indent << "NumberOfGrayLevels: " << m_NumberOfGrayLevels << std::endl;
  os << indent << "DiscretizationMethod: " << m_DiscretizationMethod << std::endl;
  os << indent << "BinWidth: " << m_BinWidth << std::endl;
  os << indent << "RangeSource: " << m_RangeSource << std::endl;
  os << indent << "RangeMinimum: " << m_RangeMinimum << std::endl;
  os << indent << "RangeMaximum: " << m_RangeMaximum << std::endl;
  os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
  os << indent << "WindowSize: " << this->GetWindowSize() << std::endl;
  os << indent << "WindowAnchor: " << this->GetWindowAnchor() << std::endl;
  os << indent << "Offsets:";
  for (const OffsetType & offset : m_Offsets)
  {
    os << ' ' << offset;
  }
  os << std::endl << indent << "Features:";
  for (const FeatureEnum feature : m_Features)
  {
    os << ' ' << feature;
  }
  os << std::endl << indent << "Aggregation: " << m_Aggregation << std::endl;
  os << indent << "UsedNumberOfGrayLevels: " << m_UsedNumberOfGrayLevels << std::endl;
  os << indent << "UsedRangeMinimum: " << m_UsedRangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << m_UsedRangeMaximum << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ConfigureDiscretization(
  DiscretizationType * discretization) const
{
  discretization->SetMethod(m_DiscretizationMethod);
  discretization->SetNumberOfGrayLevels(m_NumberOfGrayLevels);
  discretization->SetBinWidth(m_BinWidth);
  discretization->SetRangeSource(m_RangeSource);
  discretization->SetRangeMinimum(m_RangeMinimum);
  discretization->SetRangeMaximum(m_RangeMaximum);
  discretization->SetInsidePixelValue(m_InsidePixelValue);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();

  const SizeType   size = this->GetWindowSize();
  const OffsetType anchor = this->GetWindowAnchor();
  SizeValueType    numberOfVoxels = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    if (size[d] < 1 || size[d] > MaximumWindowSize)
    {
      itkExceptionMacro("The window size is " << size << ", but must be 1 to " << MaximumWindowSize
                                              << " voxels along every axis.");
    }
    if (anchor[d] < 0 || anchor[d] >= static_cast<OffsetValueType>(size[d]))
    {
      itkExceptionMacro("The window anchor is "
                        << anchor << ", but must be 0 to size - 1 along every axis of a window of " << size
                        << " voxels.");
    }
    numberOfVoxels *= size[d];
  }
  if (numberOfVoxels > MaximumNumberOfVoxelsInWindow)
  {
    itkExceptionMacro("The window of " << size << " has " << numberOfVoxels << " voxels, but at most "
                                       << MaximumNumberOfVoxelsInWindow << " are possible.");
  }

  if (m_Offsets.empty())
  {
    itkExceptionMacro("There are 0 offsets, but at least one direction is needed.");
  }
  for (auto it = m_Offsets.begin(); it != m_Offsets.end(); ++it)
  {
    OffsetType opposite;
    bool       isDirection = false;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      opposite[d] = -(*it)[d];
      if ((*it)[d] < -1 || (*it)[d] > 1)
      {
        itkExceptionMacro("The offset " << *it << " is no direction: its components must be -1, 0 or 1.");
      }
      isDirection = isDirection || (*it)[d] != 0;
    }
    if (!isDirection)
    {
      itkExceptionMacro("The offset " << *it << " is zero, which is no direction.");
    }
    if (std::find(m_Offsets.begin(), it, *it) != it || std::find(m_Offsets.begin(), it, opposite) != it)
    {
      itkExceptionMacro("The offset " << *it << " or its opposite is given twice; each direction may be given once.");
    }
  }

  if (m_Features.empty())
  {
    itkExceptionMacro("There are 0 features selected, but at least one is needed.");
  }
  for (auto it = m_Features.begin(); it != m_Features.end(); ++it)
  {
    if (static_cast<unsigned int>(*it) >= RunLengthFeatureMapEnums::NumberOfFeatures)
    {
      itkExceptionMacro("Feature number " << static_cast<unsigned int>(*it) << " does not exist; there are "
                                          << RunLengthFeatureMapEnums::NumberOfFeatures << '.');
    }
    if (std::find(m_Features.begin(), it, *it) != it)
    {
      itkExceptionMacro("The feature " << *it << " is selected twice.");
    }
  }

  if constexpr (std::is_arithmetic<InputPixelType>::value)
  {
    const auto discretization = DiscretizationType::New();
    this->ConfigureDiscretization(discretization);
    discretization->VerifyParameters();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  Superclass::VerifyInputInformation();
  const unsigned int components = this->GetInput()->GetNumberOfComponentsPerPixel();
  if (!std::is_arithmetic<InputPixelType>::value || components != 1)
  {
    itkExceptionMacro("The input image has " << components
                                             << " components per voxel as a vector image, but must be scalar.");
  }
  voxelmaps::VerifySameRegion(*this, "the mask", this->GetMaskImage(), this->GetInput());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateOutputInformation()
{
  Superclass::GenerateOutputInformation();
  this->GetOutput()->SetNumberOfComponentsPerPixel(static_cast<unsigned int>(this->MakeJob().GetNumberOfComponents()));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetPaddedRegion() const -> InputRegionType
{
  InputRegionType  region = this->GetOutput()->GetRequestedRegion();
  const SizeType   size = this->GetWindowSize();
  const OffsetType anchor = this->GetWindowAnchor();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    region.SetIndex(d, region.GetIndex(d) - anchor[d]);
    region.SetSize(d, region.GetSize(d) + size[d] - 1);
  }
  region.Crop(this->GetInput()->GetLargestPossibleRegion());
  return region;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  bool wholeInput = false;
  if constexpr (std::is_arithmetic<InputPixelType>::value)
  {
    const auto discretization = DiscretizationType::New();
    this->ConfigureDiscretization(discretization);
    wholeInput = discretization->NeedsWholeInput();
  }
  const InputRegionType region = wholeInput ? this->GetInput()->GetLargestPossibleRegion() : this->GetPaddedRegion();
  const_cast<InputImageType *>(this->GetInput())->SetRequestedRegion(region);
  if (this->GetMaskImage() != nullptr)
  {
    const_cast<MaskImageType *>(this->GetMaskImage())->SetRequestedRegion(region);
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
RunLengthJob
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeJob() const
{
  RunLengthJob     job;
  const SizeType   size = this->GetWindowSize();
  const OffsetType anchor = this->GetWindowAnchor();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    job.windowSize[d] = static_cast<std::int64_t>(size[d]);
    job.windowAnchor[d] = anchor[d];
  }
  for (const OffsetType & offset : m_Offsets)
  {
    RunLengthJob::Triple triple{ { 0, 0, 0 } };
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      triple[d] = offset[d];
    }
    job.offsets.push_back(triple);
  }
  job.features = m_Features;
  job.aggregation = m_Aggregation;
  job.backgroundValue = m_BackgroundValue;
  job.outputIsDouble = std::is_same<OutputValueType, double>::value;
  return job;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateData()
{
  if constexpr (std::is_arithmetic<InputPixelType>::value)
  {
    this->UpdateProgress(0.0f);

    // The discretization runs on grafts, so that its requests do not travel up this filter's pipeline.
    const auto input = InputImageType::New();
    input->Graft(this->GetInput());
    const auto discretization = DiscretizationType::New();
    this->ConfigureDiscretization(discretization);
    discretization->SetInput(input);
    if (this->GetMaskImage() != nullptr)
    {
      const auto mask = MaskImageType::New();
      mask->Graft(this->GetMaskImage());
      discretization->SetMaskImage(mask);
    }
    discretization->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
    discretization->GetOutput()->SetRequestedRegion(this->GetPaddedRegion());
    discretization->Update();
    m_UsedNumberOfGrayLevels = discretization->GetUsedNumberOfGrayLevels();
    m_UsedRangeMinimum = discretization->GetUsedRangeMinimum();
    m_UsedRangeMaximum = discretization->GetUsedRangeMaximum();
    const LevelImageType * levels = discretization->GetOutput();

    this->AllocateOutputs();
    OutputImageType *      output = this->GetOutput();
    const OutputRegionType region = output->GetBufferedRegion();

    RunLengthJob job = this->MakeJob();
    job.levels = levels->GetBufferPointer();
    job.levelsSize[2] = 1;
    job.outputSize[2] = 1;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      job.levelsIndex[d] = levels->GetBufferedRegion().GetIndex(d);
      job.levelsSize[d] = static_cast<std::int64_t>(levels->GetBufferedRegion().GetSize(d));
      job.outputIndex[d] = region.GetIndex(d);
      job.outputSize[d] = static_cast<std::int64_t>(region.GetSize(d));
    }
    job.numberOfGrayLevels = m_UsedNumberOfGrayLevels;
    job.output = output->GetBufferPointer();

    job.numberOfWorkers = this->GetNumberOfWorkUnits();
    job.runWorkers = voxelmaps::MakeRunWorkers(this);
    voxelmaps::JobProgress progress(this, static_cast<std::uint64_t>(region.GetNumberOfPixels()));
    job.completed = [&progress](std::uint64_t numberOfVoxels) { progress.Completed(numberOfVoxels); };
    progress.Completed(0);
    this->ComputeFeatureMaps(job);
    this->UpdateProgress(1.0f);
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeFeatureMaps(const RunLengthJob & job)
{
  ComputeRunLengthFeatureMaps(job);
}
} // namespace itk

#endif // itkRunLengthFeatureMapImageFilter_hxx
