// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RelativeHierarchy_h
#define RelativeHierarchy_h

#include "ContractedTiles.h"
#include "LabelTies.h"
#include "NearestLabels.h"

#include "connectedness/RelativeResults.h"
#include "connectedness/SeedTree.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** Contracts the voxels of every tile, and then all components, with seeds that are held back. Each component that is
 * left has one seed, and each voxel in it has its greatest strength to that seed; SeedTree derives the results.
 *
 * A hierarchy that is kept is built without seeds. Of the links between the components of tiles, a maximum spanning
 * forest suffices: no other link is on the strongest path between two components. Tiles that have seeds are contracted
 * again, if these have changed, and their new components and all links of these replace the former ones. That is exact,
 * because a path through a component of a tile is not weaker than the links by which it enters and leaves, so what
 * connected other components still does. */
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
    const bool                 isIterative = !ResolvesTiesPerVoxel(job);
    std::vector<ComponentLink> links; // for ties
    if (isIterative)
    {
      links.assign(graph.links.get(), graph.links.get() + graph.numberOfLinks);
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
    std::vector<ComponentLink> seedLinks;
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
    const bool                   isByDistance = job.tieRule == RelativeFuzzyConnectednessJob::TieRule::Distance;
    const TieDistances           distances(job);
    TieSets                      sets(distances);
    const SeedTree               seedTree(job.labels, std::move(seedLinks), isByDistance ? &sets : nullptr, checkAbort);
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
    job.execution.ReportProgress(this->GetNumberOfVoxels() - this->GetNumberOfVoxels() * 3 / 4);
    if (!isIterative)
    {
      // Not a vector: one thread would clear it.
      const auto voxelSets = isByDistance ? MakeKeys(job) : nullptr;
      const auto isDue = [](std::int64_t, const Contents &) { return true; };
      this->Write(job, seededTiles, results, seedTree, isDue, voxelSets.get());
      if (isByDistance)
      {
        SettleTiesByDistance(job, distances, sets, voxelSets.get());
      }
    }
    else if (job.labelsAre16Bit)
    {
      auto * const labels = static_cast<std::uint16_t *>(job.labelOutput);
      this->WriteIterative(job, seededTiles, results, seedTree, std::move(links), labels);
    }
    else
    {
      auto * const labels = static_cast<std::uint8_t *>(job.labelOutput);
      this->WriteIterative(job, seededTiles, results, seedTree, std::move(links), labels);
    }
  }

  std::uint64_t
  GetMemory() const override
  {
    constexpr std::uint64_t bytesPerVoxel = sizeof(std::uint32_t) + sizeof(std::uint16_t);
    std::uint64_t           voxels = this->GetNumberOfVoxels();
    for (const auto & seeded : m_SeededContents)
    {
      voxels += seeded.second->strengths.size();
    }
    return bytesPerVoxel * voxels + m_Tiles.firstComponents.size() * sizeof(std::uint32_t) +
           m_Forest.size() * sizeof(ComponentLink);
  }

private:
  using Box = TileGrid::Box;
  using Seeds = ContractedTiles::Seeds;
  using Workspace = ContractedTiles::Workspace;

  /** What contracting a tile with certain seeds again gives. */
  struct SeededContents
  {
    std::vector<std::int64_t>  seeds;
    std::uint32_t              numberOfNodes;
    std::vector<std::uint16_t> numbers;
    std::vector<std::uint32_t> strengths;
    std::vector<ComponentLink> links; // between components of the tile
  };

  struct SeededTile
  {
    std::int64_t                          tile;
    std::shared_ptr<const SeededContents> contents;
    std::uint32_t                         firstNode;
    std::vector<ComponentLink>            links; // between nodes
  };

  struct SeededTiles
  {
    std::vector<SeededTile> tiles;
    /** For every tile of the image, its place in the list; none if it is not there. */
    std::vector<std::uint32_t> places;
  };
  static constexpr std::uint32_t none = 0xffffffffu;

  /** Where the strengths of the voxels of a tile and the numbers of their components are, either by the number of the
   * voxel in the image or, if it has seeds, in the tile. */
  struct Contents
  {
    bool                  isSeeded;
    std::uint32_t         firstNode;
    std::uint32_t         numberOfNodes;
    const std::uint32_t * strengths;
    const std::uint16_t * numbers;
  };

  Contents
  GetContents(const SeededTiles & seededTiles, std::int64_t tile) const
  {
    if (!m_IsKept || seededTiles.places[tile] == none)
    {
      const std::uint32_t first = m_Tiles.firstComponents[tile];
      return { false, first, m_Tiles.firstComponents[tile + 1] - first, m_Strengths.get(), m_Tiles.numbers.get() };
    }
    const SeededTile &     seeded = seededTiles.tiles[seededTiles.places[tile]];
    const SeededContents & contents = *seeded.contents;
    return { true, seeded.firstNode, contents.numberOfNodes, contents.strengths.data(), contents.numbers.data() };
  }

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

  /** Where a voxel is in the contents of its tile. */
  std::int64_t
  GetPlace(const Contents & contents, std::int64_t tile, std::int64_t voxel) const
  {
    return contents.isSeeded ? m_Tiles.grid.GetLocal(m_Tiles.grid.GetBox(tile), voxel) : voxel;
  }

  std::uint32_t
  GetNode(const SeededTiles & seededTiles, std::int64_t voxel) const
  {
    const std::int64_t tile = m_Tiles.grid.GetTileNumber(voxel);
    const Contents     contents = this->GetContents(seededTiles, tile);
    return contents.firstNode + contents.numbers[this->GetPlace(contents, tile, voxel)];
  }

  /** Contract all tiles that have other seeds than last time. The components of seeded tiles get the numbers after
   * those of all tiles. Returns the number of nodes. */
  std::uint32_t
  ContractSeededTiles(const RelativeFuzzyConnectednessJob & job, const Seeds & seeds, SeededTiles & seededTiles)
  {
    std::vector<SeededTile> &              tiles = seededTiles.tiles;
    std::vector<std::vector<std::int64_t>> seedsOfTiles;
    seededTiles.places.assign(m_Tiles.grid.GetNumberOfTiles(), none);
    for (const auto & seed : seeds)
    {
      if (tiles.empty() || tiles.back().tile != seed.tile)
      {
        seededTiles.places[seed.tile] = static_cast<std::uint32_t>(tiles.size());
        tiles.emplace_back();
        tiles.back().tile = seed.tile;
        seedsOfTiles.emplace_back();
      }
      seedsOfTiles.back().push_back(seed.voxel);
    }
    const auto count = static_cast<std::int64_t>(tiles.size());
    ForEachTask(count, job.execution, [&](unsigned int) {
      auto workspace = std::make_shared<Workspace>();
      return [&, workspace](std::int64_t i) {
        const auto last = m_SeededContents.find(tiles[i].tile);
        if (last != m_SeededContents.end() && last->second->seeds == seedsOfTiles[i])
        {
          tiles[i].contents = last->second;
          return;
        }
        const auto contents = std::make_shared<SeededContents>();
        contents->seeds = std::move(seedsOfTiles[i]);
        contents->numberOfNodes = m_Tiles.ContractTile(tiles[i].tile, seeds, *workspace, contents->links);
        contents->strengths = workspace->strengths;
        contents->numbers.assign(workspace->numbers.begin(), workspace->numbers.end());
        tiles[i].contents = contents;
        job.execution.CheckAbort();
      };
    });
    m_SeededContents.clear();
    std::uint32_t nodes = this->GetNumberOfNodes();
    for (SeededTile & seeded : tiles)
    {
      m_SeededContents[seeded.tile] = seeded.contents;
      seeded.firstNode = nodes;
      nodes += seeded.contents->numberOfNodes;
      for (const ComponentLink & link : seeded.contents->links)
      {
        seeded.links.push_back({ link.a + seeded.firstNode, link.b + seeded.firstNode, link.key });
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
        const std::uint16_t * const from = seeded.contents->numbers.data() + local;
        const std::uint16_t *       to = m_Tiles.numbers.get() + global + link.stride;
        std::uint32_t               firstTo = m_Tiles.firstComponents[other];
        if (seededTiles.places[other] != none)
        {
          const SeededTile & otherSeeded = seededTiles.tiles[seededTiles.places[other]];
          to = otherSeeded.contents->numbers.data() + grid.GetLocal(grid.GetBox(other), global + link.stride);
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

  /** Write the outputs of tiles, except for those that need not be written again. */
  template <typename TIsDue>
  void
  Write(const RelativeFuzzyConnectednessJob & job, const SeededTiles & seededTiles,
        const std::vector<ComponentResult> & results, const SeedTree & seedTree, const TIsDue & isDue,
        std::uint32_t * sets = nullptr) const
  {
    const RelativeResults writer(job, sets);
    ForEachTask(m_Tiles.grid.GetNumberOfTiles(), job.execution, [&](unsigned int) {
      return [&](std::int64_t tile) {
        const Box      box = m_Tiles.grid.GetBox(tile);
        const Contents contents = this->GetContents(seededTiles, tile);
        if (isDue(tile, contents))
        {
          m_Tiles.grid.ForEachRow(box, [&](std::int64_t global, int local, int count) {
            const std::int64_t first = contents.isSeeded ? local : global;
            const auto *       components = &results[contents.firstNode];
            writer.Write(global, count, contents.strengths + first, contents.numbers + first, components, seedTree);
          });
        }
        job.execution.CheckAbort();
      };
    });
  }

  /** Write all outputs, with the labels that the tie rule of Iterative gives. The links are some of those between
   * nodes.
   */
  template <typename TLabel>
  void
  WriteIterative(const RelativeFuzzyConnectednessJob & job, const SeededTiles & seededTiles,
                 std::vector<ComponentResult> & results, const SeedTree & seedTree, std::vector<ComponentLink> links,
                 TLabel * labels)
  {
    const TileGrid & grid = m_Tiles.grid;
    const auto       getStrength = [&, minKey = MinKey(job)](std::int64_t voxel, const Triple & at) {
      const std::int64_t  tile = grid.GetTileAt(at);
      const Contents      contents = this->GetContents(seededTiles, tile);
      const std::int64_t  place = this->GetPlace(contents, tile, voxel);
      const std::uint32_t ofNode = results[contents.firstNode + contents.numbers[place]].strength;
      const std::uint32_t key = std::min(contents.strengths[place], ofNode);
      return key >= minKey ? key : noKey;
    };
    using Ties = LabelTies<TLabel, decltype(getStrength)>;
    const bool                      keepsTies = job.tieRule == RelativeFuzzyConnectednessJob::TieRule::LowestLabel;
    const Ties                      ties(m_Graph, getStrength, keepsTies, labels, job.execution);
    ComponentTies                   componentTies(keepsTies, results);
    std::vector<std::uint8_t>       isDue(grid.GetNumberOfTiles(), 1); // of tiles
    std::vector<typename Ties::Tie> found;
    do
    {
      for (const ComponentLink & link : links)
      {
        componentTies.Add(link);
      }
      links.clear();
      componentTies.Settle();
      this->Write(job, seededTiles, results, seedTree, [&](std::int64_t tile, const Contents & contents) {
        isDue[tile] |= componentTies.Apply(contents.firstNode, contents.numberOfNodes) ? 1 : 0;
        return isDue[tile] != 0;
      });
      for (const auto & tie : ties.Find(this->GetRows(isDue)))
      {
        found.push_back(tie);
        const std::int64_t  tile = grid.GetTileNumber(tie.to);
        const Contents      contents = this->GetContents(seededTiles, tile);
        const std::int64_t  place = this->GetPlace(contents, tile, tie.to);
        const std::uint32_t node = contents.firstNode + contents.numbers[place];
        // A weaker voxel has other ties than its node.
        if (contents.strengths[place] >= results[node].strength)
        {
          links.push_back({ this->GetNode(seededTiles, tie.from), node, tie.key });
        }
      }
      std::fill(isDue.begin(), isDue.end(), std::uint8_t{ 0 });
      this->KeepLinks(links);
    } while (!links.empty());
    ties.Settle(found);
  }

  /** Ties spread along links that are not in the forest, and will do so again. */
  void
  KeepLinks(const std::vector<ComponentLink> & links)
  {
    if (m_IsKept)
    {
      std::copy_if(links.begin(), links.end(), std::back_inserter(m_Forest), [this](const ComponentLink & link) {
        return std::max(link.a, link.b) < this->GetNumberOfNodes();
      });
    }
  }

  /** Whether rows of voxels are in any of these tiles, or next to one. */
  std::vector<std::uint8_t>
  GetRows(const std::vector<std::uint8_t> & tiles) const
  {
    const Triple              size = m_Graph.size;
    std::vector<std::uint8_t> rows(size[1] * size[2], 0);
    for (std::size_t tile = 0; tile < tiles.size(); ++tile)
    {
      const Box box = m_Tiles.grid.GetBox(static_cast<std::int64_t>(tile));
      for (std::int64_t z = std::max<std::int64_t>(box.first[2] - 1, 0);
           tiles[tile] != 0 && z < std::min(box.first[2] + box.size[2] + 1, size[2]);
           ++z)
      {
        const std::int64_t begin = std::max<std::int64_t>(box.first[1] - 1, 0);
        const std::int64_t end = std::min(box.first[1] + box.size[1] + 1, size[1]);
        std::fill(rows.begin() + z * size[1] + begin, rows.begin() + z * size[1] + end, std::uint8_t{ 1 });
      }
    }
    return rows;
  }

  const bool                       m_IsKept;
  ConnectednessGraph               m_Graph;
  ContractedTiles                  m_Tiles;
  std::unique_ptr<std::uint32_t[]> m_Strengths; // of all voxels, if their components have seedKey
  // If it is kept, a spanning forest of the components of tiles with some more links, and what tiles with seeds were.
  std::vector<ComponentLink>                                    m_Forest;
  std::map<std::int64_t, std::shared_ptr<const SeededContents>> m_SeededContents;
};
} // namespace voxelmaps

#endif // RelativeHierarchy_h
