// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFuzzyConnectednessImageFilterBase_h
#define itkFuzzyConnectednessImageFilterBase_h

#include "itkVoxelMapsImageFilter.h"
#include "itkFixedArray.h"
#include "itkVariableLengthVector.h"
#include "itkVoxelMapsImageFilter.h"
#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessAffinityEstimate.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
namespace VoxelMapsDetail
{
/** \class PixelComponents
 * \brief The type of the components of a pixel, and their number: 0 for scalars and where the image knows it.
 *
 * \ingroup VoxelMaps
 */
template <typename TComponent, bool VIsVector, unsigned int VNumber>
struct PixelComponents
{
  using Type = TComponent;
  static constexpr bool         isVector = VIsVector;
  static constexpr unsigned int number = VNumber;
};

template <typename TComponent, unsigned int VLength>
PixelComponents<TComponent, true, VLength>
GetPixelComponents(const FixedArray<TComponent, VLength> *);
template <typename TComponent>
PixelComponents<TComponent, true, 0>
GetPixelComponents(const VariableLengthVector<TComponent> *);
template <typename TPixel>
std::enable_if_t<std::is_arithmetic<TPixel>::value, PixelComponents<TPixel, false, 0>>
GetPixelComponents(const TPixel *);
} // namespace VoxelMapsDetail

/** \class FuzzyConnectednessImageFilterBase
 * \brief Mask, seed image, affinity and crop of FuzzyConnectednessImageFilter and
 * RelativeFuzzyConnectednessImageFilter, whose documentation describes them.
 *
 * Requires its whole input and produces its whole output.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
class ITK_TEMPLATE_EXPORT FuzzyConnectednessImageFilterBase
  : public VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FuzzyConnectednessImageFilterBase);

  using Self = FuzzyConnectednessImageFilterBase;
  using Superclass = VoxelMapsImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(FuzzyConnectednessImageFilterBase);

  using Superclass::ImageDimension;
  using typename Superclass::InputImageType;
  using typename Superclass::MaskImageType;
  using InputPixelType = typename InputImageType::PixelType;
  using InputComponentsType =
    decltype(VoxelMapsDetail::GetPixelComponents(static_cast<const InputPixelType *>(nullptr)));
  using InputComponentType = typename InputComponentsType::Type;
  using IndexType = typename InputImageType::IndexType;
  using OutputImageType = TOutputImage;
  using OutputPixelType = typename OutputImageType::PixelType;
  using SeedImageType = TSeedImage;
  using SeedPixelType = typename SeedImageType::PixelType;
  using AffinityFunctionEnum = FuzzyConnectednessEnums::AffinityFunction;
  using AdjacencyEnum = FuzzyConnectednessEnums::Adjacency;
  using typename Superclass::InputImageRegionType;
  using CropMarginType = FixedArray<double, ImageDimension>;

  static_assert(std::is_arithmetic<InputComponentType>::value && sizeof(InputComponentType) <= 8 &&
                  (std::is_floating_point<InputComponentType>::value || sizeof(InputComponentType) <= 4),
                "The input must be an image of 8, 16 or 32-bit integers, float or double, or of vectors of these");
  static_assert(InputComponentsType::number <= voxelmaps::maxNumberOfComponents,
                "Pixels must have at most 16 components");
  static_assert(!InputComponentsType::isVector || InputComponentsType::number > 0 ||
                  VoxelMapsDetail::isVectorImage<InputImageType>,
                "Images of itk::VariableLengthVector must be an itk::VectorImage");
  /** Optional image of the same geometry, whose non-zero voxels are also seeds. */
  itkSetInputMacro(SeedImage, SeedImageType);
  itkGetInputMacro(SeedImage, SeedImageType);

  /** Formula of the affinity of two adjacent voxels. Default: GeometricMean; AbsoluteDifference in
   * RelativeFuzzyConnectednessImageFilter. */
  itkSetEnumMacro(AffinityFunction, AffinityFunctionEnum);
  itkGetEnumMacro(AffinityFunction, AffinityFunctionEnum);

  /** Means and variances of the object, or mean vectors and covariance matrices: { { mean }, { variance }, {}, {
   * difference variance } } for scalars, see voxelmaps::FuzzyConnectednessAffinity. Default: empty; Update() throws an
   * exception unless this is set, EstimateAffinityFromSeeds is on, or AffinityFunction is AbsoluteDifference. */
  VoxelMapsSetGetMacro(Affinity, FuzzyConnectednessAffinity, m_Affinity);

  /** Weight of the first term of WeightedSum, in [0, 1]. Default: 0.5. */
  itkSetMacro(Weight, double);
  itkGetConstMacro(Weight, double);

  /** Whether to estimate the affinity from the seeds, in place of the one that is set. Default: off. */
  itkSetMacro(EstimateAffinityFromSeeds, bool);
  itkGetConstMacro(EstimateAffinityFromSeeds, bool);
  itkBooleanMacro(EstimateAffinityFromSeeds);

  /** Radius in voxels of the boxes around the seeds that the estimate uses. Default: 2. */
  itkSetMacro(EstimationRadius, unsigned int);
  itkGetConstMacro(EstimationRadius, unsigned int);

  /** The affinity that the last Update() used: the one that is set, or the estimate. */
  itkGetConstReferenceMacro(UsedAffinity, FuzzyConnectednessAffinity);

  /** Minimum strength, in [0, 1]; smaller strengths become 0 and are not searched for. Default: 0. */
  itkSetMacro(MinimumStrength, double);
  itkGetConstMacro(MinimumStrength, double);

  /** Which voxels are neighbors. Default: Face. */
  itkSetEnumMacro(Adjacency, AdjacencyEnum);
  itkGetEnumMacro(Adjacency, AdjacencyEnum);

  /** Whether affinities decrease with the distance between neighbors. Default: off. */
  itkSetMacro(DistanceWeighting, bool);
  itkGetConstMacro(DistanceWeighting, bool);
  itkBooleanMacro(DistanceWeighting);

  /** Name of the method of computation, one of GetAvailableMethods() of the filter; empty for the fastest one. It
   * affects run time, not the result. Default: empty. */
  VoxelMapsSetGetMacro(Method, std::string, m_Method);

  /** Whether to compute only the surroundings of the seeds. Default: off. */
  itkSetMacro(CropToSeeds, bool);
  itkGetConstMacro(CropToSeeds, bool);
  itkBooleanMacro(CropToSeeds);

  /** What CropToSeeds adds to the bounding box of the seeds at both ends of each axis, at least 0, in voxels; fractions
   * are rounded up. Default: 10. */
  itkSetMacro(CropMargin, CropMarginType);
  virtual void
  SetCropMargin(double margin)
  {
    CropMarginType margins;
    margins.Fill(margin);
    this->SetCropMargin(margins);
  }
  itkGetConstReferenceMacro(CropMargin, CropMarginType);

  /** Whether CropMargin is in the units of the spacing, which are usually millimeters. Default: off. */
  itkSetMacro(CropMarginInMillimeters, bool);
  itkGetConstMacro(CropMarginInMillimeters, bool);
  itkBooleanMacro(CropMarginInMillimeters);

  /** The region that the last Update() computed: all of the image, or that of CropToSeeds. */
  itkGetConstReferenceMacro(UsedCropRegion, InputImageRegionType);

protected:
  FuzzyConnectednessImageFilterBase()
  {
    this->AddOptionalInputName("SeedImage");
    m_CropMargin.Fill(10.0);
  }
  ~FuzzyConnectednessImageFilterBase() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();

    VoxelMapsDetail::VerifyEnumerator(
      *this, "AffinityFunction", m_AffinityFunction, AffinityFunctionEnum::AbsoluteDifference);
    VoxelMapsDetail::VerifyEnumerator(*this, "Adjacency", m_Adjacency, AdjacencyEnum::Full);
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      if (!(m_CropMargin[d] >= 0.0))
      {
        itkExceptionMacro("CropMargin is " << m_CropMargin[d] << " along axis " << d << ", but must be at least 0.");
      }
    }
  }
  void
  VerifyInputInformation() const override
  {
    Superclass::VerifyInputInformation();
    this->VerifySameGrid("the seed image", this->GetSeedImage());
    if constexpr (InputComponentsType::isVector)
    {
      const unsigned int components = this->GetInput()->GetNumberOfComponentsPerPixel();
      if (components == 0 || components > voxelmaps::maxNumberOfComponents)
      {
        itkExceptionMacro("The pixels of the input have " << components << " components, but must have 1 to "
                                                          << voxelmaps::maxNumberOfComponents << '.');
      }
    }
  }
  void
  GenerateInputRequestedRegion() override
  {
    Superclass::GenerateInputRequestedRegion();
    const_cast<InputImageType *>(this->GetInput())->SetRequestedRegionToLargestPossibleRegion();
    if (this->GetSeedImage() != nullptr)
    {
      const_cast<SeedImageType *>(this->GetSeedImage())->SetRequestedRegionToLargestPossibleRegion();
    }
  }
  void
  EnlargeOutputRequestedRegion(DataObject * output) override
  {
    Superclass::EnlargeOutputRequestedRegion(output);
    output->SetRequestedRegionToLargestPossibleRegion();
  }

  /** Whether a CUDA device is to compute a job; a method is looked up on the device that is set. */
  bool
  UsesCudaFor(const voxelmaps::FuzzyConnectednessProblem & job) const
  {
    return this->UsesCuda(!m_Method.empty() || !job.IsSmall());
  }

  /** Names of the methods of the device for a type of jobs. */
  template <typename TJob>
  std::vector<std::string>
  GetMethodsFor() const
  {
    TJob job;
    if (this->GetInput() != nullptr)
    {
      const auto size = this->GetInput()->GetLargestPossibleRegion().GetSize();
      job.size = { { 1, 1, 1 } };
      std::copy(size.begin(), size.end(), job.size.begin());
      job.numberOfComponents = InputComponentsType::isVector ? this->GetInput()->GetNumberOfComponentsPerPixel() : 0u;
    }
    job.adjacency = m_Adjacency;
    job.minimumStrength = m_MinimumStrength;
    job.execution.numberOfWorkers = this->GetNumberOfWorkUnits();
    return VoxelMapsDetail::CallEngine(*this, [&] {
      return this->AllowsCuda() ? voxelmaps::GetCudaMethods(job, this->GetDeviceID()) : voxelmaps::GetMethods(job);
    });
  }

  /** Estimate an affinity from the seeds of an input; warn, with the context, if the object may leak. If there are
   * labels, one per seed, throw an itk::ExceptionObject if they differ in intensity. */
  FuzzyConnectednessAffinity
  EstimateAffinity(const voxelmaps::FuzzyConnectednessInput & jobInput, const voxelmaps::JobExecution & execution,
                   const std::string & context, const std::vector<std::uint16_t> & labels = {}) const
  {
    // Copies from a device only the voxels that are used.
    const VoxelMapsDetail::SurroundingsOfSeeds surroundings(
      jobInput, sizeof(InputComponentType), m_EstimationRadius, execution, this->GetMemory());
    const voxelmaps::FuzzyConnectednessInput & input = surroundings.GetInput();
    const std::string remark = ", EstimationRadius " + std::to_string(m_EstimationRadius) + context;
    const auto        estimate = VoxelMapsDetail::CallEngine(
      *this,
      [&] { return voxelmaps::EstimateAffinity(input, { m_AffinityFunction, m_EstimationRadius, labels }, execution); },
      remark.c_str());
    if (!estimate.warning.empty())
    {
      itkWarningMacro(<< estimate.warning << remark << '.');
    }
    return estimate.affinity;
  }

  /** Throw an itk::ExceptionObject if a seed is outside the image. */
  void
  VerifySeed(const IndexType & seed) const
  {
    const auto region = this->GetInput()->GetLargestPossibleRegion();
    if (!region.IsInside(seed))
    {
      itkExceptionMacro("The seed " << seed << " is outside the image, whose index is " << region.GetIndex()
                                    << " and size " << region.GetSize() << '.');
    }
  }

  /** Set UsedCropRegion to what is to be computed, given the seeds that are not those of the seed image. */
  void
  SetUsedCropRegion(const std::vector<IndexType> & seeds);

  /** Set everything in a problem except mask, seeds and affinity. The input, of the region to compute, and the
   * progress must outlive it. */
  void
  FillProblem(const VoxelMapsDetail::InputRegion<InputImageType> & input, const voxelmaps::JobExecution & execution,
              voxelmaps::FuzzyConnectednessProblem & problem) const;

  /** Add the voxels of the seed image that are not zero to the seeds of a problem, in ascending order. Then throw an
   * itk::ExceptionObject if a seed is outside the mask, or if the seed image has no seed. Returns the values of the
   * seed image. */
  std::vector<std::int64_t>
  AddImageSeeds(voxelmaps::FuzzyConnectednessProblem & problem) const;

  /** Set the affinity of a problem, estimated if requested; the labels are those of EstimateAffinity. */
  void
  SetUsedAffinity(voxelmaps::FuzzyConnectednessProblem & problem, const std::vector<std::uint16_t> & labels = {})
  {
    m_UsedAffinity = m_Affinity;
    if (m_AffinityFunction == AffinityFunctionEnum::AbsoluteDifference)
    {
      m_UsedAffinity = {};
    }
    else if (m_EstimateAffinityFromSeeds)
    {
      m_UsedAffinity = this->EstimateAffinity(problem, problem.execution, "", labels);
    }
    problem.affinity = m_UsedAffinity;
  }

private:
  /** The voxels of the seed image that are not zero, by their linear indices in a region, in ascending order. */
  std::vector<voxelmaps::NonzeroPixel>
  FindImageSeeds(const InputImageRegionType & region, const voxelmaps::JobExecution & execution) const;

  AffinityFunctionEnum m_AffinityFunction{ AffinityFunctionEnum::GeometricMean };
  double               m_Weight{ 0.5 };
  std::string          m_Method;
  bool                 m_EstimateAffinityFromSeeds{ false };
  unsigned int         m_EstimationRadius{ 2 };
  double               m_MinimumStrength{ 0.0 };
  AdjacencyEnum        m_Adjacency{ AdjacencyEnum::Face };
  bool                 m_DistanceWeighting{ false };
  bool                 m_CropToSeeds{ false };
  CropMarginType       m_CropMargin;
  bool                 m_CropMarginInMillimeters{ false };

  FuzzyConnectednessAffinity m_Affinity;
  FuzzyConnectednessAffinity m_UsedAffinity;
  InputImageRegionType       m_UsedCropRegion;
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFuzzyConnectednessImageFilterBase.hxx"
#endif

#endif // itkFuzzyConnectednessImageFilterBase_h
