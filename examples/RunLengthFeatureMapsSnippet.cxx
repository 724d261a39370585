/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/

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
