// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/FeatureTable.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace voxelmaps
{
namespace
{
bool
EqualIgnoringCase(const std::string & a, const char * b)
{
  return a.size() == std::strlen(b) && std::equal(a.begin(), a.end(), b, [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}
} // namespace

FeatureTable::FeatureTable(const char * className, std::initializer_list<FeatureNames> features,
                           std::initializer_list<Alias> aliases)
  : m_ClassName(className)
  , m_Features(features)
  , m_Aliases(aliases)
{
  for (FeatureNames & feature : m_Features)
  {
    if (*feature.pyRadiomicsName == '\0')
    {
      feature.pyRadiomicsName = feature.name;
    }
  }
}

unsigned int
FeatureTable::GetNumberOfFeatures() const
{
  return static_cast<unsigned int>(m_Features.size());
}

const FeatureNames &
FeatureTable::operator[](unsigned int feature) const
{
  static constexpr FeatureNames invalid = {
    "invalid feature", "invalid feature", "invalid feature", "invalid feature"
  };
  return feature < m_Features.size() ? m_Features[feature] : invalid;
}

bool
FeatureTable::Find(const std::string & name, unsigned int & feature) const
{
  for (const Alias & alias : m_Aliases)
  {
    if (EqualIgnoringCase(name, alias.alias))
    {
      return this->Find(alias.name, feature);
    }
  }
  for (unsigned int i = 0; i < this->GetNumberOfFeatures() && !name.empty(); ++i)
  {
    const FeatureNames & known = m_Features[i];
    if (EqualIgnoringCase(name, known.abbreviation) || EqualIgnoringCase(name, known.name) ||
        EqualIgnoringCase(name, known.pyRadiomicsName) || EqualIgnoringCase(name, known.ibsiName))
    {
      feature = i;
      return true;
    }
  }
  return false;
}
} // namespace voxelmaps
