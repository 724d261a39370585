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
#include "RunLengthPlan.h"
#include "SeparableTile.h"
#include "SeparableTileMemory.h"
#include "WindowWalk.h"
#include "../Workers.h"

#include <algorithm>
#include <memory>

namespace itk
{
namespace voxelmaps
{
bool
SeparableTakes(const SeparableTask & task)
{
  const auto mostVoxels = static_cast<double>(task.mostVoxels);
  if (task.needsInverses && task.wideInverses)
  {
    return false;
  }
  if (mostVoxels * task.scales.shortRunScale >= 281474976710656.0) // 2^48: fused division
  {
    return false;
  }
  const double levelSum = mostVoxels * task.numberOfGrayLevels;
  return !task.needsLevelSum || (levelSum < 2147483648.0 && levelSum * levelSum < 9007199254740992.0); // 2^31, 2^53
}

std::size_t
SeparableWorkspaceSize(const SeparableTask & task)
{
  return TileMemory(task, TileShape(task, task.tileSize), nullptr).bytes;
}

namespace
{
using Triple = RunLengthJob::Triple;

// Per thread. Only run entropy with very long runs and many directions needs more.
constexpr std::size_t mostWorkspaceBytes = std::size_t{ 256 } << 20;

/** The output region cut into boxes, x fastest. */
struct Tiling
{
  Triple region;
  Triple tile;
  Triple count;

  Tiling(const Triple & regionSize, const Triple & tileSize)
    : region(regionSize)
    , tile(tileSize)
  {
    for (int d = 0; d < 3; ++d)
    {
      count[d] = (region[d] + tile[d] - 1) / tile[d];
    }
  }
  std::int64_t
  Number() const
  {
    return count[0] * count[1] * count[2];
  }
  void
  Get(std::int64_t number, Triple & start, Triple & size) const
  {
    start = {
      { number % count[0] * tile[0], number / count[0] % count[1] * tile[1], number / (count[0] * count[1]) * tile[2] }
    };
    for (int d = 0; d < 3; ++d)
    {
      size[d] = std::min(tile[d], region[d] - start[d]);
    }
  }
};

/** Cut n into equal pieces of at most `most`. */
std::int64_t
PieceOf(std::int64_t n, std::int64_t most)
{
  const std::int64_t pieces = (n + most - 1) / most;
  return (n + pieces - 1) / pieces;
}

/** Compute the tiles with all workers; makeWorker() returns what is called with start and size of a tile. */
template <typename TMakeWorker>
void
ForEachTile(const RunLengthJob & job, const Tiling & tiling, const TMakeWorker & makeWorker)
{
  ForEachTask(tiling.Number(), job.numberOfWorkers, job.runWorkers, [&](unsigned int) {
    return [&job, &tiling, compute = makeWorker()](std::int64_t number) mutable {
      Triple start;
      Triple size;
      tiling.Get(number, start, size);
      compute(start, size);
      if (job.completed)
      {
        job.completed(static_cast<std::uint64_t>(size[0] * size[1] * size[2]));
      }
    };
  });
}

void
ComputeByWindows(const RunLengthJob & job, const RunLengthPlan & plan)
{
  // Small enough for a quick abort and an even load, whatever the window.
  const auto         steps = static_cast<std::int64_t>(plan.mostVoxels * plan.directions.size());
  const std::int64_t voxels = std::min<std::int64_t>(std::max<std::int64_t>(4000000 / steps, 1), 4096);
  const Tiling       tiling(job.outputSize,
                            { { PieceOf(job.outputSize[0], voxels),
                                PieceOf(job.outputSize[1], std::max<std::int64_t>(voxels / job.outputSize[0], 1)),
                                1 } });
  ForEachTile(job, tiling, [&]() {
    auto walk = std::make_shared<WindowWalk>(job, plan);
    return [walk, &job](const Triple & start, const Triple & size) {
      walk->Compute({ { job.outputIndex[0] + start[0], job.outputIndex[1] + start[1], job.outputIndex[2] + start[2] } },
                    size);
    };
  });
}

using ComputeTile = void (*)(const SeparableTask &, const SeparableTile &, void *);

ComputeTile
ChooseKernel(RunLengthJob::InstructionSet widest)
{
  const RunLengthJob::InstructionSet use = std::min(widest, GetWidestInstructionSet());
#if defined(VOXELMAPS_X86_KERNELS)
  if (use == RunLengthJob::InstructionSet::AVX512)
  {
    return avx512::ComputeSeparableTile;
  }
  if (use == RunLengthJob::InstructionSet::AVX2)
  {
    return avx2::ComputeSeparableTile;
  }
#endif
  return use == RunLengthJob::InstructionSet::Baseline ? baseline::ComputeSeparableTile : nullptr;
}

void
ComputeBySeparableSums(const RunLengthJob & job, const SeparableTask & task)
{
  const ComputeTile compute = ChooseKernel(job.widestInstructionSet);
  const std::size_t bytes = SeparableWorkspaceSize(task);
  const Tiling      tiling(job.outputSize, { { task.tileSize[0], task.tileSize[1], task.tileSize[2] } });
  ForEachTile(job, tiling, [&]() {
    constexpr std::uintptr_t alignment = 64;
    auto                     memory = std::shared_ptr<char[]>(new char[bytes + alignment]);
    return [memory, compute, &task](const Triple & start, const Triple & size) {
      const auto    address = reinterpret_cast<std::uintptr_t>(memory.get());
      SeparableTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = start[d];
        tile.size[d] = static_cast<int>(size[d]);
      }
      compute(task, tile, memory.get() + (alignment - address % alignment) % alignment);
    };
  });
}

/** Tiles whose working set stays in the second-level cache, and which are not small beside their window. */
void
ChooseTileSize(const RunLengthJob & job, SeparableTask & task)
{
  const bool   flat = job.outputSize[2] == 1;
  const Triple most = { { 256,
                          std::max<std::int64_t>(flat ? 16 : 8, job.windowSize[1] / 2),
                          std::max<std::int64_t>(8, job.windowSize[2] / 2) } };
  for (int d = 0; d < 3; ++d)
  {
    task.tileSize[d] = static_cast<int>(PieceOf(job.outputSize[d], most[d]));
  }
}
} // namespace
} // namespace voxelmaps

RunLengthJob::InstructionSet
GetWidestInstructionSet()
{
#if defined(VOXELMAPS_X86_KERNELS)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
  {
    return RunLengthJob::InstructionSet::AVX512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
  {
    return RunLengthJob::InstructionSet::AVX2;
  }
#endif
  return RunLengthJob::InstructionSet::Baseline;
}

void
ComputeRunLengthFeatureMaps(const RunLengthJob & job)
{
  using namespace voxelmaps;
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return;
  }
  const RunLengthPlan plan(job);

  std::vector<int> directions;
  for (const Triple & direction : plan.directions)
  {
    directions.insert(directions.end(), direction.begin(), direction.end());
  }
  SeparableTask task{};
  task.levels = job.levels;
  task.numberOfGrayLevels = job.numberOfGrayLevels;
  task.output = job.output;
  task.outputIsDouble = job.outputIsDouble;
  task.backgroundValue = job.backgroundValue;
  for (int d = 0; d < 3; ++d)
  {
    task.levelsSize[d] = job.levelsSize[d];
    task.outputSize[d] = job.outputSize[d];
    task.window[d] = static_cast<int>(job.windowSize[d]);
    task.anchor[d] = static_cast<int>(job.windowAnchor[d]);
    task.outputToLevels[d] = job.outputIndex[d] - job.levelsIndex[d];
  }
  task.numberOfDirections = static_cast<int>(plan.directions.size());
  task.directions = directions.data();
  task.longestRuns = plan.longestRuns.data();
  task.longestRun = plan.longestRun;
  task.features = job.features.data();
  task.numberOfFeatures = static_cast<int>(job.features.size());
  task.aggregation = job.aggregation;
  task.mostVoxels = plan.mostVoxels;
  task.scales = plan.scales;
  task.lengthSquares = plan.lengthSquares.data();
  task.shortRunWeights = plan.shortRunWeights.data();
  task.inverseSquares = plan.inverseSquares.data();
  task.entropyTable = plan.entropyTable.data();
  task.needsLevelCounts = plan.needsLevelCounts;
  task.needsLevelSum = plan.needsLevelSum;
  task.needsSquares = plan.needsSquares;
  task.needsInverses = plan.needsInverses;
  task.needsEntropy = plan.needsEntropy;
  task.wideInverses = plan.wideInverses;
  task.wideSquares =
    static_cast<double>(plan.mostVoxels) * job.numberOfGrayLevels * job.numberOfGrayLevels >= 2147483648.0;
  task.pollContext = &job;
  task.poll = [](const void * context) {
    const auto & theJob = *static_cast<const RunLengthJob *>(context);
    if (theJob.completed)
    {
      theJob.completed(0);
    }
  };
  ChooseTileSize(job, task);

  if (!job.walkWindows && SeparableTakes(task) && SeparableWorkspaceSize(task) <= mostWorkspaceBytes)
  {
    ComputeBySeparableSums(job, task);
  }
  else
  {
    ComputeByWindows(job, plan);
  }
}
} // namespace itk
