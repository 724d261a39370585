// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaSizeZoneMethods.h"
#include "cuda/CudaError.h"
#include "cuda/CudaLaunch.h"
#include "texture/cuda/CudaParts.h"
#include "texture/cpu/WindowBox.h"

#include <algorithm>

/* A block computes a window: it joins neighbors of the same level by a union-find of their numbers, counts the voxels
 * of each root, and adds up the roots. Its workspace is in shared memory if it fits, else in device memory. */
namespace voxelmaps
{
namespace
{
constexpr int threadsPerBlock = 128;

/** The workspace of a block, in words of 32 bits. */
struct UnionFindLayout
{
  int parents; // of voxels; the least voxel of a zone is its root
  int sizes;   // voxels of roots
  int sizeCounts;
  int levelCounts;
  int keys; // hash table of zones by level and size
  int keyCounts;
  int words;
  int numberOfKeys; // a power of two

  explicit UnionFindLayout(const SizeZoneTask & task)
  {
    const int voxels = task.windowVoxels;
    numberOfKeys = 2;
    while (numberOfKeys < 2 * voxels)
    {
      numberOfKeys *= 2;
    }
    const auto take = [this](int n) {
      const int begin = words;
      words += n;
      return begin;
    };
    words = 0;
    parents = take(voxels);
    sizes = take(voxels);
    sizeCounts = take(voxels + 1);
    levelCounts = take(task.numberOfGrayLevels + 1);
    keys = take(numberOfKeys);
    keyCounts = take(numberOfKeys);
  }
  std::size_t
  Bytes() const
  {
    return static_cast<std::size_t>(words) * sizeof(std::uint32_t);
  }
  /** Whether several blocks with this workspace in shared memory run on a multiprocessor. */
  bool
  FitsSharedMemory() const
  {
    return Bytes() <= 40960;
  }
};

/** The least voxel of the tree of a voxel; other threads join trees meanwhile. */
inline __device__ std::uint32_t
                  FindRoot(const volatile std::uint32_t * parents, std::uint32_t voxel)
{
  std::uint32_t parent = parents[voxel];
  while (parent != voxel)
  {
    voxel = parent;
    parent = parents[voxel];
  }
  return voxel;
}

inline __device__ void
Join(std::uint32_t * parents, std::uint32_t a, std::uint32_t b)
{
  for (;;)
  {
    a = FindRoot(parents, a);
    b = FindRoot(parents, b);
    if (a == b)
    {
      return;
    }
    const std::uint32_t lesser = a < b ? a : b;
    const std::uint32_t greater = a < b ? b : a;
    const std::uint32_t before = atomicMin(parents + greater, lesser);
    if (before == greater)
    {
      return;
    }
    // Another thread gave it another parent; join that one.
    a = before;
    b = lesser;
  }
}

/** Count a zone in the hash table; returns the count before. */
inline __device__ std::uint32_t
                  CountKey(std::uint32_t * keys, std::uint32_t * counts, int numberOfKeys, std::uint32_t key)
{
  std::uint32_t at = (key * 2654435769u) >> 7 & static_cast<std::uint32_t>(numberOfKeys - 1);
  for (;;)
  {
    const std::uint32_t before = atomicCAS(keys + at, 0u, key);
    if (before == 0 || before == key)
    {
      return atomicAdd(counts + at, 1u);
    }
    at = (at + 1) & static_cast<std::uint32_t>(numberOfKeys - 1);
  }
}

/** Add the sums of other zones. */
inline __device__ void
AddSums(SizeMatrixSums & sums, const SizeMatrixSums & other)
{
  sums.entries += other.entries;
  sums.entropyTerms += other.entropyTerms;
  for (int axis = 0; axis < 2; ++axis)
  {
    sums.axes[axis].sum += other.axes[axis].sum;
    sums.axes[axis].squares += other.axes[axis].squares;
    sums.axes[axis].nonUniformity += other.axes[axis].nonUniformity;
    sums.axes[axis].inverses = sums.axes[axis].inverses + other.axes[axis].inverses;
    sums.axes[axis].squaresTimesInverses = sums.axes[axis].squaresTimesInverses + other.axes[axis].squaresTimesInverses;
  }
  sums.squares = sums.squares + other.squares;
  sums.inverses = sums.inverses + other.inverses;
}

/** Sums of the zones of a window, for one thread: those of the roots among every threadsPerBlock-th voxel. */
__device__ void
AddZones(const SizeZoneTask & task, const UnionFindLayout & layout, const WindowBox & window, std::uint32_t * workspace,
         SizeMatrixSums & sums)
{
  const SizeMatrixScales & scales = task.scales;
  const int                slice = window.size[0] * window.size[1];
  ClearEntries(sums);
  for (int i = threadIdx.x; i < window.NumberOfVoxels(); i += threadsPerBlock)
  {
    const std::uint32_t size = workspace[layout.sizes + i];
    if (size == 0)
    {
      continue;
    }
    const int           z = i / slice;
    const int           y = (i - z * slice) / window.size[0];
    const auto          level = static_cast<std::uint32_t>(window.Level(task, i % window.size[0], y, z));
    const std::uint32_t sizesBefore = atomicAdd(workspace + layout.sizeCounts + size, 1u);
    const std::uint32_t levelsBefore = atomicAdd(workspace + layout.levelCounts + level, 1u);
    SizeMatrixGroup     group;
    ClearEntries(group);
    AddEntry(group, size, scales.inverseSquares[size]);
    AddGroup<levelAxis>(sums, level, scales.inverseSquares[level], group);
    // AddGroup counts 1^2 for this level; n + 1 zones have (n + 1)^2 - n^2 more than n.
    sums.axes[levelAxis].nonUniformity += 2 * std::uint64_t{ levelsBefore };
    sums.axes[sizeAxis].nonUniformity += 2 * std::uint64_t{ sizesBefore } + 1;
    if (scales.entropyTable != nullptr)
    {
      const std::uint32_t before =
        CountKey(workspace + layout.keys, workspace + layout.keyCounts, layout.numberOfKeys, MakeZone(level, size));
      sums.entropyTerms += scales.entropyTable[before + 1] - scales.entropyTable[before];
    }
  }
}

__global__ void
__launch_bounds__(threadsPerBlock)
  UnionFindKernel(const __grid_constant__ SizeZoneTask task, const __grid_constant__ UnionFindLayout layout,
                  std::uint32_t * scratch, std::int64_t firstWindow, std::int64_t endWindow)
{
  extern __shared__ __align__(16) char shared[];
  __shared__ SizeMatrixSums            sums[threadsPerBlock];
  std::uint32_t * const                workspace =
    scratch != nullptr ? scratch + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(layout.words)
                                      : reinterpret_cast<std::uint32_t *>(shared);
  std::uint32_t * const parents = workspace + layout.parents;
  const int             thread = static_cast<int>(threadIdx.x);
  for (std::int64_t number = firstWindow + blockIdx.x; number < endWindow; number += gridDim.x)
  {
    const std::int64_t row = number / task.outputSize[0];
    const std::int64_t voxel[3] = { number - row * task.outputSize[0],
                                    row % task.outputSize[1],
                                    row / task.outputSize[1] };
    const std::int64_t out = number * task.voxelStride;
    const WindowBox    window(task, voxel);
    if (!window.isComputed)
    {
      for (int f = thread; f < task.numberOfFeatures; f += threadsPerBlock)
      {
        StoreComponentOrNaN(task, out, f, task.backgroundValue);
      }
      continue;
    }
    const int voxels = window.NumberOfVoxels();
    const int slice = window.size[0] * window.size[1];
    for (int i = thread; i < layout.words; i += threadsPerBlock)
    {
      workspace[i] = i - layout.parents < voxels ? static_cast<std::uint32_t>(i - layout.parents) : 0u;
    }
    __syncthreads();
    for (int i = thread; i < voxels; i += threadsPerBlock)
    {
      const int z = i / slice;
      const int y = (i - z * slice) / window.size[0];
      const int x = i % window.size[0];
      const int level = window.Level(task, x, y, z);
      if (level == 0)
      {
        continue;
      }
      // The neighbors before this voxel.
      for (int dz = task.connectsSlices ? -1 : 0; dz <= 0; ++dz)
      {
        for (int dy = -1; dy <= (dz < 0 ? 1 : 0); ++dy)
        {
          for (int dx = -1; dx <= (dz < 0 || dy < 0 ? 1 : -1); ++dx)
          {
            if (window.Level(task, x + dx, y + dy, z + dz) == level)
            {
              Join(parents,
                   static_cast<std::uint32_t>(i),
                   static_cast<std::uint32_t>(i + dz * slice + dy * window.size[0] + dx));
            }
          }
        }
      }
    }
    __syncthreads();
    for (int i = thread; i < voxels; i += threadsPerBlock)
    {
      const int z = i / slice;
      const int y = (i - z * slice) / window.size[0];
      if (window.Level(task, i % window.size[0], y, z) != 0)
      {
        atomicAdd(workspace + layout.sizes + FindRoot(parents, static_cast<std::uint32_t>(i)), 1u);
      }
    }
    __syncthreads();
    AddZones(task, layout, window, workspace, sums[thread]);
    for (int others = threadsPerBlock / 2; others > 0; others /= 2)
    {
      __syncthreads();
      if (thread < others)
      {
        AddSums(sums[thread], sums[thread + others]);
      }
    }
    __syncthreads();
    for (int f = thread; f < task.numberOfFeatures; f += threadsPerBlock)
    {
      StoreComponent(task, out, f, SizeMatrixFeatureValue(ToSizeMatrixFeature(task.features[f]), sums[0], task.scales));
    }
    __syncthreads();
  }
}
} // namespace

CudaScratchBytes
CudaUnionFindScratchBytes(const SizeZoneTask & slab)
{
  // So many blocks with a workspace in device memory keep a device busy.
  const auto            maxBlocks = std::uint64_t{ 8 } * GetCudaDeviceLimits().numberOfMultiprocessors;
  const UnionFindLayout layout(slab);
  CudaScratchBytes      bytes;
  if (!layout.FitsSharedMemory())
  {
    bytes.minimum = layout.Bytes();
    bytes.maximum = layout.Bytes() * std::min(maxBlocks, NumberOfVoxels(slab.outputSize));
  }
  return bytes;
}

void
ComputeByCudaUnionFind(const SizeZoneTask & task, const CudaMethodResources & resources)
{
  const UnionFindLayout layout(task);
  const bool            isShared = layout.FitsSharedMemory();
  const std::size_t     sharedBytes = isShared ? layout.Bytes() : 0;
  const int             resident = PrepareKernel(UnionFindKernel, threadsPerBlock, sharedBytes);
  const std::uint64_t   blocks =
    isShared ? static_cast<std::uint64_t>(resident)
               : std::min<std::uint64_t>(static_cast<std::uint64_t>(resident), resources.scratchBytes / layout.Bytes());
  // In parts of less than a tenth of a second, so that an abort is quick whatever the window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 26;
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  // Joining a voxel takes as long as clearing some words.
  const std::int64_t steps = std::max(task.windowVoxels, layout.words / 8);
  const std::int64_t part = std::max<std::int64_t>(partSteps / steps, 1);
  LaunchInParts(
    windows, part, resources, "starting the kernel of union-find", [&](std::int64_t first, std::int64_t end) {
      UnionFindKernel<<<static_cast<unsigned int>(
                          std::min<std::uint64_t>(blocks, static_cast<std::uint64_t>(end - first))),
                        threadsPerBlock,
                        sharedBytes,
                        resources.stream>>>(
        task, layout, isShared ? nullptr : static_cast<std::uint32_t *>(resources.scratch), first, end);
    });
}
} // namespace voxelmaps
