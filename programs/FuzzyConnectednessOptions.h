// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzyConnectednessOptions_h
#define FuzzyConnectednessOptions_h

// The command line of the program FuzzyConnectedness.

#include "io/CommandLine.h"
#include "io/SlicerModule.h"
#include "itkVoxelMapsEnums.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace FuzzyConnectednessProgram
{
using Enums = itk::FuzzyConnectednessEnums;
using LabelEnums = itk::RelativeFuzzyConnectednessEnums;

const std::map<std::string, Enums::AffinityFunction> affinities{
  { "geometric-mean", Enums::AffinityFunction::GeometricMean },
  { "weighted-sum", Enums::AffinityFunction::WeightedSum },
  { "minimum", Enums::AffinityFunction::Minimum },
  { "homogeneity", Enums::AffinityFunction::Homogeneity },
  { "absolute", Enums::AffinityFunction::AbsoluteDifference }
};
const std::map<std::string, Enums::Method>           methods{ { "automatic", Enums::Method::Automatic },
                                                              { "buckets", Enums::Method::Buckets },
                                                              { "hierarchy", Enums::Method::Hierarchy } };
const std::map<std::string, LabelEnums::Competition> competitions{ { "relative", LabelEnums::Competition::Relative },
                                                                   { "iterative",
                                                                     LabelEnums::Competition::Iterative } };
const std::map<std::string, LabelEnums::TieRule>     tieRules{ { "background", LabelEnums::TieRule::Background },
                                                               { "lowest", LabelEnums::TieRule::LowestLabel } };

/** Seeds are texts: numbers, the last of which may be followed by = and a label. */
struct Options
{
  std::string                           input;
  std::string                           output;
  std::vector<std::vector<std::string>> seeds;
  std::vector<std::vector<std::string>> seedPoints;
  std::string                           seedPointFrame{ "lps" };
  std::string                           seedImage;
  std::string                           mask;
  bool                                  cropToSeeds{ false };
  std::vector<double>                   cropMargin;
  bool                                  cropMarginInMillimeters{ false };
  ProgramIO::MaskGeometryRules          maskGeometry;
  std::string                           labels;
  std::string                           margin;
  std::string                           competition{ "relative" };
  std::string                           ties{ "background" };
  std::string                           affinity{ "geometric-mean" };
  std::optional<double>                 mean;
  std::optional<double>                 variance;
  std::optional<double>                 differenceMean;
  std::optional<double>                 differenceVariance;
  std::optional<double>                 weight;
  std::optional<unsigned int>           estimateRadius;
  double                                minimumStrength{ 0.0 };
  std::optional<unsigned int>           connectivity;
  bool                                  distanceWeighting{ false };
  double                                threshold{ 0.0 };
  bool                                  suggestThreshold{ false };
  double                                minimumVolume{ 0.0 };
  std::string                           object;
  std::string                           method{ "automatic" };
  bool                                  quiet{ false };
  bool                                  progressXML{ false };
  ProgramIO::DicomOptions               dicom;
};

void
AddOptions(CLI::App & app, ProgramIO::ModuleDescription & module, Options & options);

/** Throw if options exclude each other in a way that only their values tell. */
void
VerifyOptions(const Options & options);

/** A place and a label, 0 if there is none. */
template <typename T>
struct Seed
{
  std::vector<T> place;
  unsigned short label{ 0 };
};

/** Read the value of an option for seeds. Throws if a label is not at its end, if it has none but all seeds need one,
 * or if it has one that nothing is computed for. */
template <typename T>
Seed<T>
ParseSeed(const std::string & option, const std::vector<std::string> & words, const Options & options);

extern template Seed<itk::IndexValueType>
ParseSeed(const std::string &, const std::vector<std::string> &, const Options &);
extern template Seed<double>
ParseSeed(const std::string &, const std::vector<std::string> &, const Options &);
} // namespace FuzzyConnectednessProgram

#endif // FuzzyConnectednessOptions_h
