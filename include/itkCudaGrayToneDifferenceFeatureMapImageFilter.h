// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGrayToneDifferenceFeatureMapImageFilter_h
#define itkCudaGrayToneDifferenceFeatureMapImageFilter_h

#include "voxelmaps/GrayToneDifferenceJob.h"
#include "itkCudaTextureFeatureMapImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"

namespace itk
{
namespace VoxelMapsDetail
{
/** The CUDA engine, as CudaTextureFeatureMapImageFilter uses it. */
struct CudaGrayToneDifferenceEngine
{
  using JobType = voxelmaps::GrayToneDifferenceJob;
  using OptionsType = voxelmaps::CudaGrayToneDifferenceOptions;
  static constexpr auto lastMethod = OptionsType::Method::WindowWalk;

  static auto
  Compute(const JobType & job, const OptionsType & options)
  {
    return voxelmaps::ComputeGrayToneDifferenceFeatureMapsCuda(job, options);
  }
};
} // namespace VoxelMapsDetail

/** \class CudaGrayToneDifferenceFeatureMapImageFilter
 * \brief GrayToneDifferenceFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and
 * GrayToneDifferenceFeatureMapEnums::CudaMethod for the methods.
 *
 * \sa GrayToneDifferenceFeatureMapImageFilter, CudaVoxelMapImageFilter
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaGrayToneDifferenceFeatureMapImageFilter
  : public CudaTextureFeatureMapImageFilter<
      GrayToneDifferenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>,
      VoxelMapsDetail::CudaGrayToneDifferenceEngine>
{
  VoxelMapsCudaTextureClassMacro(CudaGrayToneDifferenceFeatureMapImageFilter);
};
} // namespace itk

#endif // itkCudaGrayToneDifferenceFeatureMapImageFilter_h
