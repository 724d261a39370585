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
