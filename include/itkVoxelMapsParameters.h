// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsParameters_h
#define itkVoxelMapsParameters_h

#include "VoxelMapsExport.h"
#include "itkIndent.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsEnums.h"
#include "voxelmaps/FeatureMapsJob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace itk
{
class MetaDataDictionary;

/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
/** Whether doubles hold all pixels of an image, so that they can be discretized. */
template <typename TPixel>
constexpr bool isIntensity =
  voxelmaps::hasPixelType<TPixel> && (std::is_floating_point<TPixel>::value || sizeof(TPixel) <= 4);
template <typename TImage>
constexpr bool hasIntensities = isIntensity<typename TImage::PixelType>;

/** \class DiscretizationSettings
 * \brief The parameters of a discretization that a user has set, and what the last computation used.
 *
 * \ingroup VoxelMaps
 */
struct VoxelMaps_EXPORT DiscretizationSettings
{
  using Parameters = voxelmaps::GrayLevelDiscretizationParameters;

  /** What is set has a name in given; other parameters have their defaults. */
  Parameters            parameters;
  std::set<std::string> given;

  Parameters::MethodEnum                   defaultMethod{ Parameters::MethodEnum::FixedBinNumber };
  voxelmaps::GrayLevelDiscretizationResult used;

  /** What is set, and defaults. */
  Parameters
  Get() const;

  /** Set a parameter and take back what it excludes: the last one wins. Returns whether that changes anything. */
  template <typename TValue>
  bool
  Set(const std::string & name, TValue Parameters::* parameter, const TValue & value)
  {
    TValue & own = parameters.*parameter;
    // NaN is the same value as NaN.
    const bool isSame = (own == value || (own != own && value != value)) && this->Has(name);
    own = value;
    given.insert(name);
    return this->TakeBackOthers(name) || !isSame;
  }

  /** Take back all parameters. Returns whether that changes anything. */
  bool
  Clear();

  /** Throw voxelmaps::EngineError, which names the value and the rule, if a parameter is invalid or has no effect. */
  void
  Verify() const;

  void
  Print(std::ostream & os, Indent indent) const;

private:
  bool
  Has(const std::string & name) const
  {
    return given.count(name) > 0;
  }

  /** Take back what a parameter that was set excludes: of number, width and edges the other two; what a method does not
   * use; and the range where its source is not Given. */
  bool
  TakeBackOthers(const std::string & last);
};

/** All offsets whose greatest component, without its sign, is one of the distances: one of each opposite pair, that
 * whose last component other than 0 is positive, ordered by distance, then by the components from last to first. With
 * isInPlane, those in the xy plane. Throws an itk::ExceptionObject, with the name of the filter, if there is no
 * distance, if a distance is 0, too large or given twice, or if there are too many offsets. */
VoxelMaps_EXPORT std::vector<voxelmaps::Triple>
GetPairOffsets(const char * filter, unsigned int dimension, const std::vector<unsigned int> & distances,
               bool isInPlane);

/** The directions of runs, 4 in a plane and 13 in 3D: one of each opposite pair, starting with the x axis. */
VoxelMaps_EXPORT std::vector<voxelmaps::Triple>
                 GetRunOffsets(unsigned int dimension);

/** Convert offsets of a job to those of an image, and back. */
template <typename TOffset>
std::vector<TOffset>
FromTriples(const std::vector<voxelmaps::Triple> & triples)
{
  std::vector<TOffset> offsets(triples.size());
  for (std::size_t i = 0; i < triples.size(); ++i)
  {
    std::copy_n(triples[i].begin(), TOffset::Dimension, offsets[i].begin());
  }
  return offsets;
}
template <typename TOffset>
std::vector<voxelmaps::Triple>
ToTriples(const std::vector<TOffset> & offsets)
{
  std::vector<voxelmaps::Triple> triples(offsets.size(), voxelmaps::Triple{ { 0, 0, 0 } });
  for (std::size_t i = 0; i < offsets.size(); ++i)
  {
    std::copy_n(offsets[i].begin(), TOffset::Dimension, triples[i].begin());
  }
  return triples;
}

/** Set the names of components in the metadata of an image, as "FeatureNames", separated by commas. */
VoxelMaps_EXPORT void
SetFeatureNames(MetaDataDictionary & metaData, const std::vector<std::string> & names);

/** Print the parameters of response maps, one per line. */
VoxelMaps_EXPORT void
PrintResponseMapParameters(std::ostream & os, Indent indent, const voxelmaps::ResponseMapParameters & parameters);

/** \class TextureParameters
 * \brief The parameters of all texture filters, of which each uses its own; their documentation is that of the filters.
 *
 * \ingroup VoxelMaps
 */
struct VoxelMaps_EXPORT TextureParameters
{
  using Aggregation = voxelmaps::TextureFeatureMapEnums::Aggregation;
  /** Numbers of features of a class, by its name in PyRadiomics. */
  struct ClassFeatures
  {
    std::string               className;
    std::vector<unsigned int> features;
  };

  /** The class of a filter by its name in PyRadiomics; empty if it has all classes. */
  std::string  filterClass;
  unsigned int dimension;
  bool         outputIsDouble;

  std::vector<ClassFeatures>       classes;
  DiscretizationSettings           discretization;
  voxelmaps::Triple                radius{ { 2, 2, 2 } };
  std::optional<voxelmaps::Triple> windowSize;
  std::optional<voxelmaps::Triple> windowAnchor;
  double                           backgroundValue{ 0.0 };
  std::vector<int>                 otherDeviceIDs;
  std::string                      method;

  /** A job of each class of the filter, which has its parameters. */
  std::vector<voxelmaps::TextureClassJob> jobs;

  /** The defaults of a filter. */
  TextureParameters(const char * filterClass, unsigned int dimension, bool outputIsDouble);

  /** Call visit(name, member) for the parameters of the jobs that the filter has. */
  template <typename TSelf, typename TVisit>
  static void
  Visit(TSelf & self, const TVisit & visit)
  {
    for (auto & each : self.jobs)
    {
      std::visit(
        [&](auto & job) {
          using Job = std::decay_t<decltype(job)>;
          const std::string className = Job::Enums::GetFeatureTable().GetClassName();
          Job::VisitParameters([&](const char * name, auto member) {
            if (self.Has(className, name))
            {
              visit(name, job.*member);
            }
          });
        },
        each);
    }
  }

  /** The parameter with a name, of the first job that has it, or null. */
  template <typename TValue>
  const TValue *
  Find(const std::string & name) const
  {
    const TValue * found = nullptr;
    Visit(*this, [&](const char * known, const auto & value) {
      if constexpr (std::is_same<std::decay_t<decltype(value)>, TValue>::value)
      {
        found = found == nullptr && name == known ? &value : found;
      }
    });
    return found;
  }

  /** Set the parameter with a name of all jobs that have it. Returns whether that changes it; NaN is the same value as
   * NaN. */
  template <typename TValue>
  bool
  Set(const std::string & name, const TValue & newValue)
  {
    bool changes = false;
    Visit(*this, [&](const char * known, auto & value) {
      if constexpr (std::is_same<std::decay_t<decltype(value)>, TValue>::value)
      {
        if (name == known && value != newValue && !(value != value && newValue != newValue))
        {
          value = newValue;
          changes = true;
        }
      }
    });
    return changes;
  }

  voxelmaps::Triple
  GetWindowSize() const;
  voxelmaps::Triple
  GetWindowAnchor() const;

  /** Select features by name. Returns whether that changes them. Throws voxelmaps::EngineError if one does not exist.
   */
  bool
  SetFeatureNames(const std::vector<std::string> & names);

  /** Names of the output components. */
  std::vector<std::string>
  GetFeatureNames() const;

  /** Number of the output component with this name, or with another name of its feature. Throws voxelmaps::EngineError
   * if it is not one of them. */
  unsigned int
  GetFeatureIndex(const std::string & name) const;

  /** Throw voxelmaps::EngineError, which names the value and the rule, if a parameter is invalid or has no effect. */
  void
  Verify() const;

  void
  Print(std::ostream & os, Indent indent) const;

  /** Names of the methods that all classes have for outputs of a size, on a device or, with null, the CPU. The number
   * of gray levels is the last one that was used; before that, the one that is set. Throws voxelmaps::EngineError. */
  std::vector<std::string>
  GetAvailableMethods(const voxelmaps::Triple & outputSize, const int * deviceID) const;

  /** Set the parameters of a job that has arrays, and compute its maps, on the CPU without options. Sets what the
   * discretization used. */
  void
  Compute(voxelmaps::FeatureMapsJob & job, double voxelVolume, const voxelmaps::CudaOptions * options);

private:
  /** Whether the filter has a parameter of a class. */
  bool
  Has(const std::string & className, const std::string & name) const;

  /** The jobs of the selected classes. */
  std::vector<voxelmaps::TextureClassJob>
  MakeClassJobs(double voxelVolume) const;
};
} // namespace VoxelMapsDetail
} // namespace itk

#define VOXELMAPS_INTENSITY_RULE                                                                                       \
  "The input must be a scalar image of float, double or integers of at most 32 bits: cast others, such as 64-bit "     \
  "integers, and select a component of others"

/** Set and get a parameter of DiscretizationSettings. */
#define VoxelMapsDiscretizationMacro(name, type, settings, field)                                                      \
  virtual void Set##name(const type & value)                                                                           \
  {                                                                                                                    \
    if (settings.Set(#name, &VoxelMapsDetail::DiscretizationSettings::Parameters::field, value))                       \
    {                                                                                                                  \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return settings.Get().field;                                                                                       \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** The parameters of DiscretizationSettings, for filters with the types MethodEnum and RangeSourceEnum, and what the
 * last Update() used of them. */
#define VoxelMapsDiscretizationMacros(settings)                                                                        \
  VoxelMapsDiscretizationMacro(DiscretizationMethod, MethodEnum, settings, method);                                    \
  VoxelMapsDiscretizationMacro(NumberOfGrayLevels, unsigned int, settings, numberOfGrayLevels);                        \
  VoxelMapsDiscretizationMacro(BinWidth, double, settings, binWidth);                                                  \
  VoxelMapsDiscretizationMacro(BinEdges, std::vector<double>, settings, binEdges);                                     \
  VoxelMapsDiscretizationMacro(RangeSource, RangeSourceEnum, settings, rangeSource);                                   \
  VoxelMapsDiscretizationMacro(RangeMinimum, double, settings, rangeMinimum);                                          \
  VoxelMapsDiscretizationMacro(RangeMaximum, double, settings, rangeMaximum);                                          \
  virtual void ClearDiscretization()                                                                                   \
  {                                                                                                                    \
    if (settings.Clear())                                                                                              \
    {                                                                                                                  \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual unsigned int GetUsedNumberOfGrayLevels() const                                                               \
  {                                                                                                                    \
    return settings.used.numberOfGrayLevels;                                                                           \
  }                                                                                                                    \
  virtual double GetUsedRangeMinimum() const                                                                           \
  {                                                                                                                    \
    return settings.used.rangeMinimum;                                                                                 \
  }                                                                                                                    \
  virtual double GetUsedRangeMaximum() const                                                                           \
  {                                                                                                                    \
    return settings.used.rangeMaximum;                                                                                 \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

#endif // itkVoxelMapsParameters_h
