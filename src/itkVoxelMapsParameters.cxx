// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsParameters.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <variant>

namespace itk
{
namespace VoxelMapsDetail
{
namespace
{
using MethodEnum = voxelmaps::GrayLevelDiscretizationEnums::Method;
using RangeSourceEnum = voxelmaps::GrayLevelDiscretizationEnums::RangeSource;

template <typename... TParts>
[[noreturn]] void
ThrowError(const TParts &... parts)
{
  std::ostringstream message;
  (message << ... << parts);
  throw voxelmaps::EngineError(message.str());
}

template <typename TValue>
void
Print(std::ostream & os, Indent indent, const char * name, const TValue & value)
{
  os << indent << name << ": " << value << std::endl;
}

/** The enumerations of the class of a job. */
template <typename TEnums, typename TJob>
voxelmaps::TextureClassJob
MakeJob(const std::vector<unsigned int> & features)
{
  TJob job;
  for (const unsigned int feature : features)
  {
    job.features.push_back(static_cast<typename TEnums::Feature>(feature));
  }
  return job;
}

struct TextureClass
{
  const voxelmaps::FeatureTable & table;
  voxelmaps::TextureClassJob (*makeJob)(const std::vector<unsigned int> & features);
};

template <typename TEnums, typename TJob>
TextureClass
MakeClass()
{
  return { TEnums::GetFeatureTable(), &MakeJob<TEnums, TJob> };
}

/** In the order of voxelmaps::TextureClassJob. */
const std::vector<TextureClass> &
GetClasses()
{
  static const std::vector<TextureClass> classes{
    MakeClass<voxelmaps::CooccurrenceFeatureMapEnums, voxelmaps::CooccurrenceJob>(),
    MakeClass<voxelmaps::DependenceFeatureMapEnums, voxelmaps::DependenceJob>(),
    MakeClass<voxelmaps::FirstOrderFeatureMapEnums, voxelmaps::FirstOrderJob>(),
    MakeClass<voxelmaps::GrayToneDifferenceFeatureMapEnums, voxelmaps::GrayToneDifferenceJob>(),
    MakeClass<voxelmaps::RunLengthFeatureMapEnums, voxelmaps::RunLengthJob>(),
    MakeClass<voxelmaps::SizeZoneFeatureMapEnums, voxelmaps::SizeZoneJob>(),
  };
  return classes;
}
} // namespace

bool
IsCudaAllowed()
{
  const char * const variable = std::getenv("VOXELMAPS_USE_CUDA");
  std::string        value(variable != nullptr ? variable : "");
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
  return value != "0" && value != "OFF" && value != "NO" && value != "FALSE";
}

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

void
DiscretizationSettings::Verify() const
{
  const Parameters parameters = this->Get();
  parameters.Verify();
  const auto verify = [&parameters](bool isSet, const char * name, const auto &... methods) {
    if (isSet && !((parameters.method == methods) || ...))
    {
      ThrowError(name,
                 " is set, but has no effect: DiscretizationMethod is ",
                 parameters.method,
                 ". Leave it out, or choose another method.");
    }
  };
  verify(numberOfGrayLevels.has_value(),
         "NumberOfGrayLevels",
         MethodEnum::FixedBinNumber,
         MethodEnum::Identity,
         MethodEnum::Levels);
  verify(binWidth.has_value(), "BinWidth", MethodEnum::FixedBinSize, MethodEnum::FixedBinSizeAtMultiples);
  verify(binEdges.has_value(), "BinEdges", MethodEnum::Edges);
  if (rangeMinimum.has_value() != rangeMaximum.has_value())
  {
    ThrowError("RangeM",
               rangeMinimum ? "inimum" : "aximum",
               " is ",
               rangeMinimum.value_or(rangeMaximum.value_or(0.0)),
               ", but RangeM",
               rangeMinimum ? "aximum" : "inimum",
               " is not set: set both.");
  }
  if (rangeMinimum && !parameters.UsesRange())
  {
    ThrowError("RangeMinimum and RangeMaximum are set, but have no effect: DiscretizationMethod is ",
               parameters.method,
               ". Leave them out, or choose another method.");
  }
  if (rangeMinimum && parameters.rangeSource != RangeSourceEnum::Given)
  {
    ThrowError("RangeMinimum and RangeMaximum are set, but have no effect: RangeSource is ",
               parameters.rangeSource,
               ". Leave them out, or set RangeSource to Given.");
  }
}

void
DiscretizationSettings::Print(std::ostream & os, Indent indent) const
{
  const Parameters   parameters = this->Get();
  std::ostringstream edges;
  for (const double edge : parameters.binEdges)
  {
    edges << ' ' << edge;
  }
  VoxelMapsDetail::Print(os, indent, "DiscretizationMethod", parameters.method);
  VoxelMapsDetail::Print(os, indent, "NumberOfGrayLevels", parameters.numberOfGrayLevels);
  VoxelMapsDetail::Print(os, indent, "BinWidth", parameters.binWidth);
  os << indent << "BinEdges:" << edges.str() << std::endl;
  VoxelMapsDetail::Print(os, indent, "RangeSource", parameters.rangeSource);
  VoxelMapsDetail::Print(os, indent, "RangeMinimum", parameters.rangeMinimum);
  VoxelMapsDetail::Print(os, indent, "RangeMaximum", parameters.rangeMaximum);
}

std::vector<voxelmaps::TextureClassJob>
MakeTextureClassJobs(const std::vector<std::string> & names)
{
  std::vector<std::pair<const TextureClass *, std::vector<unsigned int>>> selected;
  for (const std::string & name : names)
  {
    const std::size_t    separator = name.find('_');
    const std::string    className = name.substr(0, separator);
    const TextureClass * found = nullptr;
    std::string          classNames;
    for (const TextureClass & each : GetClasses())
    {
      found = className == each.table.GetClassName() ? &each : found;
      classNames += (classNames.empty() ? "" : ", ") + std::string(each.table.GetClassName());
    }
    if (found == nullptr)
    {
      ThrowError("Feature '",
                 name,
                 "' does not exist: it must begin with its class and '_', as glcm_Contrast. The classes are ",
                 classNames,
                 '.');
    }
    std::vector<unsigned int> features(1);
    if (separator == std::string::npos)
    {
      features.clear();
      for (unsigned int i = 0; i < found->table.GetNumberOfFeatures(); ++i)
      {
        features.push_back(i);
      }
    }
    else if (!found->table.Find(name.substr(separator + 1), features[0]))
    {
      std::ostringstream known;
      for (unsigned int i = 0; i < found->table.GetNumberOfFeatures(); ++i)
      {
        known << (i == 0 ? " " : ", ") << found->table[i].pyRadiomicsName;
      }
      ThrowError("Feature '", name, "' does not exist; class ", className, " has", known.str(), '.');
    }
    auto of =
      std::find_if(selected.begin(), selected.end(), [found](const auto & each) { return each.first == found; });
    if (of == selected.end())
    {
      selected.emplace_back(found, std::vector<unsigned int>());
      of = selected.end() - 1;
    }
    for (const unsigned int feature : features)
    {
      if (std::find(of->second.begin(), of->second.end(), feature) != of->second.end())
      {
        ThrowError("The feature ", className, '_', found->table[feature].pyRadiomicsName, " is given twice.");
      }
      of->second.push_back(feature);
    }
  }
  std::vector<voxelmaps::TextureClassJob> jobs;
  for (const auto & each : selected)
  {
    jobs.push_back(each.first->makeJob(each.second));
  }
  return jobs;
}

std::vector<std::string>
GetFeatureNames(const std::vector<voxelmaps::TextureClassJob> & jobs)
{
  std::vector<std::string> names;
  for (const voxelmaps::TextureClassJob & job : jobs)
  {
    const voxelmaps::FeatureTable & table = GetClasses()[job.index()].table;
    std::visit(
      [&](const auto & typedJob) {
        for (const auto feature : typedJob.features)
        {
          names.push_back(std::string(table.GetClassName()) + '_' +
                          table[static_cast<unsigned int>(feature)].pyRadiomicsName);
        }
      },
      job);
  }
  return names;
}
} // namespace VoxelMapsDetail
} // namespace itk
