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
#include "itkCudaTextureFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"

namespace itk
{
namespace VoxelMapsDetail
{
/** The CUDA engine, as CudaTextureFeatureMapImageFilter uses it. */
struct CudaSizeZoneEngine
{
  using JobType = voxelmaps::SizeZoneJob;
  using OptionsType = voxelmaps::CudaSizeZoneOptions;
  static constexpr auto lastMethod = OptionsType::Method::UnionFind;

  static auto
  Compute(const JobType & job, const OptionsType & options)
  {
    return voxelmaps::ComputeSizeZoneFeatureMapsCuda(job, options);
  }
};
} // namespace VoxelMapsDetail

/** \class CudaSizeZoneFeatureMapImageFilter
 * \brief SizeZoneFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and SizeZoneFeatureMapEnums::CudaMethod
 * for the methods.
 *
 * \sa SizeZoneFeatureMapImageFilter, CudaVoxelMapImageFilter
 * \sa \python{itk.cuda_size_zone_feature_map_image_filter}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaSizeZoneFeatureMapImageFilter
  : public CudaTextureFeatureMapImageFilter<SizeZoneFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>,
                                            VoxelMapsDetail::CudaSizeZoneEngine>
{
  VoxelMapsCudaTextureClassMacro(CudaSizeZoneFeatureMapImageFilter);
};
} // namespace itk

#endif // itkCudaSizeZoneFeatureMapImageFilter_h
