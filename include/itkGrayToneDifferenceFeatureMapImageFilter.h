// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkGrayToneDifferenceFeatureMapImageFilter_h
#define itkGrayToneDifferenceFeatureMapImageFilter_h

#include "itkVoxelPairFeatureMapImageFilter.h"

namespace itk
{
/** \class GrayToneDifferenceFeatureMapImageFilter
 * \brief Features of the neighborhood gray tone difference matrix of the window around every voxel.
 *
 * The neighbors of a voxel p are the voxels p + offset and p - offset of the window that have a level. Among the voxels
 * of level \f$i\f$ are \f$n(i)\f$ that count, and \f$s(i)\f$ is the sum of |i - mean of the neighbors' levels| over
 * those that have a neighbor. With \f$N\f$ the sum of \f$n(i)\f$, \f$p(i) = n(i) / N\f$, \f$g\f$ the number of levels
 * with \f$n(i) > 0\f$, and all sums over these levels, the features are
 *
 * - Busyness = \f$(\sum_i p(i) s(i)) / (\sum_{i,j} |i p(i) - j p(j)|)\f$, 0 if the divisor is 0
 * - Coarseness = \f$1 / (\sum_i p(i) s(i))\f$, \f$10^6\f$ if the sum is 0
 * - Complexity = \f$\sum_{i,j} |i - j| (p(i) s(i) + p(j) s(j)) / (p(i) + p(j)) / N\f$
 * - Contrast = \f$(\sum_{i,j} p(i) p(j) (i - j)^2) / (g (g - 1)) (\sum_i s(i)) / N\f$, 0 if \f$g < 2\f$
 * - Strength = \f$(\sum_{i,j} (p(i) + p(j)) (i - j)^2) / (\sum_i s(i))\f$, 0 if the divisor is 0
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter. Neighbors end at the border
 * of the window, at the border of the image and at absent voxels.
 *
 * \par Exact results
 * The integers |k i - sum of the neighbors' levels| of voxels with k neighbors are summed with the weights 1 / k, which
 * are exact multiples of 1 / 26771144400, the least common multiple of 1 ... 26; with offsets that make more than 26
 * neighbors, they are rounded to 62 fractional bits. All features but Complexity are then quotients of integers,
 * which are rounded to double before the division. Complexity is a sum of doubles in a fixed order. So results are
 * bit-identical for all requested regions, numbers of threads and processor types, and with streaming. They are
 * accurate to 1 unit in the last place of a float, and to 10^-13 of a double for windows with up to 500 levels.
 *
 * \par Run time
 * Up to 26 neighbors in a box around the voxel, which is what SetDistances({ 1 }) sets, are summed faster than others.
 * Complexity and Busyness compare all pairs of levels of a window.
 *
 * \par Parameters, in addition to those of the base class
 * - Features (all): any, in any order.
 * - CountVoxelsWithoutNeighbors (on)
 *
 * \par Sources
 * \cite Amadasun1989, \cite Zwanenburg2016 section 3.10, \cite Griethuysen2017.
 *
 * \sa CooccurrenceFeatureMapImageFilter, DependenceFeatureMapImageFilter,
 * TextureFeatureMapImageFilter
 * \sa \python{itk.gray_tone_difference_feature_map_image_filter}, \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT GrayToneDifferenceFeatureMapImageFilter
  : public VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GrayToneDifferenceFeatureMapImageFilter);

  using Self = GrayToneDifferenceFeatureMapImageFilter;
  using Superclass = VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(GrayToneDifferenceFeatureMapImageFilter);

  using FeatureEnum = GrayToneDifferenceFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;

  /** Features to compute and their order. Default: all. */
  VoxelMapsFeaturesMacro();

  /** Whether voxels without neighbors count in n(i), as in PyRadiomics; off leaves them out, as the Image Biomarker
   * Standardisation Initiative does. Their difference is 0. Default: on. */
  VoxelMapsParameterMacro(CountVoxelsWithoutNeighbors, bool);
  itkBooleanMacro(CountVoxelsWithoutNeighbors);

protected:
  GrayToneDifferenceFeatureMapImageFilter()
    : Superclass("ngtdm")
  {}
  ~GrayToneDifferenceFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkGrayToneDifferenceFeatureMapImageFilter_h
