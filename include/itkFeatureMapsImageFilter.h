// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFeatureMapsImageFilter_h
#define itkFeatureMapsImageFilter_h

#include "itkVoxelPairFeatureMapImageFilter.h"

namespace itk
{
/** \class FeatureMapsImageFilter
 * \brief Features of several texture classes, from one discretization.
 *
 * It is the counterpart of voxelmaps.feature_maps in Python, with the same names and values: those of PyRadiomics.
 * The filters of single classes have more parameters.
 *
 * \code
 * filter->SetFeatureNames({ "firstorder_Mean", "glcm_Contrast", "glcm_JointEntropy", "glrlm" });
 * filter->SetBinWidth(25.0);
 * \endcode
 *
 * \par Parameters, in addition to those of the base classes
 * - FeatureNames (none): a class, "_" and a name or abbreviation of a feature, as the enumerations define them; or a
 *   class for all of its features. The classes are firstorder, glcm, gldm, glrlm, glszm and ngtdm. "glcm" includes
 *   MaximalCorrelationCoefficient, which takes most of the time. Components have the order of the classes, and within a
 *   class that of the names; GetFeatureNames() returns their names in PyRadiomics.
 * - DiscretizationMethod: the default is FixedBinSizeAtMultiples with a BinWidth of 25, as in PyRadiomics.
 * - Aggregation (Average): of the directions of glcm and glrlm; Average or Merge.
 * - Offsets, SetDistances: for glcm, gldm and ngtdm. Directions of glrlm are those of distance 1, and a window omits
 *   those without pairs.
 * - Symmetric (on): of glcm. Alpha (0): of gldm. VoxelArrayShift (0): of firstorder.
 *
 * \par Errors
 * In addition to those of the base classes, throws an itk::ExceptionObject if the name of a feature does not exist or
 * is given twice, if no offset of glcm is shorter than the window, if the aggregation is PerDirection, or if
 * VoxelArrayShift is not finite.
 *
 * \sa \python{voxelmaps.feature_maps}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT FeatureMapsImageFilter
  : public VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FeatureMapsImageFilter);

  using Self = FeatureMapsImageFilter;
  using Superclass = VoxelPairFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FeatureMapsImageFilter);

  using Superclass::ImageDimension;
  using AggregationEnum = TextureFeatureMapEnums::Aggregation;

  /** How the directions of glcm and glrlm are combined. Default: Average. */
  VoxelMapsParameterMacro(Aggregation, AggregationEnum);

  /** Count every pair of glcm in both orders. Default: on. */
  VoxelMapsParameterMacro(Symmetric, bool);
  itkBooleanMacro(Symmetric);

  /** Greatest difference of the levels of dependent voxels of gldm. Default: 0. */
  VoxelMapsParameterMacro(Alpha, unsigned int);

  /** Added to intensities in Energy, TotalEnergy and RootMeanSquared. Default: 0. */
  VoxelMapsParameterMacro(VoxelArrayShift, double);

protected:
  FeatureMapsImageFilter()
    : Superclass("")
  {}
  ~FeatureMapsImageFilter() override = default;
};
} // namespace itk

#endif // itkFeatureMapsImageFilter_h
