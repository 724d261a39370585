// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkGrayToneDifferenceFeatureMapImageFilter_hxx
#define itkGrayToneDifferenceFeatureMapImageFilter_hxx

#include "itkGrayToneDifferenceFeatureMapImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
GrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage,
                                        TMaskImage>::GrayToneDifferenceFeatureMapImageFilter()
{
  Self::SetFeatures(GrayToneDifferenceFeatureMapEnums::GetAllFeatures());
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
std::vector<voxelmaps::TextureClassJob>
GrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto job = this->template MakeJob<voxelmaps::GrayToneDifferenceJob>();
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.countVoxelsWithoutNeighbors = m_CountVoxelsWithoutNeighbors;
  return { job };
}
} // namespace itk

#endif // itkGrayToneDifferenceFeatureMapImageFilter_hxx
