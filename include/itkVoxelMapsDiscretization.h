// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsDiscretization_h
#define itkVoxelMapsDiscretization_h

#include "VoxelMapsExport.h"
#include "itkVoxelMapsEngineCall.h"
#include "itkVoxelMapsImageRows.h"
#include "voxelmaps/GrayLevelDiscretization.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <type_traits>
#include <vector>

namespace itk
{
namespace VoxelMapsDetail
{
/** Print the parameters of a discretization; the method has another name in each filter. */
VoxelMaps_EXPORT void
PrintParameters(std::ostream & os, Indent indent, const voxelmaps::GrayLevelDiscretizationParameters & parameters,
                const char * methodName);

/** Discretizes the rows of an image. If there is a mask, only its voxels of this value are present. */
template <typename TImage, typename TMaskImage>
class RowDiscretizer
{
public:
  using RegionType = typename TImage::RegionType;
  using PixelType = typename TImage::PixelType;
  using MaskPixelType = typename TMaskImage::PixelType;

  RowDiscretizer(const TImage * image, const TMaskImage * mask, MaskPixelType inside)
    : m_Image(image)
    , m_Mask(mask)
    , m_Inside(inside)
  {
    VerifyBuffer(image);
    VerifyBuffer(mask);
  }

  /** The range of finite intensities that the parameters ask for, of the whole image; empty if they need none. */
  voxelmaps::IntensityRange
  FindRange(const voxelmaps::GrayLevelDiscretizationParameters & parameters,
            const voxelmaps::JobExecution &                      execution) const
  {
    voxelmaps::IntensityRange range;
    if (parameters.NeedsWholeInput())
    {
      const bool       isMasked = parameters.rangeSource == voxelmaps::GrayLevelDiscretizationEnums::RangeSource::Mask;
      const RegionType region = m_Image->GetLargestPossibleRegion();
      std::mutex       mutex;
      voxelmaps::ForEachRangeOfVoxels(
        static_cast<std::int64_t>(region.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
          voxelmaps::IntensityRange part;
          this->ForEachMaskedRow(
            region, begin, end, isMasked, [&](const auto &, auto * pixels, auto * mask, std::int64_t count) {
              part.AddRow(pixelType, pixels, mask, count);
            });
          const std::lock_guard<std::mutex> lock(mutex);
          range.Merge(part);
        });
    }
    return range;
  }

  /** Compute the levels of voxels begin ... end - 1 of a region. */
  template <typename TLevelImage>
  void
  Discretize(voxelmaps::GrayLevelDiscretization & discretization, const RegionType & region, std::int64_t begin,
             std::int64_t end, TLevelImage * output) const
  {
    using LevelType = typename TLevelImage::PixelType;
    std::vector<std::uint16_t> converted;
    this->ForEachMaskedRow(
      region, begin, end, true, [&](const auto & index, auto * pixels, auto * mask, std::int64_t count) {
        LevelType * const levels = output->GetBufferPointer() + output->ComputeOffset(index);
        if constexpr (std::is_same<LevelType, std::uint16_t>::value)
        {
          discretization.DiscretizeRow(pixels, mask, count, levels);
        }
        else
        {
          converted.resize(static_cast<std::size_t>(count));
          discretization.DiscretizeRow(pixels, mask, count, converted.data());
          std::transform(
            converted.begin(), converted.end(), levels, [](auto level) { return static_cast<LevelType>(level); });
        }
      });
  }

  static constexpr voxelmaps::PixelType pixelType = voxelmaps::GetPixelType<PixelType>();

private:
  /** Call f(index, pixels, bytes of the mask, count) for the rows of voxels begin ... end - 1 of a region. */
  template <typename TFunction>
  void
  ForEachMaskedRow(const RegionType & region, std::int64_t begin, std::int64_t end, bool isMasked,
                   const TFunction & f) const
  {
    const TMaskImage * const  mask = isMasked ? m_Mask : nullptr;
    RowReader<TImage>         reader(m_Image);
    RowReader<TMaskImage>     maskReader(mask);
    std::vector<std::uint8_t> bytes;
    ForEachRow(region, begin, end, [&](const auto & index, std::int64_t, std::int64_t count) {
      if (mask != nullptr)
      {
        const MaskPixelType * const values = maskReader.Read(index, count);
        bytes.resize(static_cast<std::size_t>(count));
        std::transform(values, values + count, bytes.begin(), [inside = m_Inside](MaskPixelType value) {
          return static_cast<std::uint8_t>(value == inside ? 1 : 0);
        });
      }
      f(index, reader.Read(index, count), mask != nullptr ? bytes.data() : nullptr, count);
    });
  }

  const TImage *      m_Image;
  const TMaskImage *  m_Mask;
  const MaskPixelType m_Inside;
};
} // namespace VoxelMapsDetail
} // namespace itk

#endif // itkVoxelMapsDiscretization_h
