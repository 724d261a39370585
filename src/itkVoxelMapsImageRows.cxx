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
                               << ": set one of them, or call ClearInsidePixelValue() for masks of one value.");
    }
    itkGenericExceptionMacro(<< filter << ": " << name << " has the values 0 and" << list.str()
                             << ": choose the one that is inside with SetInsidePixelValue().");
  }
};

template <typename TPixel, unsigned int VDimension>
std::unique_ptr<std::uint8_t[]>
MakeTypedMaskBytes(const std::string & filter, const std::string & name, const TPixel * pixels,
                   const TPixel * insideValue, const ImageBase<VDimension> & image,
                   const ImageRegion<VDimension> & region, bool isVerified, const voxelmaps::JobExecution & execution)
{
  const ImageRegion<VDimension> whole = image.GetLargestPossibleRegion();
  const ImageRegion<VDimension> buffered = image.GetBufferedRegion();
  const SizeValueType           searched = isVerified ? 0 : whole.GetNumberOfPixels();
  MaskContent<TPixel>           content;
  std::mutex                    mutex;
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(searched), execution, [&](std::int64_t begin, std::int64_t end) {
      MaskContent<TPixel> own;
      ForEachRow(whole, begin, end, [&](const auto & index, std::int64_t, std::int64_t count) {
        own.Add(pixels + GetVoxel(buffered, index), count, insideValue);
      });
      const std::lock_guard<std::mutex> lock(mutex);
      content.hasInside = content.hasInside || own.hasInside;
      content.values.insert(own.values.begin(), own.values.end());
    });
  if (searched > 0)
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
/** A region in an array that has the pixels of another one. */
template <unsigned int VDimension>
voxelmaps::ArrayBox
MakeBox(const ImageRegion<VDimension> & array, const ImageRegion<VDimension> & region)
{
  voxelmaps::ArrayBox box{ { { 1, 1, 1 } }, { { 0, 0, 0 } }, { { 1, 1, 1 } } };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    box.arraySize[d] = static_cast<std::int64_t>(array.GetSize(d));
    box.index[d] = region.GetIndex(d) - array.GetIndex(d);
    box.size[d] = static_cast<std::int64_t>(region.GetSize(d));
  }
  return box;
}
} // namespace

std::shared_ptr<void>
JobMemory::Allocate(std::uint64_t bytes, Location location) const
{
  if (location == Location::Device)
  {
    return voxelmaps::AllocateCuda(bytes, options);
  }
  // Not a vector: one thread would clear it.
  return std::shared_ptr<unsigned char[]>(new unsigned char[static_cast<std::size_t>(bytes)]);
}

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
           const ImageRegion<VDimension> & toRegion, std::size_t bytes, const voxelmaps::JobExecution & execution,
           const voxelmaps::CudaOptions & options)
{
  if (options.UsesStream())
  {
    auto box = toRegion;
    box.Crop(fromRegion);
    if (box != toRegion)
    {
      voxelmaps::ClearCuda(to, toRegion.GetNumberOfPixels() * bytes, options);
    }
    voxelmaps::CopyBoxCuda(from, MakeBox(fromRegion, box), to, MakeBox(toRegion, box), bytes, execution, options);
    return;
  }
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
              bool isVerified, const voxelmaps::JobExecution & execution)
{
  const auto make = [&](auto pixel) {
    using PixelType = decltype(pixel);
    return MakeTypedMaskBytes(filter,
                              name,
                              static_cast<const PixelType *>(pixels),
                              static_cast<const PixelType *>(insideValue),
                              image,
                              region,
                              isVerified,
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

namespace
{
std::shared_ptr<const std::uint8_t[]>
ToBytes(const std::shared_ptr<void> & memory)
{
  return std::shared_ptr<const std::uint8_t[]>(memory, static_cast<const std::uint8_t *>(memory.get()));
}
} // namespace

std::shared_ptr<const std::uint8_t[]>
CopyToDevice(const std::uint8_t * bytes, SizeValueType count, const voxelmaps::JobExecution & execution,
             const JobMemory & memory)
{
  const std::shared_ptr<void> copy = memory.Allocate(count, JobMemory::Location::Device);
  const ImageRegion<2>        row{ Size<2>{ { count, 1 } } };
  voxelmaps::CudaOptions      options = memory.options;
  options.inputLocation = JobMemory::Location::Host;
  options.outputLocation = JobMemory::Location::Device;
  CopyPixels(bytes, row, copy.get(), row, 1, execution, options);
  return ToBytes(copy);
}

template <unsigned int VDimension>
std::shared_ptr<const std::uint8_t[]>
MakeDeviceMaskBytes(voxelmaps::PixelType pixelType, const void * pixels, const void * insideValue,
                    const ImageRegion<VDimension> & buffered, const ImageRegion<VDimension> & region,
                    const JobMemory & memory)
{
  const SizeValueType         voxels = buffered.GetNumberOfPixels();
  const std::shared_ptr<void> bytes = memory.Allocate(voxels, JobMemory::Location::Device);
  const auto                  values = voxelmaps::MakeMaskBytesCuda(pixelType,
                                                   pixels,
                                                   static_cast<std::int64_t>(voxels),
                                                   insideValue,
                                                   static_cast<std::uint8_t *>(bytes.get()),
                                                   memory.options);
  if (!values.hasInside || (insideValue == nullptr && values.hasSeveralValues))
  {
    return nullptr;
  }
  if (buffered == region)
  {
    return ToBytes(bytes);
  }
  const std::shared_ptr<void> part = memory.Allocate(region.GetNumberOfPixels(), JobMemory::Location::Device);
  voxelmaps::CudaOptions      options = memory.options;
  options.inputLocation = options.outputLocation = JobMemory::Location::Device;
  CopyPixels(bytes.get(), buffered, part.get(), region, 1, {}, options);
  return ToBytes(part);
}

template <unsigned int VDimension>
std::vector<voxelmaps::NonzeroPixel>
FindDeviceSeeds(voxelmaps::PixelType pixelType, const void * pixels, const ImageRegion<VDimension> & buffered,
                const ImageRegion<VDimension> & region, const JobMemory & memory)
{
  std::vector<voxelmaps::NonzeroPixel> seeds;
  for (const auto & seed : voxelmaps::FindNonzeroPixelsCuda(
         pixelType, pixels, static_cast<std::int64_t>(buffered.GetNumberOfPixels()), memory.options))
  {
    const auto index = GetIndex(buffered, seed.number);
    if (region.IsInside(index))
    {
      seeds.push_back({ GetVoxel(region, index), seed.value });
    }
  }
  return seeds;
}

SurroundingsOfSeeds::SurroundingsOfSeeds(const voxelmaps::FuzzyConnectednessInput & input,
                                         std::size_t bytesPerComponent, unsigned int margin,
                                         const voxelmaps::JobExecution & execution, const JobMemory & memory)
  : m_Input(input)
{
  if (memory.options.inputLocation == JobMemory::Location::Host || input.seeds.empty())
  {
    return;
  }
  const voxelmaps::Triple & size = input.size;
  const ImageRegion<3>      whole{ Size<3>{ { static_cast<SizeValueType>(size[0]),
                                              static_cast<SizeValueType>(size[1]),
                                              static_cast<SizeValueType>(size[2]) } } };
  Index<3>                  first = GetIndex(whole, input.seeds[0]);
  Index<3>                  last = first;
  for (const std::int64_t seed : input.seeds)
  {
    const Index<3> index = GetIndex(whole, seed);
    for (unsigned int d = 0; d < 3; ++d)
    {
      first[d] = std::min(first[d], index[d]);
      last[d] = std::max(last[d], index[d]);
    }
  }
  ImageRegion<3> box(first, Size<3>::Filled(1));
  box.SetUpperIndex(last);
  box.PadByRadius(margin);
  box.Crop(whole);
  const auto copy = [&](const void * from, std::size_t bytes) {
    voxelmaps::CudaOptions options = memory.options;
    options.outputLocation = JobMemory::Location::Host;
    auto to = memory.Allocate(box.GetNumberOfPixels() * bytes, JobMemory::Location::Host);
    CopyPixels(from, whole, to.get(), box, bytes, execution, options);
    return to;
  };
  m_Pixels = copy(input.image, bytesPerComponent * input.GetAffinityLength());
  m_Input.image = m_Pixels.get();
  if (input.mask != nullptr)
  {
    m_Mask = copy(input.mask, 1);
    m_Input.mask = static_cast<const std::uint8_t *>(m_Mask.get());
  }
  for (unsigned int d = 0; d < 3; ++d)
  {
    m_Input.size[d] = static_cast<std::int64_t>(box.GetSize(d));
  }
  for (std::int64_t & seed : m_Input.seeds)
  {
    seed = GetVoxel(box, GetIndex(whole, seed));
  }
}

#define VOXELMAPS_INSTANTIATE(dimension)                                                                               \
  template VoxelMaps_EXPORT std::vector<voxelmaps::NonzeroPixel> FindDeviceSeeds<dimension>(                           \
    voxelmaps::PixelType,                                                                                              \
    const void *,                                                                                                      \
    const ImageRegion<dimension> &,                                                                                    \
    const ImageRegion<dimension> &,                                                                                    \
    const JobMemory &);                                                                                                \
  template VoxelMaps_EXPORT std::shared_ptr<const std::uint8_t[]> MakeDeviceMaskBytes<dimension>(                      \
    voxelmaps::PixelType,                                                                                              \
    const void *,                                                                                                      \
    const void *,                                                                                                      \
    const ImageRegion<dimension> &,                                                                                    \
    const ImageRegion<dimension> &,                                                                                    \
    const JobMemory &);                                                                                                \
  template VoxelMaps_EXPORT void CopyPixels<dimension>(const void *,                                                   \
                                                       const ImageRegion<dimension> &,                                 \
                                                       void *,                                                         \
                                                       const ImageRegion<dimension> &,                                 \
                                                       std::size_t,                                                    \
                                                       const voxelmaps::JobExecution &,                                \
                                                       const voxelmaps::CudaOptions &);                                \
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
                                                                                     bool,                             \
                                                                                     const voxelmaps::JobExecution &)
VOXELMAPS_INSTANTIATE(2);
VOXELMAPS_INSTANTIATE(3);
#undef VOXELMAPS_INSTANTIATE
} // namespace VoxelMapsDetail
} // namespace itk
