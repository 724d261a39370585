// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// The parallel program of H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci Rep
// 9:10883 (2019), with the paper's names: all windows (ROIs) are written out, and the primitives of CUB do the rest.
// The numbers in parentheses are those of the paper's equations. It differs from the paper where its program would be
// wrong or inexact:
//  - Keys of adjacent rows differ also if there is one ROI only, by the parity of the row in the lowest bit.
//  - Voxels that are absent (masked, or outside the image) are written out as level 0. Their runs separate those of
//    other levels, and weigh nothing.
//  - Keys have 64 bits, since 32 overflow, and there are as many batches of ROIs as the memory makes necessary.
//  - The sums over a matrix are integers for each run length, in the order that the sort for RLN leaves; the weights of
//    the lengths come last, length by length, as in all methods. So features have the bits of the other methods.
#include "CudaSortReduce.h"
#include "common/WideInteger.h"
#include "device/CudaMemory.h"
#include "glrlm/cuda/CudaRunLengthMethods.h"
#include "window/Tiling.h"
#include "window/WindowBox.h"
#include "window/cuda/CudaTextureEngine.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/constant_iterator.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace voxelmaps
{
namespace
{
using Level = std::uint16_t;
using Count = std::uint32_t;
using Sum = std::uint64_t;
using Key = std::uint64_t;

constexpr unsigned int threadsPerBlock = 256;
// Larger batches are not faster, and make the user wait for an abort.
constexpr std::uint64_t maxBatchEntries = std::uint64_t{ 1 } << 25;
constexpr int           maxTileWidth = 128;
// Shared memory that every kernel has, without the flags of a tile.
constexpr int maxTileBytes = 48000;

/** Voxels of an ROI that lie one after the other along a direction. */
struct Row
{
  int           start[3];
  int           direction;
  std::uint32_t length;        // R_k
  std::uint32_t entriesBefore; // N_k
};

/** How keys are made of ROI, level and run length. */
struct KeyShape
{
  Key levels;  // GL_RESOLUTION, with level 0
  Key lengths; // roi_length
};

/** The ROIs of a batch. Their voxels lie in tiles, which are parts of rows of the output. */
struct RoiGrid
{
  std::int64_t  firstTile;
  std::int64_t  tilesPerRow;
  std::uint32_t tileWidth;
  std::uint32_t numberOfRois; // num_ROIs

  /** The output voxel of an ROI. False if it is beyond the end of its row: such ROIs have absent voxels only. */
  VOXELMAPS_HOST_DEVICE bool
  Locate(const RunLengthTask & task, std::uint32_t roi, std::int64_t (&voxel)[3]) const
  {
    const std::int64_t tile = firstTile + roi / tileWidth;
    const std::int64_t row = tile / tilesPerRow;
    voxel[0] = tile % tilesPerRow * tileWidth + roi % tileWidth;
    voxel[1] = row % task.outputSize[1];
    voxel[2] = row / task.outputSize[1];
    return voxel[0] < task.outputSize[0];
  }
};

/** What an element of the matrices weighs in a sum. */
enum class Weight : std::uint8_t
{
  Runs,
  Levels,
  Squares,
  InversesLow,
  InversesHigh
};

// --- Matrices: steps 1 to 5 (figure 4)

/** Step 1 (figure 5): a block copies the part of the image that the ROIs of a tile cover into shared memory, and
 * scatters it: the first rows of all ROIs first, then the second rows, and so on (13), as key_IG (14). */
__global__ void
__launch_bounds__(threadsPerBlock) ScatterRois(const __grid_constant__ RunLengthTask task, RoiGrid grid,
                                               const Row * rows, std::uint32_t numberOfRows, KeyShape shape, Key * keys)
{
  extern __shared__ Level levels[];
  __shared__ bool         isComputed[maxTileWidth];
  const std::uint32_t     firstRoi = blockIdx.x * grid.tileWidth;
  const auto              width = static_cast<int>(grid.tileWidth) + task.window[0] - 1;
  std::int64_t            voxel[3];
  grid.Locate(task, firstRoi, voxel);
  for (int i = threadIdx.x; i < width * task.window[1] * task.window[2]; i += threadsPerBlock)
  {
    const int row = i / width;
    levels[i] = task.LevelAt(voxel[0] + task.outputToLevels[0] - task.anchor[0] + i % width,
                             voxel[1] + task.outputToLevels[1] - task.anchor[1] + row % task.window[1],
                             voxel[2] + task.outputToLevels[2] - task.anchor[2] + row / task.window[1]);
  }
  for (std::uint32_t roi = threadIdx.x; roi < grid.tileWidth; roi += threadsPerBlock)
  {
    isComputed[roi] = grid.Locate(task, firstRoi + roi, voxel) && WindowBox(task, voxel).isComputed;
  }
  __syncthreads();
  for (std::uint32_t k = 0; k < numberOfRows; ++k)
  {
    const Row   row = rows[k];
    const int * step = task.directions.steps[row.direction];
    Key *       place = keys + std::uint64_t{ grid.numberOfRois } * row.entriesBefore + // (13)
                  std::uint64_t{ firstRoi } * row.length;
    for (std::uint32_t i = threadIdx.x; i < grid.tileWidth * row.length; i += threadsPerBlock)
    {
      const std::uint32_t roi = i / row.length;
      const auto          l = static_cast<int>(i % row.length);
      const int           x = static_cast<int>(roi) + row.start[0] + l * step[0];
      const int           y = row.start[1] + l * step[1];
      const int           z = row.start[2] + l * step[2];
      const Level         level = isComputed[roi] ? levels[(z * task.window[1] + y) * width + x] : Level{ 0 };
      place[i] = ((firstRoi + roi) * shape.levels + level) * 2 + (k & 1); // (14)
    }
  }
}

/** Step 3 (figure 7): key_IGL (15) of every run, from its key_IG and its length. */
__global__ void
AppendRunLengths(Key * keys, const Count * runLengths, std::uint32_t number, KeyShape shape)
{
  ForEachInGrid(number, [&](std::int64_t i) { keys[i] = (keys[i] >> 1) * shape.lengths + runLengths[i] - 1; });
}

// --- Features: transforms between the primitives

/** Index of the ROI (16) and run length (17) of every element of the matrices. */
__global__ void
SplitKeys(const Key * keys, std::uint32_t number, KeyShape shape, Key * rois, std::uint8_t * lengths,
          std::uint32_t * places)
{
  ForEachInGrid(number, [&](std::int64_t i) {
    rois[i] = keys[i] / shape.lengths / shape.levels;
    lengths[i] = static_cast<std::uint8_t>(keys[i] % shape.lengths);
    places[i] = static_cast<std::uint32_t>(i);
  });
}

/** The terms of a sum over the elements, in the order of the places if they are given. */
__global__ void
WeighElements(const __grid_constant__ RunLengthTask task, Weight weight, const Key * keys, const Count * runs,
              const std::uint32_t * places, std::uint32_t number, KeyShape shape, Sum * terms)
{
  ForEachInGrid(number, [&](std::int64_t i) {
    const std::int64_t place = places != nullptr ? places[i] : i;
    const Sum          level = keys[place] / shape.lengths % shape.levels; // (17)
    const Sum          count = level != 0 ? runs[place] : 0;
    switch (weight)
    {
      case Weight::Runs:
        terms[i] = count;
        break;
      case Weight::Levels:
        terms[i] = count * level;
        break;
      case Weight::Squares:
        terms[i] = count * (level * level);
        break;
      case Weight::InversesLow:
        terms[i] = count * (task.wideInverses ? task.inverseSquares[level] & 0xffffffffu : task.inverseSquares[level]);
        break;
      case Weight::InversesHigh:
        terms[i] = count * (task.inverseSquares[level] >> 32);
        break;
    }
  });
}

/** Keys of ROI and level, which are still in order. */
__global__ void
DropRunLengths(const Key * keys, std::uint32_t number, KeyShape shape, Key * levelKeys)
{
  ForEachInGrid(number, [&](std::int64_t i) { levelKeys[i] = keys[i] / shape.lengths; });
}

/** Keys of ROI and run length, after the sort. */
__global__ void
DropLevels(const Key * keys, const std::uint32_t * places, std::uint32_t number, KeyShape shape, Key * lengthKeys)
{
  ForEachInGrid(number, [&](std::int64_t i) {
    const Key key = keys[places[i]];
    lengthKeys[i] = key / shape.lengths / shape.levels * shape.lengths + key % shape.lengths;
  });
}

/** The ROIs of keys of ROI and level, and the squares of their sums. */
__global__ void
SquareSums(const Key * levelKeys, const Sum * sums, std::uint32_t number, KeyShape shape, Key * rois, Sum * squares)
{
  ForEachInGrid(number, [&](std::int64_t i) {
    rois[i] = levelKeys[i] / shape.levels;
    squares[i] = sums[i] * sums[i];
  });
}

/** Where the keys of each ROI begin, and where the last ones end. Every ROI has a key. */
__global__ void
FindFirsts(const Key * keys, std::uint32_t number, Key keysPerRoi, std::uint32_t numberOfRois, std::uint32_t * firsts)
{
  ForEachInGrid(number, [&](std::int64_t i) {
    const Key roi = keys[i] / keysPerRoi;
    if (i == 0 || keys[i - 1] / keysPerRoi != roi)
    {
      firsts[roi] = static_cast<std::uint32_t>(i);
    }
    if (i == number - 1)
    {
      firsts[numberOfRois] = number;
    }
  });
}

/** Sums over the matrices of a batch. */
struct RoiSums
{
  // By ROI.
  const Sum * runs;
  const Sum * levels;
  const Sum * levelSquares; // sum over i of (runs of level i)^2
  // By ROI and run length, those of an ROI from firsts[ROI] on.
  const std::uint32_t * firsts;
  const Key *           lengthKeys;
  const Sum *           lengthRuns;
  const Sum *           squares;
  const Sum *           inversesLow;
  const Sum *           inversesHigh;
};

__device__ RunLengthSums<double>
           SumLengths(const RunLengthTask & task, const RoiSums & of, KeyShape shape, std::int64_t roi)
{
  RunLengthSums<double> sums{};
  ClearRuns(sums);
  Sum voxels = 0;
  Sum squares = 0;
  for (std::uint32_t i = of.firsts[roi]; i < of.firsts[roi + 1]; ++i)
  {
    const Key length = of.lengthKeys[i] % shape.lengths + 1;
    const Sum lengthSquares = task.needsSquares ? of.squares[i] : 0;
    double    inverses = task.needsInverses ? static_cast<double>(of.inversesLow[i]) : 0.0;
    if (task.needsInverses && task.wideInverses)
    {
      inverses = static_cast<double>(of.inversesHigh[i]) * 4294967296.0 + inverses;
    }
    AddRunsWithLength(sums,
                      task.lengthSquares[length],
                      task.shortRunWeights[length],
                      static_cast<double>(of.lengthRuns[i]),
                      static_cast<double>(lengthSquares),
                      inverses);
    voxels += of.lengthRuns[i] * length; // (1)
    squares += lengthSquares;
  }
  sums.runs = static_cast<double>(of.runs[roi]);
  sums.voxels = static_cast<double>(voxels);
  sums.levelNonUniformity = task.needsLevelCounts ? static_cast<double>(of.levelSquares[roi]) : 0.0;
  sums.levelVariance = task.needsLevelSum ? VarianceNumerator(of.runs[roi], squares, of.levels[roi]) : 0.0;
  return sums;
}

/** The last step, a thread per ROI: the quotients (2) to (12). averages has the sums of the directions so far. */
__global__ void
DivideSums(const __grid_constant__ RunLengthTask task, RoiGrid grid, const RoiSums of, KeyShape shape, int matrix,
           double * averages)
{
  using Division = PlainDivision<double>;
  const int  features = task.numberOfFeatures;
  const bool isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  const bool isLast = matrix == task.directions.number - 1;
  ForEachInGrid(grid.numberOfRois, [&](std::int64_t roi) {
    std::int64_t voxel[3];
    if (!grid.Locate(task, static_cast<std::uint32_t>(roi), voxel))
    {
      return;
    }
    const std::int64_t number = (voxel[2] * task.outputSize[1] + voxel[1]) * task.outputSize[0] + voxel[0];
    if (!WindowBox(task, voxel).isComputed)
    {
      if (matrix == 0)
      {
        StoreBackground(task, number);
      }
      return;
    }
    const RunLengthSums<double>               sums = SumLengths(task, of, shape, roi);
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(task.scales.shortRunScale));
    const double                              reciprocal = Division::Reciprocal(sums.runs);
    const std::int64_t                        out = number * task.voxelStride;
    for (int f = 0; f < features; ++f)
    {
      const RunLengthJob::Feature feature = task.features[f];
      if (feature == RunLengthJob::Feature::RunEntropy)
      {
        continue;
      }
      if (!isAverage)
      {
        StoreComponent(task, out, matrix * features + f, RunLengthFeatureValue(feature, sums, divisors, task.scales));
        continue;
      }
      double & sum = averages[roi * features + f];
      sum = (matrix == 0 ? 0.0 : sum) + RunLengthAverageTerm(feature, sums, reciprocal);
      if (isLast)
      {
        const auto directions = static_cast<double>(task.directions.number);
        StoreComponent(
          task, out, f, RunLengthAverage<double, Division>(feature, sum, sums.voxels, directions, task.scales));
      }
    }
  });
}

// --- Batches

KeyShape
MakeKeyShape(const RunLengthTask & task)
{
  return { static_cast<Key>(task.numberOfGrayLevels) + 1, static_cast<Key>(task.directions.longestLine) };
}

/** Number of bits of the keys below a number. */
int
BitsFor(Key numberOfKeys)
{
  int bits = 1;
  while (bits < 64 && ((numberOfKeys - 1) >> bits) != 0)
  {
    ++bits;
  }
  return bits;
}

int
TileBytes(const RunLengthTask & task, int width)
{
  return (width + task.window[0] - 1) * task.window[1] * task.window[2] * static_cast<int>(sizeof(Level));
}

/** The most ROIs of a tile: as many as the shared memory has room for; 0 if the task is not supported. */
int
MaxTileWidth(const RunLengthTask & task)
{
  int width = maxTileWidth;
  while (width > 0 && TileBytes(task, width) > maxTileBytes)
  {
    --width;
  }
  return width;
}

/** The rows of any ROI along some directions. */
std::vector<Row>
ListRows(const RunLengthTask & task, int firstDirection, int endDirection)
{
  std::vector<Row> rows;
  std::uint32_t    entries = 0;
  for (int direction = firstDirection; direction < endDirection; ++direction)
  {
    const int * step = task.directions.steps[direction];
    const auto  isInside = [&task](int x, int y, int z) {
      return x >= 0 && x < task.window[0] && y >= 0 && y < task.window[1] && z >= 0 && z < task.window[2];
    };
    for (int z = 0; z < task.window[2]; ++z)
    {
      for (int y = 0; y < task.window[1]; ++y)
      {
        for (int x = 0; x < task.window[0]; ++x)
        {
          if (isInside(x - step[0], y - step[1], z - step[2]))
          {
            continue;
          }
          int length = 1;
          while (isInside(x + length * step[0], y + length * step[1], z + length * step[2]))
          {
            ++length;
          }
          rows.push_back({ { x, y, z }, direction, static_cast<std::uint32_t>(length), entries });
          entries += static_cast<std::uint32_t>(length);
        }
      }
    }
  }
  return rows;
}

/** The primitives. Without temporary memory, they set how many bytes they need. */
struct Primitives
{
  void *       temporary{ nullptr };
  std::size_t  temporaryBytes{ 0 };
  cudaStream_t stream{ nullptr };

  /** Sum the values of equal neighboring keys. */
  template <typename TValues, typename TSum>
  void
  ReduceByKey(const Key * keys, TValues values, std::uint32_t number, Key * unique, TSum * sums, Count * numberOfUnique)
  {
    CheckCuda(cub::DeviceReduce::ReduceByKey(temporary,
                                             temporaryBytes,
                                             keys,
                                             unique,
                                             values,
                                             sums,
                                             numberOfUnique,
                                             cuda::std::plus<>{},
                                             static_cast<int>(number),
                                             stream),
              "reducing by key");
  }
  /** The same with ones: how often a key occurs in a row. */
  void
  CountByKey(const Key * keys, std::uint32_t number, Key * unique, Count * counts, Count * numberOfUnique)
  {
    this->ReduceByKey(keys, thrust::constant_iterator<Count>(1), number, unique, counts, numberOfUnique);
  }
  void
  Sort(cub::DoubleBuffer<Key> & keys, std::uint32_t number, int bits)
  {
    CheckCuda(
      cub::DeviceRadixSort::SortKeys(temporary, temporaryBytes, keys, static_cast<int>(number), 0, bits, stream),
      "sorting keys");
  }
  /** Sort the run lengths of each ROI, and the places of the elements with them. */
  void
  SortSegments(std::uint8_t * const (&lengths)[2], std::uint32_t * const (&places)[2], std::uint32_t number,
               std::uint32_t numberOfRois, const std::uint32_t * firsts)
  {
    CheckCuda(cub::DeviceSegmentedSort::SortPairs(temporary,
                                                  temporaryBytes,
                                                  lengths[0],
                                                  lengths[1],
                                                  places[0],
                                                  places[1],
                                                  static_cast<int>(number),
                                                  static_cast<int>(numberOfRois),
                                                  firsts,
                                                  firsts + 1,
                                                  stream),
              "sorting the run lengths of each ROI");
  }
};

/** The arrays of a batch, one behind the other in the scratch memory. */
struct BatchMemory
{
  Row *           rows;
  Key *           keys[3];
  Count *         counts;
  Sum *           terms;
  Sum *           levelRuns;
  std::uint8_t *  lengths[2];
  std::uint32_t * places[2];
  // By ROI, and by ROI and run length.
  std::uint32_t * firsts;
  Sum *           runs;
  Sum *           levels;
  Sum *           levelSquares;
  Sum *           lengthRuns;
  Sum *           squares;
  Sum *           inversesLow;
  Sum *           inversesHigh;
  double *        averages;
  Count *         numberOfUnique;
  char *          temporary;
  std::size_t     temporaryBytes;

  /** Lay out the memory for so many ROIs; returns the bytes that are needed. */
  std::uint64_t
  LayOut(const RunLengthTask & task, std::uint64_t rois, void * scratch)
  {
    const std::uint64_t entries = rois * task.maxVoxels;
    const KeyShape      shape = MakeKeyShape(task);
    const std::uint64_t lengthSums = rois * std::min<std::uint64_t>(task.maxVoxels, shape.lengths);
    std::uint64_t       offset = 0;
    const auto          append = [&offset, scratch](auto *& pointer, std::uint64_t elements) {
      using Element = std::remove_reference_t<decltype(*pointer)>;
      pointer = scratch == nullptr ? nullptr : reinterpret_cast<Element *>(static_cast<char *>(scratch) + offset);
      constexpr std::uint64_t alignment = 256;
      offset += (elements * sizeof(Element) + alignment - 1) / alignment * alignment;
    };
    // A row has at least one of the entries of an ROI.
    append(rows, task.maxVoxels);
    for (Key *& array : keys)
    {
      append(array, entries);
    }
    append(counts, entries);
    append(terms, entries);
    append(levelRuns, entries);
    for (int i = 0; i < 2; ++i)
    {
      append(lengths[i], entries);
      append(places[i], entries);
    }
    append(firsts, rois + 1);
    append(runs, rois);
    append(levels, task.needsLevelSum ? rois : 0);
    append(levelSquares, task.needsLevelCounts ? rois : 0);
    append(lengthRuns, lengthSums);
    append(squares, task.needsSquares ? lengthSums : 0);
    append(inversesLow, task.needsInverses ? lengthSums : 0);
    append(inversesHigh, task.needsInverses && task.wideInverses ? lengthSums : 0);
    const bool isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
    append(averages, isAverage ? rois * static_cast<std::uint64_t>(task.numberOfFeatures) : 0);
    append(numberOfUnique, 1);

    // What CUB needs grows with the number, so that this is enough for fewer keys, too.
    temporaryBytes = 0;
    const auto include = [this](const auto & primitive) {
      Primitives query;
      primitive(query);
      temporaryBytes = std::max(temporaryBytes, query.temporaryBytes);
    };
    const auto number = static_cast<std::uint32_t>(entries);
    include([&](Primitives & query) { query.CountByKey(keys[0], number, keys[1], counts, numberOfUnique); });
    include([&](Primitives & query) { query.ReduceByKey(keys[0], terms, number, keys[1], runs, numberOfUnique); });
    include([&](Primitives & query) {
      cub::DoubleBuffer<Key> both(keys[0], keys[1]);
      query.Sort(both, number, BitsFor(rois * shape.levels * shape.lengths));
    });
    include([&](Primitives & query) {
      query.SortSegments(lengths, places, number, static_cast<std::uint32_t>(rois), firsts);
    });
    append(temporary, temporaryBytes);
    return offset;
  }
};

/** How the output is cut into tiles, and how many of them are a batch, whatever the memory. */
struct TilePlan
{
  std::uint32_t width;
  std::int64_t  perRow;
  std::int64_t  number;
  std::int64_t  maxPerBatch;

  explicit TilePlan(const RunLengthTask & task)
    : width(static_cast<std::uint32_t>(EqualPart(task.outputSize[0], MaxTileWidth(task))))
    , perRow((task.outputSize[0] + width - 1) / width)
    , number(perRow * task.outputSize[1] * task.outputSize[2])
  {
    const auto byEntries = static_cast<std::int64_t>(maxBatchEntries / (task.maxVoxels * width));
    maxPerBatch = std::min(number, std::max<std::int64_t>(byEntries, 1));
  }

  std::uint64_t
  CountRois(std::int64_t tiles) const
  {
    return static_cast<std::uint64_t>(tiles) * width;
  }
};

/** The pipeline, batch by batch and direction by direction. */
class SortReduce
{
public:
  SortReduce(const RunLengthTask & task, const CudaMethodResources & resources)
    : m_Task(task)
    , m_Resources(resources)
    , m_Shape(MakeKeyShape(task))
    , m_Tiles(task)
  {
    RetryWithSmallerSize(m_Tiles.maxPerBatch, 1, [&](std::int64_t tiles) {
      m_TilesPerBatch = tiles;
      return m_Memory.LayOut(task, m_Tiles.CountRois(tiles), resources.scratch) <= resources.scratchBytes;
    });
    m_Primitives.temporary = m_Memory.temporary;
    m_Primitives.temporaryBytes = m_Memory.temporaryBytes;
    m_Primitives.stream = resources.stream;
    const int directions = task.DirectionsPerMatrix();
    for (int direction = 0; direction < task.directions.number; direction += directions)
    {
      m_Rows.push_back(ListRows(task, direction, direction + directions));
    }
  }

  /** If results are given, adds to the matrices of the directions, and to their times. */
  void
  Compute(std::vector<SortReduceMatrix> * results, bool keepsElements)
  {
    for (std::int64_t first = 0; first < m_Tiles.number; first += m_TilesPerBatch)
    {
      const std::int64_t tiles = std::min(m_TilesPerBatch, m_Tiles.number - first);
      m_Grid = { first, m_Tiles.perRow, m_Tiles.width, static_cast<std::uint32_t>(m_Tiles.CountRois(tiles)) };
      for (std::size_t matrix = 0; matrix < m_Rows.size(); ++matrix)
      {
        if (results != nullptr)
        {
          results->resize(m_Rows.size());
          this->ComputeAndMeasure(matrix, keepsElements, (*results)[matrix]);
        }
        else
        {
          this->MakeMatrices(m_Rows[matrix]);
          this->ComputeFeatures(matrix);
        }
        CheckCuda(cudaStreamSynchronize(m_Resources.stream), "computing windows");
        m_Resources.checkAbort();
      }
    }
  }

private:
  template <typename... TParameters, typename... TArguments>
  void
  Launch(void (*kernel)(TParameters...), std::uint64_t items, const TArguments &... arguments) const
  {
    kernel<<<BlocksForGridStride(items, threadsPerBlock), threadsPerBlock, 0, m_Resources.stream>>>(arguments...);
    CheckLaunch("starting a kernel of SortReduce");
  }

  /** The number of keys that a primitive has left on the device. */
  std::uint32_t
  ReadNumber() const
  {
    Count number = 0;
    CopyFromDevice(&number, m_Memory.numberOfUnique, 1, m_Resources.stream);
    return number;
  }

  // --- Matrices

  /** The five steps of figure 4: m_Elements and m_Memory.counts become key_GLRLMs and nnz_GLRLMs (figure 9). */
  void
  MakeMatrices(const std::vector<Row> & rows)
  {
    this->ScatterAllRois(rows);
    const std::uint32_t runs = this->CountRunLengths(rows);
    this->Launch(AppendRunLengths, runs, m_Memory.keys[1], m_Memory.counts, runs, m_Shape);
    this->SortRuns(runs);
    this->CountElements(runs);
  }

  /** Step 1 (figure 5): key_IG in keys[0]. */
  void
  ScatterAllRois(const std::vector<Row> & rows)
  {
    CheckCuda(cudaMemcpyAsync(
                m_Memory.rows, rows.data(), rows.size() * sizeof(Row), cudaMemcpyHostToDevice, m_Resources.stream),
              "copying rows to the device");
    const auto bytes = static_cast<std::size_t>(TileBytes(m_Task, static_cast<int>(m_Grid.tileWidth)));
    ScatterRois<<<m_Grid.numberOfRois / m_Grid.tileWidth, threadsPerBlock, bytes, m_Resources.stream>>>(
      m_Task, m_Grid, m_Memory.rows, static_cast<std::uint32_t>(rows.size()), m_Shape, m_Memory.keys[0]);
    CheckLaunch("writing out the ROIs");
  }

  /** Step 2 (figure 6): the key_IG of every run in keys[1], and its length in counts. */
  std::uint32_t
  CountRunLengths(const std::vector<Row> & rows)
  {
    const std::uint32_t entries = m_Grid.numberOfRois * (rows.back().entriesBefore + rows.back().length);
    m_Primitives.CountByKey(m_Memory.keys[0], entries, m_Memory.keys[1], m_Memory.counts, m_Memory.numberOfUnique);
    return this->ReadNumber();
  }

  /** Step 4 (figure 8): sort key_IGL. */
  void
  SortRuns(std::uint32_t runs)
  {
    cub::DoubleBuffer<Key> both(m_Memory.keys[1], m_Memory.keys[0]);
    m_Primitives.Sort(both, runs, BitsFor(m_Grid.numberOfRois * m_Shape.levels * m_Shape.lengths));
    m_Sorted = both.Current();
    m_Elements = both.Alternate();
  }

  /** Step 5 (figure 9): count equal key_IGL. */
  void
  CountElements(std::uint32_t runs)
  {
    m_Primitives.CountByKey(m_Sorted, runs, m_Elements, m_Memory.counts, m_Memory.numberOfUnique);
    m_NumberOfElements = this->ReadNumber();
  }

  // --- Features

  void
  ComputeFeatures(std::size_t matrix)
  {
    this->SumByRoi();
    this->SumByLevel();
    this->SumByLength();
    const RoiSums of{ m_Memory.runs,       m_Memory.levels,  m_Memory.levelSquares, m_Memory.firsts,      m_Sorted,
                      m_Memory.lengthRuns, m_Memory.squares, m_Memory.inversesLow,  m_Memory.inversesHigh };
    this->Launch(
      DivideSums, m_Grid.numberOfRois, m_Task, m_Grid, of, m_Shape, static_cast<int>(matrix), m_Memory.averages);
  }

  /** The first category: the number of runs, by which most features divide; and the sum of their levels. */
  void
  SumByRoi()
  {
    this->Launch(SplitKeys,
                 m_NumberOfElements,
                 m_Elements,
                 m_NumberOfElements,
                 m_Shape,
                 m_Memory.keys[2],
                 m_Memory.lengths[0],
                 m_Memory.places[0]);
    this->SumElements(Weight::Runs, nullptr, m_Memory.runs);
    if (m_Task.needsLevelSum)
    {
      this->SumElements(Weight::Levels, nullptr, m_Memory.levels);
    }
  }

  /** The third category, GLN: without the run length, keys are still in order. */
  void
  SumByLevel()
  {
    if (!m_Task.needsLevelCounts)
    {
      return;
    }
    this->Launch(DropRunLengths, m_NumberOfElements, m_Elements, m_NumberOfElements, m_Shape, m_Memory.keys[2]);
    this->SumElements(Weight::Runs, nullptr, m_Memory.levelRuns);
    const std::uint32_t number = this->ReadNumber();
    this->Launch(SquareSums, number, m_Sorted, m_Memory.levelRuns, number, m_Shape, m_Memory.keys[2], m_Memory.terms);
    m_Primitives.ReduceByKey(
      m_Memory.keys[2], m_Memory.terms, number, m_Sorted, m_Memory.levelSquares, m_Memory.numberOfUnique);
  }

  /** The third category, RLN: without the level, keys need another sort; and in its order, the second category. */
  void
  SumByLength()
  {
    this->Launch(FindFirsts,
                 m_NumberOfElements,
                 m_Elements,
                 m_NumberOfElements,
                 m_Shape.levels * m_Shape.lengths,
                 m_Grid.numberOfRois,
                 m_Memory.firsts);
    m_Primitives.SortSegments(
      m_Memory.lengths, m_Memory.places, m_NumberOfElements, m_Grid.numberOfRois, m_Memory.firsts);
    const std::uint32_t * const places = m_Memory.places[1];
    this->Launch(DropLevels, m_NumberOfElements, m_Elements, places, m_NumberOfElements, m_Shape, m_Memory.keys[2]);
    this->SumElements(Weight::Runs, places, m_Memory.lengthRuns);
    if (m_Task.needsSquares)
    {
      this->SumElements(Weight::Squares, places, m_Memory.squares);
    }
    if (m_Task.needsInverses)
    {
      this->SumElements(Weight::InversesLow, places, m_Memory.inversesLow);
      if (m_Task.wideInverses)
      {
        this->SumElements(Weight::InversesHigh, places, m_Memory.inversesHigh);
      }
    }
    const std::uint32_t number = this->ReadNumber();
    this->Launch(FindFirsts, number, m_Sorted, number, m_Shape.lengths, m_Grid.numberOfRois, m_Memory.firsts);
  }

  /** Sum what the elements weigh by the keys in keys[2]. The keys of the sums go to m_Sorted, which is free. */
  void
  SumElements(Weight weight, const std::uint32_t * places, Sum * sums)
  {
    this->Launch(WeighElements,
                 m_NumberOfElements,
                 m_Task,
                 weight,
                 m_Elements,
                 m_Memory.counts,
                 places,
                 m_NumberOfElements,
                 m_Shape,
                 m_Memory.terms);
    m_Primitives.ReduceByKey(
      m_Memory.keys[2], m_Memory.terms, m_NumberOfElements, m_Sorted, sums, m_Memory.numberOfUnique);
  }

  // --- For tests and measurements

  void
  ComputeAndMeasure(std::size_t matrix, bool keepsElements, SortReduceMatrix & result)
  {
    CudaEvent events[4];
    events[0].Record(m_Resources.stream);
    this->MakeMatrices(m_Rows[matrix]);
    events[1].Record(m_Resources.stream);
    if (keepsElements)
    {
      this->CopyElements(result.elements);
    }
    events[2].Record(m_Resources.stream);
    this->ComputeFeatures(matrix);
    events[3].Record(m_Resources.stream);
    events[3].Synchronize();
    result.matrixMilliseconds += events[1].MillisecondsSince(events[0]);
    result.featureMilliseconds += events[3].MillisecondsSince(events[2]);
  }

  void
  CopyElements(std::vector<RunLengthElement> & elements) const
  {
    std::vector<Key>   keys(m_NumberOfElements);
    std::vector<Count> runs(m_NumberOfElements);
    CopyFromDevice(keys.data(), m_Elements, keys.size(), m_Resources.stream);
    CopyFromDevice(runs.data(), m_Memory.counts, runs.size(), m_Resources.stream);
    for (std::size_t i = 0; i < keys.size(); ++i)
    {
      const Key levelKey = keys[i] / m_Shape.lengths;
      const Key level = levelKey % m_Shape.levels;
      if (level > 0)
      {
        std::int64_t voxel[3];
        m_Grid.Locate(m_Task, static_cast<std::uint32_t>(levelKey / m_Shape.levels), voxel);
        elements.push_back({ (voxel[2] * m_Task.outputSize[1] + voxel[1]) * m_Task.outputSize[0] + voxel[0],
                             static_cast<std::uint16_t>(level),
                             static_cast<std::uint16_t>(keys[i] % m_Shape.lengths + 1),
                             runs[i] });
      }
    }
  }

  const RunLengthTask       m_Task;
  const CudaMethodResources m_Resources;
  const KeyShape            m_Shape;
  const TilePlan            m_Tiles;
  std::int64_t              m_TilesPerBatch{ 1 };
  BatchMemory               m_Memory{};
  Primitives                m_Primitives;
  /** Rows of each matrix. */
  std::vector<std::vector<Row>> m_Rows;

  // The batch, and its matrices of a direction.
  RoiGrid       m_Grid{};
  Key *         m_Sorted{ nullptr };
  Key *         m_Elements{ nullptr };
  std::uint32_t m_NumberOfElements{ 0 };
};
} // namespace

bool
CudaSortReduceSupports(const RunLengthTask & task)
{
  return task.offsetWeights == nullptr && MaxTileWidth(task) > 0;
}

CudaScratchBytes
CudaSortReduceScratchBytes(const RunLengthTask & task)
{
  const TilePlan tiles(task);
  BatchMemory    memory{};
  return { memory.LayOut(task, tiles.CountRois(1), nullptr),
           memory.LayOut(task, tiles.CountRois(tiles.maxPerBatch), nullptr) };
}

void
ComputeByCudaSortReduce(const RunLengthTask & task, const CudaMethodResources & resources)
{
  SortReduce(task, resources).Compute(nullptr, false);
}

std::vector<SortReduceMatrix>
ComputeSortReduceMatrices(const RunLengthJob & job, bool keepsElements)
{
  const CurrentDevice              device(0);
  const TextureClass<RunLengthJob> textureClass(job);
  RunLengthTask                    task = textureClass.task;
  FindMethod(textureClass.GetCudaMethods(), "SortReduce", DescribeJob(task));
  CudaTables tables;
  textureClass.AddCudaTables(tables, task);
  tables.Upload();
  const CudaStream stream;
  const auto       levels = CopyToDevice(job.levels, NumberOfVoxels(job.levelsSize), stream);
  const auto       voxels = NumberOfVoxels(job.outputSize);
  const auto       selection = CopyToDevice(job.selection, job.selection != nullptr ? voxels : 0, stream);
  task.levels = levels.data();
  task.selection = selection.data();
  const DeviceBuffer<char> output(voxels * static_cast<std::uint64_t>(task.numberOfComponents) * ComponentBytes(task),
                                  stream);
  task.output = output.data();
  task.voxelStride = task.numberOfComponents;
  task.componentStride = 1;
  const CudaScratchBytes        bytes = CudaSortReduceScratchBytes(task);
  const DeviceBuffer<char>      scratch(bytes.maximum, stream);
  std::vector<SortReduceMatrix> matrices;
  SortReduce(task, { stream, scratch.data(), bytes.maximum, [&job] { job.execution.CheckAbort(); } })
    .Compute(&matrices, keepsElements);
  return matrices;
}
} // namespace voxelmaps
