// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelPairFeatureMapImageFilter_h
#define itkVoxelPairFeatureMapImageFilter_h

#include "itkTextureFeatureMapImageFilter.h"

#include <vector>

namespace itk
{
/** \class VoxelPairFeatureMapImageFilter
 * \brief Base of the texture filters whose features depend on the pairs of voxels p and p + offset.
 *
 * It adds the parameter Offsets to TextureFeatureMapImageFilter.
 *
 * \par Parameters, in addition to those of the base class
 * - Offsets (those of distance 1: all 4 in 2D, 13 in 3D): components -254 to 254. SetDistances sets all offsets of some
 *   distances.
 *
 * \par Errors
 * In addition to those of the base class, throws an itk::ExceptionObject that names the value if there are no offsets
 * or more than 4096, if an offset is zero, has a component beyond 254, or is given twice, as itself or as its
 * opposite.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT VoxelPairFeatureMapImageFilter
  : public TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(VoxelPairFeatureMapImageFilter);

  using Self = VoxelPairFeatureMapImageFilter;
  using Superclass = TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(VoxelPairFeatureMapImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::OffsetType;
  using OffsetsType = std::vector<OffsetType>;
  using DistancesType = std::vector<unsigned int>;

  /** From the first to the second voxel of a pair. Default: all of distance 1. */
  VoxelMapsOffsetsMacro();

  /** Set Offsets to GetAllOffsets(distances). */
  virtual void
  SetDistances(const DistancesType & distances)
  {
    this->SetOffsets(VoxelMapsDetail::FromTriples<OffsetType>(
      VoxelMapsDetail::GetPairOffsets(this->GetNameOfClass(), ImageDimension, distances, false)));
  }

  /** All offsets whose greatest component, without its sign, is one of the distances, which are 1 to 254: one of each
   * opposite pair, that whose last component other than 0 is positive, as in PyRadiomics. */
  static OffsetsType
  GetAllOffsets(const DistancesType & distances = { 1 })
  {
    return VoxelMapsDetail::FromTriples<OffsetType>(
      VoxelMapsDetail::GetPairOffsets("VoxelPairFeatureMapImageFilter", ImageDimension, distances, false));
  }

  /** Those of GetAllOffsets() that lie in the xy plane, for 2.5D features of 3D images. */
  static OffsetsType
  GetInPlaneOffsets(const DistancesType & distances = { 1 })
  {
    return VoxelMapsDetail::FromTriples<OffsetType>(
      VoxelMapsDetail::GetPairOffsets("VoxelPairFeatureMapImageFilter", ImageDimension, distances, true));
  }

protected:
  using Superclass::Superclass;
  ~VoxelPairFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkVoxelPairFeatureMapImageFilter_h
