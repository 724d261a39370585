// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_ResponseMapJob_h
#define voxelmaps_ResponseMapJob_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"
#include "voxelmaps/FilterImageJob.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class ResponseMapEnums
 * \brief Enumerations of ResponseMapImageFilter, with the Boundary.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT ResponseMapEnums : public FilterImageEnums
{
public:
  /** \class Filter
   * \brief The filters of IBSI 2 that have kernels \cite Depeursinge2020.
   *
   * \ingroup VoxelMaps
   */
  enum class Filter : std::uint8_t
  {
    /** Mean of a box (section 3.1). */
    Mean = 0,
    /** Laplacian of a Gaussian, sampled at the voxels (section 3.2). */
    LaplacianOfGaussian,
    /** A Laws kernel, and its energy (section 3.3). */
    Laws,
    /** Modulus of a Gabor filter in planes (section 3.4). */
    Gabor,
    /** A subband of an undecimated separable wavelet transform, by the à trous algorithm (section 3.5). */
    Wavelet
  };

  /** \class Pooling
   * \brief How the responses to the rotations of a Laws kernel or a wavelet by right angles are combined.
   *
   * \ingroup VoxelMaps
   */
  enum class Pooling : std::uint8_t
  {
    /** There are no rotations. */
    None = 0,
    Mean,
    Maximum
  };
};

VOXELMAPS_ENUMERATOR_NAMES(ResponseMapEnums::Filter, "invalid filter", "Mean", "LaplacianOfGaussian", "Laws", "Gabor",
                           "Wavelet");
VOXELMAPS_ENUMERATOR_NAMES(ResponseMapEnums::Pooling, "invalid pooling", "None", "Mean", "Maximum");

/** \class ResponseMapParameters
 * \brief Parameters of response maps, with their defaults and validation. Each filter uses some of them.
 *
 * \ingroup VoxelMaps
 */
struct VoxelMapsCore_EXPORT ResponseMapParameters
{
  using FilterEnum = ResponseMapEnums::Filter;
  using PoolingEnum = ResponseMapEnums::Pooling;

  FilterEnum     filter{ FilterEnum::Mean };
  FilterBoundary boundary{ FilterBoundary::Mirror };
  /** 3, or 2 to filter each plane across z. */
  unsigned int filterDimension{ 3 };
  PoolingEnum  pooling{ PoolingEnum::None };

  /** For Mean: voxels of the box along each axis, an odd number. */
  unsigned int supportSize{ 5 };
  /** For LaplacianOfGaussian and Gabor: standard deviation, in the unit of the spacing. */
  double sigma{ 0.0 };
  /** For LaplacianOfGaussian: truncation of the kernel, in sigmas. */
  double cutoff{ 4.0 };
  /** For Laws: names along x, y and z, such as "E5L5S5", or "L5S5" in planes. */
  std::string kernels;
  /** For Laws: whether the map is the mean of the absolute responses, which are pooled before. */
  bool computeEnergy{ false };
  /** For Laws: radius of the energy in voxels along each axis. */
  unsigned int energyDistance{ 7 };
  /** For Gabor: wavelength in the unit of the spacing. */
  double wavelength{ 0.0 };
  /** For Gabor: standard deviation along the wave divided by that across it. */
  double gamma{ 1.0 };
  /** For Gabor: angle of the wave in radians, from the first axis of the plane to the second. */
  double angle{ 0.0 };
  /** For Gabor: if above 0, the mean over angles in these steps, in radians, from the angle to a turn beyond it, in the
   * planes xy and, if the FilterDimension is 3, xz and yz. Otherwise, there is one angle in the planes xy. */
  double angleStep{ 0.0 };
  /** For Wavelet: "haar", "db2", "db3" or "coif1". */
  std::string wavelet{ "coif1" };
  /** For Wavelet: the low-pass filter of the decomposition, in the order of PyWavelets, for any other wavelet. */
  std::vector<double> lowPassFilter;
  /** For Wavelet: the high-pass filter to the lowPassFilter; if empty, its quadrature mirror filter. */
  std::vector<double> highPassFilter;
  /** For Wavelet: letters along x, y and z, L for low-pass and H for high-pass, such as "LHL", or "LH" in planes. */
  std::string subband;
  /** For Wavelet: level of the decomposition, from 1. */
  unsigned int level{ 1 };

  /** Call visit(name, pointer to the member) for each parameter; names are those of the ITK filter. */
  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    using Parameters = ResponseMapParameters;
    visit("Filter", &Parameters::filter);
    visit("Boundary", &Parameters::boundary);
    visit("FilterDimension", &Parameters::filterDimension);
    visit("Pooling", &Parameters::pooling);
    visit("SupportSize", &Parameters::supportSize);
    visit("Sigma", &Parameters::sigma);
    visit("Cutoff", &Parameters::cutoff);
    visit("Kernels", &Parameters::kernels);
    visit("ComputeEnergy", &Parameters::computeEnergy);
    visit("EnergyDistance", &Parameters::energyDistance);
    visit("Wavelength", &Parameters::wavelength);
    visit("Gamma", &Parameters::gamma);
    visit("Angle", &Parameters::angle);
    visit("AngleStep", &Parameters::angleStep);
    visit("Wavelet", &Parameters::wavelet);
    visit("LowPassFilter", &Parameters::lowPassFilter);
    visit("HighPassFilter", &Parameters::highPassFilter);
    visit("Subband", &Parameters::subband);
    visit("Level", &Parameters::level);
  }

  /** Throws EngineError, which names the value, the rule and the remedy, if a parameter is invalid, or differs from its
   * default but has no effect on the filter. */
  void
  Verify() const;
};

/** \class ResponseMapJob
 * \brief The response of an image to a filter of IBSI 2.
 *
 * Arithmetic is that of FilterImageJob in double: results are bit-identical on all processors, for all numbers of
 * workers and for all output regions. The numbers of kernels are computed on the host, with the functions of its C
 * library.
 *
 * \ingroup VoxelMaps
 */
struct ResponseMapJob
{
  ResponseMapParameters parameters;

  /** One pixel of the pixel type per voxel. NaN and infinity spread as far as the filter reaches. */
  const void * pixels{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  Triple       size{ { 0, 0, 0 } };
  /** Size of a voxel. */
  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };

  /** The part of the array that has results. */
  Triple outputIndex{ { 0, 0, 0 } };
  Triple outputSize{ { 0, 0, 0 } };
  /** Float, or double if outputIsDouble. */
  void * output{ nullptr };
  bool   outputIsDouble{ false };

  /** Progress is reported in voxels of the output. */
  JobExecution execution;
};

/** \class ResponseMapInput
 * \brief Index and size of a part of an array.
 *
 * \ingroup VoxelMaps
 */
struct ResponseMapInput
{
  Triple index;
  Triple size;
};

/** The part of the array that has an effect on the output, whose addresses may be null. A job of this part alone, with
 * the same output, has the same bits. Throws EngineError if the job is invalid. */
VoxelMapsCore_EXPORT ResponseMapInput
GetResponseMapInput(const ResponseMapJob & job);

/** Compute the map on the CPU. Throws EngineError if the job is invalid or needs more memory than there is. */
VoxelMapsCore_EXPORT void
ComputeResponseMap(const ResponseMapJob & job);

/** The same on a CUDA device; bit-identical. */
VoxelMapsCore_EXPORT void
ComputeResponseMapCuda(const ResponseMapJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_ResponseMapJob_h
