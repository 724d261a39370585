// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDependenceFeatureMapImageFilter_h
#define itkCudaDependenceFeatureMapImageFilter_h

#include "voxelmaps/DependenceJob.h"
#include "itkCudaTextureFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"

namespace itk
{
namespace VoxelMapsDetail
{
/** The CUDA engine, as CudaTextureFeatureMapImageFilter uses it. */
struct CudaDependenceEngine
{
  using JobType = voxelmaps::DependenceJob;
  using OptionsType = voxelmaps::CudaDependenceOptions;
  static constexpr auto lastMethod = OptionsType::Method::WindowWalk;

  static auto
  Compute(const JobType & job, const OptionsType & options)
  {
    return voxelmaps::ComputeDependenceFeatureMapsCuda(job, options);
  }
};
} // namespace VoxelMapsDetail

/** \class CudaDependenceFeatureMapImageFilter
 * \brief DependenceFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and
 * DependenceFeatureMapEnums::CudaMethod for the methods.
 *
 * \sa DependenceFeatureMapImageFilter, CudaVoxelMapImageFilter
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaDependenceFeatureMapImageFilter
  : public CudaTextureFeatureMapImageFilter<DependenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>,
                                            VoxelMapsDetail::CudaDependenceEngine>
{
  VoxelMapsCudaTextureClassMacro(CudaDependenceFeatureMapImageFilter);
};
} // namespace itk

#endif // itkCudaDependenceFeatureMapImageFilter_h
