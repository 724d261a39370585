// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// ChooseDevice IMAGE MAPS cpu|automatic|cuda[:NUMBER]
//
// Run length maps on a device. `automatic` is the default of the filters: a CUDA device where one is usable, otherwise
// the CPU. `cuda:1` requires the second device. The maps are bit-identical on all devices.

#include "Example.h"
#include "itkImageFileWriter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::RunLengthFeatureMapImageFilter<ImageType>;
using DeviceEnum = itk::DeviceEnums::Device;

void
Run(int, char * argv[])
{
  for (int i = 0; i < itk::CudaDevices::GetNumberOfDevices(); ++i)
  {
    std::cout << "cuda:" << i << ": " << itk::CudaDevices::GetName(i) << ", "
              << itk::CudaDevices::GetFreeMemory(i) / 1000000 << " MB free" << std::endl;
  }
  std::cout << itk::CudaDevices::GetReasonForNoDevice() << std::endl;

  auto              filter = FilterType::New();
  const std::string device = argv[3];
  if (device == "cpu")
  {
    filter->SetDevice(DeviceEnum::CPU);
  }
  else if (device.rfind("cuda", 0) == 0 && (device.size() == 4 || device[4] == ':'))
  {
    filter->SetDevice(DeviceEnum::CUDA);
    filter->SetDeviceID(device.size() > 4 ? Example::ParseNumber<int>(device.substr(5)) : 0);
  }
  else if (device != "automatic")
  {
    throw std::runtime_error("'" + device + "' must be cpu, automatic, cuda or cuda:NUMBER");
  }
  filter->SetInput(Example::ReadVolume<ImageType>(argv[1]));
  filter->Update();
  std::cout << "computed on: " << filter->GetUsedDeviceName() << std::endl;
  itk::WriteImage(filter->GetOutput(), argv[2]);
}
} // namespace

int
main(int argc, char * argv[])
{
  return Example::Run(argc, argv, 3, "IMAGE MAPS cpu|automatic|cuda[:NUMBER]", Run);
}
