// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RunLength_h
#define RunLength_h

#include "glrlm/RunLengthFormulas.h"
#include "window/TextureClass.h"
#include "voxelmaps/RunLengthJob.h"
#include "voxelmaps/Job.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The directions of a job and the longest lines that its window has along them; plain data, as TextureTask. */
struct Directions
{
  static constexpr int maxNumber = 13;

  int number;
  /** Components -1, 0 or 1, the last one that is not 0 being positive: opposite directions hold the same lines. */
  int steps[maxNumber][3];
  /** Voxels of the longest line of a window, per direction and of all. */
  int longestLines[maxNumber];
  int longestLine;
};

/** Throws EngineError unless there are 1 to 13 offsets with components -1, 0 or 1, none of them zero. */
Directions
MakeDirections(const std::vector<Triple> & offsets, const Triple & windowSize);

/** A RunLengthJob, or a slab of one, as all engines and kernels see it. TextureClass makes it and owns its tables. */
struct RunLengthTask : FeatureTask<RunLengthFeatureMapEnums>
{
  using Aggregation = RunLengthJob::Aggregation;

  Directions  directions;
  Aggregation aggregation;
  /** Weights of the directions, or null. */
  const double * offsetWeights;
  bool           skipDirectionsWithoutPairs;
  /** Maximum number of voxels that one matrix can count. */
  std::uint64_t maxVoxels;

  RunLengthScales scales;
  /** l^2 and c(l) for l = 0 ... longest run; c(0) is unused. */
  const double * lengthSquares;
  const double * shortRunWeights;
  /** q(i) for i = 0 ... number of gray levels, q(0) = 0; empty if no feature needs it. */
  const std::uint64_t * inverseSquares;
  /** Whether sums of q need more than 64 bits, so that both halves of q must be summed apart. */
  bool wideInverses;
  /** t(n) for n = 0 ... maxVoxels, if run entropy is selected. */
  const std::int64_t * entropyTable;

  /** Which sums the selected features need. */
  bool needsLevelCounts;
  bool needsLevelSum;
  bool needsSquares;
  bool needsInverses;
  bool needsEntropy;

  /** Number of directions that share one matrix: all if merged, else one. */
  VOXELMAPS_HOST_DEVICE int
  DirectionsPerMatrix() const
  {
    return aggregation == Aggregation::Merge ? directions.number : 1;
  }
};

/** See the primary template. */
template <>
class TextureClass<RunLengthJob> : public TextureClassBase<RunLengthTask>
{
public:
  explicit TextureClass(const RunLengthJob & job);

  std::vector<TextureMethod<RunLengthJob>>
  GetMethods(const RunLengthJob & job) const;
  std::vector<CudaTextureMethod<RunLengthJob>>
  GetCudaMethods() const;
  void
  AddCudaTables(CudaTables & tables, RunLengthTask & task) const;

  // The tables of the task.
  std::vector<double>        offsetWeights;
  std::vector<double>        lengthSquares;
  std::vector<double>        shortRunWeights;
  std::vector<std::uint64_t> inverseSquares;
  std::vector<std::int64_t>  entropyTable;

private:
  void
  SetFeatures(const RunLengthJob & job);
  void
  MakeLengthTables();
  void
  MakeInverses();
};
} // namespace voxelmaps

#endif // RunLength_h
