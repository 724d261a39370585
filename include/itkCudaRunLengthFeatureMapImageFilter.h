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
#include "itkCudaTextureFeatureMapImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"

namespace itk
{
namespace VoxelMapsDetail
{
/** The CUDA engine, as CudaTextureFeatureMapImageFilter uses it. */
struct CudaRunLengthEngine
{
  using JobType = voxelmaps::RunLengthJob;
  using OptionsType = voxelmaps::CudaRunLengthOptions;
  static constexpr auto lastMethod = OptionsType::Method::SlidingWindow;

  static auto
  Compute(const JobType & job, const OptionsType & options)
  {
    return voxelmaps::ComputeRunLengthFeatureMapsCuda(job, options);
  }
};
} // namespace VoxelMapsDetail

/** \class CudaRunLengthFeatureMapImageFilter
 * \brief RunLengthFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and RunLengthFeatureMapEnums::CudaMethod
 * for the methods.
 *
 * \par Source of the method SortReduce
 * \cite Zhang2019
 *
 * \sa RunLengthFeatureMapImageFilter, CudaVoxelMapImageFilter
 * \sa \python{itk.cuda_run_length_feature_map_image_filter}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaRunLengthFeatureMapImageFilter
  : public CudaTextureFeatureMapImageFilter<RunLengthFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>,
                                            VoxelMapsDetail::CudaRunLengthEngine>
{
  VoxelMapsCudaTextureClassMacro(CudaRunLengthFeatureMapImageFilter);
};
} // namespace itk

#endif // itkCudaRunLengthFeatureMapImageFilter_h
