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
#ifndef itkGrayLevelDiscretizationImageFilter_h
#define itkGrayLevelDiscretizationImageFilter_h

#include "itkGrayLevelDiscretizationEnums.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkVoxelMapsCompatibility.h"

#include <mutex>
#include <optional>

namespace itk
{
/** \class GrayLevelDiscretizationImageFilter
 * \brief Turn intensities into gray levels 1..Ng, with 0 where there is no voxel to count.
 *
 * Level 0 is given to voxels outside the mask and to NaN. The method (Method) and the range of intensities
 * (RangeSource) are described in GrayLevelDiscretizationEnums. The maximum of the range is inclusive. Intensities
 * outside a given range are clamped to it, infinities included. An automatic range ignores NaN and infinities, and
 * makes the filter ask for its whole input; with a given range (and with Identity) it streams. If all intensities of an
 * automatic range are equal, all levels are 1.
 *
 * Intensities are computed with in double precision, so 64-bit integers beyond 2^53 lose their last digits.
 *
 * \par Parameters
 * | name | default | meaning |
 * |---|---|---|
 * | Method | FixedBinNumber | see GrayLevelDiscretizationEnums::Method |
 * | NumberOfGrayLevels | 32 | 1..65535; for FixedBinNumber and Identity |
 * | BinWidth | 25 | > 0, in units of intensity; for the two fixed bin sizes |
 * | RangeSource | Mask | see GrayLevelDiscretizationEnums::RangeSource; unused by Identity |
 * | RangeMinimum, RangeMaximum | 0, 255 | used if RangeSource is Given |
 * | MaskImage, InsidePixelValue | none, 1 | voxels whose mask value differs from InsidePixelValue get level 0 |
 *
 * \par Errors
 * An itk::ExceptionObject names the value for: a number of levels outside 1..65535, a bin width or range that is not
 * positive and finite, a bin width that needs more than 65535 levels, levels that the output's pixel type cannot hold,
 * a mask of another geometry, an image without a finite intensity whose range is to be found (an empty mask gives level
 * 0 everywhere instead), and (Identity) an intensity that is not an integer 0..NumberOfGrayLevels - 1.
 *
 * Source: A. Zwanenburg et al., Image Biomarker Standardisation Initiative reference manual, arXiv:1612.07003, section
 * 2.7; PyRadiomics documentation of binWidth.
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
  static_assert(std::is_integral<OutputPixelType>::value && sizeof(OutputPixelType) >= 2,
                "Gray levels need an integer type of at least 16 bits");

  static constexpr unsigned int MaximumNumberOfGrayLevels = 65535;

  /** Optional image of the same geometry; voxels not equal to InsidePixelValue get level 0. */
  itkSetInputMacro(MaskImage, MaskImageType);
  itkGetInputMacro(MaskImage, MaskImageType);

  /** Value of the mask's inside. Default: 1. */
  itkSetMacro(InsidePixelValue, MaskPixelType);
  itkGetConstMacro(InsidePixelValue, MaskPixelType);

  /** Rule that maps intensities to levels. Default: FixedBinNumber. */
  itkSetEnumMacro(Method, MethodEnum);
  itkGetEnumMacro(Method, MethodEnum);

  /** Number of levels of FixedBinNumber and Identity, 1..65535. Default: 32. */
  itkSetMacro(NumberOfGrayLevels, unsigned int);
  itkGetConstMacro(NumberOfGrayLevels, unsigned int);

  /** Width of a bin in units of intensity, > 0. Default: 25. */
  itkSetMacro(BinWidth, double);
  itkGetConstMacro(BinWidth, double);

  /** Where the range comes from. Default: Mask (the whole image if there is no mask). */
  itkSetEnumMacro(RangeSource, RangeSourceEnum);
  itkGetEnumMacro(RangeSource, RangeSourceEnum);

  /** Given range, both ends inclusive. Default: 0 and 255. */
  itkSetMacro(RangeMinimum, double);
  itkGetConstMacro(RangeMinimum, double);
  itkSetMacro(RangeMaximum, double);
  itkGetConstMacro(RangeMaximum, double);

  /** The range that the last Update() used. */
  itkGetConstMacro(UsedRangeMinimum, double);
  itkGetConstMacro(UsedRangeMaximum, double);

  /** The greatest level that the last Update() could give: NumberOfGrayLevels, or what bin width and range imply. */
  itkGetConstMacro(UsedNumberOfGrayLevels, unsigned int);

  /** Whether the result of any region depends on the whole input. */
  bool
  NeedsWholeInput() const
  {
    return m_Method != MethodEnum::Identity && m_RangeSource != RangeSourceEnum::Given;
  }

  /** Throw an itk::ExceptionObject if a parameter breaks its rule. */
  void
  VerifyParameters() const;

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
  BeforeThreadedGenerateData() override;
  void
  DynamicThreadedGenerateData(const OutputRegionType & region) override;
  void
  AfterThreadedGenerateData() override;

private:
  /** Least and greatest finite intensity of the buffered input, inside the mask if it is to be respected. */
  void
  ComputeRange(bool respectMask);

  MethodEnum      m_Method{ MethodEnum::FixedBinNumber };
  RangeSourceEnum m_RangeSource{ RangeSourceEnum::Mask };
  MaskPixelType   m_InsidePixelValue{ NumericTraits<MaskPixelType>::OneValue() };
  unsigned int    m_NumberOfGrayLevels{ 32 };
  double          m_BinWidth{ 25.0 };
  double          m_RangeMinimum{ 0.0 };
  double          m_RangeMaximum{ 255.0 };

  // ITK 5.2.1 loses exceptions of threads, so what breaks the rule of Identity is kept until they are done.
  std::mutex            m_Mutex;
  std::optional<double> m_NoGrayLevel;

  double       m_UsedRangeMinimum{ 0.0 };
  double       m_UsedRangeMaximum{ 0.0 };
  unsigned int m_UsedNumberOfGrayLevels{ 0 };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGrayLevelDiscretizationImageFilter.hxx"
#endif

#endif // itkGrayLevelDiscretizationImageFilter_h
