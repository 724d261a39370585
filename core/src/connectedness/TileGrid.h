// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TileGrid_h
#define TileGrid_h

#include "connectedness/AffinityPlan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** An image divided into tiles, which are numbered like voxels, x fastest. */
class TileGrid
{
public:
  /** First voxel and size of a tile, clipped to the image. */
  struct Box
  {
    Triple first;
    Triple size;
    int
    GetNumberOfVoxels() const
    {
      return static_cast<int>(size[0] * size[1] * size[2]);
    }
  };

  TileGrid(const Triple & imageSize, const Triple & tileSize)
    : m_ImageSize(imageSize)
    , m_TileSize(tileSize)
  {
    for (int d = 0; d < 3; ++d)
    {
      m_Tiles[d] = (m_ImageSize[d] + m_TileSize[d] - 1) / m_TileSize[d];
    }
  }

  std::int64_t
  GetNumberOfTiles() const
  {
    return m_Tiles[0] * m_Tiles[1] * m_Tiles[2];
  }

  std::int64_t
  GetTileNumber(std::int64_t voxel) const
  {
    const std::int64_t row = voxel / m_ImageSize[0];
    return this->GetTileAt({ { voxel % m_ImageSize[0], row % m_ImageSize[1], row / m_ImageSize[1] } });
  }

  /** The tile of the voxel at an index. */
  std::int64_t
  GetTileAt(const Triple & at) const
  {
    return this->GetNeighborTile(0, at[0] / m_TileSize[0], at[1] / m_TileSize[1], at[2] / m_TileSize[2]);
  }

  /** The tile that is so many tiles away along each axis. */
  std::int64_t
  GetNeighborTile(std::int64_t tile, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return tile + (z * m_Tiles[1] + y) * m_Tiles[0] + x;
  }

  /** Number within its tile of a voxel. */
  std::int64_t
  GetLocal(const Box & box, std::int64_t voxel) const
  {
    const std::int64_t row = voxel / m_ImageSize[0];
    const std::int64_t x = voxel % m_ImageSize[0] - box.first[0];
    const std::int64_t y = row % m_ImageSize[1] - box.first[1];
    const std::int64_t z = row / m_ImageSize[1] - box.first[2];
    return (z * box.size[1] + y) * box.size[0] + x;
  }

  /** Whether a link leads to a voxel behind in memory: one of the two links between any two neighbors does. */
  static bool
  IsForward(const Link & link)
  {
    return link.z > 0 || (link.z == 0 && (link.y > 0 || (link.y == 0 && link.x > 0)));
  }

  Box
  GetBox(std::int64_t tile) const
  {
    Box box{ { { tile % m_Tiles[0], tile / m_Tiles[0] % m_Tiles[1], tile / (m_Tiles[0] * m_Tiles[1]) } }, {} };
    for (int d = 0; d < 3; ++d)
    {
      box.first[d] *= m_TileSize[d];
      box.size[d] = std::min(m_TileSize[d], m_ImageSize[d] - box.first[d]);
    }
    return box;
  }

  /** Call f(voxel, number within the tile, count) for all rows of a tile. */
  template <typename TFunction>
  void
  ForEachRow(const Box & box, const TFunction & f) const
  {
    int local = 0;
    for (std::int64_t z = 0; z < box.size[2]; ++z)
    {
      for (std::int64_t y = 0; y < box.size[1]; ++y, local += static_cast<int>(box.size[0]))
      {
        f(((box.first[2] + z) * m_ImageSize[1] + box.first[1] + y) * m_ImageSize[0] + box.first[0],
          local,
          static_cast<int>(box.size[0]));
      }
    }
  }

  /** For one link of every voxel of a tile, call f(voxel, number within the tile, count, tile at the other end) for all
   * parts of rows whose links lead to the same tile. */
  template <typename TFunction>
  void
  ForEachPart(std::int64_t tile, const Box & box, const Link & link, const TFunction & f) const
  {
    const auto         getSide = [](std::int64_t at, std::int64_t size) { return at < 0 ? -1 : at < size ? 0 : 1; };
    const std::int64_t nx = box.size[0];
    const int          local = link.x < 0 ? 1 : 0;
    const auto         inside = static_cast<int>(nx - (link.x != 0 ? 1 : 0));
    std::int64_t       row = 0;
    for (std::int64_t z = 0; z < box.size[2]; ++z)
    {
      for (std::int64_t y = 0; y < box.size[1]; ++y, ++row)
      {
        const std::int64_t globalY = box.first[1] + y;
        const std::int64_t globalZ = box.first[2] + z;
        if (getSide(globalY + link.y, m_ImageSize[1]) != 0 || getSide(globalZ + link.z, m_ImageSize[2]) != 0)
        {
          continue;
        }
        const std::int64_t first = (globalZ * m_ImageSize[1] + globalY) * m_ImageSize[0] + box.first[0];
        const std::int64_t other =
          this->GetNeighborTile(tile, 0, getSide(y + link.y, box.size[1]), getSide(z + link.z, box.size[2]));
        f(first + local, static_cast<int>(row * nx) + local, inside, other);
        if (link.x < 0 && box.first[0] > 0)
        {
          f(first, static_cast<int>(row * nx), 1, other - 1);
        }
        if (link.x > 0 && box.first[0] + nx < m_ImageSize[0])
        {
          f(first + nx - 1, static_cast<int>(row * nx + nx - 1), 1, other + 1);
        }
      }
    }
  }

  /** Call f(link, voxel, count, tile at the other end) for all forward links to other tiles. */
  template <typename TFunction>
  void
  ForEachPartAhead(const std::vector<Link> & links, std::int64_t tile, const Box & box, const TFunction & f) const
  {
    for (const Link & link : links)
    {
      if (IsForward(link))
      {
        this->ForEachPart(tile, box, link, [&](std::int64_t global, int, int count, std::int64_t other) {
          if (other != tile && count > 0)
          {
            f(link, global, count, other);
          }
        });
      }
    }
  }

private:
  Triple m_ImageSize;
  Triple m_TileSize;
  Triple m_Tiles;
};
} // namespace voxelmaps

#endif // TileGrid_h
