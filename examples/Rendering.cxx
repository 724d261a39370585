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

#include "Rendering.h"

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkCellArray.h>
#include <vtkColorTransferFunction.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageConstantPad.h>
#include <vtkImageProperty.h>
#include <vtkImageSlice.h>
#include <vtkImageSliceMapper.h>
#include <vtkMarchingSquares.h>
#include <vtkPNGWriter.h>
#include <vtkPoints.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataNormals.h>
#include <vtkProperty.h>
#include <vtkRenderingOpenGLConfigure.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkWindowToImageFilter.h>
#include <vtkWindowedSincPolyDataFilter.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace Rendering
{
namespace
{
constexpr double margin = 24.0;
constexpr double depth = 1000.0;

/** Round values in a range: 1, 2, and 5 times powers of ten on a logarithmic scale, else equal steps. */
std::vector<double>
GetTicks(const Range & range, bool isLogarithmic)
{
  const double        rough = isLogarithmic ? range[0] : (range[1] - range[0]) / 7.0;
  const double        decade = std::pow(10.0, std::floor(std::log10(rough)));
  std::vector<double> ticks;
  if (isLogarithmic)
  {
    const double ratio = range[1] / range[0];
    for (double power = decade; power <= range[1] * (1.0 + 1e-9); power *= 10.0)
    {
      for (const double digit : { 1.0, 2.0, 5.0 })
      {
        // A wide range has room for powers of ten only.
        const double tick = digit * power;
        if ((digit == 1.0 || ratio < 2000.0) && tick >= range[0] * (1.0 - 1e-9) && tick <= range[1] * (1.0 + 1e-9))
        {
          ticks.push_back(tick);
        }
      }
    }
    return ticks;
  }
  const double step = decade * (rough <= decade         ? 1.0
                                : rough <= 2.0 * decade ? 2.0
                                : rough <= 5.0 * decade ? 5.0
                                                        : 10.0);
  for (double i = std::ceil(range[0] / step - 1e-9); i * step <= range[1] + 1e-9 * step; i += 1.0)
  {
    // Adding 0 makes -0 positive.
    ticks.push_back(i * step + 0.0);
  }
  return ticks;
}
} // namespace

void
CheckPictureName(const std::string & fileName)
{
  const auto length = fileName.size();
  if (length < 4 || fileName.compare(length - 4, 4, ".png") != 0)
  {
    throw std::runtime_error("cannot write '" + fileName + "': the name of a picture ends with .png");
  }
}

double
GetLength(vtkImageData * image, unsigned int axis)
{
  return image->GetDimensions()[axis] * image->GetSpacing()[axis];
}

Range
GetPercentileRange(vtkImageData * image, double upperPercentile, bool isLogarithmic)
{
  std::vector<double> values;
  for (vtkIdType i = 0; i < image->GetNumberOfPoints(); ++i)
  {
    const double value = image->GetPointData()->GetScalars()->GetTuple1(i);
    if (std::isfinite(value) && (value > 0.0 || !isLogarithmic))
    {
      values.push_back(value);
    }
  }
  if (values.empty())
  {
    return { { 1.0, 2.0 } };
  }
  const auto get = [&values](double percentile) {
    const auto nth = values.begin() + std::lround(0.01 * percentile * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
  };
  Range range{ { get(1.0), get(upperPercentile) } };
  if (range[0] == range[1])
  {
    range = { { get(0.0), get(100.0) } };
  }
  if (range[0] == range[1])
  {
    range[1] += std::max(1.0, std::abs(range[0]));
  }
  return range;
}

vtkSmartPointer<vtkLookupTable>
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

vtkSmartPointer<vtkLookupTable>
MakeColorTable(const Range & range, bool isLogarithmic)
{
  constexpr std::array<unsigned int, 9> steps{
    { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725 }
  };
  vtkNew<vtkColorTransferFunction> colors;
  for (std::size_t i = 0; i < steps.size(); ++i)
  {
    const auto getByte = [&](unsigned int shift) { return (steps[i] >> shift & 0xFF) / 255.0; };
    colors->AddRGBPoint(i / (steps.size() - 1.0), getByte(16), getByte(8), getByte(0));
  }
  auto table = vtkSmartPointer<vtkLookupTable>::New();
  table->SetNumberOfTableValues(256);
  for (int i = 0; i < 256; ++i)
  {
    const double * color = colors->GetColor(i / 255.0);
    table->SetTableValue(i, color[0], color[1], color[2]);
  }
  table->SetTableRange(range.data());
  table->SetScale(isLogarithmic ? VTK_SCALE_LOG10 : VTK_SCALE_LINEAR);
  table->SetNanColor(0.6, 0.6, 0.6, 1.0);
  return table;
}

vtkSmartPointer<vtkActor>
MakeSurface(vtkImageData * object, const Color & color)
{
  // One voxel more on each side closes the surface.
  vtkNew<vtkImageConstantPad> pad;
  pad->SetInputData(object);
  std::array<int, 6> extent{};
  object->GetExtent(extent.data());
  for (unsigned int i = 0; i < 6; ++i)
  {
    extent[i] += i % 2 == 0 ? -1 : 1;
  }
  pad->SetOutputWholeExtent(extent.data());
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
  actor->GetProperty()->SetAmbient(0.15);
  actor->GetProperty()->SetDiffuse(0.85);
  actor->GetProperty()->SetSpecular(0.25);
  actor->GetProperty()->SetSpecularPower(25.0);
  return actor;
}

Canvas::Canvas(int width, int height, const std::string & title)
  : m_Top(title.empty() ? 0.5 * margin : 0.5 * margin + 52.0)
{
#ifdef VTK_USE_X
  // VTK would terminate the program without saying what to do.
  if (std::getenv("DISPLAY") == nullptr)
  {
    throw std::runtime_error("there is no X display; run this under xvfb-run -a");
  }
#endif
  const int pixelWidth = static_cast<int>(2.0 * margin) + std::max(width, 16 * static_cast<int>(title.size()));
  const int pixelHeight = static_cast<int>(m_Top + height + margin);
  m_Window->SetOffScreenRendering(1);
  m_Window->SetMultiSamples(8);
  m_Window->SetDPI(72);
  m_Window->SetSize(pixelWidth, pixelHeight);
  m_Window->SetNumberOfLayers(2);
  m_Window->AddRenderer(m_Renderer);
  m_Renderer->SetBackground(1.0, 1.0, 1.0);

  vtkCamera * camera = m_Renderer->GetActiveCamera();
  camera->ParallelProjectionOn();
  camera->SetParallelScale(0.5 * pixelHeight);
  camera->SetFocalPoint(0.5 * pixelWidth, 0.5 * pixelHeight, 0.0);
  camera->SetPosition(0.5 * pixelWidth, 0.5 * pixelHeight, -depth);
  camera->SetViewUp(0.0, -1.0, 0.0);
  camera->SetClippingRange(1.0, 2.0 * depth);
  if (!title.empty())
  {
    this->AddText(title, 0.0, 0.5 * margin - 38.0, 28, true);
  }
}

void
Canvas::AddText(const std::string & text, double x, double y, int fontSize, bool isBold, double gray)
{
  vtkNew<vtkTextActor> actor;
  actor->SetInput(text.c_str());
  actor->GetTextProperty()->SetFontFamilyToArial();
  actor->GetTextProperty()->SetFontSize(fontSize);
  actor->GetTextProperty()->SetBold(isBold);
  actor->GetTextProperty()->SetColor(gray, gray, gray);
  actor->GetTextProperty()->SetVerticalJustificationToCentered();
  actor->SetPosition(margin + x, m_Window->GetSize()[1] - m_Top - y);
  m_Renderer->AddViewProp(actor);
}

vtkSmartPointer<vtkMatrix4x4>
Canvas::MakeMatrix(const Slice & slice)
{
  const bool         isFromFeet = slice.axis == 2;
  const unsigned int down = isFromFeet ? 1 : 2;
  const double *     spacing = slice.image->GetSpacing();
  const double       scaleX = slice.place.width / GetLength(slice.image, 0);
  const double       scaleY = slice.place.height / GetLength(slice.image, down);
  const double       edgeX = 0.5 * scaleX * spacing[0];
  const double       edgeY = 0.5 * scaleY * spacing[down];
  auto               matrix = vtkSmartPointer<vtkMatrix4x4>::New();
  matrix->Zero();
  matrix->SetElement(0, 0, scaleX);
  matrix->SetElement(0, 3, margin + slice.place.x + edgeX);
  matrix->SetElement(1, down, isFromFeet ? scaleY : -scaleY);
  matrix->SetElement(1, 3, m_Top + slice.place.y + (isFromFeet ? edgeY : slice.place.height - edgeY));
  matrix->SetElement(2, slice.axis, 1.0);
  m_Layer += 0.1;
  matrix->SetElement(2, 3, -slice.index * spacing[slice.axis] - m_Layer);
  matrix->SetElement(3, 3, 1.0);
  return matrix;
}

void
Canvas::AddSlice(const Slice & slice, vtkLookupTable * table, bool isInterpolated)
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

void
Canvas::AddOutline(const Slice & slice, const Color & color)
{
  std::array<int, 6> extent{};
  slice.image->GetExtent(extent.data());
  extent[2 * slice.axis] = slice.index;
  extent[2 * slice.axis + 1] = slice.index;
  vtkNew<vtkMarchingSquares> contour;
  contour->SetInputData(slice.image);
  contour->SetImageRange(extent.data());
  contour->SetValue(0, 0.5);
  contour->Update();
  this->AddLines(contour->GetOutput(), this->MakeMatrix(slice), color, 2.0F);
}

void
Canvas::AddLines(vtkPolyData * lines, vtkMatrix4x4 * matrix, const Color & color, float width)
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

void
Canvas::AddColorBar(const Rectangle & place, vtkLookupTable * table)
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

  vtkNew<vtkPoints>    points;
  vtkNew<vtkCellArray> lines;
  const double         right = place.x + place.width;
  for (const double tick : GetTicks(range, isLogarithmic))
  {
    const double share =
      isLogarithmic ? std::log(tick / range[0]) / std::log(ratio) : (tick - range[0]) / (range[1] - range[0]);
    const double       y = place.y + place.height * (1.0 - share);
    const vtkIdType    ends[2] = { points->InsertNextPoint(margin + right, m_Top + y, -m_Layer),
                                   points->InsertNextPoint(margin + right + 5.0, m_Top + y, -m_Layer) };
    std::ostringstream number;
    number << tick;
    lines->InsertNextCell(2, ends);
    this->AddText(number.str(), right + 9.0, y, 17, false);
  }
  vtkNew<vtkPolyData> ticks;
  ticks->SetPoints(points);
  ticks->SetLines(lines);
  this->AddLines(ticks, nullptr, { { 0.1, 0.1, 0.1 } }, 1.0F);
}

void
Canvas::AddPatch(const Rectangle & place, const Color & color)
{
  vtkNew<vtkImageData> patch;
  patch->SetDimensions(2, 2, 1);
  patch->AllocateScalars(VTK_UNSIGNED_CHAR, 1);
  patch->GetPointData()->GetScalars()->Fill(0.0);
  vtkNew<vtkLookupTable> table;
  table->SetNumberOfTableValues(1);
  table->SetTableValue(0, color[0], color[1], color[2]);
  this->AddSlice({ patch, 2, 0, place }, table, false);
}

void
Canvas::AddAxes(const Axes & axes, const std::string & nameOfX, const std::string & nameOfY)
{
  const Color  gray{ { 0.8, 0.8, 0.8 } };
  const double bottom = axes.place.y + axes.place.height;
  const auto   getText = [](double number) {
    std::ostringstream text;
    text << number;
    return text.str();
  };
  for (const double tick : GetTicks(axes.x, true))
  {
    this->AddCurve(axes, { { { tick, axes.y[0] } }, { { tick, axes.y[1] } } }, gray, 1.0F);
    this->AddText(
      getText(tick), axes.GetX(tick) - 5.0 * static_cast<double>(getText(tick).size()), bottom + 18.0, 18, false);
  }
  for (const double tick : GetTicks(axes.y, true))
  {
    this->AddCurve(axes, { { { axes.x[0], tick } }, { { axes.x[1], tick } } }, gray, 1.0F);
    this->AddText(getText(tick), axes.place.x - 62.0, axes.GetY(tick), 18, false);
  }
  this->AddText(nameOfX, axes.place.x + 0.5 * axes.place.width - 100.0, bottom + 52.0, 20, true);
  this->AddText(nameOfY, axes.place.x - 62.0, axes.place.y - 26.0, 20, true);
}

void
Canvas::AddCurve(const Axes & axes, const std::vector<std::array<double, 2>> & points, const Color & color, float width)
{
  vtkNew<vtkPoints>    places;
  vtkNew<vtkCellArray> lines;
  m_Layer += 0.1;
  lines->InsertNextCell(static_cast<int>(points.size()));
  for (const auto & point : points)
  {
    lines->InsertCellPoint(
      places->InsertNextPoint(margin + axes.GetX(point[0]), m_Top + axes.GetY(point[1]), -m_Layer));
  }
  vtkNew<vtkPolyData> curve;
  curve->SetPoints(places);
  curve->SetLines(lines);
  this->AddLines(curve, nullptr, color, width);
}

vtkRenderer *
Canvas::AddScene(const Rectangle & place)
{
  const int *  size = m_Window->GetSize();
  const double left = margin + place.x;
  const double bottom = size[1] - m_Top - place.y - place.height;
  m_Scene->SetLayer(1);
  m_Scene->SetViewport(
    left / size[0], bottom / size[1], (left + place.width) / size[0], (bottom + place.height) / size[1]);
  m_Window->AddRenderer(m_Scene);
  return m_Scene;
}

void
Canvas::Write(const std::string & fileName)
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
} // namespace Rendering
