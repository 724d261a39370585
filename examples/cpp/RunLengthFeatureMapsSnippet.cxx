// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// RunLengthFeatureMapsSnippet IMAGE MAPS: compute the eleven feature maps of a 3D image, such as a NIfTI file.

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

int
main(int, char * argv[])
{
  using ImageType = itk::Image<float, 3>;

  auto filter = itk::RunLengthFeatureMapImageFilter<ImageType>::New();
  filter->SetInput(itk::ReadImage<ImageType>(argv[1]));
  filter->SetNumberOfGrayLevels(32);
  filter->SetNeighborhoodRadius(2);
  filter->Update();

  itk::WriteImage(filter->GetOutput(), argv[2]);
}
