// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaCooccurrenceFeatureMapImageFilter_h
#define itkCudaCooccurrenceFeatureMapImageFilter_h

#include "voxelmaps/CooccurrenceJob.h"
#include "itkCudaTextureFeatureMapImageFilter.h"
#include "itkCooccurrenceFeatureMapImageFilter.h"

namespace itk
{
namespace VoxelMapsDetail
{
/** The CUDA engine, as CudaTextureFeatureMapImageFilter uses it. */
struct CudaCooccurrenceEngine
{
  using JobType = voxelmaps::CooccurrenceJob;
  using OptionsType = voxelmaps::CudaCooccurrenceOptions;
  static constexpr auto lastMethod = OptionsType::Method::WindowWalk;

  static auto
  Compute(const JobType & job, const OptionsType & options)
  {
    return voxelmaps::ComputeCooccurrenceFeatureMapsCuda(job, options);
  }
};
} // namespace VoxelMapsDetail

/** \class CudaCooccurrenceFeatureMapImageFilter
 * \brief CooccurrenceFeatureMapImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and
 * CooccurrenceFeatureMapEnums::CudaMethod for the methods.
 *
 * \sa CooccurrenceFeatureMapImageFilter, CudaVoxelMapImageFilter
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaCooccurrenceFeatureMapImageFilter
  : public CudaTextureFeatureMapImageFilter<CooccurrenceFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>,
                                            VoxelMapsDetail::CudaCooccurrenceEngine>
{
  VoxelMapsCudaTextureClassMacro(CudaCooccurrenceFeatureMapImageFilter);
};
} // namespace itk

#endif // itkCudaCooccurrenceFeatureMapImageFilter_h
