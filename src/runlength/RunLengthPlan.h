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
#ifndef RunLengthPlan_h
#define RunLengthPlan_h

#include "RunLengthFormulas.h"
#include "itkRunLengthJob.h"

#include <cstdint>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** What follows from the parameters of a job and is the same for all its voxels and for all engines. */
struct RunLengthPlan
{
  using Feature = RunLengthJob::Feature;

  explicit RunLengthPlan(const RunLengthJob & job);

  /** Offsets with the last non-zero component positive: the same runs, fewer cases. */
  std::vector<RunLengthJob::Triple> directions;
  /** Longest run that fits the window, per direction and of all. */
  std::vector<int> longestRuns;
  int              longestRun{ 1 };
  /** Directions that share one matrix: all if merged, else one. */
  int directionsPerMatrix{ 1 };
  /** Most voxels that one matrix can count. */
  std::uint64_t mostVoxels{ 1 };

  RunLengthScales scales{};
  /** l^2 and c(l) for l = 0 ... longestRun; c(0) is unused. */
  std::vector<double> lengthSquares;
  std::vector<double> shortRunWeights;
  /** q(i) for i = 0 ... number of gray levels; q(0) = 0. */
  std::vector<std::uint64_t> inverseSquares;
  /** Whether sums of q need more than 64 bits, so that both halves of q are to be summed apart. */
  bool wideInverses{ false };
  /** t(n) for n = 0 ... mostVoxels, if run entropy is selected. */
  std::vector<std::int64_t> entropyTable;

  /** Which sums the selected features need. */
  bool needsLevelCounts{ false };
  bool needsLevelSum{ false };
  bool needsSquares{ false };
  bool needsInverses{ false };
  bool needsEntropy{ false };
};
} // namespace voxelmaps
} // namespace itk

#endif // RunLengthPlan_h
