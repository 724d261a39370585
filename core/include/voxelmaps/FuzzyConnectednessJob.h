// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessJob_h
#define voxelmaps_FuzzyConnectednessJob_h

#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** Maximum number of components of a voxel. */
constexpr unsigned int maxNumberOfComponents = 16;

/** \class FuzzyConnectednessAffinity
 * \brief Means and variances of an affinity function; mean vectors and covariance matrices if voxels have components.
 *
 * A scalar has one element of each, as a vector of one component. Of n components, means have n elements and matrices
 * n * n, in the order of rows. What the affinity function does not use may be empty, and so may a difference mean of 0.
 * For example, { { 110.0 }, { 400.0 }, {}, { 60.0 } } is the affinity of an object of mean 110 and variance 400.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessAffinity
{
  FuzzyConnectednessAffinity() = default;
  FuzzyConnectednessAffinity(std::vector<double> meanOfObject, std::vector<double> covarianceOfObject,
                             std::vector<double> meanOfDifference, std::vector<double> covarianceOfDifference)
    : objectMean(std::move(meanOfObject))
    , objectCovariance(std::move(covarianceOfObject))
    , differenceMean(std::move(meanOfDifference))
    , differenceCovariance(std::move(covarianceOfDifference))
  {}

  /** Mean of the intensities of the object: from -8.9e307 to 8.9e307. */
  std::vector<double> objectMean;
  /** Variance of the intensities of the object, or a symmetric positive definite matrix. Variances are from 1e-299 to
   * 1e307; of the variance of each component, at least 1e-12 is left if the components before it are known. */
  std::vector<double> objectCovariance;
  /** Mean of the differences between neighbors in the object, for WeightedSum. */
  std::vector<double> differenceMean;
  /** Variance of the differences for WeightedSum; mean square of half the difference for the other functions. */
  std::vector<double> differenceCovariance;

  bool
  operator==(const FuzzyConnectednessAffinity & other) const
  {
    return objectMean == other.objectMean && objectCovariance == other.objectCovariance &&
           differenceMean == other.differenceMean && differenceCovariance == other.differenceCovariance;
  }
  bool
  operator!=(const FuzzyConnectednessAffinity & other) const
  {
    return !(*this == other);
  }
};

/** \class FuzzyConnectednessInput
 * \brief An image, its mask and the seeds in it.
 *
 * Voxels are numbered in memory order.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessInput
{
  enum class PixelType : std::uint8_t
  {
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Float,
    Double
  };

  const void * image{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  /** 0 if the voxels are scalars. Otherwise, every voxel has so many components of the pixel type, one after the
   * other, and the affinity is that of vectors. */
  unsigned int numberOfComponents{ 0 };
  Triple       size{ { 0, 0, 0 } };
  /** Non-zero inside the mask, which the seeds of a FuzzyConnectednessJob must be; null if there is no mask. */
  const std::uint8_t *      mask{ nullptr };
  std::vector<std::int64_t> seeds;

  std::int64_t
  GetNumberOfVoxels() const
  {
    return size[0] * size[1] * size[2];
  }
  /** Number of elements of a mean of the affinity. */
  unsigned int
  GetAffinityLength() const
  {
    return numberOfComponents > 0 ? numberOfComponents : 1;
  }
};

/** \class FuzzyConnectednessProblem
 * \brief What the engines for one and for several objects have in common: the links between voxels, and the threads.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessProblem : FuzzyConnectednessInput
{
  using AffinityFunction = FuzzyConnectednessEnums::AffinityFunction;
  using Adjacency = FuzzyConnectednessEnums::Adjacency;

  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };
  AffinityFunction      affinityFunction{ AffinityFunction::GeometricMean };

  FuzzyConnectednessAffinity affinity;
  double                     weight{ 0.5 };
  double                     minimumStrength{ 0.0 };
  Adjacency                  adjacency{ Adjacency::Face };
  bool                       distanceWeighting{ false };

  /** Name of the method, as GetMethods and GetCudaMethods list them; empty for the fastest one. It does not affect the
   * result. */
  std::string method;

  JobExecution execution;

  /** Whether the CPU is the default for so few voxels even where a device is usable, which takes longer to start. */
  bool
  IsSmall() const
  {
    return this->GetNumberOfVoxels() < 8192;
  }
};

/** \class FuzzyConnectednessJob
 * \brief The complete input, parameters and output of a connectedness engine.
 *
 * Methods of the CPU, which uses Hierarchy, or Buckets with a minimum strength and up to three threads:
 * - Hierarchy merges voxels into ever larger components, then passes strengths down; all threads. The run time does not
 *   depend on the seeds. Images must have less than 2^32 links.
 * - Buckets settles the strongest voxel first, and every voxel once; one thread.
 * - Queue is the serial kFOE \cite Li2016 \cite Udupa1996, with a queue of voxels first in, first out; one thread,
 *   scalar images.
 *
 * Methods of CUDA, which uses Hierarchy: the same, and CorrectedKFOE, the corrected CUDA-kFOE of Li et al.
 * \cite Li2016, made exact by an atomic maximum.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessJob : FuzzyConnectednessProblem
{
  /** One strength per voxel, in [0, 1]: float, or double if outputIsDouble. The engines also use this memory during the
   * computation. */
  void * output{ nullptr };
  bool   outputIsDouble{ false };
};

/** \class FuzzyConnectednessReport
 * \brief How the CPU engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessReport
{
  /** The method that computed the strengths. */
  std::string method;
};

/** Compute the strengths of all voxels on the CPU. Results of all methods and numbers of workers are
 * bit-identical. Throws EngineError if the job is invalid, and UnsupportedMethodError. */
VoxelMapsCore_EXPORT FuzzyConnectednessReport
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job);

/** Names of the methods of the CPU that support a job, the one that an empty name chooses first. Pointers of the job
 * may be null. */
VoxelMapsCore_EXPORT std::vector<std::string>
                     GetMethods(const FuzzyConnectednessJob & job);
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessJob_h
