// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef LabelTies_h
#define LabelTies_h

#include "common/ParallelFor.h"
#include "ConnectednessGraph.h"
#include "connectedness/TileGrid.h"
#include "Contraction.h"
#include "connectedness/RelativeResults.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace voxelmaps
{
/** Applies the tie rule of Iterative to components, as LabelTies does to voxels. A link between two components joins
 * two voxels that have the strengths of their components, and so have most voxels: ties that spread to millions of
 * voxels need few steps here. */
class ComponentTies
{
public:
  ComponentTies(bool keepsTies, std::vector<ComponentResult> & results)
    : m_KeepsTies(keepsTies)
    , m_Results(results)
    , m_Parents(results.size())
  {
    std::iota(m_Parents.begin(), m_Parents.end(), 0u);
  }

  void
  Add(const ComponentLink & link)
  {
    const std::uint32_t a = m_Results[link.a].strength;
    const std::uint32_t b = m_Results[link.b].strength;
    if (a != b && link.key == std::min(a, b))
    {
      m_Descents.push_back(a > b ? link : ComponentLink{ link.b, link.a, link.key });
    }
    else if (a == b && a != noKey && link.key >= a)
    {
      const std::uint32_t root = this->GetRoot(link.a);
      const std::uint32_t other = this->GetRoot(link.b);
      m_Parents[other] = root;
      this->Join(root, other);
    }
  }

  /** Pass labels on along all links. */
  void
  Settle()
  {
    std::sort(m_Descents.begin(), m_Descents.end(), [](const ComponentLink & a, const ComponentLink & b) {
      return a.key > b.key;
    });
    for (const ComponentLink & link : m_Descents)
    {
      this->Join(this->GetRoot(link.b), this->GetRoot(link.a));
    }
  }

  /** Set the labels of consecutive components in the results. Returns whether any has changed. */
  bool
  Apply(std::uint32_t first, std::uint32_t count) const
  {
    bool isChanged = false;
    for (std::uint32_t component = first; component < first + count; ++component)
    {
      std::uint32_t root = component;
      while (m_Parents[root] != root)
      {
        root = m_Parents[root];
      }
      // Others read the labels of roots, which do not change.
      if (m_Results[component].label != m_Results[root].label)
      {
        m_Results[component].label = m_Results[root].label;
        isChanged = true;
      }
    }
    return isChanged;
  }

private:
  std::uint32_t
  GetRoot(std::uint32_t component)
  {
    while (m_Parents[component] != component)
    {
      component = m_Parents[component] = m_Parents[m_Parents[component]];
    }
    return component;
  }

  void
  Join(std::uint32_t component, std::uint32_t other)
  {
    std::uint16_t &     label = m_Results[component].label;
    const std::uint16_t otherLabel = m_Results[other].label;
    label = m_KeepsTies ? std::min(label, otherLabel) : label == otherLabel ? label : std::uint16_t{ 0 };
  }

  const bool                     m_KeepsTies;
  std::vector<ComponentResult> & m_Results;
  /** Components of equal strength that pass all labels on to each other are trees; the label is that of the root. */
  std::vector<std::uint32_t> m_Parents;
  std::vector<ComponentLink> m_Descents; // links from a to b, which is weaker
};

/** Applies the tie rule of Iterative to the labels of one maximum spanning forest; others exist where links have equal
 * keys. All are known from the links along which strengths can be passed on: those from u to v for which min(strength
 * of u, key) is the strength of v. If such a link joins two labels, v and all that follows from it in the same way have
 * both. Labels only become lower, or 0, so the order of changes does not matter. */
template <typename TLabel, typename TGetStrength>
class LabelTies
{
public:
  /** getStrength(voxel, at) returns the key of a voxel by its number and its index; noKey below the minimum. */
  LabelTies(const ConnectednessGraph & graph, const TGetStrength & getStrength, bool keepsTies, TLabel * labels,
            const JobExecution & execution)
    : m_Graph(graph)
    , m_GetStrength(getStrength)
    , m_KeepsTies(keepsTies)
    , m_Labels(labels)
    , m_Execution(execution)
  {
    std::copy_if(graph.links.begin(), graph.links.end(), std::back_inserter(m_Ahead), TileGrid::IsForward);
  }

  /** A link from a voxel to another one that would change its label. */
  struct Tie
  {
    std::int64_t  from;
    std::int64_t  to;
    std::uint32_t key;
    TLabel        label; // or 0
  };

  /** Find those of the rows of voxels that are due. */
  std::vector<Tie>
  Find(const std::vector<std::uint8_t> & isDue) const
  {
    std::vector<std::vector<Tie>> found = this->MakeLists<Tie>();
    ForEachTask(static_cast<std::int64_t>(isDue.size()), m_Execution, [&](unsigned int worker) {
      return [&, worker, differences = std::vector<TLabel>()](std::int64_t row) mutable {
        if (isDue[row] != 0)
        {
          this->FindTies(row, differences, found[worker]);
          m_Execution.CheckAbort();
        }
      };
    });
    return Collect(found);
  }

  /** Change labels for these ties, and all that follow. */
  void
  Settle(const std::vector<Tie> & ties) const
  {
    std::vector<Claim> claims;
    for (const Tie & tie : ties)
    {
      claims.push_back({ tie.to, tie.label });
    }
    // With the lowest label first, no voxel changes twice.
    std::sort(claims.begin(), claims.end(), [](const Claim & a, const Claim & b) { return a.label < b.label; });
    std::vector<std::vector<Claim>> found = this->MakeLists<Claim>();
    for (auto begin = claims.begin(); begin != claims.end();)
    {
      const auto end =
        std::find_if(begin, claims.end(), [&](const Claim & claim) { return claim.label != begin->label; });
      for (std::vector<Claim> current(begin, end); !current.empty(); current = Collect(found))
      {
        this->SpreadAll(current, found);
      }
      begin = end;
    }
  }

private:
  /** A voxel that has a label, or 0 for a tie. */
  struct Claim
  {
    std::int64_t voxel;
    TLabel       label;
  };

  /** A list for every worker. */
  template <typename T>
  std::vector<std::vector<T>>
  MakeLists() const
  {
    return std::vector<std::vector<T>>(std::max(1u, m_Execution.numberOfWorkers));
  }

  /** Take the contents of all lists. */
  template <typename T>
  static std::vector<T>
  Collect(std::vector<std::vector<T>> & lists)
  {
    std::vector<T> all;
    for (std::vector<T> & list : lists)
    {
      all.insert(all.end(), list.begin(), list.end());
      list.clear();
    }
    return all;
  }

  static Triple
  GetEnd(const Triple & at, const Link & link)
  {
    return { { at[0] + link.x, at[1] + link.y, at[2] + link.z } };
  }

  /** Whether a link from a voxel leads to another one of the image. */
  bool
  IsInImage(const Triple & at, const Link & link) const
  {
    const auto   contains = [](std::int64_t index, std::int64_t size) { return index >= 0 && index < size; };
    const Triple end = GetEnd(at, link);
    return contains(end[0], m_Graph.size[0]) && contains(end[1], m_Graph.size[1]) && contains(end[2], m_Graph.size[2]);
  }

  static bool
  Passes(std::uint32_t from, std::uint32_t to, std::uint32_t key)
  {
    return to != noKey && std::min(from, key) == to;
  }

  /** Find ties along the links between the voxels of a row and those ahead of them. */
  void
  FindTies(std::int64_t row, std::vector<TLabel> & differences, std::vector<Tie> & ties) const
  {
    Triple               at{ { 0, row % m_Graph.size[1], row / m_Graph.size[1] } };
    const std::int64_t   length = m_Graph.size[0];
    const std::int64_t   first = row * length;
    const TLabel * const labels = m_Labels + first;
    differences.assign(static_cast<std::size_t>(length), TLabel{ 0 });
    for (const Link & link : m_Ahead)
    {
      at[0] = link.x < 0 ? 1 : 0;
      if (this->IsInImage(at, link))
      {
        const TLabel * const others = labels + link.stride;
        TLabel * const       out = differences.data();
        // A variable of its own, as labels could be parts of the link.
        const std::int64_t end = length - std::max(link.x, 0);
        for (std::int64_t x = at[0]; x < end; ++x)
        {
          out[x] = static_cast<TLabel>(out[x] | (labels[x] ^ others[x]));
        }
      }
    }
    for (at[0] = 0; at[0] < length; ++at[0])
    {
      if (differences[at[0]] == 0)
      {
        continue;
      }
      const std::int64_t  voxel = first + at[0];
      const TLabel        label = m_Labels[voxel];
      const std::uint32_t strength = m_GetStrength(voxel, at);
      for (const Link & link : m_Ahead)
      {
        const std::int64_t other = voxel + link.stride;
        if (!this->IsInImage(at, link) || m_Labels[other] == label)
        {
          continue;
        }
        const TLabel        otherLabel = m_Labels[other];
        const std::uint32_t otherStrength = m_GetStrength(other, GetEnd(at, link));
        const std::uint32_t key = m_Graph.GetKey(voxel, link); // of the link back, too
        const TLabel        claimed = m_KeepsTies ? std::min(label, otherLabel) : TLabel{ 0 };
        if (claimed < otherLabel && Passes(strength, otherStrength, key))
        {
          ties.push_back({ voxel, other, key, claimed });
        }
        if (claimed < label && Passes(otherStrength, strength, key))
        {
          ties.push_back({ other, voxel, key, claimed });
        }
      }
    }
  }

  /** Other workers change labels at the same time. */
  std::atomic<TLabel> &
  AtomicLabel(std::int64_t voxel) const
  {
    static_assert(sizeof(std::atomic<TLabel>) == sizeof(TLabel), "labels can be atomic");
    return *reinterpret_cast<std::atomic<TLabel> *>(m_Labels + voxel);
  }

  /** Change the label of a voxel if it becomes lower, and claim it for those to which the voxel passes it on. */
  void
  Spread(const Claim & claim, std::vector<Claim> & claims) const
  {
    std::atomic<TLabel> & label = this->AtomicLabel(claim.voxel);
    TLabel                former = label.load(std::memory_order_relaxed);
    while (claim.label < former && !label.compare_exchange_weak(former, claim.label, std::memory_order_relaxed))
    {
    }
    if (claim.label >= former)
    {
      return;
    }
    const std::int64_t  row = claim.voxel / m_Graph.size[0];
    const Triple        at{ { claim.voxel % m_Graph.size[0], row % m_Graph.size[1], row / m_Graph.size[1] } };
    const std::uint32_t strength = m_GetStrength(claim.voxel, at);
    for (const Link & link : m_Graph.links)
    {
      const std::int64_t other = claim.voxel + link.stride;
      if (this->IsInImage(at, link) && claim.label < this->AtomicLabel(other).load(std::memory_order_relaxed) &&
          Passes(strength, m_GetStrength(other, GetEnd(at, link)), m_Graph.GetKey(claim.voxel, link)))
      {
        claims.push_back({ other, claim.label });
      }
    }
  }

  /** Spread claims, and find those of the same label that follow. */
  void
  SpreadAll(const std::vector<Claim> & claims, std::vector<std::vector<Claim>> & found) const
  {
    // Fewer take less time than it takes to start a worker.
    constexpr std::size_t taskClaims = 4096;
    const std::size_t     tasks = (claims.size() + taskClaims - 1) / taskClaims;
    ForEachTask(static_cast<std::int64_t>(tasks), m_Execution, [&](unsigned int worker) {
      return [&, worker](std::int64_t task) {
        const std::size_t first = static_cast<std::size_t>(task) * taskClaims;
        for (std::size_t i = first; i < std::min(first + taskClaims, claims.size()); ++i)
        {
          this->Spread(claims[i], found[worker]);
        }
        m_Execution.CheckAbort();
      };
    });
  }

  const ConnectednessGraph & m_Graph;
  const TGetStrength &       m_GetStrength;
  const bool                 m_KeepsTies;
  TLabel * const             m_Labels;
  const JobExecution &       m_Execution;
  std::vector<Link>          m_Ahead; // one of the two links between any two neighbors
};
} // namespace voxelmaps

#endif // LabelTies_h
