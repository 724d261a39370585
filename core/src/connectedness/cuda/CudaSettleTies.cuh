// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSettleTies_cuh
#define CudaSettleTies_cuh

#include "CudaNodeGraph.cuh"
#include "CudaTieTiles.cuh"

namespace voxelmaps
{
/** Per-node state: its greatest strength for any label, a seed to which it has this strength, the label of
 * this seed, and the strength of this seed for any other label. */
struct alignas(16) NodeResult
{
  std::uint32_t strength;
  std::uint32_t otherKey;
  std::uint32_t seed;
  std::uint32_t label;
};

/** Voxels with their nodes. */
struct VoxelNodes
{
  const std::uint32_t * nodes;
  const std::uint32_t * keys; // the strengths of voxels if their nodes had seedKey
  const NodeResult *    results;

  __device__ std::uint32_t
             GetKey(std::int64_t voxel, std::uint32_t nodeStrength) const
  {
    const std::uint32_t key = __ldg(keys + voxel);
    return key < nodeStrength ? key : nodeStrength;
  }
  __device__ std::uint32_t
             GetKeys(std::int64_t voxel, std::uint32_t & otherKey) const
  {
    const NodeResult result = results[nodes[voxel]];
    otherKey = result.otherKey;
    return this->GetKey(voxel, result.strength);
  }
};

/** Apply the tie rule of Iterative to one tile, until nothing in it changes. A voxel v takes part in what a neighbor u
 * has if min(strength of u, key of the link) is the strength of v: either the lowest label, or 0 if the labels differ.
 * Labels only become lower, or 0, so it does not matter that neighbor tiles change at the same time, as long as every
 * tile is woken that a change may reach. */
template <typename TKeys, bool HasFewLinks, typename TLabel>
__global__ void
__launch_bounds__(contractThreads) SettleTiesKernel(CudaConnectednessScene scene, CudaTileGrid grid, VoxelNodes voxels,
                                                    bool keepsTies, CudaTieTiles tieTiles, TLabel * labels)
{
  // Keys of the tile and the voxels around it; beyond the image noKey, so that nothing passes from there.
  extern __shared__ std::uint32_t keys[];
  auto * const                    labelsHere = reinterpret_cast<TLabel *>(keys + grid.GetNumberOfLocalVoxels());
  const CudaPlace                 origin = GetTileOrigin(grid, tieTiles.GetTile());
  const TLabel                    first = labels[GetVoxel(scene, origin.x, origin.y, origin.z)];
  bool                            differs = false;
  ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel) {
    const TLabel label = voxel >= 0 ? labels[voxel] : first;
    labelsHere[local] = label;
    differs = differs || label != first;
  });
  if (__syncthreads_or(static_cast<int>(differs)) == 0)
  {
    return;
  }
  // In batches, so that a thread has several loads in flight.
  constexpr int batch = 4;
  const int     count = grid.GetNumberOfLocalVoxels();
  for (int start = static_cast<int>(threadIdx.x); start < count; start += batch * contractThreads)
  {
    std::int64_t  at[batch];
    std::uint32_t nodes[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
    {
      at[j] = GetLocalVoxel(scene, grid, origin, start + j * contractThreads);
      nodes[j] = at[j] >= 0 ? __ldg(voxels.nodes + at[j]) : isolated;
    }
#pragma unroll
    for (int j = 0; j < batch; ++j)
    {
      const std::uint32_t strength = __ldg(&voxels.results[nodes[j]].strength);
      if (start + j * contractThreads < count)
      {
        keys[start + j * contractThreads] = at[j] >= 0 ? voxels.GetKey(at[j], strength) : noKey;
      }
    }
  }
  __syncthreads();

  const auto getPlace = [&](int i) {
    return GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x));
  };
  // Neighbors have numbers: that of the link times 2, and 1 more against its direction.
  const auto getSign = [](int n) { return n % 2 == 0 ? 1 : -1; };
  /** Call f(number of the neighbor, its local number, key of the link) for all neighbors in the image. */
  const auto forEachNeighbor = [&](const CudaPlace & place, const auto & f) {
    using Pixel = typename TKeys::Pixel;
    const std::int64_t voxel = GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
    const int          local = GetLocalNumber(grid, place);
    const Pixel        pixel = TKeys::Load(scene, voxel);
    const auto         look = [&](int n, Pixel neighborValue) {
      const int neighbor = local + getSign(n) * grid.localStrides[n / 2];
      if (keys[neighbor] != noKey)
      {
        f(n, neighbor, TKeys::Key(scene, pixel, neighborValue, scene.links[n / 2].weight));
      }
    };
    const auto load = [&](int n) {
      // Without a branch, so that all loads are in flight at a time.
      const bool inside = keys[local + getSign(n) * grid.localStrides[n / 2]] != noKey;
      return TKeys::Load(scene, inside ? voxel + getSign(n) * scene.links[n / 2].stride : voxel);
    };
    if constexpr (HasFewLinks)
    {
      constexpr int maxNeighbors = 6;
      Pixel         neighborPixels[maxNeighbors];
#pragma unroll
      for (int n = 0; n < maxNeighbors; ++n)
      {
        neighborPixels[n] = n < 2 * scene.numberOfLinks ? load(n) : pixel;
      }
#pragma unroll
      for (int n = 0; n < maxNeighbors; ++n)
      {
        if (n < 2 * scene.numberOfLinks)
        {
          look(n, neighborPixels[n]);
        }
      }
    }
    else
    {
#pragma unroll 2
      for (int n = 0; n < 2 * scene.numberOfLinks; ++n)
      {
        look(n, load(n));
      }
    }
  };

  std::uint32_t passing[contractVoxelsPerThread]; // one bit per neighbor from which labels pass to a voxel
#pragma unroll
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    passing[i] = 0;
    const CudaPlace     place = getPlace(i);
    const int           local = GetLocalNumber(grid, place);
    const std::uint32_t key = keys[local];
    // A voxel of label 0 is below the minimum, or a tie already.
    if (key != noKey && labelsHere[local] != 0)
    {
      forEachNeighbor(place, [&](int n, int neighbor, std::uint32_t linkKey) {
        const std::uint32_t offer = linkKey < keys[neighbor] ? linkKey : keys[neighbor];
        passing[i] |= offer == key ? 1u << n : 0u;
      });
    }
  }

  const unsigned int changed = SettleTile(grid, labelsHere, [&](int i, int local) {
    const TLabel former = labelsHere[local];
    TLabel       label = former;
    for (std::uint32_t left = passing[i]; left != 0; left &= left - 1)
    {
      const int    n = __ffs(static_cast<int>(left)) - 1;
      const TLabel neighborValue = labelsHere[local + getSign(n) * grid.localStrides[n / 2]];
      label = keepsTies                 ? (neighborValue < label ? neighborValue : label)
              : neighborValue != former ? TLabel{ 0 }
                                        : label;
    }
    passing[i] = label == 0 ? 0 : passing[i];
    return label;
  });

  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    if ((changed >> i & 1u) == 0)
    {
      continue;
    }
    const CudaPlace place = getPlace(i);
    const int       local = GetLocalNumber(grid, place);
    const TLabel    label = labelsHere[local];
    labels[GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z)] = label;
    forEachNeighbor(place, [&](int n, int neighbor, std::uint32_t linkKey) {
      const CudaLink & link = scene.links[n / 2];
      const int        sign = getSign(n);
      const CudaPlace  to{ place.x + sign * link.x, place.y + sign * link.y, place.z + sign * link.z };
      const TLabel     neighborValue = labelsHere[neighbor];
      const bool       isNews = keepsTies ? neighborValue > label : neighborValue != 0;
      if (isNews && !IsInTile(grid, to.x, to.y, to.z) &&
          (linkKey < keys[local] ? linkKey : keys[local]) == keys[neighbor])
      {
        tieTiles.Wake(grid, origin.x + to.x, origin.y + to.y, origin.z + to.z);
      }
    });
  }
}
} // namespace voxelmaps

#endif // CudaSettleTies_cuh
