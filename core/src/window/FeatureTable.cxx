// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/RegionFeaturesJob.h"

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

#define VOXELMAPS_FEATURE_ROW(name, abbreviation, ...) { abbreviation, #name, __VA_ARGS__ },
#define VOXELMAPS_FEATURE_TABLE(GetTable, className, features)                                                         \
  const FeatureTable & GetTable()                                                                                      \
  {                                                                                                                    \
    static const FeatureTable table(className, { features(VOXELMAPS_FEATURE_ROW) });                                   \
    return table;                                                                                                      \
  }
VOXELMAPS_FEATURE_CLASSES(VOXELMAPS_FEATURE_TABLE)

FeatureTable::FeatureTable(const char * className, std::initializer_list<FeatureNames> features)
  : m_ClassName(className)
  , m_Features(features)
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
  static constexpr const char * none = "invalid feature";
  static constexpr FeatureNames invalid = { none, none, none, none };
  return feature < m_Features.size() ? m_Features[feature] : invalid;
}

bool
FeatureTable::Find(const std::string & name, unsigned int & feature) const
{
  for (unsigned int i = 0; i < this->GetNumberOfFeatures() && !name.empty(); ++i)
  {
    const FeatureNames & known = m_Features[i];
    if (EqualIgnoringCase(name, known.abbreviation) || EqualIgnoringCase(name, known.name) ||
        EqualIgnoringCase(name, known.pyRadiomicsName) || EqualIgnoringCase(name, known.ibsiName) ||
        EqualIgnoringCase(name, known.secondIbsiName))
    {
      feature = i;
      return true;
    }
  }
  return false;
}

const FeatureTable &
GetFeatureTable(const std::string & className)
{
  std::string names;
#define VOXELMAPS_COMPARE(GetTable, name, features)                                                                    \
  if (className == name)                                                                                               \
  {                                                                                                                    \
    return GetTable();                                                                                                 \
  }                                                                                                                    \
  names += names.empty() ? name : ", " name;
  VOXELMAPS_FEATURE_CLASSES(VOXELMAPS_COMPARE)
#undef VOXELMAPS_COMPARE
  throw EngineError("There is no class '" + className + "' of features: choose one of " + names + '.');
}
} // namespace voxelmaps
