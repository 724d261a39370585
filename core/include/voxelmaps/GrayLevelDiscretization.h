// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_GrayLevelDiscretization_h
#define voxelmaps_GrayLevelDiscretization_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/GrayLevelDiscretizationParameters.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>

namespace voxelmaps
{
/** Types of pixels in plain memory. */
enum class PixelType : std::uint8_t
{
  Int8 = 0,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float,
  Double
};

/** Names of the enumerators, which are printed. */
constexpr auto
GetEnumeratorNames(PixelType)
{
  return MakeEnumeratorNames(
    { "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double" },
    "invalid pixel type");
}

/** Whether there is a PixelType for an arithmetic type: for all integer types, float and double. */
template <typename TPixel>
constexpr bool hasPixelType =
  std::is_integral<TPixel>::value || std::is_same<TPixel, float>::value || std::is_same<TPixel, double>::value;

/** The PixelType of an arithmetic type. Integer types of the same size and sign share one, such as long and long long.
 */
template <typename TPixel>
constexpr PixelType
GetPixelType()
{
  static_assert(hasPixelType<TPixel>, "There is no PixelType for this type");
  if constexpr (std::is_integral<TPixel>::value)
  {
    constexpr PixelType first = sizeof(TPixel) == 1   ? PixelType::Int8
                                : sizeof(TPixel) == 2 ? PixelType::Int16
                                : sizeof(TPixel) == 4 ? PixelType::Int32
                                                      : PixelType::Int64;
    return static_cast<PixelType>(static_cast<unsigned int>(first) + (std::is_signed<TPixel>::value ? 0 : 1));
  }
  else
  {
    return sizeof(TPixel) == sizeof(float) ? PixelType::Float : PixelType::Double;
  }
}

/** \class IntensityRange
 * \brief Minimum and maximum finite intensity of the voxels of rows.
 *
 * Each thread adds its rows to a range of its own. The result of merging these does not depend on the order.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT IntensityRange
{
public:
  /** Add pixels; if the mask is not null, only those where it is not 0. */
  void
  AddRow(PixelType pixelType, const void * pixels, const std::uint8_t * mask, std::int64_t count);

  /** Add pixels by their minimum and maximum finite intensity, infinity and negative infinity if there is none, and the
   * number of those without a mask. */
  void
  AddRange(double minimum, double maximum, std::int64_t numberOfUnmaskedPixels);

  void
  Merge(const IntensityRange & other);

  /** Whether no finite intensity has been added. */
  bool
  IsEmpty() const
  {
    return m_Minimum > m_Maximum;
  }

  /** Infinity if empty. */
  double
  GetMinimum() const
  {
    return m_Minimum;
  }
  /** Negative infinity if empty. */
  double
  GetMaximum() const
  {
    return m_Maximum;
  }

  /** Number of pixels that were added without a mask, whether finite or not. */
  std::int64_t
  GetNumberOfUnmaskedPixels() const
  {
    return m_NumberOfUnmaskedPixels;
  }

private:
  template <typename TPixel, typename TIsInside>
  void
  Add(const TPixel * pixels, std::int64_t count, const TIsInside & isInside);

  double       m_Minimum{ std::numeric_limits<double>::infinity() };
  double       m_Maximum{ -std::numeric_limits<double>::infinity() };
  std::int64_t m_NumberOfUnmaskedPixels{ 0 };
};

/** \class GrayLevelDiscretization
 * \brief Maps the intensities of rows to gray levels.
 *
 * GrayLevelDiscretizationEnums::Method defines the levels. NaN and masked voxels get level 0, and intensities outside
 * the range are clamped to it. Intensities are converted to double precision, so 64-bit integers beyond
 * \f$2^{53}\f$ are rounded.
 *
 * \sa DiscretizeGrayLevels, which does this for an array.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT GrayLevelDiscretization
{
public:
  /** The range of the intensities is used only if parameters.NeedsWholeInput(). Throws EngineError, which names the
   * value and the rule, if a parameter is invalid, if there is no range, or if there are more levels than possible. */
  GrayLevelDiscretization(const GrayLevelDiscretizationParameters & parameters, PixelType pixelType,
                          const IntensityRange & range);
  GrayLevelDiscretization(const GrayLevelDiscretization &) = delete;
  GrayLevelDiscretization &
  operator=(const GrayLevelDiscretization &) = delete;

  /** The range of intensities that is divided into levels. */
  double
  GetRangeMinimum() const
  {
    return m_Minimum;
  }
  double
  GetRangeMaximum() const
  {
    return m_Maximum;
  }

  /** The largest level that an intensity can get. */
  unsigned int
  GetNumberOfGrayLevels() const
  {
    return m_NumberOfGrayLevels;
  }

  /** Compute the levels of pixels of the type given to the constructor; 0 where there is a mask and it is 0. Threads
   * may call this concurrently. */
  void
  DiscretizeRow(const void * pixels, const std::uint8_t * mask, std::int64_t count, std::uint16_t * levels);

  /** Tell of an intensity that is not a valid level (Identity, Levels), for levels that were not computed by
   * DiscretizeRow. Threads may call this concurrently. */
  void
  AddInvalidIntensity(double intensity);

  /** Throws EngineError if a row had intensities that are not valid levels (Identity, Levels). It names the smallest.
   * To be called after all rows. */
  void
  VerifyIntensities() const;

private:
  friend struct GrayLevelFormula;
  using MethodEnum = GrayLevelDiscretizationEnums::Method;

  void
  SetRange(const IntensityRange & range);
  void
  SetNumberOfGrayLevels();

  template <typename TPixel>
  void
  Discretize(const TPixel * pixels, std::int64_t count, std::uint16_t * levels) const;
  template <typename TPixel>
  void
  FindInvalid(const TPixel * pixels, const std::uint8_t * mask, std::int64_t count, const std::uint16_t * levels);

  const GrayLevelDiscretizationParameters m_Parameters;
  const PixelType                         m_PixelType;

  double       m_Minimum{ 0.0 };
  double       m_Maximum{ 0.0 };
  unsigned int m_NumberOfGrayLevels{ 0 };

  // Factor of intensities and widths with which products with the range are finite; a power of two changes no level.
  double m_Scale{ 1.0 };

  std::mutex            m_Mutex;
  std::optional<double> m_SmallestInvalid;
};

/** \class GrayLevelDiscretizationJob
 * \brief The complete input, parameters and output of the discretization of an array.
 *
 * \ingroup VoxelMaps
 */
struct GrayLevelDiscretizationJob
{
  /** One pixel of the pixel type per voxel. */
  const void * pixels{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  Triple       size{ { 0, 0, 0 } };
  /** One byte per voxel, 0 where a voxel is absent; null if there is no mask. */
  const std::uint8_t *              mask{ nullptr };
  GrayLevelDiscretizationParameters parameters;
  /** One level per voxel: 1..numberOfGrayLevels, 0 where a voxel is absent. */
  std::uint16_t * levels{ nullptr };

  JobExecution execution;
};

/** \class GrayLevelDiscretizationResult
 * \brief The range of intensities that a discretization used, and the largest level that it could produce.
 *
 * \ingroup VoxelMaps
 */
struct GrayLevelDiscretizationResult
{
  double       rangeMinimum{ 0.0 };
  double       rangeMaximum{ 0.0 };
  unsigned int numberOfGrayLevels{ 0 };
};

/** Compute the levels of all voxels on the CPU. The result depends only on intensities, mask and parameters; it is
 * identical for all numbers of workers. Throws EngineError if the job is invalid, if no intensity is finite but the
 * range has to be found (an empty mask gives level 0 everywhere instead), if the bin width leads to too many levels, or
 * if an intensity is not a valid level (Identity, Levels). The levels are undefined after an exception. */
VoxelMapsCore_EXPORT GrayLevelDiscretizationResult
DiscretizeGrayLevels(const GrayLevelDiscretizationJob & job);

/** The same on a CUDA device; identical. Pixels and mask are where options.inputLocation says, levels where
 * options.outputLocation says. Pixels and mask in host memory are not used after the return. Levels in device memory
 * may be computed after it, in the stream, which the function waits for only if the range has to be found, and for
 * Identity and Levels. Also throws EngineError if the device cannot be used, or has too little memory. */
VoxelMapsCore_EXPORT GrayLevelDiscretizationResult
DiscretizeGrayLevelsCuda(const GrayLevelDiscretizationJob & job, const CudaOptions & options);

/** Whether a float does not hold every intensity of a type, so that TextureFeatureMapJob needs intensities of type
 * double: false for float and integers of at most 16 bits. */
constexpr bool
NeedsDoubleIntensities(PixelType pixelType)
{
  return pixelType > PixelType::UInt16 && pixelType != PixelType::Float;
}

/** Compute the intensities of a TextureFeatureMapJob: pixels converted to float, or to double if intensitiesAreDouble,
 * where the level is not 0, and quiet NaN elsewhere. Negative zero becomes positive. Each array has count elements.
 * Throws EngineError if the pixel type does not exist. */
VoxelMapsCore_EXPORT void
SelectIntensities(PixelType pixelType, const void * pixels, const std::uint16_t * levels, std::int64_t count,
                  void * intensities, bool intensitiesAreDouble, const JobExecution & execution);

/** The same on a CUDA device, for arrays in device memory. The function returns without waiting for the stream. Throws
 * EngineError if the pixel type does not exist, if a location is host memory, or if the device cannot be used. */
VoxelMapsCore_EXPORT void
SelectIntensitiesCuda(PixelType pixelType, const void * pixels, const std::uint16_t * levels, std::int64_t count,
                      void * intensities, bool intensitiesAreDouble, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_GrayLevelDiscretization_h
