// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureFeatureMapImageFilter_hxx
#define itkTextureFeatureMapImageFilter_hxx

#include "itkTextureFeatureMapImageFilter.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::TextureFeatureMapImageFilter()
  : m_NeighborhoodRadius(SizeType::Filled(2))
{
  this->AddOptionalInputName("MaskImage");
  this->AddOptionalInputName("SelectionImage");
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetNeighborhoodRadius(const SizeType & radius)
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
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetNeighborhoodRadius(SizeValueType radius)
{
  this->SetNeighborhoodRadius(SizeType::Filled(radius));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetWindowSize(const SizeType & size)
{
  if (m_WindowSize != size)
  {
    m_WindowSize = size;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetWindowSize(SizeValueType size)
{
  this->SetWindowSize(SizeType::Filled(size));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetWindowSize() const -> SizeType
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
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetWindowAnchor(const OffsetType & anchor)
{
  if (m_WindowAnchor != anchor)
  {
    m_WindowAnchor = anchor;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetWindowAnchor() const -> OffsetType
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
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent
     << "InsidePixelValue: " << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(m_InsidePixelValue)
     << std::endl;
  os << indent << "BackgroundValue: " << m_BackgroundValue << std::endl;
  VoxelMapsDetail::PrintParameters(os, indent, m_Discretization, "DiscretizationMethod");
  os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
  os << indent << "WindowSize: " << this->GetWindowSize() << std::endl;
  os << indent << "WindowAnchor: " << this->GetWindowAnchor() << std::endl;
  os << indent << "UsedNumberOfGrayLevels: " << m_UsedNumberOfGrayLevels << std::endl;
  os << indent << "UsedRangeMinimum: " << m_UsedRangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << m_UsedRangeMaximum << std::endl;
  os << indent << "Features:";
  for (const unsigned int feature : m_SelectedFeatures)
  {
    os << ' ' << (*m_FeatureTable)[feature].abbreviation;
  }
  os << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
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
  VoxelMapsDetail::CallEngine(*this, [this] { m_Discretization.Verify(); });
  VoxelMapsDetail::VerifyInsidePixelValue(*this, m_InsidePixelValue);
  if (std::isfinite(m_BackgroundValue) && std::abs(m_BackgroundValue) > NumericTraits<OutputValueType>::max())
  {
    itkExceptionMacro("BackgroundValue is " << m_BackgroundValue
                                            << ", but the output's pixel type holds finite values up to "
                                            << NumericTraits<OutputValueType>::max() << '.');
  }
  this->VerifyFeatures();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyFeatures() const
{
  if (m_SelectedFeatures.empty())
  {
    itkExceptionMacro("There are 0 features selected, but at least one is needed.");
  }
  std::set<unsigned int> numbers;
  for (const unsigned int feature : m_SelectedFeatures)
  {
    if (feature >= m_FeatureTable->GetNumberOfFeatures())
    {
      itkExceptionMacro("Feature number " << feature << " does not exist; there are "
                                          << m_FeatureTable->GetNumberOfFeatures() << '.');
    }
    if (!numbers.insert(feature).second)
    {
      itkExceptionMacro("The feature " << (*m_FeatureTable)[feature].name << " is selected twice.");
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
template <typename TEnums>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SelectFeatures(
  const std::vector<typename TEnums::Feature> & features)
{
  m_FeatureTable = &TEnums::GetFeatureTable();
  if (this->template GetSelectedFeatures<typename TEnums::Feature>() != features)
  {
    m_SelectedFeatures.clear();
    for (const auto feature : features)
    {
      m_SelectedFeatures.push_back(static_cast<unsigned int>(feature));
    }
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetFeatureNames(
  const std::vector<std::string> & names)
{
  const std::string         prefix = std::string(m_FeatureTable->GetClassName()) + '_';
  std::vector<unsigned int> features;
  for (const std::string & name : names)
  {
    const bool   hasPrefix = name.compare(0, prefix.size(), prefix) == 0;
    unsigned int feature = 0;
    if (!m_FeatureTable->Find(hasPrefix ? name.substr(prefix.size()) : name, feature))
    {
      std::ostringstream known;
      for (unsigned int i = 0; i < m_FeatureTable->GetNumberOfFeatures(); ++i)
      {
        known << (i == 0 ? " " : ", ") << (*m_FeatureTable)[i].abbreviation;
      }
      itkExceptionMacro("Feature '" << name << "' does not exist; choose from" << known.str()
                                    << ", or use full names.");
    }
    features.push_back(feature);
  }
  if (m_SelectedFeatures != features)
  {
    m_SelectedFeatures = features;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::string>
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  std::vector<std::string> names;
  for (const unsigned int feature : m_SelectedFeatures)
  {
    names.emplace_back((*m_FeatureTable)[feature].abbreviation);
  }
  return names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  Superclass::VerifyInputInformation();
  const unsigned int components = this->GetInput()->GetNumberOfComponentsPerPixel();
  if (!voxelmaps::hasPixelType<InputPixelType> || components != 1)
  {
    itkExceptionMacro("The input image has " << components
                                             << " components per voxel as a vector image, but must be scalar.");
  }
  VoxelMapsDetail::VerifySameRegion(*this, "the mask", this->GetMaskImage(), this->GetInput());
  VoxelMapsDetail::VerifySameRegion(*this, "the selection", this->GetSelectionImage(), this->GetInput());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateOutputInformation()
{
  Superclass::GenerateOutputInformation();
  this->GetOutput()->SetNumberOfComponentsPerPixel(static_cast<unsigned int>(this->GetFeatureNames().size()));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetPaddedRegion() const -> InputRegionType
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
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  const InputRegionType region =
    m_Discretization.NeedsWholeInput() ? this->GetInput()->GetLargestPossibleRegion() : this->GetPaddedRegion();
  const_cast<InputImageType *>(this->GetInput())->SetRequestedRegion(region);
  // The same region of both images, which may be one and the same.
  for (const MaskImageType * image : { this->GetMaskImage(), this->GetSelectionImage() })
  {
    if (image != nullptr)
    {
      const_cast<MaskImageType *>(image)->SetRequestedRegion(region);
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeLevels() -> typename LevelImageType::Pointer
{
  VoxelMapsDetail::JobProgress  progress(this, 0);
  const voxelmaps::JobExecution execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  const InputRegionType         region = this->GetPaddedRegion();
  const auto                    voxels = static_cast<std::int64_t>(region.GetNumberOfPixels());
  const VoxelMapsDetail::RowDiscretizer<InputImageType, MaskImageType> rows(
    this->GetInput(), this->GetMaskImage(), m_InsidePixelValue);
  const auto levels = LevelImageType::New();
  levels->SetRegions(region);
  VoxelMapsDetail::CallEngine(*this, [&] {
    voxelmaps::GrayLevelDiscretization discretization(
      m_Discretization, rows.pixelType, rows.FindRange(m_Discretization, execution), voxels);
    m_UsedNumberOfGrayLevels = discretization.GetNumberOfGrayLevels();
    m_UsedRangeMinimum = discretization.GetRangeMinimum();
    m_UsedRangeMaximum = discretization.GetRangeMaximum();
    levels->Allocate();
    voxelmaps::UseHugePages(levels->GetBufferPointer(), static_cast<std::size_t>(voxels) * sizeof(std::uint16_t));
    voxelmaps::ForEachRangeOfVoxels(voxels, execution, [&](std::int64_t begin, std::int64_t end) {
      rows.Discretize(discretization, region, begin, end, levels.GetPointer());
    });
    discretization.VerifyIntensities();
  });
  return levels;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetRegions(const LevelImageType * levels,
                                                                                voxelmaps::TextureFeatureMapJob & job)
{
  const OutputRegionType region = this->GetOutput()->GetBufferedRegion();
  const SizeType         size = this->GetWindowSize();
  const OffsetType       anchor = this->GetWindowAnchor();
  job.levelsSize[2] = 1;
  job.outputSize[2] = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    job.levelsIndex[d] = levels->GetBufferedRegion().GetIndex(d);
    job.levelsSize[d] = static_cast<std::int64_t>(levels->GetBufferedRegion().GetSize(d));
    job.outputIndex[d] = region.GetIndex(d);
    job.outputSize[d] = static_cast<std::int64_t>(region.GetSize(d));
    job.windowSize[d] = static_cast<std::int64_t>(size[d]);
    job.windowAnchor[d] = anchor[d];
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateData()
{
  VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { this->GenerateFeatureMaps(); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateFeatureMaps()
{
  if constexpr (voxelmaps::hasPixelType<InputPixelType>)
  {
    this->UpdateProgress(0.0f);
    const OutputRegionType region = this->GetOutput()->GetRequestedRegion();
    if (region.GetNumberOfPixels() == 0)
    {
      this->AllocateOutputs();
      return;
    }
    const typename LevelImageType::Pointer levels = this->MakeLevels();

    this->AllocateOutputs();
    VoxelMapsDetail::JobProgress    progress(this, region.GetNumberOfPixels());
    voxelmaps::TextureFeatureMapJob job;
    job.execution = VoxelMapsDetail::MakeJobExecution(this, progress);
    this->SetRegions(levels, job);
    job.levels = levels->GetBufferPointer();
    job.numberOfGrayLevels = m_UsedNumberOfGrayLevels;
    job.output = this->GetOutput()->GetBufferPointer();
    voxelmaps::UseHugePages(job.output, this->GetOutput()->GetPixelContainer()->Size() * sizeof(OutputValueType));
    job.outputIsDouble = std::is_same<OutputValueType, double>::value;
    const auto selection =
      VoxelMapsDetail::MakeBytes(this->GetSelectionImage(), region, m_InsidePixelValue, job.execution);
    job.selection = selection.get();
    job.backgroundValue = m_BackgroundValue;

    job.execution.CheckAbort();
    this->CompleteJob(job);
    this->UpdateProgress(1.0f);
  }
}
} // namespace itk

#endif // itkTextureFeatureMapImageFilter_hxx
