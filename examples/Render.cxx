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

// Render KIND ...: draws feature maps, an object, labels, or the volume of an object over the threshold as a PNG file.

#include "Canvas.h"
#include "io/CommandLine.h"
#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "itkMetaDataObject.h"
#include "itkOrientImageFilter.h"
#include "itkRegionOfInterestImageFilter.h"
#include "itkVectorIndexSelectionCastImageFilter.h"
#include "voxelmaps/FuzzyConnectednessVolumeCurve.h"

#include <map>
#include <tuple>

namespace
{
using ImageType = itk::Image<float, 3>;
using OrientFilter = itk::OrientImageFilter<ImageType, ImageType>;
using Pixels = vtkSmartPointer<vtkImageData>;

struct Options
{
  /** The inputs, and the picture. */
  std::vector<std::string>        files;
  std::string                     title;
  std::vector<double>             window;
  std::string                     unit;
  std::string                     strokes;
  std::vector<unsigned int>       color{ 226, 74, 51 };
  std::vector<std::string>        names;
  std::vector<itk::SizeValueType> slices;
  unsigned int                    background{ 0 };
  double                          minimumVolume{ 0.0 };
};

/** Read an image, a 2D one as a single slice. Others are at the place of the first one, which must have their size. */
ImageType::Pointer
Read(const std::string & name, bool isVolume, const ImageType * first = nullptr)
{
  const auto input = ProgramIO::FindScalarInput(name);
  const auto image = ProgramIO::ReadScalarImage<ImageType>(input);
  if (isVolume && input.dimension != 3)
  {
    throw std::runtime_error("'" + name + "' must have 3 dimensions");
  }
  if (input.dimension == 2)
  {
    // The picture shows it as it is.
    image->SetDirection(ImageType::DirectionType::GetIdentity());
  }
  if (first != nullptr)
  {
    if (image->GetLargestPossibleRegion() != first->GetLargestPossibleRegion())
    {
      throw std::runtime_error("'" + name + "' and the image differ in size");
    }
    image->CopyInformation(first);
  }
  return image;
}

/** Permutes and flips the axes of an image so that they point to the patient's left, back, and head. */
OrientFilter::Pointer
Orient(const ImageType * image)
{
  auto filter = OrientFilter::New();
  filter->SetInput(image);
  filter->UseImageDirectionOn();
  filter->SetDesiredCoordinateDirection(ImageType::DirectionType::GetIdentity());
  filter->Update();
  return filter;
}

/** The voxel of an image that is at the place of that of another one. */
ImageType::IndexType
FindVoxel(const ImageType * image, const ImageType * other, const ImageType::IndexType & index)
{
  ImageType::PointType point;
  ImageType::IndexType result;
  other->TransformIndexToPhysicalPoint(index, point);
  image->TransformPhysicalPointToIndex(point, result);
  return result;
}

/** A copy for VTK, whose first voxel is at the origin, of what a function makes of the values. */
template <typename TFunction>
Pixels
MakePixels(const ImageType * image, const TFunction & function)
{
  const auto size = image->GetBufferedRegion().GetSize();
  auto       pixels = Pixels::New();
  pixels->SetDimensions(static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2]));
  pixels->SetSpacing(image->GetSpacing().GetDataPointer());
  pixels->AllocateScalars(VTK_FLOAT, 1);
  const float * from = image->GetBufferPointer();
  auto *        to = static_cast<float *>(pixels->GetScalarPointer());
  std::transform(from, from + pixels->GetNumberOfPoints(), to, function);
  return pixels;
}

Pixels
MakePixels(const ImageType * image)
{
  return MakePixels(image, [](float value) { return value; });
}

/** The size of an image along an axis, in mm. */
double
GetLength(vtkImageData * image, unsigned int axis)
{
  return image->GetDimensions()[axis] * image->GetSpacing()[axis];
}

/** From the 1st to the given percentile (in %) of an image's values; for a logarithmic scale, of the positive ones. */
Range
GetPercentileRange(vtkImageData * image, double upperPercentile, bool isLogarithmic = false)
{
  std::vector<float> values;
  const auto *       pixels = static_cast<const float *>(image->GetScalarPointer());
  std::copy_if(pixels, pixels + image->GetNumberOfPoints(), std::back_inserter(values), [&](float value) {
    return std::isfinite(value) && (value > 0.0F || !isLogarithmic);
  });
  if (values.empty())
  {
    return { { 1.0, 2.0 } };
  }
  std::sort(values.begin(), values.end());
  const auto get = [&values](double percentile) -> double {
    return values[static_cast<std::size_t>(std::lround(0.01 * percentile * static_cast<double>(values.size() - 1)))];
  };
  Range range{ { get(1.0), get(upperPercentile) } };
  if (range[0] == range[1])
  {
    range[0] = values.front();
    range[1] = values.front() < values.back() ? values.back() : range[0] + std::max(1.0, std::abs(range[0]));
  }
  return range;
}

/** Gray values of an image: those of --window. */
vtkSmartPointer<vtkLookupTable>
MakeGrays(vtkImageData * image, const std::vector<double> & given)
{
  Range window{};
  if (given.empty())
  {
    return MakeGrayTable(GetPercentileRange(image, 99.5));
  }
  ProgramIO::CopyNumbers("--window", given, window, "a window has 2");
  if (!(window[0] < window[1]))
  {
    throw std::runtime_error("--window: " + ProgramIO::Join(given) + " is not in ascending order");
  }
  return MakeGrayTable(window);
}

/** "gray: -160 to 240 HU" */
std::string
GetWindowName(vtkLookupTable * grays, const Options & options)
{
  const double * range = grays->GetTableRange();
  return "gray: " + ToText(range[0]) + " to " + ToText(range[1]) + (options.unit.empty() ? "" : " " + options.unit);
}

/** "Axial slice 3 of 12": the number of a slice along the axes of the file. */
std::string
GetSliceName(const OrientFilter * orient, unsigned int axis, const ImageType::IndexType & voxel)
{
  const auto file = orient->GetPermuteOrder()[axis];
  return (axis == 2 ? "Axial slice " : "Coronal slice ") + std::to_string(voxel[file]) + " of " +
         std::to_string(orient->GetInput()->GetLargestPossibleRegion().GetSize(file));
}

/** An image and its feature maps, each with a name and a color bar, as Figure 10 of Zhang et al. (2019). */
void
DrawMaps(const Options & options, const std::string & picture)
{
  using Panel = std::tuple<std::string, Pixels, vtkSmartPointer<vtkLookupTable>>;
  using MapsType = itk::VectorImage<float, 3>;
  constexpr double barSpace = 100.0;
  constexpr double longestSide = 400.0;
  constexpr int    columns = 4;

  const auto image = Read(options.files[0], false);
  const auto input = ProgramIO::FindInput(options.files[1]);
  const auto maps = ProgramIO::ReadFiles<MapsType>(input);
  auto       region = image->GetLargestPossibleRegion();
  if (region != maps->GetLargestPossibleRegion())
  {
    throw std::runtime_error("'" + options.files[1] + "' and the image differ in size");
  }
  maps->SetSpacing(image->GetSpacing());
  maps->SetDirection(image->GetDirection());
  const auto  components = maps->GetNumberOfComponentsPerPixel();
  std::string list;
  itk::ExposeMetaData<std::string>(input.imageIO->GetMetaDataDictionary(), "FeatureNames", list);
  const auto names = CLI::detail::split(list, ',');
  if (names.size() != components)
  {
    throw std::runtime_error("'" + options.files[1] + "' does not have the names of its " + std::to_string(components) +
                             " components; FeatureMaps writes them to .nrrd and .mha files");
  }

  // Files without a geometry, such as PNG, have voxels of 1 mm at the origin.
  const bool hasSizes =
    image->GetSpacing() != ImageType::SpacingType(1.0) || image->GetOrigin() != ImageType::PointType(0.0);

  // The middle slice.
  const auto axis = Orient(image)->GetPermuteOrder()[2];
  region.SetIndex(axis, static_cast<itk::IndexValueType>(region.GetSize(axis) / 2));
  region.SetSize(axis, 1);
  const auto makePixels = [&region](const ImageType * volume) {
    auto selection = itk::RegionOfInterestImageFilter<ImageType, ImageType>::New();
    selection->SetInput(volume);
    selection->SetRegionOfInterest(region);
    selection->Update();
    return MakePixels(Orient(selection->GetOutput())->GetOutput());
  };
  const Pixels       pixels = makePixels(image);
  std::vector<Panel> panels{ { "Input", pixels, MakeGrayTable(GetPercentileRange(pixels, 99.0)) } };
  auto               component = itk::VectorIndexSelectionCastImageFilter<MapsType, ImageType>::New();
  component->SetInput(maps);
  for (unsigned int i = 0; i < components; ++i)
  {
    component->SetIndex(i);
    const auto map = makePixels(component->GetOutput());
    // LGRE stands for LGRE_1_0 as well.
    const std::string                feature = names[i].substr(0, names[i].find('_'));
    const std::array<std::string, 4> features{ { "LGRE", "SRLGE", "LRLGE", "LRHGE" } };
    const bool isLogarithmic = std::find(features.begin(), features.end(), feature) != features.end();
    panels.push_back({ names[i] + (isLogarithmic ? "  (log scale)" : ""),
                       map,
                       MakeColorTable(GetPercentileRange(map, 99.0, isLogarithmic), isLogarithmic) });
  }

  // A whole number of pixels per voxel where there is room, so that voxels stay sharp.
  const double finest = std::min(pixels->GetSpacing()[0], pixels->GetSpacing()[1]);
  const double largest = longestSide * finest / std::max(GetLength(pixels, 0), GetLength(pixels, 1));
  const double scale = (largest >= 1.0 ? std::round(largest) : largest) / finest;
  const auto   getPixels = [&](unsigned int d) { return std::max(1.0, std::round(scale * GetLength(pixels, d))); };
  Rectangle    place{ 0.0, 0.0, getPixels(0), getPixels(1) };
  const double panelWidth = std::max(place.width, 150.0) + barSpace;
  const double panelHeight = Canvas::NameHeight + place.height + 22.0;
  const auto   rows = (panels.size() + columns - 1) / columns;
  Canvas       canvas(static_cast<double>(std::min<std::size_t>(columns, panels.size())) * panelWidth,
                static_cast<double>(rows) * panelHeight - 12.0,
                options.title);
  for (std::size_t i = 0; i < panels.size(); ++i)
  {
    place.x = static_cast<double>(i % columns) * panelWidth;
    place.y = static_cast<double>(i / columns) * panelHeight + Canvas::NameHeight;
    const auto & [name, slice, table] = panels[i];
    canvas.AddName(name, place.x, place.y);
    canvas.AddSlice({ slice, 2, 0, place }, table, largest < 1.0);
    if (i == 0 && hasSizes)
    {
      canvas.AddScaleBar({ slice, 2, 0, place });
    }
    canvas.AddColorBar({ place.x + place.width + 10.0, place.y, 18.0, place.height }, table);
  }
  canvas.Write(picture);
}

/** An object's surface before three slices of the image, and its outline in an axial and a coronal slice. */
void
DrawObject(const Options & options, const std::string & picture)
{
  constexpr double sceneWidth = 1000.0;
  constexpr double left = sceneWidth + 24.0;

  const auto   imageFilter = Orient(Read(options.files[0], true));
  const auto   objectFilter = Orient(Read(options.files[1], true, imageFilter->GetInput()));
  const Pixels image = MakePixels(imageFilter->GetOutput());
  const Pixels object =
    MakePixels(objectFilter->GetOutput(), [](float value) { return value < 0.0F || value > 0.0F ? 1.0F : 0.0F; });
  const auto                  grays = MakeGrays(image, options.window);
  Color                       color{};
  std::array<unsigned int, 3> bytes{};
  ProgramIO::CopyNumbers("--color", options.color, bytes, "a color has 3");
  std::transform(bytes.begin(), bytes.end(), color.begin(), [](auto part) { return part / 255.0; });

  // The number of voxels in each slice.
  std::array<std::vector<vtkIdType>, 3> counts;
  const int *                           size = image->GetDimensions();
  const double *                        spacing = image->GetSpacing();
  double                                longest = 0.0;
  for (unsigned int d = 0; d < 3; ++d)
  {
    counts[d].resize(static_cast<std::size_t>(size[d]));
    longest = std::max(longest, GetLength(image, d));
  }
  vtkIdType    numberOfVoxels = 0;
  const auto * voxels = static_cast<const float *>(object->GetScalarPointer());
  for (vtkIdType i = 0; i < object->GetNumberOfPoints(); ++i)
  {
    const vtkIdType count = voxels[i] > 0.0F ? 1 : 0;
    counts[0][i % size[0]] += count;
    counts[1][i / size[0] % size[1]] += count;
    counts[2][i / size[0] / size[1]] += count;
    numberOfVoxels += count;
  }
  if (numberOfVoxels == 0)
  {
    throw std::runtime_error("'" + options.files[1] + "' has no voxel of an object");
  }

  // The first and last slice with voxels of the object, and that with most of them.
  std::array<int, 3>   first{};
  std::array<int, 3>   last{};
  ImageType::IndexType largest;
  double               margin = 0.0;
  for (unsigned int d = 0; d < 3; ++d)
  {
    const auto isUsed = [](vtkIdType count) { return count > 0; };
    first[d] = static_cast<int>(std::find_if(counts[d].begin(), counts[d].end(), isUsed) - counts[d].begin());
    last[d] = static_cast<int>(counts[d].rend() - std::find_if(counts[d].rbegin(), counts[d].rend(), isUsed)) - 1;
    largest[d] = std::max_element(counts[d].begin(), counts[d].end()) - counts[d].begin();
    margin = std::max(margin, 0.15 * (last[d] - first[d] + 1) * spacing[d]);
  }
  const auto getPixels = [&](unsigned int axis) {
    return std::max(1.0, std::round(560.0 * GetLength(image, axis) / longest));
  };
  const double       height = 2.0 * Canvas::NameHeight + getPixels(1) + getPixels(2);
  std::ostringstream volume;
  volume.precision(4);
  volume << "Object: " << numberOfVoxels << " voxels, "
         << static_cast<double>(numberOfVoxels) * spacing[0] * spacing[1] * spacing[2] / 1000.0 << " ml;  "
         << GetWindowName(grays, options);
  Canvas canvas(left + getPixels(0), std::max(height, 700.0), options.title);
  canvas.AddName(volume.str(), 0.0, Canvas::NameHeight);

  // The slices meet behind the object, seen from its left front from above, and extend beyond it before it.
  const std::array<double, 3> toCamera{ { 0.36599815, -0.78488556, 0.5 } };
  vtkRenderer * const         scene =
    canvas.AddScene({ 0.0, Canvas::NameHeight, sceneWidth, std::max(height, 700.0) - Canvas::NameHeight });
  scene->AddViewProp(MakeSurface(object, color, 1.0));
  std::array<int, 6>    region{};
  std::array<double, 6> bounds{};
  for (unsigned int d = 0; d < 3; ++d)
  {
    const int  more = static_cast<int>(std::ceil(margin / spacing[d]));
    const bool isLast = toCamera[d] < 0.0;
    region[2 * d] = isLast ? std::max(first[d] - more, 0) : first[d];
    region[2 * d + 1] = isLast ? last[d] : std::min(last[d] + more, size[d] - 1);
    bounds[2 * d] = (region[2 * d] - 0.5) * spacing[d];
    bounds[2 * d + 1] = (region[2 * d + 1] + 0.5) * spacing[d];
  }
  for (int axis = 0; axis < 3; ++axis)
  {
    vtkNew<vtkImageSliceMapper> mapper;
    mapper->SetInputData(image);
    mapper->SetOrientation(axis);
    mapper->SetSliceNumber(toCamera[axis] < 0.0 ? last[axis] : first[axis]);
    mapper->CroppingOn();
    mapper->SetCroppingRegion(region.data());
    vtkNew<vtkImageSlice> slice;
    slice->SetMapper(mapper);
    slice->GetProperty()->SetLookupTable(grays);
    slice->GetProperty()->UseLookupTableScalarRangeOn();
    slice->GetProperty()->SetInterpolationTypeToLinear();
    scene->AddViewProp(slice);
  }
  scene->GetActiveCamera()->SetPosition(toCamera.data());
  scene->ResetCamera(bounds.data());
  scene->ResetCameraScreenSpace(bounds.data());
  // It leaves a margin of 5 % on each side.
  scene->GetActiveCamera()->Zoom(1.1);
  scene->ResetCameraClippingRange(bounds.data());

  const auto voxel = FindVoxel(imageFilter->GetInput(), imageFilter->GetOutput(), largest);
  double     y = Canvas::NameHeight;
  for (const unsigned int axis : { 2U, 1U })
  {
    const Rectangle place{ left, y, getPixels(0), getPixels(axis == 2 ? 1 : 2) };
    canvas.AddName(GetSliceName(imageFilter, axis, voxel), place.x, place.y);
    canvas.AddSliceWithObjects(
      { image, axis, static_cast<int>(largest[axis]), place }, grays, { object }, { color }, 0.25);
    y += place.height + Canvas::NameHeight;
  }
  canvas.Write(picture);
}

/** The surfaces of labels, and an axial and a coronal slice with the labels in colors, beside their margins. */
void
DrawLabels(const Options & options, const std::string & picture)
{
  // Okabe and Ito's colors, which people with deficient color vision can tell apart; reused if there are more labels.
  constexpr std::array<Color, 7> palette{ { { { 0.84, 0.37, 0.0 } },
                                            { { 0.0, 0.45, 0.7 } },
                                            { { 0.94, 0.89, 0.26 } },
                                            { { 0.0, 0.62, 0.45 } },
                                            { { 0.8, 0.47, 0.65 } },
                                            { { 0.34, 0.71, 0.91 } },
                                            { { 0.9, 0.62, 0.0 } } } };
  constexpr double               sceneWidth = 640.0;
  constexpr double               sliceWidth = 520.0;
  constexpr double               gap = 24.0;
  constexpr double               legendHeight = 30.0;
  constexpr double               left = sceneWidth + gap;

  const auto   imageFilter = Orient(Read(options.files[0], true));
  const auto * file = imageFilter->GetInput();
  const auto   labelFilter = Orient(Read(options.files[1], true, file));
  const Pixels image = MakePixels(imageFilter->GetOutput());
  const Pixels margin = MakePixels(Orient(Read(options.files[2], true, file))->GetOutput());
  const auto   grays = MakeGrays(image, options.window);
  const auto   size = file->GetLargestPossibleRegion().GetSize();

  std::array<itk::SizeValueType, 3> given{ { size[0] / 2, size[1] / 2, size[2] / 2 } };
  if (!options.slices.empty())
  {
    ProgramIO::CopyNumbers("--slices", options.slices, given, "slices pass through a voxel, which has 3");
  }
  ImageType::IndexType voxel;
  std::copy(given.begin(), given.end(), voxel.begin());
  if (!file->GetLargestPossibleRegion().IsInside(voxel))
  {
    throw std::runtime_error("--slices: the image has no voxel " + ProgramIO::Join(given));
  }
  const auto slices = FindVoxel(imageFilter->GetOutput(), file, voxel);

  std::map<float, vtkIdType> counts;
  const float *              labels = labelFilter->GetOutput()->GetBufferPointer();
  std::for_each(labels, labels + image->GetNumberOfPoints(), [&](float label) { ++counts[label]; });
  counts.erase(0.0F);
  counts.erase(static_cast<float>(options.background));
  if (counts.empty() || counts.size() < options.names.size())
  {
    throw std::runtime_error("'" + options.files[1] + "' has " + std::to_string(counts.size()) +
                             " labels beside the background; there must be one for each of the " +
                             std::to_string(options.names.size()) + " --names, and at least one");
  }
  const auto largest =
    std::max_element(counts.begin(), counts.end(), [](const auto & a, const auto & b) { return a.second < b.second; });
  const auto getHeight = [&](unsigned int axis) {
    return std::round(sliceWidth * GetLength(image, axis == 2 ? 1 : 2) / GetLength(image, 0));
  };
  const double height = 2.0 * Canvas::NameHeight + getHeight(2) + getHeight(1);
  const double legend = height - legendHeight * static_cast<double>(counts.size());
  Canvas       canvas(left + 2.0 * sliceWidth + gap + 90.0, height, options.title);
  canvas.AddName("Surfaces;  " + GetWindowName(grays, options), 0.0, Canvas::NameHeight);
  vtkRenderer * const scene =
    canvas.AddScene({ 0.0, Canvas::NameHeight, sceneWidth, legend - Canvas::NameHeight - 8.0 });
  std::vector<Pixels> objects;
  std::vector<Color>  colors;
  for (const auto & [label, count] : counts)
  {
    const std::size_t i = objects.size();
    colors.push_back(palette[i % palette.size()]);
    objects.push_back(
      MakePixels(labelFilter->GetOutput(), [value = label](float x) { return x == value ? 1.0F : 0.0F; }));
    // One can see through the largest one.
    const bool isTransparent = counts.size() > 1 && label == largest->first;
    scene->AddViewProp(MakeSurface(objects[i], colors[i], isTransparent ? 0.35 : 1.0));

    const double * spacing = image->GetSpacing();
    const double   volume = static_cast<double>(count) * spacing[0] * spacing[1] * spacing[2] / 1000.0;
    const double   y = legend + legendHeight * static_cast<double>(i);
    const auto     number = std::to_string(static_cast<long>(label));
    canvas.AddPatch({ 4.0, y + 4.0, 22.0, 22.0 }, colors[i]);
    canvas.AddText((i < options.names.size() ? options.names[i] : "label " + number) + ", " +
                     std::to_string(std::lround(volume)) + " ml",
                   36.0,
                   y + 0.5 * legendHeight,
                   20,
                   false);
  }
  scene->GetActiveCamera()->SetPosition(-0.35, -0.85, 0.4);
  scene->ResetCamera();
  scene->GetActiveCamera()->Zoom(1.25);
  scene->ResetCameraClippingRange();

  // Black differs from all colors of labels.
  Pixels strokes;
  if (!options.strokes.empty())
  {
    strokes = MakePixels(Orient(Read(options.strokes, true, file))->GetOutput(),
                         [&](float x) { return counts.count(x) > 0 ? 1.0F : 0.0F; });
  }

  const auto marginTable = MakeColorTable({ { 0.0, GetPercentileRange(margin, 99.0)[1] } }, false);
  double     y = Canvas::NameHeight;
  for (const unsigned int axis : { 2U, 1U })
  {
    Slice slice{ image, axis, static_cast<int>(slices[axis]), { left, y, sliceWidth, getHeight(axis) } };
    canvas.AddName(
      GetSliceName(imageFilter, axis, voxel) + (strokes == nullptr ? ": labels" : ": labels, seeds black"), left, y);
    canvas.AddSliceWithObjects(slice, grays, objects, colors, 0.4);
    if (strokes != nullptr)
    {
      slice.image = strokes;
      canvas.AddSlice(slice, MakeTint({ { 0.0, 0.0, 0.0 } }, 1.0), false);
    }
    slice.image = margin;
    slice.place.x = left + sliceWidth + gap;
    canvas.AddName("Margin", slice.place.x, y);
    canvas.AddSlice(slice, marginTable, false);
    if (axis == 2)
    {
      canvas.AddColorBar({ slice.place.x + sliceWidth + 10.0, y, 18.0, slice.place.height }, marginTable);
    }
    y += slice.place.height + Canvas::NameHeight;
  }
  canvas.Write(picture);
}

/** The volume of an object over the threshold of its strengths, with the threshold that suggests itself. */
void
DrawCurve(const Options & options, const std::string & picture)
{
  const auto    strength = Read(options.files[0], false);
  const auto    spacing = strength->GetSpacing();
  const double  milliliters = spacing[0] * spacing[1] * spacing[2] / 1000.0;
  const auto    voxels = static_cast<std::int64_t>(strength->GetLargestPossibleRegion().GetNumberOfPixels());
  const float * strengths = strength->GetBufferPointer();
  const voxelmaps::FuzzyConnectednessVolumeCurve curve(strengths, voxels);

  const auto getVolume = [&](double threshold) {
    return static_cast<double>(curve.GetNumberOfVoxels(threshold)) * milliliters;
  };
  const double suggested =
    curve.GetSuggestedThreshold(static_cast<std::int64_t>(std::ceil(options.minimumVolume / milliliters)));
  std::ostringstream suggestion;
  suggestion.precision(3);
  suggestion << "suggested threshold " << suggested << ": " << std::lround(getVolume(suggested)) << " ml";

  // From the smallest strength on, but not much below the suggestion.
  double smallest = 0.1;
  std::for_each(
    strengths, strengths + voxels, [&](double x) { smallest = x > 0.0 ? std::min(smallest, x) : smallest; });
  const Range      thresholds{ { std::max({ smallest, 1e-4 * suggested, 1e-12 }), 1.0 } };
  const Range      volumes{ { milliliters, std::max(getVolume(0.0), 2.0 * milliliters) } };
  constexpr double left = 90.0;
  constexpr double right = left + 860.0;
  constexpr double top = 44.0;
  constexpr double bottom = top + 500.0;
  const auto       getX = [&](double x) {
    return left + (right - left) * std::log(x / thresholds[0]) / std::log(thresholds[1] / thresholds[0]);
  };
  const auto getY = [&](double y) {
    return bottom - (bottom - top) * std::log(y / volumes[0]) / std::log(volumes[1] / volumes[0]);
  };
  constexpr Color gray{ { 0.8, 0.8, 0.8 } };
  Canvas          canvas(980.0, 620.0, options.title);
  for (const double tick : GetTicks(thresholds, true))
  {
    canvas.AddCurve({ { { getX(tick), bottom } }, { { getX(tick), top } } }, gray, 1.0F);
    const std::string text = ToText(tick);
    canvas.AddText(text, getX(tick) - 5.0 * static_cast<double>(text.size()), bottom + 18.0, 18, false);
  }
  for (const double tick : GetTicks(volumes, true))
  {
    canvas.AddCurve({ { { left, getY(tick) } }, { { right, getY(tick) } } }, gray, 1.0F);
    canvas.AddText(ToText(tick), left - 62.0, getY(tick), 18, false);
  }
  canvas.AddText("threshold of the strength", 0.5 * (left + right) - 100.0, bottom + 52.0, 20, true);
  canvas.AddText("volume in ml", left - 62.0, top - 26.0, 20, true);
  Canvas::Points points;
  constexpr int  numberOfPoints = 430; // one for two pixels
  for (int i = 0; i <= numberOfPoints; ++i)
  {
    const double threshold = std::pow(thresholds[0], 1.0 - static_cast<double>(i) / numberOfPoints);
    points.push_back({ { getX(threshold), getY(std::max(getVolume(threshold), milliliters)) } });
  }
  canvas.AddCurve(points, { { 0.0, 0.45, 0.7 } }, 3.0F);
  if (suggested > 0.0)
  {
    const double x = getX(suggested);
    canvas.AddCurve({ { { x, bottom } }, { { x, top } } }, { { 0.84, 0.37, 0.0 } }, 2.0F);
    canvas.AddText(suggestion.str(), x < 0.5 * (left + right) ? x + 12.0 : x - 440.0, top + 24.0, 20, true);
  }
  canvas.Write(picture);
  std::cout << suggestion.str() << '\n';
}

struct Kind
{
  const char * name;
  const char * description;
  /** The names of the inputs, separated by spaces. */
  const char * inputs;
  void (*draw)(const Options &, const std::string &);
};

constexpr std::array<Kind, 4> kinds{ {
  { "maps", "Draw an image and the maps that FeatureMaps computed from it.", "IMAGE MAPS", DrawMaps },
  { "object", "Draw an object in an image: its surface, and its outline in slices.", "IMAGE OBJECT", DrawObject },
  { "labels", "Draw labels in an image: surfaces, and slices beside margins.", "IMAGE LABELS MARGIN", DrawLabels },
  { "curve", "Draw the volume of an object over the threshold of its strengths.", "STRENGTH", DrawCurve },
} };

void
Run(const Kind & kind, Options options)
{
  const std::string picture = options.files.back();
  if (picture.size() < 4 || picture.compare(picture.size() - 4, 4, ".png") != 0)
  {
    throw std::runtime_error("cannot write '" + picture + "': the name of a picture ends with .png");
  }
  ProgramIO::OutputFiles outputs({ options.files.begin(), options.files.end() - 1 });
  outputs.AddFile(picture);
  kind.draw(options, outputs.GetTemporaryName(picture));
  outputs.FinishFile(picture);
  outputs.Commit();
}
} // namespace

int
main(int argc, char * argv[])
{
  using ProgramIO::AddNumbers;
  const std::string name = argc > 1 ? argv[1] : "";
  const auto * kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind & each) { return name == each.name; });
  if (kind == kinds.end())
  {
    CLI::App                 app{ "Draw a picture. Render KIND --help shows what each kind takes.", "Render" };
    std::string              word;
    std::vector<std::string> names;
    std::transform(kinds.begin(), kinds.end(), std::back_inserter(names), [](const Kind & each) { return each.name; });
    app.add_option("KIND", word, "what to draw")->required()->check(CLI::IsMember(names));
    return ProgramIO::RunProgram(app, argc, argv, [] {});
  }
  Options    options;
  CLI::App   app{ kind->description, "Render " + name };
  const auto inputs = CLI::detail::split(kind->inputs, ' ');
  options.files.resize(inputs.size() + 1);
  for (std::size_t i = 0; i < inputs.size(); ++i)
  {
    app.add_option(inputs[i], options.files[i], "any file that ITK reads, or a directory of DICOM files")->required();
  }
  app.add_option("OUTPUT", options.files.back(), "picture to write (.png)")->required();
  app.add_option("--title", options.title, "text above the picture")->type_name("TEXT");
  if (name == "curve")
  {
    AddNumbers(app, "--minimum-volume", options.minimumVolume, "ML", "least volume of the object in ml", 0.0);
  }
  else if (name != "maps")
  {
    AddNumbers(app, "--window", options.window, "LO,HI", "intensities shown as black and white (default: percentiles)");
  }
  if (name == "object" || name == "labels")
  {
    app.add_option("--unit", options.unit, "unit of the intensities, such as HU")->type_name("TEXT");
  }
  if (name == "object")
  {
    AddNumbers(app, "--color", options.color, "R,G,B", "color of the object, each part from 0 to 255", 0U, 255U);
  }
  if (name == "labels")
  {
    AddNumbers(app, "--background", options.background, "N", "label that is not drawn, in addition to 0");
    app.add_option("--strokes", options.strokes, "image of the seeds, which are drawn over the labels in the slices");
    AddNumbers(app, "--slices", options.slices, "X,Y,Z", "voxel that the slices pass through (default: the middle)");
    auto * names = app.add_option("--names", options.names, "names of the labels that are drawn, in ascending order");
    names->type_name("LIST")->delimiter(',')->allow_extra_args(false);
  }
  return ProgramIO::RunProgram(app, argc - 1, argv + 1, [&] { Run(*kind, options); });
}
