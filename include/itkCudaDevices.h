// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDevices_h
#define itkCudaDevices_h

#include "voxelmaps/CudaDevices.h"

namespace itk
{
using CudaDevices = ::voxelmaps::CudaDevices;
} // namespace itk

#endif // itkCudaDevices_h
