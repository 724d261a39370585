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
#ifndef Contraction_h
#define Contraction_h

#include "ConnectednessKeys.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** A link between two components. */
struct ComponentLink
{
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t key;
};

/** Contraction of a graph in rounds (Boruvka): every component points along its strongest link, and components that
 * point at each other, in trees, are merged to one.
 *
 * A component is held back, and points nowhere, if it has a seed or if a link that is not in the graph is stronger. So
 * each pointer goes along the strongest of all links that leave its component X. Hence no path from a seed to X is
 * stronger than the pointer, and pointers only get stronger on the way from X to the root of its tree. What comes into
 * the tree at another component Y got there along a link no stronger than the pointer of Y, so it is not weakened on
 * its way to the root. This gives
 *
 *   strength(X) = min(strength(tree), key of the pointer of X),
 *
 * without the second term where X was held back. Links of equal keys are ordered by number, so that there are no
 * cycles, except for two components that point along the same link. */
class Contraction
{
public:
  /** The graph. Not a vector, which would be cleared whenever it grows. */
  std::unique_ptr<ComponentLink[]> links;
  std::size_t                      numberOfLinks{ 0 };
  /** For every component, the strongest key of its links out of the graph; seedKey if it has a seed. */
  std::vector<std::uint32_t> leaving;

  /** One round, for all components before it. */
  struct Round
  {
    std::vector<std::uint32_t> keys;    // of pointers; seedKey where held back
    std::vector<std::uint32_t> parents; // components after the round; pointers, before they are merged
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

  /** Make room for so many links; those there are lost. */
  void
  ReserveLinks(std::size_t capacity)
  {
    numberOfLinks = 0;
    if (capacity > m_Capacity)
    {
      links.reset();
      m_Capacity = 0;
      links.reset(new ComponentLink[capacity]);
      m_Capacity = capacity;
    }
  }

  /** A round whose pointers are to be set. */
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

  /** Merge what the pointers of the last round connect; links are left to the caller. */
  template <typename TPause>
  void
  Merge(const TPause & pause)
  {
    const std::uint32_t   n = m_NumberOfComponents;
    std::uint32_t * const pointers = m_Rounds[m_NumberOfRounds - 1].parents.data();
    InChunks(n, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t c = first; c < last; ++c)
      {
        // Of two that point at each other, the first is the root.
        const std::uint32_t to = pointers[c];
        pointers[c] = (to > c) & (pointers[to] == c) ? static_cast<std::uint32_t>(c) : to;
      }
    });

    m_Numbers.resize(n);
    std::uint32_t * const numbers = m_Numbers.data();
    std::uint32_t         count = 0;
    InChunks(n, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t c = first; c < last; ++c)
      {
        numbers[c] = count;
        count += pointers[c] == c ? 1 : 0;
      }
    });
    for (std::uint32_t changed = 1; changed != 0;)
    {
      changed = 0;
      InChunks(n, pause, [&](std::size_t first, std::size_t last) {
        for (std::size_t c = first; c < last; ++c)
        {
          const std::uint32_t to = pointers[c];
          const std::uint32_t next = pointers[to];
          pointers[c] = next;
          changed |= to ^ next;
        }
      });
    }

    m_Leaving.assign(count, noKey);
    InChunks(n, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t c = first; c < last; ++c)
      {
        const std::uint32_t parent = numbers[pointers[c]];
        pointers[c] = parent;
        m_Leaving[parent] = std::max(m_Leaving[parent], leaving[c]);
      }
    });
    leaving.swap(m_Leaving);
    m_NumberOfComponents = count;
  }

  /** Merge until all components are held back or have no links. */
  template <typename TPause>
  void
  Run(const TPause & pause)
  {
    while (this->Point(pause))
    {
      this->Merge(pause);
      const std::uint32_t * const parents = m_Rounds[m_NumberOfRounds - 1].parents.data();
      std::size_t                 kept = 0;
      InChunks(numberOfLinks, pause, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
        {
          const ComponentLink link{ parents[links[i].a], parents[links[i].b], links[i].key };
          links[kept] = link;
          kept += link.a != link.b ? 1 : 0;
        }
      });
      numberOfLinks = kept;
      // Worth its time only once there are many links for few components.
      if (m_NumberOfRounds >= 3 && numberOfLinks / 5 > m_NumberOfComponents)
      {
        this->KeepStrongest(pause);
      }
    }
  }

  /** Of links between the same two components, keep the strongest. */
  template <typename TPause>
  void
  KeepStrongest(const TPause & pause)
  {
    // Sorted by their first component; then the second tells where the last link with it was put.
    constexpr std::uint32_t never = 0xffffffffu;
    m_First.assign(m_NumberOfComponents + 1, 0);
    m_Sorted.resize(numberOfLinks);
    InChunks(numberOfLinks, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
      {
        if (links[i].a > links[i].b)
        {
          std::swap(links[i].a, links[i].b);
        }
        ++m_First[links[i].a + 1];
      }
    });
    for (std::size_t c = 0; c < m_NumberOfComponents; ++c)
    {
      m_First[c + 1] += m_First[c];
    }
    InChunks(numberOfLinks, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
      {
        m_Sorted[m_First[links[i].a]++] = links[i];
      }
    });

    m_Last.assign(m_NumberOfComponents, never);
    std::uint32_t kept = 0;
    std::uint32_t firstOfA = 0;
    std::uint32_t a = never;
    InChunks(numberOfLinks, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
      {
        const ComponentLink & link = m_Sorted[i];
        if (link.a != a)
        {
          a = link.a;
          firstOfA = kept;
        }
        const std::uint32_t at = m_Last[link.b];
        if (at != never && at >= firstOfA)
        {
          links[at].key = std::max(links[at].key, link.key);
        }
        else
        {
          m_Last[link.b] = kept;
          links[kept++] = link;
        }
      }
    });
    numberOfLinks = kept;
  }

  /** From strengths after all rounds to those before. */
  template <typename TPause>
  void
  ExpandStrengths(std::vector<std::uint32_t> & strengths, const TPause & pause)
  {
    for (std::size_t r = m_NumberOfRounds; r-- > 0;)
    {
      const Round & round = m_Rounds[r];
      m_Numbers.resize(round.keys.size());
      InChunks(round.keys.size(), pause, [&](std::size_t first, std::size_t last) {
        for (std::size_t c = first; c < last; ++c)
        {
          m_Numbers[c] = std::min(strengths[round.parents[c]], round.keys[c]);
        }
      });
      strengths.swap(m_Numbers);
    }
  }

  /** From anything known of components after all rounds to the components before. */
  void
  ExpandNumbers(std::vector<std::uint32_t> & values)
  {
    for (std::size_t r = m_NumberOfRounds; r-- > 0;)
    {
      const Round & round = m_Rounds[r];
      m_Numbers.resize(round.keys.size());
      for (std::size_t c = 0; c < round.keys.size(); ++c)
      {
        m_Numbers[c] = values[round.parents[c]];
      }
      values.swap(m_Numbers);
    }
  }

private:
  /** Call f(first, last) for parts of 0 ... count, with a pause after each. */
  template <typename TPause, typename TFunction>
  static void
  InChunks(std::size_t count, const TPause & pause, const TFunction & f)
  {
    constexpr std::size_t chunk = std::size_t{ 1 } << 17;
    for (std::size_t first = 0; first < count; first += chunk)
    {
      f(first, std::min(count, first + chunk));
      pause();
    }
  }

  /** Add a round; or not, and return false, if no component has anywhere to point. */
  template <typename TPause>
  bool
  Point(const TPause & pause)
  {
    const std::uint32_t n = m_NumberOfComponents;
    m_Best.assign(n, 0);
    InChunks(numberOfLinks, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
      {
        const std::uint64_t offer = std::uint64_t{ links[i].key } << 32 | i;
        std::uint64_t &     bestOfA = m_Best[links[i].a];
        bestOfA = std::max(bestOfA, offer);
        std::uint64_t & bestOfB = m_Best[links[i].b];
        bestOfB = std::max(bestOfB, offer);
      }
    });

    Round &       round = this->AddRound();
    std::uint32_t pointing = 0;
    InChunks(n, pause, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
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
          const ComponentLink & link = links[static_cast<std::uint32_t>(m_Best[c])];
          round.parents[c] = link.a ^ link.b ^ c;
          round.keys[c] = key;
          ++pointing;
        }
      }
    });
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
  std::vector<ComponentLink> m_Sorted;
};
} // namespace voxelmaps
} // namespace itk

#endif // Contraction_h
