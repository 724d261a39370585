// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFeatureMapsImageFilter_hxx
#define itkFeatureMapsImageFilter_hxx

#include "itkFeatureMapsImageFilter.h"

#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
FeatureMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::FeatureMapsImageFilter()
{
  this->m_Discretization.defaultMethod = GrayLevelDiscretizationEnums::Method::FixedBinSizeAtMultiples;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FeatureMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::SetFeatureNames(const std::vector<std::string> & names)
{
  const std::vector<std::string> before = this->GetFeatureNames();
  m_Classes = VoxelMapsDetail::CallEngine(*this, [&names] { return VoxelMapsDetail::MakeTextureClassJobs(names); });
  if (before != this->GetFeatureNames())
  {
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FeatureMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Aggregation: " << m_Aggregation << std::endl;
  os << indent << "Symmetric: " << (m_Symmetric ? "On" : "Off") << std::endl;
  os << indent << "Alpha: " << m_Alpha << std::endl;
  os << indent << "VoxelArrayShift: " << m_VoxelArrayShift << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FeatureMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  if (m_Aggregation != AggregationEnum::Average && m_Aggregation != AggregationEnum::Merge)
  {
    itkExceptionMacro("Aggregation is " << m_Aggregation << ", but must be Average or Merge.");
  }
  if (!std::isfinite(m_VoxelArrayShift))
  {
    itkExceptionMacro("VoxelArrayShift is " << m_VoxelArrayShift << ", but must be finite.");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<voxelmaps::TextureClassJob>
FeatureMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto       classes = m_Classes;
  const auto offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  for (auto & each : classes)
  {
    if (auto * const cooccurrence = std::get_if<voxelmaps::CooccurrenceJob>(&each))
    {
      cooccurrence->offsets = offsets;
      cooccurrence->aggregation = m_Aggregation == AggregationEnum::Merge
                                    ? voxelmaps::CooccurrenceJob::Aggregation::Merge
                                    : voxelmaps::CooccurrenceJob::Aggregation::Average;
      cooccurrence->symmetric = m_Symmetric;
    }
    else if (auto * const dependence = std::get_if<voxelmaps::DependenceJob>(&each))
    {
      dependence->offsets = offsets;
      dependence->alpha = m_Alpha;
    }
    else if (auto * const firstOrder = std::get_if<voxelmaps::FirstOrderJob>(&each))
    {
      firstOrder->voxelArrayShift = m_VoxelArrayShift;
      firstOrder->voxelVolume = this->GetVoxelVolume();
    }
    else if (auto * const grayTone = std::get_if<voxelmaps::GrayToneDifferenceJob>(&each))
    {
      grayTone->offsets = offsets;
    }
    else if (auto * const runLength = std::get_if<voxelmaps::RunLengthJob>(&each))
    {
      runLength->offsets = TextureOffsets<ImageDimension>::GetTriples(Superclass::GetAllOffsets());
      runLength->aggregation = m_Aggregation;
      runLength->skipDirectionsWithoutPairs = true;
    }
  }
  return classes;
}
} // namespace itk

#endif // itkFeatureMapsImageFilter_hxx
