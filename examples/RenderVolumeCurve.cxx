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

// A picture of the volume of an object over the threshold of its strengths, with the threshold that suggests itself.

#include "io/ImageReading.h"
#include "io/ImageWriting.h"
#include "io/CommandLine.h"
#include "Rendering.h"
#include "voxelmaps/FuzzyConnectednessVolumeCurve.h"
#include "itkImageRegionConstIterator.h"

#include <cmath>

namespace
{
using ImageType = itk::Image<float, 3>;

struct Options
{
  std::string input;
  std::string output;
  double      minimumVolume{ 0.0 };
  std::string title;
};

void
Run(const Options & options)
{
  const auto input = ExampleIO::FindScalarInput(options.input);
  Rendering::CheckPictureName(options.output);
  ExampleIO::OutputFiles outputs({ options.input });
  outputs.AddFile(options.output);

  const auto                                     strength = ExampleIO::ReadScalarImage<ImageType>(input);
  const auto                                     spacing = strength->GetSpacing();
  const double                                   milliliters = spacing[0] * spacing[1] * spacing[2] / 1000.0;
  const auto                                     voxels = strength->GetLargestPossibleRegion().GetNumberOfPixels();
  const voxelmaps::FuzzyConnectednessVolumeCurve curve(strength->GetBufferPointer(), static_cast<std::int64_t>(voxels));
  const auto                                     getVolume = [&](double threshold) {
    return static_cast<double>(curve.GetNumberOfVoxels(threshold)) * milliliters;
  };
  const double suggested =
    curve.GetSuggestedThreshold(static_cast<std::int64_t>(std::ceil(options.minimumVolume / milliliters)));
  const auto describe = [&](double threshold) {
    std::ostringstream text;
    text.precision(3);
    text << "threshold " << threshold << ": " << std::lround(getVolume(threshold)) << " ml";
    return text.str();
  };

  // From the smallest strength on, but not much below the suggestion.
  double smallest = 0.1;
  for (itk::ImageRegionConstIterator<ImageType> it(strength, strength->GetLargestPossibleRegion()); !it.IsAtEnd(); ++it)
  {
    smallest = it.Get() > 0.0F ? std::min<double>(smallest, it.Get()) : smallest;
  }
  const Rendering::Range             thresholds{ { std::max({ smallest, 1e-4 * suggested, 1e-12 }), 1.0 } };
  constexpr int                      numberOfPoints = 430; // one for two pixels
  std::vector<std::array<double, 2>> points;
  for (int i = 0; i <= numberOfPoints; ++i)
  {
    const double threshold = std::pow(thresholds[0], 1.0 - static_cast<double>(i) / numberOfPoints);
    points.push_back({ { threshold, std::max(getVolume(threshold), milliliters) } });
  }
  Rendering::Canvas          canvas(980, 620, options.title);
  const Rendering::Rectangle place{ 90.0, 44.0, 860.0, 500.0 };
  const Rendering::Range     volumes{ { milliliters, std::max(getVolume(0.0), 2.0 * milliliters) } };
  const Rendering::Axes      axes{ place, thresholds, volumes };
  canvas.AddAxes(axes, "threshold of the strength", "volume in ml");
  canvas.AddCurve(axes, points, { { 0.0, 0.45, 0.7 } }, 3.0F);
  if (suggested > 0.0)
  {
    const Rendering::Color red{ { 0.84, 0.37, 0.0 } };
    canvas.AddCurve(axes, { { { suggested, volumes[0] } }, { { suggested, volumes[1] } } }, red, 2.0F);
    const double x = axes.GetX(suggested);
    canvas.AddText("suggested " + describe(suggested),
                   x < place.x + 0.5 * place.width ? x + 12.0 : x - 440.0,
                   place.y + 24.0,
                   20,
                   true);
  }
  canvas.Write(outputs.GetTemporaryName(options.output));
  outputs.FinishFile(options.output);
  outputs.Commit();
  std::cout << "suggested " << describe(suggested) << '\n';
}
} // namespace

int
main(int argc, char * argv[])
{
  Options  options;
  CLI::App app{ "Draw the volume of an object over the threshold of its strengths.", "RenderVolumeCurve" };
  app.add_option("STRENGTH", options.input, "image that FuzzyConnectedness computed")->required();
  app.add_option("OUTPUT", options.output, "picture to write (.png)")->required();
  ExampleIO::AddNumbers(app,
                        "--minimum-volume",
                        options.minimumVolume,
                        "ML",
                        "volume that the object is known to have, in ml, for the suggested threshold",
                        0.0)
    ->capture_default_str();
  app.add_option("--title", options.title, "text above the picture")->type_name("TEXT");

  return ExampleIO::RunProgram(app, argc, argv, [&options] { Run(options); });
}
