// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by BoxSumsTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "BoxSumsFeatures.h"
#include "BoxSumsLevelCounts.h"
#include "BoxSumsRuns.h"

/* Box sums of images start_k give all sums over runs (run by run, the identity is easy to check):
 *   start_k(p) = 1 if the k voxels from p along direction d are of one level,
 *   S_k[f] = sum of f(level) start_k(p) over those p of the window whose k voxels are all in the window,
 *   R_l[f] = S_l[f] - 2 S_(l+1)[f] + S_(l+2)[f] is the sum of f over the runs of length l.
 * The p of S_k are a box that shrinks by |d| with every k, so windows need no border cases, and the sums are separable.
 * Images start_k are indexed by the least corner of their k voxels, so every box starts at the window's first voxel. */
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
void
ComputeBoxSumsTile(const BoxSumsTask & task, const BoxSumsTile & tile, void * workspace)
{
  TileContext         context(task, tile, workspace);
  const FeatureWriter writer(context);
  if (!context.LoadLevels())
  {
    writer.WriteBackground();
    return;
  }

  RunSums sums(context);
  sums.MakeWeights();
  sums.SumFirst();
  if (task.needsLevelCounts || task.needsEntropy)
  {
    LevelCounts(context).Compute();
  }

  const bool merge = task.aggregation == BoxSumsTask::Aggregation::Merge;
  for (int d = 0; d < task.directions.number; ++d)
  {
    task.checkAbort(task.execution);
    sums.SumDirection(d, [&](int longest, int z) {
      if (!merge)
      {
        writer.FinishPlane(d, longest, z);
      }
    });
  }
  if (merge)
  {
    for (int z = 0; z < context.shape.nz; ++z)
    {
      writer.FinishPlane(0, sums.GetLongest(), z);
    }
  }
  else if (task.aggregation == BoxSumsTask::Aggregation::Average)
  {
    writer.WriteAverages();
  }
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
