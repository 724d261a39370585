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
#ifndef itkCudaFuzzyConnectednessImageFilter_h
#define itkCudaFuzzyConnectednessImageFilter_h

#include "itkCudaFuzzyConnectednessJob.h"
#include "itkFuzzyConnectednessImageFilter.h"

namespace itk
{
/** \class CudaFuzzyConnectednessImageFilter
 * \brief FuzzyConnectednessImageFilter on a CUDA device: the same parameters, the same pipeline, the same bits.
 *
 * Images may be larger than the device's memory: they are computed in slabs that fit, as often as needed. The class can
 * be used in builds without CUDA and on machines without a device; Update() then throws. Up to 64 MB of page-locked
 * host memory are kept for the next Update() of the program; device memory is not.
 *
 * | name | default | meaning |
 * |---|---|---|
 * | DeviceID | 0 | number of the device, in CUDA's order |
 * | CudaMethod | Automatic | see FuzzyConnectednessEnums::CudaMethod; the result does not depend on it |
 * | DeviceMemoryBudget | 0 | bytes of device memory to use at most; 0 for what is free |
 * | CorrectionPasses | 2 | passes over voxels at block borders per iteration of CorrectedKFOE; for its time alone |
 *
 * \par Errors
 * Beside those of the base class, an itk::ExceptionObject tells: no device, no such DeviceID, a method that cannot take
 * the parameters, too little device memory for the smallest slab (and how much was needed), and every error of CUDA,
 * with CUDA's text and what to do.
 *
 * Source of CorrectedKFOE: D. Li, S. Huang et al., the corrected CUDA-kFOE (2015), which this class makes exact by an
 * atomic maximum.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = Image<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaFuzzyConnectednessImageFilter
  : public FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaFuzzyConnectednessImageFilter);

  using Self = CudaFuzzyConnectednessImageFilter;
  using Superclass = FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaFuzzyConnectednessImageFilter);

  using CudaMethodEnum = FuzzyConnectednessEnums::CudaMethod;

  /** Number of the device. Default: 0. */
  itkSetMacro(DeviceID, int);
  itkGetConstMacro(DeviceID, int);

  /** How to compute; the result is the same. Default: Automatic. */
  itkSetEnumMacro(CudaMethod, CudaMethodEnum);
  itkGetEnumMacro(CudaMethod, CudaMethodEnum);

  /** Bytes of device memory to use at most; 0 for what is free. Default: 0. */
  itkSetMacro(DeviceMemoryBudget, SizeValueType);
  itkGetConstMacro(DeviceMemoryBudget, SizeValueType);

  /** Passes over voxels at block borders in every iteration of CorrectedKFOE. Default: 2, as in the paper. */
  itkSetMacro(CorrectionPasses, unsigned int);
  itkGetConstMacro(CorrectionPasses, unsigned int);

  /** What the last Update() used: the method, the device's name, and how many slabs. */
  itkGetEnumMacro(UsedCudaMethod, CudaMethodEnum);
  itkGetStringMacro(UsedDeviceName);
  itkGetConstMacro(UsedNumberOfSlabs, SizeValueType);

protected:
  CudaFuzzyConnectednessImageFilter() = default;
  ~CudaFuzzyConnectednessImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  ComputeKeys(const FuzzyConnectednessJob & job) override;

private:
  int            m_DeviceID{ 0 };
  CudaMethodEnum m_CudaMethod{ CudaMethodEnum::Automatic };
  SizeValueType  m_DeviceMemoryBudget{ 0 };
  unsigned int   m_CorrectionPasses{ 2 };
  CudaMethodEnum m_UsedCudaMethod{ CudaMethodEnum::Automatic };
  std::string    m_UsedDeviceName;
  SizeValueType  m_UsedNumberOfSlabs{ 0 };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaFuzzyConnectednessImageFilter.hxx"
#endif

#endif // itkCudaFuzzyConnectednessImageFilter_h
