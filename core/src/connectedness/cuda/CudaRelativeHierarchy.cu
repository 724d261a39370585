// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaRelativeHierarchy.h"

#include "CudaConnectednessSlab.h"
#include "CudaNearestLabels.cuh"
#include "CudaSettleTies.cuh"
#include "common/HostMemory.h"
#include "connectedness/RelativeResults.h"
#include "connectedness/SeedTree.h"
#include "device/CudaStaging.h"
#include "CudaNodeGraph.cuh"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace voxelmaps
{
namespace
{
using Job = RelativeFuzzyConnectednessJob;

/** What a round leaves. */
struct NodeRound
{
  std::uint32_t numberOfLinks; // between different components before the round
  unsigned int  merged;        // whether the round has merged any
};

/** Called by all threads of a block: reserve places at the end of a list for the threads with a true condition. Returns
 * the place of this thread. By hand, as CountUp. */
inline __device__ std::uint32_t
                  Append(std::uint32_t * size, bool condition)
{
  __shared__ std::uint32_t count;
  __shared__ std::uint32_t first;
  if (threadIdx.x == 0)
  {
    count = 0;
  }
  __syncthreads();
  const std::uint32_t at = CountUp(&count, condition);
  __syncthreads();
  if (threadIdx.x == 0)
  {
    first = count != 0 ? atomicAdd(size, count) : 0;
  }
  __syncthreads();
  return first + at;
}

/** Call f(i, whether i is less than count) for the items of this thread, with all threads of a block at a time. */
template <typename TFunction>
inline __device__ void
ForEachInBlocks(std::uint32_t count, const TFunction & f)
{
  const std::uint64_t step = std::uint64_t{ gridDim.x } * blockDim.x;
  for (std::uint64_t first = std::uint64_t{ blockIdx.x } * blockDim.x; first < count; first += step)
  {
    const std::uint64_t i = first + threadIdx.x;
    f(static_cast<std::uint32_t>(i), i < count);
  }
}

/** Offer links to the components at both ends, and keep those between different components, seeds or not. */
static __global__ void
OfferListedLinksKernel(NodeGraph graph, const ComponentLink * links, const NodeRound * before, ComponentLink * kept,
                       NodeRound * after)
{
  ForEachInBlocks(before->numberOfLinks, [&](std::uint32_t i, bool isLink) {
    ComponentLink link{ 0, 0, noKey };
    if (isLink)
    {
      link = links[i];
      link.a = graph.roots[link.a];
      link.b = graph.roots[link.b];
    }
    const bool isOpen = link.a != link.b;
    if (isOpen)
    {
      OfferTo(graph, link.a, link.b, link.key);
      OfferTo(graph, link.b, link.a, link.key);
    }
    const std::uint32_t at = Append(&after->numberOfLinks, isOpen);
    if (isOpen)
    {
      kept[at] = link;
    }
  });
}

/** After PointKernel: list the links along which roots point. Between roots, paths of these links are as strong as
 * those of all links, as keys do not get weaker on the way from the end of a link to the root of its component. By
 * hand: in CUDA 12.4, cub::DeviceSelect has at most 2^31 - 1 items. */
static __global__ void
ListPointersKernel(NodeGraph graph, ComponentLink * pointers, std::uint32_t * numberOfPointers)
{
  ForEachInBlocks(graph.numberOfNodes, [&](std::uint32_t n, bool isNode) {
    const bool          points = isNode && graph.roots[n] == n && graph.parents[n] != n;
    const std::uint32_t at = Append(numberOfPointers, points);
    if (points)
    {
      pointers[at] = { n, graph.parents[n], graph.keys[n] };
    }
  });
}

/** Let roots point along their strongest links, which are traced, and add these links to the forest. */
__global__ void
PointTracedKernel(CudaConnectednessScene scene, NodeGraph graph, const std::uint32_t * labels, ComponentLink * forest,
                  std::uint32_t * forestSize)
{
  ForEachInBlocks(graph.numberOfNodes, [&](std::uint32_t n, bool isNode) {
    bool                     merges = false;
    ComponentLink            link{ 0, 0, noKey };
    const unsigned long long best = isNode && graph.roots[n] == n ? graph.best[n] : 0;
    if (best != 0)
    {
      const std::int64_t number = static_cast<std::uint32_t>(best);
      const std::int64_t voxel = number % scene.numberOfVoxels;
      link.a = labels[voxel];
      link.b = labels[voxel + scene.links[number / scene.numberOfVoxels].stride];
      link.key = static_cast<std::uint32_t>(best >> 32);
      const std::uint32_t to = graph.roots[graph.roots[link.a] == n ? link.b : link.a];
      // One of two that point along the same link is the root.
      merges = !(n < to && graph.best[to] == best);
      if (merges)
      {
        graph.parents[n] = to;
        graph.keys[n] = link.key;
      }
    }
    const std::uint32_t at = Append(forestSize, merges);
    if (merges)
    {
      forest[at] = link;
    }
  });
}

/** What is stored of the voxels of tiles that have seeds, in the order of the tiles in the list. */
struct SavedVoxels
{
  std::uint32_t * labels;
  std::uint32_t * keys;
};

/** Call f(voxel, number in the list) for the voxels of the block's tile. */
template <typename TFunction>
inline __device__ void
ForEachTileVoxel(const CudaConnectednessScene & scene, const CudaTileGrid & grid, const int * tiles,
                 const TFunction & f)
{
  const CudaPlace origin = GetTileOrigin(grid, tiles[blockIdx.x]);
  for (int v = static_cast<int>(threadIdx.x); v < contractTileVoxels; v += static_cast<int>(blockDim.x))
  {
    const CudaPlace place = GetPlaceInTile(grid, v);
    const CudaPlace at{ origin.x + place.x, origin.y + place.y, origin.z + place.z };
    if (IsInImage(scene, at.x, at.y, at.z))
    {
      f(GetVoxel(scene, at.x, at.y, at.z), std::size_t{ blockIdx.x } * contractTileVoxels + v);
    }
  }
}

/** Save the voxels of tiles, mark their nodes, and clear their keys. */
__global__ void
SaveTilesKernel(CudaConnectednessScene scene, CudaTileGrid grid, const int * tiles, const std::uint32_t * labels,
                SavedVoxels saved, std::uint8_t * isReplaced)
{
  ForEachTileVoxel(scene, grid, tiles, [&](std::int64_t voxel, std::size_t i) {
    const std::uint32_t label = labels[voxel];
    saved.labels[i] = label;
    saved.keys[i] = scene.keys[voxel];
    scene.keys[voxel] = noKey;
    isReplaced[label] = label != isolated ? 1 : 0;
  });
}

__global__ void
RestoreTilesKernel(CudaConnectednessScene scene, CudaTileGrid grid, const int * tiles, SavedVoxels saved,
                   std::uint32_t * labels)
{
  ForEachTileVoxel(scene, grid, tiles, [&](std::int64_t voxel, std::size_t i) {
    labels[voxel] = saved.labels[i];
    scene.keys[voxel] = saved.keys[i];
  });
}

/** Tell the nodes of seeds which seed they have. */
__global__ void
EnterSeedsKernel(NodeGraph graph, const std::uint32_t * labels, const std::int64_t * seeds, std::uint32_t numberOfSeeds,
                 std::uint32_t * nodeSeeds)
{
  ForEachInGrid(numberOfSeeds, [&](std::int64_t i) {
    const std::uint32_t node = labels[seeds[i]];
    graph.seedKeys[node] = seedKey;
    nodeSeeds[node] = static_cast<std::uint32_t>(i);
  });
}

/** List the links of nodes in the tiles of a list, if it is not null; otherwise only count them. Nodes from firstNode
 * on are those of these tiles. */
template <typename TKeys>
__global__ void
LinkTilesKernel(CudaConnectednessScene scene, CudaTileGrid grid, const int * tiles, const std::uint32_t * labels,
                std::uint32_t firstNode, ComponentLink * links, std::uint32_t * numberOfLinks)
{
  const CudaPlace origin = GetTileOrigin(grid, tiles[blockIdx.x]);
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const CudaPlace     place = GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x));
    const CudaPlace     at{ origin.x + place.x, origin.y + place.y, origin.z + place.z };
    const bool          inside = IsInImage(scene, at.x, at.y, at.z);
    const std::int64_t  voxel = inside ? GetVoxel(scene, at.x, at.y, at.z) : 0;
    const std::uint32_t a = inside ? labels[voxel] : isolated;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const CudaLink & link = scene.links[l];
      for (int sign = -1; sign <= 1; sign += 2)
      {
        ComponentLink found{ a, isolated, noKey };
        if (a != isolated && IsInImage(scene, at.x + sign * link.x, at.y + sign * link.y, at.z + sign * link.z))
        {
          const std::int64_t neighbor = voxel + sign * link.stride;
          found.b = labels[neighbor];
          // Links ahead to a tile of the list are those back from there.
          if (found.b != isolated && found.b != a && (sign > 0 || found.b < firstNode))
          {
            found.key = TKeys::Key(scene, TKeys::Load(scene, voxel), TKeys::Load(scene, neighbor), link.weight);
          }
        }
        const std::uint32_t number = Append(numberOfLinks, found.key != noKey);
        if (found.key != noKey && links != nullptr)
        {
          links[number] = found;
        }
      }
    }
  }
}

/** List the links of the forest whose nodes have not been replaced. By hand, as ListPointersKernel. */
__global__ void
ListForestKernel(const ComponentLink * forest, std::uint32_t forestSize, const std::uint8_t * isReplaced,
                 ComponentLink * links, std::uint32_t * numberOfLinks)
{
  ForEachInBlocks(forestSize, [&](std::uint32_t i, bool isLink) {
    const ComponentLink link = isLink ? forest[i] : ComponentLink{ 0, 0, noKey };
    const bool          stays = isLink && isReplaced[link.a] == 0 && isReplaced[link.b] == 0;
    const std::uint32_t at = Append(numberOfLinks, stays);
    if (stays)
    {
      links[at] = link;
    }
  });
}

/** Turn links between nodes of seeds into links between the seeds. */
__global__ void
NameSeedsKernel(ComponentLink * links, std::uint32_t numberOfLinks, const std::uint32_t * nodeSeeds)
{
  ForEachInGrid(numberOfLinks, [&](std::int64_t i) {
    links[i].a = nodeSeeds[links[i].a];
    links[i].b = nodeSeeds[links[i].b];
  });
}

/** Follow the pointers of all nodes to a seed, if there is one. */
__global__ void
FindResultsKernel(NodeGraph graph, const std::uint32_t * nodeSeeds, const std::uint32_t * otherKeys,
                  const std::uint16_t * seedLabels, NodeResult * results)
{
  const std::uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < graph.numberOfNodes)
  {
    std::uint32_t       key = seedKey;
    const std::uint32_t at = FollowPointers(graph, n, key);
    NodeResult          result{ noKey, noKey, 0, 0 };
    if (graph.seedKeys[at] != noKey)
    {
      const std::uint32_t seed = nodeSeeds[at];
      result = { key, otherKeys[seed], seed, seedLabels[seed] };
    }
    results[n] = result;
  }
}

/** What labels depend on, besides the nodes of voxels. */
struct LabelRules
{
  bool          isRelative;
  bool          keepsTies;
  std::uint32_t minKey;
  SeedTreeView  seeds;
};

template <typename TLabel>
__global__ void
WriteLabelsKernel(std::int64_t numberOfVoxels, VoxelNodes voxels, LabelRules rules, TLabel * labels)
{
  const std::int64_t step = std::int64_t{ gridDim.x } * blockDim.x;
#pragma unroll 4
  for (std::int64_t voxel = std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x; voxel < numberOfVoxels;
       voxel += step)
  {
    const NodeResult    result = voxels.results[voxels.nodes[voxel]];
    const std::uint32_t key = voxels.GetKey(voxel, result.strength);
    std::uint32_t       label = result.label;
    if (rules.isRelative && key <= result.otherKey && key >= rules.minKey)
    {
      label = rules.keepsTies ? rules.seeds.GetValue(result.seed, key) : 0;
    }
    labels[voxel] = static_cast<TLabel>(key >= rules.minKey ? label : 0);
  }
}

/** Write the sets of strongest labels; 0 below the minimum. */
static __global__ void
WriteSetsKernel(std::int64_t numberOfVoxels, VoxelNodes voxels, LabelRules rules, std::uint32_t * sets)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const NodeResult    result = voxels.results[voxels.nodes[voxel]];
    const std::uint32_t key = voxels.GetKey(voxel, result.strength);
    sets[voxel] = key < rules.minKey      ? 0
                  : key > result.otherKey ? rules.seeds.values[result.seed]
                                          : rules.seeds.GetValue(result.seed, key);
  });
}

/** Links in two buffers, which are used in turn. */
struct NodeLinks
{
  DeviceBuffer<ComponentLink> buffers[2];
  DeviceBuffer<NodeRound>     rounds; // the first one before all rounds
  ComponentLink *             links;  // after all rounds
  std::uint32_t               numberOfLinks;

  // Every component that is not held back merges with another one in every round.
  static constexpr int maxRounds = 40;

  void
  Allocate(std::size_t capacity, cudaStream_t stream)
  {
    for (auto & buffer : buffers)
    {
      buffer.Allocate(std::max<std::size_t>(capacity, 1), stream);
    }
    rounds.Allocate(maxRounds + 1, stream);
    CheckCuda(cudaMemsetAsync(rounds.data(), 0, rounds.size() * sizeof(NodeRound), stream), "clearing counters");
  }
};

/** Contract the nodes of a graph in rounds, until all components are held back by seeds or have no links. If pointers
 * is not null, the links along which components pointed are listed there. */
std::uint64_t
ContractNodes(const NodeGraph & graph, NodeLinks & list, ComponentLink * pointers, std::uint32_t * numberOfPointers,
              CudaKernelTimes & times, const CudaStream & stream, const JobExecution & execution)
{
  // Reading the count from the device takes as long as a short round.
  constexpr int      roundsWithoutQuestion = 4;
  const unsigned int nodeBlocks = BlocksFor(graph.numberOfNodes, nodeThreads);
  const unsigned int linkBlocks = BlocksForGridStride(list.buffers[0].size(), nodeThreads);
  const unsigned int listBlocks = BlocksForGridStride(graph.numberOfNodes, nodeThreads);
  for (int round = 0;; ++round)
  {
    CudaKernelClock clock(times);
    NodeRound *     after = list.rounds.data() + round + 1;
    OfferListedLinksKernel<<<linkBlocks, nodeThreads, 0, stream>>>(
      graph, list.buffers[round % 2].data(), after - 1, list.buffers[(round + 1) % 2].data(), after);
    CheckLaunch("offering links");
    PointKernel<<<nodeBlocks, nodeThreads, 0, stream>>>(graph, &after->merged);
    CheckLaunch("pointing along links");
    if (pointers != nullptr)
    {
      ListPointersKernel<<<listBlocks, nodeThreads, 0, stream>>>(graph, pointers, numberOfPointers);
      CheckLaunch("listing links");
    }
    MergeNodes(graph, stream);
    clock.StopLater();
    if (round + 1 < roundsWithoutQuestion)
    {
      continue;
    }
    NodeRound result;
    CopyFromDevice<NodeRound>(&result, after, 1, stream);
    execution.CheckAbort();
    if (result.merged == 0)
    {
      list.links = list.buffers[(round + 1) % 2].data();
      list.numberOfLinks = result.numberOfLinks;
      return static_cast<std::uint64_t>(round) + 1;
    }
  }
}

/** A SeedTree on the device. */
struct SeedTreeBuffers
{
  DeviceBuffer<std::uint16_t> labels;
  DeviceBuffer<std::uint32_t> values;
  DeviceBuffer<std::uint32_t> otherKeys;
  DeviceBuffer<std::uint32_t> parents;
  DeviceBuffer<std::uint32_t> keys;
  DeviceBuffer<std::uint32_t> firstSteps;
  DeviceBuffer<SeedTreeStep>  steps;
};
} // namespace

struct CudaRelativeHierarchy::Data
{
  const CudaOptions           options; // of the build
  FuzzyConnectednessJob       job;     // of the build, without seeds
  CudaStream                  stream;
  CudaConnectednessContext    context;
  CudaConnectednessSlab       slab;
  CudaTileGrid                grid{};
  DeviceBuffer<std::uint32_t> labels;
  std::uint32_t               numberOfNodes{ 0 };
  DeviceBuffer<ComponentLink> forest;
  std::uint32_t               forestSize{ 0 };
  bool                        isDamaged{ false };

  Data(const Job & buildJob, const CudaOptions & theOptions)
    : options(theOptions)
    , job(WithoutSeeds(buildJob))
    , context{ job,
               options,
               nullptr,
               Ordered(stream, options),
               CudaKernelTimes(stream),
               MakeHostWork(buildJob, options),
               0 }
    , slab(context, 0, CudaConnectednessSlab::GetNumberOfPlanes(job))
  {
    WithKeys(slab.GetPixels(), [this](auto keys) { this->Build<decltype(keys)>(); });
    // What belongs to the caller.
    job.image = nullptr;
    job.mask = nullptr;
    job.execution = JobExecution();
  }

  std::uint64_t
  GetMemory() const
  {
    return slab.GetNumberOfBytes() + labels.size() * sizeof(std::uint32_t) + forest.size() * sizeof(ComponentLink);
  }

  void
  Compute(const Job & query, const CudaOptions & outputOptions, CudaRelativeFuzzyConnectednessReport & report)
  {
    // The output may still be in use.
    WaitForInput(outputOptions, stream);
    WithKeys(slab.GetPixels(), [&](auto keys) { this->Compute<decltype(keys)>(query, outputOptions, report); });
  }

private:
  /** Tiles that have seeds, contracted again; what they were before is put back in the end, whatever happens. */
  class SeededTiles
  {
  public:
    explicit SeededTiles(Data & data)
      : m_Data(data)
    {}
    SeededTiles(const SeededTiles &) = delete;
    SeededTiles &
    operator=(const SeededTiles &) = delete;
    ~SeededTiles() { static_cast<void>(this->Launch()); }

    void
    Save(const std::vector<int> & tiles, std::uint8_t * isReplaced)
    {
      const cudaStream_t stream = m_Data.stream;
      numbers = CopyToDevice(tiles, stream);
      m_Labels.Allocate(tiles.size() * contractTileVoxels, stream);
      m_Keys.Allocate(tiles.size() * contractTileVoxels, stream);
      if (!tiles.empty())
      {
        SaveTilesKernel<<<this->GetBlocks(), contractThreads, 0, stream>>>(
          m_Data.slab.GetScene(), m_Data.grid, numbers.data(), m_Data.labels.data(), this->GetSaved(), isReplaced);
        CheckLaunch("saving tiles");
        m_IsSaved = true;
      }
    }

    void
    Restore()
    {
      CheckCuda(this->Launch(), "restoring tiles");
    }

    unsigned int
    GetBlocks() const
    {
      return static_cast<unsigned int>(numbers.size());
    }

    DeviceBuffer<int> numbers;

  private:
    SavedVoxels
    GetSaved() const
    {
      return { m_Labels.data(), m_Keys.data() };
    }

    cudaError_t
    Launch()
    {
      if (!std::exchange(m_IsSaved, false))
      {
        return cudaSuccess;
      }
      RestoreTilesKernel<<<this->GetBlocks(), contractThreads, 0, m_Data.stream>>>(
        m_Data.slab.GetScene(), m_Data.grid, numbers.data(), this->GetSaved(), m_Data.labels.data());
      const cudaError_t result = cudaGetLastError();
      m_Data.isDamaged = m_Data.isDamaged || result != cudaSuccess;
      return result;
    }

    Data &                      m_Data;
    DeviceBuffer<std::uint32_t> m_Labels;
    DeviceBuffer<std::uint32_t> m_Keys;
    bool                        m_IsSaved{ false };
  };

  static FuzzyConnectednessJob
  WithoutSeeds(const Job & buildJob)
  {
    FuzzyConnectednessJob result;
    static_cast<FuzzyConnectednessProblem &>(result) = buildJob;
    result.seeds.clear();
    // Margins need strengths below the minimum.
    result.minimumStrength = 0.0;
    return result;
  }

  static const CudaStream &
  Ordered(const CudaStream & stream, const CudaOptions & options)
  {
    WaitForInput(options, stream);
    return stream;
  }

  static std::function<void()>
  MakeHostWork(const Job & buildJob, const CudaOptions & options)
  {
    if (options.outputLocation == MemoryLocation::Device)
    {
      return {};
    }
    return [&buildJob] {
      const std::size_t voxels = static_cast<std::size_t>(buildJob.GetNumberOfVoxels());
      TouchMemory(buildJob.labelOutput, voxels * (buildJob.labelsAre16Bit ? 2 : 1), buildJob.execution);
    };
  }

  template <typename TKeys>
  void
  Build()
  {
    const CudaConnectednessScene & scene = slab.GetScene();
    const JobExecution &           execution = job.execution;
    const auto                     voxels = static_cast<std::uint64_t>(scene.numberOfVoxels);
    grid = MakeContractGrid<TKeys>(scene);
    const auto tiles = static_cast<unsigned int>(grid.GetNumberOfTiles());
    labels.Allocate(voxels, stream);
    DeviceBuffer<unsigned int> counter(1, stream);
    {
      CudaKernelClock clock(context.kernelTimes);
      CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned int), stream), "clearing a counter");
      ContractTiles<TKeys>(scene, grid, nullptr, tiles, labels.data(), counter.data(), stream);
      context.RunHostWork();
      clock.Stop();
    }
    execution.ReportProgress(voxels / 2);

    numberOfNodes = CopyFromDevice(counter, stream) + 1;
    const NodeGraphBuffers buffers(numberOfNodes, stream);
    forest.Allocate(numberOfNodes, stream);
    CudaKernelClock startClock(context.kernelTimes);
    const NodeGraph graph = buffers.Start(stream);
    startClock.StopLater();

    DeviceBuffer<std::uint32_t> openCounts(tiles, stream);
    DeviceBuffer<std::uint16_t> openLinks(std::size_t{ tiles } * OpenLinks::capacity, stream);
    const OpenLinks             open{ openCounts.data(), openLinks.data() };
    CheckCuda(cudaMemsetAsync(openCounts.data(), 0xff, tiles * sizeof(std::uint32_t), stream), "setting counts");
    CheckCuda(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned int), stream), "clearing a counter");
    const std::size_t rootBytes = grid.GetNumberOfLocalVoxels() * sizeof(std::uint32_t);
    PrepareKernel(OfferLinksKernel<TKeys, true>, contractThreads, rootBytes);
    for (;;)
    {
      CudaKernelClock clock(context.kernelTimes);
      OfferLinksKernel<TKeys, true>
        <<<tiles, contractThreads, rootBytes, stream>>>(scene, grid, graph, labels.data(), open);
      CheckLaunch("offering links");
      PointTracedKernel<<<BlocksForGridStride(numberOfNodes, nodeThreads), nodeThreads, 0, stream>>>(
        scene, graph, labels.data(), forest.data(), counter.data());
      CheckLaunch("pointing along links");
      MergeNodes(graph, stream);
      clock.Stop();
      ++context.numberOfIterations;
      execution.CheckAbort();
      const std::uint32_t size = CopyFromDevice(counter, stream);
      if (size == forestSize)
      {
        break;
      }
      forestSize = size;
    }
    execution.ReportProgress(voxels / 4);
  }

  /** The tiles that have seeds, in the order of numbers. */
  std::vector<int>
  FindTiles(const std::vector<std::int64_t> & seeds) const
  {
    std::vector<bool> hasSeeds(static_cast<std::size_t>(grid.GetNumberOfTiles()), false);
    for (const std::int64_t seed : seeds)
    {
      const std::int64_t row = seed / job.size[0];
      const std::int64_t x = seed % job.size[0] >> grid.bits[0];
      const std::int64_t y = row % job.size[1] >> grid.bits[1];
      const std::int64_t z = row / job.size[1] >> grid.bits[2];
      hasSeeds[static_cast<std::size_t>((z * grid.tiles[1] + y) * grid.tiles[0] + x)] = true;
    }
    std::vector<int> tiles;
    for (std::size_t tile = 0; tile < hasSeeds.size(); ++tile)
    {
      if (hasSeeds[tile])
      {
        tiles.push_back(static_cast<int>(tile));
      }
    }
    return tiles;
  }

  /** How strongly seeds are connected, from the links that are left between their nodes. Links are consumed. */
  SeedTree
  MakeSeedTree(const Job & query, NodeLinks & links, const std::uint32_t * nodeSeeds, CudaKernelTimes & times,
               std::uint64_t & iterations, TieSets * sets)
  {
    // So few are faster on the host.
    constexpr std::uint32_t maxHostLinks = 1 << 15;

    std::uint32_t               count = links.numberOfLinks;
    const ComponentLink *       onDevice = links.links;
    std::optional<NodeLinks>    reduced;
    DeviceBuffer<ComponentLink> pointers;
    if (count > 0)
    {
      CudaKernelClock clock(times);
      NameSeedsKernel<<<BlocksFor(count, nodeThreads), nodeThreads, 0, stream>>>(links.links, count, nodeSeeds);
      CheckLaunch("naming seeds");
      clock.StopLater();
    }
    if (count > maxHostLinks)
    {
      // A maximum spanning forest of the seeds suffices.
      const NodeGraphBuffers      buffers(query.seeds.size(), stream);
      DeviceBuffer<std::uint32_t> size(1, stream);
      pointers.Allocate(query.seeds.size(), stream);
      reduced.emplace();
      reduced->Allocate(count, stream);
      const NodeRound before{ count, 0 };
      CheckCuda(cudaMemcpyAsync(reduced->rounds.data(), &before, sizeof(before), cudaMemcpyHostToDevice, stream),
                "copying to the device");
      CopyOnDevice<ComponentLink>(reduced->buffers[0].data(), links.links, count, stream);
      CheckCuda(cudaMemsetAsync(size.data(), 0, sizeof(std::uint32_t), stream), "clearing a counter");
      iterations +=
        ContractNodes(buffers.Start(stream), *reduced, pointers.data(), size.data(), times, stream, query.execution);
      count = CopyFromDevice(size, stream);
      onDevice = pointers.data();
    }
    std::vector<ComponentLink> seedLinks(count);
    if (count > 0)
    {
      CopyFromDevice(seedLinks.data(), onDevice, count, stream);
    }
    return SeedTree(query.labels, std::move(seedLinks), sets);
  }

  template <typename TKeys>
  void
  Compute(const Job & query, const CudaOptions & outputOptions, CudaRelativeFuzzyConnectednessReport & report)
  {
    const CudaConnectednessScene & scene = slab.GetScene();
    const JobExecution &           execution = query.execution;
    CudaKernelTimes                times(stream);

    const std::vector<int>           tiles = this->FindTiles(query.seeds);
    const auto                       numberOfSeeds = static_cast<std::uint32_t>(query.seeds.size());
    const DeviceBuffer<std::int64_t> seeds = CopyToDevice(query.seeds, stream);
    DeviceBuffer<std::uint8_t>       isReplaced(numberOfNodes, stream);
    SeededTiles                      seeded(*this);
    // The number of nodes, and that of links of seeded tiles.
    std::uint32_t                     counts[2]{ numberOfNodes - 1, 0 };
    const DeviceBuffer<std::uint32_t> counters = CopyToDevice(counts, 2, stream);
    const auto                        linkTiles = [&](ComponentLink * links, std::uint32_t * size) {
      if (!tiles.empty())
      {
        LinkTilesKernel<TKeys><<<seeded.GetBlocks(), contractThreads, 0, stream>>>(
          scene, grid, seeded.numbers.data(), labels.data(), numberOfNodes, links, size);
        CheckLaunch("linking tiles");
      }
    };
    {
      CudaKernelClock clock(times);
      CheckCuda(cudaMemsetAsync(isReplaced.data(), 0, numberOfNodes, stream), "clearing flags");
      seeded.Save(tiles, isReplaced.data());
      if (!tiles.empty())
      {
        PlantSeeds(scene.keys, seeds, stream);
        ContractTiles<TKeys>(
          scene, grid, seeded.numbers.data(), seeded.GetBlocks(), labels.data(), counters.data(), stream);
        linkTiles(nullptr, counters.data() + 1);
      }
      clock.StopLater();
    }
    CopyFromDevice(counts, counters.data(), 2, stream);
    execution.CheckAbort();

    const std::uint32_t         nodes = counts[0] + 1;
    DeviceBuffer<NodeResult>    results(nodes, stream);
    DeviceBuffer<std::uint32_t> nodeSeeds(nodes, stream);
    SeedTreeBuffers             tree;
    std::optional<SeedTree>     seedTree;
    const bool                  isByDistance = query.tieRule == Job::TieRule::Distance;
    const TieDistances          distances(query);
    TieSets                     sets(distances);
    {
      const NodeGraphBuffers buffers(nodes, stream);
      NodeLinks              list;
      list.Allocate(std::size_t{ forestSize } + counts[1], stream);
      CudaKernelClock clock(times);
      const NodeGraph graph = buffers.Start(stream);
      if (numberOfSeeds > 0)
      {
        EnterSeedsKernel<<<BlocksFor(numberOfSeeds, nodeThreads), nodeThreads, 0, stream>>>(
          graph, labels.data(), seeds.data(), numberOfSeeds, nodeSeeds.data());
        CheckLaunch("entering seeds");
      }
      std::uint32_t * const numberOfLinks = &list.rounds.data()->numberOfLinks;
      ListForestKernel<<<BlocksForGridStride(forestSize, nodeThreads), nodeThreads, 0, stream>>>(
        forest.data(), forestSize, isReplaced.data(), list.buffers[0].data(), numberOfLinks);
      CheckLaunch("listing the forest");
      linkTiles(list.buffers[0].data(), numberOfLinks);
      clock.StopLater();
      report.numberOfIterations += ContractNodes(graph, list, nullptr, nullptr, times, stream, execution);

      seedTree.emplace(this->MakeSeedTree(
        query, list, nodeSeeds.data(), times, report.numberOfIterations, isByDistance ? &sets : nullptr));
      tree.labels = CopyToDevice(query.labels, stream);
      tree.otherKeys = CopyToDevice(seedTree->GetOtherKeys(), stream);
      CudaKernelClock resultClock(times);
      FindResultsKernel<<<BlocksFor(nodes, nodeThreads), nodeThreads, 0, stream>>>(
        graph, nodeSeeds.data(), tree.otherKeys.data(), tree.labels.data(), results.data());
      CheckLaunch("finding strengths");
      resultClock.StopLater();
    }

    const VoxelNodes voxels{ labels.data(), scene.keys, results.data() };
    const auto       minKey = MinKey(query);
    LabelRules       rules{ ResolvesTiesPerVoxel(query), query.tieRule == Job::TieRule::LowestLabel, minKey, {} };
    if (rules.isRelative && (rules.keepsTies || isByDistance))
    {
      rules.seeds = CopySeedTree(*seedTree, numberOfSeeds, tree);
    }
    const CudaRelativeOutputs            outputs{ query, outputOptions, stream, times };
    DeviceBuffer<CudaNearestLabels::Key> leads;
    const auto                           writeLabels = [&](auto label) {
      const auto settle = [&](auto * out) {
        DeviceBuffer<std::uint32_t> setsOfVoxels(static_cast<std::size_t>(scene.numberOfVoxels), stream);
        outputs.Launch([&](unsigned int blocks) {
          WriteSetsKernel<<<blocks, CudaRelativeOutputs::threads, 0, stream>>>(
            scene.numberOfVoxels, voxels, rules, setsOfVoxels.data());
        });
        SettleTiesByDistance(outputs, scene, distances, sets, setsOfVoxels.data(), out, leads, report);
      };
      this->WriteLabels<TKeys, decltype(label)>(outputs, voxels, rules, settle, report);
    };
    query.labelsAre16Bit ? writeLabels(std::uint16_t{ 0 }) : writeLabels(std::uint8_t{ 0 });
    outputs.WriteReals(voxels, leads.data());
    CudaKernelClock clock(times);
    seeded.Restore();
    clock.Stop();
    report.kernelMilliseconds += times.GetMilliseconds();
  }

  SeedTreeView
  CopySeedTree(const SeedTree & seedTree, std::uint32_t numberOfSeeds, SeedTreeBuffers & tree)
  {
    const SeedTreeView view = seedTree.GetView();
    tree.values = CopyToDevice(view.values, numberOfSeeds, stream);
    tree.parents = CopyToDevice(view.parents, numberOfSeeds, stream);
    tree.keys = CopyToDevice(view.keys, numberOfSeeds, stream);
    tree.firstSteps = CopyToDevice(view.firstSteps, std::size_t{ numberOfSeeds } + 1, stream);
    tree.steps = CopyToDevice(view.steps, seedTree.GetNumberOfSteps(), stream);
    return { tree.values.data(), tree.parents.data(), tree.keys.data(), tree.firstSteps.data(), tree.steps.data() };
  }

  /** Write labels; settle(labels) applies the tie rule Distance. */
  template <typename TKeys, typename TLabel, typename TSettle>
  void
  WriteLabels(const CudaRelativeOutputs & outputs, const VoxelNodes & voxels, const LabelRules & rules,
              const TSettle & settle, CudaRelativeFuzzyConnectednessReport & report)
  {
    const auto fill = [&](TLabel * out) {
      outputs.Launch([&](unsigned int blocks) {
        WriteLabelsKernel<<<blocks, CudaRelativeOutputs::threads, 0, stream>>>(
          slab.GetScene().numberOfVoxels, voxels, rules, out);
      });
      if (!rules.isRelative)
      {
        this->SettleTies<TKeys>(outputs, voxels, rules.keepsTies, out, report);
      }
      else if (outputs.job.tieRule == Job::TieRule::Distance)
      {
        settle(out);
      }
    };
    outputs.Write<TLabel>(outputs.job.labelOutput, fill, true);
  }

  template <typename TKeys, typename TLabel>
  void
  SettleTies(const CudaRelativeOutputs & outputs, const VoxelNodes & voxels, bool keepsTies, TLabel * out,
             CudaRelativeFuzzyConnectednessReport & report)
  {
    const std::size_t labelBytes = grid.GetNumberOfLocalVoxels() * (sizeof(std::uint32_t) + sizeof(TLabel));
    const auto        kernel = slab.GetScene().numberOfLinks <= 3 ? SettleTiesKernel<TKeys, true, TLabel>
                                                                  : SettleTiesKernel<TKeys, false, TLabel>;
    PrepareKernel(kernel, contractThreads, labelBytes);
    SettleTiles(outputs, grid, report, [&](unsigned int blocks, const CudaTieTiles & tieTiles) {
      kernel<<<blocks, contractThreads, labelBytes, stream>>>(slab.GetScene(), grid, voxels, keepsTies, tieTiles, out);
    });
  }
};

CudaRelativeHierarchy::CudaRelativeHierarchy(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
                                             CudaRelativeFuzzyConnectednessReport & report)
  : m_Data(std::make_unique<Data>(job, options))
{
  report.kernelMilliseconds += m_Data->context.kernelTimes.GetMilliseconds();
  report.numberOfIterations += m_Data->context.numberOfIterations;
}

CudaRelativeHierarchy::~CudaRelativeHierarchy()
{
  if (WasForkedAfterCudaInit())
  {
    // CUDA does not work in this process.
    static_cast<void>(m_Data.release());
  }
}

void
CudaRelativeHierarchy::Compute(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
                               CudaRelativeFuzzyConnectednessReport & report)
{
  m_Data->Compute(job, options, report);
}

int
CudaRelativeHierarchy::GetDeviceID() const
{
  return m_Data->options.deviceID;
}

bool
CudaRelativeHierarchy::IsDamaged() const
{
  return m_Data->isDamaged;
}

std::uint64_t
CudaRelativeHierarchy::GetMemory() const
{
  return m_Data->GetMemory();
}
} // namespace voxelmaps
