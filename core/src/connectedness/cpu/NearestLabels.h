// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef NearestLabels_h
#define NearestLabels_h

#include "connectedness/TileGrid.h"
#include "connectedness/cpu/NearestLabelsRow.h"

#include "common/HostMemory.h"
#include "common/ParallelFor.h"
#include "connectedness/TieDistances.h"
#include "window/cpu/TileKernel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace voxelmaps
{
/** For every voxel of the zone of ties, one bit for each link along which no label arrives from the voxel there; for
 * other voxels all bits. Links to voxels without a set and out of the image, where there are no keys, are not blocked,
 * so that few words are neither 0 nor all bits. */
inline void
FindBlockedLinks(const RelativeFuzzyConnectednessJob & job, const std::vector<Link> & links, const TieSetView & view,
                 const std::uint32_t * sets, std::uint32_t * blocked)
{
  const Triple &     size = job.size;
  const std::int64_t rows = size[1] * size[2];
  // A tie of two labels is one of all.
  const bool canBlock = view.numberOfLabels > 2;
  ForEachTask(rows, job.execution, [&](unsigned int) {
    return [&](std::int64_t row) {
      const std::int64_t first = row * size[0];
      std::uint32_t      any = 0;
      for (std::int64_t voxel = first; voxel < first + size[0]; ++voxel)
      {
        blocked[voxel] = view.IsTie(sets[voxel]) ? 0u : allBlocked;
        any |= ~blocked[voxel];
      }
      for (std::size_t l = 0; any != 0 && canBlock && l < links.size(); ++l)
      {
        const Link &       link = links[l];
        const std::int64_t y = row % size[1] + link.y;
        const std::int64_t z = row / size[1] + link.z;
        if (y < 0 || y >= size[1] || z < 0 || z >= size[2])
        {
          continue;
        }
        const std::int64_t begin = first + std::max(-link.x, 0);
        const std::int64_t end = first + size[0] - std::max(link.x, 0);
        const auto         block = [&](const auto & isBlocked) {
          for (std::int64_t voxel = begin; voxel < end; ++voxel)
          {
            blocked[voxel] |= (isBlocked(sets[voxel], sets[voxel + link.stride]) ? 1u : 0u) << l;
          }
        };
        if (view.AreWords())
        {
          block([](std::uint32_t set, std::uint32_t other) { return (other & ~set) != 0; });
        }
        else
        {
          block([&view](std::uint32_t set, std::uint32_t other) {
            return set != other && other != 0 && view.IsTie(set) && !view.Includes(set, other);
          });
        }
      }
      job.execution.CheckAbort();
    };
  });
}

/** Gives voxels in the zone of ties the nearest label, as TieDistances defines it.
 *
 * Every tile of the image passes keys on within itself until nothing changes, and wakes the tiles next to it that a
 * change may reach. Tiles that are computed at the same time are not neighbors: one is left out between any two.
 *
 * \tparam TKey 32 bits are faster; 64 bits are needed if Settle() returns false with them. */
template <typename TKey, typename TLabel>
class NearestLabels
{
public:
  /** blocked is what FindBlockedLinks() finds; keys is memory for all voxels. */
  NearestLabels(const RelativeFuzzyConnectednessJob & job, const TieDistances & distances,
                const std::uint32_t * blocked, TKey * keys)
    : m_Job(job)
    , m_Distances(distances)
    , m_Blocked(blocked)
    , m_Labels(static_cast<TLabel *>(job.labelOutput))
    , m_TileSize(job.size[2] > 1 ? Triple{ { 32, 16, 16 } } : Triple{ { 64, 64, 1 } })
    , m_Grid(job.size, m_TileSize)
    , m_Keys(keys)
    , m_IsAwake(static_cast<std::size_t>(m_Grid.GetNumberOfTiles()))
    , m_HasTies(m_IsAwake.size(), 0)
    , m_WasSettled(m_IsAwake.size(), 0)
    , m_IsMixed(this->GetRow(m_Grid.GetNumberOfTiles(), 0))
  {
    for (int d = 0; d < 3; ++d)
    {
      m_Tiles[d] = (job.size[d] + m_TileSize[d] - 1) / m_TileSize[d];
    }
    for (std::size_t i = 0; i < distances.links.size(); ++i)
    {
      const Link & link = distances.links[i];
      (link.y == 0 && link.z == 0  ? m_AlongX
       : TileGrid::IsForward(link) ? m_Behind
                                   : m_Ahead)
        .push_back({ ((link.z * (m_TileSize[1] + 2)) + link.y) * (m_TileSize[0] + 2) + link.x,
                     static_cast<TKey>(distances.stepKeys[i]),
                     static_cast<int>(i) });
      const RowStep row{ link.y, link.z };
      if ((row.y != 0 || row.z != 0) && std::none_of(m_RowSteps.begin(), m_RowSteps.end(), [&](const RowStep & other) {
            return other.y == row.y && other.z == row.z;
          }))
      {
        m_RowSteps.push_back(row);
      }
    }
  }

  /** Change the labels of the zone that paths lead to. Returns whether there are such paths to all of it whose keys fit
   * into TKey. */
  bool
  Settle()
  {
    constexpr std::uint64_t maxStep = std::uint64_t{ unreached } / 4;
    if (std::any_of(
          m_Distances.stepKeys.begin(), m_Distances.stepKeys.end(), [](std::uint64_t step) { return step > maxStep; }))
    {
      return false;
    }
    this->ForEachTile(this->Select([](std::int64_t) { return true; }),
                      [this](std::int64_t tile, Workspace &) { this->StartTile(tile); });
    this->PassOnAll();
    std::atomic<bool> fits{ true };
    this->ForEachTie([&](std::int64_t voxel) {
      if (m_Keys[voxel] != unreached)
      {
        m_Labels[voxel] = static_cast<TLabel>(m_Distances.rankLabels[m_Keys[voxel] & this->GetRankMask()]);
      }
      else
      {
        fits = false;
      }
    });
    return fits;
  }

  /** Write the margins of the zone, whose labels Settle() has changed. */
  template <typename TReal>
  void
  WriteMargins(TReal * margins)
  {
    const auto              voxels = static_cast<std::size_t>(m_Job.GetNumberOfVoxels());
    const TKey * const      nearest = m_Keys;
    std::unique_ptr<TKey[]> across(new TKey[voxels]);
    UseHugePages(across.get(), voxels * sizeof(TKey));
    m_Keys = across.get();
    this->ForEachTile(this->Select([](std::int64_t) { return true; }), [&](std::int64_t tile, Workspace &) {
      m_IsAwake[tile] = m_HasTies[tile];
      m_WasSettled[tile] = 0;
      m_Grid.ForEachRow(m_Grid.GetBox(tile), [&](std::int64_t first, int, int count) {
        for (std::int64_t voxel = first; voxel < first + count; ++voxel)
        {
          m_Keys[voxel] = this->IsTie(voxel) ? this->GetKeyAcross(voxel, nearest) : outside;
        }
      });
    });
    this->PassOnAll();
    this->ForEachTie([&](std::int64_t voxel) {
      const TKey key = m_Keys[voxel];
      const auto lead =
        (std::uint64_t{ key } >> m_Distances.rankBits) - (std::uint64_t{ nearest[voxel] } >> m_Distances.rankBits);
      margins[voxel] = static_cast<TReal>(GetTieMargin(nearest[voxel] == unreached ? 0
                                                       : key == unreached          ? noLead
                                                                                   : lead));
    });
  }

private:
  // A key of the zone that no path has reached, above all others; all bits: outside of the zone, without a label.
  static constexpr TKey unreached = unreachedKey<TKey>;
  static constexpr TKey outside = std::numeric_limits<TKey>::max();

  // What rows are due for.
  static constexpr std::uint8_t before = 1;
  static constexpr std::uint8_t behind = 2;
  static constexpr std::uint8_t along = 4;
  static constexpr std::uint8_t allDirections = before | behind | along;
  using Step = NearestLabelsStep<TKey>;
  using Row = NearestLabelsRow<TKey>;

  /** From a row to another one. */
  struct RowStep
  {
    int y;
    int z;
  };

  /** The keys of a tile and of the voxels around it; for each row, whether the rows before and behind it in memory have
   * changed since it was computed, and whether it is to be computed along itself in any case. */
  struct Workspace
  {
    std::vector<TKey>         keys;
    std::vector<std::uint8_t> due;
  };

  template <typename TIsSelected>
  std::vector<std::int64_t>
  Select(const TIsSelected & isSelected) const
  {
    std::vector<std::int64_t> tiles;
    for (std::int64_t tile = 0; tile < m_Grid.GetNumberOfTiles(); ++tile)
    {
      if (isSelected(tile))
      {
        tiles.push_back(tile);
      }
    }
    return tiles;
  }

  template <typename TFunction>
  void
  ForEachTile(const std::vector<std::int64_t> & tiles, const TFunction & f) const
  {
    ForEachTask(static_cast<std::int64_t>(tiles.size()), m_Job.execution, [&](unsigned int) {
      return [&, workspace = Workspace()](std::int64_t i) mutable {
        f(tiles[i], workspace);
        m_Job.execution.CheckAbort();
      };
    });
  }

  /** Whether a voxel is in the zone of ties. */
  bool
  IsTie(std::int64_t voxel) const
  {
    return m_Blocked[voxel] != allBlocked;
  }

  /** The number of a row of a tile among all. */
  std::int64_t
  GetRow(std::int64_t tile, std::int64_t row) const
  {
    return tile * m_TileSize[1] * m_TileSize[2] + row;
  }

  /** Blocked links of the voxels of a row of a tile. */
  const std::uint32_t *
  GetBlocked(const TileGrid::Box & box, std::int64_t y, std::int64_t z) const
  {
    return m_Blocked + ((box.first[2] + z) * m_Job.size[1] + box.first[1] + y) * m_Job.size[0] + box.first[0];
  }

  /** Call f(voxel) for all voxels of the zone. */
  template <typename TFunction>
  void
  ForEachTie(const TFunction & f) const
  {
    this->ForEachTile(this->Select([this](std::int64_t tile) { return m_HasTies[tile] != 0; }),
                      [&](std::int64_t tile, Workspace &) {
                        m_Grid.ForEachRow(m_Grid.GetBox(tile), [&](std::int64_t first, int, int count) {
                          for (std::int64_t voxel = first; voxel < first + count; ++voxel)
                          {
                            if (this->IsTie(voxel))
                            {
                              f(voxel);
                            }
                          }
                        });
                      });
  }

  TKey
  GetRankMask() const
  {
    return static_cast<TKey>((std::uint64_t{ 1 } << m_Distances.rankBits) - 1);
  }

  /** Let tiles that are awake pass keys on, until none is. */
  void
  PassOnAll()
  {
    // In each of the eight classes, tiles are an even number apart along every axis.
    for (bool isDone = false; !isDone;)
    {
      isDone = true;
      for (int parity = 0; parity < 8; ++parity)
      {
        const auto tiles =
          this->Select([&](std::int64_t tile) { return m_IsAwake[tile] != 0 && this->GetParity(tile) == parity; });
        isDone = isDone && tiles.empty();
        this->ForEachTile(tiles, [this](std::int64_t tile, Workspace & workspace) {
          m_IsAwake[tile] = 0;
          this->PassOn(tile, workspace);
        });
      }
    }
  }

  /** The key of the shortest path from a voxel that begins with a link to a voxel of another label. */
  TKey
  GetKeyAcross(std::int64_t voxel, const TKey * nearest) const
  {
    const Triple & size = m_Job.size;
    const Triple   at{ { voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1]) } };
    const TKey     mask = this->GetRankMask();
    TKey           key = unreached;
    for (std::size_t i = 0; i < m_Distances.links.size(); ++i)
    {
      const Link & link = m_Distances.links[i];
      const Triple to{ { at[0] + link.x, at[1] + link.y, at[2] + link.z } };
      const bool   isInside =
        to[0] >= 0 && to[0] < size[0] && to[1] >= 0 && to[1] < size[1] && to[2] >= 0 && to[2] < size[2];
      const TKey neighbor = isInside && (m_Blocked[voxel] >> i & 1u) == 0 ? nearest[voxel + link.stride] : outside;
      if (neighbor != outside && ((neighbor ^ nearest[voxel]) & mask) != 0)
      {
        key = std::min<TKey>(key, static_cast<TKey>((neighbor & ~mask) + m_Distances.stepKeys[i]));
      }
    }
    return key;
  }

  Triple
  GetPlace(std::int64_t tile) const
  {
    return { { tile % m_Tiles[0], tile / m_Tiles[0] % m_Tiles[1], tile / (m_Tiles[0] * m_Tiles[1]) } };
  }

  int
  GetParity(std::int64_t tile) const
  {
    const Triple place = this->GetPlace(tile);
    return static_cast<int>(place[0] % 2 + 2 * (place[1] % 2) + 4 * (place[2] % 2));
  }

  void
  StartTile(std::int64_t tile)
  {
    bool any = false;
    m_Grid.ForEachRow(m_Grid.GetBox(tile), [&](std::int64_t first, int local, int count) {
      std::uint32_t mixed = 0;
      for (std::int64_t voxel = first; voxel < first + count; ++voxel)
      {
        any = any || this->IsTie(voxel);
        // 0 and all bits become 1 and 0.
        mixed |= (m_Blocked[voxel] + 1) & ~1u;
        m_Keys[voxel] = this->IsTie(voxel)     ? unreached
                        : m_Labels[voxel] != 0 ? static_cast<TKey>(m_Distances.labelRanks[m_Labels[voxel]])
                                               : outside;
      }
      m_IsMixed[this->GetRow(tile, local / count)] = mixed != 0 ? 1 : 0;
    });
    m_HasTies[tile] = any ? 1 : 0;
    m_IsAwake[tile] = m_HasTies[tile];
  }

  /** Copy the keys of a tile and around it. Returns whether one of them has been reached. */
  bool
  Load(const TileGrid::Box & box, std::vector<TKey> & workspace) const
  {
    const Triple &     size = m_Job.size;
    const std::int64_t begin = box.first[0] > 0 ? -1 : 0;
    const std::int64_t end = box.size[0] + (box.first[0] + box.size[0] < size[0] ? 1 : 0);
    TKey               smallest = unreached;
    workspace.resize((m_TileSize[0] + 2) * (m_TileSize[1] + 2) * (m_TileSize[2] + 2));
    for (std::int64_t z = box.first[2] - 1; z <= box.first[2] + box.size[2]; ++z)
    {
      for (std::int64_t y = box.first[1] - 1; y <= box.first[1] + box.size[1]; ++y)
      {
        TKey * const keys = workspace.data() + this->GetLocal(0, y - box.first[1], z - box.first[2]);
        keys[-1] = keys[box.size[0]] = unreached;
        if (y < 0 || y >= size[1] || z < 0 || z >= size[2])
        {
          std::fill_n(keys, box.size[0], unreached);
          continue;
        }
        const TKey * const from = m_Keys + (z * size[1] + y) * size[0] + box.first[0];
        for (std::int64_t x = begin; x < end; ++x)
        {
          keys[x] = std::min(from[x], unreached);
          smallest = std::min(smallest, keys[x]);
        }
      }
    }
    return smallest != unreached;
  }

  /** Place in the workspace of a voxel of the tile. */
  std::int64_t
  GetLocal(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return ((z + 1) * (m_TileSize[1] + 2) + y + 1) * (m_TileSize[0] + 2) + x + 1;
  }

  /** Rows that have to be computed: all at first, and later those that a change around the tile may reach. */
  void
  FindDueRows(std::int64_t tile, const TileGrid::Box & box, Workspace & workspace)
  {
    const std::int64_t rows = box.size[1] * box.size[2];
    workspace.due.assign(static_cast<std::size_t>(rows), allDirections);
    if (m_WasSettled[tile] == 0)
    {
      m_WasSettled[tile] = 1;
      return;
    }
    const auto isChanged = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const TKey * const  keys = workspace.keys.data() + this->GetLocal(x, y, z);
      const std::uint32_t blocked = this->GetBlocked(box, y, z)[x];
      const auto          isShorter = [&](const Step & step) {
        return (blocked >> step.bit & 1u) == 0 && static_cast<TKey>(keys[step.stride] + step.key) < keys[0];
      };
      return std::any_of(m_AlongX.begin(), m_AlongX.end(), isShorter) ||
             std::any_of(m_Ahead.begin(), m_Ahead.end(), isShorter) ||
             std::any_of(m_Behind.begin(), m_Behind.end(), isShorter);
    };
    // A change around the tile reaches rows at its faces, and others at their ends.
    const bool isFlat = m_Job.size[2] == 1;
    for (std::int64_t z = isFlat ? 0 : 1; z < (isFlat ? 1 : box.size[2] - 1); ++z)
    {
      for (std::int64_t y = 1; y < box.size[1] - 1; ++y)
      {
        workspace.due[z * box.size[1] + y] = isChanged(0, y, z) || isChanged(box.size[0] - 1, y, z) ? allDirections : 0;
      }
    }
  }

  /** Let the rows next to a row that has changed be due. */
  void
  SetDueNextTo(const TileGrid::Box & box, std::int64_t row, std::vector<std::uint8_t> & due) const
  {
    for (const RowStep & step : m_RowSteps)
    {
      const std::int64_t y = row % box.size[1] + step.y;
      const std::int64_t z = row / box.size[1] + step.z;
      if (y >= 0 && y < box.size[1] && z >= 0 && z < box.size[2])
      {
        const bool isBehind = step.z > 0 || (step.z == 0 && step.y > 0);
        due[z * box.size[1] + y] |= isBehind ? before : behind;
      }
    }
  }

  /** Pass keys on in a tile until nothing changes. */
  void
  PassOn(std::int64_t tile, Workspace & workspace)
  {
    const TileGrid::Box box = m_Grid.GetBox(tile);
    if (!this->Load(box, workspace.keys))
    {
      return;
    }
    const std::int64_t rows = box.size[1] * box.size[2];
    this->FindDueRows(tile, box, workspace);
    const auto passOnIfDue = [&](const std::vector<Step> & steps, std::uint8_t which, std::int64_t number) {
      std::uint8_t & due = workspace.due[number];
      if ((due & which) == 0)
      {
        return false;
      }
      const std::int64_t y = number % box.size[1];
      const std::int64_t z = number / box.size[1];
      const Row          row{ workspace.keys.data() + this->GetLocal(0, y, z),
                     this->GetBlocked(box, y, z),
                     box.size[0],
                     steps.data(),
                     static_cast<std::int64_t>(steps.size()),
                     m_AlongX.data(),
                     m_IsMixed[this->GetRow(tile, number)] != 0,
                     (due & along) == 0 };
      due = static_cast<std::uint8_t>(due & ~(which | along));
      if (m_Kernel(row) != 0)
      {
        this->SetDueNextTo(box, number, workspace.due);
      }
      return true;
    };
    for (bool isDone = false; !isDone;)
    {
      isDone = true;
      for (std::int64_t row = 0; row < rows; ++row)
      {
        isDone = !passOnIfDue(m_Ahead, before, row) && isDone;
      }
      for (std::int64_t row = rows - 1; row >= 0; --row)
      {
        isDone = !passOnIfDue(m_Behind, behind, row) && isDone;
      }
    }

    // Whether a voxel of the first, of any, and of the last plane along every axis has changed.
    bool planes[3][3] = {};
    m_Grid.ForEachRow(box, [&](std::int64_t first, int local, int count) {
      const std::int64_t          row = local / count;
      const std::int64_t          y = row % box.size[1];
      const std::int64_t          z = row / box.size[1];
      const TKey * const          keys = workspace.keys.data() + this->GetLocal(0, y, z);
      const std::uint32_t * const blocked = m_Blocked + first;
      TKey                        changed = 0;
      TKey * const                out = m_Keys + first;
      for (int x = 0; x < count; ++x)
      {
        changed |= (keys[x] ^ out[x]) & (blocked[x] != allBlocked ? ~TKey{ 0 } : TKey{ 0 });
      }
      if (changed == 0)
      {
        return;
      }
      planes[0][0] = planes[0][0] || keys[0] != std::min(out[0], unreached);
      planes[0][2] = planes[0][2] || keys[count - 1] != std::min(out[count - 1], unreached);
      planes[1][0] = planes[1][0] || y == 0;
      planes[1][2] = planes[1][2] || y == box.size[1] - 1;
      planes[2][0] = planes[2][0] || z == 0;
      planes[2][2] = planes[2][2] || z == box.size[2] - 1;
      planes[0][1] = planes[1][1] = planes[2][1] = true;
      for (int x = 0; x < count; ++x)
      {
        out[x] = blocked[x] != allBlocked ? keys[x] : out[x];
      }
    });
    const Triple place = this->GetPlace(tile);
    const auto   isTile = [&](int d, int step) { return place[d] + step >= 0 && place[d] + step < m_Tiles[d]; };
    for (int z = -1; z <= 1; ++z)
    {
      for (int y = -1; y <= 1; ++y)
      {
        for (int x = -1; x <= 1; ++x)
        {
          if ((x != 0 || y != 0 || z != 0) && isTile(0, x) && isTile(1, y) && isTile(2, z) && planes[0][x + 1] &&
              planes[1][y + 1] && planes[2][z + 1])
          {
            const std::int64_t neighbor = m_Grid.GetNeighborTile(tile, x, y, z);
            if (m_HasTies[neighbor] != 0)
            {
              m_IsAwake[neighbor] = 1;
            }
          }
        }
      }
    }
  }

  const RelativeFuzzyConnectednessJob &  m_Job;
  const TieDistances &                   m_Distances;
  const std::uint32_t * const            m_Blocked;
  TLabel * const                         m_Labels;
  const Triple                           m_TileSize;
  const TileGrid                         m_Grid;
  Triple                                 m_Tiles;
  TKey *                                 m_Keys;
  std::vector<std::atomic<std::uint8_t>> m_IsAwake;
  std::vector<std::uint8_t>              m_HasTies;
  std::vector<std::uint8_t>              m_WasSettled;
  // Of the rows of all tiles, whether some voxels have both blocked and other links.
  std::vector<std::uint8_t> m_IsMixed;
  // Steps to rows before and behind in memory, and those along a row.
  std::vector<Step> m_Ahead;
  std::vector<Step> m_Behind;
  std::vector<Step> m_AlongX;
  // From a row to those that its voxels have links to.
  std::vector<RowStep> m_RowSteps;
  TKey (*const m_Kernel)(const Row & row) = ChooseKernel<TKey (*)(const Row &)>(InstructionSet::AVX512,
                                                                                VOXELMAPS_KERNELS(PassKeysOn));
};

/** Give voxels in the zone of ties the nearest label. Voxels have sets of strongest labels, whose memory is used;
 * labels of those that no label arrives at stay as they are. */
inline void
SettleTiesByDistance(const RelativeFuzzyConnectednessJob & job, const TieDistances & distances, const TieSets & sets,
                     std::uint32_t * voxelSets)
{
  const auto                             voxels = static_cast<std::size_t>(job.GetNumberOfVoxels());
  const std::unique_ptr<std::uint32_t[]> blocked(new std::uint32_t[voxels]);
  UseHugePages(blocked.get(), voxels * sizeof(std::uint32_t));
  FindBlockedLinks(job, distances.links, sets.GetView(), voxelSets, blocked.get());
  const auto settle = [&](auto label) {
    using Label = decltype(label);
    if (job.marginOutput == nullptr &&
        NearestLabels<std::uint32_t, Label>(job, distances, blocked.get(), voxelSets).Settle())
    {
      return;
    }
    // Keys of 64 bits are those of all paths, so that what is not reached has no other label.
    const std::unique_ptr<std::uint64_t[]> keys(new std::uint64_t[voxels]);
    UseHugePages(keys.get(), voxels * sizeof(std::uint64_t));
    NearestLabels<std::uint64_t, Label> nearest(job, distances, blocked.get(), keys.get());
    nearest.Settle();
    if (job.marginOutput != nullptr)
    {
      job.outputIsDouble ? nearest.WriteMargins(static_cast<double *>(job.marginOutput))
                         : nearest.WriteMargins(static_cast<float *>(job.marginOutput));
    }
  };
  job.labelsAre16Bit ? settle(std::uint16_t{ 0 }) : settle(std::uint8_t{ 0 });
}
} // namespace voxelmaps

#endif // NearestLabels_h
