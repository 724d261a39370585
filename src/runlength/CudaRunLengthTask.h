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
#ifndef CudaRunLengthTask_h
#define CudaRunLengthTask_h

#include "RunLengthFormulas.h"
#include "itkRunLengthJob.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace itk
{
namespace voxelmaps
{
/** One slab of a RunLengthJob on the device: what the kernels of all methods are given, by value. All pointers are
 * device pointers. Indices and sizes are (x, y, z). */
struct CudaRunLengthTask
{
  static constexpr int mostDirections = 13;
  static constexpr int mostFeatures = 16;

  /** Levels of the slab and of what its windows reach. */
  const std::uint16_t * levels;
  std::int64_t          levelsSize[3];
  int                   numberOfGrayLevels;

  /** Interleaved components of the slab's voxels. */
  void *       output;
  bool         outputIsDouble;
  std::int64_t outputSize[3];
  /** Output voxel (0, 0, 0) among the levels. */
  std::int64_t outputToLevels[3];
  double       backgroundValue;

  int                       window[3];
  int                       anchor[3];
  int                       numberOfDirections;
  int                       directions[mostDirections][3];
  int                       longestRuns[mostDirections];
  int                       longestRun;
  int                       numberOfFeatures;
  RunLengthJob::Feature     features[mostFeatures];
  RunLengthJob::Aggregation aggregation;
  std::uint64_t             mostVoxels;
  RunLengthScales           scales;
  /** As in RunLengthPlan. */
  const double *        lengthSquares;
  const double *        shortRunWeights;
  const std::uint64_t * inverseSquares;
  const std::int64_t *  entropyTable;
  bool                  wideInverses;
  bool                  needsLevelCounts;
  bool                  needsLevelSum;
  bool                  needsSquares;
  bool                  needsInverses;
  bool                  needsEntropy;

  __host__ __device__ int
  NumberOfComponents() const
  {
    return numberOfFeatures * (aggregation == RunLengthJob::Aggregation::PerDirection ? numberOfDirections : 1);
  }
};

/** Where the time of Primitives went, in milliseconds. */
struct CudaPrimitivesTimes
{
  double matrices{ 0.0 };
  double features{ 0.0 };
};

/** What a method needs to run beside the task. */
struct CudaRunLengthResources
{
  cudaStream_t stream;
  /** Device memory that the method may use beside levels and output; at least what its ...ScratchBytes said. */
  void *        scratch;
  std::uint64_t scratchBytes;
  /** To be called from time to time where a method takes long; throws to end the job. */
  std::function<void()> poll;
  /** If not null, Primitives measures itself, and adds to what is there. */
  CudaPrimitivesTimes * times{ nullptr };
};

/** A thread per window: takes every task. Scratch is shared by the windows in flight. */
std::uint64_t
WindowsScratchBytes(const CudaRunLengthTask & task);
std::uint64_t
WindowsMostScratchBytes(const CudaRunLengthTask & task);
void
ComputeByWindows(const CudaRunLengthTask & task, const CudaRunLengthResources & resources);

/** Zhang et al. 2019 with CUB. Takes every task; more scratch means fewer batches of windows, up to the most it can
 * use. Waits for the stream now and then. */
std::uint64_t
PrimitivesScratchBytes(const CudaRunLengthTask & task);
std::uint64_t
PrimitivesMostScratchBytes(const CudaRunLengthTask & task);
void
ComputeByPrimitives(const CudaRunLengthTask & task, const CudaRunLengthResources & resources);

/** A window in a machine word. */
bool
WindowWordTakes(const CudaRunLengthTask & task);
void
ComputeByWindowWord(const CudaRunLengthTask & task, const CudaRunLengthResources & resources);

/** Box sums that neighboring windows share. */
bool
SeparableTakes(const CudaRunLengthTask & task);
std::uint64_t
SeparableScratchBytes(const CudaRunLengthTask & task);
void
ComputeBySeparableSums(const CudaRunLengthTask & task, const CudaRunLengthResources & resources);
} // namespace voxelmaps
} // namespace itk

#endif // CudaRunLengthTask_h
