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

// A picture of labels in an image and of their margins: the surfaces of the labels, and an axial and a coronal slice
// with the labels in colors, beside the margins of the same slices.

#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "RenderingOptions.h"
#include "itkImageRegionConstIterator.h"

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkLightKit.h>
#include <vtkProperty.h>

#include <cmath>
#include <map>

namespace
{
using ImageType = itk::Image<float, 3>;
using LabelType = itk::Image<unsigned short, 3>;

struct Options
{
  std::string                     input;
  std::string                     labels;
  std::string                     margin;
  std::string                     output;
  std::vector<std::string>        names;
  std::vector<double>             window;
  std::vector<itk::SizeValueType> slices;
  unsigned int                    background{ 0 };
  std::string                     title;
};

// Okabe and Ito's colors, which people with deficient color vision can tell apart; reused if there are more labels.
constexpr std::array<Rendering::Color, 7> colors{ { { { 0.84, 0.37, 0.0 } },
                                                    { { 0.0, 0.45, 0.7 } },
                                                    { { 0.94, 0.89, 0.26 } },
                                                    { { 0.0, 0.62, 0.45 } },
                                                    { { 0.8, 0.47, 0.65 } },
                                                    { { 0.34, 0.71, 0.91 } },
                                                    { { 0.9, 0.62, 0.0 } } } };

struct Label
{
  unsigned short   value;
  std::string      name;
  Rendering::Color color;
  double           milliliters;
};

/** The labels of an image except the background, with their names and volumes. */
std::vector<Label>
FindLabels(const LabelType * image, const Options & options)
{
  std::map<unsigned short, std::size_t>    counts;
  itk::ImageRegionConstIterator<LabelType> it(image, image->GetLargestPossibleRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    ++counts[it.Get()];
  }
  const auto         spacing = image->GetSpacing();
  std::vector<Label> labels;
  for (const auto & [value, count] : counts)
  {
    if (value != 0 && value != options.background)
    {
      const std::size_t number = labels.size();
      labels.push_back({ value,
                         number < options.names.size() ? options.names[number] : "label " + std::to_string(value),
                         colors[number % colors.size()],
                         static_cast<double>(count) * spacing[0] * spacing[1] * spacing[2] / 1000.0 });
    }
  }
  if (labels.size() < options.names.size())
  {
    throw std::runtime_error("--names: there are " + std::to_string(options.names.size()) + " names, but '" +
                             options.labels + "' has " + std::to_string(labels.size()) + " labels");
  }
  return labels;
}

/** The voxels of one label. */
vtkSmartPointer<vtkImageData>
MakeObject(vtkImageData * labels, const Label & label)
{
  auto object = vtkSmartPointer<vtkImageData>::New();
  object->CopyStructure(labels);
  object->AllocateScalars(VTK_UNSIGNED_CHAR, 1);
  const auto * const from = static_cast<const unsigned short *>(labels->GetScalarPointer());
  std::transform(from,
                 from + labels->GetNumberOfPoints(),
                 static_cast<unsigned char *>(object->GetScalarPointer()),
                 [&label](unsigned short value) { return static_cast<unsigned char>(value == label.value ? 1 : 0); });
  return object;
}

/** Surfaces seen from the patient's right front, from above; that of the largest label is transparent. */
void
DrawScene(vtkRenderer * renderer, const std::vector<vtkSmartPointer<vtkImageData>> & objects,
          const std::vector<Label> & labels)
{
  const auto largest = std::max_element(
    labels.begin(), labels.end(), [](const Label & a, const Label & b) { return a.milliliters < b.milliliters; });
  for (std::size_t i = 0; i < labels.size(); ++i)
  {
    const auto actor = Rendering::MakeSurface(objects[i], labels[i].color);
    actor->GetProperty()->SetOpacity(
      labels.size() > 1 && labels.begin() + static_cast<std::ptrdiff_t>(i) == largest ? 0.35 : 1.0);
    renderer->AddViewProp(actor);
  }
  vtkNew<vtkLightKit> lights;
  lights->SetKeyLightIntensity(0.9);
  lights->SetKeyToFillRatio(2.2);
  lights->AddLightsToRenderer(renderer);
  vtkCamera * const camera = renderer->GetActiveCamera();
  camera->ParallelProjectionOn();
  camera->SetPosition(-0.35, -0.85, 0.4);
  camera->SetFocalPoint(0.0, 0.0, 0.0);
  camera->SetViewUp(0.0, 0.0, 1.0);
  renderer->ResetCamera();
  camera->Zoom(1.25);
  renderer->ResetCameraClippingRange();
}

struct Scene
{
  vtkSmartPointer<vtkImageData>   image;
  vtkSmartPointer<vtkImageData>   labels;
  vtkSmartPointer<vtkImageData>   margin;
  vtkSmartPointer<vtkLookupTable> grays;
  std::array<int, 3>              slices;
};

void
DrawPicture(const Scene & scene, const std::vector<Label> & labels, const std::array<std::string, 3> & sliceNames,
            const std::string & fileName, const Options & options)
{
  constexpr int    nameHeight = Rendering::Canvas::NameHeight;
  constexpr double sliceWidth = 520.0;
  constexpr double gap = 24.0;
  constexpr double legendHeight = 30.0;
  const auto       getHeight = [&](unsigned int axis) {
    const double down = Rendering::GetLength(scene.image, axis == 2 ? 1 : 2);
    return std::round(sliceWidth * down / Rendering::GetLength(scene.image, 0));
  };
  const double sceneWidth = 640.0;
  const double left = sceneWidth + gap;
  const double height = 2.0 * nameHeight + getHeight(2) + getHeight(1);
  const double legend = legendHeight * static_cast<double>(labels.size());

  Rendering::Canvas canvas(
    static_cast<int>(left + 2.0 * sliceWidth + gap + 90.0), static_cast<int>(height), options.title);
  std::vector<vtkSmartPointer<vtkImageData>> objects;
  vtkNew<vtkLookupTable>                     legendTable;
  legendTable->SetNumberOfTableValues(static_cast<vtkIdType>(labels.size()));
  legendTable->SetTableRange(0.0, static_cast<double>(labels.size()) - 0.999);
  canvas.AddName("Surfaces", 0.0, nameHeight);
  for (std::size_t i = 0; i < labels.size(); ++i)
  {
    objects.push_back(MakeObject(scene.labels, labels[i]));
    std::ostringstream text;
    text << labels[i].name << ", " << std::lround(labels[i].milliliters) << " ml";
    const double y = height - legend + legendHeight * static_cast<double>(i);
    canvas.AddPatch({ 4.0, y + 4.0, 22.0, 22.0 }, labels[i].color);
    canvas.AddText(text.str(), 36.0, y + 0.5 * legendHeight, 20, false);
  }
  DrawScene(canvas.AddScene({ 0.0, nameHeight, sceneWidth, height - nameHeight - legend - 8.0 }), objects, labels);

  const Rendering::Range range = Rendering::GetPercentileRange(scene.margin, 99.0);
  const auto             marginTable = Rendering::MakeColorTable({ { 0.0, range[1] } }, false);
  double                 y = nameHeight;
  for (const unsigned int axis : { 2u, 1u })
  {
    Rendering::Slice slice{ scene.image, axis, scene.slices[axis], { left, y, sliceWidth, getHeight(axis) } };
    canvas.AddName(sliceNames[axis] + ": labels", left, y);
    canvas.AddSlice(slice, scene.grays, true);
    for (std::size_t i = 0; i < labels.size(); ++i)
    {
      slice.image = objects[i];
      vtkNew<vtkLookupTable> tint;
      tint->SetNumberOfTableValues(2);
      tint->SetTableRange(0.0, 1.0);
      tint->SetTableValue(0, 0.0, 0.0, 0.0, 0.0);
      tint->SetTableValue(1, labels[i].color[0], labels[i].color[1], labels[i].color[2], 0.4);
      canvas.AddSlice(slice, tint, false);
      canvas.AddOutline(slice, labels[i].color);
    }
    for (const auto & [side, x] : { std::make_pair("R", 8.0), std::make_pair("L", sliceWidth - 22.0) })
    {
      canvas.AddText(side, left + x, y + 0.5 * slice.place.height, 20, true, 0.9);
    }
    slice.image = scene.margin;
    slice.place.x = left + sliceWidth + gap;
    canvas.AddName("Margin", slice.place.x, y);
    canvas.AddSlice(slice, marginTable, false);
    if (axis == 2)
    {
      canvas.AddColorBar({ slice.place.x + sliceWidth + 10.0, y, 18.0, slice.place.height }, marginTable);
    }
    y += slice.place.height + nameHeight;
  }
  canvas.Write(fileName);
}

void
Run(const Options & options)
{
  const auto input = ExampleIO::FindScalarInput(options.input);
  const auto labelsInput = ExampleIO::FindScalarInput(options.labels);
  const auto marginInput = ExampleIO::FindScalarInput(options.margin);
  if (input.dimension != 3 || labelsInput.dimension != 3 || marginInput.dimension != 3)
  {
    throw std::runtime_error("'" + options.input + "', '" + options.labels + "' and '" + options.margin +
                             "' must have 3 dimensions");
  }
  Rendering::CheckPictureName(options.output);
  ExampleIO::OutputFiles outputs({ options.input, options.labels, options.margin });
  outputs.AddFile(options.output);

  const auto image = ExampleIO::ReadScalarImage<ImageType>(input);
  const auto labelImage = ExampleIO::ReadScalarImage<LabelType>(labelsInput);
  const auto margin = ExampleIO::ReadScalarImage<ImageType>(marginInput);
  const auto size = image->GetLargestPossibleRegion().GetSize();
  for (const auto & [name, region] : { std::make_pair(options.labels, labelImage->GetLargestPossibleRegion()),
                                       std::make_pair(options.margin, margin->GetLargestPossibleRegion()) })
  {
    if (region.GetSize() != size)
    {
      throw std::runtime_error("'" + options.input + "' and '" + name + "' differ in size");
    }
  }
  const auto labels = FindLabels(labelImage, options);
  if (labels.empty())
  {
    throw std::runtime_error("'" + options.labels + "' has no label but the background");
  }
  for (auto * const other : { static_cast<itk::ImageBase<3> *>(labelImage), static_cast<itk::ImageBase<3> *>(margin) })
  {
    other->SetSpacing(image->GetSpacing());
    other->SetDirection(image->GetDirection());
  }
  const auto orient = Rendering::MakeOrientFilter(image.GetPointer(), true);
  const auto orientLabels = Rendering::MakeOrientFilter(labelImage.GetPointer(), true);
  const auto orientMargin = Rendering::MakeOrientFilter(margin.GetPointer(), true);
  orient->Update();
  orientLabels->Update();
  orientMargin->Update();

  Scene scene;
  scene.image = Rendering::ShareWithVTK(orient->GetOutput());
  scene.labels = Rendering::ShareWithVTK(orientLabels->GetOutput());
  scene.margin = Rendering::ShareWithVTK(orientMargin->GetOutput());
  scene.grays = Rendering::MakeGrayTable(Rendering::GetWindow(scene.image, options.window));
  std::array<itk::SizeValueType, 3> through{ { size[0] / 2, size[1] / 2, size[2] / 2 } };
  if (!options.slices.empty())
  {
    through = Rendering::GetVoxelOfSlices(options.slices);
  }
  scene.slices = Rendering::GetSlicesThrough(orient.GetPointer(), through);
  std::array<std::string, 3> names{ { "", "Coronal slice ", "Axial slice " } };
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const auto fileAxis = orient->GetPermuteOrder()[axis];
    names[axis] += std::to_string(through[fileAxis]) + " of " + std::to_string(size[fileAxis]);
  }
  DrawPicture(scene, labels, names, outputs.GetTemporaryName(options.output), options);
  outputs.FinishFile(options.output);
  outputs.Commit();
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Draw labels in an image: their surfaces, and slices beside their margins.", "RenderLabels" };
  app.add_option("IMAGE", options.input, "any file that ITK reads, or a directory of DICOM files")->required();
  app.add_option("LABELS", options.labels, "image of labels of the same size")->required();
  app.add_option("MARGIN", options.margin, "image of margins of the same size")->required();
  app.add_option("OUTPUT", options.output, "picture to write (.png)")->required();
  ExampleIO::AddNumbers(app, "--background", options.background, "N", "label that is not drawn, in addition to 0")
    ->default_str("0");
  app.add_option("--names", options.names, "names of the labels that are drawn, in ascending order")
    ->type_name("LIST")
    ->delimiter(',')
    ->allow_extra_args(false);
  Rendering::AddWindowOption(app, options.window);
  ExampleIO::AddNumbers(
    app, "--slices", options.slices, "X,Y,Z", "voxel that the slices pass through (default: the middle)");
  app.add_option("--title", options.title, "text above the picture")->type_name("TEXT");

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
