// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkRunLengthFeatureMapImageFilter_h
#define itkRunLengthFeatureMapImageFilter_h

#include "itkTextureFeatureMapImageFilter.h"

namespace itk
{
/** \class RunLengthFeatureMapImageFilter
 * \brief Features of the gray level run length matrix of the window around every voxel.
 *
 * A run is a maximal sequence of consecutive voxels of the same gray level along a direction, inside the window. The
 * matrix element \f$P(i, j)\f$ is the number of runs of level \f$i = 1..N_g\f$ and length \f$j\f$ in voxels,
 * \f$N = \sum P\f$ the number of all runs, and \f$V\f$ the number of voxels in the window. With \f$p = P / N\f$, the
 * features are
 *
 * - SRE = \f$\sum p / j^2\f$, LRE = \f$\sum p j^2\f$ \cite Galloway1975
 * - GLN = \f$\sum_i (\sum_j P)^2 / N\f$, RLN = \f$\sum_j (\sum_i P)^2 / N\f$ \cite Galloway1975
 * - GLNN = GLN / \f$N\f$, RLNN = RLN / \f$N\f$ \cite Zwanenburg2016
 * - RP = \f$N / V\f$ \cite Galloway1975, where \f$V\f$ counts only voxels inside mask and image \cite Zwanenburg2016
 * - LGRE = \f$\sum p / i^2\f$, HGRE = \f$\sum p i^2\f$ \cite Chu1990
 * - SRLGE = \f$\sum p / (i^2 j^2)\f$, SRHGE = \f$\sum p i^2 / j^2\f$, LRLGE = \f$\sum p j^2 / i^2\f$,
 *   LRHGE = \f$\sum p i^2 j^2\f$ \cite Dasarathy1991
 * - GLV, RV: variance of \f$i\f$ and variance of \f$j\f$ over the runs \cite Zwanenburg2016
 * - RE = \f$-\sum p \log_2 p\f$ \cite Zwanenburg2016
 *
 * The weight of a level starts at 1: with Identity, the intensity 0 has \f$i = 1\f$, since \f$1 / i^2\f$ is undefined
 * for \f$i = 0\f$; Zhang et al. \cite Zhang2019 do not say how they treat it.
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter. Runs end at the border of the
 * window, at the border of the image and at absent voxels.
 *
 * \par Aggregation of directions
 * - PerDirection: the features of every direction, one direction after another.
 * - Average: the mean of the features over the directions (PyRadiomics' default, IBSI "averaged").
 * - Merge: the features of the sum of the matrices, where V counts every voxel once per direction (IBSI "merged"),
 *   or of the sum with OffsetWeights, where V has them as well.
 *
 * \par Windows without runs or pairs
 * The window of a computed voxel contains at least that voxel, so every direction has at least one run, and all
 * features are finite unless SkipDirectionsWithoutPairs is on.
 *
 * \par Exact results
 * All sums are computed with integers, followed by a single division in double precision that is rounded once to the
 * output type, so results are bit-identical for all requested regions, numbers of threads and processor types, and with
 * streaming. With PerDirection and Merge, a feature that is a ratio of integers below 2^53 is the correctly rounded
 * quotient: GLN, RLN, RP, LRE, HGRE, LRHGE, RV and similar features, and SRE and SRHGE if no run is longer than 12.
 * LGRE, SRLGE, LRLGE (1 / i^2 in fixed point) and RE (table of n log2 n in fixed point) are accurate to 2 units in the
 * last place of a float. Average adds products of numerators and reciprocals of the numbers of runs in double
 * precision, in the order of Offsets, and divides once: it is accurate to about 10^-15, where the features themselves
 * are. With OffsetWeights, matrices hold doubles, and all sums are added in one order: results are bit-identical as
 * well, and accurate to about 10^-12.
 *
 * \par Parameters, in addition to those of the base class
 * - Offsets (all 4 in 2D, 13 in 3D): directions with components -1, 0 or 1. Opposite directions are equivalent.
 * - Features (the eleven of Zhang et al. \cite Zhang2019): any of the sixteen, in any order.
 * - Aggregation (Average)
 * - OffsetWeights (none)
 * - SkipDirectionsWithoutPairs (off)
 *
 * \par Errors
 * In addition to those of the base class, throws an itk::ExceptionObject that names the value if there is no offset, if
 * an offset is zero, has a component other than -1, 0 and 1, or is given twice, as itself or as its opposite, if
 * the aggregation does not exist, or if there are
 * OffsetWeights, but not one from 0 to 1e100 per offset, without Merge, or with windows of more than 512 voxels and
 * more than 512 gray levels.
 *
 * \par Sources
 * \cite Zhang2019, \cite Zwanenburg2016 section 3.7.
 *
 * \sa CooccurrenceFeatureMapImageFilter, SizeZoneFeatureMapImageFilter,
 * TextureFeatureMapImageFilter
 * \sa \python{itk.run_length_feature_map_image_filter}, \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT RunLengthFeatureMapImageFilter
  : public TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(RunLengthFeatureMapImageFilter);

  using Self = RunLengthFeatureMapImageFilter;
  using Superclass = TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(RunLengthFeatureMapImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::OffsetType;
  using OffsetsType = std::vector<OffsetType>;
  using FeatureEnum = RunLengthFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;
  using AggregationEnum = TextureFeatureMapEnums::Aggregation;

  /** Directions of the runs. Default: GetAllOffsets(). */
  VoxelMapsOffsetsMacro();

  /** All directions, 4 in 2D and 13 in 3D: one of each opposite pair, starting with the x axis. */
  static OffsetsType
  GetAllOffsets()
  {
    return VoxelMapsDetail::FromTriples<OffsetType>(VoxelMapsDetail::GetRunOffsets(ImageDimension));
  }

  /** The 4 directions in the xy plane, for 2.5D features of 3D images. */
  static OffsetsType
  GetInPlaneOffsets()
  {
    return VoxelMapsDetail::FromTriples<OffsetType>(VoxelMapsDetail::GetRunOffsets(2));
  }

  /** Features to compute and their order. Default: the eleven of Zhang et al. \cite Zhang2019. */
  VoxelMapsFeaturesMacro();

  /** How directions are combined. Default: Average. */
  VoxelMapsParameterMacro(Aggregation, AggregationEnum);

  /** Weights of the runs of each direction in merged matrices, in the order of Offsets, 0 to 1e100; PyRadiomics'
   * weightingNorm is made of such weights. Needs Aggregation Merge. Weighted matrices hold real numbers and are counted
   * window by window, which is slow. Default: none, all runs count alike. */
  VoxelMapsParameterMacro(OffsetWeights, std::vector<double>);

  /** Leave out, window by window, the directions in which no line of the window holds two voxels with a level, as
   * PyRadiomics does. Averages and merged matrices then use the other directions. Components of a direction that is
   * left out are NaN, and so are all components of windows in which every direction is left out. This matters for thin
   * and scattered masks. Default: off. */
  VoxelMapsParameterMacro(SkipDirectionsWithoutPairs, bool);
  itkBooleanMacro(SkipDirectionsWithoutPairs);

protected:
  RunLengthFeatureMapImageFilter()
    : Superclass("glrlm")
  {}
  ~RunLengthFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkRunLengthFeatureMapImageFilter_h
