// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// ChainOnDevice IMAGE MAPS X,Y,Z
//
// ChainFilters on a CUDA device, where the pixels stay from one filter to the next: texture maps of the object at a
// seed.
//
//   reader -> CudaImage -> fuzzy connectedness -> threshold
//                |                                   | mask
//                +-> gray levels ----------> texture maps -> writer
//
// IMAGE is a file or a folder with a DICOM series. MAPS is an NRRD file with one component per feature. One Update()
// copies the image to the device and the maps to the host, and nothing in between. Filters of RTK and others of
// ITKCudaCommon fit in anywhere.

#include "Example.h"
#include "itkCudaImageFromImageFilter.h"
#include "itkFeatureMapsImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkImageFileWriter.h"

namespace
{
using ImageType = itk::CudaImage<float, 3>;
using LevelImageType = itk::CudaImage<unsigned short, 3>;
using MapsType = itk::VectorImage<float, 3>;

void
Run(int, char * argv[])
{
  itk::CudaDevices::Verify(0);
  const auto reader = Example::MakeReader<itk::Image<float, 3>>(argv[1]);
  auto       onDevice = itk::CudaImageFromImageFilter<itk::Image<float, 3>>::New();
  onDevice->SetInput(reader->GetOutput());
  auto levels = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
  levels->SetInput(onDevice->GetOutput());
  levels->SetNumberOfGrayLevels(32);
  auto connectedness = itk::FuzzyConnectednessImageFilter<ImageType>::New();
  connectedness->SetInput(onDevice->GetOutput());
  connectedness->SetSeed(Example::ParseIndex(argv[3]));
  connectedness->EstimateAffinityFromSeedsOn();
  // With one edge, levels are 0 below it, and 1 from it on.
  auto threshold = itk::GrayLevelDiscretizationImageFilter<ImageType>::New();
  threshold->SetInput(connectedness->GetOutput());
  threshold->SetBinEdges({ 0.5 });
  auto maps = itk::FeatureMapsImageFilter<LevelImageType, MapsType, LevelImageType>::New();
  maps->SetInput(levels->GetOutput());
  maps->SetMaskImage(threshold->GetOutput());
  maps->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Levels);
  maps->SetNumberOfGrayLevels(32);
  maps->SetFeatureNames({ "glcm_JointEntropy", "glrlm_RunEntropy" });
  auto writer = itk::ImageFileWriter<MapsType>::New();
  writer->SetInput(maps->GetOutput());
  writer->SetFileName(argv[2]);
  writer->Update();
  std::cout << maps->GetUsedDeviceName() << std::endl;
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 3, "IMAGE MAPS X,Y,Z", Run);
}
