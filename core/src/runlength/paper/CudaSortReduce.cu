// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// The parallel program of H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci Rep
// 9:10883 (2019), with the paper's names: all windows (ROIs) are written out, and parallel primitives do the rest. It
// differs from the paper where the paper's program would be wrong or inexact:
//  - Keys of adjacent lines differ also if there is one window only, by the line's parity in the lowest bit.
//  - Voxels that are absent (masked, or outside the image) are written out as level 0. Their runs separate those of
//    other levels, and weigh nothing.
//  - Keys have 64 bits where 32 overflow, and there are as many batches of windows as the memory makes necessary.
//  - The sums of a window are integers by run length, in the order that the sort for RLN leaves; the weights of the
//    lengths come last, as in all engines. So the features have the bits of the other engines.
#include "common/WideProduct.h"
#include "cuda/CudaStream.h"
#include "runlength/cuda/CudaRunLengthMethods.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/constant_iterator.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace voxelmaps
{
namespace
{
using Level = std::uint16_t;
using Count = std::uint32_t;
using Sum = std::uint64_t;

constexpr unsigned int threadsPerBlock = 256;
// Larger batches are not faster, and make the user wait for an abort.
constexpr std::uint64_t maxBatchEntries = std::uint64_t{ 1 } << 27;
// From so many entries on, a batch keeps the device busy.
constexpr std::uint64_t largeBatchEntries = std::uint64_t{ 1 } << 24;
constexpr std::uint64_t maxBatchWindows = std::uint64_t{ 1 } << 26;

/** Voxels of a window that lie one after the other along a direction: the paper's rows. */
struct Line
{
  int           start[3];
  int           direction;
  int           length;
  std::uint32_t entriesBefore;
};

/** How the keys of a batch are made of window, level and run length. */
struct KeyShape
{
  std::uint32_t levels;  // with level 0
  std::uint32_t lengths; // longest run
};

/** What a cell of the sparse matrices weighs in a sum. */
enum class Weight : std::uint8_t
{
  Runs,
  Levels,
  Squares,
  InversesLow,
  InversesHigh,
  Entropy
};

// ---------------------------------------------------------------------------------------------------------------------
// Kernels between the primitives

inline __device__ std::uint64_t
                  ThreadNumber()
{
  return std::uint64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
}

inline __device__ std::uint64_t
                  NumberOfThreads()
{
  return std::uint64_t{ gridDim.x } * blockDim.x;
}

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
template <typename TKey>
__global__ void
ScatterWindows(const RunLengthTask task, const Line * lines, std::uint32_t numberOfLines, KeyShape shape,
               std::uint64_t firstWindow, std::uint32_t numberOfWindows, TKey * keys)
{
  for (std::uint32_t k = blockIdx.y; k < numberOfLines; k += gridDim.y)
  {
    const Line          line = lines[k];
    const auto          length = static_cast<std::uint32_t>(line.length);
    const int *         step = task.directions.steps[line.direction];
    const std::uint64_t entries = std::uint64_t{ numberOfWindows } * length;
    TKey *              target = keys + std::uint64_t{ numberOfWindows } * line.entriesBefore;
    for (std::uint64_t i = ThreadNumber(); i < entries; i += NumberOfThreads())
    {
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
      target[i] = static_cast<TKey>((window * shape.levels + level) * 2 + (k & 1));
    }
  }
}

/** Step 3: key_IGL (15). */
template <typename TKey>
__global__ void
AppendLengths(TKey * keys, const Count * runLengths, std::uint32_t number, KeyShape shape)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    keys[i] = (keys[i] >> 1) * shape.lengths + runLengths[i] - 1;
  }
}

/** Window, and run length with the cell's place for the sort, of each cell of the matrices (16, 17). */
template <typename TKey>
__global__ void
SplitCells(const TKey * cells, std::uint32_t number, KeyShape shape, TKey * windows, std::uint8_t * lengths,
           std::uint32_t * places)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    const TKey cell = cells[i];
    windows[i] = cell / shape.lengths / shape.levels;
    lengths[i] = static_cast<std::uint8_t>(cell % shape.lengths + 1);
    places[i] = static_cast<std::uint32_t>(i);
  }
}

/** Where the keys of each window begin, and where the last ones end. Each window has a key. */
template <typename TKey>
__global__ void
FindFirsts(const TKey * keys, std::uint32_t number, std::uint32_t keysPerWindow, std::uint32_t numberOfWindows,
           std::uint32_t * firsts)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    const TKey window = keys[i] / keysPerWindow;
    if (i == 0 || keys[i - 1] / keysPerWindow != window)
    {
      firsts[window] = static_cast<std::uint32_t>(i);
    }
  }
  if (ThreadNumber() == 0)
  {
    firsts[numberOfWindows] = number;
  }
}

/** The terms of a sum over the cells, in the order of the places if they are given. */
template <typename TKey>
__global__ void
WeighCells(const RunLengthTask task, Weight weight, const TKey * cells, const Count * counts,
           const std::uint32_t * places, std::uint32_t number, KeyShape shape, Sum * terms)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    const std::uint64_t place = places != nullptr ? places[i] : i;
    const auto          level = static_cast<std::uint32_t>(cells[place] / shape.lengths % shape.levels);
    const Sum           count = counts[place];
    Sum                 term = 0;
    if (level != 0)
    {
      switch (weight)
      {
        case Weight::Runs:
          term = count;
          break;
        case Weight::Levels:
          term = count * level;
          break;
        case Weight::Squares:
          term = count * (Sum{ level } * level);
          break;
        case Weight::InversesLow:
          term = count * (task.wideInverses ? task.inverseSquares[level] & 0xffffffffu : task.inverseSquares[level]);
          break;
        case Weight::InversesHigh:
          term = count * (task.inverseSquares[level] >> 32);
          break;
        case Weight::Entropy:
          term = static_cast<Sum>(task.entropyTable[count]);
          break;
      }
    }
    terms[i] = term;
  }
}

/** Keys of window and level: still in order. */
template <typename TKey>
__global__ void
DropLengths(const TKey * cells, std::uint32_t number, KeyShape shape, TKey * keys)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    keys[i] = cells[i] / shape.lengths;
  }
}

/** Keys of window and length, after the sort. */
template <typename TKey>
__global__ void
DropLevels(const TKey * cells, const std::uint32_t * places, const std::uint8_t * lengths, std::uint32_t number,
           KeyShape shape, TKey * keys)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    keys[i] = cells[places[i]] / shape.lengths / shape.levels * shape.lengths + lengths[i] - 1;
  }
}

/** For GLN: the squares of the runs of each window and level. */
template <typename TKey>
__global__ void
SquareSums(const TKey * levelKeys, const Sum * sums, std::uint32_t number, KeyShape shape, TKey * windows,
           Sum * squares)
{
  for (std::uint64_t i = ThreadNumber(); i < number; i += NumberOfThreads())
  {
    windows[i] = levelKeys[i] / shape.levels;
    squares[i] = sums[i] * sums[i];
  }
}

/** The sums of all windows of a batch. */
template <typename TKey>
struct WindowSums
{
  // By window.
  const Sum * runs;
  const Sum * levels;
  const Sum * entropies;
  const Sum * levelCountSquares;
  // By window and length.
  const TKey *          lengthKeys;
  const std::uint32_t * firsts;
  const Sum *           lengthRuns;
  const Sum *           squares;
  const Sum *           inversesLow;
  const Sum *           inversesHigh;
};

/** The last step, a thread per window. */
template <typename TKey>
__global__ void
EvaluateWindows(const RunLengthTask task, const WindowSums<TKey> of, KeyShape shape, std::uint64_t firstWindow,
                std::uint32_t numberOfWindows, int matrix, double * averages)
{
  const int  features = task.numberOfFeatures;
  const bool isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  for (std::uint64_t w = ThreadNumber(); w < numberOfWindows; w += NumberOfThreads())
  {
    RunLengthSums<double> sums{};
    ClearRuns(sums);
    Sum voxels = 0;
    Sum squares = 0;
    for (std::uint32_t i = of.firsts[w]; i < of.firsts[w + 1]; ++i)
    {
      const auto length = static_cast<std::uint32_t>(of.lengthKeys[i] % shape.lengths + 1);
      const Sum  squareCount = task.needsSquares ? of.squares[i] : 0;
      double     inverses = 0.0;
      if (task.needsInverses)
      {
        inverses = static_cast<double>(of.inversesLow[i]);
        if (task.wideInverses)
        {
          inverses = static_cast<double>(of.inversesHigh[i]) * 4294967296.0 + inverses;
        }
      }
      AddRunsWithLength(sums,
                        task.lengthSquares[length],
                        task.shortRunWeights[length],
                        static_cast<double>(of.lengthRuns[i]),
                        static_cast<double>(squareCount),
                        inverses);
      voxels += of.lengthRuns[i] * length; // (1)
      squares += squareCount;
    }
    sums.voxels = static_cast<double>(voxels);
    if (task.needsLevelCounts)
    {
      sums.levelNonUniformity = static_cast<double>(of.levelCountSquares[w]);
    }
    if (task.needsLevelSum)
    {
      sums.levelVariance = VarianceNumerator(of.runs[w], squares, of.levels[w]);
    }
    if (task.needsEntropy)
    {
      sums.entropy = static_cast<double>(task.entropyTable[of.runs[w]] - static_cast<std::int64_t>(of.entropies[w]));
    }

    using Division = PlainDivision<double>;
    const RunLengthDivisors<double, Division> divisors(sums, Division::By(task.scales.shortRunScale));
    const double                              reciprocal = Division::Reciprocal(sums.runs);
    std::int64_t                              at[3];
    LocateWindow(task, firstWindow + w, at);
    const bool isPresent = LevelAt(task, at[0], at[1], at[2]) != 0;
    const bool isLast = !isAverage || matrix == task.directions.number - 1;
    const auto out = static_cast<std::int64_t>(firstWindow + w) * task.voxelStride;
    const int  first = isAverage ? 0 : matrix * features;
    for (int f = 0; f < features; ++f)
    {
      double value = task.backgroundValue;
      if (isPresent)
      {
        if (isAverage)
        {
          double & sum = averages[w * features + f];
          sum = (matrix == 0 ? 0.0 : sum) + RunLengthAverageTerm(task.features[f], sums, reciprocal);
          value = RunLengthAverage<double, Division>(
            task.features[f], sum, sums.voxels, static_cast<double>(task.directions.number), task.scales);
        }
        else
        {
          value = RunLengthFeatureValue(task.features[f], sums, divisors, task.scales);
        }
      }
      if (isLast)
      {
        StoreComponent(task, out, first + f, value);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Primitives

/** Memory that CUB asks for, and the stream it works in. */
struct Workspace
{
  void *       temporary{ nullptr };
  std::size_t  temporaryBytes{ 0 };
  cudaStream_t stream{ nullptr };
};

/** How many times each key occurs in a row: reduce by key of as many ones. */
template <typename TKey>
void
CountByKey(Workspace & work, const TKey * keys, std::uint32_t number, TKey * uniqueKeys, Count * counts,
           Count * numberOfUnique)
{
  CheckCuda(cub::DeviceReduce::ReduceByKey(work.temporary,
                                           work.temporaryBytes,
                                           keys,
                                           uniqueKeys,
                                           thrust::constant_iterator<Count>(1),
                                           counts,
                                           numberOfUnique,
                                           cuda::std::plus<>{},
                                           static_cast<int>(number),
                                           work.stream),
            "counting by key");
}

template <typename TKey>
void
SumByKey(Workspace & work, const TKey * keys, const Sum * terms, std::uint32_t number, TKey * uniqueKeys, Sum * sums,
         Count * numberOfUnique)
{
  CheckCuda(cub::DeviceReduce::ReduceByKey(work.temporary,
                                           work.temporaryBytes,
                                           keys,
                                           uniqueKeys,
                                           terms,
                                           sums,
                                           numberOfUnique,
                                           cuda::std::plus<>{},
                                           static_cast<int>(number),
                                           work.stream),
            "summing by key");
}

template <typename TKey>
void
SortKeys(Workspace & work, cub::DoubleBuffer<TKey> & keys, std::uint32_t number, int bits)
{
  CheckCuda(cub::DeviceRadixSort::SortKeys(
              work.temporary, work.temporaryBytes, keys, static_cast<int>(number), 0, bits, work.stream),
            "sorting keys");
}

/** Sort the run lengths of each window, and the places of the cells with them. */
void
SortWindowLengths(Workspace & work, const std::uint8_t * lengths, std::uint8_t * sortedLengths,
                  const std::uint32_t * places, std::uint32_t * sortedPlaces, std::uint32_t number,
                  std::uint32_t numberOfWindows, const std::uint32_t * firsts)
{
  CheckCuda(cub::DeviceSegmentedSort::SortPairs(work.temporary,
                                                work.temporaryBytes,
                                                lengths,
                                                sortedLengths,
                                                places,
                                                sortedPlaces,
                                                static_cast<int>(number),
                                                static_cast<int>(numberOfWindows),
                                                firsts,
                                                firsts + 1,
                                                work.stream),
            "sorting the lengths of each window");
}

// ---------------------------------------------------------------------------------------------------------------------
// Batches of windows

KeyShape
MakeKeyShape(const RunLengthTask & task)
{
  return { static_cast<std::uint32_t>(task.numberOfGrayLevels) + 1,
           static_cast<std::uint32_t>(task.directions.longestLine) };
}

/** Different keys that one window may have, in step 1 or after step 3. */
std::uint64_t
KeysPerWindow(const KeyShape & shape)
{
  return std::uint64_t{ shape.levels } * std::max<std::uint32_t>(shape.lengths, 2);
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
template <typename TKey>
struct BatchMemory
{
  Line *          lines;
  TKey *          keys[3];
  Count *         counts;
  Sum *           terms;
  Sum *           sums;
  std::uint32_t * places[2];
  std::uint8_t *  lengths[2];
  Sum *           windowRuns;
  Sum *           windowLevels;
  Sum *           windowEntropies;
  Sum *           levelCountSquares;
  Sum *           lengthRuns;
  Sum *           squares;
  Sum *           inversesLow;
  Sum *           inversesHigh;
  std::uint32_t * firsts;
  double *        averages;
  Count *         numberOfUnique;
  void *          temporary;
  std::size_t     temporaryBytes;

  /** Lay out the memory for so many windows; returns the bytes that are needed. */
  std::uint64_t
  LayOut(const RunLengthTask & task, std::uint64_t windows, void * scratch)
  {
    const std::uint64_t entries = windows * task.maxVoxels;
    const auto          number = static_cast<std::uint32_t>(entries);
    const std::uint64_t lengthCells =
      windows * std::min<std::uint64_t>(task.maxVoxels, static_cast<std::uint64_t>(task.directions.longestLine));
    std::uint64_t offset = 0;
    const auto    take = [&offset, scratch](auto *& pointer, std::uint64_t elements) {
      using Element = std::remove_reference_t<decltype(*pointer)>;
      pointer = scratch == nullptr ? nullptr : reinterpret_cast<Element *>(static_cast<char *>(scratch) + offset);
      constexpr std::uint64_t alignment = 256;
      offset += (elements * sizeof(Element) + alignment - 1) / alignment * alignment;
    };
    // A line has at least one of the entries of a window.
    take(lines, task.maxVoxels);
    for (TKey *& array : keys)
    {
      take(array, entries);
    }
    take(counts, entries);
    take(terms, entries);
    take(sums, entries);
    for (int i = 0; i < 2; ++i)
    {
      take(places[i], entries);
      take(lengths[i], entries);
    }
    take(windowRuns, windows);
    take(windowLevels, task.needsLevelSum ? windows : 0);
    take(windowEntropies, task.needsEntropy ? windows : 0);
    take(levelCountSquares, task.needsLevelCounts ? windows : 0);
    take(lengthRuns, lengthCells);
    take(squares, task.needsSquares ? lengthCells : 0);
    take(inversesLow, task.needsInverses ? lengthCells : 0);
    take(inversesHigh, task.needsInverses && task.wideInverses ? lengthCells : 0);
    take(firsts, windows + 1);
    take(averages,
         task.aggregation == RunLengthJob::Aggregation::Average
           ? windows * static_cast<std::uint64_t>(task.numberOfFeatures)
           : 0);
    take(numberOfUnique, 1);

    // What CUB needs grows with the number, so that this is enough for fewer keys, too.
    temporaryBytes = 0;
    const auto ask = [this](const auto & primitive) {
      Workspace query;
      primitive(query);
      temporaryBytes = std::max(temporaryBytes, query.temporaryBytes);
    };
    ask([&](Workspace & query) { CountByKey<TKey>(query, keys[0], number, keys[1], counts, numberOfUnique); });
    ask([&](Workspace & query) { SumByKey<TKey>(query, keys[0], terms, number, keys[1], sums, numberOfUnique); });
    ask([&](Workspace & query) {
      cub::DoubleBuffer<TKey> both(keys[0], keys[1]);
      SortKeys(query, both, number, BitsFor(windows * KeysPerWindow(MakeKeyShape(task))));
    });
    ask([&](Workspace & query) {
      SortWindowLengths(
        query, lengths[0], lengths[1], places[0], places[1], number, static_cast<std::uint32_t>(windows), firsts);
    });
    auto * bytes = static_cast<char *>(nullptr);
    take(bytes, temporaryBytes);
    temporary = bytes;
    return offset;
  }
};

/** Most windows of a batch, whatever the memory, with keys of so many bits. */
std::uint64_t
MaxWindows(const RunLengthTask & task, int bits)
{
  const std::uint64_t perWindow = KeysPerWindow(MakeKeyShape(task));
  const std::uint64_t byKeys = bits < 64 ? (std::uint64_t{ 1 } << bits) / perWindow : maxBatchWindows;
  const std::uint64_t byEntries = std::max<std::uint64_t>(maxBatchEntries / task.maxVoxels, 1);
  return std::min({ NumberOfVoxels(task.outputSize), byKeys, byEntries, maxBatchWindows });
}

/** Whether 32 bits are enough for the keys of a batch that is large enough. */
bool
Has32BitKeys(const RunLengthTask & task)
{
  const std::uint64_t maximum = MaxWindows(task, 32);
  return maximum > 0 && (maximum >= NumberOfVoxels(task.outputSize) || maximum * task.maxVoxels >= largeBatchEntries);
}

template <typename TKey>
class Batches
{
public:
  Batches(const RunLengthTask & task, const CudaMethodResources & resources)
    : m_Task(task)
    , m_Resources(resources)
    , m_Shape(MakeKeyShape(task))
  {
    const std::uint64_t maximum = MaxWindows(task, 8 * sizeof(TKey));
    m_WindowsPerBatch = maximum;
    if (m_Memory.LayOut(task, maximum, resources.scratch) > resources.scratchBytes)
    {
      // The maximum number of windows that fits.
      std::uint64_t fits = 0;
      std::uint64_t fitsNot = maximum;
      while (fitsNot - fits > 1)
      {
        const std::uint64_t middle = fits + (fitsNot - fits) / 2;
        (m_Memory.LayOut(task, middle, resources.scratch) <= resources.scratchBytes ? fits : fitsNot) = middle;
      }
      if (fits == 0)
      {
        const std::uint64_t needed = m_Memory.LayOut(task, 1, resources.scratch);
        throw CudaOutOfMemory("SortReduce needs " + std::to_string(needed) +
                              " bytes of device memory for a window, but was given " +
                              std::to_string(resources.scratchBytes) + ".");
      }
      m_WindowsPerBatch = fits;
      m_Memory.LayOut(task, fits, resources.scratch);
    }
    m_Work.temporary = m_Memory.temporary;
    m_Work.temporaryBytes = m_Memory.temporaryBytes;
    m_Work.stream = resources.stream;
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
    for (m_FirstWindow = 0; m_FirstWindow < windows; m_FirstWindow += m_WindowsPerBatch)
    {
      m_NumberOfWindows = static_cast<std::uint32_t>(std::min(m_WindowsPerBatch, windows - m_FirstWindow));
      for (int matrix = 0; matrix < matrices; ++matrix)
      {
        this->ComputeMatrix(matrix, lines[matrix]);
        m_Resources.checkAbort();
      }
    }
  }

private:
  /** Blocks for so many elements. */
  static dim3
  Blocks(std::uint64_t elements, std::uint32_t rows = 1)
  {
    constexpr std::uint64_t maxBlocks = std::uint64_t{ 1 } << 20;
    constexpr std::uint32_t maxRows = 65535;
    const std::uint64_t     blocks = (elements + threadsPerBlock - 1) / threadsPerBlock;
    return dim3(static_cast<unsigned int>(std::min(std::max<std::uint64_t>(blocks, 1), maxBlocks)),
                std::min(rows, maxRows));
  }

  /** The number that a primitive left on the device. */
  std::uint32_t
  ReadNumber() const
  {
    Count number = 0;
    CheckCuda(
      cudaMemcpyAsync(&number, m_Memory.numberOfUnique, sizeof(number), cudaMemcpyDeviceToHost, m_Resources.stream),
      "reading a number of keys");
    CheckCuda(cudaStreamSynchronize(m_Resources.stream), "waiting for a number of keys");
    return number;
  }

  void
  ComputeMatrix(int matrix, const std::vector<Line> & lines)
  {
    this->MakeMatrices(lines);
    this->SumByWindow();
    this->SumByLevel();
    this->SumByLength();
    this->Evaluate(matrix);
    CheckCuda(cudaStreamSynchronize(m_Resources.stream), "computing windows");
  }

  /** The paper's steps 1 to 5: key_GLRLMs in m_Cells and nnz_GLRLMs in m_Memory.counts. */
  void
  MakeMatrices(const std::vector<Line> & lines)
  {
    CheckCuda(cudaMemcpyAsync(
                m_Memory.lines, lines.data(), lines.size() * sizeof(Line), cudaMemcpyHostToDevice, m_Resources.stream),
              "copying lines to the device");
    const std::uint64_t entries = std::uint64_t{ m_NumberOfWindows } *
                                  (lines.back().entriesBefore + static_cast<std::uint32_t>(lines.back().length));
    const auto numberOfLines = static_cast<std::uint32_t>(lines.size());
    const auto longest = static_cast<std::uint64_t>(m_Shape.lengths);
    ScatterWindows<<<Blocks(m_NumberOfWindows * longest, numberOfLines), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Task, m_Memory.lines, numberOfLines, m_Shape, m_FirstWindow, m_NumberOfWindows, m_Memory.keys[0]);
    CheckLaunch("writing out the windows");

    CountByKey(m_Work,
               m_Memory.keys[0],
               static_cast<std::uint32_t>(entries),
               m_Memory.keys[1],
               m_Memory.counts,
               m_Memory.numberOfUnique);
    const std::uint32_t runs = this->ReadNumber();

    AppendLengths<<<Blocks(runs), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Memory.keys[1], m_Memory.counts, runs, m_Shape);
    CheckLaunch("appending run lengths to keys");

    cub::DoubleBuffer<TKey> both(m_Memory.keys[1], m_Memory.keys[0]);
    SortKeys(m_Work, both, runs, BitsFor(m_NumberOfWindows * KeysPerWindow(m_Shape)));

    m_Cells = both.Alternate();
    m_FreeKeys = both.Current();
    CountByKey(m_Work, both.Current(), runs, m_Cells, m_Memory.counts, m_Memory.numberOfUnique);
    m_NumberOfCells = this->ReadNumber();
  }

  void
  Weigh(Weight weight, const std::uint32_t * places = nullptr)
  {
    WeighCells<<<Blocks(m_NumberOfCells), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Task, weight, m_Cells, m_Memory.counts, places, m_NumberOfCells, m_Shape, m_Memory.terms);
    CheckLaunch("weighing the cells of matrices");
  }

  void
  SumTerms(std::uint32_t number, Sum * sums)
  {
    SumByKey(m_Work, m_Memory.keys[2], m_Memory.terms, number, m_FreeKeys, sums, m_Memory.numberOfUnique);
  }

  /** The paper's first category, the runs of each window; and sums of the same kind that its features do not need. */
  void
  SumByWindow()
  {
    SplitCells<<<Blocks(m_NumberOfCells), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Cells, m_NumberOfCells, m_Shape, m_Memory.keys[2], m_Memory.lengths[0], m_Memory.places[0]);
    CheckLaunch("splitting keys");
    this->Weigh(Weight::Runs);
    this->SumTerms(m_NumberOfCells, m_Memory.windowRuns);
    if (m_Task.needsLevelSum)
    {
      this->Weigh(Weight::Levels);
      this->SumTerms(m_NumberOfCells, m_Memory.windowLevels);
    }
    if (m_Task.needsEntropy)
    {
      this->Weigh(Weight::Entropy);
      this->SumTerms(m_NumberOfCells, m_Memory.windowEntropies);
    }
  }

  /** The third category: GLN. */
  void
  SumByLevel()
  {
    if (!m_Task.needsLevelCounts)
    {
      return;
    }
    DropLengths<<<Blocks(m_NumberOfCells), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Cells, m_NumberOfCells, m_Shape, m_Memory.keys[2]);
    CheckLaunch("dropping run lengths from keys");
    this->Weigh(Weight::Runs);
    this->SumTerms(m_NumberOfCells, m_Memory.sums);
    const std::uint32_t levels = this->ReadNumber();
    SquareSums<<<Blocks(levels), threadsPerBlock, 0, m_Resources.stream>>>(
      m_FreeKeys, m_Memory.sums, levels, m_Shape, m_Memory.keys[2], m_Memory.terms);
    CheckLaunch("squaring sums");
    this->SumTerms(levels, m_Memory.levelCountSquares);
  }

  /** The third category, RLN, with a sort of its own; and in its order the second one. */
  void
  SumByLength()
  {
    FindFirsts<<<Blocks(m_NumberOfCells), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Cells, m_NumberOfCells, m_Shape.levels * m_Shape.lengths, m_NumberOfWindows, m_Memory.firsts);
    CheckLaunch("finding the windows among the cells");
    SortWindowLengths(m_Work,
                      m_Memory.lengths[0],
                      m_Memory.lengths[1],
                      m_Memory.places[0],
                      m_Memory.places[1],
                      m_NumberOfCells,
                      m_NumberOfWindows,
                      m_Memory.firsts);
    DropLevels<<<Blocks(m_NumberOfCells), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Cells, m_Memory.places[1], m_Memory.lengths[1], m_NumberOfCells, m_Shape, m_Memory.keys[2]);
    CheckLaunch("dropping levels from keys");

    std::vector<std::pair<Weight, Sum *>> wanted{ { Weight::Runs, m_Memory.lengthRuns } };
    if (m_Task.needsSquares)
    {
      wanted.emplace_back(Weight::Squares, m_Memory.squares);
    }
    if (m_Task.needsInverses)
    {
      wanted.emplace_back(Weight::InversesLow, m_Memory.inversesLow);
      if (m_Task.wideInverses)
      {
        wanted.emplace_back(Weight::InversesHigh, m_Memory.inversesHigh);
      }
    }
    for (const auto & [weight, sums] : wanted)
    {
      this->Weigh(weight, m_Memory.places[1]);
      this->SumTerms(m_NumberOfCells, sums);
    }
    const std::uint32_t lengths = this->ReadNumber();
    FindFirsts<<<Blocks(lengths), threadsPerBlock, 0, m_Resources.stream>>>(
      m_FreeKeys, lengths, m_Shape.lengths, m_NumberOfWindows, m_Memory.firsts);
    CheckLaunch("finding the windows among the lengths");
  }

  void
  Evaluate(int matrix)
  {
    const WindowSums<TKey> of{
      m_Memory.windowRuns,  m_Memory.windowLevels, m_Memory.windowEntropies, m_Memory.levelCountSquares,
      m_FreeKeys,           m_Memory.firsts,       m_Memory.lengthRuns,      m_Memory.squares,
      m_Memory.inversesLow, m_Memory.inversesHigh
    };
    EvaluateWindows<<<Blocks(m_NumberOfWindows), threadsPerBlock, 0, m_Resources.stream>>>(
      m_Task, of, m_Shape, m_FirstWindow, m_NumberOfWindows, matrix, m_Memory.averages);
    CheckLaunch("evaluating the features");
  }

  const RunLengthTask &       m_Task;
  const CudaMethodResources & m_Resources;
  const KeyShape              m_Shape;
  BatchMemory<TKey>           m_Memory{};
  Workspace                   m_Work;
  std::uint64_t               m_WindowsPerBatch{ 0 };

  // The batch, and its matrices of a direction.
  std::uint64_t m_FirstWindow{ 0 };
  std::uint32_t m_NumberOfWindows{ 0 };
  TKey *        m_Cells{ nullptr };
  TKey *        m_FreeKeys{ nullptr };
  std::uint32_t m_NumberOfCells{ 0 };
};

template <typename TKey>
std::uint64_t
ScratchBytes(const RunLengthTask & task, std::uint64_t windows)
{
  return BatchMemory<TKey>{}.LayOut(task, windows, nullptr);
}
} // namespace

CudaScratchBytes
CudaSortReduceScratchBytes(const RunLengthTask & task)
{
  return Has32BitKeys(task) ? CudaScratchBytes{ ScratchBytes<std::uint32_t>(task, 1),
                                                ScratchBytes<std::uint32_t>(task, MaxWindows(task, 32)) }
                            : CudaScratchBytes{ ScratchBytes<std::uint64_t>(task, 1),
                                                ScratchBytes<std::uint64_t>(task, MaxWindows(task, 64)) };
}

void
ComputeByCudaSortReduce(const RunLengthTask & task, const CudaMethodResources & resources)
{
  if (Has32BitKeys(task))
  {
    Batches<std::uint32_t>(task, resources).Compute();
  }
  else
  {
    Batches<std::uint64_t>(task, resources).Compute();
  }
}
} // namespace voxelmaps
