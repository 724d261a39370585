// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FeatureTable_h
#define voxelmaps_FeatureTable_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"
#include "voxelmaps/features.def"

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class FeatureNames
 * \brief Names of a feature; empty where it has none.
 *
 * \ingroup VoxelMaps
 */
struct FeatureNames
{
  /** Abbreviation, "SRE" for ShortRunEmphasis. */
  const char * abbreviation;
  /** Full name as spelled in the enumeration. */
  const char * name;
  /** Name in PyRadiomics. */
  const char * pyRadiomicsName = "";
  /** Name in the manual of the Image Biomarker Standardisation Initiative, with underscores for spaces and hyphens:
   * "short_runs_emphasis". */
  const char * ibsiName = "";
  /** Identifier of the Image Biomarker Standardisation Initiative, such as "22OV". */
  const char * ibsiIdentifier = "";
  /** Second name in the IBSI's manual. */
  const char * secondIbsiName = "";
};

/** \class FeatureTable
 * \brief Names of all features of a texture class, in the order of its enumeration.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT FeatureTable
{
public:
  /** A row without a name in PyRadiomics has its full name there. */
  FeatureTable(const char * className, std::initializer_list<FeatureNames> features);

  /** Name of the texture class in PyRadiomics, such as "glrlm". */
  const char *
  GetClassName() const
  {
    return m_ClassName;
  }

  unsigned int
  GetNumberOfFeatures() const;

  /** Names of a feature; all "invalid feature" if there is none with this number. */
  const FeatureNames &
  operator[](unsigned int feature) const;

  /** Finds a feature by any of its names, ignoring case; returns false if there is none. */
  bool
  Find(const std::string & name, unsigned int & feature) const;

private:
  const char *              m_ClassName;
  std::vector<FeatureNames> m_Features;
};

/** The table of a class of features.def by its name in PyRadiomics, such as "glrlm". Throws EngineError if there is no
 * such class. */
const VoxelMapsCore_EXPORT FeatureTable &
GetFeatureTable(const std::string & className);
} // namespace voxelmaps

/** The enumerator of a row of features.def. */
#define VOXELMAPS_FEATURE_ENUMERATOR(name, ...) name,
#define VOXELMAPS_COUNT_FEATURE(...) +1

/** Declares the number and the names of the features of a list of features.def in the class of enumerations of a
 * texture class, which defines Feature before. The functions are members of each class, not of a base class, since
 * Python wraps these classes one by one. */
#define VOXELMAPS_FEATURE_NAMES_MACRO(features)                                                                        \
  static constexpr unsigned int NumberOfFeatures = 0 features(VOXELMAPS_COUNT_FEATURE);                                \
  /** Names of all features, in the order of the enumeration. */                                                       \
  static const FeatureTable & GetFeatureTable();                                                                       \
  /** Abbreviation of a feature, "SRE" for ShortRunEmphasis. */                                                        \
  static const char * GetAbbreviation(Feature feature)                                                                 \
  {                                                                                                                    \
    return GetFeatureTable()[static_cast<unsigned int>(feature)].abbreviation;                                         \
  }                                                                                                                    \
  /** Full name of a feature as spelled in the enumeration. */                                                         \
  static const char * GetName(Feature feature)                                                                         \
  {                                                                                                                    \
    return GetFeatureTable()[static_cast<unsigned int>(feature)].name;                                                 \
  }                                                                                                                    \
  /** Name of a feature in PyRadiomics. */                                                                             \
  static const char * GetPyRadiomicsName(Feature feature)                                                              \
  {                                                                                                                    \
    return GetFeatureTable()[static_cast<unsigned int>(feature)].pyRadiomicsName;                                      \
  }                                                                                                                    \
  /** Find the feature with this abbreviation, full name, name in PyRadiomics, or name in the IBSI's manual with       \
   * underscores for spaces and hyphens, ignoring case. Returns false if there is none. */                             \
  static bool FindFeature(const std::string & name, Feature & feature)                                                 \
  {                                                                                                                    \
    unsigned int number = 0;                                                                                           \
    const bool   isFound = GetFeatureTable().Find(name, number);                                                       \
    feature = isFound ? static_cast<Feature>(number) : feature;                                                        \
    return isFound;                                                                                                    \
  }                                                                                                                    \
  /** All features, in the order of the enumeration. */                                                                \
  static std::vector<Feature> GetAllFeatures()                                                                         \
  {                                                                                                                    \
    return GetFirstEnumerators<Feature>(GetFeatureTable().GetNumberOfFeatures());                                      \
  }                                                                                                                    \
  /** Print the full name of a feature. */                                                                             \
  friend std::ostream & operator<<(std::ostream & out, Feature feature)                                                \
  {                                                                                                                    \
    return out << GetName(feature);                                                                                    \
  }                                                                                                                    \
  static_assert(true, "ends with a semicolon")

#endif // voxelmaps_FeatureTable_h
