// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkGrayLevelDiscretizationImageFilter_h
#define itkGrayLevelDiscretizationImageFilter_h

#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsDiscretization.h"
#include "itkVoxelMapsEnums.h"
#include "itkVoxelMapsImageRows.h"
#include "itkVoxelMapsParameters.h"

#include <optional>
#include <vector>

namespace itk
{
/** \class GrayLevelDiscretizationImageFilter
 * \brief Turn intensities into gray levels 1..Ng, with 0 where a voxel is absent.
 *
 * Voxels outside the mask and NaN get level 0. GrayLevelDiscretizationEnums describes the methods (Method) and the
 * sources of the range of intensities (RangeSource). The range includes its maximum. Intensities outside a given range
 * are clamped to it, infinities included. An automatic range ignores NaN and infinities, and makes the filter request
 * its whole input; with a given range, and with Identity, Levels and Edges, the filter streams. If all intensities of
 * an automatic range are equal, all levels are 1. An image without voxels has an output without voxels.
 *
 * Intensities are converted to double precision, so 64-bit integers beyond 2^53 are rounded.
 *
 * \par Parameters
 * - Method (FixedBinNumber): see GrayLevelDiscretizationEnums::Method.
 * - NumberOfGrayLevels (32): 1 to 65535; for FixedBinNumber, Identity and Levels.
 * - BinWidth (25): > 0, in units of intensity; for the two fixed bin sizes.
 * - BinEdges (none): 1 to 65535 finite numbers in ascending order; for Edges.
 * - RangeSource (Mask): see GrayLevelDiscretizationEnums::RangeSource; for FixedBinNumber and the two fixed bin sizes.
 * - RangeMinimum (0), RangeMaximum (255): used if RangeSource is Given.
 * - MaskImage (none), InsidePixelValue (1): voxels whose mask value differs from InsidePixelValue get level 0.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if the method or the source of the range does not exist, if the
 * number of levels is outside 1..65535, if InsidePixelValue is NaN, if the bin width or
 * the extent of a given range is not positive and finite, if the bin width leads to more than 65535 levels, if there
 * are no edges or more than 65535, if edges are not finite or not in ascending order, if the pixel type of the output
 * cannot represent all levels, if the geometry of the mask differs from that of the input, if the range has to be found
 * but no intensity of the image is finite (an empty mask gives level 0 everywhere instead), or if an intensity is not
 * an integer in 0..NumberOfGrayLevels - 1 (Identity) or 0..NumberOfGrayLevels (Levels).
 *
 * \par Sources
 * \cite Zwanenburg2016 section 2.7; PyRadiomics documentation of binWidth.
 *
 * \sa TextureFeatureMapImageFilter
 * \sa \python{itk.gray_level_discretization_image_filter}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = Image<unsigned short, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT GrayLevelDiscretizationImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GrayLevelDiscretizationImageFilter);

  using Self = GrayLevelDiscretizationImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(GrayLevelDiscretizationImageFilter);

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using InputImageType = TInputImage;
  using InputPixelType = typename InputImageType::PixelType;
  using OutputImageType = TOutputImage;
  using OutputPixelType = typename OutputImageType::PixelType;
  using OutputRegionType = typename OutputImageType::RegionType;
  using MaskImageType = TMaskImage;
  using MaskPixelType = typename MaskImageType::PixelType;
  using MethodEnum = GrayLevelDiscretizationEnums::Method;
  using RangeSourceEnum = GrayLevelDiscretizationEnums::RangeSource;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "VoxelMaps filters take 2D and 3D images");
  static_assert(voxelmaps::hasPixelType<InputPixelType>,
                "The input must be a scalar image: select a component, for example with "
                "itk::VectorIndexSelectionCastImageFilter");
  static_assert(std::is_arithmetic<MaskPixelType>::value, "The mask must be a scalar image");
  static_assert(std::is_integral<OutputPixelType>::value && sizeof(OutputPixelType) >= 2,
                "Gray levels need an integer type of at least 16 bits");
  static_assert(VoxelMapsDetail::hasPixelsInBuffer<OutputImageType>, "The output must be an itk::Image");

  static constexpr unsigned int MaximumNumberOfGrayLevels =
    voxelmaps::GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels;

  /** Optional image of the same geometry; voxels not equal to InsidePixelValue get level 0. */
  itkSetInputMacro(MaskImage, MaskImageType);
  itkGetInputMacro(MaskImage, MaskImageType);

  /** Value of voxels inside the mask. Default: 1. */
  itkSetMacro(InsidePixelValue, MaskPixelType);
  itkGetConstMacro(InsidePixelValue, MaskPixelType);

  /** Rule that maps intensities to levels. Default: FixedBinNumber. */
  VoxelMapsSetGetMacro(Method, MethodEnum, m_Parameters.method);

  /** Number of levels of FixedBinNumber, Identity and Levels, 1..65535. Default: 32. */
  VoxelMapsSetGetMacro(NumberOfGrayLevels, unsigned int, m_Parameters.numberOfGrayLevels);

  /** Width of a bin in units of intensity, > 0. Default: 25. */
  VoxelMapsSetGetMacro(BinWidth, double, m_Parameters.binWidth);

  /** Edges of the bins in ascending order, in units of intensity; for Edges. Default: none. */
  VoxelMapsSetGetMacro(BinEdges, std::vector<double>, m_Parameters.binEdges);

  /** Source of the range. Default: Mask (the whole image if there is no mask). */
  VoxelMapsSetGetMacro(RangeSource, RangeSourceEnum, m_Parameters.rangeSource);

  /** The range if RangeSource is Given, including both ends. Default: 0 and 255. */
  VoxelMapsSetGetMacro(RangeMinimum, double, m_Parameters.rangeMinimum);
  VoxelMapsSetGetMacro(RangeMaximum, double, m_Parameters.rangeMaximum);

  /** Whether the level of any voxel depends on the whole input. */
  bool
  NeedsWholeInput() const
  {
    return m_Parameters.NeedsWholeInput();
  }

  /** Set all of these parameters at once. */
  void
  SetParameters(const voxelmaps::GrayLevelDiscretizationParameters & parameters)
  {
    m_Parameters = parameters;
    this->Modified();
  }

  /** The range that the last Update() used. */
  itkGetConstMacro(UsedRangeMinimum, double);
  itkGetConstMacro(UsedRangeMaximum, double);

  /** The largest level that the last Update() could produce: NumberOfGrayLevels, the number of edges, or the number of
   * bins that follows from bin width and range. */
  itkGetConstMacro(UsedNumberOfGrayLevels, unsigned int);

protected:
  GrayLevelDiscretizationImageFilter();
  ~GrayLevelDiscretizationImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  VerifyInputInformation() const override;
  void
  GenerateInputRequestedRegion() override;
  void
  GenerateData() override;
  void
  BeforeThreadedGenerateData() override;
  void
  DynamicThreadedGenerateData(const OutputRegionType & region) override;
  void
  AfterThreadedGenerateData() override;

private:
  using RowDiscretizerType = VoxelMapsDetail::RowDiscretizer<InputImageType, MaskImageType>;

  RowDiscretizerType
  MakeRowDiscretizer() const;

  voxelmaps::GrayLevelDiscretizationParameters m_Parameters;
  MaskPixelType                                m_InsidePixelValue{ NumericTraits<MaskPixelType>::OneValue() };

  // Shared by the threads of an update.
  std::optional<voxelmaps::GrayLevelDiscretization> m_Discretization;

  double       m_UsedRangeMinimum{ 0.0 };
  double       m_UsedRangeMaximum{ 0.0 };
  unsigned int m_UsedNumberOfGrayLevels{ 0 };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGrayLevelDiscretizationImageFilter.hxx"
#endif

#endif // itkGrayLevelDiscretizationImageFilter_h
