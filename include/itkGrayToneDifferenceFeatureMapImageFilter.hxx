// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
