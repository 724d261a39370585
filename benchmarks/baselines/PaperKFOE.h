/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef PaperKFOE_h
#define PaperKFOE_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

namespace VoxelMapsBenchmarks
{
/** The published CUDA programs as they are, to count their errors; nobody should use them. Both compute keys as the
 * library does, so that results can be compared bit by bit, and take whole images and links over faces only. */
enum class PaperProgram
{
  /** Zhuge et al. 2009: affinities stored by one kernel; a second propagates, with a comparison and then a store. */
  Original,
  /** Li et al. 2016: one kernel; a comparison and then an atomic exchange; two correction passes for voxels at the edge
   * of their block. */
  Corrected
};

struct PaperResult
{
  std::uint64_t numberOfIterations;
  double        kernelMilliseconds;
};

PaperResult
ComputePaperKFOE(const voxelmaps::FuzzyConnectednessJob & job, PaperProgram program, std::uint32_t * keys);
} // namespace VoxelMapsBenchmarks

#endif // PaperKFOE_h
