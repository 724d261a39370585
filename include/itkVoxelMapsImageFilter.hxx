// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageFilter_hxx
#define itkVoxelMapsImageFilter_hxx

#include "itkContinuousIndex.h"
#include "itkVoxelMapsImageFilter.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <sstream>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VoxelMapsImageFilter()
{
  this->AddOptionalInputName("MaskImage");
  this->SetCoordinateTolerance(1e-3);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "InsidePixelValue: ";
  if (m_InsidePixelValue)
  {
    os << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(*m_InsidePixelValue) << std::endl;
  }
  else
  {
    os << "(not set)" << std::endl;
  }
  os << indent << "Device: " << m_Device << std::endl;
  os << indent << "DeviceID: " << m_DeviceID << std::endl;
  os << indent << "DeviceMemoryBudget: " << m_DeviceMemoryBudget << std::endl;
  os << indent << "UsedDeviceName: " << m_UsedDeviceName << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::VerifyEnumerator(*this, "Device", m_Device, DeviceEnum::CUDA);
  if (m_Device == DeviceEnum::CUDA)
  {
    VoxelMapsDetail::CallEngine(*this, [this] { CudaDevices::Verify(m_DeviceID); }, ", which needs a CUDA device");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  // Not that of the superclass, whose tolerance of the origin depends on the spacing along x alone.
  this->VerifySameGrid("the mask", this->GetMaskImage());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  if (this->GetMaskImage() != nullptr)
  {
    const_cast<MaskImageType *>(this->GetMaskImage())->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
bool
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::UsesCuda() const
{
  return m_Device == DeviceEnum::CUDA ||
         (m_Device == DeviceEnum::Automatic && VoxelMapsDetail::IsCudaAllowed() && CudaDevices::IsUsable(m_DeviceID));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifySameGrid(
  const std::string & name, const ImageBase<ImageDimension> * image) const
{
  if (image == nullptr)
  {
    return;
  }
  const InputImageType * const input = this->GetInput();
  const auto &                 region = image->GetLargestPossibleRegion();
  const auto &                 expected = input->GetLargestPossibleRegion();
  if (region != expected)
  {
    itkExceptionMacro(<< name << " has index " << region.GetIndex() << " and size " << region.GetSize()
                      << ", but the image has index " << expected.GetIndex() << " and size " << expected.GetSize()
                      << ": both must be the same.");
  }
  double difference = 0.0;
  for (unsigned int corner = 0; corner < 1u << ImageDimension; ++corner)
  {
    auto index = expected.GetIndex();
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      index[d] += (corner >> d & 1u) != 0 ? static_cast<IndexValueType>(expected.GetSize(d)) - 1 : 0;
    }
    Point<double, ImageDimension>           point;
    ContinuousIndex<double, ImageDimension> other;
    input->TransformIndexToPhysicalPoint(index, point);
    static_cast<void>(image->TransformPhysicalPointToContinuousIndex(point, other));
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      const double distance = std::abs(other[d] - static_cast<double>(index[d]));
      // NaN is within no tolerance.
      difference = distance <= difference ? difference : distance;
    }
  }
  if (!(difference <= this->GetCoordinateTolerance()))
  {
    itkExceptionMacro(<< name << " is not on the grid of the image: corners differ by up to " << difference
                      << " voxels, but CoordinateTolerance is " << this->GetCoordinateTolerance() << ". Resample "
                      << name
                      << ", or call SetCoordinateTolerance() if the difference does not matter. The origins are "
                      << image->GetOrigin() << " and " << input->GetOrigin() << ", the spacings " << image->GetSpacing()
                      << " and " << input->GetSpacing() << '.');
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::unique_ptr<std::uint8_t[]>
VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeMaskBytes(
  const char * name, const MaskImageType * mask, const InputRegionType & region,
  const voxelmaps::JobExecution & execution) const
{
  if (mask == nullptr)
  {
    return nullptr;
  }
  VoxelMapsDetail::VerifyBuffer(mask);
  const auto isInside = [value = m_InsidePixelValue](MaskPixelType voxel) {
    return value ? voxel == *value : voxel == voxel && voxel != MaskPixelType{};
  };

  // More values are not listed.
  constexpr std::size_t   maxValues = 8;
  std::set<MaskPixelType> values;
  bool                    hasInside = false;
  std::mutex              mutex;
  const InputRegionType   whole = mask->GetLargestPossibleRegion();
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(whole.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
      std::set<MaskPixelType>                   ownValues;
      bool                                      ownInside = false;
      VoxelMapsDetail::RowReader<MaskImageType> reader(mask);
      VoxelMapsDetail::ForEachRow(whole, begin, end, [&](const auto & index, std::int64_t, std::int64_t count) {
        const auto * const row = reader.Read(index, count);
        MaskPixelType      last{};
        for (std::int64_t i = 0; i < count; ++i)
        {
          if (row[i] != last && row[i] == row[i])
          {
            last = row[i];
            ownInside = ownInside || isInside(last);
            if (last != MaskPixelType{} && ownValues.size() < maxValues)
            {
              ownValues.insert(last);
            }
          }
        }
        ownInside = ownInside || (count > 0 && isInside(row[0]));
      });
      const std::lock_guard<std::mutex> lock(mutex);
      hasInside = hasInside || ownInside;
      values.insert(ownValues.begin(), ownValues.end());
    });
  if (whole.GetNumberOfPixels() > 0 && (!hasInside || (!m_InsidePixelValue && values.size() > 1)))
  {
    using PrintType = typename NumericTraits<MaskPixelType>::PrintType;
    std::ostringstream list;
    std::size_t        number = 0;
    for (auto it = values.begin(); it != values.end() && number < maxValues; ++it, ++number)
    {
      list << (number == 0 ? " " : ", ") << static_cast<PrintType>(*it);
    }
    list << (values.size() >= maxValues ? " and others" : "");
    if (values.empty())
    {
      itkExceptionMacro(<< name << " has no voxel inside: all of its voxels are 0 or NaN.");
    }
    if (m_InsidePixelValue)
    {
      itkExceptionMacro(<< name << " has no voxel of InsidePixelValue " << static_cast<PrintType>(*m_InsidePixelValue)
                        << "; its values other than 0 are" << list.str() << '.');
    }
    itkExceptionMacro(<< name << " has the values 0 and" << list.str()
                      << ": choose the one that is inside with SetInsidePixelValue().");
  }

  const auto size = static_cast<std::int64_t>(region.GetNumberOfPixels());
  // Not a vector: one thread would clear it.
  std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[static_cast<std::size_t>(size)]);
  voxelmaps::UseHugePages(bytes.get(), static_cast<std::size_t>(size));
  voxelmaps::ForEachRangeOfVoxels(size, execution, [&](std::int64_t begin, std::int64_t end) {
    VoxelMapsDetail::RowReader<MaskImageType> reader(mask);
    VoxelMapsDetail::ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
      const auto * const row = reader.Read(index, count);
      std::transform(row, row + count, bytes.get() + voxel, [&isInside](MaskPixelType value) {
        return static_cast<std::uint8_t>(isInside(value) ? 1 : 0);
      });
    });
  });
  return bytes;
}
} // namespace itk

#endif // itkVoxelMapsImageFilter_hxx
