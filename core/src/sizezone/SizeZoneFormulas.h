// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneFormulas_h
#define SizeZoneFormulas_h

#include "voxelmaps/SizeZoneFeatureMapEnums.h"
#include "texture/SizeMatrix.h"

namespace voxelmaps
{
/** The feature of a matrix by level and size, whose entries are zones. */
VOXELMAPS_HOST_DEVICE constexpr SizeMatrixFeature
ToSizeMatrixFeature(SizeZoneFeatureMapEnums::Feature feature)
{
  using Feature = SizeZoneFeatureMapEnums::Feature;
  switch (feature)
  {
    case Feature::GrayLevelNonUniformity:
      return SizeMatrixFeature::LevelNonUniformity;
    case Feature::GrayLevelNonUniformityNormalized:
      return SizeMatrixFeature::LevelNonUniformityNormalized;
    case Feature::GrayLevelVariance:
      return SizeMatrixFeature::LevelVariance;
    case Feature::HighGrayLevelZoneEmphasis:
      return SizeMatrixFeature::HighLevelEmphasis;
    case Feature::LargeAreaEmphasis:
      return SizeMatrixFeature::LargeEmphasis;
    case Feature::LargeAreaHighGrayLevelEmphasis:
      return SizeMatrixFeature::LargeHighLevelEmphasis;
    case Feature::LargeAreaLowGrayLevelEmphasis:
      return SizeMatrixFeature::LargeLowLevelEmphasis;
    case Feature::LowGrayLevelZoneEmphasis:
      return SizeMatrixFeature::LowLevelEmphasis;
    case Feature::SizeZoneNonUniformity:
      return SizeMatrixFeature::SizeNonUniformity;
    case Feature::SizeZoneNonUniformityNormalized:
      return SizeMatrixFeature::SizeNonUniformityNormalized;
    case Feature::SmallAreaEmphasis:
      return SizeMatrixFeature::SmallEmphasis;
    case Feature::SmallAreaHighGrayLevelEmphasis:
      return SizeMatrixFeature::SmallHighLevelEmphasis;
    case Feature::SmallAreaLowGrayLevelEmphasis:
      return SizeMatrixFeature::SmallLowLevelEmphasis;
    case Feature::ZoneEntropy:
      return SizeMatrixFeature::Entropy;
    case Feature::ZonePercentage:
      return SizeMatrixFeature::Percentage;
    case Feature::ZoneVariance:
      return SizeMatrixFeature::SizeVariance;
  }
  return SizeMatrixFeature::Percentage;
}

/** A zone in a list: the level in the upper 16 bits, the number of voxels in the lower ones. */
VOXELMAPS_HOST_DEVICE constexpr std::uint32_t
MakeZone(std::uint32_t level, std::uint32_t size)
{
  return level << 16 | size;
}
VOXELMAPS_HOST_DEVICE constexpr std::uint32_t
ZoneLevel(std::uint32_t zone)
{
  return zone >> 16;
}
VOXELMAPS_HOST_DEVICE constexpr std::uint32_t
ZoneSize(std::uint32_t zone)
{
  return zone & 0xffffu;
}
} // namespace voxelmaps

#endif // SizeZoneFormulas_h
