// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCooccurrenceFeatureMapImageFilter_h
#define itkCooccurrenceFeatureMapImageFilter_h

#include "itkVoxelPairFeatureMapImageFilter.h"


namespace itk
{
/** \class CooccurrenceFeatureMapImageFilter
 * \brief Features of the gray level co-occurrence matrix of the window around every voxel.
 *
 * A pair consists of two voxels p and p + offset of the window that both have a level. The matrix element \f$P(i, j)\f$
 * is the number of pairs of level \f$i\f$ at p and level \f$j\f$ at p + offset; a symmetric matrix counts every pair in
 * both orders. With \f$p = P / \sum P\f$, the sums of rows \f$p_x(i)\f$ and of columns \f$p_y(j)\f$, their means
 * \f$m_x\f$ and \f$m_y\f$ and variances \f$v_x\f$ and \f$v_y\f$, \f$p_+(u)\f$ the sum of \f$p(i, j)\f$ with
 * \f$i + j = u\f$, \f$p_-(k)\f$ that with \f$|i - j| = k\f$, and \f$N_g\f$ the number of gray levels, the features are
 *
 * - Autocorrelation = \f$\sum p i j\f$
 * - ClusterTendency, ClusterShade, ClusterProminence = \f$\sum p (i + j - m_x - m_y)^n\f$ with \f$n\f$ = 2, 3 and 4
 * - Contrast = \f$\sum p (i - j)^2\f$
 * - Correlation = \f$(\sum p i j - m_x m_y) / \sqrt{v_x v_y}\f$, 1 if a variance is 0
 * - DifferenceAverage, DifferenceVariance, DifferenceEntropy: mean, variance and entropy of \f$p_-\f$
 * - InverseDifference = \f$\sum p / (1 + |i - j|)\f$, InverseDifferenceMoment = \f$\sum p / (1 + (i - j)^2)\f$
 * - InverseDifferenceNormalized = \f$\sum p / (1 + |i - j| / N_g)\f$,
 *   InverseDifferenceMomentNormalized = \f$\sum p / (1 + (i - j)^2 / N_g^2)\f$
 * - InformationalMeasureOfCorrelation1 = \f$-I / \max(H_x, H_y)\f$, 0 if the matrix has one level; \f$H_x\f$ and
 *   \f$H_y\f$ are the entropies of \f$p_x\f$ and \f$p_y\f$, and \f$I\f$ is the mutual information of rows and columns
 * - InformationalMeasureOfCorrelation2 = \f$\sqrt{1 - \exp(-2 I)}\f$
 * - InverseVariance = \f$\sum_{i \ne j} p / (i - j)^2\f$
 * - JointAverage = \f$m_x\f$, JointEnergy = \f$\sum p^2\f$, JointEntropy: the entropy of \f$p\f$,
 *   MaximumProbability = \f$\max p\f$
 * - MaximalCorrelationCoefficient: the second greatest singular value of
 *   \f$p(i, j) / \sqrt{p_x(i) p_y(j)}\f$ over the levels
 * that occur; 0 if the matrix has one level, or 1 if all voxels of the region have the same (RegionHasOneLevel)
 * - SumAverage, SumEntropy: mean and entropy of \f$p_+\f$
 * - SumSquares = \f$v_x\f$
 *
 * All entropies are in bits. IBSI's sum variance is ClusterTendency, its dissimilarity is DifferenceAverage. The IBSI
 * does not define MaximalCorrelationCoefficient.
 *
 * \par Time
 * MaximalCorrelationCoefficient solves an eigenvalue problem per matrix, whose work grows with the cube of the number
 * of levels in the window: with windows of radius 5 and 256 levels, it takes 500 times as long as all others. So it is
 * not one of the default features. It is one of those of PyRadiomics, voxelmaps.feature_maps and
 * FeatureMapsImageFilter.
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter. Pairs end at the border of
 * the window, at the border of the image and at absent voxels. \f$N_g\f$ is the largest gray level that could occur
 * in the whole image, see GetUsedNumberOfGrayLevels().
 *
 * \par Aggregation of offsets
 * - PerDirection: the features of every offset, one offset after another.
 * - Average: the mean of the features over the offsets that have a pair (PyRadiomics' default, IBSI "averaged").
 * - Merge: the features of the sum of the matrices (IBSI "merged"), or of the sum with OffsetWeights.
 *
 * \par Windows without pairs
 * The features of a matrix without pairs are EmptyValue. Average skips such matrices, and is EmptyValue if no
 * offset has a pair.
 *
 * \par Exact results
 * All sums are computed with integers, followed by a single division in double precision that is rounded once to the
 * output type, so results are bit-identical for all requested regions, numbers of threads and processor types, and with
 * streaming. A feature that is a ratio of integers below 2^53 is the correctly rounded quotient. The inverse features
 * and the entropies (fixed-point tables of the weights and of n log2 n) are accurate to 2 units in the last place of a
 * float. Mutual information that is not greater than the possible rounding of its terms is 0.
 * MaximalCorrelationCoefficient is a multiple of 2^-40, within 1e-12 of the true value; it adds numbers in double
 * precision in a fixed order. Average adds quotients in double precision, in the order of Offsets. With OffsetWeights,
 * matrices hold doubles, and all sums are added in one order: results are bit-identical as well, and accurate to about
 * 1e-12.
 *
 * \par Memory
 * Each thread of the CPU counts pairs in tables, of less than 1 MB up to 256 gray levels, and of up to 40 MB with
 * thousands of levels. Rows whose windows have more than 2895 different levels are computed window by window, which is
 * slow. MaximalCorrelationCoefficient takes up to 17 MB per thread, with thousands of levels up to 200 MB.
 *
 * \par Parameters, in addition to those of the base class
 * - Features (all but MaximalCorrelationCoefficient): any, in any order.
 * - Aggregation (Average)
 * - OffsetWeights (none)
 * - Symmetric (on)
 * - EmptyValue (NaN)
 * - RegionHasOneLevel (off): for MaximalCorrelationCoefficient.
 *
 * \par Errors
 * In addition to those of the base class, throws an itk::ExceptionObject that names the value if the aggregation does
 * not exist, if no offset is shorter than the window, if merged matrices could have more than 4194304 pairs, if windows
 * have more than 4096 voxels, with more than 4096 gray levels, and MaximalCorrelationCoefficient is a feature, if there
 * are OffsetWeights, but not one from 0 to 1e100 per offset, without Merge, or with windows of more than 512 voxels and
 * more than 512 gray levels, or if a finite EmptyValue is too large for the output type. An offset and its opposite may
 * both be given if Symmetric is off.
 *
 * \par Sources
 * \cite Haralick1973, \cite Zwanenburg2016 section 3.6, \cite Griethuysen2017.
 *
 * \sa DependenceFeatureMapImageFilter, RunLengthFeatureMapImageFilter,
 * TextureFeatureMapImageFilter
 * \sa \python{itk.cooccurrence_feature_map_image_filter}, \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CooccurrenceFeatureMapImageFilter
  : public VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CooccurrenceFeatureMapImageFilter);

  using Self = CooccurrenceFeatureMapImageFilter;
  using Superclass = VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CooccurrenceFeatureMapImageFilter);

  using FeatureEnum = CooccurrenceFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;
  using AggregationEnum = TextureFeatureMapEnums::Aggregation;

  /** Features to compute and their order. Default: all but MaximalCorrelationCoefficient. */
  VoxelMapsFeaturesMacro();

  /** How offsets are combined. Default: Average. */
  VoxelMapsParameterMacro(Aggregation, AggregationEnum);

  /** Weights of the pairs of each offset in merged matrices, in the order of Offsets, 0 to 1e100; PyRadiomics'
   * weightingNorm is made of such weights. Needs Aggregation Merge. Weighted matrices hold real numbers and are counted
   * window by window, which is slow. Default: none, all pairs count alike. */
  VoxelMapsParameterMacro(OffsetWeights, std::vector<double>);

  /** Count every pair in both orders, so that opposite offsets are equivalent. Default: on. */
  VoxelMapsParameterMacro(Symmetric, bool);
  itkBooleanMacro(Symmetric);

  /** Value of the features of a matrix without pairs. Default: NaN, as in PyRadiomics. */
  VoxelMapsParameterMacro(EmptyValue, double);

  /** Whether all voxels of the image or its mask have the same gray level, which the filter cannot know of the parts
   * that it computes: MaximalCorrelationCoefficient is 1 then, as in PyRadiomics, instead of 0. Default: off. */
  VoxelMapsParameterMacro(RegionHasOneLevel, bool);
  itkBooleanMacro(RegionHasOneLevel);

protected:
  CooccurrenceFeatureMapImageFilter()
    : Superclass("glcm")
  {}
  ~CooccurrenceFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkCooccurrenceFeatureMapImageFilter_h
