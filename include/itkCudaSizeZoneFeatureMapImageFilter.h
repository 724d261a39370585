// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
  static constexpr auto lastMethod = OptionsType::Method::BitPlanes;

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
 * for the methods. Jobs that no method supports are computed on the CPU.
 *
 * \sa SizeZoneFeatureMapImageFilter, CudaVoxelMapImageFilter
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
