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
#ifndef itkSizeZoneFeatureMapImageFilter_hxx
#define itkSizeZoneFeatureMapImageFilter_hxx

#include "itkCudaSizeZoneFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"
#include "itkVoxelMapsJobUtilities.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SizeZoneFeatureMapImageFilter()
{
  // Using the static member instantiates it, which registers the override at load time.
  using CudaFilterType = CudaSizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  static_cast<void>(VoxelMapsCudaOverride<Self, CudaFilterType>::isRegistered);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::string>
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  std::vector<std::string> names;
  for (const FeatureEnum feature : m_Features)
  {
    names.push_back(SizeZoneFeatureMapEnums::GetAbbreviation(feature));
  }
  return names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Features:";
  for (const FeatureEnum feature : m_Features)
  {
    os << ' ' << SizeZoneFeatureMapEnums::GetAbbreviation(feature);
  }
  os << std::endl;
  os << indent << "Connectivity: " << m_Connectivity << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  this->VerifyFeatures(m_Features, SizeZoneFeatureMapEnums::NumberOfFeatures);
  VoxelMapsDetail::VerifyEnumerator(*this, "Connectivity", m_Connectivity, ConnectivityEnum::InPlane);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeTextureFeatureMaps(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  voxelmaps::SizeZoneJob job;
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = textureJob;
  job.features = m_Features;
  job.connectivity = m_Connectivity;
  this->ComputeFeatureMaps(job);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeFeatureMaps(
  const voxelmaps::SizeZoneJob & job)
{
  VoxelMapsDetail::CallEngine(*this, [&job] { voxelmaps::ComputeSizeZoneFeatureMaps(job); });
}
} // namespace itk

#endif // itkSizeZoneFeatureMapImageFilter_hxx
