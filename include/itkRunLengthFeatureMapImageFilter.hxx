// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkRunLengthFeatureMapImageFilter_hxx
#define itkRunLengthFeatureMapImageFilter_hxx

#include "itkRunLengthFeatureMapImageFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::RunLengthFeatureMapImageFilter()
  : m_Offsets(GetAllOffsets())
{
  Self::SetFeatures(RunLengthFeatureMapEnums::GetElevenFeatures());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetOffsets(const OffsetsType & offsets)
{
  if (m_Offsets != offsets)
  {
    m_Offsets = offsets;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::SetOffsetWeights(
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
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::GetFeatureNames() const
{
  const std::vector<std::string> names = Superclass::GetFeatureNames();
  return m_Aggregation == AggregationEnum::PerDirection
           ? TextureOffsets<ImageDimension>::GetNamesPerOffset(names, m_Offsets)
           : names;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Offsets:";
  for (const OffsetType & offset : m_Offsets)
  {
    os << ' ' << offset;
  }
  os << std::endl << indent << "Aggregation: " << m_Aggregation << std::endl;
  os << indent << "OffsetWeights:";
  for (const double weight : m_OffsetWeights)
  {
    os << ' ' << weight;
  }
  os << std::endl;
  os << indent << "SkipDirectionsWithoutPairs: " << (m_SkipDirectionsWithoutPairs ? "On" : "Off") << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  TextureOffsets<ImageDimension>::Verify(*this, m_Offsets);
  VoxelMapsDetail::VerifyEnumerator(*this, "Aggregation", m_Aggregation, AggregationEnum::Merge);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<voxelmaps::TextureClassJob>
RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeClassJobs() const
{
  auto job = this->template MakeJob<voxelmaps::RunLengthJob>();
  job.offsets = TextureOffsets<ImageDimension>::GetTriples(m_Offsets);
  job.aggregation = m_Aggregation;
  job.offsetWeights = m_OffsetWeights;
  job.skipDirectionsWithoutPairs = m_SkipDirectionsWithoutPairs;
  return { job };
}
} // namespace itk

#endif // itkRunLengthFeatureMapImageFilter_hxx
