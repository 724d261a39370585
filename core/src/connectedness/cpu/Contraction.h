// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Contraction_h
#define Contraction_h

#include "connectedness/ConnectednessKeys.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace voxelmaps
{
/** A link that also knows which components it connected before the first round. */
struct TracedLink : ComponentLink
{
  std::uint32_t from;
  std::uint32_t to;
};

/** Contraction of a graph in rounds (Boruvka's algorithm): every component points along its strongest link, and all
 * components that the pointers connect to a tree are merged to one.
 *
 * A component is held back, and points nowhere, if it has a seed or if one of its links that are not in the graph is
 * stronger. So each pointer leads along the strongest of all links that leave its component X. Hence no path from a
 * seed to X is stronger than the pointer, and pointers only get stronger on the way from X to the root of its tree. A
 * path that enters the tree at another component Y does so along a link no stronger than the pointer of Y, so the way
 * from Y to the root does not weaken it. This gives
 *
 *   strength(X) = min(strength(tree), key of the pointer of X),
 *
 * without the second term where X was held back. Links of equal keys are ordered by number, so the only cycles are two
 * components that point along the same link.
 *
 * Functions that may take long call checkAbort() after each pass over components or links. */
template <typename TLink>
class LinkContraction
{
public:
  /** The graph. Not a vector, since that clears its elements whenever it grows. */
  std::unique_ptr<TLink[]> links;
  std::size_t              numberOfLinks{ 0 };
  /** For every component, the strongest key of its links that are not in the graph; seedKey if it has a seed. */
  std::vector<std::uint32_t> leaving;
  /** Only with TracedLink: the links that components pointed along in Run(), a maximum spanning forest. */
  std::vector<ComponentLink> forest;

  /** One round: what became of every component before it. */
  struct Round
  {
    std::vector<std::uint32_t> keys;    // of pointers; seedKey of components held back
    std::vector<std::uint32_t> parents; // components after the round; until Merge(), pointers
  };

  void
  Start(std::uint32_t numberOfComponents)
  {
    m_NumberOfComponents = numberOfComponents;
    m_NumberOfRounds = 0;
  }

  std::uint32_t
  GetNumberOfComponents() const
  {
    return m_NumberOfComponents;
  }

  /** Remove all links, and make room for so many. */
  void
  ReserveLinks(std::size_t capacity)
  {
    numberOfLinks = 0;
    if (capacity > m_Capacity)
    {
      links.reset();
      m_Capacity = 0;
      links.reset(new TLink[capacity]);
      m_Capacity = capacity;
    }
  }

  /** Replace the links by those of all these lists, and release the lists. */
  template <typename TCheckAbort>
  void
  TakeLinks(std::vector<std::vector<ComponentLink>> & lists, const TCheckAbort & checkAbort)
  {
    std::size_t count = 0;
    for (const auto & list : lists)
    {
      count += list.size();
    }
    this->ReserveLinks(count);
    for (auto & list : lists)
    {
      for (const ComponentLink & link : list)
      {
        this->AddLink(link);
      }
      list = std::vector<ComponentLink>();
      checkAbort();
    }
  }

  /** Add a link, for which there is room. */
  void
  AddLink(const ComponentLink & link)
  {
    if constexpr (std::is_same<TLink, TracedLink>::value)
    {
      links[numberOfLinks++] = { link, link.a, link.b };
    }
    else
    {
      links[numberOfLinks++] = link;
    }
  }

  /** Begin a round, whose pointers the caller sets. */
  Round &
  AddRound()
  {
    if (m_NumberOfRounds == m_Rounds.size())
    {
      m_Rounds.emplace_back();
    }
    Round & round = m_Rounds[m_NumberOfRounds++];
    round.keys.resize(m_NumberOfComponents);
    round.parents.resize(m_NumberOfComponents);
    return round;
  }

  /** Merge the components that the pointers of the last round connect. The caller updates the links. */
  template <typename TCheckAbort>
  void
  Merge(const TCheckAbort & checkAbort)
  {
    const std::uint32_t   n = m_NumberOfComponents;
    std::uint32_t * const pointers = m_Rounds[m_NumberOfRounds - 1].parents.data();
    for (std::size_t c = 0; c < n; ++c)
    {
      // The first one of two components that point at each other is the root.
      const std::uint32_t to = pointers[c];
      pointers[c] = ((to > c) & (pointers[to] == c)) ? static_cast<std::uint32_t>(c) : to;
    }
    checkAbort();

    m_Numbers.resize(n);
    std::uint32_t * const numbers = m_Numbers.data();
    std::uint32_t         count = 0;
    for (std::size_t c = 0; c < n; ++c)
    {
      numbers[c] = count;
      count += pointers[c] == c ? 1 : 0;
    }
    checkAbort();
    for (std::uint32_t changed = 1; changed != 0;)
    {
      changed = 0;
      for (std::size_t c = 0; c < n; ++c)
      {
        const std::uint32_t to = pointers[c];
        const std::uint32_t next = pointers[to];
        pointers[c] = next;
        changed |= to ^ next;
      }
      checkAbort();
    }

    m_Leaving.assign(count, noKey);
    for (std::size_t c = 0; c < n; ++c)
    {
      const std::uint32_t parent = numbers[pointers[c]];
      pointers[c] = parent;
      m_Leaving[parent] = std::max(m_Leaving[parent], leaving[c]);
    }
    checkAbort();
    leaving.swap(m_Leaving);
    m_NumberOfComponents = count;
  }

  /** Merge until all components are held back or have no links. */
  template <typename TCheckAbort>
  void
  Run(const TCheckAbort & checkAbort)
  {
    while (this->Point(checkAbort))
    {
      this->Merge(checkAbort);
      const std::uint32_t * const parents = m_Rounds[m_NumberOfRounds - 1].parents.data();
      std::size_t                 kept = 0;
      for (std::size_t i = 0; i < numberOfLinks; ++i)
      {
        TLink link = links[i];
        link.a = parents[link.a];
        link.b = parents[link.b];
        links[kept] = link;
        kept += link.a != link.b ? 1 : 0;
      }
      checkAbort();
      numberOfLinks = kept;
      // Takes as long as a round, which is worth it once there are many links for few components.
      if (m_NumberOfRounds >= 3 && numberOfLinks / 5 > m_NumberOfComponents)
      {
        this->KeepStrongest(checkAbort);
      }
    }
  }

  /** Keep the strongest link between two components. */
  template <typename TCheckAbort>
  void
  KeepStrongest(const TCheckAbort & checkAbort)
  {
    // Sorted by first component. m_Last has the position of the last link with a certain second component.
    constexpr std::uint32_t never = 0xffffffffu;
    m_First.assign(m_NumberOfComponents + 1, 0);
    m_Sorted.resize(numberOfLinks);
    for (std::size_t i = 0; i < numberOfLinks; ++i)
    {
      if (links[i].a > links[i].b)
      {
        std::swap(links[i].a, links[i].b);
      }
      ++m_First[links[i].a + 1];
    }
    checkAbort();
    for (std::size_t c = 0; c < m_NumberOfComponents; ++c)
    {
      m_First[c + 1] += m_First[c];
    }
    for (std::size_t i = 0; i < numberOfLinks; ++i)
    {
      m_Sorted[m_First[links[i].a]++] = links[i];
    }
    checkAbort();

    m_Last.assign(m_NumberOfComponents, never);
    std::uint32_t kept = 0;
    std::uint32_t firstA = 0;
    std::uint32_t a = never;
    for (std::size_t i = 0; i < numberOfLinks; ++i)
    {
      const TLink & link = m_Sorted[i];
      if (link.a != a)
      {
        a = link.a;
        firstA = kept;
      }
      const std::uint32_t at = m_Last[link.b];
      if (at != never && at >= firstA)
      {
        // All of it: a TracedLink must keep the components that its key belongs to.
        if (link.key > links[at].key)
        {
          links[at] = link;
        }
      }
      else
      {
        m_Last[link.b] = kept;
        links[kept++] = link;
      }
    }
    checkAbort();
    numberOfLinks = kept;
  }

  /** Turn strengths of the components after all rounds into those of the components before. */
  template <typename TCheckAbort>
  void
  ExpandStrengths(std::vector<std::uint32_t> & strengths, const TCheckAbort & checkAbort)
  {
    this->Expand(
      strengths, checkAbort, [](std::uint32_t strength, std::uint32_t key) { return std::min(strength, key); });
  }

  /** Give every component before all rounds the value of the component that it has become a part of. */
  void
  ExpandNumbers(std::vector<std::uint32_t> & values)
  {
    this->Expand(values, [] {}, [](std::uint32_t value, std::uint32_t) { return value; });
  }

private:
  /** From the values of components after a round and the keys of pointers to those before, round by round. */
  template <typename TCheckAbort, typename TGet>
  void
  Expand(std::vector<std::uint32_t> & values, const TCheckAbort & checkAbort, const TGet & get)
  {
    for (std::size_t r = m_NumberOfRounds; r-- > 0;)
    {
      const Round & round = m_Rounds[r];
      m_Numbers.resize(round.keys.size());
      for (std::size_t c = 0; c < round.keys.size(); ++c)
      {
        m_Numbers[c] = get(values[round.parents[c]], round.keys[c]);
      }
      checkAbort();
      values.swap(m_Numbers);
    }
  }

  /** Begin a round, and set its pointers. Returns false, without a round, if no component points anywhere. */
  template <typename TCheckAbort>
  bool
  Point(const TCheckAbort & checkAbort)
  {
    const std::uint32_t n = m_NumberOfComponents;
    m_Best.assign(n, 0);
    for (std::size_t i = 0; i < numberOfLinks; ++i)
    {
      const std::uint64_t offer = std::uint64_t{ links[i].key } << 32 | i;
      std::uint64_t &     bestA = m_Best[links[i].a];
      bestA = std::max(bestA, offer);
      std::uint64_t & bestB = m_Best[links[i].b];
      bestB = std::max(bestB, offer);
    }
    checkAbort();

    Round &       round = this->AddRound();
    std::uint32_t pointing = 0;
    for (std::size_t i = 0; i < n; ++i)
    {
      const auto c = static_cast<std::uint32_t>(i);
      const auto key = static_cast<std::uint32_t>(m_Best[c] >> 32);
      if (key == noKey || leaving[c] > key)
      {
        round.parents[c] = c;
        round.keys[c] = seedKey;
      }
      else
      {
        const TLink & link = links[static_cast<std::uint32_t>(m_Best[c])];
        round.parents[c] = link.a ^ link.b ^ c;
        round.keys[c] = key;
        ++pointing;
        if constexpr (std::is_same<TLink, TracedLink>::value)
        {
          // Two components may point along the same link.
          if (c == link.a || m_Best[link.a] != m_Best[c])
          {
            forest.push_back({ link.from, link.to, key });
          }
        }
      }
    }
    checkAbort();
    m_NumberOfRounds -= pointing == 0 ? 1 : 0;
    return pointing != 0;
  }

  std::uint32_t              m_NumberOfComponents{ 0 };
  std::size_t                m_NumberOfRounds{ 0 };
  std::size_t                m_Capacity{ 0 };
  std::vector<Round>         m_Rounds; // kept for the next graph
  std::vector<std::uint32_t> m_Numbers;
  std::vector<std::uint32_t> m_Leaving;
  std::vector<std::uint64_t> m_Best; // key and number of the strongest link
  std::vector<std::uint32_t> m_First;
  std::vector<std::uint32_t> m_Last;
  std::vector<TLink>         m_Sorted;
};

using Contraction = LinkContraction<ComponentLink>;
} // namespace voxelmaps

#endif // Contraction_h
