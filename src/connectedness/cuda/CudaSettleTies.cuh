/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef CudaSettleTies_cuh
#define CudaSettleTies_cuh

#include "CudaNodeGraph.cuh"

namespace itk
{
namespace voxelmaps
{
/** What is known of a node: its greatest strength for any label, a seed to which it has this strength, the label of
 * this seed, and the strength of this seed for any other label. */
struct alignas(16) NodeResult
{
  std::uint32_t strength;
  std::uint32_t otherKey;
  std::uint32_t seed;
  std::uint32_t label;
};

/** Voxels with their nodes. */
struct NodesOfVoxels
{
  const std::uint32_t * nodes;
  const std::uint32_t * keys; // the strengths of voxels if their nodes had seedKey
  const NodeResult *    results;

  __device__ std::uint32_t
             GetKey(std::int64_t voxel, const NodeResult & result) const
  {
    const std::uint32_t key = keys[voxel];
    return key < result.strength ? key : result.strength;
  }
  __device__ std::uint32_t
             GetKey(std::int64_t voxel) const
  {
    return this->GetKey(voxel, results[nodes[voxel]]);
  }
};

/** Tiles whose voxels may change. */
struct CudaTieTiles
{
  const int *    tiles;  // of this pass; null for all
  unsigned int   pass;   // from 1 on
  unsigned int * passes; // of every tile, the last pass after which it was woken
  int *          woken;
  unsigned int * numberOfWoken;
};

/** Apply the tie rule of Iterative to one tile, until nothing in it changes. A voxel v takes part in what a neighbor u
 * has if min(strength of u, key of the link) is the strength of v: either the lowest label, or 0 if the labels differ.
 * Labels only become lower, or 0, so it does not matter that neighbor tiles change at the same time, as long as every
 * tile is woken that a change may reach. */
template <typename TKeys, typename TLabel>
__global__ void
__launch_bounds__(contractThreads)
  SettleTiesKernel(CudaConnectednessScene scene, CudaTileGrid grid, NodesOfVoxels voxels, bool keepsTies,
                   CudaTieTiles tieTiles, TLabel * labels)
{
  constexpr std::uint32_t none = 0xffffffffu;   // beyond the image
  extern __shared__ std::uint32_t labelsHere[]; // of the tile and the voxels around it
  const int            tile = tieTiles.tiles != nullptr ? tieTiles.tiles[blockIdx.x] : static_cast<int>(blockIdx.x);
  const CudaPlace<int> origin = GetTileOrigin(grid, tile);
  ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel, bool inside) {
    labelsHere[local] = inside ? labels[voxel] : none;
  });
  __syncthreads();

  const int  localX = grid.GetLocalSize(0);
  const int  localXY = localX * grid.GetLocalSize(1);
  const auto getLocal = [&](const CudaPlace<int> & place) {
    return (place.z + grid.halo[2]) * localXY + (place.y + grid.halo[1]) * localX + place.x + grid.halo[0];
  };
  // Whether what a neighbor has would change a voxel.
  const auto isNews = [keepsTies](std::uint32_t ofNeighbor, std::uint32_t label) {
    return keepsTies ? ofNeighbor < label && ofNeighbor != 0 : ofNeighbor != label && ofNeighbor != none && label != 0;
  };

  unsigned int changed = 0; // one bit per voxel of this thread
  for (;;)
  {
    std::uint32_t settled[contractVoxelsPerThread];
    unsigned int  changing = 0;
#pragma unroll
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      const CudaPlace<int> place = GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x));
      const int            local = getLocal(place);
      const std::uint32_t  former = labelsHere[local];
      std::uint32_t        label = former;
      if (label != none)
      {
        const std::int64_t voxel = GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
        for (int l = 0; l < scene.numberOfLinks; ++l)
        {
          const CudaLink & link = scene.links[l];
          for (int sign = -1; sign <= 1; sign += 2)
          {
            const std::uint32_t ofNeighbor = labelsHere[local + sign * grid.localStrides[l]];
            if (!isNews(ofNeighbor, label))
            {
              continue;
            }
            const std::int64_t  neighbor = voxel + sign * link.stride;
            const std::uint32_t linkKey =
              TKeys::Key(scene, TKeys::Load(scene, voxel), TKeys::Load(scene, neighbor), link.weight);
            const std::uint32_t ofOther = voxels.GetKey(neighbor);
            const std::uint32_t offer = linkKey < ofOther ? linkKey : ofOther;
            if (offer == voxels.GetKey(voxel))
            {
              label = keepsTies ? ofNeighbor : 0;
            }
          }
        }
      }
      settled[i] = label;
      changing |= label != former ? 1u << i : 0u;
    }
    changed |= changing;
    // All threads have read before any writes.
    if (__syncthreads_or(static_cast<int>(changing)) == 0)
    {
      break;
    }
#pragma unroll
    for (int i = 0; i < contractVoxelsPerThread; ++i)
    {
      if ((changing >> i & 1u) != 0)
      {
        labelsHere[getLocal(GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x)))] = settled[i];
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    if ((changed >> i & 1u) == 0)
    {
      continue;
    }
    const CudaPlace<int> place = GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x));
    const CudaPlace<int> at{ origin.x + place.x, origin.y + place.y, origin.z + place.z };
    const int            local = getLocal(place);
    const std::uint32_t  label = labelsHere[local];
    labels[GetVoxel(scene, at.x, at.y, at.z)] = static_cast<TLabel>(label);
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const CudaLink & link = scene.links[l];
      for (int sign = -1; sign <= 1; sign += 2)
      {
        const CudaPlace<int> to{ at.x + sign * link.x, at.y + sign * link.y, at.z + sign * link.z };
        const std::uint32_t  ofNeighbor = labelsHere[local + sign * grid.localStrides[l]];
        const bool           mayChange = keepsTies ? ofNeighbor > label : ofNeighbor != 0;
        if (!mayChange || ofNeighbor == none || IsInTile(grid, to.x - origin.x, to.y - origin.y, to.z - origin.z))
        {
          continue;
        }
        const int other =
          ((to.z >> grid.bits[2]) * grid.tiles[1] + (to.y >> grid.bits[1])) * grid.tiles[0] + (to.x >> grid.bits[0]);
        if (atomicExch(tieTiles.passes + other, tieTiles.pass) != tieTiles.pass)
        {
          tieTiles.woken[atomicAdd(tieTiles.numberOfWoken, 1u)] = other;
        }
      }
    }
  }
}
} // namespace voxelmaps
} // namespace itk

#endif // CudaSettleTies_cuh
