// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DependenceTile.h"
#include "gldm/Dependence.h"
#include "gldm/DependenceWalk.h"
#include "window/cpu/CpuWalk.h"
#include "common/FixedPoint.h"

#include <algorithm>
#include <array>
#include <vector>

namespace voxelmaps
{
namespace
{
// What a worker does between two reports: a few milliseconds.
constexpr std::int64_t maxTileSteps = 1000000;

constexpr int            maxOffsets = 127; // sizes are bytes
constexpr std::ptrdiff_t maxNeighbors = 4000000;
constexpr std::ptrdiff_t maxDependentBytes = 64000000;

DependenceTileLayout
MakeShape(const DependenceTask & task, const std::array<int, 3> & maxTileSize)
{
  const auto           roundUp = [](int n) { return (n + maxBlockWindows - 1) / maxBlockWindows * maxBlockWindows; };
  DependenceTileLayout layout{};
  layout.rowLength = roundUp(roundUp(maxTileSize[0]) + task.window[0] - 1);
  layout.rows = maxTileSize[1] + task.window[1] - 1;
  layout.planes = maxTileSize[2] + task.window[2] - 1;
  layout.inputVoxels = std::ptrdiff_t{ layout.rowLength } * layout.rows * layout.planes;
  return layout;
}

/** Makes a layout and owns its tables. */
class DependenceTilePlan
{
public:
  DependenceTilePlan(const DependenceTask & task, const std::array<int, 3> & maxTileSize);
  DependenceTilePlan(const DependenceTilePlan &) = delete;
  DependenceTilePlan &
  operator=(const DependenceTilePlan &) = delete;

  /** Whether tiles of so many voxels can compute the task: the number of a voxel's neighbors fits a byte, and memory is
   * not excessive. */
  static bool
  Supports(const DependenceTask & task, const std::array<int, 3> & maxTileSize);

  DependenceTileLayout layout{};
  /** Bytes of the memory that a call of ComputeDependenceTile needs, aligned to 64. */
  std::size_t workspaceBytes;

private:
  std::vector<std::int32_t>       m_Voxels;
  std::vector<std::int32_t>       m_FirstNeighbors;
  std::vector<std::int32_t>       m_Neighbors;
  std::vector<DependenceSizeSums> m_Levels;
  std::vector<std::int64_t>       m_EntropyDifferences;
};

bool
DependenceTilePlan::Supports(const DependenceTask & task, const std::array<int, 3> & maxTileSize)
{
  return task.numberOfOffsets <= maxOffsets &&
         std::ptrdiff_t{ task.windowVoxels } * 2 * task.numberOfOffsets <= maxNeighbors &&
         MakeShape(task, maxTileSize).inputVoxels * std::max(task.numberOfOffsets, 1) <= maxDependentBytes;
}

DependenceTilePlan::DependenceTilePlan(const DependenceTask & task, const std::array<int, 3> & maxTileSize)
  : layout(MakeShape(task, maxTileSize))
{
  const auto getOffset = [this](int x, int y, int z) {
    return static_cast<std::int32_t>((z * layout.rows + y) * layout.rowLength + x);
  };
  m_FirstNeighbors.push_back(0);
  for (int z = 0; z < task.window[2]; ++z)
  {
    for (int y = 0; y < task.window[1]; ++y)
    {
      for (int x = 0; x < task.window[0]; ++x)
      {
        const auto contains = [&](const int(&step)[3], int sign) {
          const int at[3] = { x + sign * step[0], y + sign * step[1], z + sign * step[2] };
          return std::equal(at, at + 3, task.window, [](int index, int size) { return index >= 0 && index < size; });
        };
        const std::int32_t voxel = getOffset(x, y, z);
        m_Voxels.push_back(voxel);
        for (int k = 0; k < task.numberOfOffsets; ++k)
        {
          const auto & step = task.offsets[k].step;
          const auto   first = static_cast<std::int32_t>(k * layout.inputVoxels) + voxel;
          if (contains(step, 1))
          {
            m_Neighbors.push_back(first);
          }
          if (contains(step, -1))
          {
            m_Neighbors.push_back(first - getOffset(step[0], step[1], step[2]));
          }
        }
        m_FirstNeighbors.push_back(static_cast<std::int32_t>(m_Neighbors.size()));
      }
    }
  }
  for (int level = 0; level <= task.numberOfGrayLevels; ++level)
  {
    const auto          i = static_cast<std::uint64_t>(level);
    const std::uint64_t inverse = task.scales.inverseSquares[level];
    m_Levels.push_back(
      level == 0 ? DependenceSizeSums{}
                 : DependenceSizeSums{ (std::uint64_t{ 1 } << 32) + i, i * i, inverse & 0xffffffffu, inverse >> 32 });
  }
  if (task.scales.entropyTable != nullptr)
  {
    for (int n = 0; n < task.windowVoxels; ++n)
    {
      m_EntropyDifferences.push_back(task.scales.entropyTable[n + 1] - task.scales.entropyTable[n]);
    }
    layout.entropyDifferences = m_EntropyDifferences.data();
  }
  layout.needsLevelSquares =
    std::find(task.features, task.features + task.numberOfFeatures, DependenceTask::Feature::GrayLevelNonUniformity) !=
    task.features + task.numberOfFeatures;
  layout.voxels = m_Voxels.data();
  layout.firstNeighbors = m_FirstNeighbors.data();
  layout.neighbors = m_Neighbors.data();
  layout.levels = m_Levels.data();
  layout.sizeBits = BitCount(static_cast<std::uint64_t>(task.maxSize));
  workspaceBytes = DependenceTileMemory(task, layout, nullptr).bytes;
}

/** The function that tiles call at the end of a window. */
void
FinishDependenceWindow(const DependenceTask & task, std::int64_t outputVoxel, const DependenceWindow & window)
{
  constexpr std::uint64_t halfWord = std::uint64_t{ 1 } << 32;
  constexpr std::uint64_t lowHalf = halfWord - 1;
  SizeMatrixSums          sums;
  ClearEntries(sums);
  SizeMatrixSums::Axis & levels = sums.axes[levelAxis];
  SizeMatrixSums::Axis & sizes = sums.axes[sizeAxis];
  // What AddGroup adds, in 64 bits where sizes below 2^8 and less than 2^16 entries leave room.
  DependenceSizeSums all{};
  DependenceSizeSums timesSizeSquares{};
  std::uint64_t      lowInverses = 0;
  std::uint64_t      highInverses = 0;
  for (int j = 1; j <= task.maxSize; ++j)
  {
    const DependenceSizeSums & sizeSums = window.sizes[j];
    const std::uint64_t        entries = sizeSums.entriesAndLevels >> 32;
    if (entries == 0)
    {
      continue;
    }
    const auto          size = static_cast<std::uint64_t>(j);
    const std::uint64_t square = size * size;
    const std::uint64_t inverse = task.scales.inverseSquares[j];
    all.entriesAndLevels += sizeSums.entriesAndLevels;
    all.squares += sizeSums.squares;
    all.lowInverses += sizeSums.lowInverses;
    all.highInverses += sizeSums.highInverses;
    timesSizeSquares.squares += sizeSums.squares * square;
    timesSizeSquares.lowInverses += sizeSums.lowInverses * square;
    timesSizeSquares.highInverses += sizeSums.highInverses * square;
    sizes.sum += entries * size;
    sizes.squares += entries * square;
    sizes.nonUniformity += entries * entries;
    lowInverses += entries * (inverse & lowHalf);
    highInverses += entries * (inverse >> 32);
    AddProduct(levels.squaresTimesInverses, sizeSums.squares, inverse);
    WideInteger<2> inverses(0);
    AddProduct(inverses, sizeSums.lowInverses, 1);
    AddProduct(inverses, sizeSums.highInverses, halfWord);
    AddProduct(sums.inverses, inverses, inverse);
  }
  const auto join = [](std::uint64_t low, std::uint64_t high, WideInteger<2> & sum) {
    AddProduct(sum, low, 1);
    AddProduct(sum, high, halfWord);
  };
  sums.entries = static_cast<std::uint32_t>(all.entriesAndLevels >> 32);
  levels.sum = all.entriesAndLevels & lowHalf;
  levels.squares = all.squares;
  join(all.lowInverses, all.highInverses, levels.inverses);
  join(lowInverses, highInverses, sizes.inverses);
  join(timesSizeSquares.lowInverses, timesSizeSquares.highInverses, sizes.squaresTimesInverses);
  AddProduct(sums.squares, timesSizeSquares.squares, 1);
  sums.entropyTerms = window.entropyTerms;
  levels.nonUniformity = window.levelSquares;
  StoreSizeMatrixFeatures(task, outputVoxel, sums);
}
} // namespace

std::vector<TextureMethod<DependenceJob>>
TextureClass<DependenceJob>::GetMethods(const DependenceJob & job) const
{
  const Triple tileSize =
    TileSize(job.outputSize, std::max<std::int64_t>(maxTileSteps / task.windowVoxels, 64), { { 128, 8, 8 } });
  const std::array<int, 3> maxSize{
    { static_cast<int>(tileSize[0]), static_cast<int>(tileSize[1]), static_cast<int>(tileSize[2]) }
  };
  return { { "Tiles",
             FullSupportIf(DependenceTilePlan::Supports(task, maxSize)),
             [this, tileSize, maxSize](const DependenceJob & job) {
               const DependenceTilePlan tilePlan(task, maxSize);
               const auto compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeDependenceTile));
               ForEachKernelTile(Tiling(job.outputSize, tileSize),
                                 job.execution,
                                 tilePlan.workspaceBytes,
                                 [&](const KernelTile & tile, void * workspace) {
                                   compute(task, tilePlan.layout, { tile, FinishDependenceWindow }, workspace);
                                 });
             } },
           { "WindowWalk", MethodSupport::Full, [this](const DependenceJob & job) {
              ComputeByWalk<DependenceWalk<SingleThread>>(
                task, std::int64_t{ task.windowVoxels } * (2 * task.numberOfOffsets + 10), job.execution);
            } } };
}
} // namespace voxelmaps
