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
#ifndef itkGrayToneDifferenceFeatureMapImageFilter_hxx
#define itkGrayToneDifferenceFeatureMapImageFilter_hxx

#include "itkCudaGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
GrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage,
                                        TMaskImage>::GrayToneDifferenceFeatureMapImageFilter()
{
  Self::SetFeatures(GrayToneDifferenceFeatureMapEnums::GetAllFeatures());
  VoxelMapsCudaOverride<Self, CudaGrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>::
    Instantiate();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                          Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "CountVoxelsWithoutNeighbors: " << (m_CountVoxelsWithoutNeighbors ? "On" : "Off") << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::CompleteJob(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  auto job = this->template MakeJob<voxelmaps::GrayToneDifferenceJob>(textureJob);
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.countVoxelsWithoutNeighbors = m_CountVoxelsWithoutNeighbors;
  this->ComputeFeatureMaps(job);
}
} // namespace itk

#endif // itkGrayToneDifferenceFeatureMapImageFilter_hxx
