// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaVoxelMapImageFilter_hxx
#define itkCudaVoxelMapImageFilter_hxx

#include "itkCudaDevices.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkVoxelMapsEngineCall.h"

namespace itk
{
template <typename TParentFilter>
CudaVoxelMapImageFilter<TParentFilter>::~CudaVoxelMapImageFilter() = default;

template <typename TParentFilter>
void
CudaVoxelMapImageFilter<TParentFilter>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "DeviceID: " << m_DeviceID << std::endl;
  os << indent << "CudaMethod: " << m_CudaMethod << std::endl;
  os << indent << "DeviceMemoryBudget: " << m_DeviceMemoryBudget << std::endl;
  os << indent << "UsedCudaMethod: " << m_UsedCudaMethod << std::endl;
  os << indent << "UsedDeviceName: " << m_UsedDeviceName << std::endl;
  os << indent << "UsedNumberOfSlabs: " << m_UsedNumberOfSlabs << std::endl;
}

template <typename TParentFilter>
void
CudaVoxelMapImageFilter<TParentFilter>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  VoxelMapsDetail::CallDevice(*this, [this] { CudaDevices::Verify(m_DeviceID); });
}

template <typename TParentFilter>
void
CudaVoxelMapImageFilter<TParentFilter>::FillOptions(voxelmaps::CudaOptions & options) const
{
  options.deviceID = m_DeviceID;
  options.memoryBudget = m_DeviceMemoryBudget;
}

template <typename TParentFilter>
void
CudaVoxelMapImageFilter<TParentFilter>::SetCPUReport()
{
  voxelmaps::CudaReport report;
  report.deviceName = "CPU";
  report.numberOfSlabs = 1;
  this->SetReport(report, CudaMethodEnum::Automatic);
}

template <typename TParentFilter>
void
CudaVoxelMapImageFilter<TParentFilter>::SetReport(const voxelmaps::CudaReport & report, CudaMethodEnum method)
{
  m_UsedCudaMethod = method;
  m_UsedDeviceName = report.deviceName;
  m_UsedNumberOfSlabs = static_cast<SizeValueType>(report.numberOfSlabs);
}
} // namespace itk

#endif // itkCudaVoxelMapImageFilter_hxx
