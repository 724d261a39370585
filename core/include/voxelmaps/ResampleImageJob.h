// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_ResampleImageJob_h
#define voxelmaps_ResampleImageJob_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>

namespace voxelmaps
{
/** \class ResampleImageEnums
 * \brief Enumerations of ResampleImageJob.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT ResampleImageEnums
{
public:
  /** \class Interpolation
   * \brief How values between voxels are found.
   *
   * \ingroup VoxelMaps
   */
  enum class Interpolation : std::uint8_t
  {
    /** That of the nearest voxel, and the one with the greater index if two are equally near: pixels are copied. */
    NearestNeighbor = 0,
    /** Linear along each axis. */
    Linear,
    /** The B-spline of an order that has the intensities at all voxels, mirrored at the first and the last voxel
     * of an axis \cite Unser1999. */
    BSpline
  };
};

VOXELMAPS_ENUMERATOR_NAMES(ResampleImageEnums::Interpolation, "invalid interpolation", "NearestNeighbor", "Linear",
                           "BSpline");

/** \class ImageGrid
 * \brief Where the voxels of an image are, as ITK has it.
 *
 * \ingroup VoxelMaps
 */
struct ImageGrid
{
  Triple size{ { 0, 0, 0 } };
  /** Position of the first voxel, in mm. */
  std::array<double, 3> origin{ { 0.0, 0.0, 0.0 } };
  /** From one voxel to the next, in mm. */
  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };
  /** The columns are the directions of the axes; row by row. */
  std::array<double, 9> direction{ { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 } };
};

/** \class ResampleImageJob
 * \brief The values of an image at the voxels of another grid.
 *
 * Values are those of ITK's ResampleImageFilter with an identity transform, NearestNeighborInterpolateImageFunction,
 * LinearInterpolateImageFunction, and BSplineInterpolateImageFunction: the same operations in double, in the same
 * order. Voxels that are more than half a voxel outside of the image have the default value. For integers, fractions
 * are cut off, and values beyond the type are clamped; floats are clamped to finite values.
 *
 * B-spline coefficients are computed for the part of the image that the output needs, and a margin, without which the
 * values would differ by less than \f$2^{-53}\f$ of the greatest intensity.
 *
 * \ingroup VoxelMaps
 */
struct ResampleImageJob
{
  using InterpolationEnum = ResampleImageEnums::Interpolation;

  /** One pixel of the pixel type per voxel. NaN and infinity have an effect on the values around them; B-splines of
   * order 2 and more, whose coefficients all depend on them, do not accept them. */
  const void * pixels{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  ImageGrid    inputGrid;
  /** Dimension of image and output: 2 or 3. With 2, sizes along z are 1, and the rest of the grids along z is not used.
   */
  unsigned int dimension{ 3 };

  InterpolationEnum interpolation{ InterpolationEnum::BSpline };
  /** Order of the B-spline: 0 to 5. */
  unsigned int splineOrder{ 3 };
  double       defaultValue{ 0.0 };

  /** One pixel of the output type per voxel of the output grid: the pixel type, Float or Double. */
  void *    output{ nullptr };
  PixelType outputType{ PixelType::Float };
  ImageGrid outputGrid;

  /** Progress is reported in voxels of the output. */
  JobExecution execution;
};

/** Compute the values on the CPU; they are identical for all numbers of workers. Throws EngineError if the job is
 * invalid, if the coefficients do not fit into memory, or for NaN and infinity in the part of the image that a B-spline
 * of order 2 and more needs. The output is undefined after an exception. */
VoxelMapsCore_EXPORT void
ResampleImage(const ResampleImageJob & job);

/** The same on a CUDA device; identical. Pixels are where options.inputLocation says, and the output where
 * options.outputLocation says; it may be computed after the return if it is in device memory. Also throws EngineError
 * if the device cannot be used, or has too little memory. */
VoxelMapsCore_EXPORT void
ResampleImageCuda(const ResampleImageJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_ResampleImageJob_h
