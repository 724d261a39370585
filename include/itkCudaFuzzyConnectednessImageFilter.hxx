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
#ifndef itkCudaFuzzyConnectednessImageFilter_hxx
#define itkCudaFuzzyConnectednessImageFilter_hxx

#include "itkCudaFuzzyConnectednessImageFilter.h"

#include "itkCudaDevices.h"
#include "itkVoxelMapsJobUtilities.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CudaFuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                    Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "DeviceID: " << m_DeviceID << std::endl;
  os << indent << "CudaMethod: " << m_CudaMethod << std::endl;
  os << indent << "DeviceMemoryBudget: " << m_DeviceMemoryBudget << std::endl;
  os << indent << "CorrectionPasses: " << m_CorrectionPasses << std::endl;
  os << indent << "UsedCudaMethod: " << m_UsedCudaMethod << std::endl;
  os << indent << "UsedDeviceName: " << m_UsedDeviceName << std::endl;
  os << indent << "UsedNumberOfSlabs: " << m_UsedNumberOfSlabs << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CudaFuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  voxelmaps::RunOnDevice(*this, [this]() { CudaDevices::Verify(m_DeviceID); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
CudaFuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeKeys(const FuzzyConnectednessJob & job)
{
  CudaFuzzyConnectednessOptions options;
  options.deviceID = m_DeviceID;
  options.method = m_CudaMethod;
  options.memoryBudget = m_DeviceMemoryBudget;
  options.correctionPasses = m_CorrectionPasses;
  const CudaFuzzyConnectednessReport report =
    voxelmaps::RunOnDevice(*this, [&]() { return ComputeFuzzyConnectednessCuda(job, options); });
  m_UsedCudaMethod = report.method;
  m_UsedDeviceName = report.deviceName;
  m_UsedNumberOfSlabs = static_cast<SizeValueType>(report.numberOfSlabs);
}
} // namespace itk

#endif // itkCudaFuzzyConnectednessImageFilter_hxx
