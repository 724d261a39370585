// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkFeatureMapsImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

#include <iostream>

namespace
{
using ImageType = itk::Image<unsigned char, 2>;

/** Use everything that the headers need from the library. */
bool
UseEverything(ImageType * image)
{
  const auto connectedness = itk::FuzzyConnectednessImageFilter<ImageType>::New();
  connectedness->SetInput(image);
  connectedness->SetSeed({ { 4, 4 } });
  connectedness->SetAffinity({ { 7.0 }, { 1.0 }, {}, { 1.0 } });
  connectedness->Update();
  const auto discretization = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
  discretization->SetInput(image);
  discretization->Update();
  const auto maps = itk::FeatureMapsImageFilter<ImageType>::New();
  maps->SetFeatureNames({ "firstorder_Mean" });
  maps->SetInput(image);
  maps->Update();
  try
  {
    itk::CudaDevices::Verify(-1);
  }
  catch (const voxelmaps::EngineError & error)
  {
    std::cout << error.what() << std::endl;
    return connectedness->GetOutput()->GetPixel({ { 4, 4 } }) == 1.0f &&
           discretization->GetOutput()->GetPixel({ { 4, 4 } }) == 1 &&
           maps->GetOutput()->GetPixel({ { 4, 4 } })[0] == 7.0f;
  }
  return false;
}
} // namespace

int
main()
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 8, 8 } });
  image->Allocate();
  image->FillBuffer(7);

  const auto filter = itk::RunLengthFeatureMapImageFilter<ImageType>::New();
  filter->SetInput(image);
  filter->SetNeighborhoodRadius(1);
  filter->SetOffsets({ { { 1, 0 } } });
  filter->Update();

  // All windows inside a constant image have three runs of three voxels.
  const auto pixel = filter->GetOutput()->GetPixel({ { 4, 4 } });
  const auto names = filter->GetFeatureNames();
  std::cout << names.at(1) << " = " << pixel[1] << std::endl;
  return names.at(1) == "LRE" && pixel[1] == 9.0f && UseEverything(image) ? 0 : 1;
}
