// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceColumns.h"
#include "CooccurrenceSlide.h"
#include "cooccurrence/Cooccurrence.h"
#include "cooccurrence/WeightedCooccurrence.h"
#include "texture/cpu/Tiling.h"
#include "texture/cpu/Walk.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: about ten milliseconds.
constexpr std::int64_t maxTilePairs = 1000000;

/** Cost of the maximal correlation of a matrix, in pairs that are counted meanwhile. */
std::int64_t
CorrelationPairs(const CooccurrenceTask & task)
{
  constexpr std::int64_t stepsPerPair = 64;
  const std::int64_t     levels = task.needsMaximalCorrelation ? task.maxCorrelationLevels : 0;
  return levels * levels * levels / stepsPerPair;
}

void
ComputeBySlide(const CooccurrenceTask & task, const CooccurrenceJob & job)
{
  const Triple &                outputSize = job.outputSize;
  const JobExecution &          execution = job.execution;
  const CooccurrenceSlideTables tables(task);
  // Rows of at least as many voxels as are computed side by side.
  constexpr std::int64_t minRowLength = 8;
  const std::int64_t     correlationPairs = CorrelationPairs(task) * (task.numberOfOffsets / task.OffsetsPerMatrix());
  const std::int64_t     rowLength =
    std::min(tables.rowLength, std::max(maxTilePairs / std::max<std::int64_t>(correlationPairs, 1), minRowLength));
  const std::int64_t length = EqualPart(outputSize[0], rowLength);
  // Per voxel, one plane of each offset enters and one leaves.
  const std::int64_t pairs =
    std::int64_t{ task.window[1] } * task.window[2] * task.numberOfOffsets * (length + task.window[0]) +
    correlationPairs * length;
  const std::int64_t rows = std::min<std::int64_t>(std::max<std::int64_t>(maxTilePairs / pairs, 1), 64);
  const Tiling       tiling(outputSize, { { length, EqualPart(outputSize[1], rows), 1 } });
  ForEachTile(tiling, execution, [&]() {
    auto slide = std::make_shared<CooccurrenceSlide>(task, tables, execution, job.widestInstructionSet);
    return [slide](const Triple & start, const Triple & size) { slide->Compute(start, size); };
  });
}

void
ComputeByColumns(const CooccurrenceTask & task, const CooccurrenceJob & job)
{
  const Triple &                outputSize = job.outputSize;
  const JobExecution &          execution = job.execution;
  const CooccurrenceSlideTables tables(task);
  // Wide and high enough that filling the first windows costs little.
  constexpr std::int64_t maxWidth = 64;
  constexpr std::int64_t maxHeight = 8;
  const Tiling tiling(outputSize, { { EqualPart(outputSize[0], maxWidth), EqualPart(outputSize[1], maxHeight), 1 } });
  ForEachTile(tiling, execution, [&]() {
    auto columns = std::make_shared<CooccurrenceColumns>(task, tables, execution, job.widestInstructionSet);
    return [columns](const Triple & start, const Triple & size) { columns->Compute(start, size); };
  });
}
} // namespace

void
TextureClass<CooccurrenceJob>::ComputeOnCpu(const CooccurrenceJob & job) const
{
  if (!job.offsetWeights.empty())
  {
    const auto         levels = static_cast<std::int64_t>(MaxWindowLevels(task));
    const std::int64_t steps = static_cast<std::int64_t>(task.maxPairs) + levels * levels;
    ComputeByWalk<WeightedCooccurrence>(task, 2 * (steps + CorrelationPairs(task)), job.execution);
  }
  else if (job.walkWindows || !CooccurrenceSlide::Supports(task))
  {
    const std::int64_t pairs = static_cast<std::int64_t>(task.maxPairs) + CorrelationPairs(task);
    ComputeByWalkers(task, 2 * pairs * (task.numberOfOffsets / task.OffsetsPerMatrix()), job.execution, [&]() {
      auto walker = std::make_shared<CooccurrenceWalker>(task, job.execution, job.widestInstructionSet);
      return [walker](const Triple & start, const Triple & size) { walker->Compute(start, size); };
    });
  }
  else if (CooccurrenceColumns::Supports(task, job.widestInstructionSet))
  {
    ComputeByColumns(task, job);
  }
  else
  {
    ComputeBySlide(task, job);
  }
}
} // namespace voxelmaps
