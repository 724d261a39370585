// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkResponseMapImageFilter_h
#define itkResponseMapImageFilter_h

#include "itkVoxelMapsDeviceImageFilter.h"
#include "itkVoxelMapsParameters.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
/** \class ResponseMapImageFilter
 * \brief Response maps of the filters of the Image Biomarker Standardisation Initiative (IBSI 2).
 *
 * The filters are the mean of a box, the Laplacian of a Gaussian, Laws kernels and their energy, Gabor filters, and
 * subbands of undecimated separable wavelet transforms. The Laplacian of a Gaussian is a sampled one without
 * normalization across scale, other than that of itk::LaplacianRecursiveGaussianImageFilter. In a 3D image, filters are
 * those of volumes, or of planes across z with FilterDimension 2.
 *
 * Laws kernels and wavelets can be made rotation invariant: Pooling combines the responses to all rotations of the
 * filter by right angles, 24 of volumes and 4 of planes, of which those that are equal count once.
 *
 * Lengths are in the unit of the spacing; the direction of the image does not matter. NaN and infinity spread as far as
 * the filter reaches.
 *
 * \par Parameters
 * - Filter (Mean): see ResponseMapEnums::Filter.
 * - Boundary (Mirror): what voxels beyond the ends of the image are; see ResponseMapEnums::Boundary.
 * - FilterDimension (that of the image): 2 or 3.
 * - Pooling (None): for Laws and Wavelet; see ResponseMapEnums::Pooling.
 * - SupportSize (5): for Mean, voxels of the box along each axis; odd.
 * - Sigma (0, must be set): for LaplacianOfGaussian and Gabor, standard deviation.
 * - Cutoff (4): for LaplacianOfGaussian, truncation of the kernel, in sigmas.
 * - Kernels (none): for Laws, names along x, y and z, such as "E5L5S5", or "L5S5" with FilterDimension 2.
 * - ComputeEnergy (off): for Laws; the map is the mean of the absolute (and pooled) response over EnergyDistance (7)
 *   voxels on both sides along each axis.
 * - Wavelength (0, must be set), Gamma (1), Angle (0), AngleStep (0): for Gabor, whose kernel ends after 6 sigmas.
 *   Gamma is the standard deviation along the wave divided by that across it. Angles are in radians, from the first
 *   axis of the plane to the second. With an AngleStep, the map is the mean over angles in these steps, in the planes
 *   xy and, with FilterDimension 3, xz and yz; without, there is one angle in the planes xy.
 * - Wavelet ("coif1"): for Wavelet, "haar", "db2", "db3" or "coif1". LowPassFilter and HighPassFilter (none) are the
 *   numbers of any other wavelet, in the order of PyWavelets' dec_lo and dec_hi; without the latter, it is the
 *   quadrature mirror filter of the former.
 * - Subband (none): for Wavelet, letters along x, y and z, such as "LHL", or "LH" with FilterDimension 2.
 * - Level (1): for Wavelet, 1 to 16.
 * - Those of VoxelMapsDeviceImageFilter: Device, DeviceID, DeviceMemoryBudget.
 *
 * \par Pipeline
 * Results have the same bits on the CPU and CUDA devices and for all requested regions: the filter streams. It requests
 * the requested region of its output, padded by what the kernels reach; with the boundary Periodic, the entire length
 * of the axes whose ends the kernels reach beyond. Arithmetic is that of doubles. Memory in addition to input and
 * output is 1 to 4 doubles per voxel, or up to 7 for Wavelet with Pooling Maximum and a Level above 1. These are voxels
 * of the requested region and of the padding that later filters and the energy read. For Gabor, each thread of the CPU
 * has (32 + 2 r) (n + 2 r) doubles more, for rows of n voxels and kernels that reach r voxels. Images that do not fit
 * into the memory of a device are an error, so that they must be streamed. An image without voxels has an output
 * without voxels.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if a parameter is invalid, is needed but not set, or differs from
 * its default but has no effect on the Filter, if the computation needs more memory than the machine has (the message
 * says how much; itk::StreamingImageFilter reduces it), if an allocation fails (itk::MemoryAllocationError), if the
 * requested region is not within the image (itk::InvalidRequestedRegionError), and for the errors of
 * VoxelMapsDeviceImageFilter.
 *
 * \par Sources
 * \cite Depeursinge2020 section 3.
 *
 * \sa LaplacianRecursiveGaussianImageFilter, FirstOrderFeatureMapImageFilter
 * \sa \python{itk.response_map_image_filter}, \python{voxelmaps.response_map}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = typename VoxelMapsDetail::ImageOf<TInputImage, float>::Type>
class ITK_TEMPLATE_EXPORT ResponseMapImageFilter : public VoxelMapsDeviceImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(ResponseMapImageFilter);

  using Self = ResponseMapImageFilter;
  using Superclass = VoxelMapsDeviceImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(ResponseMapImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::InputImageType;
  using typename Superclass::InputRegionType;
  using OutputImageType = TOutputImage;
  using OutputPixelType = typename OutputImageType::PixelType;
  using FilterEnum = ResponseMapEnums::Filter;
  using BoundaryEnum = FilterImageEnums::Boundary;
  using PoolingEnum = ResponseMapEnums::Pooling;

  static_assert(VoxelMapsDetail::hasIntensities<InputImageType>, VOXELMAPS_INTENSITY_RULE);
  static_assert((std::is_same<OutputPixelType, float>::value || std::is_same<OutputPixelType, double>::value) &&
                  VoxelMapsDetail::hasPixelsInBuffer<OutputImageType>,
                "The output must be an itk::Image of float or double");

  /** The filter. Default: Mean. */
  VoxelMapsSetGetMacro(Filter, FilterEnum, this->m_Parameters.filter);

  /** What voxels beyond the ends of the image are. Default: Mirror. */
  VoxelMapsSetGetMacro(Boundary, BoundaryEnum, this->m_Parameters.boundary);

  /** 3 to filter volumes, 2 to filter each plane across z. Default: the dimension of the image. */
  VoxelMapsSetGetMacro(FilterDimension, unsigned int, this->m_Parameters.filterDimension);

  /** How the responses to the rotations of Laws kernels and wavelets are combined. Default: None, no rotations. */
  VoxelMapsSetGetMacro(Pooling, PoolingEnum, this->m_Parameters.pooling);

  /** For Mean: voxels of the box along each axis, an odd number. Default: 5. */
  VoxelMapsSetGetMacro(SupportSize, unsigned int, this->m_Parameters.supportSize);

  /** For LaplacianOfGaussian and Gabor: standard deviation in the unit of the spacing. It has no default. */
  VoxelMapsSetGetMacro(Sigma, double, this->m_Parameters.sigma);

  /** For LaplacianOfGaussian: truncation of the kernel, in sigmas. Default: 4. */
  VoxelMapsSetGetMacro(Cutoff, double, this->m_Parameters.cutoff);

  /** For Laws: names of kernels along x, y and z: L5, E5, S5, W5, R5, L3, E3, S3. It has no default. */
  VoxelMapsSetGetMacro(Kernels, std::string, this->m_Parameters.kernels);

  /** For Laws: whether the map is the energy of the response. Default: off. */
  VoxelMapsSetGetMacro(ComputeEnergy, bool, this->m_Parameters.computeEnergy);
  itkBooleanMacro(ComputeEnergy);

  /** For Laws: radius of the energy in voxels along each axis. Default: 7. */
  VoxelMapsSetGetMacro(EnergyDistance, unsigned int, this->m_Parameters.energyDistance);

  /** For Gabor: wavelength in the unit of the spacing. It has no default. */
  VoxelMapsSetGetMacro(Wavelength, double, this->m_Parameters.wavelength);

  /** For Gabor: standard deviation along the wave divided by that across it. Default: 1. */
  VoxelMapsSetGetMacro(Gamma, double, this->m_Parameters.gamma);

  /** For Gabor: angle of the wave in radians, from the first axis of the plane to the second. Default: 0. */
  VoxelMapsSetGetMacro(Angle, double, this->m_Parameters.angle);

  /** For Gabor: steps in radians of the angles over which the mean is computed; 0 for one angle. Default: 0. */
  VoxelMapsSetGetMacro(AngleStep, double, this->m_Parameters.angleStep);

  /** For Wavelet: the name of the wavelet. Default: "coif1". */
  VoxelMapsSetGetMacro(Wavelet, std::string, this->m_Parameters.wavelet);

  /** For Wavelet: the low-pass filter of the decomposition, instead of the name of a wavelet. Default: none. */
  VoxelMapsSetGetMacro(LowPassFilter, std::vector<double>, this->m_Parameters.lowPassFilter);

  /** For Wavelet: the high-pass filter to the LowPassFilter. Default: its quadrature mirror filter. */
  VoxelMapsSetGetMacro(HighPassFilter, std::vector<double>, this->m_Parameters.highPassFilter);

  /** For Wavelet: L for low-pass and H for high-pass along x, y and z. It has no default. */
  VoxelMapsSetGetMacro(Subband, std::string, this->m_Parameters.subband);

  /** For Wavelet: the level of the decomposition. Default: 1. */
  VoxelMapsSetGetMacro(Level, unsigned int, this->m_Parameters.level);

protected:
  ResponseMapImageFilter() { m_Parameters.filterDimension = ImageDimension; }
  ~ResponseMapImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    VoxelMapsDetail::PrintResponseMapParameters(os, indent, m_Parameters);
  }
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();
    VoxelMapsDetail::CallEngine(*this, [this] { m_Parameters.Verify(); });
    if (m_Parameters.filterDimension > ImageDimension)
    {
      itkExceptionMacro("FilterDimension is " << m_Parameters.filterDimension << ", but the image has "
                                              << ImageDimension << " dimensions: set FilterDimension to 2.");
    }
  }
  void
  GenerateInputRequestedRegion() override
  {
    Superclass::GenerateInputRequestedRegion();
    if (!this->GetOutput()->VerifyRequestedRegion())
    {
      // ITK throws an InvalidRequestedRegionError.
      return;
    }
    const_cast<InputImageType *>(this->GetInput())->SetRequestedRegion(this->GetInputRegion());
  }
  void
  GenerateData() override
  {
    VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { this->GenerateResponseMap(); });
  }

private:
  /** A job for the requested region of the output, in a region of the input. */
  voxelmaps::ResponseMapJob
  MakeJob(const InputRegionType & inputRegion) const
  {
    const auto                region = this->GetOutput()->GetRequestedRegion();
    voxelmaps::ResponseMapJob job;
    job.parameters = m_Parameters;
    job.pixelType = voxelmaps::GetPixelType<typename InputImageType::PixelType>();
    job.size = job.outputSize = { { 1, 1, 1 } };
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      job.size[d] = static_cast<std::int64_t>(inputRegion.GetSize(d));
      job.outputIndex[d] = region.GetIndex(d) - inputRegion.GetIndex(d);
      job.outputSize[d] = static_cast<std::int64_t>(region.GetSize(d));
      job.spacing[d] = this->GetInput()->GetSpacing()[d];
    }
    return job;
  }

  /** What the requested region of the output depends on. */
  InputRegionType
  GetInputRegion() const
  {
    InputRegionType region = this->GetInput()->GetLargestPossibleRegion();
    const auto      part =
      VoxelMapsDetail::CallEngine(*this, [&] { return voxelmaps::GetResponseMapInput(this->MakeJob(region)); });
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      region.SetIndex(d, region.GetIndex(d) + part.index[d]);
      region.SetSize(d, static_cast<SizeValueType>(part.size[d]));
    }
    return region;
  }

  void
  GenerateResponseMap()
  {
    this->UpdateProgress(0.0f);
    this->AllocateOutputs();
    const auto region = this->GetOutput()->GetRequestedRegion();
    if (region.GetNumberOfPixels() == 0)
    {
      return;
    }
    VoxelMapsDetail::JobProgress progress(this, region.GetNumberOfPixels());
    const InputRegionType        inputRegion = this->GetInputRegion();
    voxelmaps::ResponseMapJob    job = this->MakeJob(inputRegion);
    job.execution = VoxelMapsDetail::MakeJobExecution(this, progress);
    this->ChooseMemory(true, this->GetOutput());
    const VoxelMapsDetail::InputRegion<InputImageType> input(
      this->GetNameOfClass(), this->GetInput(), inputRegion, job.execution, this->GetMemory());
    VoxelMapsDetail::OutputRegion<OutputImageType> output(this->GetOutput(), region, this->GetMemory());
    job.pixels = input.GetBufferPointer();
    job.output = output.GetBufferPointer();
    job.outputIsDouble = std::is_same<OutputPixelType, double>::value;
    if (this->UsesCuda())
    {
      this->template CallCuda<voxelmaps::CudaOptions>(
        [&job](const auto & options) { voxelmaps::ComputeResponseMapCuda(job, options); });
      this->SetUsedDeviceName(CudaDevices::GetName(this->GetMemory().options.deviceID));
    }
    else
    {
      VoxelMapsDetail::CallEngine(*this, [&job] { voxelmaps::ComputeResponseMap(job); });
      this->SetUsedDeviceName("CPU");
    }
    this->UpdateProgress(1.0f);
  }

  voxelmaps::ResponseMapParameters m_Parameters;
};
} // namespace itk

#endif // itkResponseMapImageFilter_h
