// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkSizeZoneFeatureMapImageFilter_hxx
#define itkSizeZoneFeatureMapImageFilter_hxx

#include "itkCudaSizeZoneFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SizeZoneFeatureMapImageFilter()
{
  Self::SetFeatures(SizeZoneFeatureMapEnums::GetAllFeatures());
  VoxelMapsCudaOverride<Self, CudaSizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>::Instantiate();
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
void
SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::CompleteJob(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  auto job = this->template MakeJob<voxelmaps::SizeZoneJob>(textureJob);
  job.connectivity = m_Connectivity;
  this->ComputeFeatureMaps(job);
}
} // namespace itk

#endif // itkSizeZoneFeatureMapImageFilter_hxx
