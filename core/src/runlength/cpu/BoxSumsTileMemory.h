// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BoxSumsTileMemory_h
#define BoxSumsTileMemory_h

#include "BoxSumsTile.h"
#include "texture/cpu/TileShape.h"

namespace voxelmaps
{
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
  std::uint8_t *  inputRows; // whether a row of the input, of sums along z, of box sums may hold the level
  std::uint8_t *  planeRows;
  std::uint8_t *  outputRows;
  std::uint8_t *  links;  // start_2 of every direction
  std::uint8_t *  equals; // whether two voxels have one level, for every difference of voxels of the window
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
    : bytes(0)
  {
    const std::size_t slack = inputSlack;
    const auto        voxels = static_cast<std::size_t>(shape.inputVoxels) + slack;
    const auto        outputs = static_cast<std::size_t>(shape.outputVoxels);
    const std::size_t runs = task.directions.longestLine;
    const bool        merge = task.aggregation == BoxSumsTask::Aggregation::Merge;
    const std::size_t planeVoxels = std::size_t(shape.ex) * shape.ey + slack;

    sumsPerPlane = merge ? std::ptrdiff_t{ shape.nx } * shape.ny : 0;
    sumsPerLength = merge ? shape.outputVoxels : std::ptrdiff_t{ shape.nx } * shape.ny;

    planesPerLength = shape.nz > 1 ? static_cast<std::ptrdiff_t>(planeVoxels) : 0;

    const auto take = [&](std::size_t n) {
      void * part = memory == nullptr ? nullptr : static_cast<char *>(memory) + bytes;
      bytes += (n + 63) / 64 * 64;
      return part;
    };
    levels = static_cast<std::uint16_t *>(take(2 * voxels));
    runStarts =
      static_cast<std::uint8_t *>(take(voxels * (1 + (runs - 1) * (task.needsEntropy ? task.directions.number : 1))));
    for (int c = 0; c < NumberOfWeights; ++c)
    {
      const std::size_t n = WeightBytes(task, c);
      weights[c] = take(c == CountWeight ? 0 : n * voxels);
      planes[c] = take(n * planeVoxels * (shape.nz > 1 ? runs : 1));
      firstSums[c] = take(n * outputs);
      sums[c] = take(n * (runs - 1) * (merge ? outputs : outputs / shape.nz));
    }
    row = take(8 * (shape.ex + slack));
    rowScratch = take(2 * 8 * (shape.ex + slack));

    const bool        byLevel = task.needsLevelCounts || task.needsEntropy;
    const std::size_t n = byLevel ? LevelCountBytes(task) : 0;
    const std::size_t u = byLevel ? 1 : 0;
    longestRuns = static_cast<int *>(take(sizeof(int) * task.directions.number));
    present = static_cast<std::uint8_t *>(take(u * (static_cast<std::size_t>(task.numberOfGrayLevels) + 1)));
    presentLevels = static_cast<std::uint16_t *>(take(u * 2 * (static_cast<std::size_t>(task.numberOfGrayLevels) + 1)));
    indicator = static_cast<std::uint8_t *>(take(u * voxels));
    inputRows = static_cast<std::uint8_t *>(take(u * shape.ez * shape.ey));
    planeRows = static_cast<std::uint8_t *>(take(u * shape.nz * shape.ey));
    outputRows = static_cast<std::uint8_t *>(take(u * shape.nz * shape.ny));
    links = static_cast<std::uint8_t *>(take(u * task.directions.number * voxels));
    equals = static_cast<std::uint8_t *>(take(UsesPairs(task) ? NumberOfDifferences(task) * voxels : 0));
    countPlane = take(n * planeVoxels);
    levelVoxels = take(n * outputs);
    levelRunStarts = take(n * outputs * (task.needsEntropy ? runs : 1));
    nonUniformities = take(2 * n * outputs * (merge ? 1 : task.directions.number));
    entropies =
      static_cast<std::uint64_t *>(take(task.needsEntropy ? 8 * outputs * (merge ? 1 : task.directions.number) : 0));

    const std::size_t features = task.numberOfFeatures;
    averages =
      static_cast<double *>(take(task.aggregation == BoxSumsTask::Aggregation::Average ? 8 * features * outputs : 0));
  }
};
} // namespace
} // namespace voxelmaps

#endif // BoxSumsTileMemory_h
