// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// The parallel program of H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci Rep
// 9:10883 (2019), with the paper's names: all windows (ROIs) are written out, and parallel primitives do the rest. It
// differs from the paper where the paper's program would be wrong or inexact:
//  - Keys of adjacent lines differ also if there is one window only, by the line's parity in the lowest bit.
//  - Voxels that are absent (masked, or outside the image) are written out as level 0. Their runs separate those of
//    other levels, and weigh nothing.
//  - Keys have 64 bits, and there are as many batches of windows as the memory makes necessary.
//  - Keys of window, length and level, in this order, replace those of window, level and length (15); those of window
//    and level (14) are sorted for GLN only. A thread per window adds up its cells, as integers by run length; the
//    weights of the lengths come last, as in all engines. So the features have the bits of the other engines.
#include "common/WideProduct.h"
#include "cuda/CudaGrid.cuh"
#include "cuda/CudaLaunch.h"
#include "cuda/RetryWithSmallerSize.h"
#include "runlength/cuda/CudaRunLengthMethods.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>

#include <algorithm>
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
constexpr std::uint64_t maxBatchEntries = std::uint64_t{ 1 } << 27;
constexpr std::uint64_t maxBatchWindows = std::uint64_t{ 1 } << 26;

/** Voxels of a window that lie one after the other along a direction: the paper's rows. */
struct Line
{
  int           start[3];
  int           direction;
  int           length;
  std::uint32_t entriesBefore;
};

/** How the keys of a batch are made of window, run length and level. */
struct KeyShape
{
  Key levels;  // with level 0
  Key lengths; // longest run
};

/** Different keys in device memory, in increasing order, and how often each of them occurs. */
struct Cells
{
  const Key *   keys;
  const Count * counts;
  const Count * number;

  __device__ std::uint32_t
             FindFirst(Key key) const
  {
    return static_cast<std::uint32_t>(thrust::lower_bound(thrust::seq, keys, keys + *number, key) - keys);
  }
};

/** Where the voxel of a window is among the levels. */
inline __device__ void
LocateWindow(const RunLengthTask & task, std::uint64_t window, std::int64_t (&at)[3])
{
  const auto          width = static_cast<std::uint64_t>(task.outputSize[0]);
  const auto          height = static_cast<std::uint64_t>(task.outputSize[1]);
  const std::uint64_t row = window / width;
  at[0] = static_cast<std::int64_t>(window % width) + task.outputToLevels[0];
  at[1] = static_cast<std::int64_t>(row % height) + task.outputToLevels[1];
  at[2] = static_cast<std::int64_t>(row / height) + task.outputToLevels[2];
}

inline __device__ Level
LevelAt(const RunLengthTask & task, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const bool inside =
    x >= 0 && x < task.levelsSize[0] && y >= 0 && y < task.levelsSize[1] && z >= 0 && z < task.levelsSize[2];
  return inside ? task.levels[(z * task.levelsSize[1] + y) * task.levelsSize[0] + x] : Level{ 0 };
}

/** Step 1: write out all windows, first lines of all windows first (13), with key_IG (14). */
__global__ void
ScatterWindows(const RunLengthTask task, const Line * lines, std::uint32_t numberOfLines, KeyShape shape,
               std::uint64_t firstWindow, std::uint32_t numberOfWindows, Key * keys)
{
  for (std::uint32_t k = blockIdx.y; k < numberOfLines; k += gridDim.y)
  {
    const Line          line = lines[k];
    const auto          length = static_cast<std::uint32_t>(line.length);
    const int *         step = task.directions.steps[line.direction];
    const std::uint64_t entries = std::uint64_t{ numberOfWindows } * length;
    Key *               target = keys + std::uint64_t{ numberOfWindows } * line.entriesBefore;
    ForEachInGrid(static_cast<std::int64_t>(entries), [&](std::uint64_t i) {
      const std::uint64_t window = i / length;
      const auto          l = static_cast<std::int64_t>(i % length);
      std::int64_t        at[3];
      LocateWindow(task, firstWindow + window, at);
      // Windows of absent voxels have no features, so they need no runs.
      Level level = LevelAt(task, at[0], at[1], at[2]);
      if (level != 0)
      {
        level = LevelAt(task,
                        at[0] - task.anchor[0] + line.start[0] + l * step[0],
                        at[1] - task.anchor[1] + line.start[1] + l * step[1],
                        at[2] - task.anchor[2] + line.start[2] + l * step[2]);
      }
      target[i] = (window * shape.levels + level) * 2 + (k & 1);
    });
  }
}

/** Step 3: the keys of window and level, and of window, length and level, of each run. */
__global__ void
AppendLengths(const Key * lineKeys, const Count * runLengths, std::uint32_t number, KeyShape shape, Key * levelKeys,
              Key * keys)
{
  ForEachInGrid(number, [&](std::int64_t i) {
    const Key levelKey = lineKeys[i] >> 1;
    const Key window = levelKey / shape.levels;
    levelKeys[i] = levelKey;
    keys[i] = (window * shape.lengths + runLengths[i] - 1) * shape.levels + levelKey % shape.levels;
  });
}

/** The sums of a window over its cells. */
inline __device__ RunLengthSums<double>
                  SumCells(const RunLengthTask & task, const Cells & cells, const Cells & levelCells, KeyShape shape,
                           std::uint64_t window)
{
  RunLengthSums<double> sums{};
  ClearRuns(sums);
  Sum           runs = 0;
  Sum           voxels = 0;
  Sum           levels = 0;
  Sum           squares = 0;
  std::int64_t  entropy = 0;
  std::uint32_t i = cells.FindFirst(window * shape.lengths * shape.levels);
  for (std::uint32_t length = 1; length <= shape.lengths; ++length)
  {
    Sum       lengthRuns = 0;
    Sum       lengthSquares = 0;
    Sum       inversesLow = 0;
    Sum       inversesHigh = 0;
    const Key end = (window * shape.lengths + length) * shape.levels;
    for (; i < *cells.number && cells.keys[i] < end; ++i)
    {
      const Key level = cells.keys[i] % shape.levels;
      const Sum count = level != 0 ? cells.counts[i] : 0;
      lengthRuns += count;
      levels += count * level;
      lengthSquares += count * (level * level);
      if (task.needsInverses)
      {
        const Sum inverse = task.inverseSquares[level];
        inversesLow += count * (task.wideInverses ? inverse & 0xffffffffu : inverse);
        inversesHigh += task.wideInverses ? count * (inverse >> 32) : 0;
      }
      if (task.needsEntropy)
      {
        entropy += task.entropyTable[count];
      }
    }
    AddRunsWithLength(sums,
                      task.lengthSquares[length],
                      task.shortRunWeights[length],
                      static_cast<double>(lengthRuns),
                      static_cast<double>(lengthSquares),
                      static_cast<double>(inversesHigh) * 4294967296.0 + static_cast<double>(inversesLow));
    runs += lengthRuns;
    voxels += lengthRuns * length; // (1)
    squares += lengthSquares;
  }
  sums.voxels = static_cast<double>(voxels);
  if (task.needsLevelCounts)
  {
    Sum       levelCountSquares = 0;
    const Key end = (window + 1) * shape.levels;
    for (i = levelCells.FindFirst(window * shape.levels + 1); i < *levelCells.number && levelCells.keys[i] < end; ++i)
    {
      levelCountSquares += Sum{ levelCells.counts[i] } * levelCells.counts[i];
    }
    sums.levelNonUniformity = static_cast<double>(levelCountSquares);
  }
  if (task.needsLevelSum)
  {
    sums.levelVariance = VarianceNumerator(runs, squares, levels);
  }
  if (task.needsEntropy)
  {
    sums.entropy = static_cast<double>(task.entropyTable[runs] - entropy);
  }
  return sums;
}

/** The last step, a thread per window. */
__global__ void
EvaluateWindows(const RunLengthTask task, const Cells cells, const Cells levelCells, KeyShape shape,
                std::uint64_t firstWindow, std::uint32_t numberOfWindows, int matrix, double * averages)
{
  using Division = PlainDivision<double>;
  const int  features = task.numberOfFeatures;
  const bool isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  const bool isLast = !isAverage || matrix == task.directions.number - 1;
  const int  first = isAverage ? 0 : matrix * features;
  ForEachInGrid(numberOfWindows, [&](std::uint64_t w) {
    const RunLengthSums<double>               sums = SumCells(task, cells, levelCells, shape, w);
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(task.scales.shortRunScale));
    const double                              reciprocal = Division::Reciprocal(sums.runs);
    std::int64_t                              at[3];
    LocateWindow(task, firstWindow + w, at);
    const bool isPresent = LevelAt(task, at[0], at[1], at[2]) != 0;
    const auto out = static_cast<std::int64_t>(firstWindow + w) * task.voxelStride;
    for (int f = 0; f < features; ++f)
    {
      double value = task.backgroundValue;
      if (isPresent && isAverage)
      {
        double & sum = averages[w * features + f];
        sum = (matrix == 0 ? 0.0 : sum) + RunLengthAverageTerm(task.features[f], sums, reciprocal);
        value = RunLengthAverage<double, Division>(
          task.features[f], sum, sums.voxels, static_cast<double>(task.directions.number), task.scales);
      }
      else if (isPresent)
      {
        value = RunLengthFeatureValue(task.features[f], sums, divisors, task.scales);
      }
      if (isLast)
      {
        StoreComponent(task, out, first + f, value);
      }
    }
  });
}

KeyShape
MakeKeyShape(const RunLengthTask & task)
{
  return { static_cast<Key>(task.numberOfGrayLevels) + 1, static_cast<Key>(task.directions.longestLine) };
}

int
BitsFor(std::uint64_t numberOfKeys)
{
  int bits = 1;
  while (bits < 64 && ((numberOfKeys - 1) >> bits) != 0)
  {
    ++bits;
  }
  return bits;
}

/** The lines of some directions, in any window. */
std::vector<Line>
CountLines(const RunLengthTask & task, int firstDirection, int endDirection)
{
  std::vector<Line> lines;
  std::uint32_t     entries = 0;
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
          lines.push_back({ { x, y, z }, direction, length, entries });
          entries += static_cast<std::uint32_t>(length);
        }
      }
    }
  }
  return lines;
}

/** The arrays of a batch, laid out in the scratch memory one behind the other. */
struct BatchMemory
{
  Line *      lines;
  Key *       keys[3];
  Count *     counts[2];
  Count *     numbers; // of different keys, one for each array of counts
  double *    averages;
  char *      temporary;
  std::size_t temporaryBytes;

  /** Lay out the memory for so many windows; returns the bytes that are needed. */
  std::uint64_t
  LayOut(const RunLengthTask & task, std::uint64_t windows, void * scratch)
  {
    const std::uint64_t entries = windows * task.maxVoxels;
    std::uint64_t       offset = 0;
    const auto          take = [&offset, scratch](auto *& pointer, std::uint64_t elements) {
      using Element = std::remove_reference_t<decltype(*pointer)>;
      pointer = scratch == nullptr ? nullptr : reinterpret_cast<Element *>(static_cast<char *>(scratch) + offset);
      constexpr std::uint64_t alignment = 256;
      offset += (elements * sizeof(Element) + alignment - 1) / alignment * alignment;
    };
    // A line has at least one of the entries of a window.
    take(lines, task.maxVoxels);
    for (Key *& array : keys)
    {
      take(array, entries);
    }
    take(counts[0], entries);
    take(counts[1], entries);
    take(numbers, 2);
    take(averages,
         task.aggregation == RunLengthJob::Aggregation::Average
           ? windows * static_cast<std::uint64_t>(task.numberOfFeatures)
           : 0);

    // What CUB needs grows with the number, so that this is enough for fewer keys, too.
    cub::DoubleBuffer<Key> both(keys[0], keys[1]);
    std::size_t            encodeBytes = 0;
    std::size_t            sortBytes = 0;
    CheckCuda(cub::DeviceRunLengthEncode::Encode(
                nullptr, encodeBytes, keys[0], keys[1], counts[0], numbers, static_cast<int>(entries)),
              "querying the memory to encode run lengths");
    CheckCuda(cub::DeviceRadixSort::SortKeys(nullptr, sortBytes, both, static_cast<int>(entries)),
              "querying the memory to sort keys");
    temporaryBytes = std::max(encodeBytes, sortBytes);
    take(temporary, temporaryBytes);
    return offset;
  }
};

/** Most windows of a batch, whatever the memory. */
std::uint64_t
MaxWindows(const RunLengthTask & task)
{
  const std::uint64_t byEntries = std::max<std::uint64_t>(maxBatchEntries / task.maxVoxels, 1);
  return std::min({ NumberOfVoxels(task.outputSize), byEntries, maxBatchWindows });
}

/** The windows of a job, batch by batch. */
class Batches
{
public:
  Batches(const RunLengthTask & task, const CudaMethodResources & resources)
    : m_Task(task)
    , m_Resources(resources)
    , m_Shape(MakeKeyShape(task))
  {
    RetryWithSmallerSize(static_cast<std::int64_t>(MaxWindows(task)), 1, [&](std::int64_t windows) {
      m_WindowsPerBatch = static_cast<std::uint64_t>(windows);
      return m_Memory.LayOut(task, m_WindowsPerBatch, resources.scratch) <= resources.scratchBytes;
    });
  }

  void
  Compute()
  {
    const bool                     isMerge = m_Task.aggregation == RunLengthJob::Aggregation::Merge;
    const int                      matrices = isMerge ? 1 : m_Task.directions.number;
    std::vector<std::vector<Line>> lines;
    for (int matrix = 0; matrix < matrices; ++matrix)
    {
      lines.push_back(isMerge ? CountLines(m_Task, 0, m_Task.directions.number)
                              : CountLines(m_Task, matrix, matrix + 1));
    }
    const std::uint64_t windows = NumberOfVoxels(m_Task.outputSize);
    for (std::uint64_t first = 0; first < windows; first += m_WindowsPerBatch)
    {
      const auto number = static_cast<std::uint32_t>(std::min(m_WindowsPerBatch, windows - first));
      for (int matrix = 0; matrix < matrices; ++matrix)
      {
        this->ComputeMatrix(matrix, lines[matrix], first, number);
        m_Resources.checkAbort();
      }
    }
  }

private:
  /** The paper's steps for one matrix of each window of a batch. */
  void
  ComputeMatrix(int matrix, const std::vector<Line> & lines, std::uint64_t firstWindow, std::uint32_t windows)
  {
    const cudaStream_t stream = m_Resources.stream;
    Key * const(&keys)[3] = m_Memory.keys;
    CheckCuda(
      cudaMemcpyAsync(m_Memory.lines, lines.data(), lines.size() * sizeof(Line), cudaMemcpyHostToDevice, stream),
      "copying lines to the device");
    const std::uint32_t    entries = windows * (lines.back().entriesBefore + lines.back().length);
    const auto             numberOfLines = static_cast<std::uint32_t>(lines.size());
    constexpr unsigned int maxRows = 65535;
    const dim3 blocks(BlocksFor(windows * m_Shape.lengths, threadsPerBlock), std::min(numberOfLines, maxRows));
    ScatterWindows<<<blocks, threadsPerBlock, 0, stream>>>(
      m_Task, m_Memory.lines, numberOfLines, m_Shape, firstWindow, windows, keys[0]);
    CheckLaunch("writing out the windows");

    this->Encode(keys[0], keys[1], 0, entries);
    Count runs = 0;
    CheckCuda(cudaMemcpyAsync(&runs, m_Memory.numbers, sizeof(runs), cudaMemcpyDeviceToHost, stream),
              "reading the number of runs");
    CheckCuda(cudaStreamSynchronize(stream), "waiting for the number of runs");
    AppendLengths<<<BlocksFor(runs, threadsPerBlock), threadsPerBlock, 0, stream>>>(
      keys[1], m_Memory.counts[0], runs, m_Shape, keys[0], keys[2]);
    CheckLaunch("appending run lengths to keys");

    Key *       spare = keys[1];
    const Cells levelCells =
      m_Task.needsLevelCounts ? this->CountCells(keys[0], spare, 0, runs, BitsFor(windows * m_Shape.levels)) : Cells{};
    const Cells cells = this->CountCells(keys[2], spare, 1, runs, BitsFor(windows * m_Shape.lengths * m_Shape.levels));
    EvaluateWindows<<<BlocksFor(windows, threadsPerBlock), threadsPerBlock, 0, stream>>>(
      m_Task, cells, levelCells, m_Shape, firstWindow, windows, matrix, m_Memory.averages);
    CheckLaunch("evaluating the features");
    CheckCuda(cudaStreamSynchronize(stream), "computing windows");
  }

  /** Replace each sequence of equal keys by one, and count its keys in an array of counts. */
  void
  Encode(const Key * keys, Key * unique, int array, std::uint32_t number)
  {
    CheckCuda(cub::DeviceRunLengthEncode::Encode(m_Memory.temporary,
                                                 m_Memory.temporaryBytes,
                                                 keys,
                                                 unique,
                                                 m_Memory.counts[array],
                                                 m_Memory.numbers + array,
                                                 static_cast<int>(number),
                                                 m_Resources.stream),
              "encoding run lengths");
  }

  /** Sort keys and count equal ones; one of both arrays of keys has the result, the other one is spare again. */
  Cells
  CountCells(Key * keys, Key *& spare, int array, std::uint32_t number, int bits)
  {
    cub::DoubleBuffer<Key> both(keys, spare);
    CheckCuda(
      cub::DeviceRadixSort::SortKeys(
        m_Memory.temporary, m_Memory.temporaryBytes, both, static_cast<int>(number), 0, bits, m_Resources.stream),
      "sorting keys");
    this->Encode(both.Current(), both.Alternate(), array, number);
    spare = both.Current();
    return { both.Alternate(), m_Memory.counts[array], m_Memory.numbers + array };
  }

  const RunLengthTask &       m_Task;
  const CudaMethodResources & m_Resources;
  const KeyShape              m_Shape;
  BatchMemory                 m_Memory{};
  std::uint64_t               m_WindowsPerBatch{ 0 };
};
} // namespace

CudaScratchBytes
CudaSortReduceScratchBytes(const RunLengthTask & task)
{
  return { BatchMemory{}.LayOut(task, 1, nullptr), BatchMemory{}.LayOut(task, MaxWindows(task), nullptr) };
}

void
ComputeByCudaSortReduce(const RunLengthTask & task, const CudaMethodResources & resources)
{
  Batches(task, resources).Compute();
}
} // namespace voxelmaps
