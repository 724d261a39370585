// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkDependenceFeatureMapImageFilter_hxx
#define itkDependenceFeatureMapImageFilter_hxx

#include "itkDependenceFeatureMapImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::DependenceFeatureMapImageFilter()
{
  Self::SetFeatures(DependenceFeatureMapEnums::GetAllFeatures());
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
std::vector<voxelmaps::TextureClassJob>
DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto job = this->template MakeJob<voxelmaps::DependenceJob>();
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.alpha = m_Alpha;
  return { job };
}
} // namespace itk

#endif // itkDependenceFeatureMapImageFilter_hxx
