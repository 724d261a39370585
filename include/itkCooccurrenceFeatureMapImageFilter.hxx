// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCooccurrenceFeatureMapImageFilter_hxx
#define itkCooccurrenceFeatureMapImageFilter_hxx

#include "itkCooccurrenceFeatureMapImageFilter.h"

#include <algorithm>
#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::CooccurrenceFeatureMapImageFilter()
{
  auto features = CooccurrenceFeatureMapEnums::GetAllFeatures();
  features.erase(std::find(features.begin(), features.end(), FeatureEnum::MaximalCorrelationCoefficient));
  Self::SetFeatures(features);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetOffsetWeights(
  const std::vector<double> & weights)
{
  if (m_OffsetWeights != weights)
  {
    m_OffsetWeights = weights;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::string>
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  const std::vector<std::string> names = Superclass::GetFeatureNames();
  return m_Aggregation == AggregationEnum::PerDirection
           ? TextureOffsets<ImageDimension>::GetNamesPerOffset(names, this->GetOffsets())
           : names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                    Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Aggregation: " << m_Aggregation << std::endl;
  os << indent << "OffsetWeights:";
  for (const double weight : m_OffsetWeights)
  {
    os << ' ' << weight;
  }
  os << std::endl;
  os << indent << "Symmetric: " << (m_Symmetric ? "On" : "Off") << std::endl;
  os << indent << "EmptyValue: " << m_EmptyValue << std::endl;
  os << indent << "RegionHasOneLevel: " << (m_RegionHasOneLevel ? "On" : "Off") << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::VerifyEnumerator(*this, "Aggregation", m_Aggregation, AggregationEnum::Merge);
  if (std::isfinite(m_EmptyValue) && std::abs(m_EmptyValue) > NumericTraits<OutputValueType>::max())
  {
    itkExceptionMacro("EmptyValue is " << m_EmptyValue << ", but the output's pixel type holds finite values up to "
                                       << NumericTraits<OutputValueType>::max() << '.');
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<voxelmaps::TextureClassJob>
CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto job = this->template MakeJob<voxelmaps::CooccurrenceJob>();
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(this->GetOffsets());
  job.aggregation = m_Aggregation;
  job.offsetWeights = m_OffsetWeights;
  job.symmetric = m_Symmetric;
  job.emptyValue = m_EmptyValue;
  job.hasOneLevel = m_RegionHasOneLevel;
  return { job };
}
} // namespace itk

#endif // itkCooccurrenceFeatureMapImageFilter_hxx
