// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFirstOrderFeatureMapImageFilter_h
#define itkCudaFirstOrderFeatureMapImageFilter_h

#include "voxelmaps/FirstOrderJob.h"
#include "itkCudaTextureFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"

namespace itk
{
namespace VoxelMapsDetail
{
/** The CUDA engine, as CudaTextureFeatureMapImageFilter uses it. */
struct CudaFirstOrderEngine
{
  using JobType = voxelmaps::FirstOrderJob;
  using OptionsType = voxelmaps::CudaFirstOrderOptions;
  static constexpr auto lastMethod = OptionsType::Method::RadixSelection;

  static auto
  Compute(const JobType & job, const OptionsType & options)
  {
    return voxelmaps::ComputeFirstOrderFeatureMapsCuda(job, options);
  }
};
} // namespace VoxelMapsDetail

/** \class CudaFirstOrderFeatureMapImageFilter
 * \brief FirstOrderFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and FirstOrderFeatureMapEnums::CudaMethod
 * for the methods.
 *
 * \sa FirstOrderFeatureMapImageFilter, CudaVoxelMapImageFilter
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaFirstOrderFeatureMapImageFilter
  : public CudaTextureFeatureMapImageFilter<FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>,
                                            VoxelMapsDetail::CudaFirstOrderEngine>
{
  VoxelMapsCudaTextureClassMacro(CudaFirstOrderFeatureMapImageFilter);
};
} // namespace itk

#endif // itkCudaFirstOrderFeatureMapImageFilter_h
