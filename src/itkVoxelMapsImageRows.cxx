// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsImageRows.h"

#include "itkContinuousIndex.h"
#include "itkNumericTraits.h"

#include <cmath>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>

namespace itk
{
namespace VoxelMapsDetail
{
namespace
{
template <typename TPixel>
bool
IsInside(TPixel voxel, const TPixel * insideValue)
{
  return insideValue != nullptr ? voxel == *insideValue : voxel == voxel && voxel != TPixel{};
}

/** What a mask contains. */
template <typename TPixel>
struct MaskContent
{
  // More values are not listed.
  static constexpr std::size_t maxValues = 8;

  std::set<TPixel> values; // other than 0
  bool             hasInside{ false };

  void
  Add(const TPixel * row, std::int64_t count, const TPixel * insideValue)
  {
    TPixel last{};
    hasInside = hasInside || (count > 0 && IsInside(row[0], insideValue));
    for (std::int64_t i = 0; i < count; ++i)
    {
      if (row[i] != last && row[i] == row[i])
      {
        last = row[i];
        hasInside = hasInside || IsInside(last, insideValue);
        if (last != TPixel{} && values.size() < maxValues)
        {
          values.insert(last);
        }
      }
    }
  }

  /** Throw an itk::ExceptionObject if no voxel is inside, or if it is not clear which. */
  void
  Verify(const std::string & filter, const std::string & name, const TPixel * insideValue) const
  {
    if (hasInside && (insideValue != nullptr || values.size() <= 1))
    {
      return;
    }
    using PrintType = typename NumericTraits<TPixel>::PrintType;
    std::ostringstream list;
    std::size_t        number = 0;
    for (auto it = values.begin(); it != values.end() && number < maxValues; ++it, ++number)
    {
      list << (number == 0 ? " " : ", ") << static_cast<PrintType>(*it);
    }
    list << (values.size() >= maxValues ? " and others" : "");
    if (values.empty())
    {
      itkGenericExceptionMacro(<< filter << ": " << name << " has no voxel inside: all of its voxels are 0 or NaN.");
    }
    if (insideValue != nullptr)
    {
      itkGenericExceptionMacro(<< filter << ": " << name << " has no voxel of InsidePixelValue "
                               << static_cast<PrintType>(*insideValue) << "; its values other than 0 are" << list.str()
                               << '.');
    }
    itkGenericExceptionMacro(<< filter << ": " << name << " has the values 0 and" << list.str()
                             << ": choose the one that is inside with SetInsidePixelValue().");
  }
};

template <typename TPixel, unsigned int VDimension>
std::unique_ptr<std::uint8_t[]>
MakeTypedMaskBytes(const std::string & filter, const std::string & name, const TPixel * pixels,
                   const TPixel * insideValue, const ImageBase<VDimension> & image,
                   const ImageRegion<VDimension> & region, const voxelmaps::JobExecution & execution)
{
  const ImageRegion<VDimension> whole = image.GetLargestPossibleRegion();
  const ImageRegion<VDimension> buffered = image.GetBufferedRegion();
  MaskContent<TPixel>           content;
  std::mutex                    mutex;
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(whole.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
      MaskContent<TPixel> own;
      ForEachRow(whole, begin, end, [&](const auto & index, std::int64_t, std::int64_t count) {
        own.Add(pixels + GetVoxel(buffered, index), count, insideValue);
      });
      const std::lock_guard<std::mutex> lock(mutex);
      content.hasInside = content.hasInside || own.hasInside;
      content.values.insert(own.values.begin(), own.values.end());
    });
  if (whole.GetNumberOfPixels() > 0)
  {
    content.Verify(filter, name, insideValue);
  }

  const auto size = static_cast<std::int64_t>(region.GetNumberOfPixels());
  // Not a vector: one thread would clear it.
  std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[static_cast<std::size_t>(size)]);
  voxelmaps::UseHugePages(bytes.get(), static_cast<std::size_t>(size));
  voxelmaps::ForEachRangeOfVoxels(size, execution, [&](std::int64_t begin, std::int64_t end) {
    ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
      const TPixel * const row = pixels + GetVoxel(buffered, index);
      std::transform(row, row + count, bytes.get() + voxel, [insideValue](TPixel value) {
        return static_cast<std::uint8_t>(IsInside(value, insideValue) ? 1 : 0);
      });
    });
  });
  return bytes;
}
} // namespace

template <unsigned int VDimension>
void
VerifyBufferedRegion(const std::string & filter, const std::string & name, const ImageBase<VDimension> & image,
                     const ImageRegion<VDimension> & region)
{
  const auto & buffered = image.GetBufferedRegion();
  auto         part = region;
  if (region.GetNumberOfPixels() > 0 && !(part.Crop(buffered) && part == region))
  {
    itkGenericExceptionMacro(<< filter << ": " << name
                             << " has no pixels in a region that is needed: its buffer has index "
                             << buffered.GetIndex() << " and size " << buffered.GetSize() << ", the region has index "
                             << region.GetIndex() << " and size " << region.GetSize()
                             << ". If its data was released, update or read it again; ReleaseDataFlagOff() keeps it.");
  }
}

void
VerifyAllocation(const std::string & filter, const std::string & name, SizeValueType allocated, SizeValueType elements)
{
  if (allocated < elements)
  {
    itkGenericExceptionMacro(<< filter << ": " << name << " has no pixels: its buffer has " << allocated
                             << " elements, but its buffered region needs " << elements << ": call Allocate().");
  }
}

template <unsigned int VDimension>
void
CopyPixels(const void * from, const ImageRegion<VDimension> & fromRegion, void * to,
           const ImageRegion<VDimension> & toRegion, std::size_t bytes, const voxelmaps::JobExecution & execution)
{
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    ForEachRow(toRegion, begin, end, [&](auto index, std::int64_t voxel, std::int64_t count) {
      char * const            row = static_cast<char *>(to) + static_cast<std::size_t>(voxel) * bytes;
      ImageRegion<VDimension> part(index, Size<VDimension>::Filled(1));
      part.SetSize(0, static_cast<SizeValueType>(count));
      const bool isRead = part.Crop(fromRegion);
      if (!isRead || part.GetSize(0) < static_cast<SizeValueType>(count))
      {
        std::memset(row, 0, static_cast<std::size_t>(count) * bytes);
      }
      if (isRead)
      {
        std::memcpy(row + static_cast<std::size_t>(part.GetIndex(0) - index[0]) * bytes,
                    static_cast<const char *>(from) +
                      static_cast<std::size_t>(GetVoxel(fromRegion, part.GetIndex())) * bytes,
                    part.GetSize(0) * bytes);
      }
    });
  };
  voxelmaps::ForEachRangeOfVoxels(static_cast<std::int64_t>(toRegion.GetNumberOfPixels()), execution, copy);
}

template <unsigned int VDimension>
void
VerifySameGrid(const std::string & filter, const std::string & name, const ImageBase<VDimension> & image,
               const ImageBase<VDimension> & input, double tolerance)
{
  const auto & region = image.GetLargestPossibleRegion();
  const auto & expected = input.GetLargestPossibleRegion();
  if (region != expected)
  {
    itkGenericExceptionMacro(<< filter << ": " << name << " has index " << region.GetIndex() << " and size "
                             << region.GetSize() << ", but the image has index " << expected.GetIndex() << " and size "
                             << expected.GetSize() << ": both must be the same.");
  }
  double difference = 0.0;
  for (unsigned int corner = 0; corner < 1u << VDimension; ++corner)
  {
    auto index = expected.GetIndex();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] += (corner >> d & 1u) != 0 ? static_cast<IndexValueType>(expected.GetSize(d)) - 1 : 0;
    }
    Point<double, VDimension>           point;
    ContinuousIndex<double, VDimension> other;
    input.TransformIndexToPhysicalPoint(index, point);
    static_cast<void>(image.TransformPhysicalPointToContinuousIndex(point, other));
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const double distance = std::abs(other[d] - static_cast<double>(index[d]));
      // NaN is within no tolerance.
      difference = distance <= difference ? difference : distance;
    }
  }
  if (!(difference <= tolerance))
  {
    itkGenericExceptionMacro(<< filter << ": " << name << " is not on the grid of the image: corners differ by up to "
                             << difference << " voxels, but CoordinateTolerance is " << tolerance << ". Resample "
                             << name
                             << ", or call SetCoordinateTolerance() if the difference does not matter. The origins are "
                             << image.GetOrigin() << " and " << input.GetOrigin() << ", the spacings "
                             << image.GetSpacing() << " and " << input.GetSpacing() << '.');
  }
}

template <unsigned int VDimension>
std::unique_ptr<std::uint8_t[]>
MakeMaskBytes(const std::string & filter, const std::string & name, voxelmaps::PixelType pixelType, const void * pixels,
              const void * insideValue, const ImageBase<VDimension> & image, const ImageRegion<VDimension> & region,
              const voxelmaps::JobExecution & execution)
{
  const auto make = [&](auto pixel) {
    using PixelType = decltype(pixel);
    return MakeTypedMaskBytes(filter,
                              name,
                              static_cast<const PixelType *>(pixels),
                              static_cast<const PixelType *>(insideValue),
                              image,
                              region,
                              execution);
  };
  switch (pixelType)
  {
    case voxelmaps::PixelType::Int8:
      return make(std::int8_t{});
    case voxelmaps::PixelType::UInt8:
      return make(std::uint8_t{});
    case voxelmaps::PixelType::Int16:
      return make(std::int16_t{});
    case voxelmaps::PixelType::UInt16:
      return make(std::uint16_t{});
    case voxelmaps::PixelType::Int32:
      return make(std::int32_t{});
    case voxelmaps::PixelType::UInt32:
      return make(std::uint32_t{});
    case voxelmaps::PixelType::Int64:
      return make(std::int64_t{});
    case voxelmaps::PixelType::UInt64:
      return make(std::uint64_t{});
    case voxelmaps::PixelType::Float:
      return make(float{});
    case voxelmaps::PixelType::Double:
      break;
  }
  return make(double{});
}

#define VOXELMAPS_INSTANTIATE(dimension)                                                                               \
  template VoxelMaps_EXPORT void CopyPixels<dimension>(const void *,                                                   \
                                                       const ImageRegion<dimension> &,                                 \
                                                       void *,                                                         \
                                                       const ImageRegion<dimension> &,                                 \
                                                       std::size_t,                                                    \
                                                       const voxelmaps::JobExecution &);                               \
  template VoxelMaps_EXPORT void VerifyBufferedRegion<dimension>(                                                      \
    const std::string &, const std::string &, const ImageBase<dimension> &, const ImageRegion<dimension> &);           \
  template VoxelMaps_EXPORT void VerifySameGrid<dimension>(                                                            \
    const std::string &, const std::string &, const ImageBase<dimension> &, const ImageBase<dimension> &, double);     \
  template VoxelMaps_EXPORT std::unique_ptr<std::uint8_t[]> MakeMaskBytes<dimension>(const std::string &,              \
                                                                                     const std::string &,              \
                                                                                     voxelmaps::PixelType,             \
                                                                                     const void *,                     \
                                                                                     const void *,                     \
                                                                                     const ImageBase<dimension> &,     \
                                                                                     const ImageRegion<dimension> &,   \
                                                                                     const voxelmaps::JobExecution &)
VOXELMAPS_INSTANTIATE(2);
VOXELMAPS_INSTANTIATE(3);
#undef VOXELMAPS_INSTANTIATE
} // namespace VoxelMapsDetail
} // namespace itk
