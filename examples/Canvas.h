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
#ifndef Canvas_h
#define Canvas_h

// A canvas for slices, text, color bars, diagrams, and a 3D scene, which is written as a PNG file.

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkCellArray.h>
#include <vtkColorTransferFunction.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageConstantPad.h>
#include <vtkImageData.h>
#include <vtkImageProperty.h>
#include <vtkImageSlice.h>
#include <vtkImageSliceMapper.h>
#include <vtkLightKit.h>
#include <vtkLookupTable.h>
#include <vtkMarchingSquares.h>
#include <vtkMatrix4x4.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkPointData.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataNormals.h>
#include <vtkProperty.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkRenderingOpenGLConfigure.h>
#include <vtkSmartPointer.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkWindowToImageFilter.h>
#include <vtkWindowedSincPolyDataFilter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Range = std::array<double, 2>;
using Color = std::array<double, 3>;

/** From black to white; NaN is gray-blue. */
inline vtkSmartPointer<vtkLookupTable>
MakeGrayTable(const Range & range)
{
  auto table = vtkSmartPointer<vtkLookupTable>::New();
  table->SetSaturationRange(0.0, 0.0);
  table->SetValueRange(0.0, 1.0);
  table->SetRampToLinear();
  table->SetTableRange(range.data());
  table->SetNanColor(0.4, 0.4, 0.6, 1.0);
  table->Build();
  return table;
}

/** Colors in equal steps of lightness, from dark blue to yellow; NaN is gray. */
inline vtkSmartPointer<vtkLookupTable>
MakeColorTable(const Range & range, bool isLogarithmic)
{
  auto                             table = vtkSmartPointer<vtkLookupTable>::New();
  vtkNew<vtkColorTransferFunction> colors;
  double                           place = 0.0;
  for (const unsigned int color :
       { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725 })
  {
    colors->AddRGBPoint(place, (color >> 16) / 255.0, (color >> 8 & 0xFF) / 255.0, (color & 0xFF) / 255.0);
    place += 255.0 / 8.0;
  }
  table->SetNumberOfTableValues(256);
  for (int i = 0; i < 256; ++i)
  {
    const double * color = colors->GetColor(i);
    table->SetTableValue(i, color[0], color[1], color[2]);
  }
  table->SetTableRange(range.data());
  table->SetScale(isLogarithmic ? VTK_SCALE_LOG10 : VTK_SCALE_LINEAR);
  table->SetNanColor(0.6, 0.6, 0.6, 1.0);
  return table;
}

/** Transparent for 0, a color for 1. */
inline vtkSmartPointer<vtkLookupTable>
MakeTint(const Color & color, double opacity)
{
  auto table = vtkSmartPointer<vtkLookupTable>::New();
  table->SetNumberOfTableValues(2);
  table->SetTableRange(0.0, 1.0);
  table->SetTableValue(0, 0.0, 0.0, 0.0, 0.0);
  table->SetTableValue(1, color[0], color[1], color[2], opacity);
  return table;
}

/** The smooth surface of the voxels of an image that are greater than 0.5. */
inline vtkSmartPointer<vtkActor>
MakeSurface(vtkImageData * object, const Color & color, double opacity)
{
  // One voxel more on each side closes the surface.
  vtkNew<vtkImageConstantPad> pad;
  pad->SetInputData(object);
  const int * size = object->GetDimensions();
  pad->SetOutputWholeExtent(-1, size[0], -1, size[1], -1, size[2]);
  vtkNew<vtkFlyingEdges3D> contour;
  contour->SetInputConnection(pad->GetOutputPort());
  contour->SetValue(0, 0.5);
  contour->ComputeNormalsOff();
  contour->ComputeScalarsOff();
  // Smooths the steps between voxels; unlike blurring the object, it keeps parts that are one voxel thin.
  vtkNew<vtkWindowedSincPolyDataFilter> smooth;
  smooth->SetInputConnection(contour->GetOutputPort());
  smooth->SetNumberOfIterations(20);
  smooth->SetPassBand(0.08);
  smooth->NormalizeCoordinatesOn();
  smooth->FeatureEdgeSmoothingOff();
  smooth->BoundarySmoothingOff();
  vtkNew<vtkPolyDataNormals> normals;
  normals->SetInputConnection(smooth->GetOutputPort());
  normals->SplittingOff();

  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputConnection(normals->GetOutputPort());
  auto actor = vtkSmartPointer<vtkActor>::New();
  actor->SetMapper(mapper);
  actor->GetProperty()->SetColor(color[0], color[1], color[2]);
  actor->GetProperty()->SetOpacity(opacity);
  actor->GetProperty()->SetAmbient(0.15);
  actor->GetProperty()->SetDiffuse(0.85);
  actor->GetProperty()->SetSpecular(0.25);
  actor->GetProperty()->SetSpecularPower(25.0);
  return actor;
}

inline std::string
ToText(double number)
{
  std::ostringstream text;
  text << number;
  return text.str();
}

/** Round values in a range: 1, 2, and 5 times powers of ten on a logarithmic scale, else equal steps. */
inline std::vector<double>
GetTicks(const Range & range, bool isLogarithmic)
{
  const double        rough = isLogarithmic ? range[0] : (range[1] - range[0]) / 7.0;
  double              decade = std::pow(10.0, std::floor(std::log10(rough)));
  std::vector<double> ticks;
  if (!isLogarithmic)
  {
    const double digit = rough / decade;
    const double step = decade * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
    for (double i = std::ceil(range[0] / step - 1e-9); i * step <= range[1] + 1e-9 * step; i += 1.0)
    {
      // Adding 0 makes -0 positive.
      ticks.push_back(i * step + 0.0);
    }
    return ticks;
  }
  for (; decade <= range[1] * (1.0 + 1e-9); decade *= 10.0)
  {
    // A wide range has room for powers of ten only.
    for (const double tick : range[1] / range[0] < 2000.0 ? std::vector<double>{ decade, 2.0 * decade, 5.0 * decade }
                                                          : std::vector<double>{ decade })
    {
      if (tick >= range[0] * (1.0 - 1e-9) && tick <= range[1] * (1.0 + 1e-9))
      {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

/** In pixels, from the top left corner of the canvas. */
struct Rectangle
{
  double x;
  double y;
  double width;
  double height;
};

/** One slice of an image, selected along an axis, in a rectangle: across axis 2 as seen from the feet, or across axis 1
 * as seen from the front. */
struct Slice
{
  vtkImageData * image;
  unsigned int   axis;
  int            index;
  Rectangle      place;
};

/** A picture on which one unit is one pixel, x goes to the right and y goes down. */
class Canvas
{
public:
  using Points = std::vector<std::array<double, 2>>;

  static constexpr int    NameHeight = 36;
  static constexpr double Margin = 24.0;

  /** Size without the margins and the title; a long title makes the picture wider. */
  Canvas(double width, double height, const std::string & title)
    : m_Top(title.empty() ? 0.5 * Margin : 0.5 * Margin + 52.0)
  {
#ifdef VTK_USE_X
    // VTK would terminate the program without saying what to do.
    if (std::getenv("DISPLAY") == nullptr)
    {
      throw std::runtime_error("there is no X display; run this under xvfb-run -a");
    }
#endif
    m_Width = static_cast<int>(2.0 * Margin + std::max(std::floor(width), 16.0 * static_cast<double>(title.size())));
    m_Height = static_cast<int>(m_Top + std::floor(height) + Margin);
    m_Window->SetOffScreenRendering(1);
    m_Window->SetMultiSamples(8);
    m_Window->SetDPI(72);
    m_Window->SetSize(m_Width, m_Height);
    m_Window->SetNumberOfLayers(2);
    m_Window->AddRenderer(m_Renderer);
    m_Renderer->SetBackground(1.0, 1.0, 1.0);

    constexpr double depth = 1000.0;
    vtkCamera *      camera = m_Renderer->GetActiveCamera();
    camera->ParallelProjectionOn();
    camera->SetParallelScale(0.5 * m_Height);
    camera->SetFocalPoint(0.5 * m_Width, 0.5 * m_Height, 0.0);
    camera->SetPosition(0.5 * m_Width, 0.5 * m_Height, -depth);
    camera->SetViewUp(0.0, -1.0, 0.0);
    camera->SetClippingRange(1.0, 2.0 * depth);
    if (!title.empty())
    {
      this->AddText(title, 0.0, 0.5 * Margin - 38.0, 28, true);
    }
  }

  /** Text whose left end is at x, and whose middle is at y. */
  void
  AddText(const std::string & text, double x, double y, int fontSize, bool isBold, double gray = 0.1)
  {
    vtkNew<vtkTextActor> actor;
    actor->SetInput(text.c_str());
    actor->GetTextProperty()->SetFontFamilyToArial();
    actor->GetTextProperty()->SetFontSize(fontSize);
    actor->GetTextProperty()->SetBold(isBold);
    actor->GetTextProperty()->SetColor(gray, gray, gray);
    actor->GetTextProperty()->SetVerticalJustificationToCentered();
    actor->SetPosition(Margin + x, m_Height - m_Top - y);
    m_Renderer->AddViewProp(actor);
  }

  /** The name of a panel, above the panel's top left corner. */
  void
  AddName(const std::string & name, double x, double y)
  {
    this->AddText(name, x, y - 0.5 * NameHeight, 22, true);
  }

  void
  AddSlice(const Slice & slice, vtkLookupTable * table, bool isInterpolated)
  {
    vtkNew<vtkImageSliceMapper> mapper;
    mapper->SetInputData(slice.image);
    mapper->SetOrientation(static_cast<int>(slice.axis));
    mapper->SetSliceNumber(slice.index);
    mapper->BorderOn();
    vtkNew<vtkImageSlice> actor;
    actor->SetMapper(mapper);
    actor->GetProperty()->SetLookupTable(table);
    actor->GetProperty()->UseLookupTableScalarRangeOn();
    actor->GetProperty()->SetInterpolationType(isInterpolated ? VTK_LINEAR_INTERPOLATION : VTK_NEAREST_INTERPOLATION);
    actor->SetUserMatrix(this->MakeMatrix(slice));
    m_Renderer->AddViewProp(actor);
  }

  /** A slice in gray, with objects, which are 1 in images of 0 and 1, in colors. */
  void
  AddSliceWithObjects(Slice slice, vtkLookupTable * grays, const std::vector<vtkSmartPointer<vtkImageData>> & objects,
                      const std::vector<Color> & colors, double opacity)
  {
    this->AddSlice(slice, grays, true);
    for (std::size_t i = 0; i < objects.size(); ++i)
    {
      slice.image = objects[i];
      this->AddSlice(slice, MakeTint(colors[i], opacity), false);
      std::array<int, 6> extent{};
      slice.image->GetExtent(extent.data());
      extent[2 * slice.axis] = slice.index;
      extent[2 * slice.axis + 1] = slice.index;
      vtkNew<vtkMarchingSquares> outline;
      outline->SetInputData(slice.image);
      outline->SetImageRange(extent.data());
      outline->SetValue(0, 0.5);
      outline->Update();
      this->AddLines(outline->GetOutput(), this->MakeMatrix(slice), colors[i], 2.0F);
    }
    const Rectangle & place = slice.place;
    const double      middle = place.y + 0.5 * place.height;
    const double      center = place.x + 0.5 * place.width - 7.0;
    const bool        isFromFeet = slice.axis == 2;
    this->AddText("R", place.x + 8.0, middle, 20, true, 0.9);
    this->AddText("L", place.x + place.width - 22.0, middle, 20, true, 0.9);
    this->AddText(isFromFeet ? "A" : "S", center, place.y + 16.0, 20, true, 0.9);
    this->AddText(isFromFeet ? "P" : "I", center, place.y + place.height - 16.0, 20, true, 0.9);
    this->AddScaleBar(slice);
  }

  /** A bar of 1, 2, or 5 times a power of ten of millimeters in the lower left corner of a slice. */
  void
  AddScaleBar(const Slice & slice)
  {
    const Rectangle & place = slice.place;
    const double      pixels = place.width / (slice.image->GetDimensions()[0] * slice.image->GetSpacing()[0]);
    const double      longest = 0.25 * place.width / pixels;
    const double      decade = std::pow(10.0, std::floor(std::log10(longest)));
    const double      length = decade * (5.0 * decade <= longest ? 5.0 : 2.0 * decade <= longest ? 2.0 : 1.0);
    const Rectangle   bar{ place.x + 12.0, place.y + place.height - 16.0, pixels * length, 4.0 };
    this->AddPatch({ bar.x - 2.0, bar.y - 2.0, bar.width + 4.0, bar.height + 4.0 }, { { 0.0, 0.0, 0.0 } });
    this->AddPatch(bar, { { 1.0, 1.0, 1.0 } });
    const std::string text = ToText(length) + " mm";
    this->AddPatch({ bar.x - 2.0, bar.y - 27.0, 11.0 * static_cast<double>(text.size()) + 4.0, 25.0 },
                   { { 0.0, 0.0, 0.0 } });
    this->AddText(text, bar.x, bar.y - 15.0, 18, true, 0.95);
  }

  /** The colors of a table, with round numbers beside them. */
  void
  AddColorBar(const Rectangle & place, vtkLookupTable * table)
  {
    const Range  range{ { table->GetTableRange()[0], table->GetTableRange()[1] } };
    const bool   isLogarithmic = table->GetScale() == VTK_SCALE_LOG10;
    const double ratio = range[1] / range[0];

    // VTK transposes the texture of an image of one column, so the bar has two.
    vtkNew<vtkImageData> bar;
    bar->SetDimensions(2, 256, 1);
    bar->AllocateScalars(VTK_DOUBLE, 1);
    for (int i = 0; i < 256; ++i)
    {
      const double share = 1.0 - (i + 0.5) / 256.0;
      const double value = isLogarithmic ? range[0] * std::pow(ratio, share) : range[0] + share * (range[1] - range[0]);
      bar->SetScalarComponentFromDouble(0, i, 0, 0, value);
      bar->SetScalarComponentFromDouble(1, i, 0, 0, value);
    }
    this->AddSlice({ bar, 2, 0, place }, table, false);

    const double right = place.x + place.width;
    for (const double tick : GetTicks(range, isLogarithmic))
    {
      const double share =
        isLogarithmic ? std::log(tick / range[0]) / std::log(ratio) : (tick - range[0]) / (range[1] - range[0]);
      const double y = place.y + place.height * (1.0 - share);
      this->AddCurve({ { { right, y } }, { { right + 5.0, y } } }, { { 0.1, 0.1, 0.1 } }, 1.0F);
      this->AddText(ToText(tick), right + 9.0, y, 17, false);
    }
  }

  /** A rectangle of one color. */
  void
  AddPatch(const Rectangle & place, const Color & color)
  {
    vtkNew<vtkImageData> patch;
    patch->SetDimensions(2, 2, 1);
    patch->AllocateScalars(VTK_UNSIGNED_CHAR, 1);
    patch->GetPointData()->GetScalars()->Fill(1.0);
    this->AddSlice({ patch, 2, 0, place }, MakeTint(color, 1.0), false);
  }

  /** A line through points of the canvas. */
  void
  AddCurve(const Points & points, const Color & color, float width)
  {
    vtkNew<vtkPoints>    places;
    vtkNew<vtkCellArray> lines;
    m_Layer += 0.1;
    lines->InsertNextCell(static_cast<int>(points.size()));
    for (const auto & point : points)
    {
      lines->InsertCellPoint(places->InsertNextPoint(Margin + point[0], m_Top + point[1], -m_Layer));
    }
    vtkNew<vtkPolyData> curve;
    curve->SetPoints(places);
    curve->SetLines(lines);
    this->AddLines(curve, nullptr, color, width);
  }

  /** An empty 3D scene with lights in a rectangle. */
  vtkRenderer *
  AddScene(const Rectangle & place)
  {
    const double left = Margin + place.x;
    const double bottom = m_Height - m_Top - place.y - place.height;
    m_Scene->SetLayer(1);
    m_Scene->SetViewport(
      left / m_Width, bottom / m_Height, (left + place.width) / m_Width, (bottom + place.height) / m_Height);
    m_Window->AddRenderer(m_Scene);
    vtkNew<vtkLightKit> lights;
    lights->SetKeyLightIntensity(0.9);
    lights->SetKeyToFillRatio(2.2);
    lights->AddLightsToRenderer(m_Scene);
    m_Scene->GetActiveCamera()->ParallelProjectionOn();
    m_Scene->GetActiveCamera()->SetFocalPoint(0.0, 0.0, 0.0);
    m_Scene->GetActiveCamera()->SetViewUp(0.0, 0.0, 1.0);
    return m_Scene;
  }

  void
  Write(const std::string & fileName)
  {
    m_Window->Render();
    vtkNew<vtkWindowToImageFilter> picture;
    picture->SetInput(m_Window);
    picture->ReadFrontBufferOff();
    vtkNew<vtkPNGWriter> writer;
    writer->SetInputConnection(picture->GetOutputPort());
    writer->SetFileName(fileName.c_str());
    writer->Write();
    if (writer->GetErrorCode() != 0)
    {
      throw std::runtime_error("VTK cannot write the picture");
    }
  }

private:
  /** From the coordinates of an image to those of the canvas; what is added later is nearer. */
  vtkSmartPointer<vtkMatrix4x4>
  MakeMatrix(const Slice & slice)
  {
    const bool         isFromFeet = slice.axis == 2;
    const unsigned int down = isFromFeet ? 1 : 2;
    const Rectangle &  place = slice.place;
    const double *     spacing = slice.image->GetSpacing();
    const int *        size = slice.image->GetDimensions();
    const double       edgeX = 0.5 * place.width / size[0];
    const double       edgeY = 0.5 * place.height / size[down];
    const double       scaleY = place.height / (size[down] * spacing[down]);
    auto               matrix = vtkSmartPointer<vtkMatrix4x4>::New();
    matrix->Zero();
    matrix->SetElement(0, 0, place.width / (size[0] * spacing[0]));
    matrix->SetElement(0, 3, Margin + place.x + edgeX);
    matrix->SetElement(1, down, isFromFeet ? scaleY : -scaleY);
    matrix->SetElement(1, 3, m_Top + place.y + (isFromFeet ? edgeY : place.height - edgeY));
    matrix->SetElement(2, slice.axis, 1.0);
    m_Layer += 0.1;
    matrix->SetElement(2, 3, -slice.index * spacing[slice.axis] - m_Layer);
    matrix->SetElement(3, 3, 1.0);
    return matrix;
  }

  void
  AddLines(vtkPolyData * lines, vtkMatrix4x4 * matrix, const Color & color, float width)
  {
    vtkNew<vtkPolyDataMapper> mapper;
    mapper->SetInputData(lines);
    mapper->ScalarVisibilityOff();
    vtkNew<vtkActor> actor;
    actor->SetMapper(mapper);
    actor->SetUserMatrix(matrix);
    actor->GetProperty()->SetColor(color[0], color[1], color[2]);
    actor->GetProperty()->SetLineWidth(width);
    actor->GetProperty()->LightingOff();
    m_Renderer->AddViewProp(actor);
  }

  double                  m_Top;
  int                     m_Width;
  int                     m_Height;
  double                  m_Layer{ 0.0 };
  vtkNew<vtkRenderWindow> m_Window;
  vtkNew<vtkRenderer>     m_Renderer;
  vtkNew<vtkRenderer>     m_Scene;
};

#endif // Canvas_h
