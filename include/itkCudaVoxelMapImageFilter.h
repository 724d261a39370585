// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaVoxelMapImageFilter_h
#define itkCudaVoxelMapImageFilter_h

#include "itkProcessObject.h"
#include "itkVoxelMapsCompatibility.h"
#include "voxelmaps/Job.h"

#include <string>

namespace itk
{
/** \class CudaVoxelMapImageFilter
 * \brief Base of all Cuda classes: choice of device, method and memory, and a report of what was used.
 *
 * A Cuda class has the parameters and the pipeline of its parent, the CPU filter, and its results are bit-identical.
 * Images may be larger than the memory of the device: they are computed in slabs that fit. The class also exists in
 * builds without CUDA and on machines without a device, where Update() throws. Up to 1/32 of the device memory and
 * 128 MB of page-locked host memory remain allocated for later calls of Update() in the same program, until
 * CudaDevices::ReleaseResources().
 *
 * - DeviceID (0): CUDA device ordinal.
 * - CudaMethod (Automatic): method of computation; see the enumeration of the class. It affects run time, not the
 *   result.
 * - DeviceMemoryBudget (0): maximum number of bytes of device memory to use; 0 for all free memory.
 *
 * \par Errors
 * In addition to those of the parent, throws an itk::ExceptionObject if there is no device, if the device DeviceID does
 * not exist or this build has no code for it, if the method does not exist or support the parameters, if the device has
 * too little memory for the smallest slab (the message says how much is needed), and for every error of CUDA, with the
 * text of CUDA and advice.
 *
 * \tparam TParentFilter the CPU filter, whose CudaMethodEnum is the enumeration of CUDA methods.
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

  /** Method of computation; affects run time, not the result. Default: Automatic. */
  itkSetEnumMacro(CudaMethod, CudaMethodEnum);
  itkGetEnumMacro(CudaMethod, CudaMethodEnum);

  /** Maximum number of bytes of device memory to use; 0 for all that is free. Default: 0. */
  itkSetMacro(DeviceMemoryBudget, SizeValueType);
  itkGetConstMacro(DeviceMemoryBudget, SizeValueType);

  /** What the last Update() used: the method, the name of the device, and the number of slabs. On the CPU, the method
   * is Automatic and the name "CPU". */
  itkGetEnumMacro(UsedCudaMethod, CudaMethodEnum);
  itkGetStringMacro(UsedDeviceName);
  itkGetConstMacro(UsedNumberOfSlabs, SizeValueType);

protected:
  CudaVoxelMapImageFilter() = default;
  // Pure virtual: the Python wrapping generates no function for an abstract class.
  ~CudaVoxelMapImageFilter() override = 0;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;

  /** Set the options that all CUDA engines share. */
  void
  FillOptions(voxelmaps::CudaOptions & options) const;

  /** Set the values of the Get functions for a job that the CPU computed. */
  void
  SetCPUReport();

  /** Set the values of the Get functions from the report of an engine. */
  void
  SetReport(const voxelmaps::CudaReport & report, CudaMethodEnum method);

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
