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

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::DependenceFeatureMapImageFilter()
{
  Self::SetFeatures(DependenceFeatureMapEnums::GetAllFeatures());
  VoxelMapsCudaOverride<Self,
                        CudaDependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>::Instantiate();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                  Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Alpha: " << m_Alpha << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::CompleteJob(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  auto job = this->template MakeJob<voxelmaps::DependenceJob>(textureJob);
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.alpha = m_Alpha;
  this->ComputeFeatureMaps(job);
}
} // namespace itk

#endif // itkDependenceFeatureMapImageFilter_hxx
