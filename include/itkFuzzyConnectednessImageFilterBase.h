// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFuzzyConnectednessImageFilterBase_h
#define itkFuzzyConnectednessImageFilterBase_h

#include "itkArray.h"
#include "itkArray2D.h"
#include "itkCudaImageFilter.h"
#include "itkFixedArray.h"
#include "itkVariableLengthVector.h"
#include "itkVoxelMapsImageFilter.h"
#include "voxelmaps/FuzzyConnectednessVectorAffinity.h"

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

/** \class VectorParameters
 * \brief Mean vectors and covariance matrices as users set them; what is not set is empty.
 *
 * \ingroup VoxelMaps
 */
struct VectorParameters
{
  Array<double>   objectMean;
  Array2D<double> objectCovariance;
  Array<double>   differenceMean;
  Array2D<double> differenceCovariance;
};
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

  /** Formula of the affinity of two adjacent voxels. Default: GeometricMean. */
  itkSetEnumMacro(AffinityFunction, AffinityFunctionEnum);
  itkGetEnumMacro(AffinityFunction, AffinityFunctionEnum);

  /** Mean and variance of the intensities of the object. Initially 0 and 1. Update() throws an exception unless one of
   * these means or variances has been set, or EstimateAffinityFromSeeds is on. */
  virtual void
  SetObjectMean(double mean)
  {
    this->SetAffinityParameter(m_ObjectMean, mean);
  }
  itkGetConstMacro(ObjectMean, double);
  virtual void
  SetObjectVariance(double variance)
  {
    this->SetAffinityParameter(m_ObjectVariance, variance);
  }
  itkGetConstMacro(ObjectVariance, double);

  /** Mean (WeightedSum only) and variance of the differences in the object. Initially 0 and 1. */
  virtual void
  SetDifferenceMean(double mean)
  {
    this->SetAffinityParameter(m_DifferenceMean, mean);
  }
  itkGetConstMacro(DifferenceMean, double);
  virtual void
  SetDifferenceVariance(double variance)
  {
    this->SetAffinityParameter(m_DifferenceVariance, variance);
  }
  itkGetConstMacro(DifferenceVariance, double);

  /** Mean vector and covariance matrix of the vectors of the object, if pixels have components. Default: empty, for an
   * estimate. */
  VoxelMapsSetGetMacro(ObjectMeanVector, Array<double>, m_Vectors.objectMean);
  VoxelMapsSetGetMacro(ObjectCovariance, Array2D<double>, m_Vectors.objectCovariance);

  /** Mean vector (WeightedSum only) and covariance matrix of the differences in the object, if pixels have components.
   * Default: empty, for an estimate. */
  VoxelMapsSetGetMacro(DifferenceMeanVector, Array<double>, m_Vectors.differenceMean);
  VoxelMapsSetGetMacro(DifferenceCovariance, Array2D<double>, m_Vectors.differenceCovariance);

  /** Weight of the first term of WeightedSum, in [0, 1]. Default: 0.5. */
  itkSetMacro(Weight, double);
  itkGetConstMacro(Weight, double);

  /** Whether to estimate means and variances around the seeds instead of using the values above. Default: off. */
  itkSetMacro(EstimateAffinityFromSeeds, bool);
  itkGetConstMacro(EstimateAffinityFromSeeds, bool);
  itkBooleanMacro(EstimateAffinityFromSeeds);

  /** Radius in voxels of the boxes around the seeds that the estimate uses. Default: 2. */
  itkSetMacro(EstimationRadius, unsigned int);
  itkGetConstMacro(EstimationRadius, unsigned int);

  /** The parameters that the last Update() used: those above, or the estimate. */
  itkGetConstMacro(UsedObjectMean, double);
  itkGetConstMacro(UsedObjectVariance, double);
  itkGetConstMacro(UsedDifferenceMean, double);
  itkGetConstMacro(UsedDifferenceVariance, double);

  /** The same if pixels have components; what the affinity function does not need may be empty. */
  virtual Array<double>
  GetUsedObjectMeanVector() const
  {
    return m_UsedVectors.objectMean;
  }
  virtual Array2D<double>
  GetUsedObjectCovariance() const
  {
    return m_UsedVectors.objectCovariance;
  }
  virtual Array<double>
  GetUsedDifferenceMeanVector() const
  {
    return m_UsedVectors.differenceMean;
  }
  virtual Array2D<double>
  GetUsedDifferenceCovariance() const
  {
    return m_UsedVectors.differenceCovariance;
  }

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
  FuzzyConnectednessImageFilterBase();
  ~FuzzyConnectednessImageFilterBase() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  /** Whether means and variances of scalars have been set, or are estimated. */
  virtual bool
  HasAffinity() const
  {
    return m_IsAffinitySet || m_EstimateAffinityFromSeeds;
  }
  void
  VerifyInputInformation() const override;
  void
  GenerateInputRequestedRegion() override;
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;

  /** Throw an itk::ExceptionObject, with the name, if a parameter of the affinity is invalid. */
  void
  VerifyMean(const std::string & name, double mean) const;
  void
  VerifyVariance(const std::string & name, double variance) const;

  /** Throw an itk::ExceptionObject, with the name and " of ..." in addition, if mean vectors or covariance matrices
   * that are not empty do not suit the input. */
  void
  VerifyVectors(const VoxelMapsDetail::VectorParameters & parameters, const std::string & context) const;

  /** Copy what is not empty. */
  static void
  CopyVectors(const VoxelMapsDetail::VectorParameters & parameters, voxelmaps::VectorAffinity & vectors);

  /** Estimate mean vectors and covariance matrices from the seeds of a problem. */
  voxelmaps::VectorAffinity
  EstimateVectors(const voxelmaps::FuzzyConnectednessInput & input, const voxelmaps::JobExecution & execution) const;

  /** Throws if the given or estimated mean vectors and covariance matrices are invalid. */
  void
  VerifyUsedVectors(const voxelmaps::FuzzyConnectednessProblem & problem, const std::string & context) const;

  /** Throws if an estimate from seeds is invalid. */
  void
  VerifyEstimate(const voxelmaps::AffinityEstimate & estimate, const std::string & context) const;

  /** Throw an itk::ExceptionObject if a seed is outside the image. */
  void
  VerifySeed(const IndexType & seed) const;

  /** Set UsedCropRegion to what is to be computed, given the seeds that are not those of the seed image. */
  void
  SetUsedCropRegion(const std::vector<IndexType> & seeds);

  /** Set everything in a problem except mask, seeds and means and variances. The image, whose buffer is the region to
   * compute, and the progress must outlive it. */
  void
  FillProblem(const VoxelMapsDetail::BufferedImage<InputImageType> & image, const voxelmaps::JobExecution & execution,
              voxelmaps::FuzzyConnectednessProblem & problem) const;

  /** Add the voxels of the seed image that are not zero to the seeds of a problem, in ascending order. Then throw an
   * itk::ExceptionObject if a seed is outside the mask, or if the seed image has no seed. */
  void
  AddImageSeeds(const VoxelMapsDetail::BufferedImage<InputImageType> & image,
                voxelmaps::FuzzyConnectednessProblem &                 problem) const;

  /** Set the means and variances of a problem, estimated if requested. */
  void
  SetAffinity(voxelmaps::FuzzyConnectednessProblem & problem);

private:
  void
  SetAffinityParameter(double & parameter, double value)
  {
    if (!m_IsAffinitySet || parameter != value)
    {
      m_IsAffinitySet = true;
      parameter = value;
      this->Modified();
    }
  }

  // Sums of two intensities are then finite, or so far from the mean that the affinity is 0; factors of costs are
  // finite.
  static constexpr double maxMean = 8.9e307;
  static constexpr double minVariance = 1e-299;
  static constexpr double maxVariance = 1e307;

  static bool
  IsMean(double mean)
  {
    return mean >= -maxMean && mean <= maxMean;
  }
  static bool
  IsVariance(double variance)
  {
    return variance >= minVariance && variance <= maxVariance;
  }

  /** Linear indices in a region of the voxels of the seed image that are not zero, in ascending order. */
  std::vector<std::int64_t>
  FindImageSeeds(const InputImageRegionType & region, const voxelmaps::JobExecution & execution) const;

  AffinityFunctionEnum m_AffinityFunction{ AffinityFunctionEnum::GeometricMean };
  bool                 m_IsAffinitySet{ false };
  double               m_ObjectMean{ 0.0 };
  double               m_ObjectVariance{ 1.0 };
  double               m_DifferenceMean{ 0.0 };
  double               m_DifferenceVariance{ 1.0 };
  double               m_Weight{ 0.5 };
  bool                 m_EstimateAffinityFromSeeds{ false };
  unsigned int         m_EstimationRadius{ 2 };
  double               m_MinimumStrength{ 0.0 };
  AdjacencyEnum        m_Adjacency{ AdjacencyEnum::Face };
  bool                 m_DistanceWeighting{ false };
  bool                 m_CropToSeeds{ false };
  CropMarginType       m_CropMargin;
  bool                 m_CropMarginInMillimeters{ false };

  /** Set the mean vectors and covariance matrices of a problem, estimated if requested or not set. */
  void
  SetVectorAffinity(voxelmaps::FuzzyConnectednessProblem & problem);

  VoxelMapsDetail::VectorParameters m_Vectors;
  VoxelMapsDetail::VectorParameters m_UsedVectors;

  double m_UsedObjectMean{ 0.0 };
  double m_UsedObjectVariance{ 0.0 };
  double m_UsedDifferenceMean{ 0.0 };
  double m_UsedDifferenceVariance{ 0.0 };

  InputImageRegionType m_UsedCropRegion;
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFuzzyConnectednessImageFilterBase.hxx"
#endif

#endif // itkFuzzyConnectednessImageFilterBase_h
