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
  os << indent << "UseCPUIfFaster: " << (m_UseCPUIfFaster ? "On" : "Off") << std::endl;
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
template <typename TJob>
bool
CudaVoxelMapImageFilter<TParentFilter>::ChoosesCPU(const TJob & job) const
{
  voxelmaps::CudaOptions options;
  this->FillOptions(options);
  return m_UseCPUIfFaster && m_CudaMethod == CudaMethodEnum::Automatic &&
         VoxelMapsDetail::CallDevice(*this, [&] { return IsCpuFaster(job, options); });
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
