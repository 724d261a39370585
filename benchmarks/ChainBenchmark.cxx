// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// One pipeline on a CUDA device: levels, strengths, and maps of the levels in the object that the strengths show. With
// itk::Image, pixels go from and to the host at every connection; with itk::CudaImage, at the ends only.

#include "Benchmark.h"
#include "SyntheticImages.h"

#include "itkFeatureMapsImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkVoxelMapsCudaImage.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace VoxelMapsBenchmarks;

namespace
{
using HostImage = itk::Image<float, 3>;
using Maps = itk::VectorImage<float, 3>;

Triple size{ { 512, 512, 155 } };

HostImage::Pointer
GetImage()
{
  static HostImage::Pointer image;
  if (image == nullptr)
  {
    const auto voxels = MakeCT(size);
    image = HostImage::New();
    HostImage::SizeType imageSize;
    std::copy(size.begin(), size.end(), imageSize.begin());
    image->SetRegions(imageSize);
    image->Allocate();
    std::copy(voxels.begin(), voxels.end(), image->GetBufferPointer());
  }
  return image;
}

template <typename TImage>
struct Chain
{
  using LevelImage = typename TImage::template Rebind<unsigned short>::Type;

  explicit Chain(const HostImage * host)
  {
    // The memory of the image on the host.
    image->CopyInformation(host);
    image->SetRegions(host->GetLargestPossibleRegion());
    image->SetPixelContainer(const_cast<HostImage *>(host)->GetPixelContainer());
    levels->SetInput(image);
    levels->SetNumberOfGrayLevels(32);
    strengths->SetInput(image);
    HostImage::IndexType center;
    for (unsigned int d = 0; d < 3; ++d)
    {
      center[d] = size[d] / 2;
    }
    strengths->SetSeed(center);
    strengths->EstimateAffinityFromSeedsOn();
    object->SetInput(strengths->GetOutput());
    object->SetBinEdges({ 0.1 });
    maps->SetInput(levels->GetOutput());
    maps->SetMaskImage(object->GetOutput());
    maps->SetDiscretizationMethod(itk::GrayLevelDiscretizationEnums::Method::Levels);
    maps->SetNumberOfGrayLevels(32);
    maps->SetNeighborhoodRadius(1);
    maps->SetFeatureNames({ "glcm_Contrast" });
  }

  void
  Update()
  {
    // Its pixels are new to the device.
    image->GetBufferPointer();
    image->Modified();
    maps->Update();
  }

  typename TImage::Pointer                                          image{ TImage::New() };
  typename itk::GrayLevelDiscretizationImageFilter<TImage>::Pointer levels{ decltype(levels)::ObjectType::New() };
  typename itk::FuzzyConnectednessImageFilter<TImage>::Pointer      strengths{ decltype(strengths)::ObjectType::New() };
  typename itk::GrayLevelDiscretizationImageFilter<TImage>::Pointer object{ decltype(object)::ObjectType::New() };
  typename itk::FeatureMapsImageFilter<LevelImage, Maps, LevelImage>::Pointer maps{ decltype(maps)::ObjectType::New() };
};

template <typename TImage>
void
Run(State & state)
{
  RequireDevice();
  Chain<TImage> chain(GetImage());
  for (auto _ : state)
  {
    chain.Update();
  }
  CountVoxels(state, GetNumberOfVoxels(size));
  if (!std::is_same<TImage, HostImage>::value)
  {
    Chain<HostImage> expected(GetImage());
    expected.Update();
    const std::size_t count = static_cast<std::size_t>(GetNumberOfVoxels(size));
    Verify(std::memcmp(chain.maps->GetOutput()->GetBufferPointer(),
                       expected.maps->GetOutput()->GetBufferPointer(),
                       count * sizeof(float)) == 0,
           "the maps differ from those of itk::Image");
  }
}

void
RegisterBenchmarks(int & argc, char ** argv)
{
  size = TakeSize(argc, argv, size);
  RegisterWall("chain/" + ToText(size) + "/Cuda with itk::Image", Run<HostImage>);
  RegisterWall("chain/" + ToText(size) + "/CudaImage", Run<itk::CudaImage<float, 3>>);
}
} // namespace

int
main(int argc, char * argv[])
{
  return RunProgram(argc, argv, RegisterBenchmarks);
}
