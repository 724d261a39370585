// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaConnectednessSlab.h"
#include "CudaListLinks.cuh"
#include "CudaNodeGraph.cuh"

namespace voxelmaps
{
namespace
{
constexpr unsigned int nodeThreads = 256;

template <typename TKeys>
void
Run(CudaConnectednessContext & context, const CudaConnectednessSlab & slab)
{
  const CudaConnectednessScene & scene = slab.GetScene();
  const CudaStream &             stream = context.stream;
  const CudaTileGrid             grid = MakeTileGrid(scene,
                                         contractTileBits,
                                         (GetCudaDeviceLimits().maxSharedMemoryPerBlock - sizeof(TileGraph) - 8) /
                                           sizeof(typename TKeys::Pixel));
  const auto                     voxels = static_cast<std::uint64_t>(scene.numberOfVoxels);
  DeviceBuffer<std::uint32_t>    labels(voxels, stream);
  DeviceBuffer<unsigned int>     counter(1, stream);
  {
    const std::size_t sharedBytes =
      (grid.GetNumberOfLocalVoxels() * sizeof(typename TKeys::Pixel) + 7) / 8 * 8 + sizeof(TileGraph);
    const auto kernel = scene.numberOfLinks <= 3 ? ContractTilesKernel<TKeys, true> : ContractTilesKernel<TKeys, false>;
    PrepareKernel(kernel, contractThreads, sharedBytes);
    CudaKernelClock clock(context.kernelTimes);
    CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned int), stream), "clearing a counter");
    kernel<<<static_cast<unsigned int>(grid.GetNumberOfTiles()), contractThreads, sharedBytes, stream>>>(
      scene, grid, nullptr, labels.data(), counter.data());
    CheckLaunch("contracting tiles");
    context.RunHostWork();
    clock.Stop();
  }
  context.job.execution.ReportProgress(voxels - voxels / 4);

  NodeGraph graph{};
  graph.numberOfNodes = CopyFromDevice(counter, stream) + 1;
  const std::size_t                nodes = graph.numberOfNodes;
  DeviceBuffer<unsigned long long> best(nodes, stream);
  DeviceBuffer<std::uint32_t>      others(4 * nodes, stream);
  graph.best = best.data();
  graph.parents = others.data();
  graph.keys = graph.parents + nodes;
  graph.roots = graph.keys + nodes;
  graph.seedKeys = graph.roots + nodes;

  const unsigned int nodeBlocks = BlocksFor(graph.numberOfNodes, nodeThreads);
  CudaKernelClock    clock(context.kernelTimes);
  StartNodesKernel<<<nodeBlocks, nodeThreads, 0, stream>>>(graph);
  CheckLaunch("starting nodes");
  const auto enter = [&](const std::uint32_t * theirLabels,
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
    FindRootsKernel<<<nodeBlocks, nodeThreads, 0, stream>>>(graph);
    CheckLaunch("finding roots");
    FollowRootsKernel<<<nodeBlocks, nodeThreads, 0, stream>>>(graph);
    CheckLaunch("following roots");
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
