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

// A picture of an object in an image: its surface before three slices of the image, and its outline in an axial and a
// coronal slice.

#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "RenderingOptions.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkImageProperty.h>
#include <vtkImageSlice.h>
#include <vtkImageSliceMapper.h>
#include <vtkLightKit.h>
#include <vtkMath.h>

namespace
{
using ImageType = itk::Image<float, 3>;
using ObjectType = itk::Image<unsigned char, 3>;

struct Options
{
  std::string                     input;
  std::string                     object;
  std::string                     output;
  std::vector<double>             window;
  std::vector<itk::SizeValueType> slices;
  std::vector<double>             camera{ 25.0, 30.0 };
  std::vector<unsigned int>       color{ 226, 74, 51 };
  std::string                     title;
};

/** What is drawn. Axes point to the patient's left, back, and head. */
struct Scene
{
  vtkSmartPointer<vtkImageData>   image;
  vtkSmartPointer<vtkImageData>   object;
  vtkSmartPointer<vtkLookupTable> grays;
  Rendering::Color                color;
  vtkIdType                       numberOfVoxels{ 0 };
  /** The first and the last slice with voxels of the object, and that with most of them, for each axis. */
  std::array<int, 3> first;
  std::array<int, 3> last;
  std::array<int, 3> largest;
};

void
FindObject(Scene & scene, const ObjectType * object)
{
  std::array<std::vector<vtkIdType>, 3> counts;
  const auto                            region = object->GetLargestPossibleRegion();
  for (unsigned int d = 0; d < 3; ++d)
  {
    counts[d].resize(region.GetSize(d));
  }
  for (itk::ImageRegionConstIteratorWithIndex<ObjectType> it(object, region); !it.IsAtEnd(); ++it)
  {
    for (unsigned int d = 0; d < 3; ++d)
    {
      counts[d][it.GetIndex()[d] - region.GetIndex(d)] += it.Get();
    }
    scene.numberOfVoxels += it.Get();
  }
  for (unsigned int d = 0; d < 3; ++d)
  {
    // Without an object, all of the image is shown.
    const auto & count = counts[d];
    scene.first[d] = 0;
    scene.last[d] = static_cast<int>(count.size()) - 1;
    while (scene.numberOfVoxels > 0 && count[scene.first[d]] == 0)
    {
      ++scene.first[d];
    }
    while (scene.numberOfVoxels > 0 && count[scene.last[d]] == 0)
    {
      --scene.last[d];
    }
    const auto largest = std::max_element(count.begin(), count.end()) - count.begin();
    scene.largest[d] = scene.numberOfVoxels > 0 ? static_cast<int>(largest) : scene.last[d] / 2;
  }
}

/** Draw the surface in front of three slices that touch it on the sides that the camera does not see. */
void
DrawScene(vtkRenderer * renderer, const Scene & scene, const Rendering::Range & camera)
{
  const double azimuth = vtkMath::RadiansFromDegrees(camera[0]);
  const double elevation = vtkMath::RadiansFromDegrees(camera[1]);
  // From the object to the camera.
  const std::array<double, 3> toCamera{
    { std::sin(azimuth) * std::cos(elevation), -std::cos(azimuth) * std::cos(elevation), std::sin(elevation) }
  };
  if (scene.numberOfVoxels > 0)
  {
    renderer->AddViewProp(Rendering::MakeSurface(scene.object, scene.color));
  }

  // The slices meet behind the object and extend beyond it in front, so that its place can be recognized.
  const double * spacing = scene.image->GetSpacing();
  double         margin = 0.0;
  for (unsigned int d = 0; d < 3; ++d)
  {
    margin = std::max(margin, 0.15 * (scene.last[d] - scene.first[d] + 1) * spacing[d]);
  }
  std::array<int, 6>    region{};
  std::array<double, 6> bounds{};
  std::array<int, 3>    corner{};
  for (unsigned int d = 0; d < 3; ++d)
  {
    const int  more = static_cast<int>(std::ceil(margin / spacing[d]));
    const bool isLast = toCamera[d] < 0.0;
    corner[d] = isLast ? scene.last[d] : scene.first[d];
    region[2 * d] = isLast ? std::max(scene.first[d] - more, 0) : scene.first[d];
    region[2 * d + 1] = isLast ? scene.last[d] : std::min(scene.last[d] + more, scene.image->GetDimensions()[d] - 1);
    bounds[2 * d] = (region[2 * d] - 0.5) * spacing[d];
    bounds[2 * d + 1] = (region[2 * d + 1] + 0.5) * spacing[d];
  }
  for (int axis = 0; axis < 3; ++axis)
  {
    vtkNew<vtkImageSliceMapper> mapper;
    mapper->SetInputData(scene.image);
    mapper->SetOrientation(axis);
    mapper->SetSliceNumber(corner[axis]);
    mapper->CroppingOn();
    mapper->SetCroppingRegion(region.data());
    vtkNew<vtkImageSlice> slice;
    slice->SetMapper(mapper);
    slice->GetProperty()->SetLookupTable(scene.grays);
    slice->GetProperty()->UseLookupTableScalarRangeOn();
    slice->GetProperty()->SetInterpolationTypeToLinear();
    renderer->AddViewProp(slice);
  }

  vtkNew<vtkLightKit> lights;
  lights->SetKeyLightIntensity(0.9);
  lights->SetKeyToFillRatio(2.2);
  lights->AddLightsToRenderer(renderer);

  renderer->GetActiveCamera()->ParallelProjectionOn();
  renderer->GetActiveCamera()->SetPosition(toCamera.data());
  renderer->GetActiveCamera()->SetFocalPoint(0.0, 0.0, 0.0);
  // Seen from straight above or below, the patient's front is up.
  const bool isVertical = std::abs(toCamera[2]) > 0.99;
  renderer->GetActiveCamera()->SetViewUp(0.0, isVertical ? -1.0 : 0.0, isVertical ? 0.0 : 1.0);
  renderer->ResetCamera(bounds.data());
  renderer->ResetCameraScreenSpace(bounds.data());
  // It leaves a margin of 5 % on each side.
  renderer->GetActiveCamera()->Zoom(1.1);
  renderer->ResetCameraClippingRange(bounds.data());
}

/** "Object: 1234 voxels, 5.67 ml". */
std::string
DescribeSize(const Scene & scene, bool isVolume)
{
  std::ostringstream text;
  text << "Object: " << scene.numberOfVoxels << (isVolume ? " voxels" : " pixels");
  if (isVolume)
  {
    const double * spacing = scene.image->GetSpacing();
    text.precision(4);
    text << ", " << static_cast<double>(scene.numberOfVoxels) * spacing[0] * spacing[1] * spacing[2] / 1000.0 << " ml";
  }
  return text.str();
}

struct Panel
{
  std::string  name;
  unsigned int axis;
};

/** A volume is shown as a 3D scene with the panels on its right, a 2D image as one panel. */
void
DrawPicture(const Scene & scene, const std::vector<Panel> & panels, const Rendering::Range & camera,
            const std::string & fileName, const Options & options)
{
  constexpr int nameHeight = Rendering::Canvas::NameHeight;
  constexpr int sceneWidth = 1000;
  const bool    isVolume = panels.size() > 1;
  const int     left = isVolume ? sceneWidth + 24 : 0;

  // All panels have the same scale.
  double longest = 0.0;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    longest = std::max(longest, Rendering::GetLength(scene.image, axis));
  }
  std::vector<Rendering::Slice> slices;
  int                           width = 0;
  int                           height = 0;
  for (const auto & panel : panels)
  {
    const auto getPixels = [&](unsigned int axis) {
      const double share = Rendering::GetLength(scene.image, axis) / longest;
      return std::max(1, static_cast<int>(std::lround((isVolume ? 560.0 : 840.0) * share)));
    };
    const int panelWidth = getPixels(0);
    const int panelHeight = getPixels(panel.axis == 2 ? 1 : 2);
    height += nameHeight;
    slices.push_back({ scene.image,
                       panel.axis,
                       scene.largest[panel.axis],
                       { 1.0 * left, 1.0 * height, 1.0 * panelWidth, 1.0 * panelHeight } });
    height += panelHeight;
    width = std::max(width, left + panelWidth);
  }
  height = std::max(height, isVolume ? 700 : nameHeight);

  Rendering::Canvas canvas(width, height, options.title);
  if (isVolume)
  {
    canvas.AddName(DescribeSize(scene, true), 0.0, nameHeight);
    DrawScene(canvas.AddScene({ 0.0, nameHeight, sceneWidth, 1.0 * height - nameHeight }), scene, camera);
  }
  vtkNew<vtkLookupTable> tint;
  tint->SetNumberOfTableValues(2);
  tint->SetTableRange(0.0, 1.0);
  tint->SetTableValue(0, 0.0, 0.0, 0.0, 0.0);
  tint->SetTableValue(1, scene.color[0], scene.color[1], scene.color[2], 0.25);
  for (std::size_t i = 0; i < panels.size(); ++i)
  {
    const auto & place = slices[i].place;
    canvas.AddName(panels[i].name, place.x, place.y);
    canvas.AddSlice(slices[i], scene.grays, true);
    slices[i].image = scene.object;
    canvas.AddSlice(slices[i], tint, false);
    canvas.AddOutline(slices[i], scene.color);
    if (isVolume)
    {
      canvas.AddText("R", place.x + 8.0, place.y + 0.5 * place.height, 20, true, 0.9);
      canvas.AddText("L", place.x + place.width - 22.0, place.y + 0.5 * place.height, 20, true, 0.9);
    }
  }
  canvas.Write(fileName);
}

void
Run(const Options & options)
{
  const auto input = ExampleIO::FindScalarInput(options.input);
  const auto objectInput = ExampleIO::FindScalarInput(options.object);
  if (input.dimension != objectInput.dimension)
  {
    throw std::runtime_error("'" + options.input + "' and '" + options.object + "' differ in dimension");
  }
  Rendering::CheckPictureName(options.output);
  ExampleIO::OutputFiles outputs({ options.input, options.object });
  outputs.AddFile(options.output);

  // A 2D image is read as one slice.
  const bool isVolume = input.dimension == 3;
  const auto image = ExampleIO::ReadScalarImage<ImageType>(input);
  const auto object = ExampleIO::ReadMask<3>(objectInput);
  const auto size = image->GetLargestPossibleRegion().GetSize();
  if (size != object->GetLargestPossibleRegion().GetSize())
  {
    throw std::runtime_error("'" + options.input + "' and '" + options.object + "' differ in size");
  }
  object->SetSpacing(image->GetSpacing());
  object->SetDirection(image->GetDirection());
  const auto orient = Rendering::MakeOrientFilter(image.GetPointer(), isVolume);
  const auto orientObject = Rendering::MakeOrientFilter(object.GetPointer(), isVolume);
  orient->Update();
  orientObject->Update();

  Scene scene;
  scene.image = Rendering::ShareWithVTK(orient->GetOutput());
  scene.object = Rendering::ShareWithVTK(orientObject->GetOutput());
  FindObject(scene, orientObject->GetOutput());
  scene.grays = Rendering::MakeGrayTable(Rendering::GetWindow(scene.image, options.window));
  std::array<unsigned int, 3> color{};
  ExampleIO::CopyNumbers("--color", options.color, color, "a color has 3");
  std::transform(color.begin(), color.end(), scene.color.begin(), [](auto part) { return part / 255.0; });
  Rendering::Range camera{};
  ExampleIO::CopyNumbers("--camera", options.camera, camera, "there are 2 angles");

  if (!options.slices.empty())
  {
    scene.largest = Rendering::GetSlicesThrough(orient.GetPointer(), Rendering::GetVoxelOfSlices(options.slices));
  }
  const auto getName = [&](const char * plane, unsigned int axis) {
    return plane + std::to_string(Rendering::FlipIndex(orient.GetPointer(), axis, scene.largest[axis])) + " of " +
           std::to_string(scene.image->GetDimensions()[axis]);
  };
  DrawPicture(scene,
              isVolume ? std::vector<Panel>{ { getName("Axial slice ", 2), 2 }, { getName("Coronal slice ", 1), 1 } }
                       : std::vector<Panel>{ { DescribeSize(scene, false), 2 } },
              camera,
              outputs.GetTemporaryName(options.output),
              options);
  outputs.FinishFile(options.output);
  outputs.Commit();
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Draw an object in an image: its surface, and its outline in slices.", "RenderObject" };
  app.add_option("IMAGE", options.input, "any file that ITK reads, or a directory of DICOM files")->required();
  app.add_option("OBJECT", options.object, "image of the same size, not 0 in the object")->required();
  app.add_option("OUTPUT", options.output, "picture to write (.png)")->required();
  Rendering::AddWindowOption(app, options.window);
  ExampleIO::AddNumbers(app,
                        "--slices",
                        options.slices,
                        "X,Y,Z",
                        "voxel that the slices with the outline pass through (default: where they show most of the "
                        "object)");
  ExampleIO::AddNumbers(app,
                        "--camera",
                        options.camera,
                        "LEFT,UP",
                        "degrees to the patient's left and up from which the surface is seen; 0,0 is the front")
    ->default_str("25,30");
  ExampleIO::AddNumbers(
    app, "--color", options.color, "R,G,B", "color of the object, each part from 0 to 255", 0U, 255U)
    ->default_str("226,74,51");
  app.add_option("--title", options.title, "text above the picture")->type_name("TEXT");

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
