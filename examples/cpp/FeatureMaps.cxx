// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// FeatureMaps IMAGE OUTPUT FEATURES RADIUS LEVELS [MASK [LABEL]]
//
// Texture maps of several classes. IMAGE is a file or a folder with a DICOM series. OUTPUT is an NRRD file with one
// component per feature, or a folder with one NIfTI file for each. FEATURES are names such as
// glcm_Contrast,glrlm_RunEntropy. LEVELS is levels=32, or width=25 for bins whose edges are multiples of the width.
// MASK is a label image, in which voxels of value LABEL (1) are inside. The maps equal those of
// voxelmaps.feature_maps in Python.

#include "Example.h"
#include "itkFeatureMapsImageFilter.h"
#include "itkImageFileWriter.h"
#include "itkVectorIndexSelectionCastImageFilter.h"

#include <filesystem>

namespace
{
using ImageType = itk::Image<float, 3>;
using MapsType = itk::VectorImage<float, 3>;
using MaskType = itk::Image<unsigned short, 3>;
using FilterType = itk::FeatureMapsImageFilter<ImageType, MapsType, MaskType>;

void
Run(int argc, char * argv[])
{
  auto filter = FilterType::New();
  filter->SetInput(Example::ReadVolume<ImageType>(argv[1]));
  filter->SetFeatureNames(Example::Split(argv[3], ','));
  filter->SetNeighborhoodRadius(Example::ParseNumber<unsigned int>(argv[4]));
  const std::string levels = argv[5];
  if (levels.rfind("width=", 0) == 0)
  {
    filter->SetBinWidth(Example::ParseNumber<double>(levels.substr(6)));
  }
  else if (levels.rfind("levels=", 0) == 0)
  {
    filter->SetNumberOfGrayLevels(Example::ParseNumber<unsigned int>(levels.substr(7)));
  }
  else
  {
    throw std::runtime_error("'" + levels + "' must be levels=NUMBER or width=WIDTH");
  }
  if (argc > 6)
  {
    filter->SetMaskImage(Example::ReadVolume<MaskType>(argv[6]));
    filter->SetInsidePixelValue(argc > 7 ? Example::ParseNumber<unsigned short>(argv[7]) : 1);
  }
  filter->Update();

  const std::filesystem::path output(argv[2]);
  if (output.extension() == ".nrrd")
  {
    // The header holds the names of the components.
    itk::WriteImage(filter->GetOutput(), output.string());
    return;
  }
  std::filesystem::create_directories(output);
  const std::vector<std::string> names = filter->GetFeatureNames();
  for (unsigned int i = 0; i < names.size(); ++i)
  {
    auto selection = itk::VectorIndexSelectionCastImageFilter<MapsType, ImageType>::New();
    selection->SetInput(filter->GetOutput());
    selection->SetIndex(i);
    itk::WriteImage(selection->GetOutput(), (output / (names[i] + ".nii.gz")).string());
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 5, "IMAGE OUTPUT FEATURES RADIUS LEVELS [MASK [LABEL]]", Run);
}
