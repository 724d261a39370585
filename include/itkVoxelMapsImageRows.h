// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsImageRows_h
#define itkVoxelMapsImageRows_h

#include "itkImage.h"
#include "itkVectorImage.h"
#include "voxelmaps/HostMemory.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace itk
{
/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
/** Call f(index, voxel, count) for the rows of a region, or their parts, that hold voxels begin ... end - 1 of the
 * region: each has count voxels from that index on, the first of which is that voxel of the region. */
template <typename TRegion, typename TFunction>
void
ForEachRow(const TRegion & region, std::int64_t begin, std::int64_t end, const TFunction & f)
{
  const auto length = static_cast<std::int64_t>(region.GetSize(0));
  for (std::int64_t voxel = begin; voxel < end;)
  {
    auto         index = region.GetIndex();
    std::int64_t rest = voxel;
    for (unsigned int d = 0; d < TRegion::ImageDimension; ++d)
    {
      index[d] += rest % static_cast<std::int64_t>(region.GetSize(d));
      rest /= static_cast<std::int64_t>(region.GetSize(d));
    }
    const std::int64_t count = std::min(end - voxel, length - voxel % length);
    f(index, voxel, count);
    voxel += count;
  }
}

template <typename TComponent, unsigned int VDimension>
std::true_type
IsVectorImage(const VectorImage<TComponent, VDimension> *);
std::false_type
IsVectorImage(const void *);

/** Whether the components of pixels are in the buffer of an itk::VectorImage. */
template <typename TImage>
constexpr bool isVectorImage = decltype(IsVectorImage(static_cast<const TImage *>(nullptr)))::value;

/** Whether the pixels of an image are in its buffer. Others compute them, such as itk::ImageAdaptor. */
template <typename TImage>
constexpr bool hasPixelsInBuffer =
  std::is_base_of<Image<typename TImage::PixelType, TImage::ImageDimension>, TImage>::value || isVectorImage<TImage>;

/** Number of elements of the buffer for each pixel. */
template <typename TImage>
std::int64_t
GetElementsPerPixel(const TImage * image)
{
  return isVectorImage<TImage> ? static_cast<std::int64_t>(image->GetNumberOfComponentsPerPixel()) : 1;
}

/** Throws itk::ExceptionObject if the buffer of an image does not hold its buffered region; nothing without an image.
 */
template <typename TImage>
void
VerifyBuffer(const TImage * image)
{
  if constexpr (hasPixelsInBuffer<TImage>)
  {
    if (image == nullptr)
    {
      return;
    }
    const SizeValueType elements =
      image->GetBufferedRegion().GetNumberOfPixels() * static_cast<SizeValueType>(GetElementsPerPixel(image));
    const auto * const  container = image->GetPixelContainer();
    const SizeValueType allocated = container == nullptr ? 0 : container->Size();
    if (allocated < elements)
    {
      itkGenericExceptionMacro("An image has a buffered region of "
                               << elements << (isVectorImage<TImage> ? " components" : " pixels")
                               << ", but its buffer has " << allocated << ": call Allocate().");
    }
  }
}

/** \class RowReader
 * \brief Pointers to the pixels of rows, which loops read faster than iterators.
 *
 * Images that compute their pixels, such as adaptors, are copied row by row.
 *
 * \ingroup VoxelMaps
 */
template <typename TImage>
class RowReader
{
public:
  /** Components, if there is a buffer of these. */
  using PixelType =
    std::conditional_t<isVectorImage<TImage>, typename TImage::InternalPixelType, typename TImage::PixelType>;

  explicit RowReader(const TImage * image)
    : m_Image(image)
  {}

  /** The pixels of a row from an index on, until the next call. */
  const PixelType *
  Read(const typename TImage::IndexType & index, std::int64_t count)
  {
    if constexpr (hasPixelsInBuffer<TImage>)
    {
      static_cast<void>(count);
      return m_Image->GetBufferPointer() + m_Image->ComputeOffset(index) * GetElementsPerPixel(m_Image);
    }
    else
    {
      if (count > m_Capacity)
      {
        // Not a vector: that of bool has no pointers to its elements. Compilers warn that other counts may be negative.
        m_Capacity = std::max<std::int64_t>(count, 1);
        m_Row.reset(new PixelType[static_cast<std::size_t>(m_Capacity)]);
      }
      auto at = index;
      for (std::int64_t i = 0; i < count; ++i, ++at[0])
      {
        m_Row[static_cast<std::size_t>(i)] = m_Image->GetPixel(at);
      }
      return m_Row.get();
    }
  }

private:
  const TImage *               m_Image;
  std::unique_ptr<PixelType[]> m_Row;
  std::int64_t                 m_Capacity{ 0 };
};

/** The type of an image with these pixels in its buffer. */
template <typename TImage>
using BufferedImage =
  std::conditional_t<hasPixelsInBuffer<TImage>, TImage, Image<typename TImage::PixelType, TImage::ImageDimension>>;

/** A copy of a region of an image, without its pipeline. */
template <typename TImage>
typename BufferedImage<TImage>::Pointer
CopyRegion(const TImage * image, const typename TImage::RegionType & region, const voxelmaps::JobExecution & execution)
{
  const auto copy = BufferedImage<TImage>::New();
  copy->CopyInformation(image);
  copy->SetBufferedRegion(region);
  copy->SetRequestedRegion(region);
  copy->Allocate();
  auto * const pixels = copy->GetBufferPointer();
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(region.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
      RowReader<TImage> reader(image);
      ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
        const auto * const row = reader.Read(index, count);
        const std::int64_t elements = GetElementsPerPixel(image);
        std::copy(row, row + count * elements, pixels + voxel * elements);
      });
    });
  return copy;
}

/** The requested region of an image, without its pipeline: a graft, or a copy if the image computes its pixels. */
template <typename TImage>
typename BufferedImage<TImage>::Pointer
MakeBufferedImage(const TImage * image, const voxelmaps::JobExecution & execution)
{
  VerifyBuffer(image);
  if constexpr (hasPixelsInBuffer<TImage>)
  {
    static_cast<void>(execution);
    const auto buffered = BufferedImage<TImage>::New();
    buffered->Graft(image);
    return buffered;
  }
  else
  {
    // Not a graft: that of an adaptor would lose its accessor.
    return CopyRegion(image, image->GetRequestedRegion(), execution);
  }
}

/** A region of an image, whose pixels follow each other in memory: a graft if that is the entire buffer, or a copy. */
template <typename TImage>
typename BufferedImage<TImage>::Pointer
MakeBufferedRegion(const TImage * image, const typename TImage::RegionType & region,
                   const voxelmaps::JobExecution & execution)
{
  if (image->GetBufferedRegion() == region)
  {
    return MakeBufferedImage(image, execution);
  }
  VerifyBuffer(image);
  return CopyRegion(image, region, execution);
}

/** \class OutputRegion
 * \brief The pixels of a region of an output, for engines that need them one after the other in memory.
 *
 * \ingroup VoxelMaps
 */
template <typename TImage>
class OutputRegion
{
public:
  using PixelType = typename TImage::PixelType;
  using RegionType = typename TImage::RegionType;

  /** Allocates the output, and memory for the region if that is only a part of it. */
  OutputRegion(TImage * output, const RegionType & region)
    : m_Output(output)
    , m_Region(region)
  {
    output->SetBufferedRegion(output->GetRequestedRegion());
    output->Allocate();
    if (output->GetBufferedRegion() != region)
    {
      // Not a vector: one thread would clear it.
      m_Pixels.reset(new PixelType[static_cast<std::size_t>(region.GetNumberOfPixels())]);
    }
    voxelmaps::UseHugePages(this->GetBufferPointer(),
                            static_cast<std::size_t>(region.GetNumberOfPixels()) * sizeof(PixelType));
  }

  PixelType *
  GetBufferPointer()
  {
    return m_Pixels ? m_Pixels.get() : m_Output->GetBufferPointer();
  }

  /** Put the pixels into the output, with zeros around them. */
  void
  Write(const voxelmaps::JobExecution & execution)
  {
    if (!m_Pixels)
    {
      return;
    }
    const RegionType  whole = m_Output->GetBufferedRegion();
    PixelType * const to = m_Output->GetBufferPointer();
    const auto        length = static_cast<std::int64_t>(m_Region.GetSize(0));
    voxelmaps::ForEachRangeOfVoxels(
      static_cast<std::int64_t>(whole.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
        ForEachRow(whole, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
          std::fill(to + voxel, to + voxel + count, PixelType{});
          std::int64_t offset = 0; // of the row of the region
          std::int64_t stride = length;
          for (unsigned int d = 1; d < TImage::ImageDimension; ++d)
          {
            const std::int64_t at = index[d] - m_Region.GetIndex(d);
            if (at < 0 || at >= static_cast<std::int64_t>(m_Region.GetSize(d)))
            {
              return;
            }
            offset += at * stride;
            stride *= static_cast<std::int64_t>(m_Region.GetSize(d));
          }
          const std::int64_t at = index[0] - m_Region.GetIndex(0);
          const std::int64_t first = std::max<std::int64_t>(at, 0);
          const std::int64_t last = std::min(at + count, length);
          if (first < last)
          {
            std::copy(m_Pixels.get() + offset + first, m_Pixels.get() + offset + last, to + voxel + first - at);
          }
        });
      });
  }

private:
  TImage *                     m_Output;
  const RegionType             m_Region;
  std::unique_ptr<PixelType[]> m_Pixels;
};
} // namespace VoxelMapsDetail
} // namespace itk

#endif // itkVoxelMapsImageRows_h
