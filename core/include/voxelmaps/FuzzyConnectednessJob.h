// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessJob_h
#define voxelmaps_FuzzyConnectednessJob_h

#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/Job.h"

#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** Maximum number of components of a voxel. */
constexpr unsigned int maxNumberOfComponents = 16;

/** \class VectorAffinity
 * \brief Mean vectors and covariance matrices of an affinity, for images whose voxels have several components.
 *
 * Matrices are in the order of rows. What an affinity function does not use may be empty.
 *
 * \ingroup VoxelMaps
 */
struct VectorAffinity
{
  std::vector<double> objectMean;
  std::vector<double> objectCovariance;
  std::vector<double> differenceMean;
  std::vector<double> differenceCovariance;

  bool
  operator==(const VectorAffinity & other) const
  {
    return objectMean == other.objectMean && objectCovariance == other.objectCovariance &&
           differenceMean == other.differenceMean && differenceCovariance == other.differenceCovariance;
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
  double                objectMean{ 0.0 };
  double                objectVariance{ 1.0 };
  double                differenceMean{ 0.0 };
  double                differenceVariance{ 1.0 };
  VectorAffinity        vectors; // in place of the four values above, if voxels have components
  double                weight{ 0.5 };
  double                minimumStrength{ 0.0 };
  Adjacency             adjacency{ Adjacency::Face };
  bool                  distanceWeighting{ false };

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
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessJob : FuzzyConnectednessProblem
{
  using Method = FuzzyConnectednessEnums::Method;

  /** Method of the CPU engine; it does not affect the result. */
  Method method{ Method::Automatic };

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
  /** The method that computed the strengths, which is not always that of the job; never Automatic. */
  FuzzyConnectednessJob::Method method{ FuzzyConnectednessJob::Method::Automatic };
};

/** Compute the strengths of all voxels on the CPU. Results of all methods and numbers of workers are
 * bit-identical. Throws EngineError if the job is invalid. */
VoxelMapsCore_EXPORT FuzzyConnectednessReport
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job);
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessJob_h
