// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayLevelJob_h
#define GrayLevelJob_h

#include "voxelmaps/GrayLevelDiscretization.h"

#include <cstdint>

// What the discretization of an array has in common on CPU and device.
namespace voxelmaps
{
/** Call visit with a pixel of the type. */
template <typename TVisit>
void
VisitPixelType(PixelType pixelType, const TVisit & visit)
{
  switch (pixelType)
  {
    case PixelType::Int8:
      return visit(std::int8_t{});
    case PixelType::UInt8:
      return visit(std::uint8_t{});
    case PixelType::Int16:
      return visit(std::int16_t{});
    case PixelType::UInt16:
      return visit(std::uint16_t{});
    case PixelType::Int32:
      return visit(std::int32_t{});
    case PixelType::UInt32:
      return visit(std::uint32_t{});
    case PixelType::Int64:
      return visit(std::int64_t{});
    case PixelType::UInt64:
      return visit(std::uint64_t{});
    case PixelType::Float:
      return visit(float{});
    case PixelType::Double:
      return visit(double{});
  }
}

inline std::int64_t
GetPixelSize(PixelType pixelType)
{
  std::int64_t size = 0;
  VisitPixelType(pixelType, [&size](auto pixel) { size = sizeof(pixel); });
  return size;
}

/** Throws EngineError if a job is invalid, whatever its intensities are. Returns its number of voxels. */
std::int64_t
VerifyGrayLevelJob(const GrayLevelDiscretizationJob & job);

/** The mask of the intensities that the range is found from. */
inline const std::uint8_t *
GetRangeMask(const GrayLevelDiscretizationJob & job)
{
  return job.parameters.rangeSource == GrayLevelDiscretizationEnums::RangeSource::Mask ? job.mask : nullptr;
}

inline GrayLevelDiscretizationResult
MakeGrayLevelResult(const GrayLevelDiscretization & discretization)
{
  return { discretization.GetRangeMinimum(), discretization.GetRangeMaximum(), discretization.GetNumberOfGrayLevels() };
}
} // namespace voxelmaps

#endif // GrayLevelJob_h
