// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkDependenceFeatureMapImageFilter_h
#define itkDependenceFeatureMapImageFilter_h

#include "itkVoxelPairFeatureMapImageFilter.h"

#include <vector>

namespace itk
{
/** \class DependenceFeatureMapImageFilter
 * \brief Features of the gray level dependence matrix of the window around every voxel.
 *
 * The neighbors of a voxel p are p + offset and p - offset for every offset. A neighbor is dependent if it lies in the
 * window, has a level, and this level differs from that of p by at most Alpha. The matrix element \f$P(i, j)\f$ is
 * the number of voxels of the window with level \f$i\f$ and \f$j - 1\f$ dependent neighbors, so that \f$j\f$, the size
 * of the dependence, is at least 1. With \f$N = \sum P\f$, the number of voxels of the window that have a level,
 * \f$p = P / N\f$, and the means \f$m_i\f$ and \f$m_j\f$ of \f$i\f$ and \f$j\f$, the features are
 *
 * - SmallDependenceEmphasis = \f$\sum p / j^2\f$, LargeDependenceEmphasis = \f$\sum p j^2\f$
 * - GrayLevelNonUniformity = \f$\sum_i (\sum_j P)^2 / N\f$
 * - DependenceNonUniformity = \f$\sum_j (\sum_i P)^2 / N\f$, DependenceNonUniformityNormalized: the same divided by
 *   \f$N\f$
 * - GrayLevelVariance = \f$\sum p (i - m_i)^2\f$, DependenceVariance = \f$\sum p (j - m_j)^2\f$
 * - DependenceEntropy = \f$-\sum p \log_2 p\f$
 * - LowGrayLevelEmphasis = \f$\sum p / i^2\f$, HighGrayLevelEmphasis = \f$\sum p i^2\f$
 * - SmallDependenceLowGrayLevelEmphasis = \f$\sum p / (i^2 j^2)\f$,
 *   SmallDependenceHighGrayLevelEmphasis = \f$\sum p i^2 / j^2\f$
 * - LargeDependenceLowGrayLevelEmphasis = \f$\sum p j^2 / i^2\f$,
 *   LargeDependenceHighGrayLevelEmphasis = \f$\sum p i^2 j^2\f$
 *
 * They are those of the neighboring gray level dependence matrix (NGLDM) of the Image Biomarker Standardisation
 * Initiative.
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter. Neighbors beyond the window,
 * beyond the image, and absent voxels are not dependent.
 *
 * \par Exact results
 * All sums are computed with integers, followed by a single division in double precision that is rounded once to the
 * output type, so results are bit-identical for all requested regions, numbers of threads and processor types, and with
 * streaming. A feature that is a ratio of integers below 2^53 is the correctly rounded quotient. Features with 1 / i^2
 * or 1 / j^2 and the entropy (fixed-point tables of 1 / n^2 and of n log2 n) are accurate to 2 units in the last place
 * of a float, and to 10^-12 in double precision up to 5x5x5 voxels and 1000 levels.
 *
 * \par Memory
 * Each thread of the CPU takes a few MB with some hundred gray levels, and up to 100 MB with many offsets and large
 * windows or with thousands of levels.
 *
 * \par Parameters, in addition to those of the base class
 * - Alpha (0): the greatest difference of dependent levels (PyRadiomics' gldm_a, IBSI's coarseness parameter).
 * - Features (all): any, in any order.
 *
 * \par Sources
 * \cite Sun1983, \cite Zwanenburg2016 section 3.11, \cite Griethuysen2017.
 *
 * \sa CooccurrenceFeatureMapImageFilter, GrayToneDifferenceFeatureMapImageFilter,
 * TextureFeatureMapImageFilter
 * \sa \python{itk.dependence_feature_map_image_filter}, \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT DependenceFeatureMapImageFilter
  : public VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(DependenceFeatureMapImageFilter);

  using Self = DependenceFeatureMapImageFilter;
  using Superclass = VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(DependenceFeatureMapImageFilter);

  using FeatureEnum = DependenceFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;

  /** Features to compute and their order. Default: all. */
  VoxelMapsFeaturesMacro();

  /** Greatest difference of the levels of dependent voxels. Default: 0. */
  VoxelMapsParameterMacro(Alpha, unsigned int);

protected:
  DependenceFeatureMapImageFilter()
    : Superclass("gldm")
  {}
  ~DependenceFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkDependenceFeatureMapImageFilter_h
