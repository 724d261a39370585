// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// StreamLargeVolume IMAGE MAPS MINIMUM MAXIMUM PIECES
//
// Run length maps of a volume that is too large for the memory: read, computed and written in PIECES parts, as IMAGE
// and MAPS are MetaImage files (.mha), which ITK reads and writes by regions. The intensities from MINIMUM to MAXIMUM
// become 32 gray levels: with a given range, the filter requests only the part that it computes, and the windows around
// it. Ctrl-C stops within milliseconds and deletes the incomplete file. Prints progress and peak memory.
//
// Each piece updates the filters upstream whose outputs do not contain the requested region. After ReleaseDataFlagOn(),
// an output is empty once it was read, so that its filter runs again for each piece: leave the flag off for filters
// that always compute all of their output, such as FuzzyConnectednessImageFilter.

#include "Example.h"
#include "itkCommand.h"
#include "itkImageFileWriter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>

namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;

volatile std::sig_atomic_t isInterrupted = 0;

void
Run(int, char * argv[])
{
  const auto pieces = Example::ParseNumber<unsigned int>(argv[5]);

  auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetFileName(argv[1]);
  reader->UpdateOutputInformation();
  if (!reader->GetImageIO()->CanStreamRead())
  {
    throw std::runtime_error("'" + std::string(argv[1]) + "' cannot be read by regions; convert it to .mha");
  }
  auto filter = FilterType::New();
  filter->SetInput(reader->GetOutput());
  filter->SetRangeSource(FilterType::RangeSourceEnum::Given);
  filter->SetRangeMinimum(Example::ParseNumber<double>(argv[3]));
  filter->SetRangeMaximum(Example::ParseNumber<double>(argv[4]));
  filter->SetFeatureNames({ "SRE", "LRE", "RP" });

  auto writer = itk::ImageFileWriter<FilterType::OutputImageType>::New();
  writer->SetInput(filter->GetOutput());
  writer->SetFileName(argv[2]);
  writer->SetNumberOfStreamDivisions(pieces);

  std::signal(SIGINT, [](int) { isInterrupted = 1; });
  filter->AddObserver(itk::ProgressEvent(), [&filter](const itk::EventObject &) {
    if (isInterrupted)
    {
      filter->AbortGenerateDataOn();
    }
  });
  writer->AddObserver(itk::ProgressEvent(), [&writer](const itk::EventObject &) {
    std::cout << static_cast<int>(100.0f * writer->GetProgress()) << " %" << std::endl;
  });

  try
  {
    writer->Update();
  }
  catch (...)
  {
    std::filesystem::remove(argv[2]);
    throw;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::cout << "peak memory: " << usage.ru_maxrss / 1024 << " MB" << std::endl;
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 5, "IMAGE MAPS MINIMUM MAXIMUM PIECES", Run);
}
