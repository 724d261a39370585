// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRun.h"
#include "itkBinaryThresholdImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include <cmath>
#include <limits>

namespace FuzzyConnectednessProgram
{
namespace
{
/** 1 where the strength is at least the threshold, 0 elsewhere. */
template <typename TStrengthImage>
auto
GetObject(const TStrengthImage * strength, double threshold)
{
  using ObjectType = itk::Image<unsigned char, TStrengthImage::ImageDimension>;
  using PixelType = typename TStrengthImage::PixelType;

  // Rounding to the pixel type must not lower the threshold.
  auto lowest = static_cast<PixelType>(threshold);
  if (static_cast<double>(lowest) < threshold)
  {
    lowest = std::nextafter(lowest, std::numeric_limits<PixelType>::max());
  }
  auto binary = itk::BinaryThresholdImageFilter<TStrengthImage, ObjectType>::New();
  binary->SetInput(strength);
  binary->SetLowerThreshold(lowest);
  binary->SetInsideValue(1);
  binary->SetOutsideValue(0);
  binary->Update();
  typename ObjectType::Pointer object = binary->GetOutput();
  object->DisconnectPipeline();
  return object;
}

template <typename TImage>
void
ComputeTypedObject(const ProgramIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;

  auto filter = itk::FuzzyConnectednessImageFilter<TImage>::New();
  SetParameters<TImage>(filter.GetPointer(), options);
  filter->SetMethod(methods.at(options.method));

  const auto image = ProgramIO::ReadScalarImage<TImage>(input);
  for (const auto & seed : GetSeeds(image.GetPointer(), options))
  {
    filter->AddSeed(seed.first);
  }
  SetImages(filter.GetPointer(), image.GetPointer(), options, ProgramIO::ReadMaskFor<dimension>);

  using StrengthType = typename itk::FuzzyConnectednessImageFilter<TImage>::OutputImageType;
  using ObjectType = itk::Image<unsigned char, dimension>;
  ProgramIO::OutputFiles outputs({ options.input, options.seedImage, options.mask });
  outputs.AddImage(options.output, ProgramIO::GetProperties<StrengthType>(image.GetPointer()));
  if (!options.object.empty())
  {
    outputs.AddImage(options.object, ProgramIO::GetProperties<ObjectType>(image.GetPointer()));
  }

  const double seconds = Update(filter, options);

  const auto *                 strength = filter->GetOutput();
  typename ObjectType::Pointer object;
  outputs.WriteImage(strength, options.output);
  if (!options.object.empty())
  {
    object = GetObject(strength, options.threshold);
    outputs.WriteImage(object.GetPointer(), options.object);
  }
  const double suggested = options.suggestThreshold ? filter->GetSuggestedThreshold(options.minimumVolume) : 0.0;
  outputs.Commit();

  if (!options.quiet)
  {
    const auto countFrom = [strength](double threshold) {
      return CountVoxels(strength, [threshold](auto value) { return value > 0 && value >= threshold; });
    };
    PrintAffinity(filter.GetPointer(), options);
    std::cout << options.output << ": strength > 0 in " << DescribeSize(strength, countFrom(0.0)) << '\n';
    if (object)
    {
      std::cout << options.object << ": strength >= " << options.threshold << " in "
                << DescribeSize(strength, CountVoxels(object.GetPointer(), [](auto value) { return value > 0; }))
                << '\n';
    }
    if (options.suggestThreshold)
    {
      std::cout << "suggested threshold: " << DescribeThreshold(strength, suggested, countFrom(suggested)) << '\n';
    }
    PrintTime(seconds, strength);
  }
}
} // namespace

void
ComputeObject(const ProgramIO::Input & input, const Options & options)
{
  ProgramIO::RunForImageType(input,
                             [&](auto type) { ComputeTypedObject<typename decltype(type)::Type>(input, options); });
}
} // namespace FuzzyConnectednessProgram
