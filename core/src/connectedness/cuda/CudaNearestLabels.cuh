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
  const std::uint16_t * rankLabels;
  const std::uint16_t * labelRanks;
  Key                   rankMask;
  Key                   stepKeys[CudaConnectednessScene::maxLinks]; // of the links of the scene
};

/** The keys of voxels with labels, and of those in the zone of ties, which have label 0. */
template <typename TView, typename TLabel>
__global__ void
StartNearestLabelsKernel(std::int64_t numberOfVoxels, TView view, std::uint32_t minKey, const TLabel * labels,
                         CudaNearestLabels nearest)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const TLabel        label = labels[voxel];
    std::uint32_t       otherKey = noKey;
    const std::uint32_t key = view.GetKeys(voxel, otherKey);
    nearest.keys[voxel] = label != 0                         ? nearest.labelRanks[label]
                          : key >= minKey && key <= otherKey ? CudaNearestLabels::unreached
                                                             : CudaNearestLabels::outside;
  });
}

template <typename TLabel>
__global__ void
WriteNearestLabelsKernel(std::int64_t numberOfVoxels, CudaNearestLabels nearest, TLabel * labels)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const CudaNearestLabels::Key key = nearest.keys[voxel];
    if (labels[voxel] == 0 && key < CudaNearestLabels::unreached)
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
    const Key mine = nearest.keys[voxel];
    // Voxels of the zone are at a distance from all others.
    if (mine <= nearest.rankMask || mine >= CudaNearestLabels::unreached)
    {
      across[voxel] = CudaNearestLabels::outside;
      return;
    }
    const int x = static_cast<int>(voxel % scene.size[0]);
    const int y = static_cast<int>(voxel / scene.size[0] % scene.size[1]);
    const int z = static_cast<int>(voxel / scene.size[0] / scene.size[1]);
    Key       key = CudaNearestLabels::unreached;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const CudaLink & link = scene.links[l];
      for (int sign = -1; sign <= 1; sign += 2)
      {
        const CudaPlace to{ x + sign * link.x, y + sign * link.y, z + sign * link.z };
        const Key       neighbor = IsInImage(scene, to.x, to.y, to.z) ? nearest.keys[GetVoxel(scene, to.x, to.y, to.z)]
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
WriteLeadsKernel(std::int64_t numberOfVoxels, CudaNearestLabels nearest, int rankBits, CudaNearestLabels::Key * across)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const CudaNearestLabels::Key key = across[voxel];
    across[voxel] = key < CudaNearestLabels::unreached ? (key >> rankBits) - (nearest.keys[voxel] >> rankBits) : noLead;
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
  unsigned int open = 0; // one bit per voxel of this thread that is in the zone
#pragma unroll
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const CudaPlace place = getPlace(i);
    const bool      inside = IsInImage(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
    const Key       key = inside ? nearest.keys[getVoxel(place)] : CudaNearestLabels::outside;
    open |= key != CudaNearestLabels::outside && key > nearest.rankMask ? 1u << i : 0u;
  }
  // Also waits for the keys in shared memory.
  const bool anyIsReached = __syncthreads_or(static_cast<int>(isReached)) != 0;
  if (__syncthreads_or(static_cast<int>(open)) == 0 || !anyIsReached)
  {
    return;
  }

  const unsigned int changed = SettleTile(grid, keysHere, [&](int i, int local) {
    Key key = keysHere[local];
    if ((open >> i & 1u) != 0)
    {
      for (int l = 0; l < scene.numberOfLinks; ++l)
      {
        const Key before = keysHere[local - grid.localStrides[l]];
        const Key behind = keysHere[local + grid.localStrides[l]];
        const Key offer = (before < behind ? before : behind) + nearest.stepKeys[l];
        key = offer < key ? offer : key;
      }
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
            keysHere[local + sign * grid.localStrides[l]] > key + nearest.stepKeys[l])
        {
          tieTiles.Wake(grid, origin.x + to.x, origin.y + to.y, origin.z + to.z);
        }
      }
    }
  }
}

/** Give voxels in the zone of ties the nearest label. If there is an output of margins, allocate and fill the leads. */
template <typename TView, typename TLabel>
void
SettleTiesByDistance(const CudaRelativeOutputs & outputs, const CudaConnectednessScene & scene, const TView & view,
                     TLabel * labels, DeviceBuffer<CudaNearestLabels::Key> & leads,
                     CudaRelativeFuzzyConnectednessReport & report)
{
  constexpr unsigned int threads = CudaRelativeOutputs::threads;
  // All that a block has without asking for more.
  constexpr std::size_t maxBytes = 48 * 1024;
  const TieDistances    distances(outputs.job);
  const CudaStream &    stream = outputs.stream;
  // Only ranks of labels that occur are copied.
  const auto                       last = std::max_element(distances.rankLabels.begin(), distances.rankLabels.end());
  const std::ptrdiff_t             count = last == distances.rankLabels.end() ? 1 : *last + std::ptrdiff_t{ 1 };
  const std::vector<std::uint16_t> ranks(distances.labelRanks.begin(), distances.labelRanks.begin() + count);
  const auto                       rankLabels = CopyToDevice(distances.rankLabels, stream);
  const auto                       labelRanks = CopyToDevice(ranks, stream);

  DeviceBuffer<CudaNearestLabels::Key> keys(static_cast<std::size_t>(scene.numberOfVoxels), stream);
  CudaNearestLabels                    nearest{
    keys.data(), rankLabels.data(), labelRanks.data(), (CudaNearestLabels::Key{ 1 } << distances.rankBits) - 1, {}
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
  outputs.Launch([&](unsigned int blocks) {
    StartNearestLabelsKernel<<<blocks, threads, 0, stream>>>(
      scene.numberOfVoxels, view, MinKey(outputs.job), labels, nearest);
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
  leads.Allocate(static_cast<std::size_t>(scene.numberOfVoxels), stream);
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
