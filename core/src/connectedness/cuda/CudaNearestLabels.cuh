// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaNearestLabels_cuh
#define CudaNearestLabels_cuh

#include "CudaNodeGraph.cuh"
#include "CudaTieTiles.cuh"
#include "connectedness/TieDistances.h"

namespace voxelmaps
{
/** Keys of TieDistances, in 64 bits, which the keys of all paths fit into. */
struct CudaNearestLabels
{
  using Key = unsigned long long;

  // A key of the zone that no path has reached, above all others; outside of the zone, without a label.
  static constexpr Key unreached = ~Key{ 0 } / 2;
  static constexpr Key outside = ~Key{ 0 };

  Key *                 keys;
  const std::uint32_t * passing; // of voxels of the zone, bits of the links along which labels arrive; 0 elsewhere
  const std::uint16_t * rankLabels;
  Key                   rankMask;
  Key                   stepKeys[CudaConnectednessScene::maxLinks]; // of the links of the scene
};

/** The bit of the link to the neighbor in direction sign of link l. */
inline __device__ std::uint32_t
                  GetLinkBit(int l, int sign)
{
  return 1u << (sign > 0 ? 2 * l : 2 * l + 1);
}

/** Find the links along which labels arrive. */
static __global__ void
FindPassingLinksKernel(CudaConnectednessScene scene, TieSetView view, const std::uint32_t * sets,
                       std::uint32_t * passing)
{
  ForEachInGrid(scene.numberOfVoxels, [&](std::int64_t voxel) {
    std::uint32_t       bits = 0;
    const std::uint32_t set = sets[voxel];
    if (view.IsTie(set))
    {
      const int x = static_cast<int>(voxel % scene.size[0]);
      const int y = static_cast<int>(voxel / scene.size[0] % scene.size[1]);
      const int z = static_cast<int>(voxel / scene.size[0] / scene.size[1]);
      for (int l = 0; l < scene.numberOfLinks; ++l)
      {
        const CudaLink & link = scene.links[l];
        for (int sign = -1; sign <= 1; sign += 2)
        {
          const bool          inside = IsInImage(scene, x + sign * link.x, y + sign * link.y, z + sign * link.z);
          const std::uint32_t other = inside ? sets[voxel + sign * link.stride] : 0;
          bits |= other != 0 && view.Includes(set, other) ? GetLinkBit(l, sign) : 0u;
        }
      }
    }
    passing[voxel] = bits;
  });
}

/** The keys of voxels with one strongest label, and of those in the zone of ties. */
static __global__ void
StartNearestLabelsKernel(std::int64_t numberOfVoxels, TieSetView view, const std::uint32_t * sets,
                         CudaNearestLabels nearest)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const std::uint32_t set = sets[voxel];
    // The only bit, or the number.
    const std::uint32_t rankAfter1 = view.AreWords() ? __ffs(static_cast<int>(set)) : set;
    nearest.keys[voxel] = view.IsTie(set) ? CudaNearestLabels::unreached
                          : set != 0      ? rankAfter1 - 1
                                          : CudaNearestLabels::outside;
  });
}

/** Voxels that have a label keep it. */
template <typename TLabel>
__global__ void
WriteNearestLabelsKernel(std::int64_t numberOfVoxels, CudaNearestLabels nearest, TLabel * labels)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const CudaNearestLabels::Key key = nearest.keys[voxel];
    if (key < CudaNearestLabels::unreached)
    {
      labels[voxel] = static_cast<TLabel>(nearest.rankLabels[key & nearest.rankMask]);
    }
  });
}

/** The keys of the zone of paths that begin with a link to a voxel of another label. */
static __global__ void
StartLeadsKernel(CudaConnectednessScene scene, CudaNearestLabels nearest, CudaNearestLabels::Key * across)
{
  using Key = CudaNearestLabels::Key;
  ForEachInGrid(scene.numberOfVoxels, [&](std::int64_t voxel) {
    const Key           mine = nearest.keys[voxel];
    const std::uint32_t passing = nearest.passing[voxel];
    Key                 key = CudaNearestLabels::unreached;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      for (int sign = -1; sign <= 1; sign += 2)
      {
        // Only links in the image pass labels on.
        const Key neighbor = (passing & GetLinkBit(l, sign)) != 0 ? nearest.keys[voxel + sign * scene.links[l].stride]
                                                                  : CudaNearestLabels::outside;
        if (neighbor != CudaNearestLabels::outside && ((neighbor ^ mine) & nearest.rankMask) != 0)
        {
          const Key offer = (neighbor & ~nearest.rankMask) + nearest.stepKeys[l];
          key = offer < key ? offer : key;
        }
      }
    }
    across[voxel] = key;
  });
}

/** Turn these keys, after they were passed on, into leads. */
static __global__ void
WriteLeadsKernel(std::int64_t numberOfVoxels, CudaNearestLabels nearest, int rankBits, CudaNearestLabels::Key * others)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const CudaNearestLabels::Key key = others[voxel];
    const CudaNearestLabels::Key mine = nearest.keys[voxel];
    others[voxel] = mine >= CudaNearestLabels::unreached ? 0
                    : key < CudaNearestLabels::unreached ? (key >> rankBits) - (mine >> rankBits)
                                                         : noLead;
  });
}

/** Pass keys on in one tile until nothing in it changes. Keys only become smaller, so it does not matter that neighbor
 * tiles change at the same time, as long as every tile is woken that a change may reach. */
static __global__ void
__launch_bounds__(contractThreads)
  NearestLabelsKernel(CudaConnectednessScene scene, CudaTileGrid grid, CudaNearestLabels nearest, CudaTieTiles tieTiles)
{
  using Key = CudaNearestLabels::Key;
  extern __shared__ Key keysHere[];
  const CudaPlace       origin = GetTileOrigin(grid, tieTiles.GetTile());
  bool                  isReached = false;
  ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel) {
    const Key key = voxel >= 0 ? nearest.keys[voxel] : CudaNearestLabels::outside;
    keysHere[local] = key < CudaNearestLabels::unreached ? key : CudaNearestLabels::unreached;
    isReached = isReached || key < CudaNearestLabels::unreached;
  });
  const auto getPlace = [&](int i) {
    return GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x));
  };
  const auto getVoxel = [&](const CudaPlace & place) {
    return GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
  };
  std::uint32_t passing[contractVoxelsPerThread];
  std::uint32_t anyPassing = 0;
#pragma unroll
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const CudaPlace place = getPlace(i);
    const bool      inside = IsInImage(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
    passing[i] = inside ? nearest.passing[getVoxel(place)] : 0;
    anyPassing |= passing[i];
  }
  // Also waits for the keys in shared memory.
  const bool anyIsReached = __syncthreads_or(static_cast<int>(isReached)) != 0;
  if (__syncthreads_or(static_cast<int>(anyPassing)) == 0 || !anyIsReached)
  {
    return;
  }

  const unsigned int changed = SettleTile(grid, keysHere, [&](int i, int local) {
    Key key = keysHere[local];
    for (int l = 0; passing[i] != 0 && l < scene.numberOfLinks; ++l)
    {
      const auto getNeighbor = [&](int sign) {
        return (passing[i] & GetLinkBit(l, sign)) != 0 ? keysHere[local + sign * grid.localStrides[l]]
                                                       : CudaNearestLabels::unreached;
      };
      const Key before = getNeighbor(-1);
      const Key behind = getNeighbor(1);
      const Key offer = (before < behind ? before : behind) + nearest.stepKeys[l];
      key = offer < key ? offer : key;
    }
    return key;
  });

  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    if ((changed >> i & 1u) == 0)
    {
      continue;
    }
    const CudaPlace place = getPlace(i);
    const int       local = GetLocalNumber(grid, place);
    const Key       key = keysHere[local];
    nearest.keys[getVoxel(place)] = key;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const CudaLink & link = scene.links[l];
      for (int sign = -1; sign <= 1; sign += 2)
      {
        const CudaPlace to{ place.x + sign * link.x, place.y + sign * link.y, place.z + sign * link.z };
        if (!IsInTile(grid, to.x, to.y, to.z) && IsInImage(scene, origin.x + to.x, origin.y + to.y, origin.z + to.z) &&
            keysHere[local + sign * grid.localStrides[l]] > key + nearest.stepKeys[l] &&
            (nearest.passing[getVoxel(to)] & GetLinkBit(l, -sign)) != 0)
        {
          tieTiles.Wake(grid, origin.x + to.x, origin.y + to.y, origin.z + to.z);
        }
      }
    }
  }
}

/** Give voxels in the zone of ties the nearest label. Voxels have sets of strongest labels; labels of those that no
 * label arrives at stay as they are. If there is an output of margins, allocate and fill the leads. */
template <typename TLabel>
void
SettleTiesByDistance(const CudaRelativeOutputs & outputs, const CudaConnectednessScene & scene,
                     const TieDistances & distances, const TieSets & sets, const std::uint32_t * setsOfVoxels,
                     TLabel * labels, DeviceBuffer<CudaNearestLabels::Key> & leads,
                     CudaRelativeFuzzyConnectednessReport & report)
{
  constexpr unsigned int threads = CudaRelativeOutputs::threads;
  // All that a block has without asking for more.
  constexpr std::size_t maxBytes = 48 * 1024;
  const CudaStream &    stream = outputs.stream;
  const auto            rankLabels = CopyToDevice(distances.rankLabels, stream);
  const auto            words = CopyToDevice(sets.GetWords(), stream);
  const auto            voxels = static_cast<std::size_t>(scene.numberOfVoxels);

  DeviceBuffer<CudaNearestLabels::Key> keys(voxels, stream);
  DeviceBuffer<std::uint32_t>          passing(voxels, stream);
  CudaNearestLabels                    nearest{
    keys.data(), passing.data(), rankLabels.data(), (CudaNearestLabels::Key{ 1 } << distances.rankBits) - 1, {}
  };
  for (int l = 0; l < scene.numberOfLinks; ++l)
  {
    for (std::size_t i = 0; i < distances.links.size(); ++i)
    {
      const Link & link = distances.links[i];
      if (link.x == scene.links[l].x && link.y == scene.links[l].y && link.z == scene.links[l].z)
      {
        nearest.stepKeys[l] = distances.stepKeys[i];
      }
    }
  }
  const TieSetView view{ sets.GetNumberOfLabels(), sets.GetWordsPerSet(), words.data() };
  outputs.Launch([&](unsigned int blocks) {
    FindPassingLinksKernel<<<blocks, threads, 0, stream>>>(scene, view, setsOfVoxels, passing.data());
  });
  outputs.Launch([&](unsigned int blocks) {
    StartNearestLabelsKernel<<<blocks, threads, 0, stream>>>(scene.numberOfVoxels, view, setsOfVoxels, nearest);
  });
  const CudaTileGrid grid = MakeTileGrid(scene, contractTileBits, maxBytes / sizeof(CudaNearestLabels::Key));
  const std::size_t  bytes = grid.GetNumberOfLocalVoxels() * sizeof(CudaNearestLabels::Key);
  PrepareKernel(NearestLabelsKernel, contractThreads, bytes);
  SettleTiles(outputs, grid, report, [&](unsigned int blocks, const CudaTieTiles & tieTiles) {
    NearestLabelsKernel<<<blocks, contractThreads, bytes, stream>>>(scene, grid, nearest, tieTiles);
  });
  outputs.Launch([&](unsigned int blocks) {
    WriteNearestLabelsKernel<<<blocks, threads, 0, stream>>>(scene.numberOfVoxels, nearest, labels);
  });
  if (outputs.job.marginOutput == nullptr)
  {
    return;
  }
  leads.Allocate(voxels, stream);
  CudaNearestLabels across = nearest;
  across.keys = leads.data();
  outputs.Launch(
    [&](unsigned int blocks) { StartLeadsKernel<<<blocks, threads, 0, stream>>>(scene, nearest, leads.data()); });
  SettleTiles(outputs, grid, report, [&](unsigned int blocks, const CudaTieTiles & tieTiles) {
    NearestLabelsKernel<<<blocks, contractThreads, bytes, stream>>>(scene, grid, across, tieTiles);
  });
  outputs.Launch([&](unsigned int blocks) {
    WriteLeadsKernel<<<blocks, threads, 0, stream>>>(scene.numberOfVoxels, nearest, distances.rankBits, leads.data());
  });
}
} // namespace voxelmaps

#endif // CudaNearestLabels_cuh
