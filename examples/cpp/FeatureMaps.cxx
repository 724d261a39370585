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
#include "itkComposeImageFilter.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkImageFileWriter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "itkVectorIndexSelectionCastImageFilter.h"

#include <filesystem>
#include <map>

namespace
{
using ImageType = itk::Image<float, 3>;
using MapsType = itk::VectorImage<float, 3>;
using MaskType = itk::Image<unsigned short, 3>;
using MapsByName = std::map<std::string, ImageType::Pointer>;
using RunLengthType = itk::RunLengthFeatureMapImageFilter<ImageType, MapsType, MaskType>;

struct Parameters
{
  ImageType::Pointer image;
  MaskType::Pointer  mask;
  unsigned short     label{ 1 };
  unsigned int       radius;
  std::string        levels;
};

/** Compute the features of one class, and keep an image of each. */
template <typename TFilter>
void
Compute(const Parameters & parameters, const std::vector<std::string> & names, MapsByName & maps)
{
  auto filter = TFilter::New();
  filter->SetInput(parameters.image);
  filter->SetFeatureNames(names);
  filter->SetNeighborhoodRadius(parameters.radius);
  if (parameters.levels.rfind("width=", 0) == 0)
  {
    filter->SetDiscretizationMethod(TFilter::MethodEnum::FixedBinSizeAtMultiples);
    filter->SetBinWidth(Example::ParseNumber<double>(parameters.levels.substr(6)));
  }
  else if (parameters.levels.rfind("levels=", 0) == 0)
  {
    filter->SetNumberOfGrayLevels(Example::ParseNumber<unsigned int>(parameters.levels.substr(7)));
  }
  else
  {
    throw std::runtime_error("'" + parameters.levels + "' must be levels=NUMBER or width=WIDTH");
  }
  if (parameters.mask)
  {
    filter->SetMaskImage(parameters.mask);
    filter->SetInsidePixelValue(parameters.label);
    // Of a voxel: NIfTI files store origins in single precision.
    filter->SetCoordinateTolerance(1e-3);
  }
  if constexpr (std::is_same<TFilter, RunLengthType>::value)
  {
    filter->SkipDirectionsWithoutPairsOn(); // as PyRadiomics does
  }
  filter->Update();

  for (unsigned int i = 0; i < names.size(); ++i)
  {
    auto selection = itk::VectorIndexSelectionCastImageFilter<MapsType, ImageType>::New();
    selection->SetInput(filter->GetOutput());
    selection->SetIndex(i);
    selection->Update();
    maps[names[i]] = selection->GetOutput();
  }
}

void
Run(int argc, char * argv[])
{
  Parameters parameters;
  parameters.radius = Example::ParseNumber<unsigned int>(argv[4]);
  parameters.levels = argv[5];
  parameters.image = Example::ReadVolume<ImageType>(argv[1]);
  if (argc > 6)
  {
    parameters.mask = Example::ReadVolume<MaskType>(argv[6]);
    parameters.label = argc > 7 ? Example::ParseNumber<unsigned short>(argv[7]) : 1;
  }

  const auto                                      names = Example::Split(argv[3], ',');
  std::map<std::string, std::vector<std::string>> namesByClass;
  for (const auto & name : names)
  {
    namesByClass[name.substr(0, name.find('_'))].push_back(name);
  }
  MapsByName maps;
  for (const auto & [className, features] : namesByClass)
  {
    // clang-format off
    const auto compute =
      className == "firstorder" ? Compute<itk::FirstOrderFeatureMapImageFilter<ImageType, MapsType, MaskType>> :
      className == "glcm" ? Compute<itk::CooccurrenceFeatureMapImageFilter<ImageType, MapsType, MaskType>> :
      className == "gldm" ? Compute<itk::DependenceFeatureMapImageFilter<ImageType, MapsType, MaskType>> :
      className == "glrlm" ? Compute<RunLengthType> :
      className == "glszm" ? Compute<itk::SizeZoneFeatureMapImageFilter<ImageType, MapsType, MaskType>> :
      className == "ngtdm" ? Compute<itk::GrayToneDifferenceFeatureMapImageFilter<ImageType, MapsType, MaskType>> :
      nullptr;
    // clang-format on
    if (!compute)
    {
      throw std::runtime_error("'" + features.front() +
                               "' must begin with firstorder_, glcm_, gldm_, glrlm_, glszm_ or ngtdm_");
    }
    compute(parameters, features, maps);
  }

  const std::filesystem::path output(argv[2]);
  if (output.extension() == ".nrrd")
  {
    auto composition = itk::ComposeImageFilter<ImageType>::New();
    for (unsigned int i = 0; i < names.size(); ++i)
    {
      composition->SetInput(i, maps.at(names[i]));
    }
    composition->Update();
    itk::EncapsulateMetaData<std::string>(composition->GetOutput()->GetMetaDataDictionary(), "FeatureNames", argv[3]);
    itk::WriteImage(composition->GetOutput(), output.string());
    return;
  }
  std::filesystem::create_directories(output);
  for (const auto & [name, map] : maps)
  {
    itk::WriteImage(map.GetPointer(), (output / (name + ".nii.gz")).string());
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 5, "IMAGE OUTPUT FEATURES RADIUS LEVELS [MASK [LABEL]]", Run);
}
