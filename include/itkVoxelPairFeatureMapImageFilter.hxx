// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelPairFeatureMapImageFilter_hxx
#define itkVoxelPairFeatureMapImageFilter_hxx

#include "itkVoxelPairFeatureMapImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetOffsets(const OffsetsType & offsets)
{
  if (m_Offsets != offsets)
  {
    m_Offsets = offsets;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetDistances(const DistancesType & distances)
{
  this->SetOffsets(GetAllOffsets(distances));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Offsets:";
  for (const OffsetType & offset : m_Offsets)
  {
    os << ' ' << offset;
  }
  os << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  TextureOffsets<ImageDimension>::VerifyOfPairs(*this, m_Offsets, this->PairsHaveOrder());
}
} // namespace itk

#endif // itkVoxelPairFeatureMapImageFilter_hxx
