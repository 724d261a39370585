// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SequentialRunLength_h
#define SequentialRunLength_h

#include "voxelmaps/RunLengthJob.h"

#include <cstdint>

namespace VoxelMapsBenchmarks
{
/** Which entries of a matrix are cleared and read for every window and direction. */
enum class Rows
{
  Present, /**< the rows of the gray levels that occur in the window */
  All      /**< the whole matrix */
};

/** Number of features: equations (2) to (12) of the paper. */
constexpr unsigned int SequentialNumberOfFeatures = 11;

/** The sequential program of Zhang et al., Sci Rep 9:10883 (2019), section "Sequential counterpart": the baseline.
 *
 * As in the paper, and all in one thread:
 * - Algorithm 1: for one direction, an array of the run length from every voxel on, over the whole image, in linear
 * time.
 * - Then the windows one by one. Each line of a window is walked from run to run: the length is the smaller one of the
 *   array's entry and the distance to the border of the window, and the walk skips to the next run.
 * - The matrix is dense, entry (level, length) at level * roi_length + length - 1, in a buffer used for all windows.
 * - The features by equations (2) to (12) in the precision TReal, with the common denominator computed once.
 *
 * Where the paper leaves the choice open, the faster way is taken:
 * - The equations sum over the levels and lengths that occur. So a list of the levels that occur is kept, and only
 * their rows are read and cleared (Rows::Present). Rows::All reads and clears the matrix as a whole, as a plain program
 * would.
 * - All eleven features come from a single pass over the matrix, with tables of i^2, 1/i^2, j^2 and 1/j^2.
 * - The starts of the lines of a window are listed once per direction.
 *
 * Beyond the paper:
 * - Windows are clipped at the border of the image. The paper's full windows alone are an output region that keeps away
 *   from the border.
 * - Volumes, any directions, and the average of the features over the directions.
 * - Gray levels start at 1, since 1/i^2 is undefined for 0.
 *
 * Of the job, the output, its precision and the features are not used: the output holds the eleven features in the
 * order of RunLengthFeatureMapEnums::GetElevenFeatures(). With matricesOnly, matrices are made and cleared, but no
 * features are computed. */
template <typename TReal>
void
ComputeSequentialRunLengthFeatures(const voxelmaps::RunLengthJob & job, Rows rows, bool matricesOnly, TReal * output);

extern template void
ComputeSequentialRunLengthFeatures<float>(const voxelmaps::RunLengthJob &, Rows, bool, float *);
extern template void
ComputeSequentialRunLengthFeatures<double>(const voxelmaps::RunLengthJob &, Rows, bool, double *);
} // namespace VoxelMapsBenchmarks

#endif // SequentialRunLength_h
