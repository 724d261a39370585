// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsParameters.h"

#include "itkMacro.h"
#include "itkMetaDataObject.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <set>
#include <sstream>
#include <variant>

#define EngineErrorMacro(text)                                                                                         \
  {                                                                                                                    \
    std::ostringstream message;                                                                                        \
    message << text;                                                                                                   \
    throw voxelmaps::EngineError(message.str());                                                                       \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

namespace itk
{
namespace VoxelMapsDetail
{
namespace
{
using MethodEnum = voxelmaps::GrayLevelDiscretizationEnums::Method;
using RangeSourceEnum = voxelmaps::GrayLevelDiscretizationEnums::RangeSource;
using Offsets = std::vector<voxelmaps::Triple>;

bool
UsesNumberOfGrayLevels(MethodEnum method)
{
  return method == MethodEnum::FixedBinNumber || method == MethodEnum::Identity || method == MethodEnum::Levels;
}

bool
UsesBinWidth(MethodEnum method)
{
  return method == MethodEnum::FixedBinSize || method == MethodEnum::FixedBinSizeAtMultiples;
}

/** Print the elements of a vector, a space before each. */
template <typename TElement>
struct List
{
  const std::vector<TElement> & elements;

  friend std::ostream &
  operator<<(std::ostream & os, const List & list)
  {
    for (const TElement & element : list.elements)
    {
      os << ' ' << element;
    }
    return os;
  }
};
template <typename TElement>
List(const std::vector<TElement> &) -> List<TElement>;

/** "[1, -1, 0]" in so many dimensions. */
std::string
ToText(const voxelmaps::Triple & triple, unsigned int dimension)
{
  std::string text;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    text += (d == 0 ? "[" : ", ") + std::to_string(triple[d]);
  }
  return text + ']';
}

const char * const textureClasses[]{ "glcm", "gldm", "firstorder", "ngtdm", "glrlm", "glszm" };

/** The number of a feature with any of its names. */
unsigned int
FindFeature(const voxelmaps::FeatureTable & table, const std::string & featureName, const std::string & givenName)
{
  unsigned int feature = 0;
  if (!table.Find(featureName, feature))
  {
    std::ostringstream known;
    for (unsigned int i = 0; i < table.GetNumberOfFeatures(); ++i)
    {
      known << (i == 0 ? " " : ", ") << table[i].abbreviation << " (" << table[i].pyRadiomicsName << ')';
    }
    EngineErrorMacro("Feature '" << givenName << "' does not exist; class " << table.GetClassName() << " has"
                                 << known.str() << '.');
  }
  return feature;
}

std::vector<unsigned int>
GetAllFeatures(const voxelmaps::FeatureTable & table)
{
  std::vector<unsigned int> features;
  for (unsigned int i = 0; i < table.GetNumberOfFeatures(); ++i)
  {
    features.push_back(i);
  }
  return features;
}

/** Print a parameter; offsets in so many dimensions. */
template <typename TValue>
void
PrintParameter(std::ostream & os, Indent indent, const char * name, const TValue & value, unsigned int dimension = 3)
{
  os << indent << name << ':';
  if constexpr (std::is_same<TValue, Offsets>::value)
  {
    for (const voxelmaps::Triple & offset : value)
    {
      os << ' ' << ToText(offset, dimension);
    }
  }
  else if constexpr (std::is_same<TValue, std::vector<double>>::value)
  {
    os << List{ value };
  }
  else if constexpr (std::is_same<TValue, bool>::value)
  {
    os << (value ? " On" : " Off");
  }
  else
  {
    os << ' ' << value;
  }
  os << std::endl;
}

constexpr voxelmaps::Triple::value_type maximumOffsetComponent = 254;
constexpr std::size_t                   maximumNumberOfOffsets = 4096;

/** Throw voxelmaps::EngineError unless offsets exist and differ. */
void
VerifyOffsets(const std::vector<voxelmaps::Triple> & offsets, unsigned int dimension,
              voxelmaps::Triple::value_type maximumComponent, bool oppositesDiffer)
{
  if (offsets.empty() || offsets.size() > maximumNumberOfOffsets)
  {
    EngineErrorMacro("There are " << offsets.size() << " offsets, but there must be 1 to " << maximumNumberOfOffsets
                                  << '.');
  }
  std::set<voxelmaps::Triple> known;
  for (const voxelmaps::Triple & offset : offsets)
  {
    const std::string text = "The offset " + ToText(offset, dimension);
    if (std::any_of(offset.begin(), offset.end(), [maximumComponent](auto component) {
          return component < -maximumComponent || component > maximumComponent;
        }))
    {
      EngineErrorMacro(text << " is too large: its components must be -" << maximumComponent << " to "
                            << maximumComponent << '.');
    }
    const voxelmaps::Triple opposite{ { -offset[0], -offset[1], -offset[2] } };
    if (offset == opposite)
    {
      EngineErrorMacro(text << " is zero, which is not a direction.");
    }
    if (!known.insert(offset).second)
    {
      EngineErrorMacro(text << " is given twice.");
    }
    if (!oppositesDiffer && known.count(opposite) > 0)
    {
      EngineErrorMacro(text << " is the opposite of another one, which makes the same pairs and runs.");
    }
  }
}

void
VerifyFitsOutput(const char * name, double value, bool outputIsDouble)
{
  const double limit = outputIsDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::abs(value) > limit)
  {
    EngineErrorMacro(name << " is " << value << ", but the output's pixel type holds finite values up to " << limit
                          << ": choose a smaller one.");
  }
}
} // namespace

auto
DiscretizationSettings::Get() const -> Parameters
{
  Parameters result = parameters;
  if (!this->Has("DiscretizationMethod"))
  {
    result.method = this->Has("BinEdges")             ? MethodEnum::Edges
                    : this->Has("BinWidth")           ? MethodEnum::FixedBinSizeAtMultiples
                    : this->Has("NumberOfGrayLevels") ? MethodEnum::FixedBinNumber
                                                      : defaultMethod;
  }
  if (!this->Has("RangeSource") && (this->Has("RangeMinimum") || this->Has("RangeMaximum")))
  {
    result.rangeSource = RangeSourceEnum::Given;
  }
  return result;
}

bool
DiscretizationSettings::TakeBackOthers(const std::string & last)
{
  bool       changes = false;
  const auto takeBack = [&](const std::string & name) {
    if (name != last && given.erase(name) > 0)
    {
      changes = true;
      Parameters::VisitParameters([&](const char * known, auto member) {
        if (name == known)
        {
          parameters.*member = Parameters().*member;
        }
      });
    }
  };
  const bool isMethod = last == "DiscretizationMethod";
  const bool isSize = last == "NumberOfGrayLevels" || last == "BinWidth" || last == "BinEdges";
  const auto takeBackUnless = [&](const std::string & name, bool isUsed) {
    if (isSize || (isMethod && !isUsed))
    {
      takeBack(name);
    }
  };
  const MethodEnum method = this->Get().method;
  takeBackUnless("NumberOfGrayLevels", UsesNumberOfGrayLevels(method));
  takeBackUnless("BinWidth", UsesBinWidth(method));
  takeBackUnless("BinEdges", method == MethodEnum::Edges);
  const Parameters others = this->Get();
  if (((isSize || isMethod) && !others.UsesRange()) ||
      (last == "RangeSource" && others.rangeSource != RangeSourceEnum::Given))
  {
    takeBack("RangeMinimum");
    takeBack("RangeMaximum");
  }
  return changes;
}

bool
DiscretizationSettings::Clear()
{
  const bool changes = !given.empty();
  given.clear();
  parameters = Parameters();
  return changes;
}

void
DiscretizationSettings::Verify() const
{
  const Parameters result = this->Get();
  result.Verify();
  const auto verify = [&](const char * name, bool isUsed) {
    if (this->Has(name) && !isUsed)
    {
      EngineErrorMacro(name << " is set, but has no effect: DiscretizationMethod is " << result.method
                            << ". Choose another method, or call ClearDiscretization() and leave it out.");
    }
  };
  verify("NumberOfGrayLevels", UsesNumberOfGrayLevels(result.method));
  verify("BinWidth", UsesBinWidth(result.method));
  verify("BinEdges", result.method == MethodEnum::Edges);
  const bool hasMinimum = this->Has("RangeMinimum");
  const bool hasMaximum = this->Has("RangeMaximum");
  if (hasMinimum != hasMaximum)
  {
    EngineErrorMacro("RangeM" << (hasMinimum ? "inimum" : "aximum") << " is "
                              << (hasMinimum ? result.rangeMinimum : result.rangeMaximum) << ", but RangeM"
                              << (hasMinimum ? "aximum" : "inimum") << " is not set: set both.");
  }
  if (hasMinimum && !result.UsesRange())
  {
    EngineErrorMacro("RangeMinimum and RangeMaximum are set, but have no effect: DiscretizationMethod is "
                     << result.method << ". Choose another method, or call ClearDiscretization() and leave them out.");
  }
  if (hasMinimum && result.rangeSource != RangeSourceEnum::Given)
  {
    EngineErrorMacro("RangeMinimum and RangeMaximum are set, but have no effect: RangeSource is "
                     << result.rangeSource << ". Set RangeSource to Given.");
  }
}

void
DiscretizationSettings::Print(std::ostream & os, Indent indent) const
{
  const Parameters result = this->Get();
  Parameters::VisitParameters(
    [&](const char * name, auto member) { PrintParameter(os, indent, name, result.*member); });
  os << indent << "UsedNumberOfGrayLevels: " << used.numberOfGrayLevels << std::endl;
  os << indent << "UsedRangeMinimum: " << used.rangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << used.rangeMaximum << std::endl;
}

void
PrintResponseMapParameters(std::ostream & os, Indent indent, const voxelmaps::ResponseMapParameters & parameters)
{
  voxelmaps::ResponseMapParameters::VisitParameters(
    [&](const char * name, auto member) { PrintParameter(os, indent, name, parameters.*member); });
}

std::vector<voxelmaps::Triple>
GetPairOffsets(const char * filter, unsigned int dimension, const std::vector<unsigned int> & distances, bool isInPlane)
{
  if (distances.empty())
  {
    itkGenericExceptionMacro(<< filter << ": Distances is empty, but at least one is needed.");
  }
  std::vector<voxelmaps::Triple> offsets;
  for (auto it = distances.begin(); it != distances.end(); ++it)
  {
    if (*it < 1 || *it > maximumOffsetComponent)
    {
      itkGenericExceptionMacro(<< filter << ": The distance " << *it << " is not possible: it must be 1 to "
                               << maximumOffsetComponent << '.');
    }
    if (std::find(distances.begin(), it, *it) != it)
    {
      itkGenericExceptionMacro(<< filter << ": The distance " << *it << " is given twice.");
    }
    const auto        distance = static_cast<voxelmaps::Triple::value_type>(*it);
    const auto        depth = dimension == 3 && !isInPlane ? distance : 0;
    voxelmaps::Triple offset;
    for (offset[2] = 0; offset[2] <= depth; ++offset[2])
    {
      for (offset[1] = -distance; offset[1] <= distance; ++offset[1])
      {
        for (offset[0] = -distance; offset[0] <= distance; ++offset[0])
        {
          const auto last = offset[2] != 0 ? offset[2] : offset[1] != 0 ? offset[1] : offset[0];
          if (last > 0 && std::max({ std::abs(offset[0]), std::abs(offset[1]), offset[2] }) == distance)
          {
            offsets.push_back(offset);
          }
        }
      }
      if (offsets.size() > maximumNumberOfOffsets)
      {
        itkGenericExceptionMacro(<< filter << ": The distance " << *it << " makes more than " << maximumNumberOfOffsets
                                 << " offsets, which is the maximum.");
      }
    }
  }
  return offsets;
}

std::vector<voxelmaps::Triple>
GetRunOffsets(unsigned int dimension)
{
  std::vector<voxelmaps::Triple> offsets{ { { 1, 0, 0 } }, { { 1, -1, 0 } }, { { 0, 1, 0 } }, { { 1, 1, 0 } } };
  for (int direction = 0; direction < 9 && dimension == 3; ++direction)
  {
    offsets.push_back({ { direction % 3 - 1, direction / 3 - 1, 1 } });
  }
  return offsets;
}

void
SetFeatureNames(MetaDataDictionary & metaData, const std::vector<std::string> & names)
{
  std::string list;
  for (const std::string & name : names)
  {
    list += (list.empty() ? "" : ",") + name;
  }
  EncapsulateMetaData<std::string>(metaData, "FeatureNames", list);
}

TextureParameters::TextureParameters(const char * classOfFilter, unsigned int imageDimension, bool isDouble)
  : filterClass(classOfFilter)
  , dimension(imageDimension)
  , outputIsDouble(isDouble)
{
  for (const char * const name : textureClasses)
  {
    if (filterClass.empty() || filterClass == name)
    {
      jobs.push_back(voxelmaps::MakeTextureClassJob(name));
    }
  }
  const std::vector<voxelmaps::Triple> pairs = GetPairOffsets("", dimension, { 1 }, false);
  this->Set("Offsets", filterClass == "glrlm" ? GetRunOffsets(dimension) : pairs);
  if (filterClass.empty())
  {
    discretization.defaultMethod = MethodEnum::FixedBinSizeAtMultiples;
    for (voxelmaps::TextureClassJob & job : jobs)
    {
      if (auto * const runLength = std::get_if<voxelmaps::RunLengthJob>(&job))
      {
        runLength->offsets = pairs;
        runLength->skipDirectionsWithoutPairs = true;
      }
    }
    return;
  }
  std::vector<unsigned int> features = GetAllFeatures(voxelmaps::GetFeatureTable(filterClass));
  if (filterClass == "glcm")
  {
    using Feature = voxelmaps::CooccurrenceFeatureMapEnums::Feature;
    features.erase(features.begin() + static_cast<std::ptrdiff_t>(Feature::MaximalCorrelationCoefficient));
  }
  if (filterClass == "glrlm")
  {
    features.clear();
    for (const auto feature : voxelmaps::RunLengthFeatureMapEnums::GetElevenFeatures())
    {
      features.push_back(static_cast<unsigned int>(feature));
    }
  }
  classes.push_back({ filterClass, features });
}

bool
TextureParameters::Has(const std::string & className, const std::string & name) const
{
  // The volume is that of the image.
  const std::set<std::string> ofAllClasses{ "Offsets", "Aggregation", "Symmetric", "Alpha", "VoxelArrayShift" };
  return filterClass.empty() ? ofAllClasses.count(name) > 0 && (className != "glrlm" || name != "Offsets")
                             : name != "VoxelVolume";
}

voxelmaps::Triple
TextureParameters::GetWindowSize() const
{
  voxelmaps::Triple size = windowSize.value_or(voxelmaps::Triple{ { 0, 0, 0 } });
  for (unsigned int d = 0; d < 3; ++d)
  {
    if (d >= dimension)
    {
      size[d] = 1;
    }
    else if (!windowSize)
    {
      // A radius beyond the limit, or below 0, must not wrap around to a small window.
      const auto limit = std::numeric_limits<voxelmaps::Triple::value_type>::max() / 4;
      size[d] = 2 * (radius[d] < 0 ? limit : std::min(radius[d], limit)) + 1;
    }
  }
  return size;
}

voxelmaps::Triple
TextureParameters::GetWindowAnchor() const
{
  const voxelmaps::Triple size = this->GetWindowSize();
  return windowAnchor.value_or(voxelmaps::Triple{ { size[0] / 2, size[1] / 2, size[2] / 2 } });
}

bool
TextureParameters::SetFeatureNames(const std::vector<std::string> & names)
{
  std::vector<ClassFeatures> selected;
  if (!filterClass.empty())
  {
    const voxelmaps::FeatureTable & table = voxelmaps::GetFeatureTable(filterClass);
    const std::string               prefix = filterClass + '_';
    selected.push_back({ filterClass, {} });
    for (const std::string & name : names)
    {
      const bool hasPrefix = name.compare(0, prefix.size(), prefix) == 0;
      selected[0].features.push_back(FindFeature(table, hasPrefix ? name.substr(prefix.size()) : name, name));
    }
  }
  for (const std::string & name : filterClass.empty() ? names : std::vector<std::string>())
  {
    const std::size_t separator = name.find('_');
    const std::string className = name.substr(0, separator);
    if (std::find(std::begin(textureClasses), std::end(textureClasses), className) == std::end(textureClasses))
    {
      std::string known;
      for (const char * const textureClass : textureClasses)
      {
        known += (known.empty() ? "" : ", ") + std::string(textureClass);
      }
      EngineErrorMacro(
        "Feature '" << name
                    << "' does not exist: it must begin with its class and '_', as glcm_Contrast. The classes are "
                    << known << '.');
    }
    const voxelmaps::FeatureTable & table = voxelmaps::GetFeatureTable(className);
    auto                            same = std::find_if(
      selected.begin(), selected.end(), [&className](const auto & each) { return each.className == className; });
    if (same == selected.end())
    {
      same = selected.insert(same, ClassFeatures{ className, {} });
    }
    const std::vector<unsigned int> features =
      separator == std::string::npos
        ? GetAllFeatures(table)
        : std::vector<unsigned int>{ FindFeature(table, name.substr(separator + 1), name) };
    for (const unsigned int feature : features)
    {
      if (std::find(same->features.begin(), same->features.end(), feature) != same->features.end())
      {
        EngineErrorMacro("The feature " << className << '_' << table[feature].pyRadiomicsName << " is given twice.");
      }
      same->features.push_back(feature);
    }
  }
  const auto isSame = [](const ClassFeatures & a, const ClassFeatures & b) {
    return a.className == b.className && a.features == b.features;
  };
  const bool changes = !std::equal(classes.begin(), classes.end(), selected.begin(), selected.end(), isSame);
  classes = selected;
  return changes;
}

std::vector<std::string>
TextureParameters::GetFeatureNames() const
{
  std::vector<std::string> names;
  for (const ClassFeatures & each : classes)
  {
    const voxelmaps::FeatureTable & table = voxelmaps::GetFeatureTable(each.className);
    for (const unsigned int feature : each.features)
    {
      names.push_back(filterClass.empty() ? std::string(table.GetClassName()) + '_' + table[feature].pyRadiomicsName
                                          : std::string(table[feature].abbreviation));
    }
  }
  const auto * const aggregation = this->Find<Aggregation>("Aggregation");
  if (aggregation == nullptr || *aggregation != Aggregation::PerDirection)
  {
    return names;
  }
  std::vector<std::string> namesPerOffset;
  for (const voxelmaps::Triple & offset : *this->Find<Offsets>("Offsets"))
  {
    std::string suffix;
    for (unsigned int d = 0; d < dimension; ++d)
    {
      suffix += '_' + std::to_string(offset[d]);
    }
    for (const std::string & name : names)
    {
      namesPerOffset.push_back(name + suffix);
    }
  }
  return namesPerOffset;
}

unsigned int
TextureParameters::GetFeatureIndex(const std::string & name) const
{
  const std::vector<std::string> names = this->GetFeatureNames();
  auto                           found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
  {
    // Another name of a feature, which must exist.
    TextureParameters single = *this;
    single.Set("Aggregation", Aggregation::Average);
    single.SetFeatureNames({ name });
    const std::vector<std::string> own = single.GetFeatureNames();
    found = own.size() == 1 ? std::find(names.begin(), names.end(), own[0]) : found;
  }
  if (found == names.end())
  {
    EngineErrorMacro("Feature '" << name << "' is not one of the maps, which are" << List{ names } << '.');
  }
  return static_cast<unsigned int>(found - names.begin());
}

void
TextureParameters::Verify() const
{
  const voxelmaps::Triple size = this->GetWindowSize();
  voxelmaps::VerifyWindow(size, this->GetWindowAnchor());
  discretization.Verify();
  VerifyFitsOutput("BackgroundValue", backgroundValue, outputIsDouble);
  if (const auto * const emptyValue = this->Find<double>("EmptyValue"))
  {
    VerifyFitsOutput("EmptyValue", *emptyValue, outputIsDouble);
  }
  if (filterClass.empty() && *this->Find<Aggregation>("Aggregation") == Aggregation::PerDirection)
  {
    EngineErrorMacro("Aggregation is PerDirection, but must be Average or Merge.");
  }
  if (const auto * const offsets = this->Find<Offsets>("Offsets"))
  {
    VerifyOffsets(*offsets,
                  dimension,
                  filterClass == "glrlm" ? 1 : maximumOffsetComponent,
                  filterClass == "glcm" && !*this->Find<bool>("Symmetric"));
    const auto hasCooccurrence = [](const ClassFeatures & each) { return each.className == "glcm"; };
    const auto isWithinWindow = [&size](const voxelmaps::Triple & offset) {
      return std::abs(offset[0]) < size[0] && std::abs(offset[1]) < size[1] && std::abs(offset[2]) < size[2];
    };
    if (std::any_of(classes.begin(), classes.end(), hasCooccurrence) &&
        std::none_of(offsets->begin(), offsets->end(), isWithinWindow))
    {
      EngineErrorMacro(
        "No window of " << ToText(size, dimension) << " voxels has a pair of any of the Offsets, such as "
                        << ToText((*offsets)[0], dimension) << ": choose larger windows or shorter offsets.");
    }
  }
  if (this->GetFeatureNames().empty())
  {
    EngineErrorMacro("There are 0 features selected, but at least one is needed.");
  }
  for (const int deviceID : otherDeviceIDs)
  {
    voxelmaps::CudaDevices::Verify(deviceID);
  }
}

void
TextureParameters::Print(std::ostream & os, Indent indent) const
{
  discretization.Print(os, indent);
  os << indent << "NeighborhoodRadius: " << ToText(radius, dimension) << std::endl;
  os << indent << "WindowSize: " << ToText(this->GetWindowSize(), dimension) << std::endl;
  os << indent << "WindowAnchor: " << ToText(this->GetWindowAnchor(), dimension) << std::endl;
  os << indent << "BackgroundValue: " << backgroundValue << std::endl;
  os << indent << "OtherDeviceIDs:" << List{ otherDeviceIDs } << std::endl;
  os << indent << "Method: " << method << std::endl;
  os << indent << "FeatureNames:" << List{ this->GetFeatureNames() } << std::endl;

  std::set<std::string> printed;
  Visit(*this, [&](const char * name, const auto & value) {
    if (printed.insert(name).second)
    {
      PrintParameter(os, indent, name, value, dimension);
    }
  });
}

std::vector<voxelmaps::TextureClassJob>
TextureParameters::MakeClassJobs(double voxelVolume) const
{
  std::vector<voxelmaps::TextureClassJob> made;
  for (const ClassFeatures & each : classes)
  {
    for (const voxelmaps::TextureClassJob & job : jobs)
    {
      std::visit(
        [&](auto ownJob) {
          using Job = decltype(ownJob);
          if (each.className != Job::Enums::GetFeatureTable().GetClassName())
          {
            return;
          }
          for (const unsigned int feature : each.features)
          {
            ownJob.features.push_back(static_cast<typename Job::Feature>(feature));
          }
          ownJob.method = method;
          if constexpr (std::is_same<Job, voxelmaps::FirstOrderJob>::value)
          {
            ownJob.voxelVolume = voxelVolume;
          }
          made.push_back(ownJob);
        },
        job);
    }
  }
  return made;
}

std::vector<std::string>
TextureParameters::GetAvailableMethods(const voxelmaps::Triple & outputSize, const int * deviceID) const
{
  std::vector<std::string> names;
  bool                     isFirst = true;
  for (voxelmaps::TextureClassJob & job : this->MakeClassJobs(1.0))
  {
    std::visit(
      [&](auto & classJob) {
        classJob.levelsSize = classJob.outputSize = outputSize;
        classJob.windowSize = this->GetWindowSize();
        classJob.windowAnchor = this->GetWindowAnchor();
        classJob.outputIsDouble = outputIsDouble;
        classJob.numberOfGrayLevels = discretization.used.numberOfGrayLevels > 0
                                        ? discretization.used.numberOfGrayLevels
                                        : static_cast<std::uint32_t>(discretization.Get().numberOfGrayLevels);
      },
      job);
    const auto fitting = deviceID != nullptr ? voxelmaps::GetCudaMethods(job, *deviceID) : voxelmaps::GetMethods(job);
    if (isFirst)
    {
      names = fitting;
    }
    const auto isMissing = [&fitting](const std::string & name) {
      return std::find(fitting.begin(), fitting.end(), name) == fitting.end();
    };
    names.erase(std::remove_if(names.begin(), names.end(), isMissing), names.end());
    isFirst = false;
  }
  return names;
}

void
TextureParameters::Compute(voxelmaps::FeatureMapsJob & job, double voxelVolume, const voxelmaps::CudaOptions * options)
{
  job.classes = this->MakeClassJobs(voxelVolume);
  job.discretization = discretization.Get();
  job.windowSize = this->GetWindowSize();
  job.windowAnchor = this->GetWindowAnchor();
  job.outputIsDouble = outputIsDouble;
  job.backgroundValue = backgroundValue;
  job.execution.CheckAbort();
  if (options == nullptr)
  {
    discretization.used = voxelmaps::ComputeFeatureMaps(job);
    return;
  }
  voxelmaps::CudaOptions allDevices = *options;
  allDevices.otherDeviceIDs = otherDeviceIDs;
  discretization.used = voxelmaps::ComputeFeatureMapsCuda(job, allDevices);
}
} // namespace VoxelMapsDetail
} // namespace itk
