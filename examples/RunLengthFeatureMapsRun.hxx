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
#ifndef RunLengthFeatureMapsRun_hxx
#define RunLengthFeatureMapsRun_hxx

#include "RunLengthFeatureMapsRun.h"
#include "io/Crop.h"
#include "io/ImageWriting.h"
#include "io/Progress.h"
#include "itkMinimumMaximumImageCalculator.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkVectorIndexSelectionCastImageFilter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>

namespace RunLengthFeatureMapsProgram
{
/** The number of gray levels of an image whose intensities are gray levels; the filter reports invalid levels. */
template <typename TImage>
unsigned int
GetNumberOfLevelsInImage(const TImage * image)
{
  auto calculator = itk::MinimumMaximumImageCalculator<TImage>::New();
  calculator->SetImage(image);
  calculator->ComputeMaximum();
  const auto maximum = static_cast<double>(calculator->GetMaximum());
  return static_cast<unsigned int>(std::clamp(std::floor(maximum) + 1.0, 1.0, 65535.0));
}

template <typename TFilter, typename TImage>
void
SetParameters(TFilter * filter, const TImage * image, const Options & options)
{
  using MethodEnum = itk::GrayLevelDiscretizationEnums::Method;
  constexpr unsigned int dimension = TImage::ImageDimension;
  const std::string      whyCount = "the image has " + std::to_string(dimension) + " axes";

  if (options.radius)
  {
    filter->SetNeighborhoodRadius(*options.radius);
  }
  if (!options.window.empty())
  {
    typename TFilter::SizeType size;
    ExampleIO::CopyNumbers("--window", options.window, size, whyCount);
    filter->SetWindowSize(size);
  }
  if (!options.anchor.empty())
  {
    typename TFilter::OffsetType anchor;
    ExampleIO::CopyNumbers("--anchor", options.anchor, anchor, whyCount);
    filter->SetWindowAnchor(anchor);
  }
  if (options.levels)
  {
    filter->SetNumberOfGrayLevels(*options.levels);
  }
  else if (options.asLevels)
  {
    filter->SetNumberOfGrayLevels(GetNumberOfLevelsInImage(image));
  }
  if (options.asLevels)
  {
    filter->SetDiscretizationMethod(MethodEnum::Identity);
  }
  if (options.binWidth)
  {
    filter->SetDiscretizationMethod(MethodEnum::FixedBinSize);
    filter->SetBinWidth(*options.binWidth);
  }
  if (!options.range.empty())
  {
    std::array<double, 2> range{};
    ExampleIO::CopyNumbers("--range", options.range, range, "a range has 2");
    filter->SetRangeSource(itk::GrayLevelDiscretizationEnums::RangeSource::Given);
    filter->SetRangeMinimum(range[0]);
    filter->SetRangeMaximum(range[1]);
  }
  filter->SetAggregation(aggregations.at(options.aggregation));
  filter->SetOffsets(options.offsets == "all" ? TFilter::GetAllOffsets() : TFilter::GetInPlaneOffsets());
}

/** The names of the output files: one, or one per component. */
inline std::vector<std::string>
GetOutputNames(const Options & options, const std::vector<Enums::Feature> & features,
               const std::vector<std::string> & componentNames)
{
  std::vector<std::string> names;
  if (options.output.empty())
  {
    for (const auto feature : features)
    {
      names.push_back(options.featureFiles.at(feature));
    }
    return names;
  }
  if (options.output.find("%s") == std::string::npos)
  {
    return { options.output };
  }
  for (const auto & component : componentNames)
  {
    std::string name = options.output;
    for (auto at = name.find("%s"); at != std::string::npos; at = name.find("%s", at + component.size()))
    {
      name.replace(at, 2, component);
    }
    names.push_back(name);
  }
  return names;
}

/** The files for maps with the geometry of an image, after a check that they can be written. */
template <typename TImage>
void
AddOutputs(ExampleIO::OutputFiles & outputs, const TImage * image, const std::vector<std::string> & fileNames,
           std::size_t numberOfComponents)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  const bool             isVector = fileNames.size() == 1 && numberOfComponents > 1;
  for (const auto & name : fileNames)
  {
    outputs.AddImage(name,
                     isVector ? ExampleIO::GetProperties<itk::VectorImage<float, dimension>>(
                                  image, static_cast<unsigned int>(numberOfComponents))
                              : ExampleIO::GetProperties<itk::Image<float, dimension>>(image));
  }
}

template <typename TMaps>
void
WriteMaps(TMaps * maps, ExampleIO::OutputFiles & outputs, const std::vector<std::string> & fileNames,
          const std::vector<std::string> & componentNames)
{
  constexpr unsigned int dimension = TMaps::ImageDimension;
  if (fileNames.size() == 1 && componentNames.size() > 1)
  {
    // Formats that can store metadata keep the names of the components.
    itk::EncapsulateMetaData<std::string>(
      maps->GetMetaDataDictionary(), "FeatureNames", ExampleIO::Join(componentNames));
    outputs.WriteImage(maps, fileNames.front());
    outputs.Commit();
    return;
  }
  using ComponentImageType = itk::Image<float, dimension>;
  auto component = itk::VectorIndexSelectionCastImageFilter<TMaps, ComponentImageType>::New();
  component->SetInput(maps);
  for (unsigned int i = 0; i < fileNames.size(); ++i)
  {
    component->SetIndex(i);
    component->Update();
    outputs.WriteImage(component->GetOutput(), fileNames[i]);
  }
  outputs.Commit();
}

/** Request only the part of the maps that the mask needs. */
template <typename TFilter, typename TMask>
void
RequestMask(TFilter * filter, const TMask * mask, const Options & options)
{
  filter->UpdateOutputInformation();
  const auto box = ExampleIO::GetBoundingBox(mask);
  if (box.GetNumberOfPixels() == 0)
  {
    throw std::runtime_error("--crop: the mask '" + options.mask + "' is empty");
  }
  auto * maps = filter->GetOutput();
  maps->SetRequestedRegion(
    ExampleIO::PadByWindow(box, filter->GetWindowSize(), filter->GetWindowAnchor(), maps->GetLargestPossibleRegion()));
}

template <typename TImage>
void
Run(const ExampleIO::Input & input, const Options & options, const std::vector<Enums::Feature> & features)
{
  constexpr unsigned int dimension = TImage::ImageDimension;

  const auto image = ExampleIO::ReadScalarImage<TImage>(input);
  auto       filter = itk::RunLengthFeatureMapImageFilter<TImage>::New();
  SetParameters(filter.GetPointer(), image.GetPointer(), options);
  filter->SetFeatures(features);
  filter->SetInput(image);

  const auto             componentNames = filter->GetFeatureNames();
  const auto             fileNames = GetOutputNames(options, features, componentNames);
  ExampleIO::OutputFiles outputs({ options.input, options.mask });
  AddOutputs(outputs, image.GetPointer(), fileNames, componentNames.size());

  auto numberOfVoxels = image->GetLargestPossibleRegion().GetNumberOfPixels();
  if (!options.mask.empty())
  {
    const auto mask = ExampleIO::ReadMaskFor<dimension>("mask", options.mask);
    const auto remark = ExampleIO::MatchGeometry(
      mask.GetPointer(), "the mask '" + options.mask + "'", image.GetPointer(), options.maskGeometry);
    if (!options.quiet && !remark.empty())
    {
      std::cout << remark << "; ignored\n";
    }
    filter->SetMaskImage(mask);
    const unsigned char * inside = mask->GetBufferPointer();
    numberOfVoxels = std::count(inside, inside + mask->GetLargestPossibleRegion().GetNumberOfPixels(), 1);
    if (options.crop)
    {
      RequestMask(filter.GetPointer(), mask.GetPointer(), options);
    }
  }

  const auto start = std::chrono::steady_clock::now();
  ExampleIO::UpdateWithProgress(filter, options.quiet, options.progressXML);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const typename itk::RunLengthFeatureMapImageFilter<TImage>::OutputImageType::Pointer maps = filter->GetOutput();
  maps->DisconnectPipeline();
  ExampleIO::ShrinkToBuffer(maps.GetPointer());
  WriteMaps(maps.GetPointer(), outputs, fileNames, componentNames);

  if (!options.quiet)
  {
    const auto offsets = filter->GetOffsets().size();
    std::cout << (options.output.empty() ? ExampleIO::Join(fileNames, ", ") : options.output) << ": "
              << filter->GetUsedNumberOfGrayLevels() << " levels in [" << filter->GetUsedRangeMinimum() << ", "
              << filter->GetUsedRangeMaximum() << "], window " << ExampleIO::Join(filter->GetWindowSize(), "x")
              << " with the voxel at " << ExampleIO::Join(filter->GetWindowAnchor()) << ", " << offsets
              << " directions, " << options.aggregation << ", " << componentNames.size()
              << (componentNames.size() == 1 ? " component\n" : " components\n");
    std::cout << ExampleIO::Join(image->GetLargestPossibleRegion().GetSize(), "x") << " image, ";
    if (options.crop)
    {
      std::cout << ExampleIO::Join(maps->GetLargestPossibleRegion().GetSize(), "x") << " maps, ";
    }
    std::cout << numberOfVoxels << " voxels in " << std::setprecision(3) << seconds.count()
              << " s: " << static_cast<double>(numberOfVoxels) / std::max(seconds.count(), 1e-9) / 1e6
              << " million voxels per second\n";
  }
}
} // namespace RunLengthFeatureMapsProgram

#endif // RunLengthFeatureMapsRun_hxx
