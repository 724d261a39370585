// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FuzzyConnectednessVectorAffinity_h
#define voxelmaps_FuzzyConnectednessVectorAffinity_h

#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** Throw EngineError, with the name of the parameter, unless a mean vector has one element from -8.9e307 to 8.9e307 for
 * every component. */
VoxelMapsCore_EXPORT void
VerifyMeanVector(const std::string & name, const std::vector<double> & mean, unsigned int numberOfComponents);

/** Throw EngineError, with the name of the parameter, unless a matrix in the order of rows is a covariance matrix of
 * all components, symmetric and positive definite: variances are from 1e-299 to 1e307, and if the components before it
 * are known, at least 1e-12 of the variance of a component is left. */
VoxelMapsCore_EXPORT void
VerifyCovariance(const std::string & name, const std::vector<double> & covariance, unsigned int numberOfComponents);

/** Throw EngineError unless the vectors and matrices that the affinity function of a problem uses are valid; context is
 * added to their names. */
VoxelMapsCore_EXPORT void
VerifyVectorAffinity(const FuzzyConnectednessProblem & problem, const std::string & context);

/** \class VectorAffinityEstimate
 * \brief Statistics of the vectors around the seeds, as parameters of an affinity function.
 *
 * \ingroup VoxelMaps
 */
struct VectorAffinityEstimate
{
  VectorAffinity vectors;
  /** Number of voxels that the estimate uses. */
  std::int64_t numberOfVoxels{ 0 };
};

/** Estimate from all voxels in the boxes around the seeds, clipped to image and mask, whose components are finite: mean
 * and covariance of the vectors. The differences between face neighbors are ordered by their length, for which every
 * component is divided by its standard deviation, and of differences of the same length, those of the lower voxel, and
 * of the lower axis, come first. Of the first 90 %, the mean and covariance of the absolute values for WeightedSum,
 * else the mean of d d^T for half the difference d. All sums are over voxels in the order of memory, and over axes; the
 * number of workers does not change the result. The matrices are not verified. Throws EngineError if the input is
 * invalid. */
VoxelMapsCore_EXPORT VectorAffinityEstimate
EstimateVectorAffinity(const FuzzyConnectednessInput & input, const AffinityEstimateParameters & parameters,
                       const JobExecution & execution);
} // namespace voxelmaps

#endif // voxelmaps_FuzzyConnectednessVectorAffinity_h
