// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessAffinityEstimate_h
#define voxelmaps_FuzzyConnectednessAffinityEstimate_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

namespace voxelmaps
{
/** \class AffinityEstimateParameters
 * \brief Parameters of an estimate in addition to the image, the mask and the seeds.
 *
 * \ingroup VoxelMaps
 */
struct AffinityEstimateParameters
{
  /** Decides which moments of the differences are needed. */
  FuzzyConnectednessEnums::AffinityFunction affinityFunction{
    FuzzyConnectednessEnums::AffinityFunction::GeometricMean
  };
  /** The boxes around the seeds have 2 * radius + 1 voxels along each axis. */
  unsigned int radius{ 2 };
};

/** \class AffinityEstimate
 * \brief Statistics of the intensities around the seeds, as parameters of an affinity function.
 *
 * \ingroup VoxelMaps
 */
struct AffinityEstimate
{
  double mean{ 0.0 };
  double variance{ 0.0 };
  /** Mean of the smallest 90 % of the differences |a - b| for WeightedSum; 0 for the other functions. */
  double differenceMean{ 0.0 };
  /** Variance of these differences for WeightedSum; mean square of half the difference for the other functions. */
  double differenceVariance{ 0.0 };
  /** Number of voxels that the estimate uses. */
  std::int64_t numberOfVoxels{ 0 };
};

/** Estimate from all finite intensities in the boxes around the seeds, clipped to image and mask. The number of workers
 * does not change the result. Throws EngineError if the input is invalid. */
VoxelMapsCore_EXPORT AffinityEstimate
EstimateAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                 const JobExecution & execution);
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessAffinityEstimate_h
