// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzyConnectednessRun.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "voxelmaps/FuzzyConnectednessVolumeCurve.h"
#include <cmath>

namespace FuzzyConnectednessProgram
{
namespace
{
/** How many voxels each label has, and the strengths of these voxels if they are needed. */
template <typename TLabelImage, typename TStrengthImage>
std::map<unsigned short, std::pair<std::int64_t, std::vector<float>>>
SortByLabel(const TLabelImage * labels, const TStrengthImage * strengths, bool needsStrengths)
{
  std::map<unsigned short, std::pair<std::int64_t, std::vector<float>>> result;
  const auto *                                                          label = labels->GetBufferPointer();
  const auto *                                                          strength = strengths->GetBufferPointer();
  const auto end = labels->GetLargestPossibleRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < end; ++i)
  {
    if (label[i] != 0)
    {
      auto & labelVoxels = result[label[i]];
      ++labelVoxels.first;
      if (needsStrengths)
      {
        labelVoxels.second.push_back(strength[i]);
      }
    }
  }
  return result;
}

/** The smallest object for which a threshold is suggested: a volume, and a box of the estimation radius, as for one
 * object. */
template <typename TImage>
std::int64_t
GetMinNumberOfVoxels(const TImage * image, unsigned int estimationRadius, double minimumVolume)
{
  double box = 1.0;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    box *= std::min(static_cast<double>(image->GetLargestPossibleRegion().GetSize(d)), 2.0 * estimationRadius + 1.0);
  }
  return static_cast<std::int64_t>(std::min(std::max(box, std::ceil(minimumVolume / GetVoxelVolume(image))), 9e18));
}

/** Tell how many voxels have no label, if they are many and not by the user's choice. */
template <typename TFilter>
void
PrintVoxelsWithoutLabel(const TFilter * filter, const Options & options)
{
  if (options.ties != "background" || options.minimumStrength > 0.0 || options.cropToSeeds)
  {
    return;
  }
  const auto * labels = filter->GetOutput()->GetBufferPointer();
  const auto   end = filter->GetOutput()->GetLargestPossibleRegion().GetNumberOfPixels();
  const auto * mask = filter->GetMaskImage() ? filter->GetMaskImage()->GetBufferPointer() : nullptr;
  std::int64_t inside = 0;
  std::int64_t without = 0;
  for (itk::SizeValueType i = 0; i < end; ++i)
  {
    const bool isInside = mask == nullptr || mask[i] == filter->GetInsidePixelValue();
    inside += isInside;
    without += isInside && labels[i] == 0;
  }
  if (without * 10 > inside)
  {
    std::cout << options.labels << ": " << without << " of " << inside
              << " voxels have no label, since several labels have the same claim to them, or no seed reaches them: "
              << (options.competition == "iterative" ? "" : "--competition iterative leaves fewer ties, and ")
              << "--ties lowest labels all ties\n";
  }
}

template <typename TImage>
void
ComputeTypedLabels(const ProgramIO::Input & input, const Options & options)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  using LabelType = itk::Image<unsigned short, dimension>;

  auto filter = itk::RelativeFuzzyConnectednessImageFilter<TImage, LabelType>::New();
  SetParameters<TImage>(filter.GetPointer(), options);
  filter->SetCompetition(competitions.at(options.competition));
  filter->SetTieRule(tieRules.at(options.ties));
  filter->GenerateStrengthImageOn();
  filter->SetGenerateMarginImage(!options.margin.empty());

  const auto image = ProgramIO::ReadScalarImage<TImage>(input);
  for (const auto & seed : GetSeeds(image.GetPointer(), options))
  {
    filter->AddSeed(seed.first, seed.second);
  }
  SetImages(filter.GetPointer(), image.GetPointer(), options, ProgramIO::ReadLabelsFor<dimension>);

  using StrengthType = typename itk::RelativeFuzzyConnectednessImageFilter<TImage, LabelType>::StrengthImageType;
  ProgramIO::OutputFiles outputs({ options.input, options.seedImage, options.mask });
  outputs.AddImage(options.output, ProgramIO::GetProperties<StrengthType>(image.GetPointer()));
  outputs.AddImage(options.labels, ProgramIO::GetProperties<LabelType>(image.GetPointer()));
  if (!options.margin.empty())
  {
    outputs.AddImage(options.margin, ProgramIO::GetProperties<StrengthType>(image.GetPointer()));
  }

  const double seconds = Update(filter, options);

  const LabelType *    labels = filter->GetOutput();
  const StrengthType * strength = filter->GetStrengthImage();
  outputs.WriteImage(strength, options.output);
  outputs.WriteImage(labels, options.labels);
  if (!options.margin.empty())
  {
    outputs.WriteImage(static_cast<const StrengthType *>(filter->GetMarginImage()), options.margin);
  }
  outputs.Commit();
  if (options.quiet)
  {
    return;
  }

  const std::int64_t minVoxels = GetMinNumberOfVoxels(labels, filter->GetEstimationRadius(), options.minimumVolume);
  PrintAffinity(filter.GetPointer(), options);
  std::cout << options.output << ": strength > 0 in "
            << DescribeSize(labels, CountVoxels(strength, [](auto value) { return value > 0; })) << '\n';
  for (const auto & [label, labelVoxels] : SortByLabel(labels, strength, options.suggestThreshold))
  {
    std::cout << options.labels << ": label " << label << " in " << DescribeSize(labels, labelVoxels.first);
    if (options.suggestThreshold)
    {
      const voxelmaps::FuzzyConnectednessVolumeCurve curve(labelVoxels.second.data(), labelVoxels.first);
      const double                                   suggested = curve.GetSuggestedThreshold(minVoxels);
      std::cout << "; suggested threshold: "
                << DescribeThreshold(labels, suggested, curve.GetNumberOfVoxels(suggested));
    }
    std::cout << '\n';
  }
  PrintVoxelsWithoutLabel(filter.GetPointer(), options);
  PrintTime(seconds, labels);
}
} // namespace

void
ComputeLabels(const ProgramIO::Input & input, const Options & options)
{
  ProgramIO::RunForImageType(input,
                             [&](auto type) { ComputeTypedLabels<typename decltype(type)::Type>(input, options); });
}
} // namespace FuzzyConnectednessProgram
