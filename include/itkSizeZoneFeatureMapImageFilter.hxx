// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkSizeZoneFeatureMapImageFilter_hxx
#define itkSizeZoneFeatureMapImageFilter_hxx

#include "itkSizeZoneFeatureMapImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SizeZoneFeatureMapImageFilter()
{
  Self::SetFeatures(SizeZoneFeatureMapEnums::GetAllFeatures());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Connectivity: " << m_Connectivity << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::VerifyEnumerator(*this, "Connectivity", m_Connectivity, ConnectivityEnum::InPlane);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<voxelmaps::TextureClassJob>
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto job = this->template MakeJob<voxelmaps::SizeZoneJob>();
  job.connectivity = m_Connectivity;
  return { job };
}
} // namespace itk

#endif // itkSizeZoneFeatureMapImageFilter_hxx
