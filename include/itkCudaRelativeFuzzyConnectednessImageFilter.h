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
#ifndef itkCudaRelativeFuzzyConnectednessImageFilter_h
#define itkCudaRelativeFuzzyConnectednessImageFilter_h

#include "itkCudaRelativeFuzzyConnectednessJob.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"

namespace itk
{
/** \class CudaRelativeFuzzyConnectednessImageFilter
 * \brief RelativeFuzzyConnectednessImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and
 * RelativeFuzzyConnectednessEnums::CudaMethod for the methods.
 *
 * With KeepHierarchyOn(), the graph and a copy of the image stay in device memory: 9 bytes per voxel and those of a
 * pixel, at least 2, which GetMemoryOfHierarchy() returns. UseCPUIfFaster may place it in host memory.
 *
 * In contrast to other Cuda classes, the whole image must fit into the device memory, with 20 to 30 bytes per voxel;
 * otherwise, the exception says how much is needed.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TLabelImage = Image<unsigned char, TInputImage::ImageDimension>,
          typename TStrengthImage = Image<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaRelativeFuzzyConnectednessImageFilter
  : public CudaVoxelMapImageFilter<
      RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRelativeFuzzyConnectednessImageFilter);

  using Self = CudaRelativeFuzzyConnectednessImageFilter;
  using Superclass = CudaVoxelMapImageFilter<
    RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaRelativeFuzzyConnectednessImageFilter);

protected:
  CudaRelativeFuzzyConnectednessImageFilter() = default;
  ~CudaRelativeFuzzyConnectednessImageFilter() override = default;

  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    voxelmaps::VerifyEnumerator(
      *this, "CudaMethod", this->GetCudaMethod(), RelativeFuzzyConnectednessEnums::CudaMethod::Hierarchy);
    Superclass::VerifyPreconditions();
  }
  void
  ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job,
                voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy) override
  {
    if (this->ChoosesCPU(job))
    {
      Superclass::ComputeLabels(job, hierarchy);
      this->KeepReportOfCPU();
      return;
    }
    voxelmaps::CudaRelativeFuzzyConnectednessOptions options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    const auto report = voxelmaps::CallDevice(*this, [&] {
      return hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options, *hierarchy)
                                  : voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options);
    });
    this->KeepReport(report, RelativeFuzzyConnectednessEnums::CudaMethod::Hierarchy);
  }
};
} // namespace itk

#endif // itkCudaRelativeFuzzyConnectednessImageFilter_h
