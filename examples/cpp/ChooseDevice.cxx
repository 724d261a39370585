// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// ChooseDevice IMAGE MAPS cpu|automatic|cuda[:NUMBER]
//
// Run length maps on a device. `automatic` is the default of the filters: a CUDA device where one is usable, otherwise
// the CPU. `cuda:1` requires the second device. The maps are bit-identical on all devices.

#include "Example.h"
#include "itkCudaDevices.h"
#include "itkCudaRunLengthFeatureMapImageFilter.h"
#include "itkImageFileWriter.h"

namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;
using CudaFilterType = itk::CudaRunLengthFeatureMapImageFilter<ImageType>;

FilterType::Pointer
MakeFilter(const std::string & device)
{
  if (device == "automatic")
  {
    return FilterType::New();
  }
  if (device == "cpu")
  {
    // For the process; the environment variable VOXELMAPS_USE_CUDA=0 does the same.
    itk::VoxelMapsCudaFactory::SetOverrideEnabled(false);
    return FilterType::New();
  }
  if (device.rfind("cuda", 0) != 0 || (device.size() > 4 && device[4] != ':'))
  {
    throw std::runtime_error("'" + device + "' must be cpu, automatic, cuda or cuda:NUMBER");
  }
  auto filter = CudaFilterType::New();
  filter->SetDeviceID(device.size() > 4 ? Example::ParseNumber<int>(device.substr(5)) : 0);
  return FilterType::Pointer(filter);
}

void
Run(int, char * argv[])
{
  for (int i = 0; i < itk::CudaDevices::GetNumberOfDevices(); ++i)
  {
    std::cout << "cuda:" << i << ": " << itk::CudaDevices::GetName(i) << ", "
              << itk::CudaDevices::GetFreeMemory(i) / 1000000 << " MB free" << std::endl;
  }
  std::cout << itk::CudaDevices::GetReasonForNoDevice() << std::endl;

  const auto filter = MakeFilter(argv[3]);
  filter->SetInput(Example::ReadVolume<ImageType>(argv[1]));
  filter->Update();
  const auto * cudaFilter = dynamic_cast<const CudaFilterType *>(filter.GetPointer());
  std::cout << "computed on: " << (cudaFilter ? cudaFilter->GetUsedDeviceName() : "CPU") << std::endl;
  itk::WriteImage(filter->GetOutput(), argv[2]);
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 3, "IMAGE MAPS cpu|automatic|cuda[:NUMBER]", Run);
}
