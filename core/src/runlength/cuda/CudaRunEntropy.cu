// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Run entropy, which the fast methods leave out: it needs the runs of each level and length. A thread walks the lines
// of one window and counts in a table of its own in shared memory, by length and by rank of the level in the window.
#include "CudaRunLengthMethods.h"
#include "CudaRunAccumulator.cuh"
#include "texture/cuda/CudaChunkedLaunch.h"
#include "texture/cuda/CudaThreadTables.cuh"
#include "texture/cpu/WindowBox.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
constexpr int threadsPerBlock = 64;
using Tables = CudaThreadTables<threadsPerBlock>;

constexpr auto feature = RunLengthJob::Feature::RunEntropy;

// Bit of a step where a line begins; the other bits are the place of its voxel in the table of the window.
constexpr std::uint32_t lineBegins = 1u << 31;

// Loads in flight before the first use, to hide latency.
constexpr int batchSteps = 8;

// t(n + 1) - t(n) for the counts of bytes are read from shared memory.
constexpr int maxDifferences = 256;

/** The tables of a thread, one after the other. */
struct RunEntropyLayout
{
  /** Counts of one length, of all ranks, and of all lengths. Shared with what gives levels their ranks. */
  int lengthWords;
  int countWords;
  /** A count after all others, which stays 0. */
  int noRunPlace;
  int lookupWords;
  /** For every voxel of the window 1 more than the place of its rank among the counts, 0 if it has no level; and 0
   * after all others. */
  int windowWords;
  int windowVoxels;
  int directionSteps;
  /** Whether ranks are looked up by level; else levels are searched among those before. */
  bool isLookedUp;
  /** Differences of the entropy table in shared memory. */
  int differences;
  /** Component of the output. */
  int component;

  explicit RunEntropyLayout(const RunLengthTask & task)
    : windowVoxels(task.window[0] * task.window[1] * task.window[2])
    , directionSteps(RoundUpToBatch(windowVoxels + 1))
    , differences(static_cast<int>(std::min<std::uint64_t>(task.maxVoxels, maxDifferences)))
    , component(
        static_cast<int>(std::find(task.features, task.features + task.numberOfFeatures, feature) - task.features))
  {
    const int ranks = this->Ranks(task);
    lengthWords =
      HasByteCounts(task) ? Tables::NumberOfWords<std::uint8_t>(ranks) : Tables::NumberOfWords<std::uint16_t>(ranks);
    const int runWords = lengthWords * task.directions.longestLine;
    noRunPlace = runWords * Tables::wordStride + 1;
    countWords = runWords + 1;
    windowWords = Tables::NumberOfWords<std::uint16_t>(windowVoxels + 1);
    // Up to twice the memory of the counts: a search takes longer than less windows at a time.
    lookupWords = Tables::NumberOfWords<std::uint16_t>(task.numberOfGrayLevels + 1);
    isLookedUp = lookupWords <= 2 * countWords;
    if (!isLookedUp)
    {
      lookupWords = Tables::NumberOfWords<std::uint16_t>(ranks);
    }
  }

  static int
  RoundUpToBatch(int steps)
  {
    return (steps + batchSteps - 1) / batchSteps * batchSteps;
  }
  int
  Ranks(const RunLengthTask & task) const
  {
    return std::min(task.numberOfGrayLevels, windowVoxels);
  }
  static bool
  HasByteCounts(const RunLengthTask & task)
  {
    return task.maxVoxels < 256;
  }
  std::size_t
  SharedBytes() const
  {
    return Tables::Bytes(std::max(countWords, lookupWords) + windowWords) +
           static_cast<std::size_t>(differences) * sizeof(std::int64_t);
  }
};

/** Number of runs so far, and the sum of t of their counts. */
struct RunEntropySums
{
  std::uint32_t runs;
  std::int64_t  entropy;
};

template <typename TCount>
class ThreadWindow
{
public:
  __device__
  ThreadWindow(const RunLengthTask & task, const RunEntropyLayout & layout, char * shared)
    : m_Task(task)
    , m_Layout(layout)
    , m_Differences(reinterpret_cast<const std::int64_t *>(shared))
    , m_Ranks(Tables::ThreadTable(shared + layout.differences * sizeof(std::int64_t), 0))
    , m_Counts(m_Ranks + layout.windowWords * Tables::wordStride)
  {}

  /** Give the voxels of the window the ranks of their levels, in the order of appearance. */
  __device__ void
  Load(const std::int64_t (&voxel)[3])
  {
    if (m_Layout.isLookedUp)
    {
      Tables::Clear(m_Counts, m_Layout.lookupWords);
    }
    std::int64_t first[3];
    for (int d = 0; d < 3; ++d)
    {
      first[d] = voxel[d] + m_Task.outputToLevels[d] - m_Task.anchor[d];
    }
    int i = 0;
    int ranks = 0;
    for (std::int64_t z = first[2]; z < first[2] + m_Task.window[2]; ++z)
    {
      const bool hasPlane = z >= 0 && z < m_Task.levelsSize[2];
      for (std::int64_t y = first[1]; y < first[1] + m_Task.window[1]; ++y)
      {
        const bool                  hasRow = hasPlane && y >= 0 && y < m_Task.levelsSize[1];
        const std::uint16_t * const row = m_Task.levels + m_Task.LevelOffset(0, y, z);
        for (std::int64_t x = first[0]; x < first[0] + m_Task.window[0]; ++x, ++i)
        {
          const int level = hasRow && x >= 0 && x < m_Task.levelsSize[0] ? row[x] : 0;
          Tables::At<std::uint16_t>(m_Ranks, Tables::Offset<std::uint16_t>(i)) = level == 0 ? 0
                                                                                 : m_Layout.isLookedUp
                                                                                   ? this->LookUp(level, ranks)
                                                                                   : this->Search(level, ranks);
        }
      }
    }
    Tables::At<std::uint16_t>(m_Ranks, Tables::Offset<std::uint16_t>(m_Layout.windowVoxels)) = 0;
    Tables::Clear(m_Counts, m_Layout.countWords);
  }

  /** Add the runs along all lines of a direction. */
  __device__ void
  AddDirection(const std::uint32_t * steps, RunEntropySums & sums)
  {
    int rankBefore = 0;
    int place = 0;
    for (int first = 0; first < m_Layout.directionSteps; first += batchSteps)
    {
      std::uint32_t batch[batchSteps];
      int           ranks[batchSteps];
#pragma unroll
      for (int i = 0; i < batchSteps; i += 4)
      {
        const uint4 four = __ldg(reinterpret_cast<const uint4 *>(steps + first + i));
        batch[i] = four.x;
        batch[i + 1] = four.y;
        batch[i + 2] = four.z;
        batch[i + 3] = four.w;
      }
#pragma unroll
      for (int i = 0; i < batchSteps; ++i)
      {
        ranks[i] = Tables::At<std::uint16_t>(m_Ranks, static_cast<int>(batch[i] & ~lineBegins));
      }
#pragma unroll
      for (int i = 0; i < batchSteps; ++i)
      {
        const bool isFirst = ranks[i] != rankBefore || (batch[i] & lineBegins) != 0;
        this->CountRun(isFirst && rankBefore != 0, place, sums);
        place = isFirst ? ranks[i] : place + m_Layout.lengthWords * Tables::wordStride;
        rankBefore = ranks[i];
      }
    }
  }

  __device__ void
  ClearCounts()
  {
    Tables::Clear(m_Counts, m_Layout.countWords);
  }

private:
  static __device__ std::uint16_t
                    RankPlace(int rank)
  {
    return static_cast<std::uint16_t>(Tables::Offset<TCount>(rank) + 1);
  }

  __device__ std::uint16_t
             LookUp(int level, int & ranks)
  {
    auto & place = Tables::At<std::uint16_t>(m_Counts, Tables::Offset<std::uint16_t>(level));
    if (place == 0)
    {
      place = RankPlace(ranks++);
    }
    return place;
  }
  __device__ std::uint16_t
             Search(int level, int & ranks)
  {
    int rank = 0;
    while (rank < ranks && Tables::At<std::uint16_t>(m_Counts, Tables::Offset<std::uint16_t>(rank)) != level)
    {
      ++rank;
    }
    if (rank == ranks)
    {
      Tables::At<std::uint16_t>(m_Counts, Tables::Offset<std::uint16_t>(ranks++)) = static_cast<std::uint16_t>(level);
    }
    return RankPlace(rank);
  }

  /** Count the run at a place if it has ended. Without a branch, so that the next steps need not wait. The differences
   * add up to t(P(i, l)) in any order of the runs. */
  __device__ void
  CountRun(bool hasEnded, int place, RunEntropySums & sums)
  {
    auto &    count = Tables::At<TCount>(m_Counts, (hasEnded ? place : m_Layout.noRunPlace) - 1);
    const int before = count;
    count = static_cast<TCount>(hasEnded ? before + 1 : 0);
    const std::int64_t difference = sizeof(TCount) == 1 || before < m_Layout.differences
                                      ? m_Differences[before]
                                      : m_Task.entropyTable[before + 1] - m_Task.entropyTable[before];
    sums.entropy += hasEnded ? difference : 0;
    sums.runs += hasEnded ? 1 : 0;
  }

  const RunLengthTask &    m_Task;
  const RunEntropyLayout & m_Layout;
  const std::int64_t *     m_Differences;
  char *                   m_Ranks;
  char *                   m_Counts;
};

template <typename TCount>
__global__ void
__launch_bounds__(threadsPerBlock)
  RunEntropyKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ RunEntropyLayout layout,
                   const std::uint32_t * __restrict__ steps, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  auto * const                         differences = reinterpret_cast<std::int64_t *>(shared);
  for (int n = threadIdx.x; n < layout.differences; n += threadsPerBlock)
  {
    differences[n] = task.entropyTable[n + 1] - task.entropyTable[n];
  }
  __syncthreads();

  const std::int64_t number = firstWindow + std::int64_t{ blockIdx.x } * threadsPerBlock + threadIdx.x;
  if (number >= endWindow)
  {
    return;
  }
  const std::int64_t row = number / task.outputSize[0];
  const std::int64_t voxel[3] = { number - row * task.outputSize[0],
                                  row % task.outputSize[1],
                                  row / task.outputSize[1] };
  const std::int64_t out = number * task.voxelStride;
  const bool         isPerDirection = task.aggregation == RunLengthJob::Aggregation::PerDirection;
  if (!WindowBox(task, voxel).isComputed)
  {
    for (int d = 0; d < (isPerDirection ? task.directions.number : 1); ++d)
    {
      StoreComponentOrNaN(task, out, d * task.numberOfFeatures + layout.component, task.backgroundValue);
    }
    return;
  }

  ThreadWindow<TCount> window(task, layout, shared);
  window.Load(voxel);
  RunEntropySums matrixSums{};
  double         average = 0.0;
  const int      directionsPerMatrix = task.DirectionsPerMatrix();
  for (int d = 0; d < task.directions.number; ++d)
  {
    window.AddDirection(steps + d * layout.directionSteps, matrixSums);
    if ((d + 1) % directionsPerMatrix != 0)
    {
      continue;
    }
    RunLengthSums<double> sums{};
    sums.runs = static_cast<double>(matrixSums.runs);
    sums.entropy = static_cast<double>(task.entropyTable[matrixSums.runs] - matrixSums.entropy);
    if (task.aggregation == RunLengthJob::Aggregation::Average)
    {
      average += RunLengthAverageTerm(feature, sums, CudaDivision::Reciprocal(sums.runs));
    }
    else
    {
      const double quotient = CudaDivision::Quotient(RunLengthNumerator(feature, sums), CudaDivision::By(sums.runs));
      StoreComponent(task,
                     out,
                     d / directionsPerMatrix * task.numberOfFeatures + layout.component,
                     RunLengthToUnit(feature, quotient, task.scales));
    }
    matrixSums = {};
    window.ClearCounts();
  }
  if (task.aggregation == RunLengthJob::Aggregation::Average)
  {
    StoreComponent(task,
                   out,
                   layout.component,
                   RunLengthAverage<double, CudaDivision>(
                     feature, average, 1.0, static_cast<double>(task.directions.number), task.scales));
  }
}
} // namespace

bool
CudaRunEntropySupports(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  if (CudaRunEntropyBitsSupports(task))
  {
    return true;
  }
  // The counts of one length, since the places of their ranks have 16 bits.
  constexpr int          maxLengthWords = 65535 / Tables::wordStride;
  const RunEntropyLayout layout(task);
  return layout.lengthWords <= maxLengthWords && task.maxVoxels < 65536 &&
         layout.SharedBytes() <= limits.maxSharedMemoryPerBlock;
}

std::vector<std::uint32_t>
MakeCudaRunEntropySteps(const RunLengthTask & task)
{
  if (CudaRunEntropyBitsSupports(task))
  {
    return {};
  }
  const RunEntropyLayout     layout(task);
  std::vector<std::uint32_t> steps;
  const auto                 contains = [&task](const int(&at)[3]) {
    return std::equal(at, at + 3, task.window, [](int index, int size) { return index >= 0 && index < size; });
  };
  for (int d = 0; d < task.directions.number; ++d)
  {
    const auto & step = task.directions.steps[d];
    for (int i = 0; i < layout.windowVoxels; ++i)
    {
      int at[3] = { i % task.window[0], i / task.window[0] % task.window[1], i / (task.window[0] * task.window[1]) };
      const int before[3] = { at[0] - step[0], at[1] - step[1], at[2] - step[2] };
      if (contains(before))
      {
        continue;
      }
      std::uint32_t bit = lineBegins;
      for (; contains(at); bit = 0)
      {
        const int number = (at[2] * task.window[1] + at[1]) * task.window[0] + at[0];
        steps.push_back(static_cast<std::uint32_t>(Tables::Offset<std::uint16_t>(number)) | bit);
        std::transform(at, at + 3, step, at, [](int index, int offset) { return index + offset; });
      }
    }
    // Voxels without level end the last run.
    steps.resize(static_cast<std::size_t>((d + 1) * layout.directionSteps),
                 static_cast<std::uint32_t>(Tables::Offset<std::uint16_t>(layout.windowVoxels)));
  }
  return steps;
}

void
ComputeCudaRunEntropy(const RunLengthTask & task, const std::uint32_t * steps, const CudaMethodResources & resources)
{
  if (CudaRunEntropyBitsSupports(task))
  {
    return ComputeCudaRunEntropyBits(task, resources);
  }
  const RunEntropyLayout layout(task);
  const auto             bytes = layout.SharedBytes();
  const auto             kernel =
    RunEntropyLayout::HasByteCounts(task) ? RunEntropyKernel<std::uint8_t> : RunEntropyKernel<std::uint16_t>;
  AllowSharedMemory(kernel, bytes);

  // In parts of less than a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 35;
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  const std::int64_t     part =
    partSteps / (std::int64_t{ layout.directionSteps } * task.directions.number) / threadsPerBlock * threadsPerBlock;
  LaunchChunked(
    windows, part, resources, "starting the kernel of run entropy", [&](std::int64_t first, std::int64_t end) {
      kernel<<<BlocksFor(static_cast<std::uint64_t>(end - first), threadsPerBlock),
               threadsPerBlock,
               bytes,
               resources.stream>>>(task, layout, steps, first, end);
    });
}
} // namespace voxelmaps
