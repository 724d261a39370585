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

// A picture of an image and its feature maps, each with a name and a color bar, as Figure 10 of Zhang et al. (2019).

#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/CommandLine.h"
#include "Rendering.h"
#include "itkMetaDataObject.h"
#include "itkRegionOfInterestImageFilter.h"
#include "itkVoxelMapsEnums.h"
#include "itkVectorIndexSelectionCastImageFilter.h"

namespace
{
using Enums = itk::RunLengthFeatureMapEnums;
using ImageType = itk::Image<float, 3>;
using MapsType = itk::VectorImage<float, 3>;

struct Options
{
  std::string                       input;
  std::string                       maps;
  std::string                       output;
  std::optional<itk::SizeValueType> slice;
  unsigned short                    columns{ 4 };
  std::vector<std::string>          names;
  std::vector<std::string>          log{ "LGRE", "SRLGE", "LRLGE", "LRHGE" };
  std::string                       title;
};

struct Panel
{
  std::string                     name;
  ImageType::Pointer              slice;
  vtkSmartPointer<vtkImageData>   pixels;
  vtkSmartPointer<vtkLookupTable> table;
};

/** The names of the components: as the user or the file says, or those of the filter's default features. */
std::vector<std::string>
GetNames(const itk::MetaDataDictionary & dictionary, const Options & options)
{
  std::string list;
  if (!options.names.empty())
  {
    return options.names;
  }
  if (itk::ExposeMetaData<std::string>(dictionary, "FeatureNames", list))
  {
    return CLI::detail::split(list, ',');
  }
  std::vector<std::string> names;
  for (const auto feature : Enums::GetElevenFeatures())
  {
    names.emplace_back(Enums::GetAbbreviation(feature));
  }
  return names;
}

/** Whether a component is shown on a logarithmic scale: LGRE stands for LGRE_1_0 as well. */
bool
IsLogarithmic(const std::string & component, const Options & options)
{
  return std::any_of(options.log.begin(), options.log.end(), [&component](const std::string & name) {
    Enums::Feature feature{};
    if (name != "none" && !Enums::FindFeature(name, feature))
    {
      throw std::runtime_error("--log: there is no feature '" + name + "'");
    }
    return name != "none" && component.substr(0, component.find('_')) == Enums::GetAbbreviation(feature);
  });
}

void
DrawPicture(const std::vector<Panel> & panels, const std::string & fileName, const Options & options)
{
  constexpr double barSpace = 100.0;
  constexpr double longestSide = 400.0;

  // A whole number of pixels per voxel where there is room, so that voxels stay sharp.
  const auto   pixels = panels.front().pixels;
  const double width = Rendering::GetLength(pixels, 0);
  const double height = Rendering::GetLength(pixels, 1);
  const double finest = std::min(pixels->GetSpacing()[0], pixels->GetSpacing()[1]);
  const double largest = longestSide * finest / std::max(width, height);
  const double scale = (largest >= 1.0 ? std::round(largest) : largest) / finest;

  const int columns = std::min<int>(options.columns, static_cast<int>(panels.size()));
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;

  Rendering::Rectangle place{ 0.0, 0.0, std::round(scale * width), std::round(scale * height) };
  place.width = std::max(place.width, 1.0);
  place.height = std::max(place.height, 1.0);
  const double      panelWidth = std::max(place.width, 150.0) + barSpace;
  const double      panelHeight = Rendering::Canvas::NameHeight + place.height + 22.0;
  Rendering::Canvas canvas(
    static_cast<int>(columns * panelWidth), static_cast<int>(rows * panelHeight) - 12, options.title);
  for (std::size_t i = 0; i < panels.size(); ++i)
  {
    const auto & panel = panels[i];
    const bool   isLogarithmic = panel.table->GetScale() == VTK_SCALE_LOG10;
    place.x = static_cast<double>(i % columns) * panelWidth;
    place.y = static_cast<double>(i / columns) * panelHeight + Rendering::Canvas::NameHeight;
    canvas.AddName(panel.name + (isLogarithmic ? "  (log scale)" : ""), place.x, place.y);
    canvas.AddSlice({ panel.pixels, 2, 0, place }, panel.table, largest < 1.0);
    canvas.AddColorBar({ place.x + place.width + 10.0, place.y, 18.0, place.height }, panel.table);
  }
  canvas.Write(fileName);
}

void
Run(const Options & options)
{
  const auto input = ExampleIO::FindScalarInput(options.input);
  const auto mapsInput = ExampleIO::FindInput(options.maps);
  if (input.dimension != mapsInput.dimension)
  {
    throw std::runtime_error("'" + options.input + "' and '" + options.maps + "' differ in dimension");
  }
  Rendering::CheckPictureName(options.output);
  ExampleIO::OutputFiles outputs({ options.input, options.maps });
  outputs.AddFile(options.output);

  // A 2D image is read as one slice.
  const auto maps = ExampleIO::ReadFiles<MapsType>(mapsInput);
  const auto names = GetNames(mapsInput.imageIO->GetMetaDataDictionary(), options);
  const auto components = maps->GetNumberOfComponentsPerPixel();
  if (names.size() != components)
  {
    throw std::runtime_error("'" + options.maps + "' has " + std::to_string(components) +
                             " components, but there are " + std::to_string(names.size()) +
                             " names; give theirs with --names");
  }
  const auto image = ExampleIO::ReadScalarImage<ImageType>(input);
  auto       region = image->GetLargestPossibleRegion();
  if (region.GetSize() != maps->GetLargestPossibleRegion().GetSize())
  {
    throw std::runtime_error("'" + options.input + "' and '" + options.maps + "' differ in size");
  }
  maps->SetSpacing(image->GetSpacing());
  maps->SetDirection(image->GetDirection());

  const bool isVolume = input.dimension == 3;
  const auto axis = Rendering::MakeOrientFilter(image.GetPointer(), isVolume)->GetPermuteOrder()[2];
  const auto slice = options.slice.value_or(region.GetSize(axis) / 2);
  if (slice >= region.GetSize(axis))
  {
    throw std::runtime_error("--slice: " + std::to_string(slice) + " is not one of the slices 0 to " +
                             std::to_string(region.GetSize(axis) - 1));
  }
  region.SetIndex(axis, static_cast<itk::IndexValueType>(slice));
  region.SetSize(axis, 1);
  const auto makePanel = [&](const std::string & name, const ImageType * volume) {
    auto selection = itk::RegionOfInterestImageFilter<ImageType, ImageType>::New();
    selection->SetInput(volume);
    selection->SetRegionOfInterest(region);
    const auto orient = Rendering::MakeOrientFilter(selection->GetOutput(), isVolume);
    orient->Update();
    const ImageType::Pointer pixels = orient->GetOutput();
    return Panel{ name, pixels, Rendering::ShareWithVTK(pixels.GetPointer()), nullptr };
  };

  std::vector<Panel> panels{ makePanel("Input", image) };
  panels[0].table = Rendering::MakeGrayTable(Rendering::GetPercentileRange(panels[0].pixels, 99.0));
  auto component = itk::VectorIndexSelectionCastImageFilter<MapsType, ImageType>::New();
  component->SetInput(maps);
  for (unsigned int i = 0; i < components; ++i)
  {
    component->SetIndex(i);
    const bool isLogarithmic = IsLogarithmic(names[i], options);
    Panel      panel = makePanel(names[i], component->GetOutput());
    panel.table =
      Rendering::MakeColorTable(Rendering::GetPercentileRange(panel.pixels, 99.0, isLogarithmic), isLogarithmic);
    panels.push_back(panel);
  }
  DrawPicture(panels, outputs.GetTemporaryName(options.output), options);
  outputs.FinishFile(options.output);
  outputs.Commit();
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Draw an image and its feature maps, each with a name and a color bar.", "RenderFeatureMaps" };
  app.add_option("INPUT", options.input, "image: any file that ITK reads, or a directory of DICOM files")->required();
  app.add_option("MAPS", options.maps, "vector image that FeatureMaps computed from it")->required();
  app.add_option("OUTPUT", options.output, "picture to write (.png)")->required();
  ExampleIO::AddNumbers(app, "--slice", options.slice, "K", "axial slice of a 3D image, from 0 (default: the middle)");
  ExampleIO::AddNumbers<unsigned short>(app, "--columns", options.columns, "N", "number of panels in a row", 1)
    ->capture_default_str();
  app
    .add_option(
      "--names", options.names, "names of the components (default: those in the file, or the eleven features)")
    ->type_name("LIST")
    ->delimiter(',')
    ->allow_extra_args(false);
  app.add_option("--log", options.log, "features to show on a logarithmic scale, or none")
    ->type_name("LIST")
    ->delimiter(',')
    ->allow_extra_args(false)
    ->default_str("LGRE,SRLGE,LRLGE,LRHGE");
  app.add_option("--title", options.title, "text above the panels")->type_name("TEXT");

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
