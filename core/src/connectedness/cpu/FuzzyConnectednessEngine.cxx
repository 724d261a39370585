// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/Methods.h"
#include "connectedness/ConnectednessKeyEngines.h"
#include "connectedness/VerifyJob.h"
#include "ContractedTiles.h"
#include "connectedness/AffinityPlan.h"
#include "VectorVoxels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <queue>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace voxelmaps
{
namespace
{
// The work of a few milliseconds.
constexpr std::uint64_t voxelsBetweenReports = 65536;

/** Call f(neighbor, weight of the link) for all neighbors of a voxel in the image. */
template <typename TFunction>
void
ForEachNeighbor(const Triple & size, const std::vector<Link> & links, std::int64_t voxel, const TFunction & f)
{
  const std::int64_t x = voxel % size[0];
  const std::int64_t row = voxel / size[0];
  const std::int64_t y = row % size[1];
  const std::int64_t z = row / size[1];
  const bool         interior =
    x > 0 && x < size[0] - 1 && y > 0 && y < size[1] - 1 && (size[2] == 1 || (z > 0 && z < size[2] - 1));
  if (interior)
  {
    for (const Link & link : links)
    {
      f(voxel + link.stride, link.weight);
    }
    return;
  }
  for (const Link & link : links)
  {
    const std::int64_t nx = x + link.x;
    const std::int64_t ny = y + link.y;
    const std::int64_t nz = z + link.z;
    if (nx >= 0 && nx < size[0] && ny >= 0 && ny < size[1] && nz >= 0 && nz < size[2])
    {
      f(voxel + link.stride, link.weight);
    }
  }
}

/** Settles the strongest voxel first, so that every voxel is settled once (Dijkstra's algorithm with Dial's buckets).
 *
 * Offers wait in coarse buckets of keys. Only the offers of the strongest bucket are sorted, by a heap small enough for
 * the cache. Voxels that a settled voxel reaches over links not weaker than itself get its strength and are settled by
 * flooding. Offers that a stronger one has overtaken stay in their bucket and are skipped. TIndex can hold the number
 * of any voxel. */
template <typename TPixel, typename TIndex>
class BucketsMethod
{
public:
  /** Keys, one per voxel, must be noKey. */
  BucketsMethod(const FuzzyConnectednessJob & job, std::uint32_t * keys)
    : m_Job(job)
    , m_Image(PixelAccess<TPixel>::Get(job))
    , m_EdgeKeys(job)
    , m_Links(MakeLinks(job))
    , m_MinKey(MinKey(job))
    , m_Keys(keys)
  {}

  void
  Run()
  {
    for (const std::int64_t seed : m_Job.seeds)
    {
      if (m_Keys[seed] == noKey)
      {
        this->Settle(seed, seedKey);
      }
    }
    this->Flood(seedKey);
    for (std::uint32_t bucket = numberOfBuckets; bucket-- > 0;)
    {
      m_Current = bucket;
      std::vector<TIndex> waiting;
      waiting.swap(m_Buckets[bucket]);
      for (const TIndex voxel : waiting)
      {
        if (m_Keys[voxel] >> bitsInBucket == bucket)
        {
          m_Heap.emplace(m_Keys[voxel], voxel);
        }
      }
      waiting = std::vector<TIndex>();
      while (!m_Heap.empty())
      {
        const auto strongest = m_Heap.top();
        m_Heap.pop();
        if (m_Keys[strongest.second] == strongest.first)
        {
          this->Settle(strongest.second, strongest.first);
          this->Flood(strongest.first);
        }
      }
    }
    for (std::int64_t voxel = 0; voxel < m_Job.GetNumberOfVoxels(); ++voxel)
    {
      m_Keys[voxel] &= ~settledBit;
    }
    m_Job.execution.ReportProgress(m_SettledSinceReport);
  }

private:
  // Keys have 31 bits: 65536 buckets, few enough that empty ones cost no time.
  static constexpr int           bitsInBucket = 15;
  static constexpr std::uint32_t numberOfBuckets = 1u << (31 - bitsInBucket);
  static constexpr std::uint32_t settledBit = 0x80000000u;

  void
  Settle(std::int64_t voxel, std::uint32_t key)
  {
    m_Keys[voxel] = key | settledBit;
    m_Stack.push_back(static_cast<TIndex>(voxel));
  }

  /** Settle all voxels that those of the stack, which have this key, reach over links not weaker than it. */
  void
  Flood(std::uint32_t key)
  {
    while (!m_Stack.empty())
    {
      const std::int64_t voxel = m_Stack.back();
      m_Stack.pop_back();
      ForEachNeighbor(m_Job.size, m_Links, voxel, [&](std::int64_t neighbor, const LinkWeight & weight) {
        const std::uint32_t known = m_Keys[neighbor];
        if (known & settledBit || (m_Job.mask != nullptr && m_Job.mask[neighbor] == 0))
        {
          return;
        }
        const std::uint32_t offer = m_EdgeKeys.Key(m_Image[voxel], m_Image[neighbor], weight);
        if (offer < m_MinKey || offer <= known)
        {
          return;
        }
        if (offer >= key)
        {
          this->Settle(neighbor, key);
        }
        else
        {
          m_Keys[neighbor] = offer;
          const std::uint32_t bucket = offer >> bitsInBucket;
          if (bucket == m_Current)
          {
            m_Heap.emplace(offer, static_cast<TIndex>(neighbor));
          }
          else
          {
            m_Buckets[bucket].push_back(static_cast<TIndex>(neighbor));
          }
        }
      });
      if (++m_SettledSinceReport == voxelsBetweenReports)
      {
        m_Job.execution.ReportProgress(m_SettledSinceReport);
        m_SettledSinceReport = 0;
      }
    }
  }

  const FuzzyConnectednessJob &                m_Job;
  const typename PixelAccess<TPixel>::Iterator m_Image;
  const EdgeKeys<TPixel>                       m_EdgeKeys;
  const std::vector<Link>                      m_Links;
  /** Links of smaller keys do not count. */
  const std::uint32_t   m_MinKey;
  std::uint32_t * const m_Keys;

  std::vector<std::vector<TIndex>>                      m_Buckets{ numberOfBuckets };
  std::uint32_t                                         m_Current{ numberOfBuckets };
  std::priority_queue<std::pair<std::uint32_t, TIndex>> m_Heap;
  std::vector<TIndex>                                   m_Stack;
  std::uint64_t                                         m_SettledSinceReport{ 0 };
};

/** kFOE, serial, by Li et al. after Udupa and Samarasekera: a queue, first in, first out, holds the voxels whose
 * strength has grown; each offers it to its neighbors, until none grows. */
template <typename TPixel>
void
RunQueue(const FuzzyConnectednessJob & job, const TPixel * image, std::uint32_t * keys)
{
  const EdgeKeys<TPixel>   affinity(job);
  const std::vector<Link>  links = MakeLinks(job);
  const std::uint32_t      minKey = MinKey(job);
  std::queue<std::int64_t> queue;
  // Steps 1 and 2: all voxels but the seeds have strength 0; the seeds enter the queue.
  for (const std::int64_t seed : job.seeds)
  {
    keys[seed] = seedKey;
    queue.push(seed);
  }
  std::uint64_t steps = 0;
  std::uint64_t reached = 0;
  // Step 3: until the queue is empty.
  while (!queue.empty())
  {
    const std::int64_t voxel = queue.front();
    queue.pop();
    ForEachNeighbor(job.size, links, voxel, [&](std::int64_t neighbor, const LinkWeight & weight) {
      const std::uint32_t known = keys[neighbor];
      if (known >= keys[voxel] || (job.mask != nullptr && job.mask[neighbor] == 0))
      {
        return;
      }
      const std::uint32_t offer = std::min(keys[voxel], affinity.Key(image[voxel], image[neighbor], weight));
      if (offer > known && offer >= minKey)
      {
        reached += known == noKey ? 1 : 0;
        keys[neighbor] = offer;
        queue.push(neighbor);
      }
    });
    if (++steps % voxelsBetweenReports == 0)
    {
      job.execution.ReportProgress(std::exchange(reached, 0));
    }
  }
  job.execution.ReportProgress(reached);
}

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

/** A method, which computes keys that are noKey before. */
struct KeyMethod
{
  const char *  name;
  MethodSupport support;
  void (*compute)(const FuzzyConnectednessJob & job, std::uint32_t * keys);
};

/** Whether Hierarchy can number all links with 32 bits. */
bool
HierarchySupports(const FuzzyConnectednessJob & job)
{
  // A link is counted at one of its two ends.
  const auto voxelLinks = static_cast<std::int64_t>(MakeLinks(job).size() / 2);
  return job.GetNumberOfVoxels() < std::int64_t{ 0xffffffff } / std::max<std::int64_t>(voxelLinks, 1);
}

void
ComputeByHierarchy(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  HierarchyMethod(job, keys).Run();
}

void
ComputeByBuckets(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  WithPixels(job, [&](const auto * image) {
    using Pixel = std::remove_cv_t<std::remove_reference_t<decltype(*image)>>;
    if (job.GetNumberOfVoxels() <= std::int64_t{ 0xffffffff })
    {
      BucketsMethod<Pixel, std::uint32_t>(job, keys).Run();
    }
    else
    {
      BucketsMethod<Pixel, std::int64_t>(job, keys).Run();
    }
  });
}

void
ComputeByQueue(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  WithImage(job, [&](const auto * image) { RunQueue(job, image, keys); });
}

std::vector<KeyMethod>
MakeMethods(const FuzzyConnectednessJob & job)
{
  // Hierarchy always works on the entire image, most of which a search for strong voxels does not visit; but all
  // workers share its work, while Buckets has one thread.
  constexpr unsigned int minWorkers = 4;

  std::vector<KeyMethod> methods{ { "Hierarchy", FullSupportIf(HierarchySupports(job)), ComputeByHierarchy },
                                  { "Buckets", MethodSupport::Full, ComputeByBuckets },
                                  { "Queue", FullSupportIf(job.numberOfComponents == 0), ComputeByQueue } };
  if (job.minimumStrength > 0.0 && job.execution.numberOfWorkers < minWorkers)
  {
    std::swap(methods[0], methods[1]);
  }
  return methods;
}

template <typename TReal>
void
Convert(const FuzzyConnectednessJob & job, const std::uint32_t * keys)
{
  const Combination combination = MakeAffinityTerms(job).combination;
  auto * const      strengths = static_cast<TReal *>(job.output);
  ForEachRangeOfVoxels(job.GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t voxel = begin; voxel < end; ++voxel)
    {
      // memcpy, since keys and strengths may share memory.
      std::uint32_t key;
      std::memcpy(&key, keys + voxel, sizeof(key));
      const auto strength = static_cast<TReal>(KeyStrength(combination, key));
      std::memcpy(strengths + voxel, &strength, sizeof(strength));
    }
  });
}
} // namespace

void
ClearKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  ForEachRangeOfVoxels(job.GetNumberOfVoxels(), job.execution, [&](std::int64_t begin, std::int64_t end) {
    std::fill(keys + begin, keys + end, noKey);
  });
}

void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, const std::uint32_t * keys)
{
  job.outputIsDouble ? Convert<double>(job, keys) : Convert<float>(job, keys);
}

std::vector<std::string>
GetMethods(const FuzzyConnectednessJob & job)
{
  return GetNames(MakeMethods(job));
}

FuzzyConnectednessReport
ComputeFuzzyConnectednessKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  VerifyJob(job);
  const auto      methods = MakeMethods(job);
  const KeyMethod method = *FindMethod(methods, job.method, DescribeImage(job));
  if (job.GetNumberOfVoxels() > 0)
  {
    ClearKeys(job, keys);
    method.compute(job, keys);
  }
  return { method.name };
}

FuzzyConnectednessReport
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job)
{
  VerifyOutput(job);
  return ComputeStrengths(job, [&job](std::uint32_t * keys) { return ComputeFuzzyConnectednessKeys(job, keys); });
}
} // namespace voxelmaps
