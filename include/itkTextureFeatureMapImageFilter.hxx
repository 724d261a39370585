// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureFeatureMapImageFilter_hxx
#define itkTextureFeatureMapImageFilter_hxx

#include "itkTextureFeatureMapImageFilter.h"
#include "itkMetaDataObject.h"

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
  os << indent << "BackgroundValue: " << m_BackgroundValue << std::endl;
  m_Discretization.Print(os, indent);
  os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
  os << indent << "WindowSize: " << this->GetWindowSize() << std::endl;
  os << indent << "WindowAnchor: " << this->GetWindowAnchor() << std::endl;
  os << indent << "UsedNumberOfGrayLevels: " << m_UsedLevels.numberOfGrayLevels << std::endl;
  os << indent << "UsedRangeMinimum: " << m_UsedLevels.rangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << m_UsedLevels.rangeMaximum << std::endl;
  os << indent << "OtherDeviceIDs:";
  for (const int deviceID : m_OtherDeviceIDs)
  {
    os << ' ' << deviceID;
  }
  os << std::endl << indent << "FeatureNames:";
  for (const std::string & name : this->GetFeatureNames())
  {
    os << ' ' << name;
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
  if (std::isfinite(m_BackgroundValue) && std::abs(m_BackgroundValue) > NumericTraits<OutputValueType>::max())
  {
    itkExceptionMacro("BackgroundValue is " << m_BackgroundValue
                                            << ", but the output's pixel type holds finite values up to "
                                            << NumericTraits<OutputValueType>::max() << '.');
  }
  this->VerifyFeatures();
  for (const int deviceID : m_OtherDeviceIDs)
  {
    VoxelMapsDetail::CallEngine(*this, [deviceID] { CudaDevices::Verify(deviceID); }, ", in OtherDeviceIDs");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyFeatures() const
{
  // With PerDirection, there are no names without offsets either.
  if (m_FeatureTable != nullptr ? m_SelectedFeatures.empty() : this->GetFeatureNames().empty())
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
  this->VerifySameGrid("the selection", this->GetSelectionImage());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateOutputInformation()
{
  Superclass::GenerateOutputInformation();
  const std::vector<std::string> names = this->GetFeatureNames();
  this->GetOutput()->SetNumberOfComponentsPerPixel(static_cast<unsigned int>(names.size()));
  std::string list;
  for (const std::string & name : names)
  {
    list += (list.empty() ? "" : ",") + name;
  }
  EncapsulateMetaData<std::string>(this->GetOutput()->GetMetaDataDictionary(), "FeatureNames", list);
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
  const_cast<InputImageType *>(this->GetInput())
    ->SetRequestedRegion(m_Discretization.Get().NeedsWholeInput() ? this->GetInput()->GetLargestPossibleRegion()
                                                                  : this->GetPaddedRegion());
  if (this->GetSelectionImage() != nullptr)
  {
    const_cast<MaskImageType *>(this->GetSelectionImage())->SetRequestedRegionToLargestPossibleRegion();
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
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  const OutputRegionType region = this->GetOutput()->GetRequestedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  voxelmaps::FeatureMapsJob job;
  job.classes = this->MakeClassJobs();
  VoxelMapsDetail::JobProgress progress(this, region.GetNumberOfPixels() * job.classes.size());
  job.execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  job.discretization = m_Discretization.Get();

  const InputRegionType inputRegion =
    job.discretization.NeedsWholeInput() ? this->GetInput()->GetLargestPossibleRegion() : this->GetPaddedRegion();
  const auto pixels = VoxelMapsDetail::MakeBufferedRegion(this->GetInput(), inputRegion, job.execution);
  const auto mask = this->MakeMaskBytes("the mask", this->GetMaskImage(), inputRegion, job.execution);
  const auto selection = this->MakeMaskBytes("the selection", this->GetSelectionImage(), region, job.execution);
  job.pixels = pixels->GetBufferPointer();
  job.pixelType = voxelmaps::GetPixelType<InputPixelType>();
  job.mask = mask.get();
  job.selection = selection.get();
  job.size[2] = 1;
  job.outputSize[2] = 1;
  const SizeType   size = this->GetWindowSize();
  const OffsetType anchor = this->GetWindowAnchor();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    job.size[d] = static_cast<std::int64_t>(inputRegion.GetSize(d));
    job.outputIndex[d] = region.GetIndex(d) - inputRegion.GetIndex(d);
    job.outputSize[d] = static_cast<std::int64_t>(region.GetSize(d));
    job.windowSize[d] = static_cast<std::int64_t>(size[d]);
    job.windowAnchor[d] = anchor[d];
  }
  job.output = this->GetOutput()->GetBufferPointer();
  voxelmaps::UseHugePages(job.output, this->GetOutput()->GetPixelContainer()->Size() * sizeof(OutputValueType));
  job.outputIsDouble = std::is_same<OutputValueType, double>::value;
  job.voxelStride = this->GetOutput()->GetNumberOfComponentsPerPixel();
  job.mapStride = 1;
  job.backgroundValue = m_BackgroundValue;

  job.execution.CheckAbort();
  if (this->UsesCuda())
  {
    m_UsedLevels = this->template CallCuda<voxelmaps::CudaOptions>([&](voxelmaps::CudaOptions & options) {
      options.otherDeviceIDs = m_OtherDeviceIDs;
      return voxelmaps::ComputeFeatureMapsCuda(job, options);
    });
    this->SetUsedDeviceName(CudaDevices::GetName(this->GetDeviceID()));
  }
  else
  {
    m_UsedLevels = VoxelMapsDetail::CallEngine(*this, [&job] { return voxelmaps::ComputeFeatureMaps(job); });
    this->SetUsedDeviceName("CPU");
  }
  this->UpdateProgress(1.0f);
}
} // namespace itk

#endif // itkTextureFeatureMapImageFilter_hxx
