// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RelativeHierarchy_h
#define RelativeHierarchy_h

#include "ContractedTiles.h"
#include "LabelTies.h"

#include "connectedness/RelativeHierarchyBase.h"
#include "connectedness/RelativeResults.h"
#include "connectedness/SeedTree.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** Contracts the voxels of every tile, and then all components, with seeds that are held back. Each component that is
 * left has one seed, and each voxel in it has its greatest strength to that seed; SeedTree derives the results.
 *
 * A hierarchy that is kept is built without seeds. Of the links between the components of tiles, a maximum spanning
 * forest suffices: no other link is on the strongest path between two components. Tiles that have seeds are contracted
 * again, and their new components and all links of these replace the former ones. That is exact, because a path through
 * a component of a tile is not weaker than the links by which it enters and leaves, so what connected other components
 * still does. */
class CpuRelativeHierarchy : public RelativeHierarchy
{
public:
  /** If the hierarchy is not to be kept, it can only compute this job, once. */
  CpuRelativeHierarchy(const RelativeFuzzyConnectednessJob & job, bool isKept, const Triple & tileSize)
    : m_IsKept(isKept)
    , m_Graph(job, 1)
    , m_Tiles(m_Graph, tileSize)
    , m_Strengths(MakeKeys(job))
  {
    const auto checkAbort = [&job] { job.execution.CheckAbort(); };
    m_Tiles.Build(isKept ? Seeds() : m_Tiles.SortSeeds(job.seeds), m_Strengths.get(), job.execution);
    if (isKept)
    {
      LinkContraction<TracedLink> graph;
      graph.TakeLinks(m_Tiles.links, checkAbort);
      graph.Start(m_Tiles.GetNumberOfComponents());
      graph.leaving.assign(m_Tiles.GetNumberOfComponents(), noKey);
      graph.Run(checkAbort);
      m_Forest = graph.forest;
      m_Tiles.links = std::vector<std::vector<ComponentLink>>();
    }
  }

  CpuRelativeHierarchy(const RelativeFuzzyConnectednessJob & job, bool isKept)
    : CpuRelativeHierarchy(job, isKept, ContractedTiles::GetDefaultTileSize(job.size))
  {}

  /** Compute the outputs of a job. */
  void
  Compute(const RelativeFuzzyConnectednessJob & job)
  {
    m_Graph.rows->SetImage(job);
    m_Graph.mask = job.mask;
    const auto checkAbort = [&job] { job.execution.CheckAbort(); };
    if (m_IsKept)
    {
      this->VerifyPixels(job);
    }
    const auto seeds = m_Tiles.SortSeeds(job.seeds);

    Contraction         graph;
    SeededTiles         seededTiles;
    const std::uint32_t nodes =
      m_IsKept ? this->ContractSeededTiles(job, seeds, seededTiles) : this->GetNumberOfNodes();
    if (m_IsKept)
    {
      this->MakeGraph(seededTiles, graph);
    }
    else
    {
      graph.TakeLinks(m_Tiles.links, checkAbort);
    }
    graph.Start(nodes);
    graph.leaving.assign(nodes, noKey);
    std::vector<std::uint32_t> seedNodes;
    for (const std::int64_t seed : job.seeds)
    {
      seedNodes.push_back(this->GetNode(seededTiles, seed));
      graph.leaving[seedNodes.back()] = seedKey;
    }
    graph.Run(checkAbort);
    graph.KeepStrongest(checkAbort);

    // Every component has one seed voxel, or none.
    std::vector<std::uint32_t> numbers(graph.GetNumberOfComponents());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::vector<std::uint32_t> componentSeeds(numbers.size(), 0);
    graph.ExpandNumbers(numbers);
    for (std::uint32_t seed = 0; seed < seedNodes.size(); ++seed)
    {
      componentSeeds[numbers[seedNodes[seed]]] = seed;
    }
    std::vector<SeedLink> seedLinks;
    seedLinks.reserve(graph.numberOfLinks);
    for (std::size_t i = 0; i < graph.numberOfLinks; ++i)
    {
      const ComponentLink & link = graph.links[i];
      seedLinks.push_back({ componentSeeds[link.a], componentSeeds[link.b], link.key });
    }
    // A component without a seed has no links any more.
    std::vector<std::uint32_t> strengths;
    strengths.swap(graph.leaving);
    graph.ExpandStrengths(strengths, checkAbort);
    graph = Contraction();
    // A voxel that is a seed twice has two seeds in the list, the last of which stands for its component.
    const SeedTree               seedTree(job.labels, std::move(seedLinks), checkAbort);
    std::vector<ComponentResult> results(nodes, ComponentResult{ noKey, noKey, 0, 0 });
    for (std::uint32_t node = 0; node < nodes; ++node)
    {
      if (strengths[node] == noKey)
      {
        continue;
      }
      const std::uint32_t seed = componentSeeds[numbers[node]];
      results[node] = { strengths[node], seedTree.GetOtherKey(seed), seed, seedTree.GetLabel(seed) };
    }
    this->Write(job, seededTiles, results, seedTree);
  }

  std::uint64_t
  GetMemory() const override
  {
    const std::uint64_t bytesPerVoxel = sizeof(std::uint32_t) + sizeof(std::uint16_t);
    return bytesPerVoxel * static_cast<std::uint64_t>(this->GetNumberOfVoxels()) +
           m_Tiles.firstComponents.size() * sizeof(std::uint32_t) + m_Forest.size() * sizeof(ComponentLink);
  }

private:
  using Box = TileGrid::Box;
  using Seeds = ContractedTiles::Seeds;
  using Workspace = ContractedTiles::Workspace;

  /** A tile that was contracted again. */
  struct SeededTile
  {
    std::int64_t                     tile;
    std::uint32_t                    firstNode;
    std::uint32_t                    numberOfNodes;
    std::unique_ptr<std::uint16_t[]> numbers;
    std::vector<std::uint32_t>       strengths;
    std::vector<ComponentLink>       links; // between nodes
  };

  struct SeededTiles
  {
    std::vector<SeededTile> tiles;
    /** For every tile of the image, its place in the list; none if it is not there. */
    std::vector<std::uint32_t> places;
  };
  static constexpr std::uint32_t none = 0xffffffffu;

  static std::unique_ptr<std::uint32_t[]>
  MakeKeys(const FuzzyConnectednessProblem & problem)
  {
    const auto voxels = static_cast<std::size_t>(problem.GetNumberOfVoxels());
    // Not a vector: one thread would clear it.
    std::unique_ptr<std::uint32_t[]> keys(new std::uint32_t[voxels]);
    UseHugePages(keys.get(), voxels * sizeof(std::uint32_t));
    return keys;
  }

  /** The tables of keys have the range of the pixels of the image that the hierarchy was built for. */
  void
  VerifyPixels(const RelativeFuzzyConnectednessJob & job) const
  {
    ForEachRangeOfVoxels(this->GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
      if (!m_Graph.rows->IsInRange(begin, end - begin))
      {
        throw EngineError("The image has changed since the hierarchy that is kept was built: a pixel is outside of the "
                          "former range. Call Modified() of the image after changing its pixels.");
      }
    });
  }

  std::int64_t
  GetNumberOfVoxels() const
  {
    return m_Graph.size[0] * m_Graph.size[1] * m_Graph.size[2];
  }

  std::uint32_t
  GetNumberOfNodes() const
  {
    return m_Tiles.GetNumberOfComponents();
  }

  std::uint32_t
  GetNode(const SeededTiles & seededTiles, std::int64_t seed) const
  {
    const std::int64_t tile = m_Tiles.grid.GetTileNumber(seed);
    if (!m_IsKept)
    {
      return m_Tiles.GetComponent(tile, seed);
    }
    const SeededTile & seeded = seededTiles.tiles[seededTiles.places[tile]];
    return seeded.firstNode + seeded.numbers[m_Tiles.grid.GetLocal(m_Tiles.grid.GetBox(tile), seed)];
  }

  /** Contract all tiles that have seeds. Their components get the numbers after those of all tiles. Returns the number
   * of nodes. */
  std::uint32_t
  ContractSeededTiles(const RelativeFuzzyConnectednessJob & job, const Seeds & seeds, SeededTiles & seededTiles) const
  {
    std::vector<SeededTile> & tiles = seededTiles.tiles;
    seededTiles.places.assign(m_Tiles.grid.GetNumberOfTiles(), none);
    for (const auto & seed : seeds)
    {
      if (tiles.empty() || tiles.back().tile != seed.tile)
      {
        seededTiles.places[seed.tile] = static_cast<std::uint32_t>(tiles.size());
        tiles.emplace_back();
        tiles.back().tile = seed.tile;
      }
    }
    const auto count = static_cast<std::int64_t>(tiles.size());
    ForEachTask(count, job.execution, [&](unsigned int) {
      auto workspace = std::make_shared<Workspace>();
      return [&, workspace](std::int64_t i) {
        SeededTile & seeded = tiles[i];
        seeded.numberOfNodes = m_Tiles.ContractTile(seeded.tile, seeds, *workspace, seeded.links);
        const std::size_t voxels = workspace->strengths.size();
        seeded.strengths = workspace->strengths;
        seeded.numbers.reset(new std::uint16_t[voxels]);
        std::transform(workspace->numbers.begin(),
                       workspace->numbers.begin() + static_cast<std::ptrdiff_t>(voxels),
                       seeded.numbers.get(),
                       [](std::uint32_t number) { return static_cast<std::uint16_t>(number); });
        job.execution.CheckAbort();
      };
    });
    std::uint32_t nodes = this->GetNumberOfNodes();
    for (SeededTile & seeded : tiles)
    {
      seeded.firstNode = nodes;
      nodes += seeded.numberOfNodes;
      for (ComponentLink & link : seeded.links)
      {
        link.a += seeded.firstNode;
        link.b += seeded.firstNode;
      }
    }
    ForEachTask(count, job.execution, [&](unsigned int) {
      return [&](std::int64_t i) { this->LinkSeededTile(seededTiles, tiles[i]); };
    });
    return nodes;
  }

  /** Add the links between a seeded tile and other tiles; those to a seeded tile before it are added there. */
  void
  LinkSeededTile(const SeededTiles & seededTiles, SeededTile & seeded) const
  {
    const TileGrid & grid = m_Tiles.grid;
    const Box        box = grid.GetBox(seeded.tile);
    for (const Link & link : m_Graph.links)
    {
      grid.ForEachPart(seeded.tile, box, link, [&](std::int64_t global, int local, int count, std::int64_t other) {
        if (other == seeded.tile || count <= 0 || (seededTiles.places[other] != none && !TileGrid::IsForward(link)))
        {
          return;
        }
        const std::uint16_t * const from = seeded.numbers.get() + local;
        const std::uint16_t *       to = m_Tiles.numbers.get() + global + link.stride;
        std::uint32_t               firstTo = m_Tiles.firstComponents[other];
        if (seededTiles.places[other] != none)
        {
          const SeededTile & otherSeeded = seededTiles.tiles[seededTiles.places[other]];
          to = otherSeeded.numbers.get() + grid.GetLocal(grid.GetBox(other), global + link.stride);
          firstTo = otherSeeded.firstNode;
        }
        m_Graph.ForEachKey(global, count, link, [&](int i, std::uint32_t key) {
          if (key != noKey)
          {
            seeded.links.push_back({ seeded.firstNode + from[i], firstTo + to[i], key });
          }
        });
      });
    }
  }

  /** The forest, except for components of seeded tiles, and all links of these tiles. */
  void
  MakeGraph(SeededTiles & seededTiles, Contraction & graph) const
  {
    std::vector<std::uint8_t> isReplaced(this->GetNumberOfNodes(), 0);
    std::size_t               count = m_Forest.size();
    for (const SeededTile & seeded : seededTiles.tiles)
    {
      std::fill(isReplaced.begin() + m_Tiles.firstComponents[seeded.tile],
                isReplaced.begin() + m_Tiles.firstComponents[seeded.tile + 1],
                std::uint8_t{ 1 });
      count += seeded.links.size();
    }
    graph.ReserveLinks(count);
    for (const ComponentLink & link : m_Forest)
    {
      if (isReplaced[link.a] == 0 && isReplaced[link.b] == 0)
      {
        graph.AddLink(link);
      }
    }
    for (SeededTile & seeded : seededTiles.tiles)
    {
      for (const ComponentLink & link : seeded.links)
      {
        graph.AddLink(link);
      }
      seeded.links = std::vector<ComponentLink>();
    }
  }

  /** Write all outputs. */
  void
  Write(const RelativeFuzzyConnectednessJob & job, const SeededTiles & seededTiles,
        const std::vector<ComponentResult> & results, const SeedTree & seedTree)
  {
    const bool            isIterative = job.competition == RelativeFuzzyConnectednessJob::Competition::Iterative;
    const std::uint32_t   minKey = MinKey(job);
    const RelativeResults writer(job);
    const TileGrid &      grid = m_Tiles.grid;
    // Strengths of voxels, for ties; a hierarchy that is not kept needs its own no more.
    const auto            copies = m_IsKept && isIterative ? MakeKeys(job) : nullptr;
    std::uint32_t * const keys = m_IsKept ? copies.get() : m_Strengths.get();
    ForEachTask(grid.GetNumberOfTiles(), job.execution, [&](unsigned int) {
      return [&](std::int64_t tile) {
        const Box          box = grid.GetBox(tile);
        const SeededTile * seeded =
          m_IsKept && seededTiles.places[tile] != none ? &seededTiles.tiles[seededTiles.places[tile]] : nullptr;
        const ComponentResult * const components =
          &results[seeded != nullptr ? seeded->firstNode : m_Tiles.firstComponents[tile]];
        grid.ForEachRow(box, [&](std::int64_t global, int local, int count) {
          const std::uint32_t * const strengths =
            seeded != nullptr ? seeded->strengths.data() + local : m_Strengths.get() + global;
          const std::uint16_t * const numbers =
            seeded != nullptr ? seeded->numbers.get() + local : m_Tiles.numbers.get() + global;
          writer.Write(global, count, strengths, numbers, components, seedTree);
          for (int i = 0; i < count && isIterative; ++i)
          {
            const std::uint32_t key = std::min(strengths[i], components[numbers[i]].strength);
            keys[global + i] = key >= minKey ? key : noKey;
          }
        });
        job.execution.ReportProgress(box.GetNumberOfVoxels() / 4);
      };
    });
    if (isIterative)
    {
      const auto settleTies = [&](auto * labels) {
        using Label = std::remove_pointer_t<decltype(labels)>;
        const bool keepsTies = job.tieRule == RelativeFuzzyConnectednessJob::TieRule::LowestLabel;
        LabelTies<Label>(m_Graph, keys, keepsTies, labels, job.execution).Settle();
      };
      if (job.labelsAre16Bit)
      {
        settleTies(static_cast<std::uint16_t *>(job.labelOutput));
      }
      else
      {
        settleTies(static_cast<std::uint8_t *>(job.labelOutput));
      }
    }
  }

  const bool                       m_IsKept;
  ConnectednessGraph               m_Graph;
  ContractedTiles                  m_Tiles;
  std::unique_ptr<std::uint32_t[]> m_Strengths; // of all voxels, if their components have seedKey
  std::vector<ComponentLink>       m_Forest;    // of the components of tiles, if it is kept
};
} // namespace voxelmaps

#endif // RelativeHierarchy_h
