// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef BucketsMethod_h
#define BucketsMethod_h

#include "ConnectednessSearch.h"

#include <queue>
#include <utility>

namespace voxelmaps
{
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
  explicit BucketsMethod(const ConnectednessSearch<TPixel> & search)
    : m_Search(search)
    , m_Keys(search.keys)
  {}

  void
  Run()
  {
    for (const std::int64_t seed : m_Search.job.seeds)
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
    for (std::int64_t voxel = 0; voxel < m_Search.job.GetNumberOfVoxels(); ++voxel)
    {
      m_Keys[voxel] &= ~settledBit;
    }
    m_Search.job.execution.ReportProgress(m_SettledSinceReport);
  }

private:
  // Keys have 31 bits: 65536 buckets, few enough that empty ones cost no time.
  static constexpr int           bitsInBucket = 15;
  static constexpr std::uint32_t numberOfBuckets = 1u << (31 - bitsInBucket);
  static constexpr std::uint32_t settledBit = 0x80000000u;
  // The work of a few milliseconds.
  static constexpr std::uint64_t voxelsBetweenReports = 65536;

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
      m_Search.ForEachNeighbor(voxel, [&](std::int64_t neighbor, const LinkWeight & weight) {
        const std::uint32_t known = m_Keys[neighbor];
        if (known & settledBit || !m_Search.IsInside(neighbor))
        {
          return;
        }
        const std::uint32_t offer = m_Search.edges.Key(m_Search.image[voxel], m_Search.image[neighbor], weight);
        if (offer < m_Search.minKey || offer <= known)
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
        m_Search.job.execution.ReportProgress(m_SettledSinceReport);
        m_SettledSinceReport = 0;
      }
    }
  }

  const ConnectednessSearch<TPixel> & m_Search;
  std::uint32_t *                     m_Keys;

  std::vector<std::vector<TIndex>>                      m_Buckets{ numberOfBuckets };
  std::uint32_t                                         m_Current{ numberOfBuckets };
  std::priority_queue<std::pair<std::uint32_t, TIndex>> m_Heap;
  std::vector<TIndex>                                   m_Stack;
  std::uint64_t                                         m_SettledSinceReport{ 0 };
};
} // namespace voxelmaps

#endif // BucketsMethod_h
