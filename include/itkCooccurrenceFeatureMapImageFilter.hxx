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
#ifndef itkCooccurrenceFeatureMapImageFilter_hxx
#define itkCooccurrenceFeatureMapImageFilter_hxx

#include "itkCudaCooccurrenceFeatureMapImageFilter.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"
#include "itkVoxelMapsJobUtilities.h"

#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::CooccurrenceFeatureMapImageFilter()
  : m_Features(CooccurrenceFeatureMapEnums::GetAllFeatures())
{
  // Using the static member instantiates it, which registers the override at load time.
  using CudaFilterType = CudaCooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  static_cast<void>(VoxelMapsCudaOverride<Self, CudaFilterType>::isRegistered);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetFeatures(const FeaturesType & features)
{
  if (m_Features != features)
  {
    m_Features = features;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::string>
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  std::vector<std::string> names;
  const bool               isPerDirection = m_Aggregation == AggregationEnum::PerDirection;
  const OffsetsType &      offsets = this->GetOffsets();
  for (std::size_t d = 0; d < (isPerDirection ? offsets.size() : 1); ++d)
  {
    for (const FeatureEnum feature : m_Features)
    {
      names.push_back(CooccurrenceFeatureMapEnums::GetAbbreviation(feature) +
                      (isPerDirection ? TextureOffsets<ImageDimension>::GetSuffix(offsets[d]) : ""));
    }
  }
  return names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                    Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Features:";
  for (const FeatureEnum feature : m_Features)
  {
    os << ' ' << feature;
  }
  os << std::endl << indent << "Aggregation: " << m_Aggregation << std::endl;
  os << indent << "Symmetric: " << (m_Symmetric ? "On" : "Off") << std::endl;
  os << indent << "EmptyValue: " << m_EmptyValue << std::endl;
  os << indent << "RegionHasOneLevel: " << (m_RegionHasOneLevel ? "On" : "Off") << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  this->VerifyFeatures(m_Features, CooccurrenceFeatureMapEnums::NumberOfFeatures);
  VoxelMapsDetail::VerifyEnumerator(*this, "Aggregation", m_Aggregation, AggregationEnum::Merge);
  if (std::isfinite(m_EmptyValue) && std::abs(m_EmptyValue) > NumericTraits<OutputValueType>::max())
  {
    itkExceptionMacro("EmptyValue is " << m_EmptyValue << ", but the output's pixel type holds finite values up to "
                                       << NumericTraits<OutputValueType>::max() << '.');
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeTextureFeatureMaps(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  voxelmaps::CooccurrenceJob job;
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = textureJob;
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.features = m_Features;
  job.aggregation = m_Aggregation;
  job.symmetric = m_Symmetric;
  job.emptyValue = m_EmptyValue;
  job.hasOneLevel = m_RegionHasOneLevel;
  this->ComputeFeatureMaps(job);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeFeatureMaps(
  const voxelmaps::CooccurrenceJob & job)
{
  VoxelMapsDetail::CallEngine(*this, [&job] { voxelmaps::ComputeCooccurrenceFeatureMaps(job); });
}
} // namespace itk

#endif // itkCooccurrenceFeatureMapImageFilter_hxx
