// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFirstOrderFeatureMapImageFilter_hxx
#define itkFirstOrderFeatureMapImageFilter_hxx

#include "itkFirstOrderFeatureMapImageFilter.h"

#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::FirstOrderFeatureMapImageFilter()
{
  Self::SetFeatures(FirstOrderFeatureMapEnums::GetAllFeatures());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                  Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "VoxelArrayShift: " << m_VoxelArrayShift << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  if (!std::isfinite(m_VoxelArrayShift))
  {
    itkExceptionMacro("VoxelArrayShift is " << m_VoxelArrayShift << ", but must be finite.");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<voxelmaps::TextureClassJob>
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto job = this->template MakeJob<voxelmaps::FirstOrderJob>();
  job.voxelArrayShift = m_VoxelArrayShift;
  job.voxelVolume = this->GetVoxelVolume();
  return { job };
}
} // namespace itk

#endif // itkFirstOrderFeatureMapImageFilter_hxx
