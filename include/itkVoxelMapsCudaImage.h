// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsCudaImage_h
#define itkVoxelMapsCudaImage_h

// To be included where an itk::CudaImage of ITKCudaCommon is connected to a filter over itk::Image: its pixels stay on
// the device. Filters over itk::CudaImage do not need this header. Without ITKCudaCommon, it does nothing.

#if __has_include("itkCudaImage.h")
#  include "itkCudaImage.h"
#  include "itkVoxelMapsDeviceImage.h"

namespace itk
{
namespace VoxelMapsDetail
{
template <typename... TPixel>
bool
RegisterCudaImages()
{
  (RegisterDeviceImage<CudaImage<TPixel, 2>>(), ...);
  (RegisterDeviceImage<CudaImage<TPixel, 3>>(), ...);
  return true;
}

inline const bool cudaImagesAreRegistered =
  RegisterCudaImages<signed char, unsigned char, short, unsigned short, int, unsigned int, float, double>();
} // namespace VoxelMapsDetail
} // namespace itk
#endif

#endif // itkVoxelMapsCudaImage_h
