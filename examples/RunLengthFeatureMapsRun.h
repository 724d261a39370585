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
#ifndef RunLengthFeatureMapsRun_h
#define RunLengthFeatureMapsRun_h

// What the program RunLengthFeatureMaps does with its options.

#include "io/CommandLine.h"
#include "io/Geometry.h"
#include "io/ImageReading.h"
#include "itkVoxelMapsEnums.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace RunLengthFeatureMapsProgram
{
using Enums = itk::RunLengthFeatureMapEnums;

const std::map<std::string, Enums::Aggregation> aggregations{ { "per-direction", Enums::Aggregation::PerDirection },
                                                              { "average", Enums::Aggregation::Average },
                                                              { "merge", Enums::Aggregation::Merge } };

const std::vector<std::string> directions{ "all", "in-plane" };

struct Options
{
  std::string                       input;
  std::string                       output;
  std::string                       mask;
  ExampleIO::MaskGeometryRules      maskGeometry;
  std::optional<itk::SizeValueType> radius;
  std::vector<itk::SizeValueType>   window;
  std::vector<itk::OffsetValueType> anchor;
  std::optional<unsigned int>       levels;
  std::optional<double>             binWidth;
  bool                              asLevels{ false };
  std::vector<double>               range;
  std::string                       aggregation{ "average" };
  std::vector<std::string>          features;
  std::string                       offsets{ "all" };
  bool                              crop{ false };
  bool                              quiet{ false };
  bool                              progressXML{ false };
  ExampleIO::DicomOptions           dicom;
  /** The files of --output-sre and so on; empty if not given. */
  std::map<Enums::Feature, std::string> featureFiles;
};

/** The defaults of the filter: radius of the window and number of gray levels. */
std::pair<itk::SizeValueType, unsigned int>
GetDefaults();

/** Compute and write the maps of an image with this number of dimensions. */
void
Run2D(const ExampleIO::Input & input, const Options & options, const std::vector<Enums::Feature> & features);
void
Run3D(const ExampleIO::Input & input, const Options & options, const std::vector<Enums::Feature> & features);
} // namespace RunLengthFeatureMapsProgram

#endif // RunLengthFeatureMapsRun_h
