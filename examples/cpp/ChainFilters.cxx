// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// ChainFilters IMAGE MAPS X,Y,Z [PARAMETER=VALUE...]
//
// One pipeline of ITK's filters with those of this module: texture maps of the object at a seed.
//
//   reader -> median -> fuzzy connectedness -> threshold
//     |                                            | mask
//     +----------------------------------> texture maps -> writer
//
// IMAGE is a file or a folder with a DICOM series. MAPS is an NRRD file with one component per feature. The pipeline
// runs once, and again after each change of a parameter: median=RADIUS (1), seed=X,Y,Z, threshold=STRENGTH (0.5),
// radius=RADIUS of the windows (2), features=NAME,NAME... Prints the filters that ran: the changed one, and those that
// depend on it.

#include "Example.h"
#include "itkBinaryThresholdImageFilter.h"
#include "itkFeatureMapsImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkImageFileWriter.h"
#include "itkMedianImageFilter.h"

namespace
{
using ImageType = itk::Image<float, 3>;
using MaskType = itk::Image<unsigned char, 3>;

void
Run(int argc, char * argv[])
{
  const auto reader = Example::MakeReader<ImageType>(argv[1]);
  auto       median = itk::MedianImageFilter<ImageType, ImageType>::New();
  median->SetInput(reader->GetOutput());
  auto connectedness = itk::FuzzyConnectednessImageFilter<ImageType>::New();
  connectedness->SetInput(median->GetOutput());
  connectedness->EstimateAffinityFromSeedsOn();
  auto threshold = itk::BinaryThresholdImageFilter<ImageType, MaskType>::New();
  threshold->SetInput(connectedness->GetOutput());
  threshold->SetLowerThreshold(0.5f);
  threshold->SetInsideValue(1);
  auto maps = itk::FeatureMapsImageFilter<ImageType>::New();
  maps->SetInput(reader->GetOutput()); // not smoothed, as that changes the texture
  maps->SetMaskImage(threshold->GetOutput());
  maps->SetNumberOfGrayLevels(32);
  maps->SetFeatureNames({ "firstorder_Mean", "glcm_JointEntropy", "glrlm_RunEntropy" });
  auto writer = itk::ImageFileWriter<itk::VectorImage<float, 3>>::New();
  writer->SetInput(maps->GetOutput());
  writer->SetFileName(argv[2]);

  std::string names;
  for (itk::ProcessObject * filter :
       std::initializer_list<itk::ProcessObject *>{ reader, median, connectedness, threshold, maps, writer })
  {
    filter->AddObserver(itk::EndEvent(), [&names, filter](const itk::EventObject &) {
      names += (names.empty() ? "" : ", ") + std::string(filter->GetNameOfClass());
    });
  }
  for (int i = 3; i < argc; ++i)
  {
    const std::string change = i == 3 ? "seed=" + std::string(argv[3]) : argv[i];
    const auto        separator = change.find('=');
    const std::string parameter = change.substr(0, separator);
    const std::string value = separator == std::string::npos ? "" : change.substr(separator + 1);
    if (parameter == "median")
    {
      median->SetRadius(Example::ParseNumber<unsigned int>(value));
    }
    else if (parameter == "seed")
    {
      connectedness->SetSeed(Example::ParseIndex(value));
    }
    else if (parameter == "threshold")
    {
      threshold->SetLowerThreshold(Example::ParseNumber<float>(value));
    }
    else if (parameter == "radius")
    {
      maps->SetNeighborhoodRadius(Example::ParseNumber<unsigned int>(value));
    }
    else if (parameter == "features")
    {
      maps->SetFeatureNames(Example::Split(value, ','));
    }
    else
    {
      throw std::runtime_error("'" + change +
                               "' must be median=, seed=, threshold=, radius= or features=, and a value");
    }
    names.clear();
    writer->Update();
    std::cout << change << ": " << names << std::endl;
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 3, "IMAGE MAPS X,Y,Z [PARAMETER=VALUE...]", Run);
}
