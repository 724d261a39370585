// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "BoxSumsTile.h"
#include "runlength/RunLength.h"
#include "runlength/RunLengthWalk.h"
#include "runlength/WeightedRunLength.h"
#include "texture/cpu/Walk.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
// Per thread. Only run entropy with very long runs and many directions needs more.
constexpr std::size_t maxWorkspaceBytes = std::size_t{ 256 } << 20;

/** Tiles whose working set stays in the second-level cache, and which are not small compared with their window. */
Tiling
MakeTiling(const RunLengthJob & job)
{
  const bool   isFlat = job.outputSize[2] == 1;
  const Triple maxSize = { { 256,
                             std::max<std::int64_t>(isFlat ? 16 : 8, job.windowSize[1] / 2),
                             std::max<std::int64_t>(8, job.windowSize[2] / 2) } };
  Triple       size;
  for (int d = 0; d < 3; ++d)
  {
    size[d] = EqualPart(job.outputSize[d], maxSize[d]);
  }
  return Tiling(job.outputSize, size);
}

/** Whether all sums of box sums fit their integers. */
bool
BoxSumsSupports(const RunLengthTask & task)
{
  const auto   maxVoxels = static_cast<double>(task.maxVoxels);
  const double levelSum = maxVoxels * task.numberOfGrayLevels;
  return !(task.needsInverses && task.wideInverses) && maxVoxels * task.scales.shortRunScale < maxFusedDivisor &&
         (!task.needsLevelSum || (levelSum < 2147483648.0 && levelSum * levelSum < 9007199254740992.0)); // 2^31, 2^53
}

/** Compute a job by box sums, unless a workspace would be too large. */
bool
TryBoxSums(const RunLengthJob & job, const RunLengthTask & jobTask)
{
  BoxSumsTask task{};
  static_cast<RunLengthTask &>(task) = jobTask;
  task.wideSquares =
    static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels * task.numberOfGrayLevels >= 2147483648.0;
  const Tiling      tiling = MakeTiling(job);
  const int         maxSize[3] = { static_cast<int>(tiling.tile[0]),
                                   static_cast<int>(tiling.tile[1]),
                                   static_cast<int>(tiling.tile[2]) };
  const std::size_t bytes = TileMemory(task, TileShape(task, maxSize), nullptr).bytes;
  if (bytes > maxWorkspaceBytes)
  {
    return false;
  }
  const auto compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeBoxSumsTile));
  ForEachKernelTile(
    tiling,
    job.execution,
    bytes,
    [&]() { return MakeWalker<SkippedDirectionsWalk<SingleThread>>(task, job.execution); },
    [&](const KernelTile & tile, void * workspace, const auto & skipDirections) {
      compute(task, tile, workspace);
      if (task.skipDirectionsWithoutPairs)
      {
        skipDirections({ { tile.start[0], tile.start[1], tile.start[2] } },
                       { { tile.size[0], tile.size[1], tile.size[2] } });
      }
    });
  return true;
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
  if (job.walkWindows || mergesVaryingDirections || !BoxSumsSupports(task) || !TryBoxSums(job, task))
  {
    ComputeByWalk<RunLengthWalk<SingleThread>>(
      task, static_cast<std::int64_t>(task.maxVoxels) * task.directions.number, job.execution);
  }
}
} // namespace voxelmaps
