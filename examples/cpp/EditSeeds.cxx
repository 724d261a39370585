// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// EditSeeds IMAGE LABELS EDIT...
//
// Labels of all voxels from seeds, updated after each edit, as in an interactive program: LABEL:X,Y,Z adds a seed, and
// `undo` removes the last one. The first update contracts the image to a graph; the others reuse it. Prints the time of
// each update, and writes the last labels.

#include "Example.h"
#include "itkImageFileWriter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkTimeProbe.h"

namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::RelativeFuzzyConnectednessImageFilter<ImageType>;

void
Run(int argc, char * argv[])
{
  auto filter = FilterType::New();
  filter->SetInput(Example::ReadVolume<ImageType>(argv[1]));
  filter->KeepHierarchyOn();

  std::vector<std::pair<itk::Index<3>, unsigned int>> seeds;
  for (int i = 3; i < argc; ++i)
  {
    const std::string edit = argv[i];
    const auto        colon = edit.find(':');
    if (edit == "undo" && !seeds.empty())
    {
      seeds.pop_back();
    }
    else if (colon != std::string::npos)
    {
      seeds.emplace_back(Example::ParseIndex(edit.substr(colon + 1)),
                         Example::ParseNumber<unsigned int>(edit.substr(0, colon)));
    }
    else
    {
      throw std::runtime_error("'" + edit + "' must be LABEL:X,Y,Z, or undo after a seed");
    }
    filter->ClearSeeds();
    for (const auto & [index, label] : seeds)
    {
      filter->AddSeed(index, label);
    }
    itk::TimeProbe probe;
    probe.Start();
    filter->Update();
    probe.Stop();
    std::cout << edit << ": " << 1000.0 * probe.GetTotal() << " ms, " << filter->GetMemoryOfHierarchy() / 1000000
              << " MB kept" << std::endl;
  }
  itk::WriteImage(filter->GetOutput(), argv[2]);
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 3, "IMAGE LABELS EDIT...", Run);
}
