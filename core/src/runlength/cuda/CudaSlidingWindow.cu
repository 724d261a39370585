// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Windows slide along y: one row of voxels leaves, one enters. For windows and aggregations that BoxSums has no kernels
// for; doc/run-length-engine.md has the identities.
//
// LevelsKernel counts the runs of each level, which GLN and GLV need. A thread owns the window of one column of
// outputs, and keeps the counts of all levels in shared memory. The runs of a window are its voxels that are not linked
// to the next one of their run.
//
// RunsKernel sums over the starts of k equal voxels in a row (S_k). A thread owns one column of voxels; sums over x
// follow for each output. The starts in a window are those that end in a row that entered, less those that began in a
// row that left.
#include "CudaRunAccumulator.cuh"
#include "CudaSlidingWindowLevels.cuh"
#include "CudaSlidingWindowRuns.cuh"
#include "common/WideInteger.h"

#include <limits>

namespace voxelmaps
{
namespace slidingwindow
{
namespace
{
/** Number of equal voxels from one on along a direction, or back, at most as many as a line of the window has. */
__device__ int
MeasureRun(const RunLengthTask & task, std::int64_t x, std::int64_t y, std::int64_t z, const TurnedStep & step,
           int sign, int longest)
{
  const std::uint16_t * level = task.levels + task.LevelOffset(x, y, z);
  const std::int64_t    stride = sign * task.LevelOffset(step.x, step.y, step.z);
  const auto            reach = [sign, longest](int s, std::int64_t at, std::int64_t size) {
    return s == 0 ? std::int64_t{ longest } : sign * s > 0 ? size - at : at + 1;
  };
  const std::int64_t most = min(min(reach(step.x, x, task.levelsSize[0]), reach(step.y, y, task.levelsSize[1])),
                                min(reach(step.z, z, task.levelsSize[2]), std::int64_t{ longest }));
  int                length = 1;
  while (length < most && level[length * stride] == *level)
  {
    ++length;
  }
  return length;
}

/** Links, lengths and weights of all voxels that windows reach; all is 0 beyond the levels. */
__global__ void
LengthsKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
              const __grid_constant__ SlidingBuffers buffers)
{
  const std::int64_t column = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  const std::int64_t x = column + task.outputToLevels[0] - task.anchor[0];
  if (column >= layout.pitch)
  {
    return;
  }
  int                longestRun = 1;
  const std::int64_t planeRows = task.levelsSize[1] * task.levelsSize[2];
  for (std::int64_t row = blockIdx.y; row < planeRows; row += gridDim.y)
  {
    const std::int64_t  y = row % task.levelsSize[1];
    const std::int64_t  z = row / task.levelsSize[1];
    const std::uint32_t level =
      x >= 0 && x < task.levelsSize[0] ? task.levels[task.LevelOffset(x, y, z)] : std::uint32_t{ 0 };
    const std::int64_t at = row * layout.pitch + column;
    VoxelSums          weight{ 0, 0 };
    if (level != 0)
    {
      weight.packed = (std::uint64_t{ 1 } << layout.squareBits) +
                      (task.needsSquares ? std::uint64_t{ level } * level : std::uint64_t{ 0 });
      weight.inverses = task.needsInverses ? task.inverseSquares[level] : 0;
    }
    buffers.weights[at] = weight;
    std::uint32_t links[numberOfPassages] = { level, level };
    for (int d = 0; d < task.directions.number; ++d)
    {
      const TurnedStep & step = layout.steps[d];
      int                forward = 0;
      int                backward = 0;
      if (level != 0)
      {
        const int longest = task.directions.longestLines[d];
        forward = MeasureRun(task, x, y, z, step, 1, longest);
        backward = step.y == 0 ? forward : MeasureRun(task, x, y, z, step, -1, longest);
      }
      longestRun = max(longestRun, forward);
      links[Enters] |= (backward > 1 ? 1u : 0u) << (linkShift + d);
      links[Leaves] |= (forward > 1 ? 1u : 0u) << (linkShift + d);
      buffers.lengths[Enters][d * layout.voxels + at] = static_cast<std::uint8_t>(backward);
      buffers.lengths[Leaves][d * layout.voxels + at] = static_cast<std::uint8_t>(forward);
    }
    buffers.links[Enters][at] = links[Enters];
    buffers.links[Leaves][at] = links[Leaves];
  }
  atomicMax(buffers.longestRun, longestRun);
}

/** Sums over the runs of a matrix of an output. */
__device__ RunLengthSums<double>
           LoadSums(const RunLengthTask & task, const SlidingBuffers & buffers, int matrix, std::int64_t at)
{
  const double *        from = buffers.sums + std::int64_t{ matrix } * numberOfSums * buffers.capacity + at;
  RunLengthSums<double> sums{};
  sums.voxels = static_cast<double>(buffers.voxels[at]);
  ForEachRunSum(sums, [&, next = from](double & sum) mutable {
    sum = *next;
    next += buffers.capacity;
  });
  if (task.needsLevelCounts)
  {
    sums.levelNonUniformity = from[levelNonUniformityNumber * buffers.capacity];
  }
  if (task.needsLevelSum)
  {
    // These doubles are integers below 2^53.
    sums.levelVariance = VarianceNumerator(static_cast<std::uint64_t>(sums.runs),
                                           static_cast<std::uint64_t>(sums.squares),
                                           static_cast<std::uint64_t>(from[levelSumNumber * buffers.capacity]));
  }
  return sums;
}

/** Features of one output. */
__device__ void
WriteFeatures(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
              const FeatureComponents & components, std::int64_t out, std::int64_t at)
{
  constexpr int numberOfFeatures = RunLengthTask::maxFeatures - 1; // all but entropy
  const bool    isAverage = task.aggregation == RunLengthJob::Aggregation::Average;
  double        averages[numberOfFeatures] = {};
  double        voxels = 0.0;
  for (int m = 0; m < layout.matrices; ++m)
  {
    const RunLengthSums<double> sums = LoadSums(task, buffers, m, at);
    voxels = sums.voxels;
    if (isAverage)
    {
      AddAverageTerms(components, sums, averages);
    }
    else
    {
      StoreFeatures<numberOfFeatures>(task, components, sums, [&](int component, double value) {
        StoreComponent(task, out, m * task.numberOfFeatures + component, value);
      });
    }
  }
  if (isAverage)
  {
    StoreAverages(task, components, averages, voxels, [&](int component, double value) {
      StoreComponent(task, out, component, value);
    });
  }
}

__global__ void
FeaturesKernel(const __grid_constant__ RunLengthTask task, const __grid_constant__ SlidingLayout layout,
               const __grid_constant__ SlidingBuffers buffers, const __grid_constant__ FeatureComponents components)
{
  const std::int64_t at = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x;
  const std::int64_t x = at % task.outputSize[0];
  const std::int64_t row = at / task.outputSize[0];
  const std::int64_t number = buffers.firstSegment + row / layout.rows;
  if (number >= buffers.endSegment)
  {
    return;
  }
  const SlidingSegment segment(task, layout, buffers, number);
  const auto           y = static_cast<int>(row % layout.rows);
  if (y >= segment.rows)
  {
    return;
  }
  const std::int64_t out =
    ((segment.plane * task.outputSize[1] + segment.row + y) * task.outputSize[0] + x) * task.voxelStride;
  if (segment.IsComputed(task, x, y))
  {
    WriteFeatures(task, layout, buffers, components, out, at);
    return;
  }
  for (int c = 0; c < task.numberOfComponents; ++c)
  {
    StoreComponent(task, out, c, task.backgroundValue);
  }
}

void
ComputeLengths(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
               cudaStream_t stream)
{
  constexpr unsigned int threads = 128;
  constexpr std::int64_t maxBlocks = 65535;
  CheckCuda(cudaMemsetAsync(buffers.longestRun, 0, sizeof(int), stream), "clearing the longest run");
  const std::int64_t planeRows = task.levelsSize[1] * task.levelsSize[2];
  if (planeRows > 0)
  {
    const dim3 blocks(BlocksFor(static_cast<std::uint64_t>(layout.pitch), threads),
                      static_cast<unsigned int>(std::min(planeRows, maxBlocks)));
    LengthsKernel<<<blocks, threads, 0, stream>>>(task, layout, buffers);
    CheckLaunch("starting the kernel of lengths");
  }
}

void
ComputeSegments(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                cudaStream_t stream)
{
  const auto segments = static_cast<unsigned int>(buffers.endSegment - buffers.firstSegment);
  if (NeedsLevels(task))
  {
    const auto kernel = IsMerged(task) ? LevelsKernel<true> : LevelsKernel<false>;
    AllowSharedMemory(kernel, layout.windowBytes);
    kernel<<<segments * layout.matrices * layout.windowBlocks, layout.windows, layout.windowBytes, stream>>>(
      task, layout, buffers);
    CheckLaunch("starting the kernel of levels");
  }
  AllowSharedMemory(RunsKernel, layout.columnBytes + sizeof(int));
  const unsigned int blocks = segments * layout.matrices * layout.tiles;
  const int          longest = task.directions.longestLine;
  for (int first = 1; first <= longest; first += layout.lengths - (first + layout.lengths <= longest ? 2 : 0))
  {
    RunsKernel<<<blocks, layout.columns, layout.columnBytes, stream>>>(task, layout, buffers, first);
    CheckLaunch("starting the kernel of runs");
  }
  constexpr unsigned int threads = 128;
  const auto             outputs = static_cast<std::uint64_t>(layout.SegmentOutputs(task)) * segments;
  FeaturesKernel<<<BlocksFor(outputs, threads), threads, 0, stream>>>(
    task, layout, buffers, MakeFeatureComponents(task));
  CheckLaunch("starting the kernel of features");
}
} // namespace
} // namespace slidingwindow

using namespace slidingwindow;

bool
CudaSlidingWindowSupports(const RunLengthTask & task, const CudaDeviceLimits & limits)
{
  return !(task.needsInverses && task.wideInverses) && task.maxVoxels <= std::numeric_limits<LevelCount>::max() &&
         SquareBits(task) + BitCount(task.maxVoxels) <= 64 &&
         static_cast<double>(task.maxVoxels) * task.numberOfGrayLevels * task.numberOfGrayLevels < 9007199254740992.0 &&
         static_cast<double>(task.maxVoxels) * task.scales.shortRunScale < maxFusedDivisor &&
         WindowsPerBlock(limits, task) > 0;
}

CudaScratchBytes
CudaSlidingWindowScratchBytes(const RunLengthTask & task)
{
  const SlidingLayout layout = MakeLayout(task);
  const SlidingBytes  bytes(task, layout);
  return { bytes.Fixed() + bytes.perSegment,
           bytes.Fixed() + bytes.perSegment * static_cast<std::uint64_t>(layout.segments) };
}

void
ComputeByCudaSlidingWindow(const RunLengthTask & task, const CudaMethodResources & resources)
{
  // About a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partVoxels = std::int64_t{ 1 } << 36;
  constexpr std::int64_t maxBlocks = std::int64_t{ 1 } << 30;

  const SlidingLayout layout = MakeLayout(task);
  SlidingBuffers      buffers = MakeBuffers(task, layout, resources);
  ComputeLengths(task, layout, buffers, resources.stream);
  // What leaves and enters.
  const std::int64_t segmentVoxels = layout.SegmentOutputs(task) * task.directions.number *
                                     (2 + task.window[1] / layout.rows) * task.window[0] * task.window[2];
  const std::int64_t segments = std::max<std::int64_t>(
    1,
    std::min({ buffers.capacity / layout.SegmentOutputs(task),
               partVoxels / segmentVoxels,
               maxBlocks / (std::int64_t{ std::max(layout.windowBlocks, layout.tiles) } * layout.matrices) }));
  std::int64_t voxels = 0;
  for (std::int64_t first = 0; first < layout.segments; first += segments)
  {
    buffers.firstSegment = first;
    buffers.endSegment = std::min(first + segments, layout.segments);
    ComputeSegments(task, layout, buffers, resources.stream);
    voxels += segments * segmentVoxels;
    if (voxels >= partVoxels && buffers.endSegment < layout.segments)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
      voxels = 0;
    }
  }
}
} // namespace voxelmaps
