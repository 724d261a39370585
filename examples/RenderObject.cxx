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

// A picture of an object in an image: its surface over slices of the image, and its outline in an axial and a coronal
// slice.

#include "ExampleIO.h"
#include "ExampleMain.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <vtkActor.h>
#include <vtkBoundingBox.h>
#include <vtkCamera.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkImageProperty.h>
#include <vtkImageSlice.h>
#include <vtkImageSliceMapper.h>
#include <vtkLightKit.h>
#include <vtkMatrix4x4.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataNormals.h>
#include <vtkProperty.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkRenderingOpenGLConfigure.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkTransform.h>
#include <vtkTransformPolyDataFilter.h>
#include <vtkWindowToImageFilter.h>
#include <vtkWindowedSincPolyDataFilter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace
{
using ImageType = itk::Image<float, 3>;
using ObjectType = itk::Image<unsigned char, 3>;
using IndexType = ImageType::IndexType;
using RegionType = ImageType::RegionType;

struct Options
{
  std::string input;
  std::string object;
  std::string output;
  std::string window;
  std::string slices;
  std::string camera{ "25,30" };
  std::string color{ "226,74,51" };
  std::string title;
};

/** What the options say, in numbers. */
struct Style
{
  /** The intensities that are black and white. */
  std::array<double, 2> window{};
  std::array<double, 3> color{};
  /** Degrees: 0, 0 is from the patient's front; then to the patient's left, and upwards. */
  std::array<double, 2> camera{};
};

/** The index axis that runs most along each physical axis (left, back, up), and whether it runs against it. */
struct Orientation
{
  std::array<unsigned int, 3> axes{ { 0, 1, 2 } };
  std::array<bool, 3>         isReversed{ { false, false, false } };
};

Orientation
GetOrientation(const ImageType * image)
{
  const auto          direction = image->GetDirection();
  Orientation         orientation;
  std::array<bool, 3> isUsed{ { false, false, false } };
  for (const unsigned int physical : { 2U, 1U, 0U })
  {
    double best = -1.0;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      if (!isUsed[axis] && std::abs(direction[physical][axis]) > best)
      {
        best = std::abs(direction[physical][axis]);
        orientation.axes[physical] = axis;
      }
    }
    isUsed[orientation.axes[physical]] = true;
    orientation.isReversed[physical] = direction[physical][orientation.axes[physical]] < 0.0;
  }
  return orientation;
}

/** Where an object is, and where there is most of it. */
struct Extent
{
  itk::SizeValueType numberOfVoxels{ 0 };
  /** The smallest region with the whole object. */
  RegionType region;
  /** Along each axis, the index of the slice with most voxels of the object; the middle if there are none. */
  IndexType largest;
};

Extent
GetExtent(const ObjectType * object)
{
  const auto                                     whole = object->GetLargestPossibleRegion();
  std::array<std::vector<itk::SizeValueType>, 3> counts;
  for (unsigned int d = 0; d < 3; ++d)
  {
    counts[d].resize(whole.GetSize(d));
  }
  Extent                                             extent;
  itk::ImageRegionConstIteratorWithIndex<ObjectType> it(object, whole);
  for (; !it.IsAtEnd(); ++it)
  {
    if (it.Get() != 0)
    {
      ++extent.numberOfVoxels;
      for (unsigned int d = 0; d < 3; ++d)
      {
        ++counts[d][static_cast<std::size_t>(it.GetIndex()[d] - whole.GetIndex(d))];
      }
    }
  }
  for (unsigned int d = 0; d < 3; ++d)
  {
    const auto & count = counts[d];
    const auto   isPositive = [](itk::SizeValueType n) { return n > 0; };
    const auto   first = std::find_if(count.begin(), count.end(), isPositive) - count.begin();
    const auto   last = count.rend() - std::find_if(count.rbegin(), count.rend(), isPositive) - 1;
    auto         largest = std::max_element(count.begin(), count.end()) - count.begin();
    if (extent.numberOfVoxels == 0)
    {
      largest = static_cast<std::ptrdiff_t>(count.size() / 2);
    }
    extent.region.SetIndex(d, whole.GetIndex(d) + first);
    extent.region.SetSize(d, static_cast<itk::SizeValueType>(std::max<std::ptrdiff_t>(last - first + 1, 1)));
    extent.largest[d] = whole.GetIndex(d) + largest;
  }
  return extent;
}

/** The window that most of the intensities are in. */
std::array<double, 2>
GetDefaultWindow(const ImageType * image)
{
  std::vector<float>                       values;
  itk::ImageRegionConstIterator<ImageType> it(image, image->GetLargestPossibleRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    if (std::isfinite(it.Get()))
    {
      values.push_back(it.Get());
    }
  }
  std::array<double, 2> window{ { 0.0, 1.0 } };
  if (!values.empty())
  {
    const std::array<double, 2> shares{ { 0.01, 0.995 } };
    for (unsigned int i = 0; i < 2; ++i)
    {
      const auto nth = values.begin() + static_cast<std::ptrdiff_t>(shares[i] * static_cast<double>(values.size() - 1));
      std::nth_element(values.begin(), nth, values.end());
      window[i] = *nth;
    }
  }
  if (!(window[0] < window[1]))
  {
    window[1] = window[0] + 1.0;
  }
  return window;
}

/** 0 to 1 inside the window; NaN is black. */
double
GetGray(double value, const Style & style)
{
  const double gray = (value - style.window[0]) / (style.window[1] - style.window[0]);
  return gray > 0.0 ? std::min(gray, 1.0) : 0.0;
}

unsigned char
ToByte(double value)
{
  return static_cast<unsigned char>(std::lround(255.0 * std::clamp(value, 0.0, 1.0)));
}

/** A slice on the screen: the index axes that run to the right and down, and the one that selects it. */
struct Plane
{
  std::string                 name;
  std::array<unsigned int, 2> axes;
  std::array<bool, 2>         isReversed;
  unsigned int                normal;
  IndexType                   through;
  /** In pixels of the screen. */
  std::array<int, 2> size{ { 0, 0 } };
};

/** The size of the image along an axis of the plane, in mm. */
double
GetLength(const ImageType * image, const Plane & plane, unsigned int i)
{
  const unsigned int axis = plane.axes[i];
  return static_cast<double>(image->GetLargestPossibleRegion().GetSize(axis)) * image->GetSpacing()[axis];
}

/** Reads voxels of a plane by their position in pixels of the screen. */
class PlaneSampler
{
public:
  PlaneSampler(const ImageType * image, const ObjectType * object, const Plane & plane)
    : m_Image(image)
    , m_Object(object)
    , m_Plane(plane)
  {}

  bool
  IsObject(int x, int y) const
  {
    IndexType  index = m_Plane.through;
    const auto region = m_Image->GetLargestPossibleRegion();
    for (unsigned int i = 0; i < 2; ++i)
    {
      const auto axis = m_Plane.axes[i];
      index[axis] = this->Clamp(axis, std::floor(this->GetPosition(i, i == 0 ? x : y) + 0.5));
    }
    return m_Object->GetPixel(index) != 0;
  }

  /** Linear between the voxels. */
  double
  GetValue(int x, int y) const
  {
    const std::array<double, 2> position{ { this->GetPosition(0, x), this->GetPosition(1, y) } };
    double                      value = 0.0;
    for (unsigned int corner = 0; corner < 4; ++corner)
    {
      IndexType index = m_Plane.through;
      double    weight = 1.0;
      for (unsigned int i = 0; i < 2; ++i)
      {
        const double below = std::floor(position[i]);
        const bool   isUpper = (corner >> i & 1U) != 0;
        const double share = position[i] - below;
        weight *= isUpper ? share : 1.0 - share;
        index[m_Plane.axes[i]] = this->Clamp(m_Plane.axes[i], isUpper ? below + 1.0 : below);
      }
      value += weight * static_cast<double>(m_Image->GetPixel(index));
    }
    return value;
  }

private:
  /** The index of the voxel in which a pixel is; whole numbers are centers of voxels. */
  double
  GetPosition(unsigned int i, int pixel) const
  {
    const auto   size = static_cast<double>(m_Image->GetLargestPossibleRegion().GetSize(m_Plane.axes[i]));
    const double position = (pixel + 0.5) / m_Plane.size[i] * size - 0.5;
    return m_Plane.isReversed[i] ? size - 1.0 - position : position;
  }

  itk::IndexValueType
  Clamp(unsigned int axis, double position) const
  {
    const auto region = m_Image->GetLargestPossibleRegion();
    const auto last = static_cast<itk::IndexValueType>(region.GetSize(axis)) - 1;
    return region.GetIndex(axis) + std::clamp<itk::IndexValueType>(static_cast<itk::IndexValueType>(position), 0, last);
  }

  const ImageType *  m_Image;
  const ObjectType * m_Object;
  const Plane &      m_Plane;
};

/** The plane in gray, the object in color with an outline. */
vtkSmartPointer<vtkImageData>
DrawPlane(const PlaneSampler & sampler, const Plane & plane, const Style & style)
{
  constexpr double tint = 0.25;
  constexpr int    outline = 2;
  auto             picture = vtkSmartPointer<vtkImageData>::New();
  picture->SetDimensions(plane.size[0], plane.size[1], 1);
  picture->AllocateScalars(VTK_UNSIGNED_CHAR, 3);
  for (int y = 0; y < plane.size[1]; ++y)
  {
    for (int x = 0; x < plane.size[0]; ++x)
    {
      double share = 0.0;
      if (sampler.IsObject(x, y))
      {
        const bool isInner = sampler.IsObject(x - outline, y) && sampler.IsObject(x + outline, y) &&
                             sampler.IsObject(x, y - outline) && sampler.IsObject(x, y + outline);
        share = isInner ? tint : 1.0;
      }
      const double gray = GetGray(sampler.GetValue(x, y), style);
      // The first row of VTK's images is at the bottom.
      auto * pixel = static_cast<unsigned char *>(picture->GetScalarPointer(x, plane.size[1] - 1 - y, 0));
      for (unsigned int c = 0; c < 3; ++c)
      {
        pixel[c] = ToByte((1.0 - share) * gray + share * style.color[c]);
      }
    }
  }
  return picture;
}

/** From indices to physical points. */
vtkSmartPointer<vtkMatrix4x4>
GetIndexToPhysicalMatrix(const ImageType * image)
{
  auto matrix = vtkSmartPointer<vtkMatrix4x4>::New();
  for (int row = 0; row < 3; ++row)
  {
    for (int column = 0; column < 3; ++column)
    {
      matrix->SetElement(row, column, image->GetDirection()[row][column] * image->GetSpacing()[column]);
    }
    matrix->SetElement(row, 3, image->GetOrigin()[row]);
  }
  return matrix;
}

vtkSmartPointer<vtkImageData>
MakeVtkImage(const RegionType & region)
{
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetDimensions(
    static_cast<int>(region.GetSize(0)), static_cast<int>(region.GetSize(1)), static_cast<int>(region.GetSize(2)));
  image->SetOrigin(static_cast<double>(region.GetIndex(0)),
                   static_cast<double>(region.GetIndex(1)),
                   static_cast<double>(region.GetIndex(2)));
  image->AllocateScalars(VTK_UNSIGNED_CHAR, 1);
  return image;
}

/** The smooth surface of an object, in physical space. */
vtkSmartPointer<vtkActor>
MakeSurface(const ObjectType * object, RegionType region, vtkMatrix4x4 * matrix, const Style & style)
{
  // One voxel more to each side closes the surface.
  region.PadByRadius(1);
  const auto whole = object->GetLargestPossibleRegion();
  const auto volume = MakeVtkImage(region);
  auto *     voxel = static_cast<unsigned char *>(volume->GetScalarPointer());
  for (itk::SizeValueType i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    IndexType index = region.GetIndex();
    auto      rest = i;
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] += static_cast<itk::IndexValueType>(rest % region.GetSize(d));
      rest /= region.GetSize(d);
    }
    voxel[i] = whole.IsInside(index) && object->GetPixel(index) != 0 ? 1 : 0;
  }

  vtkNew<vtkFlyingEdges3D> contour;
  contour->SetInputData(volume);
  contour->SetValue(0, 0.5);
  contour->ComputeNormalsOff();
  contour->ComputeScalarsOff();
  vtkNew<vtkTransform> transform;
  transform->SetMatrix(matrix);
  vtkNew<vtkTransformPolyDataFilter> toPhysical;
  toPhysical->SetTransform(transform);
  toPhysical->SetInputConnection(contour->GetOutputPort());
  // Rounds off the steps between voxels; unlike a blurred object, it keeps what is one voxel thin.
  vtkNew<vtkWindowedSincPolyDataFilter> smooth;
  smooth->SetInputConnection(toPhysical->GetOutputPort());
  smooth->SetNumberOfIterations(20);
  smooth->SetPassBand(0.08);
  smooth->NormalizeCoordinatesOn();
  smooth->FeatureEdgeSmoothingOff();
  smooth->BoundarySmoothingOff();
  vtkNew<vtkPolyDataNormals> normals;
  normals->SetInputConnection(smooth->GetOutputPort());
  normals->SplittingOff();
  if (matrix->Determinant() < 0.0)
  {
    normals->FlipNormalsOn();
  }

  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputConnection(normals->GetOutputPort());
  mapper->ScalarVisibilityOff();
  auto actor = vtkSmartPointer<vtkActor>::New();
  actor->SetMapper(mapper);
  actor->GetProperty()->SetColor(style.color[0], style.color[1], style.color[2]);
  actor->GetProperty()->SetAmbient(0.15);
  actor->GetProperty()->SetDiffuse(0.85);
  actor->GetProperty()->SetSpecular(0.25);
  actor->GetProperty()->SetSpecularPower(25.0);
  return actor;
}

/** One slice of the image in gray, in physical space. */
vtkSmartPointer<vtkImageSlice>
MakeSlice(const ImageType * image, const RegionType & region, unsigned int axis, vtkMatrix4x4 * matrix,
          const Style & style)
{
  const auto                               slice = MakeVtkImage(region);
  auto *                                   gray = static_cast<unsigned char *>(slice->GetScalarPointer());
  itk::ImageRegionConstIterator<ImageType> it(image, region);
  for (; !it.IsAtEnd(); ++it)
  {
    *gray++ = ToByte(GetGray(static_cast<double>(it.Get()), style));
  }
  vtkNew<vtkImageSliceMapper> mapper;
  mapper->SetInputData(slice);
  mapper->SetOrientation(static_cast<int>(axis));
  auto actor = vtkSmartPointer<vtkImageSlice>::New();
  actor->SetMapper(mapper);
  actor->GetProperty()->SetColorWindow(255.0);
  actor->GetProperty()->SetColorLevel(127.5);
  actor->GetProperty()->SetInterpolationTypeToLinear();
  actor->SetUserMatrix(matrix);
  return actor;
}

/** Move a camera, which keeps its direction, so that it sees all of a region in a window of the given size. */
void
FitCamera(vtkCamera * camera, const RegionType & region, vtkMatrix4x4 * matrix, const std::array<double, 2> & size)
{
  vtkNew<vtkMatrix4x4> toView;
  vtkMatrix4x4::Multiply4x4(camera->GetViewTransformMatrix(), matrix, toView);
  vtkBoundingBox box;
  for (unsigned int corner = 0; corner < 8; ++corner)
  {
    std::array<double, 4> point{ { 0.0, 0.0, 0.0, 1.0 } };
    for (unsigned int d = 0; d < 3; ++d)
    {
      const double length = (corner >> d & 1U) != 0 ? static_cast<double>(region.GetSize(d)) : 0.0;
      point[d] = static_cast<double>(region.GetIndex(d)) - 0.5 + length;
    }
    toView->MultiplyPoint(point.data(), point.data());
    box.AddPoint(point.data());
  }

  // The camera looks at the middle of the box from before it.
  std::array<double, 4> center{ { 0.0, 0.0, 0.0, 1.0 } };
  box.GetCenter(center.data());
  std::array<double, 4> position = center;
  position[2] = box.GetBound(5) + box.GetMaxLength();
  vtkNew<vtkMatrix4x4> toWorld;
  vtkMatrix4x4::Invert(camera->GetViewTransformMatrix(), toWorld);
  toWorld->MultiplyPoint(center.data(), center.data());
  toWorld->MultiplyPoint(position.data(), position.data());
  camera->SetFocalPoint(center.data());
  camera->SetPosition(position.data());
  camera->SetParallelScale(0.5 * std::max(box.GetLength(1), box.GetLength(0) * size[1] / size[0]));
}

/** The surface before three slices that touch it from the sides that the camera does not see. */
void
FillScene(vtkRenderer * renderer, const ImageType * image, const ObjectType * object, const Extent & extent,
          const Style & style, const std::array<double, 2> & size)
{
  constexpr double radiansPerDegree = 3.14159265358979323846 / 180.0;
  const double     azimuth = radiansPerDegree * style.camera[0];
  const double     elevation = radiansPerDegree * style.camera[1];
  // From the object to the camera.
  const std::array<double, 3> toCamera{
    { std::sin(azimuth) * std::cos(elevation), -std::cos(azimuth) * std::cos(elevation), std::sin(elevation) }
  };

  const auto whole = image->GetLargestPossibleRegion();
  const auto matrix = GetIndexToPhysicalMatrix(image);
  if (extent.numberOfVoxels > 0)
  {
    renderer->AddViewProp(MakeSurface(object, extent.region, matrix, style));
  }

  // The slices meet behind the object, and reach beyond it before, so that its place can be recognized.
  const RegionType touched = extent.numberOfVoxels > 0 ? extent.region : whole;
  const auto       orientation = GetOrientation(image);
  double           margin = 0.0;
  for (unsigned int d = 0; d < 3; ++d)
  {
    margin = std::max(margin, 0.15 * static_cast<double>(touched.GetSize(d)) * image->GetSpacing()[d]);
  }
  RegionType region = touched;
  IndexType  corner;
  for (unsigned int physical = 0; physical < 3; ++physical)
  {
    const auto axis = orientation.axes[physical];
    const auto more = static_cast<itk::IndexValueType>(std::ceil(margin / image->GetSpacing()[axis]));
    const bool isCornerLast = (toCamera[physical] < 0.0) != orientation.isReversed[physical];
    corner[axis] = isCornerLast ? touched.GetUpperIndex()[axis] : touched.GetIndex(axis);
    region.SetSize(axis, touched.GetSize(axis) + static_cast<itk::SizeValueType>(more));
    region.SetIndex(axis, touched.GetIndex(axis) - (isCornerLast ? more : 0));
  }
  region.Crop(whole);
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    RegionType slice = region;
    slice.SetSize(axis, 1);
    slice.SetIndex(axis, corner[axis]);
    renderer->AddViewProp(MakeSlice(image, slice, axis, matrix, style));
  }

  vtkNew<vtkLightKit> lights;
  lights->SetKeyLightIntensity(0.9);
  lights->SetKeyToFillRatio(2.2);
  lights->AddLightsToRenderer(renderer);

  vtkCamera * camera = renderer->GetActiveCamera();
  camera->ParallelProjectionOn();
  camera->SetFocalPoint(0.0, 0.0, 0.0);
  camera->SetPosition(toCamera.data());
  // From straight above or below, the patient's front is up.
  if (std::abs(toCamera[2]) < 0.99)
  {
    camera->SetViewUp(0.0, 0.0, 1.0);
  }
  else
  {
    camera->SetViewUp(0.0, -1.0, 0.0);
  }
  FitCamera(camera, region, matrix, size);
  renderer->ResetCameraClippingRange();
}

/** A window on which pixels are units: x to the right, y upwards, as VTK has it; and a scene in a part of it. */
class Canvas
{
public:
  Canvas(int width, int height)
    : m_Width(width)
    , m_Height(height)
  {
    m_Window->SetOffScreenRendering(1);
    m_Window->SetMultiSamples(8);
    m_Window->SetDPI(72);
    m_Window->SetSize(width, height);
    m_Window->SetNumberOfLayers(2);
    m_Renderer->SetBackground(1.0, 1.0, 1.0);
    m_Window->AddRenderer(m_Renderer);

    vtkCamera * camera = m_Renderer->GetActiveCamera();
    camera->ParallelProjectionOn();
    camera->SetParallelScale(0.5 * height);
    camera->SetFocalPoint(0.5 * width, 0.5 * height, 0.0);
    camera->SetPosition(0.5 * width, 0.5 * height, 100.0);
    camera->SetClippingRange(1.0, 200.0);
  }

  /** The renderer of a rectangle whose top left corner is given from the top of the window. */
  vtkRenderer *
  AddScene(const std::array<double, 2> & corner, const std::array<double, 2> & size)
  {
    m_Scene->SetLayer(1);
    m_Scene->SetViewport(corner[0] / m_Width,
                         (m_Height - corner[1] - size[1]) / m_Height,
                         (corner[0] + size[0]) / m_Width,
                         (m_Height - corner[1]) / m_Height);
    m_Window->AddRenderer(m_Scene);
    return m_Scene;
  }

  void
  AddPicture(vtkImageData * picture, double x, double y)
  {
    const int * size = picture->GetDimensions();
    picture->SetOrigin(x + 0.5, m_Height - y - size[1] + 0.5, 0.0);
    vtkNew<vtkImageSliceMapper> mapper;
    mapper->SetInputData(picture);
    mapper->BorderOn();
    vtkNew<vtkImageSlice> slice;
    slice->SetMapper(mapper);
    slice->GetProperty()->SetInterpolationTypeToNearest();
    slice->GetProperty()->SetColorWindow(255.0);
    slice->GetProperty()->SetColorLevel(127.5);
    m_Renderer->AddViewProp(slice);
  }

  /** Text whose left end is at x, and whose middle is at y from the top of the window. */
  void
  AddText(const std::string & text, double x, double y, int fontSize, bool isBold, double gray = 0.1)
  {
    vtkNew<vtkTextActor> actor;
    actor->SetInput(text.c_str());
    actor->GetTextProperty()->SetFontFamilyToArial();
    actor->GetTextProperty()->SetFontSize(fontSize);
    actor->GetTextProperty()->SetBold(isBold);
    actor->GetTextProperty()->SetColor(gray, gray, gray);
    actor->GetTextProperty()->SetJustificationToLeft();
    actor->GetTextProperty()->SetVerticalJustificationToCentered();
    actor->SetPosition(x, m_Height - y);
    m_Renderer->AddViewProp(actor);
  }

  void
  Write(const std::string & name)
  {
    m_Window->Render();
    vtkNew<vtkWindowToImageFilter> picture;
    picture->SetInput(m_Window);
    picture->SetInputBufferTypeToRGB();
    picture->ReadFrontBufferOff();
    vtkNew<vtkPNGWriter> writer;
    writer->SetInputConnection(picture->GetOutputPort());
    writer->SetFileName(name.c_str());
    writer->Write();
    if (writer->GetErrorCode() != 0)
    {
      throw std::runtime_error("the file '" + name + "' was not written");
    }
  }

private:
  double                  m_Width;
  double                  m_Height;
  vtkNew<vtkRenderWindow> m_Window;
  vtkNew<vtkRenderer>     m_Renderer;
  vtkNew<vtkRenderer>     m_Scene;
};

/** The axial slice seen from the feet and the coronal one from the front, as radiologists do; 2D: the image. */
std::vector<Plane>
MakePlanes(const ImageType * image, const IndexType & through, bool isVolume)
{
  if (!isVolume)
  {
    return { { "Image", { { 0, 1 } }, { { false, false } }, 2, through } };
  }
  const auto orientation = GetOrientation(image);
  const auto axes = orientation.axes;
  const auto isReversed = orientation.isReversed;
  return { { "Axial slice", { { axes[0], axes[1] } }, { { isReversed[0], isReversed[1] } }, axes[2], through },
           { "Coronal slice", { { axes[0], axes[2] } }, { { isReversed[0], !isReversed[2] } }, axes[1], through } };
}

/** The size of an object: "1234 voxels, 5.67 ml". */
std::string
DescribeSize(const ImageType * image, itk::SizeValueType numberOfVoxels, bool isVolume)
{
  std::ostringstream text;
  text << "Object: " << numberOfVoxels << (isVolume ? " voxels" : " pixels");
  if (isVolume)
  {
    const auto spacing = image->GetSpacing();
    text.precision(4);
    text << ", " << static_cast<double>(numberOfVoxels) * spacing[0] * spacing[1] * spacing[2] / 1000.0 << " ml";
  }
  return text.str();
}

void
DrawPicture(const ImageType * image, const ObjectType * object, const Options & options, const Style & style,
            bool isVolume)
{
  constexpr int margin = 24;
  constexpr int nameHeight = 36;
  constexpr int sceneWidth = 1000;
  constexpr int longestSide = 560;

  const auto extent = GetExtent(object);
  IndexType  through = extent.largest;
  if (!options.slices.empty())
  {
    const auto whole = image->GetLargestPossibleRegion();
    const auto values = ExampleIO::ParseNumbers<itk::IndexValueType>(
      "--slices", options.slices, 3, "slices pass through a voxel, which has 3");
    std::copy(values.begin(), values.end(), through.begin());
    if (!whole.IsInside(through))
    {
      throw std::runtime_error("--slices: the image has no voxel " + options.slices);
    }
  }

  // The same scale for all planes.
  auto   planes = MakePlanes(image, through, isVolume);
  double longest = 0.0;
  for (const auto & plane : planes)
  {
    longest = std::max({ longest, GetLength(image, plane, 0), GetLength(image, plane, 1) });
  }
  int planesWidth = 0;
  int planesHeight = 0;
  for (auto & plane : planes)
  {
    for (unsigned int i = 0; i < 2; ++i)
    {
      const double pixels = (isVolume ? 1.0 : 1.5) * longestSide * GetLength(image, plane, i) / longest;
      plane.size[i] = std::max(1, static_cast<int>(std::lround(pixels)));
    }
    planesWidth = std::max(planesWidth, plane.size[0]);
    planesHeight += nameHeight + plane.size[1];
  }

#ifdef VTK_USE_X
  // VTK would end the program without a message that helps.
  if (std::getenv("DISPLAY") == nullptr)
  {
    throw std::runtime_error("there is no X display; run this under xvfb-run -a");
  }
#endif
  const int titleHeight = options.title.empty() ? 0 : 52;
  const int top = margin / 2 + titleHeight;
  const int left = margin + (isVolume ? sceneWidth + margin : 0);
  // A title may be wider than the panels.
  const int width = std::max(left + planesWidth + margin, 2 * margin + 16 * static_cast<int>(options.title.size()));
  const int height = top + std::max(planesHeight, isVolume ? 700 : nameHeight) + margin;

  Canvas canvas(width, height);
  if (!options.title.empty())
  {
    canvas.AddText(options.title, margin, 0.5 * (margin + titleHeight), 28, true);
  }
  const std::string size = DescribeSize(image, extent.numberOfVoxels, isVolume);
  if (isVolume)
  {
    canvas.AddText(size, margin, top + 0.5 * nameHeight, 22, true);
    const std::array<double, 2> sceneSize{ { sceneWidth, static_cast<double>(height - top - nameHeight - margin) } };
    vtkRenderer * scene = canvas.AddScene({ { margin, static_cast<double>(top + nameHeight) } }, sceneSize);
    FillScene(scene, image, object, extent, style, sceneSize);
  }
  double y = top;
  for (const auto & plane : planes)
  {
    const auto         region = image->GetLargestPossibleRegion();
    std::ostringstream name;
    name << plane.name;
    if (isVolume)
    {
      name << ' ' << plane.through[plane.normal] << " of " << region.GetSize(plane.normal);
    }
    canvas.AddText(isVolume ? name.str() : size, left, y + 0.5 * nameHeight, 22, true);
    y += nameHeight;
    canvas.AddPicture(DrawPlane(PlaneSampler(image, object, plane), plane, style), left, y);
    if (isVolume)
    {
      canvas.AddText("R", left + 8.0, y + 0.5 * plane.size[1], 20, true, 0.9);
      canvas.AddText("L", left + plane.size[0] - 22.0, y + 0.5 * plane.size[1], 20, true, 0.9);
    }
    y += plane.size[1];
  }
  canvas.Write(options.output);
}

Style
ParseStyle(const ImageType * image, const Options & options)
{
  Style style;
  style.window = GetDefaultWindow(image);
  if (!options.window.empty())
  {
    const auto window = ExampleIO::ParseNumbers<double>("--window", options.window, 2, "a window has 2");
    if (!(window[0] < window[1]))
    {
      throw std::runtime_error("--window: " + options.window + " is not in ascending order");
    }
    std::copy(window.begin(), window.end(), style.window.begin());
  }
  const auto camera = ExampleIO::ParseNumbers<double>("--camera", options.camera, 2, "there are 2 angles");
  std::copy(camera.begin(), camera.end(), style.camera.begin());
  const auto color = ExampleIO::ParseNumbers<unsigned char>("--color", options.color, 3, "a color has 3");
  std::transform(color.begin(), color.end(), style.color.begin(), [](unsigned char c) { return c / 255.0; });
  return style;
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
  ExampleIO::CheckOutput(options.output);

  // An image of 2 dimensions is read as one slice.
  const auto image = ExampleIO::ReadScalarImage<ImageType>(input);
  const auto object = ExampleIO::ReadMask<3>(objectInput);
  if (image->GetLargestPossibleRegion() != object->GetLargestPossibleRegion())
  {
    throw std::runtime_error("'" + options.input + "' and '" + options.object + "' differ in size");
  }
  DrawPicture(image, object, options, ParseStyle(image, options), input.dimension == 3);
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "A picture of an object in an image: its surface, and its outline in slices.", "RenderObject" };
  app.add_option("IMAGE", options.input, "any file that ITK reads, or a directory of DICOM files")->required();
  app.add_option("OBJECT", options.object, "image of the same size, not 0 in the object")->required();
  app.add_option("OUTPUT", options.output, "picture to write (.png)")->required();
  app.add_option("--window", options.window, "intensities shown in black and white (default: what most voxels have)")
    ->type_name("LO,HI");
  app
    .add_option("--slices",
                options.slices,
                "voxel that the slices with the outline pass through (default: where they "
                "show most of the object)")
    ->type_name("X,Y,Z");
  app
    .add_option("--camera",
                options.camera,
                "degrees to the patient's left and upwards from which the surface is seen; 0,0 is from the front")
    ->type_name("LEFT,UP")
    ->capture_default_str();
  app.add_option("--color", options.color, "of the object, each from 0 to 255")
    ->type_name("R,G,B")
    ->capture_default_str();
  app.add_option("--title", options.title, "text above the picture")->type_name("TEXT");

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
