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
#include "itkRunLengthFeatureMapImageFilter.h"

#include <iostream>

int
main()
{
  using ImageType = itk::Image<unsigned char, 2>;
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
  return names.at(1) == "LRE" && pixel[1] == 9.0f ? 0 : 1;
}
