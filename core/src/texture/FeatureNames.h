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
#ifndef FeatureNames_h
#define FeatureNames_h

#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

// Names of features, for the enumerations of texture classes.
namespace voxelmaps
{
/** Names of a feature; empty where it has none. */
struct FeatureNames
{
  const char * abbreviation;
  const char * name;
  const char * pyRadiomicsName = "";
  const char * ibsiName = "";
};

inline bool
EqualIgnoringCase(const std::string & a, const char * b)
{
  std::size_t i = 0;
  for (; i < a.size() && b[i] != '\0'; ++i)
  {
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
    {
      return false;
    }
  }
  return i == a.size() && b[i] == '\0';
}

/** The names of a feature, from the list in the order of its enumeration. */
template <typename TFeature, std::size_t VNumber>
const FeatureNames &
GetFeatureNames(const FeatureNames (&list)[VNumber], TFeature feature)
{
  static constexpr FeatureNames invalid = {
    "invalid feature", "invalid feature", "invalid feature", "invalid feature"
  };
  const auto i = static_cast<std::size_t>(feature);
  return i < VNumber ? list[i] : invalid;
}

/** Find the feature that has this as one of its names, ignoring case. Returns false if there is none. */
template <typename TFeature, std::size_t VNumber>
bool
FindFeatureByName(const FeatureNames (&list)[VNumber], const std::string & name, TFeature & feature)
{
  for (std::size_t i = 0; i < VNumber && !name.empty(); ++i)
  {
    for (const char * const known : { list[i].abbreviation, list[i].name, list[i].pyRadiomicsName, list[i].ibsiName })
    {
      if (EqualIgnoringCase(name, known))
      {
        feature = static_cast<TFeature>(i);
        return true;
      }
    }
  }
  return false;
}

/** The first features of an enumeration. */
template <typename TFeature>
std::vector<TFeature>
GetFirstFeatures(unsigned int number)
{
  std::vector<TFeature> features;
  for (unsigned int i = 0; i < number; ++i)
  {
    features.push_back(static_cast<TFeature>(i));
  }
  return features;
}
} // namespace voxelmaps

#endif // FeatureNames_h
