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
#ifndef itkGrayLevelDiscretizationImageFilter_hxx
#define itkGrayLevelDiscretizationImageFilter_hxx

#include "itkGrayLevelDiscretizationImageFilter.h"

#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "itkMath.h"
#include "itkVoxelMapsJobUtilities.h"

#include <cmath>
#include <limits>

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
  os << indent << "Method: " << m_Method << std::endl;
  os << indent << "NumberOfGrayLevels: " << m_NumberOfGrayLevels << std::endl;
  os << indent << "BinWidth: " << m_BinWidth << std::endl;
  os << indent << "RangeSource: " << m_RangeSource << std::endl;
  os << indent << "RangeMinimum: " << m_RangeMinimum << std::endl;
  os << indent << "RangeMaximum: " << m_RangeMaximum << std::endl;
  os << indent
     << "InsidePixelValue: " << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(m_InsidePixelValue)
     << std::endl;
  os << indent << "UsedRangeMinimum: " << m_UsedRangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << m_UsedRangeMaximum << std::endl;
  os << indent << "UsedNumberOfGrayLevels: " << m_UsedNumberOfGrayLevels << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyParameters() const
{
  const bool usesNumber = m_Method == MethodEnum::FixedBinNumber || m_Method == MethodEnum::Identity;
  if (usesNumber && (m_NumberOfGrayLevels < 1 || m_NumberOfGrayLevels > MaximumNumberOfGrayLevels))
  {
    itkExceptionMacro("NumberOfGrayLevels is " << m_NumberOfGrayLevels << ", but must be 1 to "
                                               << MaximumNumberOfGrayLevels << '.');
  }
  if (!usesNumber && !(m_BinWidth > 0.0 && std::isfinite(m_BinWidth)))
  {
    itkExceptionMacro("BinWidth is " << m_BinWidth << ", but must be positive and finite.");
  }
  if (m_Method != MethodEnum::Identity && m_RangeSource == RangeSourceEnum::Given)
  {
    if (!(m_RangeMinimum < m_RangeMaximum) || !std::isfinite(m_RangeMaximum - m_RangeMinimum))
    {
      itkExceptionMacro("The given range is "
                        << m_RangeMinimum << " to " << m_RangeMaximum
                        << ", but RangeMinimum must be less than RangeMaximum, and their difference finite.");
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  this->VerifyParameters();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  Superclass::VerifyInputInformation();
  voxelmaps::VerifySameRegion(*this, "the mask", this->GetMaskImage(), this->GetInput());
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
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeRange(bool respectMask)
{
  const InputImageType * input = this->GetInput();
  const MaskImageType *  mask = respectMask ? this->GetMaskImage() : nullptr;
  double                 minimum = std::numeric_limits<double>::infinity();
  double                 maximum = -minimum;
  std::mutex             mutex;

  this->GetMultiThreader()->template ParallelizeImageRegion<ImageDimension>(
    input->GetLargestPossibleRegion(),
    [&](const OutputRegionType & region) {
      InputPixelType least{};
      InputPixelType greatest{};
      bool           found = false;

      ImageRegionConstIterator<InputImageType> it(input, region);
      ImageRegionConstIterator<MaskImageType>  maskIt;
      if (mask != nullptr)
      {
        maskIt = ImageRegionConstIterator<MaskImageType>(mask, region);
      }
      for (; !it.IsAtEnd(); ++it)
      {
        const InputPixelType value = it.Get();
        bool                 use = true;
        if (mask != nullptr)
        {
          use = maskIt.Get() == m_InsidePixelValue;
          ++maskIt;
        }
        if constexpr (std::is_floating_point<InputPixelType>::value)
        {
          use = use && std::isfinite(value);
        }
        if (use)
        {
          least = !found || value < least ? value : least;
          greatest = !found || value > greatest ? value : greatest;
          found = true;
        }
      }
      if (found)
      {
        const std::lock_guard<std::mutex> lock(mutex);
        minimum = std::min(minimum, static_cast<double>(least));
        maximum = std::max(maximum, static_cast<double>(greatest));
      }
    },
    nullptr);

  if (minimum > maximum)
  {
    if (mask != nullptr)
    {
      // An empty mask has no level to compute; any range will do.
      minimum = 0.0;
      maximum = 0.0;
    }
    else
    {
      itkExceptionMacro("No intensity of the image is finite, so there is no range; the image has "
                        << input->GetLargestPossibleRegion().GetNumberOfPixels() << " voxels.");
    }
  }
  m_UsedRangeMinimum = minimum;
  m_UsedRangeMaximum = maximum;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::BeforeThreadedGenerateData()
{
  m_NoGrayLevel.reset();
  if (m_Method == MethodEnum::Identity)
  {
    m_UsedRangeMinimum = 0.0;
    m_UsedRangeMaximum = m_NumberOfGrayLevels - 1.0;
  }
  else if (m_RangeSource == RangeSourceEnum::Given)
  {
    m_UsedRangeMinimum = m_RangeMinimum;
    m_UsedRangeMaximum = m_RangeMaximum;
  }
  else
  {
    this->ComputeRange(m_RangeSource == RangeSourceEnum::Mask);
  }

  double numberOfLevels = m_NumberOfGrayLevels;
  if (m_Method == MethodEnum::FixedBinSize)
  {
    numberOfLevels = std::floor((m_UsedRangeMaximum - m_UsedRangeMinimum) / m_BinWidth) + 1.0;
  }
  else if (m_Method == MethodEnum::FixedBinSizeAtMultiples)
  {
    numberOfLevels = std::floor(m_UsedRangeMaximum / m_BinWidth) - std::floor(m_UsedRangeMinimum / m_BinWidth) + 1.0;
  }
  if (!(numberOfLevels <= MaximumNumberOfGrayLevels))
  {
    itkExceptionMacro("BinWidth " << m_BinWidth << " over the range " << m_UsedRangeMinimum << " to "
                                  << m_UsedRangeMaximum << " makes " << numberOfLevels << " gray levels, but at most "
                                  << MaximumNumberOfGrayLevels << " are possible.");
  }
  if (numberOfLevels > static_cast<double>(NumericTraits<OutputPixelType>::max()))
  {
    itkExceptionMacro("The output's pixel type holds levels up to " << NumericTraits<OutputPixelType>::max()
                                                                    << ", but there are " << numberOfLevels
                                                                    << " gray levels.");
  }
  m_UsedNumberOfGrayLevels = static_cast<unsigned int>(numberOfLevels);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::DynamicThreadedGenerateData(
  const OutputRegionType & region)
{
  const double minimum = m_UsedRangeMinimum;
  const double maximum = m_UsedRangeMaximum;
  const double width = m_BinWidth;
  const double number = m_NumberOfGrayLevels;
  const double firstEdge = std::floor(minimum / width);

  // Level of a finite intensity inside the range.
  const auto levelOf = [=](double x) -> double {
    switch (m_Method)
    {
      case MethodEnum::FixedBinNumber:
        return maximum > minimum ? std::min(std::floor(number * (x - minimum) / (maximum - minimum)) + 1.0, number)
                                 : 1.0;
      case MethodEnum::FixedBinSize:
        return std::floor((x - minimum) / width) + 1.0;
      case MethodEnum::FixedBinSizeAtMultiples:
        return std::floor(x / width) - firstEdge + 1.0;
      case MethodEnum::Identity:
        break;
    }
    return x + 1.0;
  };
  // 0 for NaN, and for what is no level (Identity).
  const auto discretize = [=](InputPixelType value) -> OutputPixelType {
    if constexpr (std::is_floating_point<InputPixelType>::value)
    {
      if (std::isnan(value))
      {
        return 0;
      }
    }
    const auto x = static_cast<double>(value);
    if (m_Method == MethodEnum::Identity && !(x >= 0.0 && x < number && x == std::floor(x)))
    {
      return 0;
    }
    return static_cast<OutputPixelType>(levelOf(std::min(std::max(x, minimum), maximum)));
  };

  // A table is the same function, evaluated once per value instead of once per voxel.
  std::vector<OutputPixelType> table;
  if constexpr (sizeof(InputPixelType) == 1)
  {
    for (int value = std::numeric_limits<InputPixelType>::lowest(); value <= std::numeric_limits<InputPixelType>::max();
         ++value)
    {
      table.push_back(discretize(static_cast<InputPixelType>(value)));
    }
  }

  const MaskImageType *                    mask = this->GetMaskImage();
  ImageRegionConstIterator<InputImageType> it(this->GetInput(), region);
  ImageRegionIterator<OutputImageType>     out(this->GetOutput(), region);
  ImageRegionConstIterator<MaskImageType>  maskIt;
  if (mask != nullptr)
  {
    maskIt = ImageRegionConstIterator<MaskImageType>(mask, region);
  }
  for (; !it.IsAtEnd(); ++it, ++out)
  {
    bool inside = true;
    if (mask != nullptr)
    {
      inside = maskIt.Get() == m_InsidePixelValue;
      ++maskIt;
    }
    OutputPixelType level = 0;
    if (inside)
    {
      const InputPixelType value = it.Get();
      if constexpr (sizeof(InputPixelType) == 1)
      {
        level = table[static_cast<int>(value) - static_cast<int>(std::numeric_limits<InputPixelType>::lowest())];
      }
      else
      {
        level = discretize(value);
      }
      if (level == 0 && m_Method == MethodEnum::Identity && !std::isnan(static_cast<double>(value)))
      {
        const std::lock_guard<std::mutex> lock(m_Mutex);
        const auto                        x = static_cast<double>(value);
        m_NoGrayLevel = m_NoGrayLevel ? std::min(*m_NoGrayLevel, x) : x;
      }
    }
    out.Set(level);
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::AfterThreadedGenerateData()
{
  if (m_NoGrayLevel)
  {
    itkExceptionMacro("Intensity " << *m_NoGrayLevel << " is not a gray level: Identity takes integers from 0 to "
                                   << m_NumberOfGrayLevels - 1 << " (NumberOfGrayLevels - 1).");
  }
}
} // namespace itk

#endif // itkGrayLevelDiscretizationImageFilter_hxx
