// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureFeatureMapImageFilter_h
#define itkTextureFeatureMapImageFilter_h

#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkVectorImage.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsDiscretization.h"
#include "itkVoxelMapsEnums.h"
#include "voxelmaps/TextureFeatureMapJob.h"
#include "itkVoxelMapsEngineCall.h"
#include "itkVoxelMapsImageRows.h"
#include "itkVoxelMapsParameters.h"

#include <optional>
#include <string>
#include <vector>

namespace itk
{
/** \class TextureFeatureMapImageFilter
 * \brief Base of the filters that compute texture features of the window around every voxel.
 *
 * It implements what all texture filters have in common: masks, gray levels, window, output and pipeline. Derived
 * classes define the features and compute them.
 *
 * \par Windows
 * The window of a voxel is a box: NeighborhoodRadius voxels to each side, or WindowSize voxels of which the voxel is
 * the one at WindowAnchor (0 is the lowest index). A window is clipped at the image border, and voxels without a level
 * (outside the mask, or NaN) are absent from it.
 *
 * \par Computed voxels
 * Features are computed for voxels that have a level and, if there is a SelectionImage, are selected. All other voxels
 * get BackgroundValue in every component. MaskImage decides which voxels count as texture, SelectionImage for which
 * voxels features are computed. With a SelectionImage alone, windows use the voxels of the entire image
 * (maskedKernel=False in PyRadiomics).
 *
 * \par Parameters
 * - NumberOfGrayLevels (32), DiscretizationMethod (FixedBinNumber), BinWidth (25), BinEdges (none), RangeSource (Mask),
 *   RangeMinimum (0), RangeMaximum (255): see GrayLevelDiscretizationImageFilter.
 * - NeighborhoodRadius (2): voxels to each side of a voxel, per axis.
 * - WindowSize (from the radius): 1 to 255 voxels per axis, and at most 65535 voxels in total.
 * - WindowAnchor (size / 2, rounded down): 0 to size - 1 per axis.
 * - MaskImage (none), SelectionImage (none), InsidePixelValue (1): see above.
 * - BackgroundValue (0): value of voxels for which no features are computed.
 *
 * \par Pipeline
 * The filter streams if it does not have to determine the intensity range (RangeSource Given, or DiscretizationMethod
 * Identity, Levels or Edges): it requests the requested region of its output, padded by the window. An automatic range
 * depends on the entire image, so the filter then requests its entire input. Memory in addition to input and output: 2
 * bytes per voxel for the levels, 1 byte per voxel for a selection, about 1 MB per thread, and copies of images that
 * compute their pixels, such as itk::ImageAdaptor. An image without voxels has an output without voxels.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if the window has no voxels, more than 255 voxels along an axis
 * or more than 65535 voxels in total, if the anchor is outside the window, if the input is not a scalar image, if the
 * geometry of the mask or selection differs from that of the input, if a finite BackgroundValue is too large for the
 * output type, if there is not enough memory (itk::MemoryAllocationError), and for the errors of
 * GrayLevelDiscretizationImageFilter.
 *
 * \sa CooccurrenceFeatureMapImageFilter, DependenceFeatureMapImageFilter, FirstOrderFeatureMapImageFilter,
 * GrayToneDifferenceFeatureMapImageFilter, RunLengthFeatureMapImageFilter, SizeZoneFeatureMapImageFilter,
 * GrayLevelDiscretizationImageFilter
 * \sa \python{voxelmaps.feature_maps}, \python{voxelmaps.describe}, \python{voxelmaps.FeatureMapsd},
 * \python{voxelmaps.radiomics.execute}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT TextureFeatureMapImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(TextureFeatureMapImageFilter);

  using Self = TextureFeatureMapImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(TextureFeatureMapImageFilter);

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using InputImageType = TInputImage;
  using InputPixelType = typename InputImageType::PixelType;
  using InputRegionType = typename InputImageType::RegionType;
  using OutputImageType = TOutputImage;
  using OutputRegionType = typename OutputImageType::RegionType;
  using OutputValueType = typename OutputImageType::InternalPixelType;
  using MaskImageType = TMaskImage;
  using MaskPixelType = typename MaskImageType::PixelType;
  using SizeType = typename InputImageType::SizeType;
  using OffsetType = typename InputImageType::OffsetType;
  using MethodEnum = GrayLevelDiscretizationEnums::Method;
  using RangeSourceEnum = GrayLevelDiscretizationEnums::RangeSource;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "VoxelMaps filters take 2D and 3D images");
  static_assert(std::is_same<OutputImageType, VectorImage<float, ImageDimension>>::value ||
                  std::is_same<OutputImageType, VectorImage<double, ImageDimension>>::value,
                "The output is a VectorImage of float or double");

  static_assert(std::is_arithmetic<MaskPixelType>::value, "The mask must be a scalar image");

  static constexpr unsigned int MaximumWindowSize = 255;
  static constexpr unsigned int MaximumNumberOfVoxelsInWindow = 65535;

  /** Optional image of the same geometry; voxels not equal to InsidePixelValue are absent. */
  itkSetInputMacro(MaskImage, MaskImageType);
  itkGetInputMacro(MaskImage, MaskImageType);

  /** Optional image of the same geometry; features are computed only for voxels equal to InsidePixelValue. */
  itkSetInputMacro(SelectionImage, MaskImageType);
  itkGetInputMacro(SelectionImage, MaskImageType);

  /** Value of voxels inside the mask and the selection. Default: 1. */
  itkSetMacro(InsidePixelValue, MaskPixelType);
  itkGetConstMacro(InsidePixelValue, MaskPixelType);

  /** Value of all components of voxels for which no features are computed. Default: 0. */
  VoxelMapsSetGetMacro(BackgroundValue, double, m_BackgroundValue);

  /** Parameters of the gray levels; see GrayLevelDiscretizationImageFilter for their meaning and defaults. */
  VoxelMapsSetGetMacro(NumberOfGrayLevels, unsigned int, m_Discretization.numberOfGrayLevels);
  VoxelMapsSetGetMacro(DiscretizationMethod, MethodEnum, m_Discretization.method);
  VoxelMapsSetGetMacro(BinWidth, double, m_Discretization.binWidth);
  VoxelMapsSetGetMacro(BinEdges, std::vector<double>, m_Discretization.binEdges);
  VoxelMapsSetGetMacro(RangeSource, RangeSourceEnum, m_Discretization.rangeSource);
  VoxelMapsSetGetMacro(RangeMinimum, double, m_Discretization.rangeMinimum);
  VoxelMapsSetGetMacro(RangeMaximum, double, m_Discretization.rangeMaximum);

  /** The largest gray level that could occur in the last Update(), and the range of intensities that it used. */
  itkGetConstMacro(UsedNumberOfGrayLevels, unsigned int);
  itkGetConstMacro(UsedRangeMinimum, double);
  itkGetConstMacro(UsedRangeMaximum, double);

  /** Radius of the window, which has 2 * radius + 1 voxels along each axis. Replaces the values set by SetWindowSize
   * and SetWindowAnchor. Default: 2. */
  virtual void
  SetNeighborhoodRadius(const SizeType & radius);
  virtual void
  SetNeighborhoodRadius(SizeValueType radius);
  itkGetConstReferenceMacro(NeighborhoodRadius, SizeType);

  /** Size of the window in voxels, which replaces NeighborhoodRadius; may be even. */
  virtual void
  SetWindowSize(const SizeType & size);
  virtual void
  SetWindowSize(SizeValueType size);
  SizeType
  GetWindowSize() const;

  /** Position of the voxel in its window, 0 ... size - 1 per axis. Default: size / 2, rounded down. */
  virtual void
  SetWindowAnchor(const OffsetType & anchor);
  OffsetType
  GetWindowAnchor() const;

  /** Select features by name, in the order of the output components: abbreviations ("SRE"), full names
   * ("ShortRunEmphasis") or names in PyRadiomics, whose class may stand in front ("glrlm_ShortRunEmphasis"). Case does
   * not matter. Throws an itk::ExceptionObject for a name that is not one of these. */
  virtual void
  SetFeatureNames(const std::vector<std::string> & names);

  /** Names of the output components in order: the abbreviations of the features, unless a class has several components
   * for a feature. */
  virtual std::vector<std::string>
  GetFeatureNames() const;

protected:
  TextureFeatureMapImageFilter();
  ~TextureFeatureMapImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  VerifyInputInformation() const override;
  void
  GenerateOutputInformation() override;
  void
  GenerateInputRequestedRegion() override;
  void
  GenerateData() override;

  /** Call ComputeFeatureMaps() of the derived class for its own job: MakeJob() and its parameters. */
  virtual void
  CompleteJob(const voxelmaps::TextureFeatureMapJob & textureJob) = 0;

  /** The job of a derived class, with all that texture jobs have in common. */
  template <typename TJob>
  TJob
  MakeJob(const voxelmaps::TextureFeatureMapJob & textureJob) const
  {
    TJob job;
    static_cast<voxelmaps::TextureFeatureMapJob &>(job) = textureJob;
    job.features = this->template GetSelectedFeatures<typename TJob::Feature>();
    return job;
  }

  /** Set the features, which are those of the class TEnums, such as SizeZoneFeatureMapEnums. */
  template <typename TEnums>
  void
  SelectFeatures(const std::vector<typename TEnums::Feature> & features);

  /** The features as enumerators. */
  template <typename TFeature>
  std::vector<TFeature>
  GetSelectedFeatures() const
  {
    std::vector<TFeature> features;
    for (const unsigned int feature : m_SelectedFeatures)
    {
      features.push_back(static_cast<TFeature>(feature));
    }
    return features;
  }

private:
  using LevelImageType = Image<unsigned short, ImageDimension>;

  /** The requested region padded by the window, cropped to the image. */
  InputRegionType
  GetPaddedRegion() const;

  /** Throw an itk::ExceptionObject if there is no feature, or if a feature does not exist or is repeated. */
  void
  VerifyFeatures() const;

  typename LevelImageType::Pointer
  MakeLevels();

  /** Discretize the input, and compute the requested region of the output. */
  void
  GenerateFeatureMaps();

  void
  SetRegions(const LevelImageType * levels, voxelmaps::TextureFeatureMapJob & job);

  std::vector<unsigned int>       m_SelectedFeatures;
  const voxelmaps::FeatureTable * m_FeatureTable{ nullptr };

  MaskPixelType                                m_InsidePixelValue{ NumericTraits<MaskPixelType>::OneValue() };
  double                                       m_BackgroundValue{ 0.0 };
  voxelmaps::GrayLevelDiscretizationParameters m_Discretization;

  SizeType                  m_NeighborhoodRadius;
  std::optional<SizeType>   m_WindowSize;
  std::optional<OffsetType> m_WindowAnchor;

  unsigned int m_UsedNumberOfGrayLevels{ 0 };
  double       m_UsedRangeMinimum{ 0.0 };
  double       m_UsedRangeMaximum{ 0.0 };
};
} // namespace itk

/** Set and get the features of a texture filter, which has the types FeatureEnum and FeaturesType. */
#define VoxelMapsFeaturesMacro(enums)                                                                                  \
  virtual void SetFeatures(const FeaturesType & features)                                                              \
  {                                                                                                                    \
    this->template SelectFeatures<enums>(features);                                                                    \
  }                                                                                                                    \
  virtual FeaturesType GetFeatures() const                                                                             \
  {                                                                                                                    \
    return this->template GetSelectedFeatures<FeatureEnum>();                                                          \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkTextureFeatureMapImageFilter.hxx"
#endif

#endif // itkTextureFeatureMapImageFilter_h
