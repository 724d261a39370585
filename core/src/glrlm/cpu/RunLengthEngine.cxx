// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "BoxSumsTile.h"
#include "glrlm/RunLength.h"
#include "glrlm/RunLengthWalk.h"
#include "glrlm/WeightedRunLength.h"
#include "window/cpu/CpuWalk.h"

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

/** The computation of a job by box sums. */
class BoxSumsPlan
{
public:
  BoxSumsPlan(const RunLengthJob & job, const RunLengthTask & jobTask)
    : m_Tiling(MakeTiling(job))
  {
    static_cast<RunLengthTask &>(m_Task) = jobTask;
    m_Task.wideSquares =
      static_cast<double>(m_Task.maxVoxels) * m_Task.numberOfGrayLevels * m_Task.numberOfGrayLevels >= 2147483648.0;
    const int maxSize[3] = { static_cast<int>(m_Tiling.tile[0]),
                             static_cast<int>(m_Tiling.tile[1]),
                             static_cast<int>(m_Tiling.tile[2]) };
    m_Bytes = TileMemory(m_Task, TileShape(m_Task, maxSize), nullptr).bytes;
  }

  /** Whether all sums fit their integers, and workspaces are not too large. */
  static bool
  Supports(const RunLengthJob & job, const RunLengthTask & task)
  {
    const auto   maxVoxels = static_cast<double>(task.maxVoxels);
    const double levelSum = maxVoxels * task.numberOfGrayLevels;
    return !(task.needsInverses && task.wideInverses) && maxVoxels * task.scales.shortRunScale < maxFusedDivisor &&
           (!task.needsLevelSum ||
            (levelSum < 2147483648.0 && levelSum * levelSum < 9007199254740992.0)) && // 2^31, 2^53
           BoxSumsPlan(job, task).m_Bytes <= maxWorkspaceBytes;
  }

  void
  Compute(const RunLengthJob & job) const
  {
    const auto compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeBoxSumsTile));
    ForEachKernelTile(
      m_Tiling,
      job.execution,
      m_Bytes,
      [&]() { return MakeWalker<SkippedDirectionsWalk<SingleThread>>(m_Task, job.execution); },
      [&](const KernelTile & tile, void * workspace, const auto & skipDirections) {
        compute(m_Task, tile, workspace);
        if (m_Task.skipDirectionsWithoutPairs)
        {
          skipDirections({ { tile.start[0], tile.start[1], tile.start[2] } },
                         { { tile.size[0], tile.size[1], tile.size[2] } });
        }
      });
  }

private:
  BoxSumsTask  m_Task{};
  const Tiling m_Tiling;
  std::size_t  m_Bytes;
};
} // namespace

std::vector<TextureMethod<RunLengthJob>>
TextureClass<RunLengthJob>::GetMethods(const RunLengthJob & job) const
{
  if (!job.offsetWeights.empty())
  {
    return { { "WindowWalk", MethodSupport::Full, [this](const RunLengthJob & job) {
                ComputeByWalk<WeightedRunLength>(task, 2 * static_cast<std::int64_t>(task.maxVoxels), job.execution);
              } } };
  }
  // Merged matrices with directions that differ from window to window have no common box sums.
  const bool mergesVaryingDirections =
    job.skipDirectionsWithoutPairs && job.aggregation == RunLengthJob::Aggregation::Merge;
  return { { "BoxSums",
             FullSupportIf(!mergesVaryingDirections && BoxSumsPlan::Supports(job, task)),
             [this](const RunLengthJob & job) { BoxSumsPlan(job, task).Compute(job); } },
           { "WindowWalk", MethodSupport::Full, [this](const RunLengthJob & job) {
              ComputeByWalk<RunLengthWalk<SingleThread>>(
                task, static_cast<std::int64_t>(task.maxVoxels) * task.directions.number, job.execution);
            } } };
}
} // namespace voxelmaps
