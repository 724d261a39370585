// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkGrayLevelDiscretizationImageFilter_hxx
#define itkGrayLevelDiscretizationImageFilter_hxx

#include "itkGrayLevelDiscretizationImageFilter.h"

#include "voxelmaps/HostMemory.h"

#include <cstdint>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::GrayLevelDiscretizationImageFilter()
{
  this->AddOptionalInputName("MaskImage");
  this->DynamicMultiThreadingOn();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                     Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  VoxelMapsDetail::PrintParameters(os, indent, m_Parameters, "Method");
  os << indent
     << "InsidePixelValue: " << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(m_InsidePixelValue)
     << std::endl;
  os << indent << "UsedRangeMinimum: " << m_UsedRangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << m_UsedRangeMaximum << std::endl;
  os << indent << "UsedNumberOfGrayLevels: " << m_UsedNumberOfGrayLevels << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::CallEngine(*this, [this] { m_Parameters.Verify(); });
  VoxelMapsDetail::VerifyInsidePixelValue(*this, m_InsidePixelValue);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  Superclass::VerifyInputInformation();
  VoxelMapsDetail::VerifySameRegion(*this, "the mask", this->GetMaskImage(), this->GetInput());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  if (this->NeedsWholeInput())
  {
    const_cast<InputImageType *>(this->GetInput())->SetRequestedRegionToLargestPossibleRegion();
    if (this->GetMaskImage() != nullptr)
    {
      const_cast<MaskImageType *>(this->GetMaskImage())->SetRequestedRegionToLargestPossibleRegion();
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeRowDiscretizer() const
  -> RowDiscretizerType
{
  return RowDiscretizerType(this->GetInput(), this->GetMaskImage(), m_InsidePixelValue);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateData()
{
  VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { Superclass::GenerateData(); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::BeforeThreadedGenerateData()
{
  VoxelMapsDetail::JobProgress  progress(this, 0);
  const voxelmaps::JobExecution execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  const RowDiscretizerType      rows = this->MakeRowDiscretizer();
  OutputImageType * const       output = this->GetOutput();
  m_Discretization.reset();
  VoxelMapsDetail::CallEngine(*this, [&] {
    m_Discretization.emplace(m_Parameters,
                             RowDiscretizerType::pixelType,
                             rows.FindRange(m_Parameters, execution),
                             static_cast<std::int64_t>(output->GetRequestedRegion().GetNumberOfPixels()));
  });
  m_UsedRangeMinimum = m_Discretization->GetRangeMinimum();
  m_UsedRangeMaximum = m_Discretization->GetRangeMaximum();
  m_UsedNumberOfGrayLevels = m_Discretization->GetNumberOfGrayLevels();
  if (m_UsedNumberOfGrayLevels > static_cast<std::uint64_t>(NumericTraits<OutputPixelType>::max()))
  {
    itkExceptionMacro("The output's pixel type holds levels up to " << NumericTraits<OutputPixelType>::max()
                                                                    << ", but there are " << m_UsedNumberOfGrayLevels
                                                                    << " gray levels.");
  }
  voxelmaps::UseHugePages(output->GetBufferPointer(), output->GetPixelContainer()->Size() * sizeof(OutputPixelType));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::DynamicThreadedGenerateData(
  const OutputRegionType & region)
{
  this->MakeRowDiscretizer().Discretize(
    *m_Discretization, region, 0, static_cast<std::int64_t>(region.GetNumberOfPixels()), this->GetOutput());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::AfterThreadedGenerateData()
{
  VoxelMapsDetail::CallEngine(*this, [this] { m_Discretization->VerifyIntensities(); });
  m_Discretization.reset();
}
} // namespace itk

#endif // itkGrayLevelDiscretizationImageFilter_hxx
