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

#include "itkCudaRunLengthFeatureMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"
#include "itkVoxelMapsJobUtilities.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::RunLengthFeatureMapImageFilter()
  : m_Offsets(GetAllOffsets())
  , m_Features(RunLengthFeatureMapEnums::GetElevenFeatures())
{
  // Using the static member instantiates it, which registers the override at load time.
  using CudaFilterType = CudaRunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  static_cast<void>(VoxelMapsCudaOverride<Self, CudaFilterType>::isRegistered);
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
std::vector<std::string>
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  std::vector<std::string> names;
  const bool               isPerDirection = m_Aggregation == AggregationEnum::PerDirection;
  for (std::size_t d = 0; d < (isPerDirection ? m_Offsets.size() : 1); ++d)
  {
    for (const FeatureEnum feature : m_Features)
    {
      names.push_back(RunLengthFeatureMapEnums::GetAbbreviation(feature) +
                      (isPerDirection ? TextureOffsets<ImageDimension>::GetSuffix(m_Offsets[d]) : ""));
    }
  }
  return names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
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
  os << indent << "SkipDirectionsWithoutPairs: " << (m_SkipDirectionsWithoutPairs ? "On" : "Off") << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  TextureOffsets<ImageDimension>::Verify(*this, m_Offsets);
  this->VerifyFeatures(m_Features, RunLengthFeatureMapEnums::NumberOfFeatures);
  VoxelMapsDetail::VerifyEnumerator(*this, "Aggregation", m_Aggregation, AggregationEnum::Merge);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeTextureFeatureMaps(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  voxelmaps::RunLengthJob job;
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = textureJob;
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(m_Offsets);
  job.features = m_Features;
  job.aggregation = m_Aggregation;
  job.skipDirectionsWithoutPairs = m_SkipDirectionsWithoutPairs;
  this->ComputeFeatureMaps(job);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeFeatureMaps(
  const voxelmaps::RunLengthJob & job)
{
  VoxelMapsDetail::CallEngine(*this, [&job] { voxelmaps::ComputeRunLengthFeatureMaps(job); });
}
} // namespace itk

#endif // itkRunLengthFeatureMapImageFilter_hxx
