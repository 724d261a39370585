/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef itkRunLengthFeatureMapImageFilter_h
#define itkRunLengthFeatureMapImageFilter_h

#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkRunLengthFeatureMapEnums.h"
#include "itkRunLengthJob.h"
#include "itkVectorImage.h"

#include <optional>

namespace itk
{
// What takes the place of this class where a device is usable.
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
class CudaRunLengthFeatureMapImageFilter;

/** \class RunLengthFeatureMapImageFilter
 * \brief Features of the gray level run length matrix of the window around every voxel.
 *
 * A run is a maximal series of voxels of the same gray level along a direction, inside the window. P(i, j) counts the
 * runs of level i = 1..Ng and length j in voxels, N = sum P is the number of runs, V the number of voxels in the
 * window. With p = P / N, the features are
 *
 * | feature | formula | source |
 * |---|---|---|
 * | SRE, LRE | sum p / j^2, sum p j^2 | Galloway 1975 |
 * | GLN, RLN | sum_i (sum_j P)^2 / N, sum_j (sum_i P)^2 / N | Galloway 1975 |
 * | GLNN, RLNN | GLN / N, RLN / N | IBSI |
 * | RP | N / V | Galloway 1975; V inside mask and image, as IBSI |
 * | LGRE, HGRE | sum p / i^2, sum p i^2 | Chu et al. 1990 |
 * | SRLGE, SRHGE, LRLGE, LRHGE | sum p / (i^2 j^2), sum p i^2 / j^2, sum p j^2 / i^2, sum p i^2 j^2 | Dasarathy, Holder
 * 1991 | | GLV, RV | variance of i, of j, over the runs | IBSI | | RE | - sum p log2 p | IBSI |
 *
 * The weight of a level starts at 1: an intensity 0 that is a level already (Identity) has i = 1, since 1 / i^2 is
 * undefined for 0, which Zhang et al. (2019) leave open.
 *
 * \par Windows
 * The window of a voxel is a box: NeighborhoodRadius voxels to each side, or WindowSize voxels of which the voxel is
 * the one at WindowAnchor (0 is the lowest index). A window is clipped at the image border; runs end at the window, at
 * the border, and at voxels without a level (outside the mask, or NaN).
 *
 * \par Aggregation of directions
 * PerDirection gives the features of every direction, components direction by direction; Average their mean over the
 * directions (PyRadiomics' default, IBSI "averaged"); Merge the features of the sum of the matrices, where V
 * counts every voxel once per direction (IBSI "merged").
 *
 * \par Windows without runs
 * Only voxels that have a level are computed; all others get BackgroundValue in every component. A computed window
 * contains its voxel, so every direction has at least one run, and no NaN or infinity can occur.
 *
 * \par Exact results
 * All sums are integers until one last division in double precision, rounded once to the output type, so the bits do
 * not depend on regions, streaming, threads or processors. Per direction and merged, a feature that is a ratio of
 * integers below 2^53 is the correctly rounded quotient: GLN, RLN, RP, LRE, HGRE, LRHGE, RV and their like, and SRE and
 * SRHGE while runs are not longer than 12. LGRE, SRLGE, LRLGE (1 / i^2 in fixed point) and RE (table of n log2 n in
 * fixed point) are within 2 units of the last place of a float. Averages add the double values in the order of Offsets.
 *
 * \par Parameters
 * | name | default | meaning |
 * |---|---|---|
 * | NumberOfGrayLevels | 32 | 1..65535 |
 * | DiscretizationMethod, BinWidth, RangeSource, RangeMinimum, RangeMaximum | as GrayLevelDiscretizationImageFilter | |
 * | NeighborhoodRadius | 2 | in voxels per axis |
 * | WindowSize, WindowAnchor | from the radius; the middle | 1..255 voxels per axis, at most 65535 voxels |
 * | Offsets | all 4 (2D) or 13 (3D) | directions with components -1, 0, 1; opposite ones are the same |
 * | Features | the eleven of Zhang et al. 2019 | any of the sixteen, in any order |
 * | Aggregation | Average | |
 * | MaskImage, InsidePixelValue | none, 1 | voxels outside interrupt runs and get BackgroundValue |
 * | BackgroundValue | 0 | |
 *
 * \par Pipeline
 * With a given range (RangeSource Given) or Identity the filter streams: it asks for the requested region padded by
 * the window. An automatic range is that of the whole image, so the filter then asks for its whole input.
 * Memory beside input and output: 2 bytes per voxel for the levels and about 1 MB per thread.
 *
 * \par Errors
 * An itk::ExceptionObject names the value for: a window of size 0, of more than 255 voxels along an axis or of more
 * than 65535 voxels, an anchor outside the window, no offset, a zero, too long or repeated offset, no feature, a
 * repeated feature, an image of vectors, a mask of another geometry, and the errors of
 * GrayLevelDiscretizationImageFilter.
 *
 * Sources: H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci Rep 9:10883 (2019);
 * Image Biomarker Standardisation Initiative reference manual, arXiv:1612.07003, section 3.7.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT RunLengthFeatureMapImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(RunLengthFeatureMapImageFilter);

  using Self = RunLengthFeatureMapImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  /** New() gives the Cuda class where a device is usable: the same bits; see VoxelMapsCudaFactory. */
  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(RunLengthFeatureMapImageFilter);

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
  using OffsetsType = std::vector<OffsetType>;
  using FeatureEnum = RunLengthFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;
  using AggregationEnum = RunLengthFeatureMapEnums::Aggregation;
  using MethodEnum = GrayLevelDiscretizationEnums::Method;
  using RangeSourceEnum = GrayLevelDiscretizationEnums::RangeSource;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "VoxelMaps filters take 2D and 3D images");
  static_assert(std::is_same<OutputImageType, VectorImage<float, ImageDimension>>::value ||
                  std::is_same<OutputImageType, VectorImage<double, ImageDimension>>::value,
                "The output is a VectorImage of float or double");

  static constexpr unsigned int MaximumWindowSize = 255;
  static constexpr unsigned int MaximumNumberOfVoxelsInWindow = 65535;

  /** Optional image of the same geometry; voxels not equal to InsidePixelValue are absent. */
  itkSetInputMacro(MaskImage, MaskImageType);
  itkGetInputMacro(MaskImage, MaskImageType);

  /** Value of the mask's inside. Default: 1. */
  itkSetMacro(InsidePixelValue, MaskPixelType);
  itkGetConstMacro(InsidePixelValue, MaskPixelType);

  /** Value of all components where there is no voxel to compute. Default: 0. */
  itkSetMacro(BackgroundValue, double);
  itkGetConstMacro(BackgroundValue, double);

  /** Gray levels; see GrayLevelDiscretizationImageFilter for the meaning and the defaults. */
  itkSetMacro(NumberOfGrayLevels, unsigned int);
  itkGetConstMacro(NumberOfGrayLevels, unsigned int);
  itkSetEnumMacro(DiscretizationMethod, MethodEnum);
  itkGetEnumMacro(DiscretizationMethod, MethodEnum);
  itkSetMacro(BinWidth, double);
  itkGetConstMacro(BinWidth, double);
  itkSetEnumMacro(RangeSource, RangeSourceEnum);
  itkGetEnumMacro(RangeSource, RangeSourceEnum);
  itkSetMacro(RangeMinimum, double);
  itkGetConstMacro(RangeMinimum, double);
  itkSetMacro(RangeMaximum, double);
  itkGetConstMacro(RangeMaximum, double);

  /** The greatest level that the last Update() could meet, and the range of its levels. */
  itkGetConstMacro(UsedNumberOfGrayLevels, unsigned int);
  itkGetConstMacro(UsedRangeMinimum, double);
  itkGetConstMacro(UsedRangeMaximum, double);

  /** Window of 2 * radius + 1 voxels around each voxel; undoes SetWindowSize and SetWindowAnchor. Default: 2. */
  virtual void
  SetNeighborhoodRadius(const SizeType & radius);
  virtual void
  SetNeighborhoodRadius(SizeValueType radius);
  itkGetConstReferenceMacro(NeighborhoodRadius, SizeType);

  /** Size of the window in voxels, instead of NeighborhoodRadius; may be even. */
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

  /** Directions of the runs. Default: GetAllOffsets(). */
  virtual void
  SetOffsets(const OffsetsType & offsets);
  itkGetConstReferenceMacro(Offsets, OffsetsType);

  /** The 4 directions in 2D, the 13 in 3D: one of each opposite pair, the x axis first. */
  static OffsetsType
  GetAllOffsets();

  /** The 4 directions in the xy plane, for 2.5D features of 3D images. */
  static OffsetsType
  GetInPlaneOffsets();

  /** Features to compute and their order. Default: the eleven of Zhang et al. (2019). */
  virtual void
  SetFeatures(const FeaturesType & features);
  itkGetConstReferenceMacro(Features, FeaturesType);

  /** Names of the output components in order: "SRE", or "SRE_1_-1_0" for one of several directions. */
  std::vector<std::string>
  GetFeatureNames() const;

  /** How directions are combined. Default: Average. */
  itkSetEnumMacro(Aggregation, AggregationEnum);
  itkGetEnumMacro(Aggregation, AggregationEnum);

protected:
  RunLengthFeatureMapImageFilter();
  ~RunLengthFeatureMapImageFilter() override = default;

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

  /** Compute all voxels of the job; what derived classes replace. */
  virtual void
  ComputeFeatureMaps(const RunLengthJob & job);

private:
  using LevelImageType = Image<unsigned short, ImageDimension>;
  using DiscretizationType = GrayLevelDiscretizationImageFilter<InputImageType, LevelImageType, MaskImageType>;

  /** The requested region padded by the window, cropped to the image. */
  InputRegionType
  GetPaddedRegion() const;

  /** Parameters of the discretization that this filter runs. */
  void
  ConfigureDiscretization(DiscretizationType * discretization) const;

  /** Job without buffers. */
  RunLengthJob
  MakeJob() const;

  MaskPixelType   m_InsidePixelValue{ NumericTraits<MaskPixelType>::OneValue() };
  double          m_BackgroundValue{ 0.0 };
  unsigned int    m_NumberOfGrayLevels{ 32 };
  MethodEnum      m_DiscretizationMethod{ MethodEnum::FixedBinNumber };
  double          m_BinWidth{ 25.0 };
  RangeSourceEnum m_RangeSource{ RangeSourceEnum::Mask };
  double          m_RangeMinimum{ 0.0 };
  double          m_RangeMaximum{ 255.0 };

  SizeType                  m_NeighborhoodRadius;
  std::optional<SizeType>   m_WindowSize;
  std::optional<OffsetType> m_WindowAnchor;
  OffsetsType               m_Offsets;
  FeaturesType              m_Features;
  AggregationEnum           m_Aggregation{ AggregationEnum::Average };

  unsigned int m_UsedNumberOfGrayLevels{ 0 };
  double       m_UsedRangeMinimum{ 0.0 };
  double       m_UsedRangeMaximum{ 0.0 };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkRunLengthFeatureMapImageFilter.hxx"
#endif

// Whoever uses this class registers the one that may take its place.
#include "itkCudaRunLengthFeatureMapImageFilter.h"

#endif // itkRunLengthFeatureMapImageFilter_h
