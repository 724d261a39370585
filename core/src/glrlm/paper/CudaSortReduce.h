// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSortReduce_h
#define CudaSortReduce_h

#include "voxelmaps/RunLengthJob.h"

#include <cstdint>
#include <vector>

// The pipeline of Zhang et al. by itself, for tests and measurements. Without CUDA, there is no such function.
namespace voxelmaps
{
/** An element of a run length matrix that is not 0. */
struct RunLengthElement
{
  std::int64_t  voxel; // of the output, counted x fastest
  std::uint16_t level;
  std::uint16_t length;
  std::uint32_t runs;
};

/** The matrix of a direction, or the sum of all of them, for all windows. */
struct SortReduceMatrix
{
  /** Ordered by voxel, level and length. */
  std::vector<RunLengthElement> elements;
  /** Time of the device for the matrices, and for their features. */
  double matrixMilliseconds{ 0.0 };
  double featureMilliseconds{ 0.0 };
};

/** Compute a job, whose arrays are in host memory, by SortReduce on device 0; returns the matrices of all directions,
 * or with Merge, of their sum. Without keepsElements, only their times. */
std::vector<SortReduceMatrix>
ComputeSortReduceMatrices(const RunLengthJob & job, bool keepsElements = true);
} // namespace voxelmaps

#endif // CudaSortReduce_h
