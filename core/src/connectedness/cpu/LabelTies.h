// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef LabelTies_h
#define LabelTies_h

#include "common/ParallelFor.h"
#include "ConnectednessGraph.h"
#include "TileGrid.h"

#include "connectedness/RelativeResults.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace voxelmaps
{
/** Strengths of the voxels of a tile: that of the component, but at most the voxel's own. */
struct TileStrengths
{
  const std::uint32_t *   strengths;
  const std::uint16_t *   numbers; // of components
  const ComponentResult * components;
  /** Whether voxels are numbered within the tile instead of within the image. */
  bool isTileLocal;
};

/** In place of the label of a tile with more than one. */
constexpr std::uint32_t manyLabels = 0xffffffffu;

/** Applies the tie rule of Iterative to the labels of one maximum spanning forest; others exist where links have equal
 * keys. All are known from the links along which strengths can be passed on: those from u to v for which min(strength
 * of u, key) is the strength of v. If such a link joins two labels, v and all that follows from it in the same way have
 * both.
 *
 * First, every tile finds the voxels that a link claims for another label. Then labels spread within each tile that has
 * claims, which makes claims for voxels of other tiles, in rounds. Labels only become lower, or 0, so neither the order
 * of claims nor that of tiles matters. */
template <typename TLabel>
class LabelTies
{
public:
  LabelTies(const ConnectednessGraph & graph, const TileGrid & grid, bool keepsTies, std::uint32_t minKey,
            TLabel * labels, const JobExecution & execution)
    : m_Graph(graph)
    , m_Grid(grid)
    , m_KeepsTies(keepsTies)
    , m_MinKey(minKey)
    , m_Labels(labels)
    , m_Execution(execution)
  {}

  /** getTile(tile) returns the TileStrengths; tileLabels[tile] is the label of all of its voxels that have one,
   * 0 if none has, and manyLabels if they differ. */
  template <typename TGetTile>
  void
  Settle(const TGetTile & getTile, const std::vector<std::uint32_t> & tileLabels)
  {
    const std::int64_t tiles = m_Grid.GetNumberOfTiles();
    m_Claims.resize(tiles);
    ForEachTask(tiles, m_Execution, [&](unsigned int) {
      return [&, workspace = Workspace()](std::int64_t tile) mutable {
        if (this->LabelsMeet(tile, tileLabels))
        {
          this->FindClaims(tile, getTile, workspace);
        }
        m_Execution.CheckAbort();
      };
    });
    for (;;)
    {
      std::vector<std::int64_t> claimed;
      for (std::int64_t tile = 0; tile < tiles; ++tile)
      {
        if (!m_Claims[tile].empty())
        {
          claimed.push_back(tile);
        }
      }
      if (claimed.empty())
      {
        return;
      }
      std::vector<std::vector<Claim>> next(tiles);
      ForEachTask(static_cast<std::int64_t>(claimed.size()), m_Execution, [&](unsigned int) {
        return [&, workspace = Workspace()](std::int64_t i) mutable {
          this->Spread(claimed[i], getTile, workspace, next);
          m_Execution.CheckAbort();
        };
      });
      m_Claims.swap(next);
    }
  }

private:
  using Box = TileGrid::Box;
  using Index = std::array<int, 3>;

  /** Of a label to a voxel of a tile. */
  struct Claim
  {
    std::uint16_t voxel; // within the tile
    TLabel        label;
  };

  /** A tile with the strengths of its voxels. */
  struct Tile
  {
    std::int64_t  number;
    Box           box;
    Index         size;
    TileStrengths strengths;

    Index
    GetIndex(int voxel) const
    {
      return { { voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1]) } };
    }
    int
    GetVoxel(const Index & index) const
    {
      return (index[2] * size[1] + index[1]) * size[0] + index[0];
    }
    bool
    IsInside(const Index & index) const
    {
      // Negative numbers are huge as unsigned ones.
      return static_cast<unsigned int>(index[0]) < static_cast<unsigned int>(size[0]) &&
             static_cast<unsigned int>(index[1]) < static_cast<unsigned int>(size[1]) &&
             static_cast<unsigned int>(index[2]) < static_cast<unsigned int>(size[2]);
    }
  };

  /** What one worker needs for one tile after the other. */
  struct Workspace
  {
    /** The tile, in the middle, and those around it; a number is negative where there is none. */
    std::array<Tile, 27> tiles;
    /** Labels of the tile and of one more voxel on each side. */
    std::vector<TLabel> labels;
    std::vector<TLabel> differences; // of a plane
    /** Voxels of the tile whose label has changed. */
    std::vector<Index> changed;
    /** Claims of voxels of each of the tiles. */
    std::array<std::vector<Claim>, 27> claims;

    const Tile &
    GetTile() const
    {
      return tiles[13];
    }
  };

  template <typename TGetTile>
  void
  SetTile(std::int64_t number, const TGetTile & getTile, Workspace & workspace) const
  {
    for (Tile & tile : workspace.tiles)
    {
      tile.number = -1;
    }
    this->ForEachTileAround(number, [&](std::int64_t neighbor, std::size_t place) {
      const Box box = m_Grid.GetBox(neighbor);
      workspace.tiles[place] = {
        neighbor,
        box,
        { { static_cast<int>(box.size[0]), static_cast<int>(box.size[1]), static_cast<int>(box.size[2]) } },
        getTile(neighbor)
      };
    });
  }

  /** Number within the image of a voxel of a tile. */
  std::int64_t
  GetGlobal(const Tile & tile, const Index & index) const
  {
    const Triple & first = tile.box.first;
    return ((first[2] + index[2]) * m_Graph.size[1] + first[1] + index[1]) * m_Graph.size[0] + first[0] + index[0];
  }

  std::uint32_t
  GetStrength(const Tile & tile, const Index & index, std::int64_t global) const
  {
    const TileStrengths & strengths = tile.strengths;
    const std::int64_t    voxel = strengths.isTileLocal ? tile.GetVoxel(index) : global;
    const std::uint32_t   key =
      std::min(strengths.strengths[voxel], strengths.components[strengths.numbers[voxel]].strength);
    return key >= m_MinKey ? key : noKey;
  }

  static Index
  Add(const Index & index, const Link & link)
  {
    return { { index[0] + link.x, index[1] + link.y, index[2] + link.z } };
  }

  /** The place in the workspace of the tile that a voxel is in. Changes the index to that in this tile. */
  static std::size_t
  FindTile(const Workspace & workspace, Index & index)
  {
    const Tile & tile = workspace.GetTile();
    std::size_t  place = 13;
    std::size_t  step = 1;
    Index        away;
    for (int d = 0; d < 3; ++d, step *= 3)
    {
      away[d] = index[d] < 0 ? -1 : index[d] < tile.size[d] ? 0 : 1;
      place += static_cast<std::size_t>(away[d]) * step;
    }
    const Tile & found = workspace.tiles[place];
    for (int d = 0; d < 3; ++d)
    {
      index[d] = away[d] < 0 ? found.size[d] - 1 : away[d] == 0 ? index[d] : 0;
    }
    return place;
  }

  /** Call f(neighbor, place in the workspace) for a tile and those around it. */
  template <typename TFunction>
  void
  ForEachTileAround(std::int64_t tile, const TFunction & f) const
  {
    const Triple & tiles = m_Grid.GetTiles();
    const Triple   at{ { tile % tiles[0], tile / tiles[0] % tiles[1], tile / (tiles[0] * tiles[1]) } };
    for (int z = -1; z <= 1; ++z)
    {
      for (int y = -1; y <= 1; ++y)
      {
        for (int x = -1; x <= 1; ++x)
        {
          if (at[0] + x >= 0 && at[0] + x < tiles[0] && at[1] + y >= 0 && at[1] + y < tiles[1] && at[2] + z >= 0 &&
              at[2] + z < tiles[2])
          {
            f(m_Grid.GetNeighborTile(tile, x, y, z), static_cast<std::size_t>((z + 1) * 9 + (y + 1) * 3 + x + 1));
          }
        }
      }
    }
  }

  bool
  LabelsMeet(std::int64_t tile, const std::vector<std::uint32_t> & tileLabels) const
  {
    if (tileLabels[tile] == 0)
    {
      return false;
    }
    bool differ = tileLabels[tile] == manyLabels;
    this->ForEachTileAround(tile, [&](std::int64_t neighbor, std::size_t) {
      differ = differ || (tileLabels[neighbor] != 0 && tileLabels[neighbor] != tileLabels[tile]);
    });
    return differ;
  }

  static bool
  Passes(std::uint32_t from, std::uint32_t to, std::uint32_t key)
  {
    return to != noKey && std::min(from, key) == to;
  }

  /** Whether a link passes on a strength. */
  bool
  Passes(std::uint32_t from, std::uint32_t to, std::int64_t voxel, const Link & link) const
  {
    return from >= to && Passes(from, to, m_Graph.GetKey(voxel, link));
  }

  /** Copy the labels of a tile and of one more voxel on each side; 0 outside of the image. */
  void
  LoadLabels(const Tile & tile, const Index & frame, Workspace & workspace) const
  {
    const Box & box = tile.box;
    workspace.labels.assign(static_cast<std::size_t>(frame[0]) * frame[1] * frame[2], TLabel{ 0 });
    Triple first;
    Triple last;
    for (int d = 0; d < 3; ++d)
    {
      first[d] = std::max<std::int64_t>(box.first[d] - 1, 0);
      last[d] = std::min(box.first[d] + box.size[d] + 1, m_Graph.size[d]);
    }
    for (std::int64_t z = first[2]; z < last[2]; ++z)
    {
      for (std::int64_t y = first[1]; y < last[1]; ++y)
      {
        const std::int64_t row = (z - box.first[2] + 1) * frame[1] + y - box.first[1] + 1;
        std::copy(m_Labels + (z * m_Graph.size[1] + y) * m_Graph.size[0] + first[0],
                  m_Labels + (z * m_Graph.size[1] + y) * m_Graph.size[0] + last[0],
                  workspace.labels.data() + row * frame[0] + first[0] - box.first[0] + 1);
      }
    }
  }

  template <typename TGetTile>
  void
  FindClaims(std::int64_t number, const TGetTile & getTile, Workspace & workspace)
  {
    this->SetTile(number, getTile, workspace);
    const Tile & tile = workspace.GetTile();
    const Index  frame{ { tile.size[0] + 2, tile.size[1] + 2, tile.size[2] + 2 } };
    this->LoadLabels(tile, frame, workspace);
    // From the first voxel of a plane to the last one, and zeros.
    const int     length = (tile.size[1] - 1) * frame[0] + tile.size[0];
    constexpr int step = sizeof(std::uint64_t) / sizeof(TLabel);
    workspace.differences.assign(length + step, TLabel{ 0 });
    TLabel * const differences = workspace.differences.data();
    for (int z = 0; z < tile.size[2]; ++z)
    {
      const TLabel * const labels = workspace.labels.data() + ((z + 1) * frame[1] + 1) * frame[0] + 1;
      std::fill_n(differences, length, TLabel{ 0 });
      for (const Link & link : m_Graph.links)
      {
        const TLabel * const others = labels + (link.z * frame[1] + link.y) * frame[0] + link.x;
        for (int i = 0; i < length; ++i)
        {
          differences[i] = static_cast<TLabel>(differences[i] | (labels[i] ^ others[i]));
        }
      }
      for (int first = 0; first < length; first += step)
      {
        std::uint64_t any;
        std::memcpy(&any, differences + first, sizeof(any));
        for (int i = first; any != 0 && i < first + step; ++i)
        {
          const Index index{ { i % frame[0], i / frame[0], z } };
          if (differences[i] != 0 && labels[i] != 0 && index[0] < tile.size[0])
          {
            this->FindClaim(workspace, index, labels + i, frame);
          }
        }
      }
    }
  }

  /** The same for one voxel, with its place among the labels: claims of its forward neighbors in the tile, and for it.
   */
  void
  FindClaim(const Workspace & workspace, const Index & index, const TLabel * label, const Index & frame)
  {
    const Tile &         tile = workspace.GetTile();
    const std::int64_t   global = this->GetGlobal(tile, index);
    const std::uint32_t  strength = this->GetStrength(tile, index, global);
    std::vector<Claim> & claims = m_Claims[tile.number];
    const auto           claim = [&](TLabel from, TLabel to, const Index & at) {
      if (!m_KeepsTies || from < to)
      {
        claims.push_back({ static_cast<std::uint16_t>(tile.GetVoxel(at)), m_KeepsTies ? from : TLabel{ 0 } });
      }
    };
    for (const Link & link : m_Graph.links)
    {
      const TLabel other = label[(link.z * frame[1] + link.y) * frame[0] + link.x];
      Index        at = Add(index, link);
      const bool   isInside = tile.IsInside(at);
      if (other == 0 || other == *label || (isInside && !TileGrid::IsForward(link)))
      {
        continue;
      }
      const Tile &        tileAt = isInside ? tile : workspace.tiles[FindTile(workspace, at)];
      const std::uint32_t strengthAt = this->GetStrength(tileAt, at, global + link.stride);
      const std::uint32_t key = m_Graph.GetKey(global, link); // of the link back, too
      if (Passes(strengthAt, strength, key))
      {
        claim(other, *label, index);
      }
      if (isInside && Passes(strength, strengthAt, key))
      {
        claim(*label, other, at);
      }
    }
  }

  /** Let the labels of claims spread within a tile, and claim voxels of other tiles. */
  template <typename TGetTile>
  void
  Spread(std::int64_t number, const TGetTile & getTile, Workspace & workspace, std::vector<std::vector<Claim>> & next)
  {
    this->SetTile(number, getTile, workspace);
    const Tile & tile = workspace.GetTile();
    // With the lowest label first, no voxel changes twice.
    std::vector<Claim> & claims = m_Claims[number];
    std::sort(claims.begin(), claims.end(), [](const Claim & a, const Claim & b) { return a.label < b.label; });
    for (const Claim & claim : claims)
    {
      const auto isNews = [&](TLabel label) { return m_KeepsTies ? claim.label < label : claim.label != label; };
      const auto settle = [&](const Index & index, std::int64_t global) {
        m_Labels[global] = claim.label;
        workspace.changed.push_back(index);
      };
      const Index        claimed = tile.GetIndex(claim.voxel);
      const std::int64_t claimGlobal = this->GetGlobal(tile, claimed);
      if (isNews(m_Labels[claimGlobal]))
      {
        settle(claimed, claimGlobal);
      }
      while (!workspace.changed.empty())
      {
        const Index index = workspace.changed.back();
        workspace.changed.pop_back();
        const std::int64_t  global = this->GetGlobal(tile, index);
        const std::uint32_t strength = this->GetStrength(tile, index, global);
        for (const Link & link : m_Graph.links)
        {
          Index              at = Add(index, link);
          const std::int64_t globalAt = global + link.stride;
          if (tile.IsInside(at))
          {
            if (isNews(m_Labels[globalAt]) &&
                this->Passes(strength, this->GetStrength(tile, at, globalAt), global, link))
            {
              settle(at, globalAt);
            }
            continue;
          }
          // Another task may change the labels of other tiles.
          const std::size_t place = FindTile(workspace, at);
          const Tile &      tileAt = workspace.tiles[place];
          if (tileAt.number >= 0 && this->Passes(strength, this->GetStrength(tileAt, at, globalAt), global, link))
          {
            workspace.claims[place].push_back({ static_cast<std::uint16_t>(tileAt.GetVoxel(at)), claim.label });
          }
        }
      }
    }
    for (std::size_t place = 0; place < workspace.tiles.size(); ++place)
    {
      std::vector<Claim> & made = workspace.claims[place];
      if (!made.empty())
      {
        const std::lock_guard<std::mutex> lock(m_Mutex);
        std::vector<Claim> &              list = next[workspace.tiles[place].number];
        list.insert(list.end(), made.begin(), made.end());
        made.clear();
      }
    }
  }

  const ConnectednessGraph &      m_Graph;
  const TileGrid &                m_Grid;
  const bool                      m_KeepsTies;
  const std::uint32_t             m_MinKey;
  TLabel * const                  m_Labels;
  const JobExecution &            m_Execution;
  std::vector<std::vector<Claim>> m_Claims; // of the voxels of every tile
  std::mutex                      m_Mutex;
};
} // namespace voxelmaps

#endif // LabelTies_h
