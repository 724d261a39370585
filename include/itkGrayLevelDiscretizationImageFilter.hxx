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

#include "itkMath.h"

#include <algorithm>
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
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeRange(bool respectMask)
{
  const InputImageType * input = this->GetInput();
  const MaskImageType *  mask = respectMask ? this->GetMaskImage() : nullptr;
  double                 minimum = std::numeric_limits<double>::infinity();
  double                 maximum = -minimum;
  std::mutex             mutex;

  this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  this->GetMultiThreader()->template ParallelizeImageRegion<ImageDimension>(
    input->GetLargestPossibleRegion(),
    [&](const OutputRegionType & region) {
      // Of no pixel.
      InputPixelType lowest = std::numeric_limits<InputPixelType>::max();
      InputPixelType highest = std::numeric_limits<InputPixelType>::lowest();
      const auto     look = [&](InputPixelType value, bool use) {
        if constexpr (std::is_floating_point<InputPixelType>::value)
        {
          use = use && std::isfinite(value);
        }
        lowest = use && value < lowest ? value : lowest;
        highest = use && value > highest ? value : highest;
      };
      VoxelMapsDetail::RowReader<InputImageType> inputReader(input);
      VoxelMapsDetail::RowReader<MaskImageType>  maskReader(mask);
      VoxelMapsDetail::ForEachRow(
        region, 0, region.GetNumberOfPixels(), [&](const auto & index, std::int64_t, std::int64_t count) {
          const InputPixelType * const values = inputReader.Read(index, count);
          if (mask == nullptr)
          {
            for (std::int64_t i = 0; i < count; ++i)
            {
              look(values[i], true);
            }
            return;
          }
          const MaskPixelType * const maskValues = maskReader.Read(index, count);
          const MaskPixelType         inside = m_InsidePixelValue;
          for (std::int64_t i = 0; i < count; ++i)
          {
            look(values[i], maskValues[i] == inside);
          }
        });
      if (lowest <= highest)
      {
        const std::lock_guard<std::mutex> lock(mutex);
        minimum = std::min(minimum, static_cast<double>(lowest));
        maximum = std::max(maximum, static_cast<double>(highest));
      }
    },
    nullptr);

  if (minimum > maximum)
  {
    if (mask != nullptr || input->GetLargestPossibleRegion().GetNumberOfPixels() == 0)
    {
      // With an empty mask or image there is no level to compute, so any range works.
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
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateData()
{
  VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { Superclass::GenerateData(); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::BeforeThreadedGenerateData()
{
  VoxelMapsDetail::VerifyBuffer(this->GetInput());
  VoxelMapsDetail::VerifyBuffer(this->GetMaskImage());
  m_InvalidLevel.reset();
  const double levels = m_Parameters.numberOfGrayLevels;
  switch (m_Parameters.method)
  {
    case MethodEnum::Identity:
      m_UsedRangeMinimum = 0.0;
      m_UsedRangeMaximum = levels - 1.0;
      break;
    case MethodEnum::Levels:
      m_UsedRangeMinimum = 1.0;
      m_UsedRangeMaximum = levels;
      break;
    case MethodEnum::Edges:
      m_UsedRangeMinimum = m_Parameters.binEdges.front();
      m_UsedRangeMaximum = m_Parameters.binEdges.back();
      break;
    default:
      if (m_Parameters.rangeSource == RangeSourceEnum::Given)
      {
        m_UsedRangeMinimum = m_Parameters.rangeMinimum;
        m_UsedRangeMaximum = m_Parameters.rangeMaximum;
      }
      else
      {
        this->ComputeRange(m_Parameters.rangeSource == RangeSourceEnum::Mask);
      }
  }
  this->ComputeNumberOfGrayLevels();

  m_Table.clear();
  if constexpr (sizeof(InputPixelType) <= 2)
  {
    // Of all values that the image can have.
    const bool isRangeOfImage = m_Parameters.UsesRange() && m_Parameters.rangeSource == RangeSourceEnum::Image;
    m_FirstOfTable =
      isRangeOfImage ? static_cast<int>(m_UsedRangeMinimum) : std::numeric_limits<InputPixelType>::lowest();
    const int last = isRangeOfImage ? static_cast<int>(m_UsedRangeMaximum) : std::numeric_limits<InputPixelType>::max();
    const auto entries = static_cast<SizeValueType>(last - m_FirstOfTable + 1);
    if (sizeof(InputPixelType) == 1 ||
        entries * minPixelsPerTableEntry <= this->GetOutput()->GetRequestedRegion().GetNumberOfPixels())
    {
      m_Table.reserve(entries);
      for (int value = m_FirstOfTable; value <= last; ++value)
      {
        m_Table.push_back(this->Discretize(static_cast<InputPixelType>(value)));
      }
    }
  }
  voxelmaps::UseHugePages(this->GetOutput()->GetBufferPointer(),
                          this->GetOutput()->GetPixelContainer()->Size() * sizeof(OutputPixelType));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeNumberOfGrayLevels()
{
  m_Scale = std::isfinite((m_UsedRangeMaximum - m_UsedRangeMinimum) * MaximumNumberOfGrayLevels) ? 1.0 : 0x1p-20;
  const double scale = m_Scale;
  const double width = m_Parameters.binWidth;
  double       numberOfLevels = m_Parameters.numberOfGrayLevels;
  if (m_Parameters.method == MethodEnum::FixedBinSize)
  {
    numberOfLevels = std::floor((scale * m_UsedRangeMaximum - scale * m_UsedRangeMinimum) / (scale * width)) + 1.0;
  }
  else if (m_Parameters.method == MethodEnum::FixedBinSizeAtMultiples)
  {
    // Quotients of a single intensity may be infinite.
    numberOfLevels = m_UsedRangeMaximum > m_UsedRangeMinimum
                       ? std::floor(m_UsedRangeMaximum / width) - std::floor(m_UsedRangeMinimum / width) + 1.0
                       : 1.0;
  }
  else if (m_Parameters.method == MethodEnum::Edges)
  {
    numberOfLevels = static_cast<double>(m_Parameters.binEdges.size());
  }
  if (!(numberOfLevels <= MaximumNumberOfGrayLevels))
  {
    itkExceptionMacro("BinWidth " << width << " over the range " << m_UsedRangeMinimum << " to " << m_UsedRangeMaximum
                                  << " makes " << numberOfLevels << " gray levels, but at most "
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
auto
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::Discretize(InputPixelType value) const
  -> OutputPixelType
{
  if constexpr (std::is_floating_point<InputPixelType>::value)
  {
    if (std::isnan(value))
    {
      return 0;
    }
  }
  const double minimum = m_UsedRangeMinimum;
  const double maximum = m_UsedRangeMaximum;
  const double width = m_Parameters.binWidth;
  const double number = m_Parameters.numberOfGrayLevels;
  const double scale = m_Scale;
  const auto   intensity = static_cast<double>(value);
  const double x = std::min(std::max(intensity, minimum), maximum);
  double       level = 0.0;
  switch (m_Parameters.method)
  {
    case MethodEnum::FixedBinNumber:
      level =
        maximum > minimum
          ? std::min(std::floor(number * (scale * x - scale * minimum) / (scale * maximum - scale * minimum)) + 1.0,
                     number)
          : 1.0;
      break;
    case MethodEnum::FixedBinSize:
      level = std::floor((scale * x - scale * minimum) / (scale * width)) + 1.0;
      break;
    case MethodEnum::FixedBinSizeAtMultiples:
      level = maximum > minimum ? std::floor(x / width) - std::floor(minimum / width) + 1.0 : 1.0;
      break;
    case MethodEnum::Identity:
      level = x == intensity && x == std::floor(x) ? x + 1.0 : 0.0;
      break;
    case MethodEnum::Levels:
      level = x == intensity && x == std::floor(x) ? x : 0.0;
      break;
    case MethodEnum::Edges:
      level =
        static_cast<double>(std::upper_bound(m_Parameters.binEdges.begin(), m_Parameters.binEdges.end(), intensity) -
                            m_Parameters.binEdges.begin());
      break;
  }
  return static_cast<OutputPixelType>(level);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
bool
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::IsInvalid(InputPixelType value) const
{
  if constexpr (std::is_floating_point<InputPixelType>::value)
  {
    if (std::isnan(value))
    {
      return false;
    }
  }
  // Level 0 is a valid level of Levels, for absent voxels, but not of Identity.
  return m_Parameters.method == MethodEnum::Identity ||
         (m_Parameters.method == MethodEnum::Levels && value != InputPixelType{});
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::DynamicThreadedGenerateData(
  const OutputRegionType & region)
{
  const MaskImageType * const mask = this->GetMaskImage();
  OutputImageType * const     output = this->GetOutput();
  const bool mayBeInvalid = m_Parameters.method == MethodEnum::Identity || m_Parameters.method == MethodEnum::Levels;
  const MaskPixelType                        inside = m_InsidePixelValue;
  VoxelMapsDetail::RowReader<InputImageType> inputReader(this->GetInput());
  VoxelMapsDetail::RowReader<MaskImageType>  maskReader(mask);
  VoxelMapsDetail::ForEachRow(
    region, 0, region.GetNumberOfPixels(), [&](const auto & index, std::int64_t, std::int64_t count) {
      const InputPixelType * const values = inputReader.Read(index, count);
      const MaskPixelType * const  maskValues = mask != nullptr ? maskReader.Read(index, count) : nullptr;
      OutputPixelType * const      levels = output->GetBufferPointer() + output->ComputeOffset(index);
      this->DiscretizeRow(values, count, levels);
      if (mayBeInvalid)
      {
        for (std::int64_t i = 0; i < count; ++i)
        {
          if (levels[i] == 0 && this->IsInvalid(values[i]) && (mask == nullptr || maskValues[i] == inside))
          {
            const std::lock_guard<std::mutex> lock(m_Mutex);
            const auto                        x = static_cast<double>(values[i]);
            m_InvalidLevel = m_InvalidLevel ? std::min(*m_InvalidLevel, x) : x;
          }
        }
      }
      for (std::int64_t i = 0; mask != nullptr && i < count; ++i)
      {
        levels[i] = maskValues[i] == inside ? levels[i] : OutputPixelType{};
      }
    });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::DiscretizeRow(const InputPixelType * values,
                                                                                         std::int64_t           count,
                                                                                         OutputPixelType * levels) const
{
  if constexpr (sizeof(InputPixelType) <= 2)
  {
    if (!m_Table.empty())
    {
      // The same function, evaluated once per value instead of once per voxel.
      const OutputPixelType * const table = m_Table.data();
      const int                     first = m_FirstOfTable;
      for (std::int64_t i = 0; i < count; ++i)
      {
        levels[i] = table[static_cast<int>(values[i]) - first];
      }
      return;
    }
  }
  const bool   isNumber = m_Parameters.method == MethodEnum::FixedBinNumber;
  const double minimum = m_UsedRangeMinimum;
  const double maximum = m_UsedRangeMaximum;
  const double factor = isNumber ? m_Parameters.numberOfGrayLevels : 1.0;
  const double divisor = isNumber ? maximum - minimum : m_Parameters.binWidth;
  if ((isNumber || m_Parameters.method == MethodEnum::FixedBinSize) && maximum > minimum &&
      std::isfinite(factor * (maximum - minimum)))
  {
    // As Discretize, in a loop that compilers vectorize: bins are neither negative nor large.
    const auto numberOfLevels = static_cast<int>(m_UsedNumberOfGrayLevels);
    for (std::int64_t i = 0; i < count; ++i)
    {
      const auto   intensity = static_cast<double>(values[i]);
      const bool   isNaN = intensity != intensity;
      const double x = std::min(std::max(isNaN ? minimum : intensity, minimum), maximum);
      const int    level = std::min(static_cast<int>(factor * (x - minimum) / divisor) + 1, numberOfLevels);
      levels[i] = static_cast<OutputPixelType>(isNaN ? 0 : level);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
  {
    levels[i] = this->Discretize(values[i]);
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
GrayLevelDiscretizationImageFilter<TInputImage, TOutputImage, TMaskImage>::AfterThreadedGenerateData()
{
  if (m_InvalidLevel)
  {
    const bool isIdentity = m_Parameters.method == MethodEnum::Identity;
    itkExceptionMacro("Intensity " << *m_InvalidLevel << " is not a valid gray level: " << m_Parameters.method
                                   << " takes integers from 0 to " << m_UsedRangeMaximum << " (NumberOfGrayLevels"
                                   << (isIdentity ? " - 1" : "") << ").");
  }
}
} // namespace itk

#endif // itkGrayLevelDiscretizationImageFilter_hxx
