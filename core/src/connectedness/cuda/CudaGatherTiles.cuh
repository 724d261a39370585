// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaGatherTiles_cuh
#define CudaGatherTiles_cuh

#include "CudaTileQueue.cuh"

namespace voxelmaps
{
// For any links: a block settles a tile voxel by voxel.

constexpr int gatherThreads = 128;
constexpr int gatherVoxelsPerThread = settleTileVoxels / gatherThreads;

template <typename TKeys>
__global__ void
__launch_bounds__(gatherThreads) GatherTilesKernel(CudaConnectednessScene scene, CudaTileGrid grid, TileQueue queue)
{
  using Pixel = typename TKeys::Pixel;
  extern __shared__ double sharedMemory[];
  __shared__ int           taken;
  __shared__ unsigned int  wakes;
  const int                localVoxels = grid.GetNumberOfLocalVoxels();
  auto * const             pixels = reinterpret_cast<Pixel *>(sharedMemory);
  auto * const             values = reinterpret_cast<std::uint32_t *>(pixels + (localVoxels + 1) / 2 * 2);
  // Keys of links within the tile, at number of the link * settleTileVoxels + voxel.
  std::uint32_t * const keys = values + localVoxels;
  const int             thread = static_cast<int>(threadIdx.x);
  const int             localX = grid.GetLocalSize(0);
  const int             localXY = localX * grid.GetLocalSize(1);

  const unsigned long long deadline = TileQueue::Time() + queue.nanoseconds;
  if (thread == 0)
  {
    taken = -1;
  }
  for (;;)
  {
    if (thread == 0)
    {
      taken = taken >= 0 ? taken : queue.Take(deadline);
      wakes = 0;
    }
    __syncthreads();
    const int tile = taken;
    if (tile < 0)
    {
      return;
    }
    const CudaPlace<int> origin = GetTileOrigin(grid, tile);
    ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel, bool inside) {
      pixels[local] = inside ? TKeys::Load(scene, voxel) : TKeys::Outside();
      values[local] = inside ? __ldcg(scene.keys + voxel) : noKey;
    });
    __syncthreads();

    /** Call f(v, local number of v, number and local stride of the link, sign, place of the neighbor) for all links of
     * the voxels of this thread. The neighbor may be outside the image, where pixels have no links. */
    const auto forEachLink = [&](const auto & f) {
      for (int i = 0; i < gatherVoxelsPerThread; ++i)
      {
        const int            v = i * gatherThreads + thread;
        const CudaPlace<int> place = GetPlaceInTile(grid, v);
        const int            local =
          (place.z + grid.halo[2]) * localXY + (place.y + grid.halo[1]) * localX + place.x + grid.halo[0];
        for (int l = 0; l < scene.numberOfLinks; ++l)
        {
          const CudaLink & link = scene.links[l];
          for (int sign = -1; sign <= 1; sign += 2)
          {
            const CudaPlace<int> to{ place.x + sign * link.x, place.y + sign * link.y, place.z + sign * link.z };
            f(v, local, l, sign * grid.localStrides[l], sign, to);
          }
        }
      }
    };

    // Keys of the links in the tile, and offers from the halo.
    for (int i = thread; i < scene.numberOfLinks * settleTileVoxels; i += gatherThreads)
    {
      keys[i] = noKey;
    }
    __syncthreads();
    bool changed = false;
    forEachLink([&](int v, int local, int l, int stride, int sign, const CudaPlace<int> & to) {
      const bool isInTile = IsInTile(grid, to.x, to.y, to.z);
      if (isInTile && sign < 0)
      {
        return;
      }
      const std::uint32_t key = TKeys::Key(scene, pixels[local], pixels[local + stride], scene.links[l].weight);
      if (isInTile)
      {
        keys[l * settleTileVoxels + v] = key;
      }
      else if (Min(key, values[local + stride]) > values[local])
      {
        values[local] = Min(key, values[local + stride]);
        changed = true;
      }
    });
    __syncthreads();

    // Every voxel takes the best offer from its neighbors in the tile, until nothing changes.
    for (bool any = true; any;)
    {
      bool          improved = false;
      int           locals[gatherVoxelsPerThread];
      std::uint32_t best[gatherVoxelsPerThread];
#pragma unroll
      for (int i = 0; i < gatherVoxelsPerThread; ++i)
      {
        const int            v = i * gatherThreads + thread;
        const CudaPlace<int> place = GetPlaceInTile(grid, v);
        const int            local =
          (place.z + grid.halo[2]) * localXY + (place.y + grid.halo[1]) * localX + place.x + grid.halo[0];
        const std::uint32_t known = values[local];
        std::uint32_t       value = known;
        for (int l = 0; l < scene.numberOfLinks; ++l)
        {
          const CudaLink &    link = scene.links[l];
          const int           stride = grid.localStrides[l];
          const std::uint32_t key = keys[l * settleTileVoxels + v];
          if (key > value)
          {
            value = Max(value, Min(key, values[local + stride]));
          }
          if (IsInTile(grid, place.x - link.x, place.y - link.y, place.z - link.z))
          {
            const std::uint32_t behind = keys[l * settleTileVoxels + v - grid.tileStrides[l]];
            if (behind > value)
            {
              value = Max(value, Min(behind, values[local - stride]));
            }
          }
        }
        locals[i] = local;
        best[i] = value;
        improved = improved || value > known;
      }
      any = __syncthreads_or(improved) != 0;
#pragma unroll
      for (int i = 0; i < gatherVoxelsPerThread; ++i)
      {
        values[locals[i]] = best[i];
      }
      __syncthreads();
      changed = changed || any;
    }
    changed = __syncthreads_or(changed) != 0;

    if (changed)
    {
      for (int i = 0; i < gatherVoxelsPerThread; ++i)
      {
        const CudaPlace<int> place = GetPlaceInTile(grid, i * gatherThreads + thread);
        const int            local =
          (place.z + grid.halo[2]) * localXY + (place.y + grid.halo[1]) * localX + place.x + grid.halo[0];
        if (IsInImage(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z))
        {
          scene.keys[GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z)] = values[local];
        }
      }
      __threadfence();
    }
    forEachLink([&](int, int local, int l, int stride, int, const CudaPlace<int> & to) {
      if (!IsInTile(grid, to.x, to.y, to.z) && values[local] > values[local + stride] &&
          Min(TKeys::Key(scene, pixels[local], pixels[local + stride], scene.links[l].weight), values[local]) >
            values[local + stride])
      {
        // 0, 1 or 2 along each axis.
        const int sideX = (to.x >> grid.bits[0]) + 1;
        const int sideY = (to.y >> grid.bits[1]) + 1;
        const int sideZ = (to.z >> grid.bits[2]) + 1;
        atomicOr(&wakes, 1u << (9 * sideZ + 3 * sideY + sideX));
      }
    });
    __syncthreads();
    if (thread < warp)
    {
      const int kept = WakeTiles(queue,
                                 thread < 27 && (wakes >> thread & 1u) != 0,
                                 GetNeighborTile(grid, tile, thread % 3 - 1, thread / 3 % 3 - 1, thread / 9 - 1),
                                 deadline);
      if (thread == 0)
      {
        taken = kept;
      }
    }
    __syncthreads();
    if (thread == 0)
    {
      queue.Finish(static_cast<unsigned int>(tile), deadline);
    }
  }
}
} // namespace voxelmaps

#endif // CudaGatherTiles_cuh
