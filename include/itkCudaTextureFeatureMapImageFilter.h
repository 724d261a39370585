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
#ifndef itkCudaTextureFeatureMapImageFilter_h
#define itkCudaTextureFeatureMapImageFilter_h

#include "itkCudaVoxelMapImageFilter.h"
#include "itkVoxelMapsEngineCall.h"
#include "itkVoxelMapsParameters.h"

namespace itk
{
/** \class CudaTextureFeatureMapImageFilter
 * \brief Base of the Cuda classes of the texture filters, which computes their jobs on the device or the CPU.
 *
 * \tparam TFilter the CPU filter.
 * \tparam TEngine the CUDA engine: the types JobType and OptionsType, a static function Compute(job, options) that
 * returns a report, and lastMethod, the last enumerator of the methods.
 *
 * \ingroup VoxelMaps
 */
template <typename TFilter, typename TEngine>
class ITK_TEMPLATE_EXPORT CudaTextureFeatureMapImageFilter : public CudaVoxelMapImageFilter<TFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaTextureFeatureMapImageFilter);

  using Self = CudaTextureFeatureMapImageFilter;
  using Superclass = CudaVoxelMapImageFilter<TFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(CudaTextureFeatureMapImageFilter);

protected:
  CudaTextureFeatureMapImageFilter() = default;
  // Pure virtual: the Python wrapping generates no function for an abstract class.
  ~CudaTextureFeatureMapImageFilter() override = 0;

  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    VoxelMapsDetail::VerifyEnumerator(*this, "CudaMethod", this->GetCudaMethod(), TEngine::lastMethod);
    Superclass::VerifyPreconditions();
  }
  void
  ComputeFeatureMaps(const typename TEngine::JobType & job) override
  {
    if (this->ChoosesCPU(job))
    {
      Superclass::ComputeFeatureMaps(job);
      this->SetCPUReport();
      return;
    }
    typename TEngine::OptionsType options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    const auto report = VoxelMapsDetail::CallDevice(*this, [&] { return TEngine::Compute(job, options); });
    this->SetReport(report, report.method);
  }
};

template <typename TFilter, typename TEngine>
CudaTextureFeatureMapImageFilter<TFilter, TEngine>::~CudaTextureFeatureMapImageFilter() = default;
} // namespace itk

/** The members of a Cuda class, derived from CudaTextureFeatureMapImageFilter. */
#define VoxelMapsCudaTextureClassMacro(thisClass)                                                                      \
public:                                                                                                                \
  ITK_DISALLOW_COPY_AND_MOVE(thisClass);                                                                               \
                                                                                                                       \
  using Self = thisClass;                                                                                              \
  using Superclass = typename Self::CudaTextureFeatureMapImageFilter;                                                  \
  using Pointer = SmartPointer<Self>;                                                                                  \
  using ConstPointer = SmartPointer<const Self>;                                                                       \
                                                                                                                       \
  itkNewMacro(Self);                                                                                                   \
  itkOverrideGetNameOfClassMacro(thisClass);                                                                           \
                                                                                                                       \
protected:                                                                                                             \
  thisClass() = default;                                                                                               \
  ~thisClass() override = default;                                                                                     \
                                                                                                                       \
private:                                                                                                               \
  ITK_MACROEND_NOOP_STATEMENT

#endif // itkCudaTextureFeatureMapImageFilter_h
