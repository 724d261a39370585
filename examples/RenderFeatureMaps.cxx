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

#include "ExampleIO.h"
#include "ExampleMain.h"
#include "itkMetaDataObject.h"
#include "itkRunLengthFeatureMapEnums.h"

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkCellArray.h>
#include <vtkColorTransferFunction.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkImageProperty.h>
#include <vtkImageSlice.h>
#include <vtkImageSliceMapper.h>
#include <vtkLookupTable.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkPolyDataMapper.h>
#include <vtkProperty.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkRenderingOpenGLConfigure.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkWindowToImageFilter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace
{
using Enums = itk::RunLengthFeatureMapEnums;

struct Options
{
  std::string input;
  std::string maps;
  std::string output;
  std::string slice;
  std::string columns{ "4" };
  std::string names;
  std::string log{ "LGRE,SRLGE,LRLGE,LRHGE" };
  std::string title;
};

/** One slice of one component: what a panel of the picture shows. Rows go downwards on the screen. */
struct Panel
{
  std::string         name;
  bool                isLogarithmic{ false };
  bool                isInput{ false };
  std::vector<double> values;
};

/** Which index axes of an image go to the right and down on the screen, and which one selects the slice. */
struct View
{
  std::array<unsigned int, 3> axes{ { 0, 1, 2 } };
  std::array<bool, 2>         isFlipped{ { false, false } };
  std::array<long, 2>         size{ { 0, 0 } };
  std::array<double, 2>       spacing{ { 1.0, 1.0 } };
  long                        slice{ 0 };
  long                        numberOfSlices{ 1 };
};

/** 2D: the first row on top, as in every viewer. 3D: an axial slice, the nose on top and the patient's left on the
 * right, whatever the order of the axes in the file is. */
template <typename TImage>
View
MakeView(const TImage * image)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  const auto             size = image->GetLargestPossibleRegion().GetSize();
  View                   view;
  if constexpr (dimension == 3)
  {
    // Physical axes point to the left, the back and up; give each the index axis that points most its way.
    const auto          direction = image->GetDirection();
    std::array<bool, 3> isUsed{ { false, false, false } };
    for (const unsigned int physical : { 2U, 1U, 0U })
    {
      double best = -1.0;
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        if (!isUsed[axis] && std::abs(direction[physical][axis]) > best)
        {
          best = std::abs(direction[physical][axis]);
          view.axes[physical] = axis;
        }
      }
      isUsed[view.axes[physical]] = true;
      if (physical < 2)
      {
        view.isFlipped[physical] = direction[physical][view.axes[physical]] < 0.0;
      }
    }
    view.numberOfSlices = static_cast<long>(size[view.axes[2]]);
  }
  for (unsigned int i = 0; i < 2; ++i)
  {
    view.size[i] = static_cast<long>(size[view.axes[i]]);
    view.spacing[i] = image->GetSpacing()[view.axes[i]];
  }
  return view;
}

/** The values of the slice, row by row from the top of the screen; value(index) gives that of a voxel. */
template <typename TImage, typename TFunction>
std::vector<double>
GetSlice(const TImage * image, const View & view, TFunction && value)
{
  const auto                 start = image->GetLargestPossibleRegion().GetIndex();
  typename TImage::IndexType index = start;
  if constexpr (TImage::ImageDimension == 3)
  {
    index[view.axes[2]] += view.slice;
  }
  std::vector<double> values;
  std::array<long, 2> at{};
  for (at[1] = 0; at[1] < view.size[1]; ++at[1])
  {
    for (at[0] = 0; at[0] < view.size[0]; ++at[0])
    {
      for (unsigned int i = 0; i < 2; ++i)
      {
        index[view.axes[i]] = start[view.axes[i]] + (view.isFlipped[i] ? view.size[i] - 1 - at[i] : at[i]);
      }
      values.push_back(value(index));
    }
  }
  return values;
}

/** The value that a share of all values is below. */
double
GetPercentile(std::vector<double> values, double share)
{
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

/** The range of values that the colors show: from the 1st to the 99th percentile. */
std::array<double, 2>
GetColorRange(const Panel & panel)
{
  std::vector<double> values;
  std::copy_if(panel.values.begin(), panel.values.end(), std::back_inserter(values), [&panel](double value) {
    return std::isfinite(value) && (value > 0.0 || !panel.isLogarithmic);
  });
  if (values.empty())
  {
    return { { 1.0, 2.0 } };
  }
  std::array<double, 2> range{ { GetPercentile(values, 0.01), GetPercentile(values, 0.99) } };
  if (range[0] == range[1])
  {
    range = { { *std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end()) } };
  }
  if (range[0] == range[1])
  {
    range[1] = range[0] + std::max(1.0, std::abs(range[0]));
  }
  return range;
}

/** Round values inside the range, for the numbers beside a color bar. */
std::vector<double>
GetTicks(const std::array<double, 2> & range, bool isLogarithmic)
{
  std::vector<double> ticks;
  if (isLogarithmic)
  {
    const double        ratio = range[1] / range[0];
    std::vector<double> digits{ 1.0 };
    if (ratio < 200.0)
    {
      digits = { 1.0, 2.0, 5.0 };
    }
    else if (ratio < 20000.0)
    {
      digits = { 1.0, 3.0 };
    }
    const auto first = static_cast<int>(std::floor(std::log10(range[0])));
    const auto last = static_cast<int>(std::floor(std::log10(range[1])));
    const int  step = (last - first) / 9 + 1;
    for (int exponent = first; exponent <= last; exponent += step)
    {
      for (const double digit : digits)
      {
        const double tick = digit * std::pow(10.0, exponent);
        if (tick >= range[0] * (1.0 - 1e-6) && tick <= range[1] * (1.0 + 1e-6))
        {
          ticks.push_back(tick);
        }
      }
    }
    return ticks;
  }
  const double rough = (range[1] - range[0]) / 7.0;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double       step = 10.0 * decade;
  for (const double digit : { 5.0, 2.0, 1.0 })
  {
    step = digit * decade >= rough ? digit * decade : step;
  }
  const double margin = 1e-9 * step;
  for (double i = std::ceil((range[0] - margin) / step); i * step <= range[1] + margin; i += 1.0)
  {
    ticks.push_back(i * step);
  }
  return ticks;
}

std::string
FormatNumber(double value)
{
  std::ostringstream text;
  text << (std::abs(value) < 1e-12 ? 0.0 : value);
  std::string number = text.str();
  // 1e-05 and 1e+06 have digits that say nothing.
  const auto exponent = number.find('e');
  if (exponent != std::string::npos)
  {
    const auto digits = number.find_first_not_of("+-0", exponent + 1);
    number = number.substr(0, exponent + 1) + (number[exponent + 1] == '-' ? "-" : "") + number.substr(digits);
  }
  return number;
}

/** Colors of equal steps in lightness, from dark blue to yellow; gray for the input. */
vtkSmartPointer<vtkLookupTable>
MakeLookupTable(const std::array<double, 2> & range, const Panel & panel)
{
  vtkNew<vtkColorTransferFunction> colors;
  if (panel.isInput)
  {
    colors->AddRGBPoint(0.0, 0.0, 0.0, 0.0);
    colors->AddRGBPoint(1.0, 1.0, 1.0, 1.0);
  }
  else
  {
    constexpr std::array<unsigned int, 9> steps{
      { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725 }
    };
    for (std::size_t i = 0; i < steps.size(); ++i)
    {
      colors->AddRGBPoint(static_cast<double>(i) / (steps.size() - 1),
                          (steps[i] >> 16 & 0xFF) / 255.0,
                          (steps[i] >> 8 & 0xFF) / 255.0,
                          (steps[i] & 0xFF) / 255.0);
    }
  }
  auto table = vtkSmartPointer<vtkLookupTable>::New();
  table->SetNumberOfTableValues(256);
  for (int i = 0; i < 256; ++i)
  {
    const double * color = colors->GetColor(i / 255.0);
    table->SetTableValue(i, color[0], color[1], color[2]);
  }
  // The values are logarithms already where the scale is logarithmic.
  table->SetTableRange(panel.isLogarithmic ? std::log10(range[0]) : range[0],
                       panel.isLogarithmic ? std::log10(range[1]) : range[1]);
  table->SetNanColor(0.6, 0.6, 0.6, 1.0);
  return table;
}

/** A window on which pixels are units: x to the right, y upwards, as VTK has it. */
class Canvas
{
public:
  Canvas(int width, int height)
    : m_Height(height)
  {
    m_Renderer->SetBackground(1.0, 1.0, 1.0);
    m_Window->SetOffScreenRendering(1);
    m_Window->SetMultiSamples(0);
    m_Window->SetDPI(72);
    m_Window->SetSize(width, height);
    m_Window->AddRenderer(m_Renderer);

    vtkCamera * camera = m_Renderer->GetActiveCamera();
    camera->ParallelProjectionOn();
    camera->SetParallelScale(0.5 * height);
    camera->SetFocalPoint(0.5 * width, 0.5 * height, 0.0);
    camera->SetPosition(0.5 * width, 0.5 * height, 100.0);
    camera->SetClippingRange(1.0, 200.0);
  }

  /** Values row by row from the top, in a rectangle whose top left corner is given from the top of the window. */
  void
  AddImage(const std::vector<double> & values, const std::array<long, 2> & size, const std::array<double, 2> & corner,
           const std::array<double, 2> & extent, vtkLookupTable * table, bool interpolate)
  {
    vtkNew<vtkDoubleArray> scalars;
    scalars->SetNumberOfTuples(static_cast<vtkIdType>(values.size()));
    for (long row = 0; row < size[1]; ++row)
    {
      std::copy_n(values.begin() + row * size[0], size[0], scalars->GetPointer((size[1] - 1 - row) * size[0]));
    }
    const double         stepX = extent[0] / static_cast<double>(size[0]);
    const double         stepY = extent[1] / static_cast<double>(size[1]);
    vtkNew<vtkImageData> image;
    image->SetDimensions(static_cast<int>(size[0]), static_cast<int>(size[1]), 1);
    image->SetSpacing(stepX, stepY, 1.0);
    image->SetOrigin(corner[0] + 0.5 * stepX, m_Height - corner[1] - extent[1] + 0.5 * stepY, 0.0);
    image->GetPointData()->SetScalars(scalars);

    vtkNew<vtkImageSliceMapper> mapper;
    mapper->SetInputData(image);
    mapper->BorderOn();
    vtkNew<vtkImageProperty> property;
    property->SetLookupTable(table);
    property->UseLookupTableScalarRangeOn();
    if (interpolate)
    {
      property->SetInterpolationTypeToLinear();
    }
    else
    {
      property->SetInterpolationTypeToNearest();
    }
    vtkNew<vtkImageSlice> slice;
    slice->SetMapper(mapper);
    slice->SetProperty(property);
    m_Renderer->AddViewProp(slice);
  }

  /** Text whose left end is at x, and whose middle is at y from the top of the window. */
  void
  AddText(const std::string & text, double x, double y, int fontSize, bool isBold)
  {
    vtkNew<vtkTextActor> actor;
    actor->SetInput(text.c_str());
    actor->GetTextProperty()->SetFontFamilyToArial();
    actor->GetTextProperty()->SetFontSize(fontSize);
    actor->GetTextProperty()->SetBold(isBold);
    actor->GetTextProperty()->SetColor(0.1, 0.1, 0.1);
    actor->GetTextProperty()->SetJustificationToLeft();
    actor->GetTextProperty()->SetVerticalJustificationToCentered();
    actor->SetPosition(x, m_Height - y);
    m_Renderer->AddViewProp(actor);
  }

  /** A thin horizontal line from the point x, y, from the top of the window. */
  void
  AddTick(double x, double y, double length)
  {
    const vtkIdType ends[2] = { m_Points->InsertNextPoint(x, m_Height - y, 1.0),
                                m_Points->InsertNextPoint(x + length, m_Height - y, 1.0) };
    m_Lines->InsertNextCell(2, ends);
  }

  void
  Write(const std::string & name)
  {
    vtkNew<vtkPolyData> lines;
    lines->SetPoints(m_Points);
    lines->SetLines(m_Lines);
    vtkNew<vtkPolyDataMapper> mapper;
    mapper->SetInputData(lines);
    vtkNew<vtkActor> actor;
    actor->SetMapper(mapper);
    actor->GetProperty()->SetColor(0.1, 0.1, 0.1);
    actor->GetProperty()->LightingOff();
    m_Renderer->AddViewProp(actor);

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
  double                  m_Height;
  vtkNew<vtkRenderWindow> m_Window;
  vtkNew<vtkRenderer>     m_Renderer;
  vtkNew<vtkPoints>       m_Points;
  vtkNew<vtkCellArray>    m_Lines;
};

void
DrawPanel(Canvas & canvas, Panel panel, const View & view, std::array<double, 2> corner, std::array<double, 2> extent,
          bool interpolate)
{
  constexpr double nameHeight = 36.0;
  constexpr double barGap = 10.0;
  constexpr double barWidth = 18.0;

  const auto range = GetColorRange(panel);
  const auto table = MakeLookupTable(range, panel);
  canvas.AddText(
    panel.name + (panel.isLogarithmic ? "  (log scale)" : ""), corner[0], corner[1] + 0.5 * nameHeight, 22, true);
  corner[1] += nameHeight;

  const double low = table->GetTableRange()[0];
  const double high = table->GetTableRange()[1];
  if (panel.isLogarithmic)
  {
    for (double & value : panel.values)
    {
      value = value > 0.0 ? std::log10(value) : low;
    }
  }
  canvas.AddImage(panel.values, view.size, corner, extent, table, interpolate);

  std::vector<double> bar(256);
  for (std::size_t i = 0; i < bar.size(); ++i)
  {
    bar[i] = high + (low - high) * (static_cast<double>(i) + 0.5) / static_cast<double>(bar.size());
  }
  const double barLeft = corner[0] + extent[0] + barGap;
  canvas.AddImage(bar, { { 1, 256 } }, { { barLeft, corner[1] } }, { { barWidth, extent[1] } }, table, false);
  for (const double tick : GetTicks(range, panel.isLogarithmic))
  {
    const double share = ((panel.isLogarithmic ? std::log10(tick) : tick) - low) / (high - low);
    const double y = corner[1] + extent[1] * (1.0 - std::clamp(share, 0.0, 1.0));
    canvas.AddTick(barLeft + barWidth, y, 5.0);
    canvas.AddText(FormatNumber(tick), barLeft + barWidth + 9.0, y, 17, false);
  }
}

void
DrawPicture(const std::vector<Panel> & panels, const View & view, const Options & options)
{
  constexpr double margin = 24.0;
  constexpr double nameHeight = 36.0;
  constexpr double barSpace = 100.0;
  constexpr double gapBelow = 22.0;
  constexpr double longestSide = 400.0;

  // A whole number of pixels per voxel where there is room for it, so that voxels stay sharp.
  const double          finest = std::min(view.spacing[0], view.spacing[1]);
  const double          voxels = std::max(view.size[0] * view.spacing[0], view.size[1] * view.spacing[1]) / finest;
  const double          enlargement = voxels <= longestSide ? std::round(longestSide / voxels) : longestSide / voxels;
  std::array<double, 2> extent;
  for (unsigned int i = 0; i < 2; ++i)
  {
    extent[i] = std::max(1.0, std::round(view.size[i] * view.spacing[i] / finest * enlargement));
  }

  const auto numberOfPanels = panels.size();
  const auto columns =
    std::min<std::size_t>(ExampleIO::ParseNumber<unsigned short>("--columns", options.columns), numberOfPanels);
  if (columns == 0)
  {
    throw std::runtime_error("--columns: 0 is less than 1");
  }
  const auto   rows = (numberOfPanels + columns - 1) / columns;
  const double titleHeight = options.title.empty() ? 0.0 : 52.0;
  const double panelWidth = std::max(extent[0], 150.0) + barSpace;
  const double panelHeight = nameHeight + extent[1] + gapBelow;

#ifdef VTK_USE_X
  // VTK would end the program without a message that helps.
  if (std::getenv("DISPLAY") == nullptr)
  {
    throw std::runtime_error("there is no X display; run this under xvfb-run -a");
  }
#endif
  // A title may be wider than the panels.
  const double width =
    std::max(static_cast<double>(columns) * panelWidth, 16.0 * static_cast<double>(options.title.size()));
  Canvas canvas(static_cast<int>(2.0 * margin + width),
                static_cast<int>(margin + titleHeight + static_cast<double>(rows) * panelHeight));
  if (!options.title.empty())
  {
    canvas.AddText(options.title, margin, 0.5 * margin + 0.5 * titleHeight, 28, true);
  }
  for (std::size_t i = 0; i < numberOfPanels; ++i)
  {
    const std::array<double, 2> corner{ { margin + static_cast<double>(i % columns) * panelWidth,
                                          0.5 * margin + titleHeight +
                                            static_cast<double>(i / columns) * panelHeight } };
    DrawPanel(canvas, panels[i], view, corner, extent, enlargement < 1.0);
  }
  canvas.Write(options.output);
}

/** The names of the components: as told, as the file says, or the filter's default. */
std::vector<std::string>
GetNames(const itk::MetaDataDictionary & dictionary, const Options & options)
{
  std::string list = options.names;
  if (list.empty() && !itk::ExposeMetaData<std::string>(dictionary, "FeatureNames", list))
  {
    std::vector<std::string> names;
    for (const auto feature : Enums::GetElevenFeatures())
    {
      names.emplace_back(Enums::GetAbbreviation(feature));
    }
    return names;
  }
  return ExampleIO::SplitAtCommas(list);
}

/** Whether a component is to be shown on a logarithmic scale: SRE means SRE_1_0 too. */
bool
IsNamed(const std::string & component, const std::vector<std::string> & features)
{
  return std::any_of(features.begin(), features.end(), [&component](const std::string & feature) {
    return component == feature || component.compare(0, feature.size() + 1, feature + "_") == 0;
  });
}

template <unsigned int VDimension>
void
Run(const ExampleIO::Input & input, const ExampleIO::Input & mapsInput, const Options & options)
{
  using ImageType = itk::Image<float, VDimension>;
  using MapsType = itk::VectorImage<float, VDimension>;

  std::vector<std::string> logarithmic;
  if (options.log != "none")
  {
    for (const auto & name : ExampleIO::SplitAtCommas(options.log))
    {
      Enums::Feature feature{};
      if (!Enums::FindFeature(name, feature))
      {
        throw std::runtime_error("--log: there is no feature '" + name + "'");
      }
      logarithmic.emplace_back(Enums::GetAbbreviation(feature));
    }
  }

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
  if (image->GetLargestPossibleRegion().GetSize() != maps->GetLargestPossibleRegion().GetSize())
  {
    throw std::runtime_error("'" + options.input + "' and '" + options.maps + "' differ in size");
  }

  View view = MakeView(image.GetPointer());
  view.slice = view.numberOfSlices / 2;
  if (!options.slice.empty())
  {
    view.slice = ExampleIO::ParseNumber<long>("--slice", options.slice);
    if (view.slice < 0 || view.slice >= view.numberOfSlices)
    {
      throw std::runtime_error("--slice: " + options.slice + " is not one of the slices 0 to " +
                               std::to_string(view.numberOfSlices - 1));
    }
  }

  std::vector<Panel> panels(1);
  panels[0].name = "Input";
  panels[0].isInput = true;
  panels[0].values = GetSlice(
    image.GetPointer(), view, [&image](const auto & index) { return static_cast<double>(image->GetPixel(index)); });
  for (unsigned int i = 0; i < components; ++i)
  {
    Panel panel;
    panel.name = names[i];
    panel.isLogarithmic = IsNamed(names[i], logarithmic);
    panel.values = GetSlice(maps.GetPointer(), view, [&maps, i](const auto & index) {
      return static_cast<double>(maps->GetPixel(index)[i]);
    });
    panels.push_back(panel);
  }
  DrawPicture(panels, view, options);
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
  ExampleIO::CheckOutput(options.output);
  if (input.dimension == 2)
  {
    Run<2>(input, mapsInput, options);
  }
  else
  {
    Run<3>(input, mapsInput, options);
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "A picture of an image and its feature maps, each with a name and a color bar.", "RenderFeatureMaps" };
  app.add_option("INPUT", options.input, "the image: any file that ITK reads, or a directory of DICOM files")
    ->required();
  app.add_option("MAPS", options.maps, "image of vectors that RunLengthFeatureMaps wrote for it")->required();
  app.add_option("OUTPUT", options.output, "picture to write (.png)")->required();
  app.add_option("--slice", options.slice, "axial slice of a 3D image, from 0 (default: the middle)")->type_name("K");
  app.add_option("--columns", options.columns, "panels side by side")->type_name("N")->capture_default_str();
  app
    .add_option("--names", options.names, "names of the components (default: as the file says, or the eleven features)")
    ->type_name("LIST");
  app.add_option("--log", options.log, "features to show on a logarithmic scale, or none")
    ->type_name("LIST")
    ->capture_default_str();
  app.add_option("--title", options.title, "text above the panels")->type_name("TEXT");

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
