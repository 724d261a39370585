// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ContractedTiles_h
#define ContractedTiles_h

#include "common/HostMemory.h"
#include "common/ParallelFor.h"
#include "ConnectednessGraph.h"
#include "Contraction.h"
#include "connectedness/TileGrid.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** The voxels of every tile contracted to few components, and the links between these. Contraction explains why this is
 * exact. Component 0 of every tile has all of its voxels that no path reaches. */
class ContractedTiles
{
public:
  using Box = TileGrid::Box;

  struct Seed
  {
    std::int64_t tile;
    std::int64_t voxel;
  };
  /** Seeds in the order of tiles, and of voxels in each. */
  using Seeds = std::vector<Seed>;

  /** Keys of one link of all voxels of a tile, after as many zeros as the link's stride: voxel v finds the key of the
   * link back from it at v, and of the link ahead at stride + v. */
  struct LinkKeys
  {
    int                        stride;
    std::vector<std::uint32_t> keys;
  };

  /** What one worker needs for one tile after the other. */
  struct Workspace
  {
    std::vector<LinkKeys>       linkKeys;
    Contraction                 graph;
    LinkContraction<TracedLink> forest;
    /** For every voxel of the tile, the strength that it has if its component has seedKey, and the component's number
     * in the tile. */
    std::vector<std::uint32_t> strengths;
    std::vector<std::uint32_t> numbers;
  };

  TileGrid grid;
  /** Number of every voxel's component within its tile. */
  std::unique_ptr<std::uint16_t[]> numbers;
  /** Number over all tiles of the first component of every tile; at the end, the number of components. */
  std::vector<std::uint32_t> firstComponents;
  /** For every tile, links within it and to tiles behind it. */
  std::vector<std::vector<ComponentLink>> links;

  /** A tile must have fewer than 65535 voxels. */
  ContractedTiles(const ConnectednessGraph & graph, const Triple & tileSize)
    : grid(graph.size, tileSize)
    , m_Graph(graph)
  {}

  /** Larger tiles have fewer links between them; smaller ones fit into caches and keep more workers busy. */
  static Triple
  GetDefaultTileSize(const Triple & size)
  {
    return size[2] == 1 ? Triple{ { 128, 128, 1 } } : Triple{ { 32, 32, 32 } };
  }

  Seeds
  SortSeeds(const std::vector<std::int64_t> & voxels) const
  {
    Seeds seeds;
    for (const std::int64_t voxel : voxels)
    {
      seeds.push_back({ grid.GetTileNumber(voxel), voxel });
    }
    std::sort(seeds.begin(), seeds.end(), [](const Seed & a, const Seed & b) {
      return std::tie(a.tile, a.voxel) < std::tie(b.tile, b.voxel);
    });
    return seeds;
  }

  /** Contract all tiles. Strengths go to an array of the image's size. Reports three quarters of the voxels as
   * progress. */
  void
  Build(const Seeds & seeds, std::uint32_t * strengths, const JobExecution & execution)
  {
    const std::int64_t tiles = grid.GetNumberOfTiles();
    const auto         voxels = static_cast<std::size_t>(m_Graph.size[0] * m_Graph.size[1] * m_Graph.size[2]);
    // Not a vector: one thread would clear it.
    numbers.reset(new std::uint16_t[voxels]);
    UseHugePages(numbers.get(), voxels * sizeof(std::uint16_t));
    firstComponents.assign(tiles + 1, 0);
    links.resize(tiles);

    std::vector<std::unique_ptr<Workspace>> workspaces(std::max(1u, execution.numberOfWorkers));
    ForEachTask(tiles, execution, [&](unsigned int worker) {
      workspaces[worker] = std::make_unique<Workspace>();
      Workspace & workspace = *workspaces[worker];
      return [&](std::int64_t tile) {
        const Box box = grid.GetBox(tile);
        firstComponents[tile + 1] = this->ContractTile(tile, seeds, workspace, links[tile]);
        grid.ForEachRow(box, [&](std::int64_t global, int local, int count) {
          std::copy_n(workspace.strengths.data() + local, count, strengths + global);
          for (int i = 0; i < count; ++i)
          {
            numbers[global + i] = static_cast<std::uint16_t>(workspace.numbers[local + i]);
          }
        });
        const int n = box.GetNumberOfVoxels();
        execution.ReportProgress(n - n / 4);
      };
    });
    for (std::int64_t tile = 0; tile < tiles; ++tile)
    {
      firstComponents[tile + 1] += firstComponents[tile];
    }

    ForEachTask(tiles, execution, [&](unsigned int worker) {
      if (!workspaces[worker])
      {
        workspaces[worker] = std::make_unique<Workspace>();
      }
      Workspace & workspace = *workspaces[worker];
      return [&](std::int64_t tile) {
        this->LinkTile(tile, workspace);
        execution.CheckAbort();
      };
    });
  }

  std::uint32_t
  GetNumberOfComponents() const
  {
    return firstComponents.back();
  }

  /** Component, over all tiles, of a voxel. */
  std::uint32_t
  GetComponent(std::int64_t tile, std::int64_t voxel) const
  {
    return firstComponents[tile] + numbers[voxel];
  }

  /** Contract one tile, whose seeds hold their components back. Strengths and numbers of its voxels are then in the
   * workspace, and the links between its components are added to a list. Returns the number of components. */
  std::uint32_t
  ContractTile(std::int64_t tile, const Seeds & seeds, Workspace & workspace,
               std::vector<ComponentLink> & tileLinks) const
  {
    const Box     box = grid.GetBox(tile);
    const int     n = box.GetNumberOfVoxels();
    Contraction & graph = workspace.graph;
    graph.Start(n);
    graph.leaving.assign(n, noKey);
    const auto seedsHere = std::equal_range(
      seeds.begin(), seeds.end(), Seed{ tile, 0 }, [](const Seed & a, const Seed & b) { return a.tile < b.tile; });
    for (auto seed = seedsHere.first; seed != seedsHere.second; ++seed)
    {
      graph.leaving[grid.GetLocal(box, seed->voxel)] = seedKey;
    }

    this->ComputeKeys(tile, box, workspace);
    this->ContractVoxels(n, workspace);
    // A tile is done within milliseconds.
    const auto noCheck = [] {};
    graph.Run(noCheck);

    // Every component is now held back, by a seed or by a link to another tile, or isolated.
    const std::uint32_t components = graph.GetNumberOfComponents();
    std::uint32_t       number = isolated;
    workspace.numbers.resize(components);
    for (std::uint32_t c = 0; c < components; ++c)
    {
      workspace.numbers[c] = graph.leaving[c] != noKey ? ++number : isolated;
    }
    KeepForest(workspace);
    tileLinks.reserve(tileLinks.size() + graph.numberOfLinks);
    for (std::size_t i = 0; i < graph.numberOfLinks; ++i)
    {
      const ComponentLink & link = graph.links[i];
      tileLinks.push_back({ workspace.numbers[link.a], workspace.numbers[link.b], link.key });
    }

    workspace.strengths.assign(components, seedKey);
    graph.ExpandStrengths(workspace.strengths, noCheck);
    graph.ExpandNumbers(workspace.numbers);
    return number + 1;
  }

private:
  /** Keep a maximum spanning forest of the links: no other link is on the strongest path between two components. */
  static void
  KeepForest(Workspace & workspace)
  {
    Contraction &                 graph = workspace.graph;
    LinkContraction<TracedLink> & forest = workspace.forest;
    if (graph.numberOfLinks / 2 <= graph.GetNumberOfComponents())
    {
      return;
    }
    forest.ReserveLinks(graph.numberOfLinks);
    for (std::size_t i = 0; i < graph.numberOfLinks; ++i)
    {
      forest.AddLink(graph.links[i]);
    }
    forest.Start(graph.GetNumberOfComponents());
    forest.leaving.assign(graph.GetNumberOfComponents(), noKey);
    forest.forest.clear();
    forest.Run([] {});
    graph.numberOfLinks = 0;
    for (const ComponentLink & link : forest.forest)
    {
      graph.AddLink(link);
    }
  }

  static constexpr int isolated = 0; // the component of all voxels of a tile that no path reaches

  /** Compute the keys of all links within the tile, and the strongest key of the links of every voxel to other tiles.
   */
  void
  ComputeKeys(std::int64_t tile, const Box & box, Workspace & workspace) const
  {
    const int             n = box.GetNumberOfVoxels();
    std::uint32_t * const leaving = workspace.graph.leaving.data();
    std::size_t           used = 0;
    for (const Link & link : m_Graph.links)
    {
      std::uint32_t * keys = nullptr;
      // A tile of one voxel along an axis has no links along it.
      if (TileGrid::IsForward(link) && (link.x == 0 || box.size[0] > 1) && (link.y == 0 || box.size[1] > 1) &&
          (link.z == 0 || box.size[2] > 1))
      {
        if (used == workspace.linkKeys.size())
        {
          workspace.linkKeys.emplace_back();
        }
        LinkKeys & linkKeys = workspace.linkKeys[used++];
        linkKeys.stride = static_cast<int>((link.z * box.size[1] + link.y) * box.size[0] + link.x);
        linkKeys.keys.assign(linkKeys.stride + n, noKey);
        keys = linkKeys.keys.data() + linkKeys.stride;
      }
      grid.ForEachPart(tile, box, link, [&](std::int64_t global, int local, int count, std::int64_t other) {
        if (other != tile)
        {
          std::uint32_t * const out = leaving + local;
          m_Graph.ForEachKey(
            global, count, link, [out](int i, std::uint32_t key) { out[i] = key > out[i] ? key : out[i]; });
        }
        else if (keys != nullptr)
        {
          m_Graph.GetKeys(global, count, link, keys + local);
        }
      });
    }
    workspace.linkKeys.resize(used);
    // Orders links by (voxel at the lower end, link).
    std::stable_sort(workspace.linkKeys.begin(), workspace.linkKeys.end(), [](const LinkKeys & a, const LinkKeys & b) {
      return a.stride < b.stride;
    });
  }

  /** The first round, which needs no list of links; then make the list of links between components. */
  void
  ContractVoxels(int n, Workspace & workspace) const
  {
    // Compilers vectorize loops over chunks without branches. Keys are below 2^31, and signed comparisons are faster.
    constexpr int               chunk = 256; // 2 kB of arrays
    std::int32_t                best[chunk];
    std::int32_t                pointers[chunk];
    Contraction &               graph = workspace.graph;
    Contraction::Round &        round = graph.AddRound();
    const std::uint32_t * const leaving = graph.leaving.data();
    for (int first = 0; first < n; first += chunk)
    {
      const int count = std::min(chunk, n - first);
      for (int i = 0; i < count; ++i)
      {
        best[i] = 0;
        pointers[i] = first + i;
      }
      const auto offer = [&](const std::uint32_t * keys, int neighbor) {
        for (int i = 0; i < count; ++i)
        {
          const auto key = static_cast<std::int32_t>(keys[i]);
          pointers[i] = key >= best[i] ? neighbor + i : pointers[i];
          best[i] = key >= best[i] ? key : best[i];
        }
      };
      // In the order of links: of equal keys, the last one is the strongest.
      for (std::size_t l = workspace.linkKeys.size(); l-- > 0;)
      {
        const LinkKeys & link = workspace.linkKeys[l];
        offer(link.keys.data() + first, first - link.stride);
      }
      for (const LinkKeys & link : workspace.linkKeys)
      {
        offer(link.keys.data() + link.stride + first, first + link.stride);
      }
      for (int i = 0; i < count; ++i)
      {
        const bool heldBack = (best[i] == 0) | (static_cast<std::int32_t>(leaving[first + i]) > best[i]);
        round.parents[first + i] = heldBack ? first + i : pointers[i];
        round.keys[first + i] = heldBack ? seedKey : best[i];
      }
    }
    graph.Merge([] {});

    const std::uint32_t * const parents = round.parents.data();
    graph.ReserveLinks(n * workspace.linkKeys.size());
    ComponentLink * const listed = graph.links.get();
    std::size_t           kept = 0;
    for (int first = 0; first < n; first += chunk)
    {
      const int count = std::min(chunk, n - first);
      for (const LinkKeys & link : workspace.linkKeys)
      {
        const std::uint32_t * const keys = link.keys.data() + link.stride + first;
        for (int i = 0; i < count; ++i)
        {
          const int           voxel = first + i;
          const std::uint32_t a = parents[voxel];
          const std::uint32_t b = parents[keys[i] != noKey ? voxel + link.stride : voxel];
          listed[kept] = { a, b, keys[i] };
          kept += a != b ? 1 : 0;
        }
      }
    }
    graph.numberOfLinks = kept;
  }

  /** Add the forward links to other tiles, and number the components over all tiles. */
  void
  LinkTile(std::int64_t tile, Workspace & workspace)
  {
    const Box     box = grid.GetBox(tile);
    Contraction & graph = workspace.graph;
    std::size_t   count = links[tile].size();
    grid.ForEachPartAhead(
      m_Graph.links, tile, box, [&](const Link &, std::int64_t, int voxels, std::int64_t) { count += voxels; });
    graph.ReserveLinks(count);
    graph.numberOfLinks = links[tile].size();
    std::copy(links[tile].begin(), links[tile].end(), graph.links.get());
    links[tile] = std::vector<ComponentLink>();

    // The components of this tile come first, then those of other tiles in the order in which links lead to them.
    std::vector<std::uint32_t> &                        components = workspace.numbers; // over all tiles
    std::vector<std::pair<std::int64_t, std::uint32_t>> others;
    const auto                                          addTile = [&](std::int64_t newTile) {
      others.emplace_back(newTile, static_cast<std::uint32_t>(components.size()));
      for (std::uint32_t c = firstComponents[newTile]; c < firstComponents[newTile + 1]; ++c)
      {
        components.push_back(c);
      }
    };
    components.clear();
    addTile(tile);
    grid.ForEachPartAhead(
      m_Graph.links, tile, box, [&](const Link & link, std::int64_t global, int voxels, std::int64_t other) {
        std::size_t known = 0;
        while (known < others.size() && others[known].first != other)
        {
          ++known;
        }
        if (known == others.size())
        {
          addTile(other);
        }
        const std::uint32_t         otherFirst = others[known].second;
        const std::uint16_t * const from = numbers.get() + global;
        const std::uint16_t * const to = from + link.stride;
        m_Graph.ForEachKey(global, voxels, link, [&](int i, std::uint32_t key) {
          graph.links[graph.numberOfLinks] = { from[i], otherFirst + to[i], key };
          graph.numberOfLinks += key != noKey ? 1 : 0;
        });
      });

    graph.Start(static_cast<std::uint32_t>(components.size()));
    graph.KeepStrongest([] {});
    KeepForest(workspace);
    links[tile].reserve(graph.numberOfLinks);
    for (std::size_t i = 0; i < graph.numberOfLinks; ++i)
    {
      const ComponentLink & link = graph.links[i];
      links[tile].push_back({ components[link.a], components[link.b], link.key });
    }
  }

  const ConnectednessGraph & m_Graph;
};
} // namespace voxelmaps

#endif // ContractedTiles_h
