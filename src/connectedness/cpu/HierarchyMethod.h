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
#ifndef HierarchyMethod_h
#define HierarchyMethod_h

#include "common/HostMemory.h"
#include "common/ParallelFor.h"
#include "ConnectednessSearch.h"
#include "Contraction.h"
#include "TileGrid.h"

#include <memory>
#include <utility>

namespace itk
{
namespace voxelmaps
{
/** Contracts the voxels of every tile to few components, then these components across tiles; then strengths go back
 * down the same steps. Contraction explains why this is exact. The time does not depend on where the seeds are.
 *
 * Memory per voxel on noisy CT, besides image and keys: 6 to 8 bytes with 6 neighbors, 11 to 17 with 26. Most of it
 * holds the links between components, of which there are two copies for a moment. */
template <typename TPixel>
class HierarchyMethod
{
public:
  /** A tile must have fewer than 65535 voxels. */
  HierarchyMethod(const ConnectednessSearch<TPixel> & search, const Triple & tileSize)
    : m_Search(search)
    , m_Job(search.job)
    , m_Grid(search.job.size, tileSize)
  {
    for (const std::int64_t seed : m_Job.seeds)
    {
      m_Seeds.push_back({ m_Grid.GetTileOf(seed), seed });
    }
    std::sort(m_Seeds.begin(), m_Seeds.end(), [](const Seed & a, const Seed & b) { return a.tile < b.tile; });
  }

  /** Larger tiles have fewer links between them; smaller ones fit into caches and keep more workers busy. */
  explicit HierarchyMethod(const ConnectednessSearch<TPixel> & search)
    : HierarchyMethod(search, search.job.size[2] == 1 ? Triple{ { 128, 128, 1 } } : Triple{ { 32, 32, 32 } })
  {}

  void
  Run()
  {
    const std::int64_t tiles = m_Grid.GetNumberOfTiles();
    // Not a vector: one thread would clear it.
    m_Numbers.reset(new std::uint16_t[m_Job.GetNumberOfVoxels()]);
    UseHugePages(m_Numbers.get(), static_cast<std::size_t>(m_Job.GetNumberOfVoxels()) * sizeof(std::uint16_t));
    m_FirstComponents.assign(tiles + 1, 0);
    m_Links.resize(tiles);

    std::vector<std::unique_ptr<Workspace>> workspaces(std::max(1u, m_Job.execution.numberOfWorkers));
    ForEachTask(tiles, m_Job.execution, [&](unsigned int worker) {
      workspaces[worker] = std::make_unique<Workspace>();
      Workspace & workspace = *workspaces[worker];
      return [&](std::int64_t tile) { this->ContractTile(tile, workspace); };
    });
    for (std::int64_t tile = 0; tile < tiles; ++tile)
    {
      m_FirstComponents[tile + 1] += m_FirstComponents[tile];
    }

    ForEachTask(tiles, m_Job.execution, [&](unsigned int worker) {
      if (!workspaces[worker])
      {
        workspaces[worker] = std::make_unique<Workspace>();
      }
      Workspace & workspace = *workspaces[worker];
      return [&](std::int64_t tile) {
        this->LinkTile(tile, workspace);
        m_Job.execution.CheckAbort();
      };
    });
    workspaces.clear();

    this->ContractAll();

    ForEachTask(
      tiles, m_Job.execution, [&](unsigned int) { return [&](std::int64_t tile) { this->FinishTile(tile); }; });
  }

private:
  using Box = TileGrid::Box;

  static constexpr int isolated = 0; // the component of all voxels of a tile that no path reaches

  struct Seed
  {
    std::int64_t tile;
    std::int64_t voxel;
  };

  /** Keys of one link of all voxels of a tile, after as many zeros as the link's stride: voxel v finds the key of the
   * link back from it at v, and of the link ahead at stride + v. */
  struct LinkKeys
  {
    int                        stride;
    std::vector<std::uint32_t> keys;
  };

  struct Workspace
  {
    std::vector<LinkKeys>      linkKeys;
    Contraction                graph;
    std::vector<std::uint32_t> strengths;
    std::vector<std::uint32_t> numbers;
  };

  /** Call f(i, key) for the links of voxels first + i; a key is noKey where there is no link. */
  template <typename TFunction>
  void
  ForEachKey(std::int64_t first, int count, const Link & link, const TFunction & f) const
  {
    const TPixel * const from = m_Search.image + first;
    const TPixel * const to = from + link.stride;
    const std::uint32_t  minKey = m_Search.minKey;
    if (m_Job.mask == nullptr)
    {
      for (int i = 0; i < count; ++i)
      {
        const std::uint32_t key = m_Search.edges.Key(from[i], to[i], link.weight);
        f(i, key >= minKey ? key : noKey);
      }
      return;
    }
    const std::uint8_t * const mask = m_Job.mask + first;
    for (int i = 0; i < count; ++i)
    {
      const std::uint32_t key = m_Search.edges.Key(from[i], to[i], link.weight);
      f(i, key >= minKey && mask[i] != 0 && mask[i + link.stride] != 0 ? key : noKey);
    }
  }

  void
  ContractTile(std::int64_t tile, Workspace & workspace)
  {
    const Box     box = m_Grid.GetBox(tile);
    const int     n = box.GetNumberOfVoxels();
    Contraction & graph = workspace.graph;
    graph.Start(n);
    graph.leaving.assign(n, noKey);
    const auto seedsHere = std::equal_range(
      m_Seeds.begin(), m_Seeds.end(), Seed{ tile, 0 }, [](const Seed & a, const Seed & b) { return a.tile < b.tile; });
    for (auto seed = seedsHere.first; seed != seedsHere.second; ++seed)
    {
      graph.leaving[m_Grid.GetLocal(box, seed->voxel)] = seedKey;
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
    m_FirstComponents[tile + 1] = number + 1;
    m_Links[tile].reserve(graph.numberOfLinks);
    for (std::size_t i = 0; i < graph.numberOfLinks; ++i)
    {
      const ComponentLink & link = graph.links[i];
      m_Links[tile].push_back({ workspace.numbers[link.a], workspace.numbers[link.b], link.key });
    }

    workspace.strengths.assign(components, seedKey);
    graph.ExpandStrengths(workspace.strengths, noCheck);
    graph.ExpandNumbers(workspace.numbers);
    m_Grid.ForEachRow(box, [&](std::int64_t global, int local, int count) {
      std::copy_n(workspace.strengths.data() + local, count, m_Search.keys + global);
      for (int i = 0; i < count; ++i)
      {
        m_Numbers[global + i] = static_cast<std::uint16_t>(workspace.numbers[local + i]);
      }
    });
    m_Job.execution.ReportProgress(n - n / 4);
  }

  /** Compute the keys of all links within the tile, and the strongest key of the links of every voxel to other tiles.
   */
  void
  ComputeKeys(std::int64_t tile, const Box & box, Workspace & workspace) const
  {
    const int             n = box.GetNumberOfVoxels();
    std::uint32_t * const leaving = workspace.graph.leaving.data();
    std::size_t           used = 0;
    for (const Link & link : m_Search.links)
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
      m_Grid.ForEachPart(tile, box, link, [&](std::int64_t global, int local, int count, std::int64_t other) {
        if (other != tile)
        {
          std::uint32_t * const out = leaving + local;
          this->ForEachKey(
            global, count, link, [out](int i, std::uint32_t key) { out[i] = key > out[i] ? key : out[i]; });
        }
        else if (keys != nullptr)
        {
          std::uint32_t * const out = keys + local;
          this->ForEachKey(global, count, link, [out](int i, std::uint32_t key) { out[i] = key; });
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
    ComponentLink * const links = graph.links.get();
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
          links[kept] = { a, b, keys[i] };
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
    const Box     box = m_Grid.GetBox(tile);
    Contraction & graph = workspace.graph;
    std::size_t   count = m_Links[tile].size();
    m_Grid.ForEachPartAhead(
      m_Search.links, tile, box, [&](const Link &, std::int64_t, int voxels, std::int64_t) { count += voxels; });
    graph.ReserveLinks(count);
    graph.numberOfLinks = m_Links[tile].size();
    std::copy(m_Links[tile].begin(), m_Links[tile].end(), graph.links.get());
    m_Links[tile] = std::vector<ComponentLink>();

    // The components of this tile come first, then those of other tiles in the order in which links lead to them.
    std::vector<std::uint32_t> &                        numbers = workspace.numbers; // over all tiles
    std::vector<std::pair<std::int64_t, std::uint32_t>> others;
    const auto                                          addTile = [&](std::int64_t newTile) {
      others.emplace_back(newTile, static_cast<std::uint32_t>(numbers.size()));
      for (std::uint32_t c = m_FirstComponents[newTile]; c < m_FirstComponents[newTile + 1]; ++c)
      {
        numbers.push_back(c);
      }
    };
    numbers.clear();
    addTile(tile);
    m_Grid.ForEachPartAhead(
      m_Search.links, tile, box, [&](const Link & link, std::int64_t global, int voxels, std::int64_t other) {
        std::size_t known = 0;
        while (known < others.size() && others[known].first != other)
        {
          ++known;
        }
        if (known == others.size())
        {
          addTile(other);
        }
        const std::uint32_t         firstOfOther = others[known].second;
        const std::uint16_t * const from = m_Numbers.get() + global;
        const std::uint16_t * const to = from + link.stride;
        this->ForEachKey(global, voxels, link, [&](int i, std::uint32_t key) {
          graph.links[graph.numberOfLinks] = { from[i], firstOfOther + to[i], key };
          graph.numberOfLinks += key != noKey ? 1 : 0;
        });
      });

    graph.Start(static_cast<std::uint32_t>(numbers.size()));
    graph.KeepStrongest([] {});
    m_Links[tile].reserve(graph.numberOfLinks);
    for (std::size_t i = 0; i < graph.numberOfLinks; ++i)
    {
      const ComponentLink & link = graph.links[i];
      m_Links[tile].push_back({ numbers[link.a], numbers[link.b], link.key });
    }
  }

  /** Contract the components of all tiles, and compute their strengths. */
  void
  ContractAll()
  {
    const auto  checkAbort = [this] { m_Job.execution.CheckAbort(); };
    Contraction graph;
    std::size_t count = 0;
    for (const auto & links : m_Links)
    {
      count += links.size();
    }
    graph.ReserveLinks(count);
    for (auto & links : m_Links)
    {
      std::copy(links.begin(), links.end(), graph.links.get() + graph.numberOfLinks);
      graph.numberOfLinks += links.size();
      links = std::vector<ComponentLink>();
      checkAbort();
    }

    graph.Start(m_FirstComponents.back());
    graph.leaving.assign(m_FirstComponents.back(), noKey);
    for (const Seed & seed : m_Seeds)
    {
      graph.leaving[m_FirstComponents[seed.tile] + m_Numbers[seed.voxel]] = seedKey;
    }
    graph.Run(checkAbort);
    // A component without a seed has no links any more.
    m_Strengths.swap(graph.leaving);
    graph.ExpandStrengths(m_Strengths, checkAbort);
  }

  void
  FinishTile(std::int64_t tile)
  {
    const Box                   box = m_Grid.GetBox(tile);
    const std::uint32_t * const strengths = m_Strengths.data() + m_FirstComponents[tile];
    m_Grid.ForEachRow(box, [&](std::int64_t global, int, int count) {
      std::uint32_t * const       keys = m_Search.keys + global;
      const std::uint16_t * const numbers = m_Numbers.get() + global;
      for (int i = 0; i < count; ++i)
      {
        const std::uint32_t strength = strengths[numbers[i]];
        keys[i] = strength < keys[i] ? strength : keys[i];
      }
    });
    m_Job.execution.ReportProgress(box.GetNumberOfVoxels() / 4);
  }

  const ConnectednessSearch<TPixel> & m_Search;
  const FuzzyConnectednessJob &       m_Job;

  TileGrid                                m_Grid;
  std::unique_ptr<std::uint16_t[]>        m_Numbers; // of every voxel's component, within its tile
  std::vector<Seed>                       m_Seeds;   // in the order of tiles
  std::vector<std::uint32_t>              m_FirstComponents;
  std::vector<std::vector<ComponentLink>> m_Links; // of every tile
  std::vector<std::uint32_t>              m_Strengths;
};
} // namespace voxelmaps
} // namespace itk

#endif // HierarchyMethod_h
