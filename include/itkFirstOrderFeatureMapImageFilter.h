// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFirstOrderFeatureMapImageFilter_h
#define itkFirstOrderFeatureMapImageFilter_h

#include "itkTextureFeatureMapImageFilter.h"


namespace itk
{
/** \class FirstOrderFeatureMapImageFilter
 * \brief First order statistics of the intensities in the window around every voxel.
 *
 * Let \f$x\f$ be the intensities of the \f$V\f$ voxels in the window, \f$m\f$ their mean,
 * \f$m_k = \sum (x - m)^k / V\f$, \f$n_i\f$ the number of voxels of gray level \f$i\f$, \f$c\f$ the parameter
 * VoxelArrayShift, and \f$v\f$ the volume of a voxel, the product of the spacing along all axes. The features are
 *
 * - MIN, MAX, RAN: minimum, maximum and their difference
 * - MEAN = \f$m\f$, VAR = \f$m_2\f$, SD = \f$\sqrt{m_2}\f$, SKE = \f$m_3 / m_2^{3/2}\f$, KUR = \f$m_4 / m_2^2\f$ (3 for
 *   a normal distribution)
 * - MAD = \f$\sum |x - m| / V\f$
 * - ENE = \f$\sum (x + c)^2\f$, TE = \f$v\f$ ENE, RMS: the square root of ENE / \f$V\f$
 * - P10, MED, P90: 10th, 50th and 90th percentile; IQR: 75th percentile minus 25th percentile
 * - RMAD: MAD of the voxels with P10 <= \f$x\f$ <= P90
 * - ENT = \f$-\sum p_i \log_2 p_i\f$, UNI = \f$\sum p_i^2\f$, \f$p_i = n_i / V\f$
 *
 * These are the definitions of PyRadiomics. Percentiles lie between the two nearest intensities in ascending order, by
 * linear interpolation (the default of NumPy). Only ENT and UNI use gray levels; all
 * other features use the intensities themselves, of voxels that have a level, in double precision.
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter.
 *
 * \par Windows with few or equal voxels
 * In a constant window VAR, SD, MAD, RMAD, SKE, KUR, ENT, RAN and IQR are exactly 0. RMAD of a window of two voxels
 * with different intensities is NaN, as in PyRadiomics: neither lies between the percentiles. SKE and KUR are also 0
 * where the divisor is too small for a double. Infinite intensities make most features of their windows infinite or
 * NaN.
 *
 * \par Exact results
 * Sums are sums of doubles in the order of the voxels, x fastest, of differences from the intensity of the window's own
 * voxel, or from the median in RMAD, so results are bit-identical for all requested regions, numbers of threads and
 * processor types, and with streaming. MIN, MAX and RAN are exact, percentiles have the roundings of NumPy, UNI is the
 * correctly rounded quotient, and ENT (table of n log2 n in fixed point) is accurate to 2 units in the last place of a
 * float.
 *
 * \par Parameters, in addition to those of the base class
 * - Features (all nineteen): any of them, in any order.
 * - VoxelArrayShift (0): \f$c\f$ above. PyRadiomics' voxelArrayShift makes CT numbers positive.
 *
 * \par Memory
 * In addition to that of the base class: 4 bytes per voxel for the intensities, 8 for pixels of double precision or
 * integers of 32 bits; and up to 5 MB per thread for the largest windows.
 *
 * \par Errors
 * In addition to those of the base class, throws an itk::ExceptionObject that names the value if VoxelArrayShift is not
 * finite, or if the volume of a voxel is not positive and finite.
 *
 * \par Sources
 * \cite Griethuysen2017, \cite Zwanenburg2016 sections 3.3 and 3.4.
 *
 * \sa TextureFeatureMapImageFilter
 * \sa \python{itk.first_order_feature_map_image_filter}, \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT FirstOrderFeatureMapImageFilter
  : public TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FirstOrderFeatureMapImageFilter);

  using Self = FirstOrderFeatureMapImageFilter;
  using Superclass = TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FirstOrderFeatureMapImageFilter);

  using FeatureEnum = FirstOrderFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;

  /** Features to compute and their order. Default: all nineteen. */
  VoxelMapsFeaturesMacro();

  /** Added to intensities in Energy, TotalEnergy and RootMeanSquared. Default: 0. */
  VoxelMapsParameterMacro(VoxelArrayShift, double);

protected:
  FirstOrderFeatureMapImageFilter()
    : Superclass("firstorder")
  {}
  ~FirstOrderFeatureMapImageFilter() override = default;
};
} // namespace itk

#endif // itkFirstOrderFeatureMapImageFilter_h
