// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaListLinks_cuh
#define CudaListLinks_cuh

#include "CudaNodeGraph.cuh"

namespace voxelmaps
{
/** What ListLinksKernel needs in shared memory besides the nodes of the voxels of a tile and of those around it. */
template <int slotBits>
struct NodePairs
{
  static constexpr std::uint32_t slots = 1u << slotBits;
  static constexpr int           maxProbes = 16;

  unsigned long long pairs[slots];     // of nodes; 0 if there is none
  unsigned long long strongest[slots]; // key << 16 | entry of OpenLinks
  std::uint32_t      count;            // of the list
};

/** List the links between nodes before the first round, but of all links of a tile between the same two nodes only the
 * strongest: if voxels have many neighbors, that is a small part. */
template <typename TKeys, int slotBits>
__global__ void
__launch_bounds__(contractThreads)
  ListLinksKernel(CudaConnectednessScene scene, CudaTileGrid grid, const std::uint32_t * labels, OpenLinks open)
{
  using Pixel = typename TKeys::Pixel;
  using Pairs = NodePairs<slotBits>;
  extern __shared__ double sharedMemory[];
  auto &                   table = *reinterpret_cast<Pairs *>(sharedMemory);
  auto * const             nodes = reinterpret_cast<std::uint32_t *>(sharedMemory + sizeof(Pairs) / sizeof(double));
  const CudaPlace<int>     origin = GetTileOrigin(grid, static_cast<int>(blockIdx.x));
  std::uint16_t * const    list = open.links + std::size_t{ blockIdx.x } * OpenLinks::capacity;
  const int                thread = static_cast<int>(threadIdx.x);
  for (std::uint32_t slot = threadIdx.x; slot < Pairs::slots; slot += contractThreads)
  {
    table.pairs[slot] = 0;
    table.strongest[slot] = 0;
  }
  if (thread == 0)
  {
    table.count = 0;
  }
  ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel, bool inside) {
    nodes[local] = inside ? labels[voxel] : isolated;
  });
  __syncthreads();
  const auto put = [&](std::uint32_t entry) {
    const std::uint32_t at = atomicAdd(&table.count, 1u);
    if (at < OpenLinks::capacity)
    {
      list[at] = static_cast<std::uint16_t>(entry);
    }
  };
  const int localX = grid.GetLocalSize(0);
  const int localXY = localX * grid.GetLocalSize(1);
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const int            v = i * contractThreads + thread;
    const CudaPlace<int> place = GetPlaceInTile(grid, v);
    const int local = (place.z + grid.halo[2]) * localXY + (place.y + grid.halo[1]) * localX + place.x + grid.halo[0];
    const std::uint32_t a = nodes[local];
    if (a == isolated)
    {
      continue;
    }
    const std::int64_t voxel = GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
    const Pixel        pixel = TKeys::Load(scene, voxel);
    std::uint32_t      formerB = isolated;
    std::uint32_t      formerKey = noKey;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const std::uint32_t b = nodes[local + grid.localStrides[l]];
      if (b == a || b == isolated)
      {
        continue;
      }
      const CudaLink &    link = scene.links[l];
      const std::uint32_t key = TKeys::Key(scene, pixel, TKeys::Load(scene, voxel + link.stride), link.weight);
      // Neighbors in a row are often of the same node.
      if (key == noKey || (b == formerB && key <= formerKey))
      {
        continue;
      }
      formerB = b;
      formerKey = key;
      const unsigned long long pair = static_cast<unsigned long long>(a < b ? b : a) << 32 | (a < b ? a : b);
      const auto               entry = static_cast<std::uint32_t>(l * contractTileVoxels + v);
      const unsigned long long value = static_cast<unsigned long long>(key) << 16 | entry;
      std::uint32_t slot = ((a < b ? a : b) * 0x9e3779b1u ^ (a < b ? b : a) * 0x85ebca6bu) >> (32 - slotBits);
      int           probe = 0;
      for (; probe < Pairs::maxProbes; ++probe)
      {
        unsigned long long seen = *static_cast<volatile unsigned long long *>(table.pairs + slot);
        seen = seen != 0 ? seen : atomicCAS(table.pairs + slot, 0ull, pair);
        if (seen == 0 || seen == pair)
        {
          // Read before the atomic operation: most links are too weak.
          if (value > *static_cast<volatile unsigned long long *>(table.strongest + slot))
          {
            atomicMax(table.strongest + slot, value);
          }
          break;
        }
        slot = (slot + 1) % Pairs::slots;
      }
      if (probe == Pairs::maxProbes)
      {
        put(entry);
      }
    }
  }
  __syncthreads();
  for (std::uint32_t slot = threadIdx.x; slot < Pairs::slots; slot += contractThreads)
  {
    if (table.strongest[slot] != 0)
    {
      put(static_cast<std::uint32_t>(table.strongest[slot] & 0xffffu));
    }
  }
  __syncthreads();
  if (thread == 0)
  {
    open.counts[blockIdx.x] = table.count <= OpenLinks::capacity ? table.count : OpenLinks::unlisted;
  }
}

} // namespace voxelmaps

#endif // CudaListLinks_cuh
