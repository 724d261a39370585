// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "BoxSumsTile.h"
#include "runlength/RunLength.h"
#include "runlength/RunLengthWalk.h"
#include "runlength/WeightedRunLength.h"
#include "texture/cpu/Walk.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
namespace
{
// Per thread. Only run entropy with very long runs and many directions needs more.
constexpr std::size_t maxWorkspaceBytes = std::size_t{ 256 } << 20;

void
ComputeByBoxSums(const BoxSumsTask & task, const Triple & outputSize, const RunLengthJob & job)
{
  const auto        compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeBoxSumsTile));
  const std::size_t bytes = BoxSumsWorkspaceSize(task);
  const Tiling      tiling(outputSize, { { task.tileSize[0], task.tileSize[1], task.tileSize[2] } });
  ForEachTile(tiling, job.execution, [&]() {
    auto memory = MakeWorkspace(bytes);
    auto skipDirections = MakeWalker<SkippedDirectionsWalk<SingleThread>>(task, job.execution);
    return [memory, skipDirections, compute, &task](const Triple & start, const Triple & size) {
      BoxSumsTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = start[d];
        tile.size[d] = static_cast<int>(size[d]);
      }
      compute(task, tile, memory.get());
      if (task.skipDirectionsWithoutPairs)
      {
        skipDirections(start, size);
      }
    };
  });
}

BoxSumsTask
MakeBoxSumsTask(const RunLengthJob & job, const RunLengthTask & task)
{
  BoxSumsTask boxSums{};
  static_cast<RunLengthTask &>(boxSums) = task;
  boxSums.wideSquares =
    static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels * task.numberOfGrayLevels >= 2147483648.0;
  // Tiles whose working set stays in the second-level cache, and which are not small beside their window.
  const bool   isFlat = job.outputSize[2] == 1;
  const Triple maxSize = { { 256,
                             std::max<std::int64_t>(isFlat ? 16 : 8, job.windowSize[1] / 2),
                             std::max<std::int64_t>(8, job.windowSize[2] / 2) } };
  for (int d = 0; d < 3; ++d)
  {
    boxSums.tileSize[d] = static_cast<int>(EqualPart(job.outputSize[d], maxSize[d]));
  }
  boxSums.execution = &job.execution;
  boxSums.checkAbort = [](const void * execution) { static_cast<const JobExecution *>(execution)->CheckAbort(); };
  return boxSums;
}
} // namespace

void
TextureClass<RunLengthJob>::ComputeOnCpu(const RunLengthJob & job) const
{
  if (!job.offsetWeights.empty())
  {
    ComputeByWalk<WeightedRunLength>(task, 2 * static_cast<std::int64_t>(task.maxVoxels), job.execution);
    return;
  }
  // Merged matrices with directions that differ from window to window have no common box sums.
  const bool mergesVaryingDirections =
    job.skipDirectionsWithoutPairs && job.aggregation == RunLengthJob::Aggregation::Merge;
  const BoxSumsTask boxSums = MakeBoxSumsTask(job, task);
  if (!job.walkWindows && !mergesVaryingDirections && BoxSumsSupports(boxSums) &&
      BoxSumsWorkspaceSize(boxSums) <= maxWorkspaceBytes)
  {
    ComputeByBoxSums(boxSums, job.outputSize, job);
  }
  else
  {
    ComputeByWalk<RunLengthWalk<SingleThread>>(
      task, static_cast<std::int64_t>(task.maxVoxels) * task.directions.number, job.execution);
  }
}
} // namespace voxelmaps
