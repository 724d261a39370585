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

#include "voxelmaps/RunLengthJob.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

namespace itk
{
/** \class CudaRunLengthFeatureMapImageFilter
 * \brief RunLengthFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and RunLengthFeatureMapEnums::CudaMethod
 * for the methods.
 *
 * Source of the method SortReduce: H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci
 * Rep 9:10883 (2019).
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaRunLengthFeatureMapImageFilter
  : public CudaVoxelMapImageFilter<RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRunLengthFeatureMapImageFilter);

  using Self = CudaRunLengthFeatureMapImageFilter;
  using Superclass = CudaVoxelMapImageFilter<RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaRunLengthFeatureMapImageFilter);

protected:
  CudaRunLengthFeatureMapImageFilter() = default;
  ~CudaRunLengthFeatureMapImageFilter() override = default;

  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    VoxelMapsDetail::VerifyEnumerator(
      *this, "CudaMethod", this->GetCudaMethod(), RunLengthFeatureMapEnums::CudaMethod::SlidingWindow);
    Superclass::VerifyPreconditions();
  }
  void
  ComputeFeatureMaps(const voxelmaps::RunLengthJob & job) override
  {
    if (this->ChoosesCPU(job))
    {
      Superclass::ComputeFeatureMaps(job);
      this->KeepReportOfCPU();
      return;
    }
    voxelmaps::CudaRunLengthOptions options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    const auto report =
      VoxelMapsDetail::CallDevice(*this, [&] { return voxelmaps::ComputeRunLengthFeatureMapsCuda(job, options); });
    this->KeepReport(report, report.method);
  }
};
} // namespace itk

#endif // itkCudaRunLengthFeatureMapImageFilter_h
