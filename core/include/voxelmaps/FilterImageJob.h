// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FilterImageJob_h
#define voxelmaps_FilterImageJob_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class FilterImageEnums
 * \brief Enumerations of FilterImageJob.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT FilterImageEnums
{
public:
  /** \class Boundary
   * \brief What a convolution reads beyond the ends of an image, here of the voxels a b c d.
   *
   * \ingroup VoxelMaps
   */
  enum class Boundary : std::uint8_t
  {
    Zero = 0,
    /** a a | a b c d | d d */
    Nearest,
    /** c d | a b c d | a b */
    Periodic,
    /** b a | a b c d | d c, the mirror of IBSI and the reflect of SciPy. */
    Mirror,
    /** c b | a b c d | c b, the mirror of SciPy. */
    MirrorWithoutEdge
  };

  /** \class Combination
   * \brief How the terms of an image are combined.
   *
   * \ingroup VoxelMaps
   */
  enum class Combination : std::uint8_t
  {
    Sum = 0,
    /** The root of the sum of their squares. */
    Magnitude,
    /** Terms are added in their order. */
    Mean,
    Maximum
  };
};
using FilterBoundary = FilterImageEnums::Boundary;
using FilterCombination = FilterImageEnums::Combination;

VOXELMAPS_ENUMERATOR_NAMES(FilterBoundary, "invalid boundary", "Zero", "Nearest", "Periodic", "Mirror",
                           "MirrorWithoutEdge");
VOXELMAPS_ENUMERATOR_NAMES(FilterCombination, "invalid combination", "Sum", "Magnitude", "Mean", "Maximum");

/** \class AxisFilter
 * \brief A filter along one axis: a recursive Gaussian or one of its derivatives, or a convolution; or a Gabor filter
 * in the planes of two axes.
 *
 * \ingroup VoxelMaps
 */
struct AxisFilter
{
  /** 0 for x, 1 for y, 2 for z. */
  unsigned int axis{ 0 };

  /** Standard deviation of a recursive Gaussian or a Gabor filter in the unit of the spacing; 0 for a convolution.
   * Values of recursive Gaussians are those of itk::RecursiveGaussianImageFilter (Deriche's recursion of order 4;
   * voxels beyond an end are those of the end). */
  double sigma{ 0.0 };
  /** Order of the derivative, 0 to 2, in the unit of the spacing. */
  unsigned int order{ 0 };
  /** Multiply the derivative by sigma to the power of its order. */
  bool normalizeAcrossScale{ false };

  /** Result at i is the sum of kernel[j] * input[i + origin - j], in ascending order of j. Where a periodic input
   * begins again at its end, the terms beyond the end come first, in descending order of j, as in PyWavelets. */
  std::vector<double> kernel;
  std::int64_t        origin{ 0 };
  /** Boundary of a convolution or a Gabor filter; recursive filters ignore it. */
  FilterBoundary boundary{ FilterBoundary::Zero };

  /** Wavelength of a Gabor filter in the unit of the spacing; 0 for other filters. The result is the modulus of the sum
   * of voxels times exp(-(u^2 + gamma^2 v^2) / (2 sigma^2) + 2 pi i u / wavelength), where u and v are the coordinates
   * along and across the direction, relative to the voxel of the result; voxels whose envelope is below exp(-18) are
   * ignored. The sum begins with the voxel of the result. For each earlier voxel of the kernel, in ascending order
   * along the axis, then along the second axis, it adds the even factor times the sum (real part), and the odd factor
   * times the difference (imaginary part), of this voxel and the opposite one. */
  double wavelength{ 0.0 };
  /** Above the axis. */
  unsigned int secondAxis{ 0 };
  /** Standard deviation along the direction divided by that across it. */
  double gamma{ 1.0 };
  /** Angle of the direction in radians, from the axis to the second axis. */
  double angle{ 0.0 };
};

/** \class FilterTerm
 * \brief Filters along axes, one after the other, and a factor.
 *
 * \ingroup VoxelMaps
 */
struct FilterTerm
{
  std::vector<AxisFilter> filters;
  double                  factor{ 1.0 };
};

/** \class FilteredImage
 * \brief The combination of terms, or its absolute value.
 *
 * \ingroup VoxelMaps
 */
struct FilteredImage
{
  std::vector<FilterTerm> terms;
  FilterCombination       combination{ FilterCombination::Sum };
  bool                    isAbsolute{ false };
};

/** \class GaborFilter
 * \brief The Gabor filter of IBSI 2: the modulus of the response, or its mean over directions and planes.
 *
 * \ingroup VoxelMaps
 */
struct GaborFilter
{
  /** See AxisFilter. */
  double         sigma{ 0.0 };
  double         wavelength{ 0.0 };
  double         gamma{ 1.0 };
  double         angle{ 0.0 };
  FilterBoundary boundary{ FilterBoundary::Mirror };

  /** If above 0, the mean over angles in these steps, from the angle to a turn beyond it. */
  double angleStep{ 0.0 };
  /** The mean over the planes xy, xz and yz, instead of xy alone. */
  bool hasAllPlanes{ false };
};

/** The image of a Gabor filter: its terms are the planes and, within these, the angles, with the factor 1 divided by
 * their number. Angles that differ by half a turn have the same modulus and are computed once. Throws EngineError if
 * there are more than 4096 angles. */
VoxelMapsCore_EXPORT FilteredImage
MakeGaborImage(const GaborFilter & filter);

/** \class FilterImageJob
 * \brief Filtered images of one image; terms that begin with the same filters share their results.
 *
 * Arithmetic is that of doubles in a fixed order, so that results are bit-identical on all processors and for all
 * numbers of workers. The coefficients of recursive filters and the kernels of Gabor filters are computed on the host,
 * with the functions of its C library.
 *
 * \ingroup VoxelMaps
 */
struct FilterImageJob
{
  /** One pixel of the pixel type per voxel. */
  const void * pixels{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  Triple       size{ { 0, 0, 0 } };
  /** Number of planes from the beginning of each axis, 0 or 1, that are repeated after its end: PyRadiomics makes sizes
   * even for wavelets. */
  Triple appended{ { 0, 0, 0 } };
  /** Size of a voxel. */
  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };

  std::vector<FilteredImage> images;
  /** Round the results of each filter and of sums to float, and compute convolutions with floats: as ITK's filters of
   * images do, and PyWavelets for images of floats. Gabor filters then have sums of floats. */
  bool isSingle{ false };
  /** Recursive filters begin at the ends of the image, even if voxels so far away do not matter in double precision:
   * their results do not depend on the output region then. */
  bool usesEntireLines{ false };

  /** The part of the array that has results. */
  Triple outputIndex{ { 0, 0, 0 } };
  Triple outputSize{ { 0, 0, 0 } };
  /** One image after the other: float, or double if outputIsDouble. */
  void * output{ nullptr };
  bool   outputIsDouble{ false };

  /** Bytes of memory that the job may use in addition to its arrays; 0 for the memory of the machine or the device. */
  std::uint64_t memoryBudget{ 0 };

  /** Progress is reported in voxels of the output of all images. */
  JobExecution execution;
};

/** Bytes of results and sums that a job has in memory at most, in addition to its input and output. Throws EngineError
 * if the job is invalid. */
VoxelMapsCore_EXPORT std::uint64_t
                     GetFilterMemory(const FilterImageJob & job);

/** Compute the images on the CPU. Throws EngineError if the job is invalid or needs more memory than there is. */
VoxelMapsCore_EXPORT void
FilterImage(const FilterImageJob & job);

/** The same on a CUDA device; bit-identical. */
VoxelMapsCore_EXPORT void
FilterImageCuda(const FilterImageJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_FilterImageJob_h
