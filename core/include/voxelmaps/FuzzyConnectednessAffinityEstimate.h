// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessAffinityEstimate_h
#define voxelmaps_FuzzyConnectednessAffinityEstimate_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class AffinityEstimateParameters
 * \brief Parameters of an estimate in addition to the image, the mask and the seeds.
 *
 * \ingroup VoxelMaps
 */
struct AffinityEstimateParameters
{
  /** Determines which moments of the differences are needed. */
  FuzzyConnectednessEnums::AffinityFunction affinityFunction{
    FuzzyConnectednessEnums::AffinityFunction::GeometricMean
  };
  /** The boxes around the seeds have 2 * radius + 1 voxels along each axis. */
  unsigned int radius{ 2 };
  /** If not empty, one label per seed; EstimateAffinity then throws EngineError if the labels differ in intensity,
   * unless the affinity is that of Homogeneity, which has no intensities. */
  std::vector<std::uint16_t> labels{};
};

/** \class AffinityEstimate
 * \brief Statistics of the object around the seeds, as parameters of an affinity function.
 *
 * \ingroup VoxelMaps
 */
struct AffinityEstimate
{
  FuzzyConnectednessAffinity affinity;
  /** Number of voxels of the object in the boxes of all seeds; a voxel counts once for each. */
  std::int64_t numberOfVoxels{ 0 };
  /** Why the object may leak, and what to do, as one sentence; empty unless twice the standard deviation of the object
   * exceeds the root mean square of the differences between its mean and its surroundings, in all components. */
  std::string warning;
};

/** Estimate an affinity from the surroundings of the seeds.
 *
 * - The object: in the box around each seed, clipped to the image and the mask, the finite voxels that are connected to
 *   the seed by faces and close to it in intensity: they differ from it by at most twice the median of the differences
 *   between neighbors in the box that are not 0. For several components, the differences are divided by their medians,
 *   and the root mean square of the quotients is at most 2.
 * - If less than a tenth of the box differs from the mean of this object by more than three medians, the box is inside
 * the object, which is then all that differs from the mean by at most three medians.
 * - Mean and covariance of the intensities are those of the object. From the differences d between neighbors in it, the
 *   mean and covariance of |d| serve WeightedSum, and the mean of (d / 2) (d / 2)^T the other functions.
 * - The contrast: the mean of the absolute differences between the other voxels and the mean of the object, in boxes
 * that are not inside the object. Spreads are at least such that the Gaussians of both terms fall to 1/2 at half the
 *   contrast, so that parts of the object that are somewhat different belong to it.
 *
 * This also holds for objects that are thinner than the box. If the boxes of all seeds have more than 2^26 voxels,
 * evenly spaced seeds are used. Neither the order of seeds nor the number of workers changes the result. Throws
 * EngineError if the input or the estimate is invalid, such as that of a constant image; and if the objects of two
 * labels differ so much that one affinity describes neither of them: if, in any component, their means differ by more
 * than twice the larger of their standard deviations. */
VoxelMapsCore_EXPORT AffinityEstimate
EstimateAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                 const JobExecution & execution);
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessAffinityEstimate_h
