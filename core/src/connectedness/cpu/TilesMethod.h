// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TilesMethod_h
#define TilesMethod_h

#include "common/ParallelFor.h"
#include "ConnectednessSearch.h"
#include "TileGrid.h"

#include <atomic>
#include <memory>
#include <queue>
#include <utility>

namespace voxelmaps
{
/** Settles tiles one by one, given the keys around them; each wakes the neighbors that it could improve, until all
 * tiles sleep. Keys only grow, and the fixed point of all links is unique, so the order does not matter.
 *
 * Tiles that share a link never run at the same time: they have different colors, and colors run one after the other.
 */
template <typename TPixel>
class TilesMethod
{
public:
  explicit TilesMethod(const ConnectednessSearch<TPixel> & search)
    : m_Search(search)
    , m_Job(search.job)
    , m_IsFlat(m_Job.size[2] == 1)
    // With its halo, a tile of 16-bit pixels takes 50 to 70 kB, which fits into the second-level cache of a core.
    , m_TileSize(m_IsFlat ? Triple{ { 128, 64, 1 } } : Triple{ { 32, 16, 16 } })
    , m_Halo{ { 1, 1, m_IsFlat ? 0 : 1 } }
    , m_Grid(m_Job.size, m_TileSize)
  {
    for (int d = 0; d < 3; ++d)
    {
      m_LocalSize[d] = static_cast<int>(m_TileSize[d] + 2 * m_Halo[d]);
    }
    m_LocalVoxels = m_LocalSize[0] * m_LocalSize[1] * m_LocalSize[2];
    for (const Link & link : m_Search.links)
    {
      m_Strides.push_back((link.z * m_LocalSize[1] + link.y) * m_LocalSize[0] + link.x);
    }
    m_States = std::vector<std::atomic<std::uint8_t>>(m_Grid.GetNumberOfTiles());
    this->FindNeighborTiles();
  }

  void
  Run()
  {
    for (const std::int64_t seed : m_Job.seeds)
    {
      m_Search.keys[seed] = seedKey;
      m_States[m_Grid.GetTileNumber(seed)] = awake | hasSeeds;
    }

    // Tiles are colored like a checkerboard if links only cross faces, else like blocks of 2 x 2 x 2 tiles.
    const int colors = m_Job.adjacency == FuzzyConnectednessJob::Adjacency::Face ? 2 : 8;
    m_Workspaces.resize(std::max(1u, m_Job.execution.numberOfWorkers));
    std::vector<std::int64_t> tiles;
    for (bool any = true; any;)
    {
      any = false;
      for (int color = 0; color < colors; ++color)
      {
        this->FindAwake(color, colors, tiles);
        any = any || !tiles.empty();
        ForEachTask(static_cast<std::int64_t>(tiles.size()), m_Job.execution, [&](unsigned int worker) {
          if (!m_Workspaces[worker])
          {
            m_Workspaces[worker] = std::make_unique<Workspace>(m_LocalVoxels);
          }
          Workspace & workspace = *m_Workspaces[worker];
          return [&](std::int64_t task) { this->SettleTile(tiles[task], workspace); };
        });
      }
    }
  }

private:
  using Box = TileGrid::Box;

  // States of tiles.
  static constexpr std::uint8_t awake = 1;
  static constexpr std::uint8_t hasSeeds = 2; // that have not been spread yet

  static constexpr std::uint32_t outside = 0xffffffffu; // key where there is no voxel: no offer exceeds it
  static constexpr int           ownTile = 13;

  /** Keys and intensities of a tile and its halo. */
  struct Workspace
  {
    explicit Workspace(int voxels)
      : keys(voxels)
      , image(voxels)
    {}
    std::vector<std::uint32_t>                         keys;
    std::vector<TPixel>                                image;
    std::priority_queue<std::pair<std::uint32_t, int>> heap;
    std::vector<int>                                   stack;
  };

  void
  FindAwake(int color, int colors, std::vector<std::int64_t> & tiles)
  {
    tiles.clear();
    std::int64_t tile = 0;
    for (std::int64_t z = 0; z < m_Grid.GetTiles()[2]; ++z)
    {
      for (std::int64_t y = 0; y < m_Grid.GetTiles()[1]; ++y)
      {
        for (std::int64_t x = 0; x < m_Grid.GetTiles()[0]; ++x, ++tile)
        {
          const std::int64_t tileColor = colors == 2 ? (x + y + z) & 1 : (x & 1) | (y & 1) << 1 | (z & 1) << 2;
          if (tileColor == color && (m_States[tile] & awake) != 0)
          {
            tiles.push_back(tile);
          }
        }
      }
    }
  }

  /** Find the tile of each voxel of a workspace: 3 * (3 * z + y) + x, each 0, 1 or 2; 13 is the tile itself. */
  void
  FindNeighborTiles()
  {
    const auto side = [this](int at, int d) { return at < m_Halo[d] ? 0 : at < m_Halo[d] + m_TileSize[d] ? 1 : 2; };
    m_LocalTiles.resize(m_LocalVoxels);
    int local = 0;
    for (int z = 0; z < m_LocalSize[2]; ++z)
    {
      for (int y = 0; y < m_LocalSize[1]; ++y)
      {
        for (int x = 0; x < m_LocalSize[0]; ++x, ++local)
        {
          m_LocalTiles[local] = static_cast<std::uint8_t>(9 * side(z, 2) + 3 * side(y, 1) + side(x, 0));
        }
      }
    }
  }

  /** Call f(voxel, number in the workspace, count) for the rows of a tile, with or without its halo. */
  template <typename TFunction>
  void
  ForEachRow(const Box & box, bool withHalo, const TFunction & f) const
  {
    Triple first;
    Triple end;
    for (int d = 0; d < 3; ++d)
    {
      const std::int64_t halo = withHalo ? m_Halo[d] : 0;
      first[d] = std::max<std::int64_t>(box.first[d] - halo, 0);
      end[d] = std::min(box.first[d] + box.size[d] + halo, m_Job.size[d]);
    }
    const bool face = m_Job.adjacency == FuzzyConnectednessJob::Adjacency::Face;
    const auto isInHalo = [&box](std::int64_t at, int d) {
      return at < box.first[d] || at >= box.first[d] + box.size[d];
    };
    for (std::int64_t z = first[2]; z < end[2]; ++z)
    {
      for (std::int64_t y = first[1]; y < end[1]; ++y)
      {
        // If links only cross faces, tiles that share an edge or a corner may run at the same time: skip them.
        const int    halos = (isInHalo(y, 1) ? 1 : 0) + (isInHalo(z, 2) ? 1 : 0);
        std::int64_t firstX = first[0];
        std::int64_t endX = end[0];
        if (face && halos == 1)
        {
          firstX = box.first[0];
          endX = box.first[0] + box.size[0];
        }
        else if (face && halos == 2)
        {
          continue;
        }
        const std::int64_t localX = firstX - box.first[0] + m_Halo[0];
        const std::int64_t localY = y - box.first[1] + m_Halo[1];
        const std::int64_t localZ = z - box.first[2] + m_Halo[2];
        f((z * m_Job.size[1] + y) * m_Job.size[0] + firstX,
          static_cast<int>((localZ * m_LocalSize[1] + localY) * m_LocalSize[0] + localX),
          static_cast<int>(endX - firstX));
      }
    }
  }

  void
  SettleTile(std::int64_t tile, Workspace & workspace)
  {
    const Box  box = m_Grid.GetBox(tile);
    const bool spreadSeeds = (m_States[tile].exchange(0) & hasSeeds) != 0;

    std::fill(workspace.keys.begin(), workspace.keys.end(), outside);
    this->ForEachRow(box, true, [&](std::int64_t global, int local, int count) {
      std::copy_n(m_Search.image + global, count, workspace.image.data() + local);
      for (int i = 0; i < count; ++i)
      {
        workspace.keys[local + i] = m_Search.IsInside(global + i) ? m_Search.keys[global + i] : outside;
      }
    });

    // Offers from the halo and from seeds.
    for (int local = 0; local < m_LocalVoxels; ++local)
    {
      const std::uint32_t key = workspace.keys[local];
      if (key != outside && key != noKey && (m_LocalTiles[local] != ownTile || (spreadSeeds && key == seedKey)))
      {
        this->Offer(local, key, tile, m_LocalTiles[local] != ownTile, workspace);
      }
    }
    while (!workspace.heap.empty())
    {
      const auto strongest = workspace.heap.top();
      workspace.heap.pop();
      if (workspace.keys[strongest.second] != strongest.first)
      {
        continue;
      }
      workspace.stack.push_back(strongest.second);
      while (!workspace.stack.empty())
      {
        const int local = workspace.stack.back();
        workspace.stack.pop_back();
        this->Offer(local, strongest.first, tile, false, workspace);
      }
    }

    std::uint64_t reached = 0;
    this->ForEachRow(box, false, [&](std::int64_t global, int local, int count) {
      for (int i = 0; i < count; ++i)
      {
        const std::uint32_t key = workspace.keys[local + i];
        if (key != outside && key != m_Search.keys[global + i])
        {
          reached += m_Search.keys[global + i] == noKey ? 1 : 0;
          m_Search.keys[global + i] = key;
        }
      }
    });
    m_Job.execution.ReportProgress(reached);
  }

  /** Offer the key of a voxel to its neighbors in the tile, and wake other tiles that it would improve. */
  void
  Offer(int local, std::uint32_t key, std::int64_t tile, bool inHalo, Workspace & workspace)
  {
    const std::size_t links = m_Strides.size();
    for (std::size_t n = 0; n < links; ++n)
    {
      const int neighbor = local + m_Strides[n];
      if (inHalo && !this->IsOwn(local, n))
      {
        continue;
      }
      const std::uint32_t known = workspace.keys[neighbor];
      if (known >= key)
      {
        continue;
      }
      const std::uint32_t offer =
        std::min(m_Search.edges.Key(workspace.image[local], workspace.image[neighbor], m_Search.links[n].weight), key);
      if (offer < m_Search.minKey || offer <= known)
      {
        continue;
      }
      workspace.keys[neighbor] = offer;
      const int side = m_LocalTiles[neighbor];
      if (side != ownTile)
      {
        m_States[m_Grid.GetNeighborTile(tile, side % 3 - 1, side / 3 % 3 - 1, side / 9 - 1)].fetch_or(awake);
      }
      else if (offer == key && !inHalo)
      {
        workspace.stack.push_back(neighbor);
      }
      else
      {
        workspace.heap.emplace(offer, neighbor);
      }
    }
  }

  /** Whether the n-th neighbor of a voxel of the halo is in the tile. */
  bool
  IsOwn(int local, std::size_t n) const
  {
    const Link & link = m_Search.links[n];
    const int    x = local % m_LocalSize[0] + link.x;
    const int    y = local / m_LocalSize[0] % m_LocalSize[1] + link.y;
    const int    z = local / (m_LocalSize[0] * m_LocalSize[1]) + link.z;
    return x >= 0 && x < m_LocalSize[0] && y >= 0 && y < m_LocalSize[1] && z >= 0 && z < m_LocalSize[2] &&
           m_LocalTiles[local + m_Strides[n]] == ownTile;
  }

  const ConnectednessSearch<TPixel> & m_Search;
  const FuzzyConnectednessJob &       m_Job;

  const bool                              m_IsFlat;
  const Triple                            m_TileSize;
  const Triple                            m_Halo;
  const TileGrid                          m_Grid;
  std::array<int, 3>                      m_LocalSize;
  int                                     m_LocalVoxels;
  std::vector<int>                        m_Strides;
  std::vector<std::uint8_t>               m_LocalTiles;
  std::vector<std::atomic<std::uint8_t>>  m_States;
  std::vector<std::unique_ptr<Workspace>> m_Workspaces;
};
} // namespace voxelmaps

#endif // TilesMethod_h
