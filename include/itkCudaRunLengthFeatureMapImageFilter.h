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
#ifndef itkCudaRunLengthFeatureMapImageFilter_h
#define itkCudaRunLengthFeatureMapImageFilter_h

#include "itkCudaRunLengthJob.h"
#include "itkRunLengthFeatureMapImageFilter.h"

namespace itk
{
/** \class CudaRunLengthFeatureMapImageFilter
 * \brief RunLengthFeatureMapImageFilter on a CUDA device: the same parameters, the same pipeline, the same bits.
 *
 * Images may be larger than the device's memory: they are computed in slabs that fit. The class can be used in builds
 * without CUDA and on machines without a device; Update() then throws. Up to 64 MB of page-locked host memory are kept
 * for the next Update() of the program; device memory is not.
 *
 * | name | default | meaning |
 * |---|---|---|
 * | DeviceID | 0 | number of the device, in CUDA's order |
 * | CudaMethod | Automatic | see RunLengthFeatureMapEnums::CudaMethod; the result does not depend on it |
 * | DeviceMemoryBudget | 0 | bytes of device memory to use at most; 0 for what is free |
 *
 * \par Errors
 * Beside those of the base class, an itk::ExceptionObject tells: no device, no such DeviceID, a method that cannot take
 * the parameters, too little device memory for the smallest slab (and how much was needed), and every error of CUDA,
 * with CUDA's text and what to do.
 *
 * Source of Primitives: H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci Rep 9:10883
 * (2019).
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaRunLengthFeatureMapImageFilter
  : public RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRunLengthFeatureMapImageFilter);

  using Self = CudaRunLengthFeatureMapImageFilter;
  using Superclass = RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaRunLengthFeatureMapImageFilter);

  using CudaMethodEnum = RunLengthFeatureMapEnums::CudaMethod;

  /** Number of the device. Default: 0. */
  itkSetMacro(DeviceID, int);
  itkGetConstMacro(DeviceID, int);

  /** How to compute; the result is the same. Default: Automatic. */
  itkSetEnumMacro(CudaMethod, CudaMethodEnum);
  itkGetEnumMacro(CudaMethod, CudaMethodEnum);

  /** Bytes of device memory to use at most; 0 for what is free. Default: 0. */
  itkSetMacro(DeviceMemoryBudget, SizeValueType);
  itkGetConstMacro(DeviceMemoryBudget, SizeValueType);

  /** What the last Update() used: the method, the device's name, and how many slabs. */
  itkGetEnumMacro(UsedCudaMethod, CudaMethodEnum);
  itkGetStringMacro(UsedDeviceName);
  itkGetConstMacro(UsedNumberOfSlabs, SizeValueType);

protected:
  CudaRunLengthFeatureMapImageFilter() = default;
  ~CudaRunLengthFeatureMapImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  ComputeFeatureMaps(const RunLengthJob & job) override;

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
#  include "itkCudaRunLengthFeatureMapImageFilter.hxx"
#endif

#endif // itkCudaRunLengthFeatureMapImageFilter_h
