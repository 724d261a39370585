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
#ifndef itkDependenceFeatureMapImageFilter_hxx
#define itkDependenceFeatureMapImageFilter_hxx

#include "itkCudaDependenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"
#include "itkVoxelMapsJobUtilities.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::DependenceFeatureMapImageFilter()
{
  // Using the static member instantiates it, which registers the override at load time.
  using CudaFilterType = CudaDependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  static_cast<void>(VoxelMapsCudaOverride<Self, CudaFilterType>::isRegistered);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::string>
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  std::vector<std::string> names;
  for (const FeatureEnum feature : m_Features)
  {
    names.push_back(DependenceFeatureMapEnums::GetAbbreviation(feature));
  }
  return names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                  Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Features:";
  for (const FeatureEnum feature : m_Features)
  {
    os << ' ' << feature;
  }
  os << std::endl << indent << "Alpha: " << m_Alpha << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  this->VerifyFeatures(m_Features, DependenceFeatureMapEnums::NumberOfFeatures);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeTextureFeatureMaps(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  voxelmaps::DependenceJob job;
  static_cast<voxelmaps::TextureFeatureMapJob &>(job) = textureJob;
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.alpha = m_Alpha;
  job.features = m_Features;
  this->ComputeFeatureMaps(job);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeFeatureMaps(
  const voxelmaps::DependenceJob & job)
{
  VoxelMapsDetail::CallEngine(*this, [&job] { voxelmaps::ComputeDependenceFeatureMaps(job); });
}
} // namespace itk

#endif // itkDependenceFeatureMapImageFilter_hxx
