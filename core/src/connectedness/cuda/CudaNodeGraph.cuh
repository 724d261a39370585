// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaNodeGraph_cuh
#define CudaNodeGraph_cuh

#include "CudaConnectednessSlab.h"
#include "CudaContractTiles.cuh"

namespace voxelmaps
{
/** The graph of the components of all tiles; node 0 is the isolated one. */
struct NodeGraph
{
  std::uint32_t        numberOfNodes;
  unsigned long long * best;     // strongest link: key, and number of the node it leads to
  std::uint32_t *      parents;  // itself for a root
  std::uint32_t *      keys;     // of the pointer to the parent
  std::uint32_t *      roots;    // of the component that a node is part of; in the end, strengths
  std::uint32_t *      seedKeys; // of a root, the strongest key that entered its component
};

static __global__ void
StartNodesKernel(NodeGraph graph)
{
  ForEachInGrid(graph.numberOfNodes, [&](std::int64_t n) {
    graph.best[n] = 0;
    graph.parents[n] = static_cast<std::uint32_t>(n);
    graph.keys[n] = seedKey;
    graph.roots[n] = static_cast<std::uint32_t>(n);
    graph.seedKeys[n] = noKey;
  });
}

/** Let seeds, or the known keys of the voxels 0 ... count - 1, enter their nodes. */
static __global__ void
EnterKeysKernel(NodeGraph graph, const std::uint32_t * labels, const std::int64_t * seeds, const std::uint32_t * keys,
                std::int64_t count)
{
  ForEachInGrid(count, [&](std::int64_t i) {
    const std::uint32_t key = keys != nullptr ? keys[i] : seedKey;
    if (key != noKey)
    {
      atomicMax(graph.seedKeys + labels[seeds != nullptr ? seeds[i] : i], key);
    }
  });
}

/** Offer a link to a component, unless a seed that is at least as strong holds this back; returns whether it does not.
 */
inline __device__ bool
OfferTo(const NodeGraph & graph, std::uint32_t to, std::uint32_t fromOrNumber, std::uint32_t key)
{
  if (key <= graph.seedKeys[to])
  {
    return false;
  }
  const unsigned long long value = static_cast<unsigned long long>(key) << 32 | fromOrNumber;
  // Read before the atomic operation, even if the value may be out of date: most offers are too weak.
  if (value > graph.best[to])
  {
    atomicMax(graph.best + to, value);
  }
  return true;
}

/** The remaining links between components, listed by tile as number of the link * contractTileVoxels + voxel. */
struct OpenLinks
{
  static constexpr std::uint32_t capacity = 2 * contractTileVoxels; // of a tile
  static constexpr std::uint32_t unlisted = 0xffffffffu; // count of a tile with more links, or in the first round

  std::uint32_t * counts;
  std::uint16_t * links;
};

/** Offer all links between components to both. If they are traced, the strongest link of a node is known by its key and
 * its number, which is that of the link of a voxel * number of voxels + voxel. */
template <typename TKeys, bool IsTraced>
__global__ void
__launch_bounds__(contractThreads) OfferLinksKernel(CudaConnectednessScene scene, CudaTileGrid grid, NodeGraph graph,
                                                    const std::uint32_t * labels, OpenLinks open)
{
  using Pixel = typename TKeys::Pixel;
  extern __shared__ std::uint32_t roots[]; // of a tile and the voxels around it
  __shared__ std::uint32_t kept;
  // In shared memory: threads read different links, and constant memory serves one address at a time.
  __shared__ CudaLink links[CudaConnectednessScene::maxLinks];
  const std::uint32_t count = open.counts[blockIdx.x];
  if (count == 0)
  {
    return;
  }
  const CudaPlace       origin = GetTileOrigin(grid, static_cast<int>(blockIdx.x));
  std::uint16_t * const list = open.links + std::size_t{ blockIdx.x } * OpenLinks::capacity;
  const int             thread = static_cast<int>(threadIdx.x);
  if (thread == 0)
  {
    kept = 0;
  }
  if (thread < scene.numberOfLinks)
  {
    links[thread] = scene.links[thread];
  }
  __syncthreads();
  const auto offer = [&](std::int64_t voxel, Pixel pixel, int l, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t key = TKeys::Key(scene, pixel, TKeys::Load(scene, voxel + links[l].stride), links[l].weight);
    const auto          number = static_cast<std::uint32_t>(l * scene.numberOfVoxels + voxel);
    const bool          mattersToA = OfferTo(graph, a, IsTraced ? number : b, key);
    const bool          mattersToB = OfferTo(graph, b, IsTraced ? number : a, key);
    return mattersToA || mattersToB;
  };
  if (count == OpenLinks::unlisted)
  {
    ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel) {
      roots[local] = voxel >= 0 ? graph.roots[labels[voxel]] : isolated;
    });
    __syncthreads();
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      const int           v = i * contractThreads + thread;
      const CudaPlace     place = GetPlaceInTile(grid, v);
      const int           local = GetLocalNumber(grid, place);
      const std::uint32_t a = roots[local];
      const std::int64_t  voxel = GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
      const Pixel         pixel = a != isolated ? TKeys::Load(scene, voxel) : TKeys::Outside();
      for (int l = 0; l < scene.numberOfLinks; ++l)
      {
        const std::uint32_t b = roots[local + grid.localStrides[l]];
        const bool          isOpen = a != b && a != isolated && b != isolated && offer(voxel, pixel, l, a, b);
        const std::uint32_t at = CountUp(&kept, isOpen);
        if (isOpen && at < OpenLinks::capacity)
        {
          list[at] = static_cast<std::uint16_t>(l * contractTileVoxels + v);
        }
      }
    }
  }
  else
  {
    for (std::uint32_t first = 0; first < count; first += contractThreads)
    {
      bool                isOpen = false;
      const std::uint32_t j = first + static_cast<std::uint32_t>(thread);
      const std::uint16_t entry = j < count ? list[j] : std::uint16_t{ 0 };
      if (j < count)
      {
        const int           l = entry / contractTileVoxels;
        const CudaPlace     place = GetPlaceInTile(grid, entry % contractTileVoxels);
        const std::int64_t  voxel = GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
        const std::uint32_t a = graph.roots[labels[voxel]];
        const std::uint32_t b = graph.roots[labels[voxel + links[l].stride]];
        isOpen = a != b && offer(voxel, TKeys::Load(scene, voxel), l, a, b);
      }
      // All threads have read their entries before any thread writes to this or an earlier part of the list.
      __syncthreads();
      const std::uint32_t at = CountUp(&kept, isOpen);
      if (isOpen)
      {
        list[at] = entry;
      }
    }
  }
  __syncthreads();
  if (thread == 0)
  {
    open.counts[blockIdx.x] = kept <= OpenLinks::capacity ? kept : OpenLinks::unlisted;
  }
}

/** Whether a root is not held back. */
inline __device__ bool
Points(const NodeGraph & graph, std::uint32_t n)
{
  return static_cast<std::uint32_t>(graph.best[n] >> 32) > graph.seedKeys[n];
}

/** Let roots point along their strongest links. */
static __global__ void
PointKernel(NodeGraph graph, unsigned int * numberOfMerged)
{
  const std::uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
  bool                merges = false;
  if (n < graph.numberOfNodes && graph.roots[n] == n && Points(graph, n))
  {
    const auto to = static_cast<std::uint32_t>(graph.best[n]);
    merges = !(n < to && static_cast<std::uint32_t>(graph.best[to]) == n && Points(graph, to));
    if (merges)
    {
      graph.parents[n] = to;
      graph.keys[n] = static_cast<std::uint32_t>(graph.best[n] >> 32);
    }
  }
  if (__syncthreads_or(merges) && threadIdx.x == 0)
  {
    *numberOfMerged = 1;
  }
}

/** Find the root of the tree for all roots that point somewhere. */
static __global__ void
FindRootsKernel(NodeGraph graph)
{
  const std::uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= graph.numberOfNodes || graph.roots[n] != n)
  {
    return;
  }
  // Chains may be long; every step halves the rest of the chain for all threads that follow.
  volatile std::uint32_t * const parents = graph.parents;
  std::uint32_t                  root = n;
  for (std::uint32_t parent = parents[root]; parent != root; parent = parents[root])
  {
    const std::uint32_t next = parents[parent];
    parents[root] = next;
    root = next;
  }
  if (root != n)
  {
    graph.roots[n] = root;
    atomicMax(graph.seedKeys + root, graph.seedKeys[n]);
  }
}

/** Update the roots of all nodes after the round, and clear the strongest links. */
static __global__ void
FollowRootsKernel(NodeGraph graph)
{
  const std::uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < graph.numberOfNodes)
  {
    const std::uint32_t root = graph.roots[graph.roots[n]];
    graph.roots[n] = root;
    if (graph.best[n] != 0)
    {
      // It was a root in this round. Keys on the way to the root do not get weaker, so it can point there directly.
      graph.parents[n] = root;
      graph.best[n] = 0;
    }
  }
}

/** Follow the pointers from a node to a root; returns this, and the smallest key on the way. */
inline __device__ std::uint32_t
                  FollowPointers(const NodeGraph & graph, std::uint32_t at, std::uint32_t & key)
{
  key = seedKey;
  for (std::uint32_t parent = graph.parents[at]; parent != at; parent = graph.parents[at])
  {
    key = graph.keys[at] < key ? graph.keys[at] : key;
    at = parent;
  }
  return at;
}

/** Strengths of nodes, following their pointers. */
static __global__ void
FindStrengthsKernel(NodeGraph graph)
{
  const std::uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < graph.numberOfNodes)
  {
    std::uint32_t       key = seedKey;
    const std::uint32_t at = FollowPointers(graph, n, key);
    graph.roots[n] = graph.seedKeys[at] < key ? graph.seedKeys[at] : key;
  }
}

static __global__ void
FinishVoxelsKernel(CudaConnectednessScene scene, const std::uint32_t * labels, const std::uint32_t * strengths)
{
  ForEachInGrid(scene.numberOfVoxels, [&](std::int64_t voxel) {
    const std::uint32_t strength = strengths[labels[voxel]];
    const std::uint32_t key = scene.keys[voxel];
    scene.keys[voxel] = strength < key ? strength : key;
  });
}

constexpr unsigned int nodeThreads = 256;

/** The tiles that ContractTilesKernel has shared memory for. */
template <typename TKeys>
CudaTileGrid
MakeContractGrid(const CudaConnectednessScene & scene)
{
  const std::size_t bytes = GetCudaDeviceLimits().maxSharedMemoryPerBlock - sizeof(TileGraph) - 8;
  return MakeTileGrid(scene, contractTileBits, bytes / sizeof(typename TKeys::Pixel));
}

/** Launch ContractTilesKernel for the tiles of a list, or for all if it is null. */
template <typename TKeys>
void
ContractTiles(const CudaConnectednessScene & scene, const CudaTileGrid & grid, const int * tiles,
              unsigned int numberOfTiles, std::uint32_t * labels, unsigned int * counter, cudaStream_t stream)
{
  const std::size_t pixelBytes = grid.GetNumberOfLocalVoxels() * sizeof(typename TKeys::Pixel);
  const std::size_t sharedBytes = (pixelBytes + 7) / 8 * 8 + sizeof(TileGraph);
  const auto kernel = scene.numberOfLinks <= 3 ? ContractTilesKernel<TKeys, true> : ContractTilesKernel<TKeys, false>;
  PrepareKernel(kernel, contractThreads, sharedBytes);
  kernel<<<numberOfTiles, contractThreads, sharedBytes, stream>>>(scene, grid, tiles, labels, counter);
  CheckLaunch("contracting tiles");
}

/** Device memory for a graph of nodes. */
struct NodeGraphBuffers
{
  DeviceBuffer<unsigned long long> best;
  DeviceBuffer<std::uint32_t>      others;

  NodeGraphBuffers(std::size_t nodes, cudaStream_t stream)
    : best(nodes, stream)
    , others(4 * nodes, stream)
  {}

  /** The graph, with every node a component by itself. */
  NodeGraph
  Start(cudaStream_t stream) const
  {
    NodeGraph graph{};
    graph.numberOfNodes = static_cast<std::uint32_t>(best.size());
    graph.best = best.data();
    graph.parents = others.data();
    graph.keys = graph.parents + best.size();
    graph.roots = graph.keys + best.size();
    graph.seedKeys = graph.roots + best.size();
    StartNodesKernel<<<BlocksFor(best.size(), nodeThreads), nodeThreads, 0, stream>>>(graph);
    CheckLaunch("starting nodes");
    return graph;
  }
};

/** Merge the components that pointers connect. */
inline void
MergeNodes(const NodeGraph & graph, cudaStream_t stream)
{
  const unsigned int blocks = BlocksFor(graph.numberOfNodes, nodeThreads);
  FindRootsKernel<<<blocks, nodeThreads, 0, stream>>>(graph);
  CheckLaunch("finding roots");
  FollowRootsKernel<<<blocks, nodeThreads, 0, stream>>>(graph);
  CheckLaunch("following roots");
}
} // namespace voxelmaps

#endif // CudaNodeGraph_cuh
