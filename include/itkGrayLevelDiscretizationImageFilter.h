// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkGrayLevelDiscretizationImageFilter_h
#define itkGrayLevelDiscretizationImageFilter_h

#include "itkVoxelMapsImageFilter.h"
#include "itkVoxelMapsParameters.h"

#include <type_traits>
#include <typeinfo>

namespace itk
{
/** \class GrayLevelDiscretizationImageFilter
 * \brief Turn intensities into gray levels 1..Ng, with 0 where a voxel is absent.
 *
 * Voxels outside the mask and NaN get level 0. GrayLevelDiscretizationEnums describes the methods (Method) and the
 * sources of the range of intensities (RangeSource). The range includes its maximum. Intensities outside a given range
 * are clamped to it, infinities included. An automatic range ignores NaN and infinities, and needs the
 * entire input, so that the filter produces its entire output; with a given range, and with Identity, Levels and Edges,
 * the filter streams. If all intensities of an automatic range are equal, all levels are 1. An image without voxels has
 * an output without voxels.
 *
 * \par Parameters
 * BinEdges, BinWidth and NumberOfGrayLevels choose their method, and RangeMinimum and RangeMaximum the RangeSource
 * Given, unless these are set. The last of BinEdges, BinWidth and NumberOfGrayLevels that is set replaces the others.
 * Setting DiscretizationMethod or RangeSource takes back what these do not use; it is an error to set that afterwards.
 * ClearDiscretization() restores all defaults.
 *
 * - DiscretizationMethod (FixedBinNumber): see GrayLevelDiscretizationEnums::Method. With BinEdges, the default is
 *   Edges; with BinWidth, it is FixedBinSizeAtMultiples.
 * - NumberOfGrayLevels (32): 1 to 65535; for FixedBinNumber, Identity and Levels.
 * - BinWidth (25): > 0, in units of intensity; for the two fixed bin sizes.
 * - BinEdges (none): 1 to 65535 finite numbers in ascending order; for Edges.
 * - RangeSource (Mask): see GrayLevelDiscretizationEnums::RangeSource; for FixedBinNumber and the two fixed bin sizes.
 * - RangeMinimum (0), RangeMaximum (255): used if RangeSource is Given, which is its default if they are set.
 * - InPlace (off): whether the levels replace intensities of unsigned short in the memory of the input, whose data is
 *   then released, as by itk::InPlaceImageFilter. See CanRunInPlace().
 * - Those of VoxelMapsImageFilter: MaskImage, InsidePixelValue, Device, DeviceID. Automatic is the CPU.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if the method or the source of the range does not exist, if the
 * number of levels is outside 1..65535, if the bin width or the extent of a given range is not positive and finite, if
 * the bin width leads to more than 65535 levels, if there are no edges or more than 65535, if edges are not finite or
 * not in ascending order, if a parameter is set that has no effect, if only one end of the range is set, if the range
 * has to be found but no intensity is finite, if an intensity is not an integer in 0..NumberOfGrayLevels - 1 (Identity)
 * or 0..NumberOfGrayLevels (Levels), and for the errors of VoxelMapsImageFilter.
 *
 * \par Sources
 * \cite Zwanenburg2016 section 2.7; PyRadiomics documentation of binWidth.
 *
 * \sa TextureFeatureMapImageFilter
 * \sa \python{itk.gray_level_discretization_image_filter}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage,
          typename TOutputImage = typename VoxelMapsDetail::ImageOf<TInputImage, unsigned short>::Type,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT GrayLevelDiscretizationImageFilter
  : public VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GrayLevelDiscretizationImageFilter);

  using Self = GrayLevelDiscretizationImageFilter;
  using Superclass = VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(GrayLevelDiscretizationImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::InputImageType;
  using OutputImageType = TOutputImage;
  using MethodEnum = GrayLevelDiscretizationEnums::Method;
  using RangeSourceEnum = GrayLevelDiscretizationEnums::RangeSource;

  static_assert(VoxelMapsDetail::hasIntensities<InputImageType>, VOXELMAPS_INTENSITY_RULE);
  static_assert(std::is_same<typename OutputImageType::PixelType, unsigned short>::value &&
                  VoxelMapsDetail::hasPixelsInBuffer<OutputImageType>,
                "The output must be an itk::Image of unsigned short");

  /** See Parameters above. The values whose names begin with Used are those of the last Update(): the range, and the
   * largest level that it could produce. */
  VoxelMapsDiscretizationMacros(this->m_Discretization);

  /** Whether the output takes over the memory of the input where it can. Default: off. */
  itkSetMacro(InPlace, bool);
  itkGetConstMacro(InPlace, bool);
  itkBooleanMacro(InPlace);

  /** Whether input and output are of the same type in host memory, and DiscretizationMethod is neither Identity nor
   * Levels, whose errors state intensities. The filter runs in place if, in addition, the buffer of the input is the
   * requested region. */
  virtual bool
  CanRunInPlace() const
  {
    const MethodEnum method = m_Discretization.Get().method;
    return std::is_same<InputImageType, OutputImageType>::value && !DeviceImageTraits<InputImageType>::isDeviceImage &&
           method != MethodEnum::Identity && method != MethodEnum::Levels;
  }

protected:
  GrayLevelDiscretizationImageFilter() = default;
  ~GrayLevelDiscretizationImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    m_Discretization.Print(os, indent);
    os << indent << "InPlace: " << (m_InPlace ? "On" : "Off") << std::endl;
  }
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();
    VoxelMapsDetail::CallEngine(*this, [this] { m_Discretization.Verify(); });
  }
  void
  EnlargeOutputRequestedRegion(DataObject * output) override
  {
    Superclass::EnlargeOutputRequestedRegion(output);
    if (m_Discretization.Get().NeedsWholeInput())
    {
      output->SetRequestedRegionToLargestPossibleRegion();
    }
  }
  void
  AllocateOutputs() override
  {
    m_RunsInPlace = false;
    if constexpr (std::is_same<InputImageType, OutputImageType>::value)
    {
      auto * const            input = const_cast<InputImageType *>(this->GetInput());
      OutputImageType * const output = this->GetOutput();
      if (m_InPlace && this->CanRunInPlace() && typeid(*input) == typeid(InputImageType) &&
          input->GetBufferedRegion() == output->GetRequestedRegion())
      {
        output->SetBufferedRegion(output->GetRequestedRegion());
        output->SetPixelContainer(input->GetPixelContainer());
        m_RunsInPlace = true;
        return;
      }
    }
    Superclass::AllocateOutputs();
  }
  void
  ReleaseInputs() override
  {
    Superclass::ReleaseInputs();
    if (m_RunsInPlace)
    {
      const_cast<InputImageType *>(this->GetInput())->ReleaseData();
    }
    m_RunsInPlace = false;
  }
  void
  GenerateData() override
  {
    try
    {
      VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { this->GenerateLevels(); });
    }
    catch (...)
    {
      if (m_RunsInPlace)
      {
        // The next update must not read what is no longer the input.
        this->ReleaseInputs();
      }
      throw;
    }
  }

private:
  void
  GenerateLevels()
  {
    this->UpdateProgress(0.0f);
    this->AllocateOutputs();
    const auto region = this->GetOutput()->GetRequestedRegion();
    if (region.GetNumberOfPixels() == 0)
    {
      return;
    }
    VoxelMapsDetail::JobProgress          progress(this, region.GetNumberOfPixels());
    voxelmaps::GrayLevelDiscretizationJob job;
    job.execution = VoxelMapsDetail::MakeJobExecution(this, progress);
    this->ChooseMemory(true, this->GetOutput());
    const VoxelMapsDetail::InputRegion<InputImageType> input(
      this->GetNameOfClass(), this->GetInput(), region, job.execution, this->GetMemory());
    const auto mask = this->MakeMaskBytes("the mask", this->GetMaskImage(), region, job.execution);
    job.pixels = input.GetBufferPointer();
    job.pixelType = voxelmaps::GetPixelType<typename InputImageType::PixelType>();
    job.mask = mask.get();
    job.size[2] = 1;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      job.size[d] = static_cast<std::int64_t>(region.GetSize(d));
    }
    job.parameters = m_Discretization.Get();
    VoxelMapsDetail::OutputRegion<OutputImageType> levels(this->GetOutput(), region, this->GetMemory());
    job.levels = levels.GetBufferPointer();
    // The copies to and from a device take longer than the CPU.
    const bool usesCuda = this->UsesCuda(this->GetDevice() == DeviceEnums::Device::CUDA);
    m_Discretization.used = usesCuda ? this->template CallCuda<voxelmaps::CudaOptions>([&job](const auto & options) {
      return voxelmaps::DiscretizeGrayLevelsCuda(job, options);
    })
                                     : VoxelMapsDetail::CallEngine(*this, [&job] { return DiscretizeGrayLevels(job); });
    this->SetUsedDeviceName(usesCuda ? CudaDevices::GetName(this->GetMemory().options.deviceID) : "CPU");
    this->UpdateProgress(1.0f);
  }

  VoxelMapsDetail::DiscretizationSettings m_Discretization;
  bool                                    m_InPlace{ false };
  bool                                    m_RunsInPlace{ false };
};
} // namespace itk

#endif // itkGrayLevelDiscretizationImageFilter_h
