// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkSizeZoneFeatureMapImageFilter_h
#define itkSizeZoneFeatureMapImageFilter_h

#include "itkTextureFeatureMapImageFilter.h"

namespace itk
{
/** \class SizeZoneFeatureMapImageFilter
 * \brief Features of the gray level size zone matrix of the window around every voxel.
 *
 * A zone is a connected set of voxels of the window that have the same gray level: neighbors share a face, an edge or a
 * corner, and connections outside of the window do not count. Let \f$P(i, j)\f$ be the number of zones of level
 * \f$i\f$ and of \f$j\f$ voxels, \f$N\f$ the number of zones, \f$V\f$ the number of voxels of the window that have a
 * level (the sum of the sizes of all zones), \f$p = P / N\f$, and sums run over all \f$i\f$ and \f$j\f$. The features
 * are
 *
 * - SAE = \f$\sum p / j^2\f$, LAE = \f$\sum p j^2\f$
 * - GLN = \f$\sum_i (\sum_j P)^2 / N\f$, GLNN = GLN / \f$N\f$
 * - SZN = \f$\sum_j (\sum_i P)^2 / N\f$, SZNN = SZN / \f$N\f$
 * - ZP = \f$N / V\f$
 * - GLV = \f$\sum p (i - m)^2\f$, \f$m = \sum p i\f$; ZV = \f$\sum p (j - n)^2\f$, \f$n = \sum p j\f$
 * - ZE = \f$-\sum p \log_2 p\f$
 * - LGLZE = \f$\sum p / i^2\f$, HGLZE = \f$\sum p i^2\f$
 * - SALGLE = \f$\sum p / (i^2 j^2)\f$, SAHGLE = \f$\sum p i^2 / j^2\f$, LALGLE = \f$\sum p j^2 / i^2\f$,
 *   LAHGLE = \f$\sum p i^2 j^2\f$
 *
 * These are the definitions of PyRadiomics and of the IBSI. The matrix does not depend on
 * directions.
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter.
 *
 * \par Windows with few or equal voxels
 * A constant window is one zone, or with gaps several of them, of one level: GLV is 0, and if there is one zone, ZV and
 * ZE are 0, too. The features of a window of one voxel of level i are those of one zone of size 1.
 *
 * \par Exact results
 * All sums are sums of integers, or of fixed-point numbers in integers, so results are bit-identical for all requested
 * regions, numbers of threads and processor types, and with streaming. LAE, GLN, GLNN, SZN, SZNN, ZP, GLV, ZV, HGLZE
 * and LAHGLE are correctly rounded quotients where numerator and divisor are below 2^53; the other features are
 * accurate to 2 units in the last place of a float.
 *
 * \par Parameters, in addition to those of the base class
 * - Features (all sixteen): any of them, in any order.
 * - Connectivity (Full): InPlane makes zones of 3D windows those of their slices. A window of size 1 along z does the
 *   same for one slice.
 *
 * \par Errors
 * In addition to those of the base class, throws an itk::ExceptionObject if the connectivity does not exist.
 *
 * \par Sources
 * \cite Thibault2009, \cite Zwanenburg2016 section 3.8, \cite Griethuysen2017.
 *
 * \sa RunLengthFeatureMapImageFilter, TextureFeatureMapImageFilter
 * \sa \python{itk.size_zone_feature_map_image_filter}, \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT SizeZoneFeatureMapImageFilter
  : public TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(SizeZoneFeatureMapImageFilter);

  using Self = SizeZoneFeatureMapImageFilter;
  using Superclass = TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(SizeZoneFeatureMapImageFilter);

  using FeatureEnum = SizeZoneFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;
  using ConnectivityEnum = SizeZoneFeatureMapEnums::Connectivity;

  /** Features to compute and their order. Default: all sixteen. */
  VoxelMapsFeaturesMacro();

  /** Which voxels are neighbors. Default: Full. */
  VoxelMapsParameterMacro(Connectivity, ConnectivityEnum);

protected:
  SizeZoneFeatureMapImageFilter()
    : Superclass("glszm")
  {}
  ~SizeZoneFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkSizeZoneFeatureMapImageFilter_h
