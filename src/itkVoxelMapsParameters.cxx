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

/** The features of a job as enumerators. */
template <typename TJob>
voxelmaps::TextureClassJob
MakeJob(const std::vector<unsigned int> & features)
{
  TJob job;
  for (const unsigned int feature : features)
  {
    job.features.push_back(static_cast<typename TJob::Feature>(feature));
  }
  return job;
}

struct TextureClass
{
  const voxelmaps::FeatureTable & table;
  voxelmaps::TextureClassJob (*makeJob)(const std::vector<unsigned int> & features);
};

/** In the order of TextureFilter. */
const std::vector<TextureClass> &
GetClasses()
{
  static const std::vector<TextureClass> classes{
    { voxelmaps::CooccurrenceFeatureMapEnums::GetFeatureTable(), &MakeJob<voxelmaps::CooccurrenceJob> },
    { voxelmaps::DependenceFeatureMapEnums::GetFeatureTable(), &MakeJob<voxelmaps::DependenceJob> },
    { voxelmaps::FirstOrderFeatureMapEnums::GetFeatureTable(), &MakeJob<voxelmaps::FirstOrderJob> },
    { voxelmaps::GrayToneDifferenceFeatureMapEnums::GetFeatureTable(), &MakeJob<voxelmaps::GrayToneDifferenceJob> },
    { voxelmaps::RunLengthFeatureMapEnums::GetFeatureTable(), &MakeJob<voxelmaps::RunLengthJob> },
    { voxelmaps::SizeZoneFeatureMapEnums::GetFeatureTable(), &MakeJob<voxelmaps::SizeZoneJob> },
  };
  return classes;
}

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

constexpr voxelmaps::Triple::value_type maximumOffsetComponent = TextureParameters::maximumWindowSize - 1;
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
  const Parameters defaults;
  Parameters       result;
  result.method = method.value_or(binEdges             ? MethodEnum::Edges
                                  : binWidth           ? MethodEnum::FixedBinSizeAtMultiples
                                  : numberOfGrayLevels ? MethodEnum::FixedBinNumber
                                                       : defaultMethod);
  result.numberOfGrayLevels = numberOfGrayLevels.value_or(defaults.numberOfGrayLevels);
  result.binWidth = binWidth.value_or(defaults.binWidth);
  result.binEdges = binEdges.value_or(defaults.binEdges);
  result.rangeSource =
    rangeSource.value_or(rangeMinimum || rangeMaximum ? RangeSourceEnum::Given : defaults.rangeSource);
  result.rangeMinimum = rangeMinimum.value_or(defaults.rangeMinimum);
  result.rangeMaximum = rangeMaximum.value_or(defaults.rangeMaximum);
  return result;
}

bool
DiscretizationSettings::TakeBackOthers(const void * last)
{
  bool       changes = false;
  const auto takeBack = [&](auto &... parameters) {
    const auto one = [&](auto & parameter) {
      if (&parameter != last && parameter)
      {
        parameter.reset();
        changes = true;
      }
    };
    (one(parameters), ...);
  };
  const bool isSize = last == &numberOfGrayLevels || last == &binWidth || last == &binEdges;
  if (isSize)
  {
    takeBack(numberOfGrayLevels, binWidth, binEdges);
  }
  const Parameters parameters = this->Get();
  if (last == &method)
  {
    if (!UsesNumberOfGrayLevels(parameters.method))
    {
      takeBack(numberOfGrayLevels);
    }
    if (!UsesBinWidth(parameters.method))
    {
      takeBack(binWidth);
    }
    if (parameters.method != MethodEnum::Edges)
    {
      takeBack(binEdges);
    }
  }
  if (((isSize || last == &method) && !parameters.UsesRange()) ||
      (last == &rangeSource && *rangeSource != RangeSourceEnum::Given))
  {
    takeBack(rangeMinimum, rangeMaximum);
  }
  return changes;
}

bool
DiscretizationSettings::Clear()
{
  const bool changes =
    method || numberOfGrayLevels || binWidth || binEdges || rangeSource || rangeMinimum || rangeMaximum;
  method.reset();
  numberOfGrayLevels.reset();
  binWidth.reset();
  binEdges.reset();
  rangeSource.reset();
  rangeMinimum.reset();
  rangeMaximum.reset();
  return changes;
}

void
DiscretizationSettings::Verify() const
{
  const Parameters parameters = this->Get();
  parameters.Verify();
  const auto verify = [&parameters](const char * name, bool isSet, bool isUsed) {
    if (isSet && !isUsed)
    {
      EngineErrorMacro(name << " is set, but has no effect: DiscretizationMethod is " << parameters.method
                            << ". Choose another method, or call ClearDiscretization() and leave it out.");
    }
  };
  verify("NumberOfGrayLevels", numberOfGrayLevels.has_value(), UsesNumberOfGrayLevels(parameters.method));
  verify("BinWidth", binWidth.has_value(), UsesBinWidth(parameters.method));
  verify("BinEdges", binEdges.has_value(), parameters.method == MethodEnum::Edges);
  if (rangeMinimum.has_value() != rangeMaximum.has_value())
  {
    EngineErrorMacro("RangeM" << (rangeMinimum ? "inimum" : "aximum") << " is "
                              << rangeMinimum.value_or(rangeMaximum.value_or(0.0)) << ", but RangeM"
                              << (rangeMinimum ? "aximum" : "inimum") << " is not set: set both.");
  }
  if (rangeMinimum && !parameters.UsesRange())
  {
    EngineErrorMacro("RangeMinimum and RangeMaximum are set, but have no effect: DiscretizationMethod is "
                     << parameters.method
                     << ". Choose another method, or call ClearDiscretization() and leave them out.");
  }
  if (rangeMinimum && parameters.rangeSource != RangeSourceEnum::Given)
  {
    EngineErrorMacro("RangeMinimum and RangeMaximum are set, but have no effect: RangeSource is "
                     << parameters.rangeSource << ". Set RangeSource to Given.");
  }
}

void
DiscretizationSettings::Print(std::ostream & os, Indent indent) const
{
  const Parameters parameters = this->Get();
  os << indent << "DiscretizationMethod: " << parameters.method << std::endl;
  os << indent << "NumberOfGrayLevels: " << parameters.numberOfGrayLevels << std::endl;
  os << indent << "BinWidth: " << parameters.binWidth << std::endl;
  os << indent << "BinEdges:" << List{ parameters.binEdges } << std::endl;
  os << indent << "RangeSource: " << parameters.rangeSource << std::endl;
  os << indent << "RangeMinimum: " << parameters.rangeMinimum << std::endl;
  os << indent << "RangeMaximum: " << parameters.rangeMaximum << std::endl;
  os << indent << "UsedNumberOfGrayLevels: " << used.numberOfGrayLevels << std::endl;
  os << indent << "UsedRangeMinimum: " << used.rangeMinimum << std::endl;
  os << indent << "UsedRangeMaximum: " << used.rangeMaximum << std::endl;
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

TextureParameters::TextureParameters(TextureFilter filterOfParameters, unsigned int imageDimension, bool isDouble)
  : filter(filterOfParameters)
  , dimension(imageDimension)
  , outputIsDouble(isDouble)
  , offsets(filter == TextureFilter::RunLength ? GetRunOffsets(dimension) : GetPairOffsets("", dimension, { 1 }, false))
{
  if (filter == TextureFilter::SeveralClasses)
  {
    discretization.defaultMethod = MethodEnum::FixedBinSizeAtMultiples;
    return;
  }
  const auto                number = static_cast<unsigned int>(filter);
  std::vector<unsigned int> features = GetAllFeatures(GetClasses()[number].table);
  if (filter == TextureFilter::Cooccurrence)
  {
    using Feature = voxelmaps::CooccurrenceFeatureMapEnums::Feature;
    features.erase(features.begin() + static_cast<std::ptrdiff_t>(Feature::MaximalCorrelationCoefficient));
  }
  if (filter == TextureFilter::RunLength)
  {
    features.clear();
    for (const auto feature : voxelmaps::RunLengthFeatureMapEnums::GetElevenFeatures())
    {
      features.push_back(static_cast<unsigned int>(feature));
    }
  }
  classes.push_back({ number, features });
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
  if (filter != TextureFilter::SeveralClasses)
  {
    const voxelmaps::FeatureTable & table = GetClasses()[static_cast<unsigned int>(filter)].table;
    const std::string               prefix = std::string(table.GetClassName()) + '_';
    selected.push_back({ static_cast<unsigned int>(filter), {} });
    for (const std::string & name : names)
    {
      const bool hasPrefix = name.compare(0, prefix.size(), prefix) == 0;
      selected[0].features.push_back(FindFeature(table, hasPrefix ? name.substr(prefix.size()) : name, name));
    }
  }
  for (const std::string & name : filter == TextureFilter::SeveralClasses ? names : std::vector<std::string>())
  {
    const std::size_t separator = name.find('_');
    const std::string className = name.substr(0, separator);
    std::string       classNames;
    unsigned int      number = 0;
    for (; number < GetClasses().size() && className != GetClasses()[number].table.GetClassName(); ++number)
    {
      classNames += (classNames.empty() ? "" : ", ") + std::string(GetClasses()[number].table.GetClassName());
    }
    if (number == GetClasses().size())
    {
      EngineErrorMacro(
        "Feature '" << name
                    << "' does not exist: it must begin with its class and '_', as glcm_Contrast. The classes are "
                    << classNames << '.');
    }
    const voxelmaps::FeatureTable & table = GetClasses()[number].table;
    auto                            same = std::find_if(
      selected.begin(), selected.end(), [number](const auto & each) { return each.textureClass == number; });
    if (same == selected.end())
    {
      same = selected.insert(same, ClassFeatures{ number, {} });
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
    return a.textureClass == b.textureClass && a.features == b.features;
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
    const voxelmaps::FeatureTable & table = GetClasses()[each.textureClass].table;
    for (const unsigned int feature : each.features)
    {
      names.push_back(filter == TextureFilter::SeveralClasses
                        ? std::string(table.GetClassName()) + '_' + table[feature].pyRadiomicsName
                        : std::string(table[feature].abbreviation));
    }
  }
  if (aggregation != Aggregation::PerDirection)
  {
    return names;
  }
  std::vector<std::string> namesPerOffset;
  for (const voxelmaps::Triple & offset : offsets)
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
    single.aggregation = Aggregation::Average;
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
  const voxelmaps::Triple       size = this->GetWindowSize();
  const voxelmaps::Triple       anchor = this->GetWindowAnchor();
  voxelmaps::Triple::value_type numberOfVoxels = 1;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    if (size[d] < 1 || size[d] > maximumWindowSize)
    {
      EngineErrorMacro("The window size is " << ToText(size, dimension) << ", but must be 1 to " << maximumWindowSize
                                             << " voxels along every axis.");
    }
    if (anchor[d] < 0 || anchor[d] >= size[d])
    {
      EngineErrorMacro("The window anchor is " << ToText(anchor, dimension)
                                               << ", but must be 0 to size - 1 along every axis of a window of "
                                               << ToText(size, dimension) << " voxels.");
    }
    numberOfVoxels *= size[d];
  }
  if (numberOfVoxels > maximumNumberOfVoxelsInWindow)
  {
    EngineErrorMacro("The window of " << ToText(size, dimension) << " has " << numberOfVoxels << " voxels, but at most "
                                      << maximumNumberOfVoxelsInWindow << " are possible.");
  }
  discretization.Verify();
  VerifyFitsOutput("BackgroundValue", backgroundValue, outputIsDouble);
  VerifyFitsOutput("EmptyValue", emptyValue, outputIsDouble);
  if (filter == TextureFilter::SeveralClasses && aggregation == Aggregation::PerDirection)
  {
    EngineErrorMacro("Aggregation is PerDirection, but must be Average or Merge.");
  }
  VerifyOffsets(offsets,
                dimension,
                filter == TextureFilter::RunLength ? 1 : maximumOffsetComponent,
                filter == TextureFilter::Cooccurrence && !symmetric);
  const auto hasCooccurrence = [](const ClassFeatures & each) {
    return each.textureClass == static_cast<unsigned int>(TextureFilter::Cooccurrence);
  };
  const auto isWithinWindow = [&size](const voxelmaps::Triple & offset) {
    return std::abs(offset[0]) < size[0] && std::abs(offset[1]) < size[1] && std::abs(offset[2]) < size[2];
  };
  if (std::any_of(classes.begin(), classes.end(), hasCooccurrence) &&
      std::none_of(offsets.begin(), offsets.end(), isWithinWindow))
  {
    EngineErrorMacro("No window of " << ToText(size, dimension) << " voxels has a pair of any of the Offsets, such as "
                                     << ToText(offsets[0], dimension) << ": choose larger windows or shorter offsets.");
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

  // What each filter has of these is in its documentation.
  const auto print = [&](const char * name, const auto & value, const auto &... filters) {
    if (((filter == filters) || ...))
    {
      os << indent << name << ": " << value << std::endl;
    }
  };
  const auto onOff = [](bool value) { return value ? "On" : "Off"; };
  using F = TextureFilter;
  std::string offsetTexts;
  for (const voxelmaps::Triple & offset : offsets)
  {
    offsetTexts += (offsetTexts.empty() ? "" : " ") + ToText(offset, dimension);
  }
  print("Offsets", offsetTexts, F::Cooccurrence, F::Dependence, F::GrayToneDifference, F::RunLength, F::SeveralClasses);
  print("Aggregation", aggregation, F::Cooccurrence, F::RunLength, F::SeveralClasses);
  print("OffsetWeights", List{ offsetWeights }, F::Cooccurrence, F::RunLength);
  print("Symmetric", onOff(symmetric), F::Cooccurrence, F::SeveralClasses);
  print("EmptyValue", emptyValue, F::Cooccurrence);
  print("RegionHasOneLevel", onOff(regionHasOneLevel), F::Cooccurrence);
  print("Alpha", alpha, F::Dependence, F::SeveralClasses);
  print("VoxelArrayShift", voxelArrayShift, F::FirstOrder, F::SeveralClasses);
  print("CountVoxelsWithoutNeighbors", onOff(countVoxelsWithoutNeighbors), F::GrayToneDifference);
  print("SkipDirectionsWithoutPairs", onOff(skipDirectionsWithoutPairs), F::RunLength);
  print("Connectivity", connectivity, F::SizeZone);
}

std::vector<voxelmaps::TextureClassJob>
TextureParameters::MakeClassJobs(double voxelVolume) const
{
  std::vector<voxelmaps::TextureClassJob> jobs;
  for (const ClassFeatures & each : classes)
  {
    jobs.push_back(GetClasses()[each.textureClass].makeJob(each.features));
    voxelmaps::TextureClassJob & made = jobs.back();
    std::visit([this](auto & classJob) { classJob.method = method; }, made);
    if (auto * const cooccurrence = std::get_if<voxelmaps::CooccurrenceJob>(&made))
    {
      cooccurrence->offsets = offsets;
      cooccurrence->offsetWeights = offsetWeights;
      // The enumerations of the two classes are the same.
      cooccurrence->aggregation = static_cast<voxelmaps::CooccurrenceJob::Aggregation>(aggregation);
      cooccurrence->symmetric = symmetric;
      cooccurrence->emptyValue = emptyValue;
      cooccurrence->hasOneLevel = regionHasOneLevel;
    }
    else if (auto * const dependence = std::get_if<voxelmaps::DependenceJob>(&made))
    {
      dependence->offsets = offsets;
      dependence->alpha = alpha;
    }
    else if (auto * const firstOrder = std::get_if<voxelmaps::FirstOrderJob>(&made))
    {
      firstOrder->voxelArrayShift = voxelArrayShift;
      firstOrder->voxelVolume = voxelVolume;
    }
    else if (auto * const grayTone = std::get_if<voxelmaps::GrayToneDifferenceJob>(&made))
    {
      grayTone->offsets = offsets;
      grayTone->countVoxelsWithoutNeighbors = countVoxelsWithoutNeighbors;
    }
    else if (auto * const runLength = std::get_if<voxelmaps::RunLengthJob>(&made))
    {
      const bool isSingle = filter == TextureFilter::RunLength;
      runLength->offsets = isSingle ? offsets : GetPairOffsets("", dimension, { 1 }, false);
      runLength->offsetWeights = offsetWeights;
      runLength->aggregation = aggregation;
      runLength->skipDirectionsWithoutPairs = skipDirectionsWithoutPairs || !isSingle;
    }
    else if (auto * const sizeZone = std::get_if<voxelmaps::SizeZoneJob>(&made))
    {
      sizeZone->connectivity = connectivity;
    }
  }
  return jobs;
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
