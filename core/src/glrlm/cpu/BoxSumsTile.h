// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsTile_h
#define BoxSumsTile_h

#include "glrlm/RunLength.h"
#include "window/cpu/KernelTile.h"

namespace voxelmaps
{
/** A task with what box sums need in addition. */
struct BoxSumsTask : RunLengthTask
{
  bool wideSquares; // sums of i^2 need 64 bits
};

VOXELMAPS_DECLARE_KERNEL(void ComputeBoxSumsTile(const BoxSumsTask & task, const KernelTile & tile, void * workspace))

namespace
{
constexpr int maxVoxelsForPairs = 27; // windows whose pairs of voxels are few enough to be counted

/** The weight of a level in a sum over runs: 1, i^2, q(i) or i. */
enum Weight
{
  CountWeight,
  SquareWeight,
  InverseWeight,
  LevelWeight,
  NumberOfWeights
};

/** Bytes of an integer that holds the box sums of a weight; 0 if the weight is not needed. */
inline int
WeightBytes(const BoxSumsTask & task, int weight)
{
  switch (weight)
  {
    case CountWeight:
      return 4;
    case SquareWeight:
      return task.needsSquares ? (task.wideSquares ? 8 : 4) : 0;
    case InverseWeight:
      return task.needsInverses ? 8 : 0;
    default:
      return task.needsLevelSum ? 4 : 0;
  }
}

/** Bytes of a count of runs of one level; their squares take twice as many. */
inline int
LevelCountBytes(const BoxSumsTask & task)
{
  return task.maxVoxels <= 255 ? 1 : task.maxVoxels <= 65535 ? 2 : 4;
}

/** Whether pairs of equal run starts can serve to find the non-uniformity. */
inline bool
UsesPairs(const BoxSumsTask & task)
{
  return task.needsLevelCounts && !task.needsEntropy && task.aggregation != BoxSumsTask::Aggregation::Merge &&
         task.maxVoxels <= maxVoxelsForPairs;
}

/** Number of differences of two voxels of the window, opposite ones counted once. */
inline int
NumberOfDifferences(const BoxSumsTask & task)
{
  return ((2 * task.window[0] - 1) * (2 * task.window[1] - 1) * (2 * task.window[2] - 1) - 1) / 2;
}

/** The parts of a workspace. Laid out twice: without memory to learn the size, then on the memory. */
struct TileMemory
{
  std::uint16_t * levels;
  std::uint8_t *  runStarts;                // start_k of k = 1 ... longest run, of one direction or of all
  void *          weights[NumberOfWeights]; // i^2, q(i), i of every input voxel
  void *          planes[NumberOfWeights];  // sums along z; of k = 1 ... longest run if there are several planes
  void *          firstSums[NumberOfWeights];
  void *          sums[NumberOfWeights]; // S_k of k = 2 ... longest run
  void *          row;                   // sums along z and y
  void *          rowScratch;

  int *           longestRuns; // that occur, of every direction
  std::uint8_t *  present;     // whether a level occurs in the tile
  std::uint16_t * presentLevels;
  std::uint8_t *  indicator; // whether a voxel has the level
  std::uint8_t *  links;     // start_2 of every direction
  std::uint8_t *  equals;    // whether two voxels have one level, for every difference of voxels of the window
  void *          countPlane;
  void *          levelVoxels;
  void *          levelRunStarts;  // box sums of start_k of the level, k = 2 ... longest run
  void *          nonUniformities; // of every matrix
  std::uint64_t * entropies;       // of every matrix: sum of t over its cells

  double *    averages; // sums of features over directions
  std::size_t bytes;

  // Between the sums along z of start_k and start_(k+1), which go from one output plane to the next.
  std::ptrdiff_t planesPerLength;

  // Where S_k of an output plane begins: only merged matrices keep all planes.
  std::ptrdiff_t sumsPerLength;
  std::ptrdiff_t sumsPerPlane;

  std::ptrdiff_t
  SumsOffset(int k, int z) const
  {
    return (k - 2) * sumsPerLength + z * sumsPerPlane;
  }

  TileMemory(const BoxSumsTask & task, const TileShape & shape, void * memory)
  {
    WorkspaceLayout      layout(memory);
    const std::ptrdiff_t voxels = shape.inputVoxels + inputSlack;
    const std::ptrdiff_t outputs = shape.outputVoxels;
    const std::ptrdiff_t runs = task.directions.longestLine;
    const std::ptrdiff_t directions = task.directions.number;
    const bool           merge = task.aggregation == BoxSumsTask::Aggregation::Merge;
    const std::ptrdiff_t matrices = merge ? 1 : directions;
    const std::ptrdiff_t planeVoxels = std::ptrdiff_t{ shape.ex } * shape.ey + inputSlack;

    sumsPerPlane = merge ? std::ptrdiff_t{ shape.nx } * shape.ny : 0;
    sumsPerLength = merge ? shape.outputVoxels : std::ptrdiff_t{ shape.nx } * shape.ny;

    planesPerLength = shape.nz > 1 ? planeVoxels : 0;

    levels = layout.Append<std::uint16_t>(voxels);
    runStarts = layout.Append<std::uint8_t>(voxels * (1 + (runs - 1) * (task.needsEntropy ? directions : 1)));
    for (int c = 0; c < NumberOfWeights; ++c)
    {
      const std::ptrdiff_t n = WeightBytes(task, c);
      weights[c] = layout.Append<char>(c == CountWeight ? 0 : n * voxels);
      planes[c] = layout.Append<char>(n * planeVoxels * (shape.nz > 1 ? runs : 1));
      firstSums[c] = layout.Append<char>(n * outputs);
      sums[c] = layout.Append<char>(n * (runs - 1) * (merge ? outputs : outputs / shape.nz));
    }
    row = layout.Append<std::uint64_t>(shape.ex + inputSlack);
    rowScratch = layout.Append<std::uint64_t>(2 * (shape.ex + inputSlack));

    const bool           byLevel = task.needsLevelCounts || task.needsEntropy;
    const std::ptrdiff_t n = byLevel ? LevelCountBytes(task) : 0;
    const std::ptrdiff_t u = byLevel ? 1 : 0;
    longestRuns = layout.Append<int>(directions);
    present = layout.Append<std::uint8_t>(u * (task.numberOfGrayLevels + 1));
    presentLevels = layout.Append<std::uint16_t>(u * (task.numberOfGrayLevels + 1));
    indicator = layout.Append<std::uint8_t>(u * voxels);
    links = layout.Append<std::uint8_t>(u * directions * voxels);
    equals = layout.Append<std::uint8_t>(UsesPairs(task) ? NumberOfDifferences(task) * voxels : 0);
    countPlane = layout.Append<char>(n * planeVoxels);
    levelVoxels = layout.Append<char>(n * outputs);
    levelRunStarts = layout.Append<char>(n * outputs * (task.needsEntropy ? runs : 1));
    nonUniformities = layout.Append<char>(2 * n * outputs * matrices);
    entropies = layout.Append<std::uint64_t>(task.needsEntropy ? outputs * matrices : 0);
    averages = layout.Append<double>(
      task.aggregation == BoxSumsTask::Aggregation::Average ? task.numberOfFeatures * outputs : 0);
    bytes = layout.Bytes();
  }
};
} // namespace
} // namespace voxelmaps

#endif // BoxSumsTile_h
