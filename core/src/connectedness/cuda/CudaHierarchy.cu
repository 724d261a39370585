// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaConnectednessSlab.h"
#include "CudaNodeGraph.cuh"

namespace voxelmaps
{
namespace
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
 * strongest: if voxels have many neighbors, that is a small part. By hand: CUB's ReduceByKey needs a sort of all. */
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
  const CudaPlace          origin = GetTileOrigin(grid, static_cast<int>(blockIdx.x));
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
  ForEachLocalVoxel(
    scene, grid, origin, [&](int local, std::int64_t voxel) { nodes[local] = voxel >= 0 ? labels[voxel] : isolated; });
  __syncthreads();
  const auto put = [&](std::uint32_t entry) {
    const std::uint32_t at = atomicAdd(&table.count, 1u);
    if (at < OpenLinks::capacity)
    {
      list[at] = static_cast<std::uint16_t>(entry);
    }
  };
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const int           v = i * contractThreads + thread;
    const CudaPlace     place = GetPlaceInTile(grid, v);
    const int           local = GetLocalNumber(grid, place);
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

template <typename TKeys>
void
Run(CudaConnectednessContext & context, const CudaConnectednessSlab & slab)
{
  const CudaConnectednessScene & scene = slab.GetScene();
  const CudaStream &             stream = context.stream;
  const CudaTileGrid             grid = MakeContractGrid<TKeys>(scene);
  const auto                     voxels = static_cast<std::uint64_t>(scene.numberOfVoxels);
  DeviceBuffer<std::uint32_t>    labels(voxels, stream);
  DeviceBuffer<unsigned int>     counter(1, stream);
  {
    CudaKernelClock clock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned int), stream), "clearing a counter");
    ContractTiles<TKeys>(
      scene, grid, nullptr, static_cast<unsigned int>(grid.GetNumberOfTiles()), labels.data(), counter.data(), stream);
    context.RunHostWork();
    clock.Stop();
  }
  context.job.execution.ReportProgress(voxels - voxels / 4);

  const NodeGraphBuffers buffers(std::size_t{ CopyFromDevice(counter, stream) } + 1, stream);
  CudaKernelClock        clock(context.kernelTimes);
  const NodeGraph        graph = buffers.Start(stream);
  const unsigned int     nodeBlocks = BlocksFor(graph.numberOfNodes, nodeThreads);
  const auto             enter = [&](const std::uint32_t * theirLabels,
                         const std::int64_t *  seeds,
                         const std::uint32_t * keys,
                         std::int64_t          count) {
    EnterKeysKernel<<<BlocksFor(count, nodeThreads), nodeThreads, 0, stream>>>(graph, theirLabels, seeds, keys, count);
    CheckLaunch("planting seeds");
  };
  enter(labels.data(), slab.GetSeeds().data(), nullptr, static_cast<std::int64_t>(slab.GetSeeds().size()));
  if (slab.GetKeysBefore() != nullptr)
  {
    enter(labels.data(), nullptr, slab.GetKeysBefore(), slab.GetPlaneSize());
  }
  if (slab.GetKeysBehind() != nullptr)
  {
    enter(
      labels.data() + scene.numberOfVoxels - slab.GetPlaneSize(), nullptr, slab.GetKeysBehind(), slab.GetPlaneSize());
  }
  clock.StopLater();

  const auto                  tiles = static_cast<std::size_t>(grid.GetNumberOfTiles());
  DeviceBuffer<std::uint32_t> openCounts(tiles, stream);
  DeviceBuffer<std::uint16_t> openLinks(tiles * OpenLinks::capacity, stream);
  const OpenLinks             open{ openCounts.data(), openLinks.data() };
  static_assert(OpenLinks::unlisted == 0xffffffffu, "memset fills the counts with it");
  CheckCuda(cudaMemsetAsync(openCounts.data(), 0xff, tiles * sizeof(std::uint32_t), stream), "setting counts");
  // On an H100, faster than 11 bits, which leave no room for many pairs of nodes.
  constexpr int     slotBits = 12;
  const std::size_t listBytes = sizeof(NodePairs<slotBits>) + grid.GetNumberOfLocalVoxels() * sizeof(std::uint32_t);
  if (scene.numberOfLinks > 3 && listBytes <= GetCudaDeviceLimits().maxSharedMemoryPerBlock)
  {
    const auto kernel = ListLinksKernel<TKeys, slotBits>;
    PrepareKernel(kernel, contractThreads, listBytes);
    CudaKernelClock listClock(context.kernelTimes);
    kernel<<<static_cast<unsigned int>(tiles), contractThreads, listBytes, stream>>>(scene, grid, labels.data(), open);
    CheckLaunch("listing links");
    listClock.StopLater();
  }
  const std::size_t rootBytes = grid.GetNumberOfLocalVoxels() * sizeof(std::uint32_t);
  PrepareKernel(OfferLinksKernel<TKeys, false>, contractThreads, rootBytes);
  for (unsigned int merged = 1; merged != 0;)
  {
    CudaKernelClock roundClock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned int), stream), "clearing a counter");
    OfferLinksKernel<TKeys, false><<<static_cast<unsigned int>(tiles), contractThreads, rootBytes, stream>>>(
      scene, grid, graph, labels.data(), open);
    CheckLaunch("offering links");
    PointKernel<<<nodeBlocks, nodeThreads, 0, stream>>>(graph, counter.data());
    CheckLaunch("pointing along links");
    MergeNodes(graph, stream);
    roundClock.Stop();
    merged = CopyFromDevice(counter, stream);
    ++context.numberOfIterations;
    context.job.execution.CheckAbort();
  }

  CudaKernelClock lastClock(context.kernelTimes);
  FindStrengthsKernel<<<nodeBlocks, nodeThreads, 0, stream>>>(graph);
  CheckLaunch("finding strengths");
  FinishVoxelsKernel<<<BlocksFor(voxels, nodeThreads), nodeThreads, 0, stream>>>(scene, labels.data(), graph.roots);
  CheckLaunch("finishing voxels");
  lastClock.Stop();
  context.job.execution.ReportProgress(voxels / 4);
}
} // namespace

void
RunCudaHierarchy(CudaConnectednessContext & context, const CudaConnectednessSlab & slab)
{
  WithKeys(slab.GetPixels(), [&](auto keys) { Run<decltype(keys)>(context, slab); });
}
} // namespace voxelmaps
