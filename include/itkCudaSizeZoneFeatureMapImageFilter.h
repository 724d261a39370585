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
#ifndef itkCudaSizeZoneFeatureMapImageFilter_h
#define itkCudaSizeZoneFeatureMapImageFilter_h

#include "voxelmaps/SizeZoneJob.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"

namespace itk
{
/** \class CudaSizeZoneFeatureMapImageFilter
 * \brief SizeZoneFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and SizeZoneFeatureMapEnums::CudaMethod
 * for the methods.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaSizeZoneFeatureMapImageFilter
  : public CudaVoxelMapImageFilter<SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaSizeZoneFeatureMapImageFilter);

  using Self = CudaSizeZoneFeatureMapImageFilter;
  using Superclass = CudaVoxelMapImageFilter<SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaSizeZoneFeatureMapImageFilter);

protected:
  CudaSizeZoneFeatureMapImageFilter() = default;
  ~CudaSizeZoneFeatureMapImageFilter() override = default;

  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    VoxelMapsDetail::VerifyEnumerator(
      *this, "CudaMethod", this->GetCudaMethod(), SizeZoneFeatureMapEnums::CudaMethod::UnionFind);
    Superclass::VerifyPreconditions();
  }
  void
  ComputeFeatureMaps(const voxelmaps::SizeZoneJob & job) override
  {
    if (this->ChoosesCPU(job))
    {
      Superclass::ComputeFeatureMaps(job);
      this->KeepReportOfCPU();
      return;
    }
    voxelmaps::CudaSizeZoneOptions options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    const auto report =
      VoxelMapsDetail::CallDevice(*this, [&] { return voxelmaps::ComputeSizeZoneFeatureMapsCuda(job, options); });
    this->KeepReport(report, report.method);
  }
};
} // namespace itk

#endif // itkCudaSizeZoneFeatureMapImageFilter_h
