// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
