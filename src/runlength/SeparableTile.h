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
#ifndef SeparableTile_h
#define SeparableTile_h

#include "RunLengthFormulas.h"

#include <cstddef>
#include <cstdint>

namespace itk
{
namespace voxelmaps
{
/** A job as the separable engine sees it: plain numbers and pointers, since the sources compiled for one instruction
 * set must not instantiate templates of the C++ library, which the linker could pick for all processors. */
struct SeparableTask
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  using Aggregation = RunLengthFeatureMapEnums::Aggregation;

  const std::uint16_t * levels;
  std::int64_t          levelsSize[3];
  std::uint32_t         numberOfGrayLevels;

  void *       output;
  bool         outputIsDouble;
  std::int64_t outputSize[3];
  double       backgroundValue;

  int          window[3];
  int          anchor[3];
  std::int64_t outputToLevels[3]; // position of the output region's first voxel in the level buffer

  int             numberOfDirections;
  const int *     directions; // x, y, z of each
  const int *     longestRuns;
  int             longestRun;
  const Feature * features;
  int             numberOfFeatures;
  Aggregation     aggregation;
  std::uint64_t   mostVoxels;

  RunLengthScales       scales;
  const double *        lengthSquares;
  const double *        shortRunWeights;
  const std::uint64_t * inverseSquares;
  const std::int64_t *  entropyTable;

  bool needsLevelCounts;
  bool needsLevelSum;
  bool needsSquares;
  bool needsInverses;
  bool needsEntropy;
  bool wideInverses; // sums of q need more than 64 bits
  bool wideSquares;  // sums of i^2 need 64 bits

  int tileSize[3]; // the largest tile

  // Called every few milliseconds; throws to end the job.
  void (*poll)(const void * pollContext);
  const void * pollContext;
};

/** A box of the output region. */
struct SeparableTile
{
  std::int64_t start[3];
  int          size[3];
};

/** Whether the engine can do the task: all sums fit their integers. */
bool
SeparableTakes(const SeparableTask & task);

/** Bytes of the memory that one call of ComputeSeparableTile needs, to be aligned to 64. */
std::size_t
SeparableWorkspaceSize(const SeparableTask & task);

// One compilation of SeparableTileKernel.h per instruction set.
namespace baseline
{
void
ComputeSeparableTile(const SeparableTask & task, const SeparableTile & tile, void * workspace);
}
namespace avx2
{
void
ComputeSeparableTile(const SeparableTask & task, const SeparableTile & tile, void * workspace);
}
namespace avx512
{
void
ComputeSeparableTile(const SeparableTask & task, const SeparableTile & tile, void * workspace);
}
} // namespace voxelmaps
} // namespace itk

#endif // SeparableTile_h
