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
#ifndef itkFuzzyConnectednessImageFilter_h
#define itkFuzzyConnectednessImageFilter_h

#include "itkFuzzyConnectednessEnums.h"
#include "itkFuzzyConnectednessJob.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsJobUtilities.h"

#include <type_traits>
#include <vector>

namespace itk
{
// What takes the place of this class where a device is usable.
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
class CudaFuzzyConnectednessImageFilter;

/** \class FuzzyConnectednessImageFilter
 * \brief For every voxel, the strength of the best path to a seed.
 *
 * Adjacent voxels have an affinity in [0, 1], by their intensities (AffinityFunction). The strength of a path is its
 * least affinity; the strength of connectedness of a voxel is that of the strongest path from any seed to it. Seeds
 * have 1, voxels that no path reaches have 0. A threshold, such as by itk::BinaryThresholdImageFilter, makes an object.
 *
 * \par Exact results
 * Affinities are compared as integers (src/connectedness/ConnectednessKeys.h): the logarithm in units of 2^-24, or a
 * weighted sum in units of 2^-30; affinities below exp(-128) count as 0. The result is the one fixed point of these
 * integers, so its bits do not depend on the method, on threads or on the order of the seeds.
 *
 * \par Affinity
 * With g(x, m, v) = exp(-(x - m)^2 / (2 v)), h = (a + b) / 2 and d = |a - b| of the intensities a, b of two voxels:
 * | AffinityFunction | affinity | source |
 * |---|---|---|
 * | GeometricMean | sqrt(g(h, ObjectMean, ObjectVariance) g(d / 2, 0, DifferenceVariance)) | Li et al. 2015, equation
 * (1) | | WeightedSum | Weight g(h, ObjectMean, ObjectVariance) + (1 - Weight) g(d, DifferenceMean, DifferenceVariance)
 * | SimpleFuzzyConnectednessScalarImageFilter of ITK 3 | | Minimum | min(g(h, ObjectMean, ObjectVariance), g(d / 2, 0,
 * DifferenceVariance)) | | | Homogeneity | g(d / 2, 0, DifferenceVariance) | |
 *
 * With DistanceWeighting, an affinity is multiplied by the least spacing (of x and y only, if there is one slice) and
 * divided by the distance of the two voxels. A NaN or infinite intensity has affinity 0 to all neighbors.
 *
 * \par Parameters
 * | name | default | meaning |
 * |---|---|---|
 * | Seeds | none | indices; or SeedImage, whose non-zero voxels are seeds; or both |
 * | MaskImage, InsidePixelValue | none, 1 | paths stay inside |
 * | AffinityFunction | GeometricMean | |
 * | ObjectMean, ObjectVariance | 0, 1 | intensities of the object, in their units and those squared |
 * | DifferenceMean, DifferenceVariance | 0, 1 | differences in the object |
 * | Weight | 0.5 | 0..1, of WeightedSum |
 * | EstimateAffinityFromSeeds, EstimationRadius | off, 2 | take the four parameters from boxes around the seeds |
 * | MinimumStrength | 0 | 0..1; weaker strengths become 0 and are not searched |
 * | Adjacency | Face | |
 * | DistanceWeighting | off | |
 * | Method | Automatic | only a matter of time |
 *
 * An estimate uses all finite intensities inside the mask in boxes of 2 * EstimationRadius + 1 voxels around the seeds:
 * their mean and variance; and of the differences between neighbors (by faces) in these boxes the least 90 %: for
 * WeightedSum mean and variance, else the mean square of half the difference.
 *
 * \par Pipeline
 * Needs its whole input and makes its whole output. Memory beside them: 1 byte per voxel if there is a mask; Hierarchy
 * up to 12 bytes per voxel with 6 neighbors (17 with 26); Buckets and Queue keep the numbers of waiting voxels (4 and 8
 * bytes each), Tiles about 100 kB per thread.
 *
 * \par Errors
 * An itk::ExceptionObject names the value for: no seed, a seed outside image or mask, a seed image or mask of another
 * geometry, a seed image of zeros, a variance that is not positive and finite (or below 1e-299), a mean that is not
 * finite, a weight or strength outside 0..1, and an estimate without variance.
 *
 * Sources: J. K. Udupa, S. Samarasekera, Fuzzy connectedness and object definition, Graphical Models and Image
 * Processing 58 (1996) 246-261; Li D. et al., corrected CUDA-kFOE (2015).
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = Image<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT FuzzyConnectednessImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FuzzyConnectednessImageFilter);

  using Self = FuzzyConnectednessImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  /** New() gives the Cuda class where a device is usable: the same bits; see VoxelMapsCudaFactory. */
  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FuzzyConnectednessImageFilter);

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  using InputImageType = TInputImage;
  using InputPixelType = typename InputImageType::PixelType;
  using IndexType = typename InputImageType::IndexType;
  using OutputImageType = TOutputImage;
  using OutputPixelType = typename OutputImageType::PixelType;
  using MaskImageType = TMaskImage;
  using MaskPixelType = typename MaskImageType::PixelType;
  using SeedsType = std::vector<IndexType>;
  using AffinityFunctionEnum = FuzzyConnectednessEnums::AffinityFunction;
  using AdjacencyEnum = FuzzyConnectednessEnums::Adjacency;
  using MethodEnum = FuzzyConnectednessEnums::Method;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "VoxelMaps filters take 2D and 3D images");
  static_assert(std::is_arithmetic<InputPixelType>::value && sizeof(InputPixelType) <= 8 &&
                  (std::is_floating_point<InputPixelType>::value || sizeof(InputPixelType) <= 4),
                "The input is a scalar image of 8, 16 or 32-bit integers, float or double");
  static_assert(std::is_same<OutputPixelType, float>::value || std::is_same<OutputPixelType, double>::value,
                "The output is an image of float or double");

  /** Indices of the seeds. */
  virtual void
  SetSeed(const IndexType & seed);
  virtual void
  AddSeed(const IndexType & seed);
  virtual void
  ClearSeeds();
  virtual void
  SetSeeds(const SeedsType & seeds);
  itkGetConstReferenceMacro(Seeds, SeedsType);

  /** Optional image of the same geometry; its non-zero voxels are seeds too. */
  itkSetInputMacro(SeedImage, MaskImageType);
  itkGetInputMacro(SeedImage, MaskImageType);

  /** Optional image of the same geometry; paths stay in voxels equal to InsidePixelValue. */
  itkSetInputMacro(MaskImage, MaskImageType);
  itkGetInputMacro(MaskImage, MaskImageType);

  /** Value of the mask's inside. Default: 1. */
  itkSetMacro(InsidePixelValue, MaskPixelType);
  itkGetConstMacro(InsidePixelValue, MaskPixelType);

  /** Formula of the affinity. Default: GeometricMean. */
  itkSetEnumMacro(AffinityFunction, AffinityFunctionEnum);
  itkGetEnumMacro(AffinityFunction, AffinityFunctionEnum);

  /** Mean and variance of the object's intensities. Default: 0 and 1. */
  itkSetMacro(ObjectMean, double);
  itkGetConstMacro(ObjectMean, double);
  itkSetMacro(ObjectVariance, double);
  itkGetConstMacro(ObjectVariance, double);

  /** Mean (WeightedSum only) and variance of the differences in the object. Default: 0 and 1. */
  itkSetMacro(DifferenceMean, double);
  itkGetConstMacro(DifferenceMean, double);
  itkSetMacro(DifferenceVariance, double);
  itkGetConstMacro(DifferenceVariance, double);

  /** Weight of the mean's term in WeightedSum, 0..1. Default: 0.5. */
  itkSetMacro(Weight, double);
  itkGetConstMacro(Weight, double);

  /** Whether to estimate means and variances around the seeds instead of taking those set. Default: off. */
  itkSetMacro(EstimateAffinityFromSeeds, bool);
  itkGetConstMacro(EstimateAffinityFromSeeds, bool);
  itkBooleanMacro(EstimateAffinityFromSeeds);

  /** Radius in voxels of the boxes of the estimate. Default: 2. */
  itkSetMacro(EstimationRadius, unsigned int);
  itkGetConstMacro(EstimationRadius, unsigned int);

  /** What the last Update() used: the values set, or the estimate. */
  itkGetConstMacro(UsedObjectMean, double);
  itkGetConstMacro(UsedObjectVariance, double);
  itkGetConstMacro(UsedDifferenceMean, double);
  itkGetConstMacro(UsedDifferenceVariance, double);

  /** Strengths below are set to 0, and not searched. 0..1. Default: 0. */
  itkSetMacro(MinimumStrength, double);
  itkGetConstMacro(MinimumStrength, double);

  /** Which voxels are linked. Default: Face. */
  itkSetEnumMacro(Adjacency, AdjacencyEnum);
  itkGetEnumMacro(Adjacency, AdjacencyEnum);

  /** Whether longer links are weaker. Default: off. */
  itkSetMacro(DistanceWeighting, bool);
  itkGetConstMacro(DistanceWeighting, bool);
  itkBooleanMacro(DistanceWeighting);

  /** How to compute; the result is the same. Default: Automatic. */
  itkSetEnumMacro(Method, MethodEnum);
  itkGetEnumMacro(Method, MethodEnum);

protected:
  FuzzyConnectednessImageFilter();
  ~FuzzyConnectednessImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  VerifyInputInformation() const override;
  void
  GenerateInputRequestedRegion() override;
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;
  void
  GenerateData() override;

  /** Compute the keys of the job; what derived classes replace. */
  virtual void
  ComputeKeys(const FuzzyConnectednessJob & job);

private:
  /** Voxels that are handled in a few milliseconds, after which an abort is to be looked for. */
  static constexpr std::int64_t voxelsBetweenLooks = 1 << 20;

  /** Numbers of all seeds, checked. */
  std::vector<std::int64_t>
  FindSeeds(const std::vector<std::uint8_t> & mask, voxelmaps::JobProgress & progress) const;

  /** Set the parameters of the affinity function, estimated if asked for. */
  void
  SetAffinity(FuzzyConnectednessJob & job);

  SeedsType            m_Seeds;
  MaskPixelType        m_InsidePixelValue{ NumericTraits<MaskPixelType>::OneValue() };
  AffinityFunctionEnum m_AffinityFunction{ AffinityFunctionEnum::GeometricMean };
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
  MethodEnum           m_Method{ MethodEnum::Automatic };

  double m_UsedObjectMean{ 0.0 };
  double m_UsedObjectVariance{ 0.0 };
  double m_UsedDifferenceMean{ 0.0 };
  double m_UsedDifferenceVariance{ 0.0 };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFuzzyConnectednessImageFilter.hxx"
#endif

// Whoever uses this class registers the one that may take its place.
#include "itkCudaFuzzyConnectednessImageFilter.h"

#endif // itkFuzzyConnectednessImageFilter_h
