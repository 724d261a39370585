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
#ifndef Rendering_h
#define Rendering_h

// What the example programs that make pictures share: axes toward the patient's left, back, and head, gray values and
// colors, and a canvas for slices, text, color bars, and 3D scenes that is written as a PNG file.

#include "itkOrientImageFilter.h"

#include <vtkAOSDataArrayTemplate.h>
#include <vtkActor.h>
#include <vtkImageData.h>
#include <vtkLookupTable.h>
#include <vtkMatrix4x4.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkProp3D.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace Rendering
{
using Range = std::array<double, 2>;
using Color = std::array<double, 3>;

/** A filter that permutes and flips the axes of an image so that they point to the patient's left, back, and head. An
 * image that is not a volume, but a 2D image stored as a single slice, is left as it is. */
template <typename TImage>
auto
MakeOrientFilter(const TImage * image, bool isVolume)
{
  auto filter = itk::OrientImageFilter<TImage, TImage>::New();
  filter->SetInput(image);
  if (isVolume)
  {
    typename TImage::DirectionType leftBackHead;
    leftBackHead.SetIdentity();
    filter->UseImageDirectionOn();
    filter->SetDesiredCoordinateDirection(leftBackHead);
  }
  filter->UpdateOutputInformation();
  return filter;
}

/** A VTK image that shares the voxels of an ITK image, which must outlive it. The first voxel is at the origin. */
template <typename TImage>
vtkSmartPointer<vtkImageData>
ShareWithVTK(TImage * image)
{
  const auto                                                  region = image->GetBufferedRegion();
  vtkNew<vtkAOSDataArrayTemplate<typename TImage::PixelType>> voxels;
  voxels->SetArray(image->GetBufferPointer(), static_cast<vtkIdType>(region.GetNumberOfPixels()), 1);
  auto result = vtkSmartPointer<vtkImageData>::New();
  result->SetDimensions(
    static_cast<int>(region.GetSize(0)), static_cast<int>(region.GetSize(1)), static_cast<int>(region.GetSize(2)));
  result->SetSpacing(image->GetSpacing().GetDataPointer());
  result->GetPointData()->SetScalars(voxels);
  return result;
}

/** Throw if a name is not that of a PNG file. */
void
CheckPictureName(const std::string & fileName);

/** The size of an image along an axis, in mm. */
double
GetLength(vtkImageData * image, unsigned int axis);

/** From the 1st to the given percentile (in %) of an image's values; for a logarithmic scale, of the positive ones. */
Range
GetPercentileRange(vtkImageData * image, double upperPercentile, bool isLogarithmic = false);

/** From black to white; NaN is gray-blue. */
vtkSmartPointer<vtkLookupTable>
MakeGrayTable(const Range & range);

/** Colors in equal steps of lightness, from dark blue to yellow; NaN is gray. */
vtkSmartPointer<vtkLookupTable>
MakeColorTable(const Range & range, bool isLogarithmic);

/** The smooth surface of the voxels of an image that are greater than 0.5. */
vtkSmartPointer<vtkActor>
MakeSurface(vtkImageData * object, const Color & color);

/** In pixels, from the top left corner of the canvas. */
struct Rectangle
{
  double x;
  double y;
  double width;
  double height;
};

/** One slice of a VTK image, selected along an axis, in a rectangle: across axis 2 as seen from the feet, or across
 * axis 1 as seen from the front. */
struct Slice
{
  vtkImageData * image;
  unsigned int   axis;
  int            index;
  Rectangle      place;
};

/** A diagram whose axes are logarithmic. */
struct Axes
{
  Rectangle place;
  Range     x;
  Range     y;

  double
  GetX(double value) const
  {
    return place.x + place.width * std::log(value / x[0]) / std::log(x[1] / x[0]);
  }
  double
  GetY(double value) const
  {
    return place.y + place.height * (1.0 - std::log(value / y[0]) / std::log(y[1] / y[0]));
  }
};

/** A picture on which one unit is one pixel, x goes to the right and y goes down. */
class Canvas
{
public:
  static constexpr int NameHeight = 36;

  /** Size without the margins and the title; a long title makes the picture wider. */
  Canvas(int width, int height, const std::string & title);

  /** Text whose left end is at x, and whose middle is at y. */
  void
  AddText(const std::string & text, double x, double y, int fontSize, bool isBold, double gray = 0.1);

  /** The name of a panel, above the panel's top left corner. */
  void
  AddName(const std::string & name, double x, double y)
  {
    this->AddText(name, x, y - 0.5 * NameHeight, 22, true);
  }

  void
  AddSlice(const Slice & slice, vtkLookupTable * table, bool isInterpolated);

  /** The outline of the voxels of a slice that are greater than 0.5. */
  void
  AddOutline(const Slice & slice, const Color & color);

  /** The colors of a table, with round numbers beside them. */
  void
  AddColorBar(const Rectangle & place, vtkLookupTable * table);

  /** A rectangle of one color. */
  void
  AddPatch(const Rectangle & place, const Color & color);

  /** The lines and numbers of a diagram. */
  void
  AddAxes(const Axes & axes, const std::string & nameOfX, const std::string & nameOfY);

  /** A line through points of a diagram. */
  void
  AddCurve(const Axes & axes, const std::vector<std::array<double, 2>> & points, const Color & color, float width);

  /** An empty 3D scene in a rectangle. */
  vtkRenderer *
  AddScene(const Rectangle & place);

  void
  Write(const std::string & fileName);

private:
  /** From the coordinates of an image to those of the canvas; what is added later is nearer. */
  vtkSmartPointer<vtkMatrix4x4>
  MakeMatrix(const Slice & slice);

  void
  AddLines(vtkPolyData * lines, vtkMatrix4x4 * matrix, const Color & color, float width);

  double                  m_Top;
  double                  m_Layer{ 0.0 };
  vtkNew<vtkRenderWindow> m_Window;
  vtkNew<vtkRenderer>     m_Renderer;
  vtkNew<vtkRenderer>     m_Scene;
};
} // namespace Rendering

#endif // Rendering_h
