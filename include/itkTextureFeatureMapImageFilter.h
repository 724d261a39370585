// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureFeatureMapImageFilter_h
#define itkTextureFeatureMapImageFilter_h

#include "itkVectorImage.h"
#include "itkVoxelMapsImageFilter.h"
#include "itkVoxelMapsParameters.h"

#include <algorithm>
#include <string>
#include <typeinfo>
#include <vector>

namespace itk
{
/** \class TextureFeatureMapImageFilter
 * \brief Base of the filters that compute texture features of the window around every voxel.
 *
 * It implements what all texture filters have in common: gray levels, window, output and pipeline. Derived classes
 * define the features. The names of the features are also in the metadata of the outputs, as "FeatureNames", separated
 * by commas.
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
 * - DiscretizationMethod (FixedBinNumber), NumberOfGrayLevels (32), BinWidth (25), BinEdges (none), RangeSource (Mask),
 *   RangeMinimum (0), RangeMaximum (255): see GrayLevelDiscretizationImageFilter.
 * - NeighborhoodRadius (2): voxels to each side of a voxel, per axis.
 * - WindowSize (from the radius): 1 to 255 voxels per axis, and at most 65535 voxels in total.
 * - WindowAnchor (size / 2, rounded down): 0 to size - 1 per axis.
 * - SelectionImage (none): see above. Which of its voxels are selected is decided as for masks, with the same
 *   InsidePixelValue.
 * - BackgroundValue (0): value of voxels for which no features are computed.
 * - OtherDeviceIDs (none): further CUDA devices, which compute parts of the maps at the same time.
 * - Method (empty): name of the method of computation, one of GetAvailableMethods(). It affects run time, not the
 *   result. Empty chooses the fastest one; it is an error if the method does not support the other parameters.
 * - Those of VoxelMapsImageFilter: MaskImage, InsidePixelValue, Device, DeviceID, DeviceMemoryBudget.
 *
 * \par Pipeline
 * The filter streams if it does not have to determine the intensity range (RangeSource Given, or DiscretizationMethod
 * Identity, Levels or Edges): it requests the requested region of its output, padded by the window. An automatic range
 * depends on the entire image, so the filter then requests its entire input. Masks and selections are requested
 * entirely. Memory in addition to input and output: 2 bytes per voxel for the levels, 1 byte per voxel for a mask and
 * for a selection, about 1 MB per thread, and copies of the padded regions of images that are larger. An image without
 * voxels has an output without voxels.
 *
 * \par Outputs
 * The features are the components of a VectorImage, the default, or, if TOutputImage is an Image of float or double,
 * one image for each: GetOutput(i) in the order of GetFeatureNames(), or GetFeatureMap("glcm_Contrast"). They have the
 * same bits, and one update computes all of them. These images share one block of memory, which the last of them frees.
 * Other features make other images of the outputs with the same numbers, and disconnect superfluous outputs.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if the window has no voxels, more than 255 voxels along an axis
 * or more than 65535 voxels in total, if the anchor is outside the window, if there is no feature, or one does not
 * exist or is repeated, if a finite BackgroundValue is too large for the output type, if there is not enough memory
 * (itk::MemoryAllocationError), and for the errors of VoxelMapsImageFilter and GrayLevelDiscretizationImageFilter.
 *
 * \sa CooccurrenceFeatureMapImageFilter, DependenceFeatureMapImageFilter, FirstOrderFeatureMapImageFilter,
 * GrayToneDifferenceFeatureMapImageFilter, RunLengthFeatureMapImageFilter, SizeZoneFeatureMapImageFilter,
 * GrayLevelDiscretizationImageFilter
 * \sa \python{voxelmaps.feature_maps}, \python{voxelmaps.describe}, \python{voxelmaps.FeatureMapsd},
 * \python{voxelmaps.radiomics.execute}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VoxelMapsDetail::MapImageOf<TInputImage>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT TextureFeatureMapImageFilter
  : public VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(TextureFeatureMapImageFilter);

  using Self = TextureFeatureMapImageFilter;
  using Superclass = VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(TextureFeatureMapImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::InputImageType;
  using typename Superclass::InputRegionType;
  using typename Superclass::MaskImageType;
  using InputPixelType = typename InputImageType::PixelType;
  using OutputImageType = TOutputImage;
  using OutputRegionType = typename OutputImageType::RegionType;
  using OutputValueType = typename OutputImageType::InternalPixelType;
  using SizeType = typename InputImageType::SizeType;
  using OffsetType = typename InputImageType::OffsetType;
  using MethodEnum = GrayLevelDiscretizationEnums::Method;
  using RangeSourceEnum = GrayLevelDiscretizationEnums::RangeSource;

  static_assert(VoxelMapsDetail::hasIntensities<InputImageType>, VOXELMAPS_INTENSITY_RULE);
  static_assert((std::is_same<OutputValueType, float>::value || std::is_same<OutputValueType, double>::value) &&
                  VoxelMapsDetail::hasPixelsInBuffer<OutputImageType>,
                "The output is a VectorImage of float or double, or an Image of float or double for each feature");

  /** Optional image of the same geometry; features are computed only for its voxels that are inside. */
  itkSetInputMacro(SelectionImage, MaskImageType);
  itkGetInputMacro(SelectionImage, MaskImageType);

  /** Value of all components of voxels for which no features are computed. Default: 0. */
  VoxelMapsSetGetMacro(BackgroundValue, double, this->m_Parameters.backgroundValue);

  /** Parameters of the gray levels; see GrayLevelDiscretizationImageFilter for their meaning and defaults. The values
   * whose names begin with Used are those of the last Update(). */
  VoxelMapsDiscretizationMacros(this->m_Parameters.discretization);

#if !defined(ITK_WRAPPING_PARSER)
  // In Python, voxelmaps.feature_maps uses several devices.
  /** Numbers of further CUDA devices. Default: none. */
  VoxelMapsSetGetMacro(OtherDeviceIDs, std::vector<int>, this->m_Parameters.otherDeviceIDs);
#endif

  /** Name of the method of computation; empty for the fastest one. Default: empty. */
  VoxelMapsSetGetMacro(Method, std::string, this->m_Parameters.method);

  /** Names of the methods that support the parameters on the device of the filter, the one that an empty Method chooses
   * first. Where the number of gray levels depends on the image, it is that of the last Update(), and 32 before it.
   * With several classes, these are the names that all of them have. The methods are described in the documentation of
   * the jobs, such as voxelmaps::RunLengthJob. */
  virtual std::vector<std::string>
  GetAvailableMethods() const
  {
    const int         deviceID = this->GetDeviceID();
    voxelmaps::Triple size{ { 1, 1, 1 } };
    if (this->GetInput() != nullptr)
    {
      const auto inputSize = this->GetInput()->GetLargestPossibleRegion().GetSize();
      std::copy(inputSize.begin(), inputSize.end(), size.begin());
    }
    return VoxelMapsDetail::CallEngine(
      *this, [&] { return m_Parameters.GetAvailableMethods(size, this->AllowsCuda() ? &deviceID : nullptr); });
  }

  /** Radius of the window, which has 2 * radius + 1 voxels along each axis. Replaces the values set by SetWindowSize
   * and SetWindowAnchor. Default: 2. */
  virtual void
  SetNeighborhoodRadius(const SizeType & radius)
  {
    const voxelmaps::Triple triple = Self::ToTriple(radius);
    if (m_Parameters.radius != triple || m_Parameters.windowSize || m_Parameters.windowAnchor)
    {
      m_Parameters.radius = triple;
      m_Parameters.windowSize.reset();
      m_Parameters.windowAnchor.reset();
      this->Modified();
    }
  }
  virtual void
  SetNeighborhoodRadius(SizeValueType radius)
  {
    this->SetNeighborhoodRadius(SizeType::Filled(radius));
  }
  virtual SizeType
  GetNeighborhoodRadius() const
  {
    return Self::template FromTriple<SizeType>(m_Parameters.radius);
  }

  /** Size of the window in voxels, which replaces NeighborhoodRadius; may be even. */
  virtual void
  SetWindowSize(const SizeType & size)
  {
    this->SetIfDifferent(m_Parameters.windowSize, Self::ToTriple(size));
  }
  virtual void
  SetWindowSize(SizeValueType size)
  {
    this->SetWindowSize(SizeType::Filled(size));
  }
  virtual SizeType
  GetWindowSize() const
  {
    return Self::template FromTriple<SizeType>(m_Parameters.GetWindowSize());
  }

  /** Position of the voxel in its window, 0 ... size - 1 per axis. Default: size / 2, rounded down. */
  virtual void
  SetWindowAnchor(const OffsetType & anchor)
  {
    this->SetIfDifferent(m_Parameters.windowAnchor, Self::ToTriple(anchor));
  }
  virtual OffsetType
  GetWindowAnchor() const
  {
    return Self::template FromTriple<OffsetType>(m_Parameters.GetWindowAnchor());
  }

  /** Select features by name, in the order of the output components: abbreviations ("SRE"), full names
   * ("ShortRunEmphasis") or names in PyRadiomics, whose class may stand in front ("glrlm_ShortRunEmphasis"). Case does
   * not matter. Throws an itk::ExceptionObject for a name that is not one of these. */
  virtual void
  SetFeatureNames(const std::vector<std::string> & names)
  {
    if (VoxelMapsDetail::CallEngine(*this, [&] { return m_Parameters.SetFeatureNames(names); }))
    {
      this->UpdateNumberOfOutputs();
      this->Modified();
    }
  }

  /** Names of the output components in order: the abbreviations of the features, unless a class has several components
   * for a feature. */
  virtual std::vector<std::string>
  GetFeatureNames() const
  {
    return m_Parameters.GetFeatureNames();
  }

  /** Number of the component, or of the output, with this name: one of GetFeatureNames(), or any that SetFeatureNames()
   * accepts for the feature. Throws an itk::ExceptionObject if it is not one of them. */
  virtual unsigned int
  GetFeatureIndex(const std::string & name) const
  {
    return VoxelMapsDetail::CallEngine(*this, [&] { return m_Parameters.GetFeatureIndex(name); });
  }

  /** The output of a feature, where each is an image: GetOutput(GetFeatureIndex(name)). */
  template <typename TImage = OutputImageType>
  TImage *
  GetFeatureMap(const std::string & name)
  {
    static_assert(!VoxelMapsDetail::isVectorImage<TImage>,
                  "The maps are components of one output: choose an itk::Image as the type of the output");
    return this->GetOutput(this->GetFeatureIndex(name));
  }

protected:
  /** The name in PyRadiomics of the class of the filter; empty if it has all classes. */
  explicit TextureFeatureMapImageFilter(const char * className)
    : m_Parameters(className, ImageDimension, std::is_same<OutputValueType, double>::value)
  {
    this->AddOptionalInputName("SelectionImage");
    this->UpdateNumberOfOutputs();
  }
  ~TextureFeatureMapImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    m_Parameters.Print(os, indent);
  }
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();
    VoxelMapsDetail::CallEngine(*this, [this] { m_Parameters.Verify(); });
  }
  bool
  HasMask() const override
  {
    return Superclass::HasMask() || this->GetSelectionImage() != nullptr;
  }
  void
  VerifyInputInformation() const override
  {
    Superclass::VerifyInputInformation();
    this->VerifySameGrid("the selection", this->GetSelectionImage());
  }
  void
  GenerateOutputInformation() override
  {
    Superclass::GenerateOutputInformation();
    const std::vector<std::string> names = this->GetFeatureNames();
    if constexpr (hasOneOutput)
    {
      this->GetOutput()->SetNumberOfComponentsPerPixel(static_cast<unsigned int>(names.size()));
      VoxelMapsDetail::SetFeatureNames(this->GetOutput()->GetMetaDataDictionary(), names);
    }
    for (unsigned int map = 0; !hasOneOutput && map < names.size(); ++map)
    {
      VoxelMapsDetail::SetFeatureNames(this->GetOutput(map)->GetMetaDataDictionary(), { names[map] });
    }
  }
  void
  AllocateOutputs() override;
  void
  GenerateInputRequestedRegion() override
  {
    Superclass::GenerateInputRequestedRegion();
    const_cast<InputImageType *>(this->GetInput())->SetRequestedRegion(this->GetInputRegion());
    if (this->GetSelectionImage() != nullptr)
    {
      const_cast<MaskImageType *>(this->GetSelectionImage())->SetRequestedRegionToLargestPossibleRegion();
    }
  }
  void
  GenerateData() override
  {
    VoxelMapsDetail::ReportMemoryErrors(
      *this,
      *this->GetOutput(),
      [this] { this->GenerateFeatureMaps(); },
      static_cast<unsigned int>(this->GetNumberOfIndexedOutputs()));
  }

  /** Set a parameter, and call Modified() if that changes it. */
  template <typename TParameter, typename TValue>
  void
  SetIfDifferent(TParameter & parameter, const TValue & value)
  {
    if (parameter != value)
    {
      parameter = value;
      this->UpdateNumberOfOutputs();
      this->Modified();
    }
  }

  /** Set the parameter of the classes with this name, and call Modified() if that changes it. */
  template <typename TValue>
  void
  SetParameter(const char * name, const TValue & value)
  {
    if (m_Parameters.Set(name, value))
    {
      this->UpdateNumberOfOutputs();
      this->Modified();
    }
  }

  // Those of all classes. A derived class has the setters of its own.
  VoxelMapsDetail::TextureParameters m_Parameters;

private:
  template <typename TArray>
  static voxelmaps::Triple
  ToTriple(const TArray & array)
  {
    voxelmaps::Triple triple{ { 0, 0, 0 } };
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      triple[d] = static_cast<std::int64_t>(array[d]);
    }
    return triple;
  }
  template <typename TArray>
  static TArray
  FromTriple(const voxelmaps::Triple & triple)
  {
    TArray array;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      array[d] = static_cast<std::decay_t<decltype(array[d])>>(triple[d]);
    }
    return array;
  }

  static constexpr bool hasOneOutput = VoxelMapsDetail::isVectorImage<OutputImageType>;

  /** Whether the maps are images that share memory: those of classes with memory of their own do not. */
  bool
  HasSharedBlock() const
  {
    const OutputImageType & output = *this->GetOutput();
    return !hasOneOutput && !DeviceImageTraits<OutputImageType>::isDeviceImage &&
           typeid(output) == typeid(OutputImageType);
  }

  /** Have one output for each feature, unless they are components of one. */
  void
  UpdateNumberOfOutputs();

  /** The input that the requested region of the output depends on: all of it, or that region padded by the window. */
  InputRegionType
  GetInputRegion() const;

  /** Compute the requested region of the output. */
  void
  GenerateFeatureMaps();
};
} // namespace itk

/** Set and get the features of the class of a filter, which has the types FeatureEnum and FeaturesType. */
#define VoxelMapsFeaturesMacro()                                                                                       \
  virtual void SetFeatures(const FeaturesType & features)                                                              \
  {                                                                                                                    \
    std::vector<unsigned int> numbers;                                                                                 \
    for (const FeatureEnum feature : features)                                                                         \
    {                                                                                                                  \
      numbers.push_back(static_cast<unsigned int>(feature));                                                           \
    }                                                                                                                  \
    this->SetIfDifferent(this->m_Parameters.classes[0].features, numbers);                                             \
  }                                                                                                                    \
  virtual FeaturesType GetFeatures() const                                                                             \
  {                                                                                                                    \
    FeaturesType features;                                                                                             \
    for (const unsigned int feature : this->m_Parameters.classes[0].features)                                          \
    {                                                                                                                  \
      features.push_back(static_cast<FeatureEnum>(feature));                                                           \
    }                                                                                                                  \
    return features;                                                                                                   \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** Set and get the parameter of the classes of a filter that has this name. */
#define VoxelMapsParameterMacro(name, type)                                                                            \
  virtual void Set##name(const type & value)                                                                           \
  {                                                                                                                    \
    this->SetParameter(#name, value);                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return *this->m_Parameters.template Find<type>(#name);                                                             \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** Set and get offsets: all, or one by one, such as for Python. SetOffset() replaces all that are set, AddOffset() adds
 * one to these. */
#define VoxelMapsOffsetsMacro()                                                                                        \
  virtual void SetOffsets(const OffsetsType & offsets)                                                                 \
  {                                                                                                                    \
    this->SetParameter("Offsets", VoxelMapsDetail::ToTriples(offsets));                                                \
  }                                                                                                                    \
  virtual OffsetsType GetOffsets() const                                                                               \
  {                                                                                                                    \
    return VoxelMapsDetail::FromTriples<OffsetType>(                                                                   \
      *this->m_Parameters.template Find<std::vector<voxelmaps::Triple>>("Offsets"));                                   \
  }                                                                                                                    \
  void SetOffset(const OffsetType & offset)                                                                            \
  {                                                                                                                    \
    this->SetOffsets({ offset });                                                                                      \
  }                                                                                                                    \
  void AddOffset(const OffsetType & offset)                                                                            \
  {                                                                                                                    \
    OffsetsType offsets = this->GetOffsets();                                                                          \
    offsets.push_back(offset);                                                                                         \
    this->SetOffsets(offsets);                                                                                         \
  }                                                                                                                    \
  void ClearOffsets()                                                                                                  \
  {                                                                                                                    \
    this->SetOffsets({});                                                                                              \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkTextureFeatureMapImageFilter.hxx"
#endif

#endif // itkTextureFeatureMapImageFilter_h
