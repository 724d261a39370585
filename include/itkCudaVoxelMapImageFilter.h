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
#ifndef itkCudaVoxelMapImageFilter_h
#define itkCudaVoxelMapImageFilter_h

#include "itkProcessObject.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsJob.h"

#include <string>

namespace itk
{
/** \class CudaVoxelMapImageFilter
 * \brief What the Cuda classes of all filters share: the choice of device, method and memory, and a report.
 *
 * A Cuda class has the parameters and the pipeline of its parent, the filter without Cuda, and its results are
 * bit-identical. Images may be larger than the memory of the device: they are computed in slabs that fit. The class
 * exists in builds without CUDA and on machines without a device too; Update() then throws. Up to 64 MB of page-locked
 * host memory are kept for the next Update() of the program; device memory is not.
 *
 * - DeviceID (0): number of the device, in CUDA's order.
 * - CudaMethod (Automatic): how to compute; see the enumeration of the class. It affects run time, not the result.
 * - DeviceMemoryBudget (0): maximum number of bytes of device memory to use; 0 for all that is free.
 *
 * \par Errors
 * Beside those of the parent, an itk::ExceptionObject reports: no device, a DeviceID that does not exist, a device that
 * this build has no code for, a method that cannot take the parameters, too little device memory for the smallest slab
 * (and how much is needed), and every error of CUDA, with CUDA's text and advice.
 *
 * \tparam TParentFilter the filter without Cuda; its CudaMethodEnum is the enumeration of methods.
 *
 * \ingroup VoxelMaps
 */
template <typename TParentFilter>
class ITK_TEMPLATE_EXPORT CudaVoxelMapImageFilter : public TParentFilter
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaVoxelMapImageFilter);

  using Self = CudaVoxelMapImageFilter;
  using Superclass = TParentFilter;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(CudaVoxelMapImageFilter);

  using CudaMethodEnum = typename TParentFilter::CudaMethodEnum;

  /** Number of the device. Default: 0. */
  itkSetMacro(DeviceID, int);
  itkGetConstMacro(DeviceID, int);

  /** How to compute; the result does not depend on it. Default: Automatic. */
  itkSetEnumMacro(CudaMethod, CudaMethodEnum);
  itkGetEnumMacro(CudaMethod, CudaMethodEnum);

  /** Maximum number of bytes of device memory to use; 0 for all that is free. Default: 0. */
  itkSetMacro(DeviceMemoryBudget, SizeValueType);
  itkGetConstMacro(DeviceMemoryBudget, SizeValueType);

  /** What the last Update() used: the method, the name of the device, and the number of slabs. */
  itkGetEnumMacro(UsedCudaMethod, CudaMethodEnum);
  itkGetStringMacro(UsedDeviceName);
  itkGetConstMacro(UsedNumberOfSlabs, SizeValueType);

protected:
  CudaVoxelMapImageFilter() = default;
  // Pure virtual, for an abstract class gets no function of its own in Python.
  ~CudaVoxelMapImageFilter() override = 0;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;

  /** Set the options that all CUDA engines have. */
  void
  FillOptions(voxelmaps::CudaOptions & options) const;

  /** Keep what an engine reports, for the Get functions. */
  void
  KeepReport(const voxelmaps::CudaReport & report, CudaMethodEnum method);

private:
  int            m_DeviceID{ 0 };
  CudaMethodEnum m_CudaMethod{ CudaMethodEnum::Automatic };
  SizeValueType  m_DeviceMemoryBudget{ 0 };
  CudaMethodEnum m_UsedCudaMethod{ CudaMethodEnum::Automatic };
  std::string    m_UsedDeviceName;
  SizeValueType  m_UsedNumberOfSlabs{ 0 };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaVoxelMapImageFilter.hxx"
#endif

#endif // itkCudaVoxelMapImageFilter_h
