// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef PaperKFOE_h
#define PaperKFOE_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

namespace VoxelMapsBenchmarks
{
/** The published CUDA programs, to count their errors. Both compute keys as the core does, so that results can be
 * compared bit by bit. */
enum class PaperProgram
{
  /** Zhuge et al. 2009: affinities stored by one kernel; a second propagates, with a comparison and then a store. */
  Original,
  /** Li et al. 2016: one kernel; a comparison and then an atomic exchange; two correction passes for voxels at the edge
   * of their block. */
  Corrected
};

/** Returns the milliseconds of the kernels. For 3D images and links over faces. */
double
ComputePaperKFOE(const voxelmaps::FuzzyConnectednessJob & job, PaperProgram program, std::uint32_t * keys);
} // namespace VoxelMapsBenchmarks

#endif // PaperKFOE_h
