// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef HierarchyMethod_h
#define HierarchyMethod_h

#include "ContractedTiles.h"

#include <utility>
#include <vector>

namespace voxelmaps
{
/** Contracts the voxels of every tile to few components, then these components across tiles; then strengths go back
 * down the same steps. Contraction explains why this is exact. The time does not depend on where the seeds are.
 *
 * Memory per voxel on noisy CT, besides image and keys: up to 9 bytes with 6 neighbors, 13 with 26. Most of it holds
 * the links between components, of which there are two copies for a moment. */
class HierarchyMethod
{
public:
  HierarchyMethod(const FuzzyConnectednessJob & job, std::uint32_t * keys)
    : m_Job(job)
    , m_Keys(keys)
    , m_Graph(job, MinKey(job))
    , m_Tiles(m_Graph, ContractedTiles::GetDefaultTileSize(job.size))
  {}

  void
  Run()
  {
    const auto seeds = m_Tiles.SortSeeds(m_Job.seeds);
    m_Tiles.Build(seeds, m_Keys, m_Job.execution);
    this->ContractAll(seeds);
    ForEachTask(m_Tiles.grid.GetNumberOfTiles(), m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t tile) { this->FinishTile(tile); };
    });
  }

private:
  using Seed = ContractedTiles::Seed;

  /** Contract the components of all tiles, and compute their strengths. */
  void
  ContractAll(const std::vector<Seed> & seeds)
  {
    const auto  checkAbort = [this] { m_Job.execution.CheckAbort(); };
    Contraction graph;
    graph.TakeLinks(m_Tiles.links, checkAbort);
    graph.Start(m_Tiles.GetNumberOfComponents());
    graph.leaving.assign(m_Tiles.GetNumberOfComponents(), noKey);
    for (const Seed & seed : seeds)
    {
      graph.leaving[m_Tiles.GetComponent(seed.tile, seed.voxel)] = seedKey;
    }
    graph.Run(checkAbort);
    // A component without a seed has no links any more.
    m_Strengths.swap(graph.leaving);
    graph.ExpandStrengths(m_Strengths, checkAbort);
  }

  void
  FinishTile(std::int64_t tile)
  {
    const TileGrid::Box         box = m_Tiles.grid.GetBox(tile);
    const std::uint32_t * const strengths = m_Strengths.data() + m_Tiles.firstComponents[tile];
    m_Tiles.grid.ForEachRow(box, [&](std::int64_t global, int, int count) {
      std::uint32_t * const       keys = m_Keys + global;
      const std::uint16_t * const numbers = m_Tiles.numbers.get() + global;
      for (int i = 0; i < count; ++i)
      {
        const std::uint32_t strength = strengths[numbers[i]];
        keys[i] = strength < keys[i] ? strength : keys[i];
      }
    });
    m_Job.execution.ReportProgress(box.GetNumberOfVoxels() / 4);
  }

  const FuzzyConnectednessJob & m_Job;
  std::uint32_t * const         m_Keys;
  const ConnectednessGraph      m_Graph;
  ContractedTiles               m_Tiles;
  std::vector<std::uint32_t>    m_Strengths;
};
} // namespace voxelmaps

#endif // HierarchyMethod_h
