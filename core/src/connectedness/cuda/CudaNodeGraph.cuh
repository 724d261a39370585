// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaNodeGraph_cuh
#define CudaNodeGraph_cuh

#include "CudaConnectednessSlab.h"
#include "CudaConnectednessScene.cuh"

namespace voxelmaps
{
/* Boruvka's algorithm, as in Contraction.h, which shows that it is exact.
 *
 * Every component points along its strongest link; of equal links, the one to the component of the largest number is
 * the strongest, so the only cycles are two components that point at each other. This is first done within tiles, where
 * a component is held back as soon as a link out of the tile, or a seed in it, is stronger than its links in the tile;
 * the remaining components are the nodes of a graph over all tiles. A node whose seed is at least as strong as all its
 * links is held back for good. Then strengths go down along the pointers. Keys that enter a slab are weaker seeds. */

constexpr int contractTileBits = 11;
constexpr int contractTileVoxels = 1 << contractTileBits;
constexpr int contractThreads = 256;
constexpr int contractVoxelsPerThread = contractTileVoxels / contractThreads;

constexpr std::uint32_t isolated = 0; // the node of all voxels that no path reaches

/** Where a component points, and the component that it is part of after the round. */
union TilePointer
{
  std::uint32_t word; // for the atomic maximum, before the component after the round is known
  std::uint16_t halves[2];
};

/** What a tile needs in shared memory besides its pixels. A component has the number of one of its voxels. */
struct TileGraph
{
  union
  {
    struct
    {
      std::uint32_t best[contractTileVoxels];     // key of the strongest link of a component
      TilePointer   pointers[contractTileVoxels]; // halves: where it points, and the component after the round
    };
    unsigned long long bestLinks[contractTileVoxels]; // key and pointer together, if there are many links
  };
  std::uint32_t leaving[contractTileVoxels];   // strongest key out of the tile, or of a seed
  std::uint16_t component[contractTileVoxels]; // of every voxel
  std::uint16_t lists[2][contractTileVoxels];  // of components, before and after a round
  std::uint32_t counts[2];                     // of the lists
  std::uint32_t first;
};

/** Called by all lanes of a warp: add the number of lanes with a true condition to a counter, and number them. By hand:
 * a ballot is one step, a scan of CUB five. */
inline __device__ std::uint32_t
                  CountUp(std::uint32_t * counter, bool condition)
{
  const unsigned int all = __ballot_sync(0xffffffffu, condition);
  const unsigned int lane = threadIdx.x % 32;
  std::uint32_t      first = 0;
  if (lane == 0 && all != 0)
  {
    first = atomicAdd(counter, static_cast<std::uint32_t>(__popc(all)));
  }
  return __shfl_sync(0xffffffffu, first, 0) + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1)));
}

/** Contract the tiles of a list, or all if it is null. The key of a voxel becomes the smallest key of the pointers from
 * it to its node, and its label the node. With few links, their keys stay in registers; otherwise they are computed
 * whenever needed. */
template <typename TKeys, bool HasFewLinks>
__global__ void
__launch_bounds__(contractThreads, 4)
  ContractTilesKernel(CudaConnectednessScene scene, CudaTileGrid grid, const int * tiles, std::uint32_t * labels,
                      unsigned int * numberOfNodes)
{
  using Pixel = typename TKeys::Pixel;
  extern __shared__ double sharedMemory[];
  auto * const             pixels = reinterpret_cast<Pixel *>(sharedMemory);
  auto & graph = *reinterpret_cast<TileGraph *>(sharedMemory + (grid.GetNumberOfLocalVoxels() * sizeof(Pixel) + 7) / 8);
  // Many links are offered by one atomic operation each.
  const auto getBest = [&graph](std::uint32_t c) -> volatile std::uint32_t &
  {
    return HasFewLinks ? graph.best[c] : reinterpret_cast<std::uint32_t *>(graph.bestLinks + c)[1];
  };
  const auto getPointer = [&graph](std::uint32_t c) -> volatile TilePointer &
  {
    return HasFewLinks ? graph.pointers[c] : *reinterpret_cast<TilePointer *>(graph.bestLinks + c);
  };

  const CudaPlace origin = GetTileOrigin(grid, tiles != nullptr ? tiles[blockIdx.x] : static_cast<int>(blockIdx.x));
  ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel) {
    pixels[local] = voxel >= 0 ? TKeys::Load(scene, voxel) : TKeys::Outside();
  });
  if (threadIdx.x == 0)
  {
    graph.counts[0] = contractTileVoxels;
    graph.counts[1] = 0;
  }
  __syncthreads();

  // Keys of the links from each voxel to neighbors that come later in the tile; 0 without such a neighbor, or if both
  // ends are in one component. If keys are not kept, alive has one bit per link instead.
  std::uint32_t keys[contractVoxelsPerThread][HasFewLinks ? 3 : 1];
  std::uint32_t alive[contractVoxelsPerThread];
  std::uint32_t pathKeys[contractVoxelsPerThread];
  // The first round, in which every voxel is a component, needs no atomics. Pixels beyond the slab are Outside().
#pragma unroll
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const int       v = i * contractThreads + static_cast<int>(threadIdx.x);
    const CudaPlace place = GetPlaceInTile(grid, v);
    const int       local = GetLocalNumber(grid, place);
    const Pixel     pixel = pixels[local];
    const bool      inside = IsInImage(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
    std::uint32_t   leaving =
      inside ? scene.keys[GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z)] : noKey;
    std::uint32_t strongest = noKey;
    int           to = v;
    const auto    look = [&](int l, int sign) {
      const CudaLink &    link = scene.links[l];
      const std::uint32_t key = TKeys::Key(scene, pixel, pixels[local + sign * grid.localStrides[l]], link.weight);
      if (!IsInTile(grid, place.x + sign * link.x, place.y + sign * link.y, place.z + sign * link.z))
      {
        leaving = key > leaving ? key : leaving;
        return noKey;
      }
      const int neighbor = v + sign * grid.tileStrides[l];
      if (key > strongest || (key == strongest && neighbor > to && key != noKey))
      {
        strongest = key;
        to = neighbor;
      }
      return key;
    };
    pathKeys[i] = seedKey;
    alive[i] = 0;
    if constexpr (HasFewLinks)
    {
#pragma unroll
      for (int l = 0; l < 3; ++l)
      {
        keys[i][l] = noKey;
        if (l < scene.numberOfLinks)
        {
          look(l, -1);
          keys[i][l] = look(l, 1);
        }
      }
    }
    else
    {
      for (int l = 0; l < scene.numberOfLinks; ++l)
      {
        look(l, -1);
        alive[i] |= look(l, 1) != noKey ? 1u << l : 0u;
      }
    }
    graph.leaving[v] = leaving;
    getBest(v) = strongest;
    getPointer(v).word = static_cast<std::uint32_t>(strongest != noKey && leaving <= strongest ? to : v);
    graph.component[v] = static_cast<std::uint16_t>(v);
    graph.lists[0][v] = static_cast<std::uint16_t>(v);
  }
  __syncthreads();

  int current = 0; // list of components
  for (;; current ^= 1)
  {
    // Every component has a pointer; one that is held back points at itself. Of two that point at each other, the one
    // of the smaller number is the root of the tree.
    const std::uint32_t         count = graph.counts[current];
    const std::uint16_t * const list = graph.lists[current];
    bool                        merged = false;
    for (std::uint32_t j = threadIdx.x; j < count; j += contractThreads)
    {
      const std::uint32_t c = list[j];
      const std::uint32_t pointer = getPointer(c).halves[0];
      std::uint32_t       root = c;
      for (std::uint32_t to = pointer; to != root;)
      {
        const std::uint32_t next = getPointer(to).halves[0];
        if (next == root && root < to)
        {
          break;
        }
        root = to;
        to = next;
      }
      if (root != c)
      {
        merged = true;
        atomicMax(graph.leaving + root, graph.leaving[c]);
      }
      // Other threads still read the first half.
      getPointer(c).halves[1] = static_cast<std::uint16_t>(root);
    }
    if (__syncthreads_or(merged) == 0)
    {
      break;
    }
#pragma unroll
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      const int           v = i * contractThreads + static_cast<int>(threadIdx.x);
      const std::uint32_t c = graph.component[v];
      const std::uint32_t root = getPointer(c).halves[1];
      if (root != c)
      {
        const std::uint32_t key = getBest(c);
        pathKeys[i] = key < pathKeys[i] ? key : pathKeys[i];
        graph.component[v] = static_cast<std::uint16_t>(root);
      }
    }
    __syncthreads();
    // Keep the roots in the list.
    for (std::uint32_t first = 0; first < count; first += contractThreads)
    {
      const std::uint32_t j = first + threadIdx.x;
      const std::uint32_t c = j < count ? list[j] : 0;
      const bool          isRoot = j < count && getPointer(c).halves[1] == c;
      const std::uint32_t at = CountUp(&graph.counts[current ^ 1], isRoot);
      if (isRoot)
      {
        graph.lists[current ^ 1][at] = static_cast<std::uint16_t>(c);
        getBest(c) = noKey;
        getPointer(c).word = 0;
      }
    }
    __syncthreads();

    const auto offerLink = [&graph](int to, int from, std::uint32_t key) {
      const unsigned long long value = static_cast<unsigned long long>(key) << 32 | static_cast<unsigned int>(from);
      // Read before the atomic operation: most offers are too weak.
      if (value > *static_cast<volatile unsigned long long *>(graph.bestLinks + to))
      {
        atomicMax(graph.bestLinks + to, value);
      }
    };
    // Find the strongest keys; bits 2 l and 2 l + 1 of candidates indicate whether link l may be the strongest of its
    // ends.
    std::uint32_t candidates[contractVoxelsPerThread];
#pragma unroll
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      candidates[i] = 0;
      const int  v = i * contractThreads + static_cast<int>(threadIdx.x);
      const int  a = graph.component[v];
      const auto offer = [&](int l, int b, std::uint32_t key) {
        // Read before the atomic operation: most offers are too weak.
        const std::uint32_t bestA = getBest(a);
        const std::uint32_t bestB = getBest(b);
        candidates[i] |= (key >= bestA ? 1u << (2 * l) : 0u) | (key >= bestB ? 2u << (2 * l) : 0u);
        if (key > bestA)
        {
          atomicMax(graph.best + a, key);
        }
        if (key > bestB)
        {
          atomicMax(graph.best + b, key);
        }
      };
      if constexpr (HasFewLinks)
      {
#pragma unroll
        for (int l = 0; l < 3; ++l)
        {
          if (keys[i][l] != noKey)
          {
            const int b = graph.component[v + grid.tileStrides[l]];
            if (a == b)
            {
              keys[i][l] = noKey;
            }
            else
            {
              offer(l, b, keys[i][l]);
            }
          }
        }
      }
      else if (alive[i] != 0)
      {
        const int   local = GetLocalNumber(grid, GetPlaceInTile(grid, v));
        const Pixel pixel = pixels[local];
        for (int l = 0; l < scene.numberOfLinks; ++l)
        {
          if ((alive[i] >> l & 1u) == 0)
          {
            continue;
          }
          const CudaLink & link = scene.links[l];
          const int        b = graph.component[v + grid.tileStrides[l]];
          if (a == b)
          {
            alive[i] &= ~(1u << l);
          }
          else
          {
            const std::uint32_t key = TKeys::Key(scene, pixel, pixels[local + grid.localStrides[l]], link.weight);
            offerLink(a, b, key);
            offerLink(b, a, key);
          }
        }
      }
    }
    __syncthreads();
    // Among links with equal keys, the one that leads to the component of the largest number; bestLinks has it.
#pragma unroll
    for (int i = 0; HasFewLinks && i < contractVoxelsPerThread; ++i)
    {
      if (candidates[i] != 0)
      {
        const int  v = i * contractThreads + static_cast<int>(threadIdx.x);
        const int  a = graph.component[v];
        const auto offer = [&](int l, int b, std::uint32_t key) {
          if ((candidates[i] >> (2 * l) & 1u) != 0 && key == graph.best[a])
          {
            atomicMax(&graph.pointers[a].word, static_cast<std::uint32_t>(b));
          }
          if ((candidates[i] >> (2 * l) & 2u) != 0 && key == graph.best[b])
          {
            atomicMax(&graph.pointers[b].word, static_cast<std::uint32_t>(a));
          }
        };
        if constexpr (HasFewLinks)
        {
#pragma unroll
          for (int l = 0; l < 3; ++l)
          {
            if ((candidates[i] >> (2 * l) & 3u) != 0)
            {
              offer(l, graph.component[v + grid.tileStrides[l]], keys[i][l]);
            }
          }
        }
      }
    }
    __syncthreads();
    for (std::uint32_t j = threadIdx.x; j < graph.counts[current ^ 1]; j += contractThreads)
    {
      const std::uint32_t c = graph.lists[current ^ 1][j];
      if (getBest(c) == noKey || graph.leaving[c] > getBest(c))
      {
        getPointer(c).word = c;
      }
    }
    if (threadIdx.x == 0)
    {
      graph.counts[current] = 0;
    }
    __syncthreads();
  }

  // Number the remaining components; those without links out of the tile and without seeds are isolated.
  const std::uint32_t         count = graph.counts[current];
  const std::uint16_t * const list = graph.lists[current];
  if (threadIdx.x == 0)
  {
    graph.counts[current ^ 1] = 0;
  }
  __syncthreads();
  for (std::uint32_t start = 0; start < count; start += contractThreads)
  {
    const std::uint32_t j = start + threadIdx.x;
    const bool          isNode = j < count && graph.leaving[list[j]] != noKey;
    const std::uint32_t number = CountUp(&graph.counts[current ^ 1], isNode);
    if (j < count)
    {
      getPointer(list[j]).word = isNode ? number + 1 : isolated;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    graph.first = atomicAdd(numberOfNodes, graph.counts[current ^ 1]);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const int       v = i * contractThreads + static_cast<int>(threadIdx.x);
    const CudaPlace place = GetPlaceInTile(grid, v);
    if (IsInImage(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z))
    {
      const std::int64_t  voxel = GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
      const std::uint32_t number = getPointer(graph.component[v]).word;
      scene.keys[voxel] = pathKeys[i];
      labels[voxel] = number != 0 ? graph.first + number : isolated;
    }
  }
}

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
