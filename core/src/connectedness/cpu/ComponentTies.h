// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ComponentTies_h
#define ComponentTies_h

#include "Contraction.h"

#include "connectedness/RelativeResults.h"

#include <algorithm>
#include <cstdint>
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
} // namespace voxelmaps

#endif // ComponentTies_h
