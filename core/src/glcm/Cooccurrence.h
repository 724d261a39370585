// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Cooccurrence_h
#define Cooccurrence_h

#include "glcm/CooccurrenceFormulas.h"
#include "window/PairOffsets.h"
#include "window/TextureClass.h"
#include "voxelmaps/CooccurrenceJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** A CooccurrenceJob, or a slab of one, as all engines and kernels see it. TextureClass makes it and owns its
 * tables. */
struct CooccurrenceTask : FeatureTask<CooccurrenceFeatureMapEnums>
{
  using Aggregation = CooccurrenceJob::Aggregation;

  int                numberOfOffsets;
  const PairOffset * offsets;
  Aggregation        aggregation;
  /** Weights of the offsets, or null. */
  const double * offsetWeights;
  /** Value of features of a matrix without pairs; NaN is the quiet one without sign. */
  double emptyValue;
  /** Maximum number of pairs that one matrix can count, at least 1. */
  std::uint64_t maxPairs;

  CooccurrenceArithmetic arithmetic;
  /** Whether sums of v^3 and v^4 need more than 64 bits, so that both halves of the terms must be summed apart. */
  bool wideMoments;
  /** The same for the weights. */
  bool wideWeights;
  /** scales.symmetric says whether pairs count in both orders. */
  CooccurrenceScales scales;
  /** w(k) at [k * NumberOfCooccurrenceWeights + weight] for k = 0 ... number of gray levels - 1; null if no feature
   * needs it. */
  const std::int64_t * weights;

  /** Which sums the selected features need. */
  bool needsWeights;
  /** For entropies of sums and of differences. */
  bool needsSumCounts;
  bool needsDifferenceCounts;
  /** cellTerms, cellSquares and maximum. */
  bool needsCells;
  /** rowTerms and columnTerms. */
  bool needsRows;
  bool needsMaximalCorrelation;
  /** Whether all voxels of the region have one level: the maximal correlation is 1 then. */
  bool hasOneLevel;
  /** Levels that a row or column of a matrix can have at most, if needsMaximalCorrelation. */
  int maxCorrelationLevels;

  /** Number of offsets that share one matrix: all if merged, else one. */
  VOXELMAPS_HOST_DEVICE int
  OffsetsPerMatrix() const
  {
    return aggregation == Aggregation::Merge ? numberOfOffsets : 1;
  }
};

/** See the primary template. */
template <>
class TextureClass<CooccurrenceJob> : public TextureClassBase<CooccurrenceTask>
{
public:
  explicit TextureClass(const CooccurrenceJob & job);

  std::vector<TextureMethod<CooccurrenceJob>>
  GetMethods(const CooccurrenceJob & job) const;
  std::vector<CudaTextureMethod<CooccurrenceJob>>
  GetCudaMethods() const;
  void
  AddCudaTables(CudaTables & tables, CooccurrenceTask & task) const;

  // The tables of the task.
  std::vector<PairOffset>   offsets;
  std::vector<double>       offsetWeights;
  std::vector<std::int64_t> weights;
  std::vector<std::int64_t> entropyTable;

private:
  void
  SetOffsets(const CooccurrenceJob & job);
  void
  SetFeatures(const CooccurrenceJob & job);
  void
  ChooseArithmetic();
  void
  MakeWeights();
  void
  SetEntropyTable(const JobExecution & execution);
};
} // namespace voxelmaps

#endif // Cooccurrence_h
