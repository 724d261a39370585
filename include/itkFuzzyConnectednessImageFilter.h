// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFuzzyConnectednessImageFilter_h
#define itkFuzzyConnectednessImageFilter_h

#include "itkFuzzyConnectednessImageFilterBase.h"
#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessVolumeCurve.h"

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
/** \class FuzzyConnectednessImageFilter
 * \brief For every voxel, the strength of the strongest path to a seed.
 *
 * Adjacent voxels have an affinity in [0, 1] that depends on their intensities (AffinityFunction). The strength of a
 * path is its smallest affinity, and the strength of connectedness of a voxel is that of the strongest path from any
 * seed to it. Seeds have strength 1, and voxels that no path reaches have strength 0. Thresholding the output, for
 * example with itk::BinaryThresholdImageFilter, gives a segmentation.
 *
 * \par Exact results
 * Affinities are compared as integers (core/src/connectedness/ConnectednessKeys.h): logarithms in units of 2^-24, or
 * weighted sums in units of 2^-30; affinities below exp(-128) count as 0. These integers determine the result uniquely,
 * so it is bit-identical for all methods, numbers of threads and orders of the seeds.
 *
 * \par Affinity
 * With \f$g(x, m, v) = \exp(-(x - m)^2 / (2 v))\f$, and \f$h = (a + b) / 2\f$ and \f$d = |a - b|\f$ for the
 * intensities \f$a\f$, \f$b\f$ of two voxels, ObjectMean \f$m_o\f$, ObjectVariance \f$v_o\f$, DifferenceMean \f$m_d\f$,
 * DifferenceVariance \f$v_d\f$ and Weight \f$w\f$, AffinityFunction is one of
 * - GeometricMean: \f$\sqrt{g(h, m_o, v_o) g(d / 2, 0, v_d)}\f$, equation (1) of Li et al. \cite Li2016;
 * - WeightedSum: \f$w g(h, m_o, v_o) + (1 - w) g(d, m_d, v_d)\f$, as in SimpleFuzzyConnectednessScalarImageFilter of
 *   ITK 3;
 * - Minimum: \f$\min(g(h, m_o, v_o), g(d / 2, 0, v_d))\f$;
 * - Homogeneity: \f$g(d / 2, 0, v_d)\f$;
 * - AbsoluteDifference: \f$1 / (1 + d)\f$, without parameters. \f$d\f$ is rounded to float.
 *
 * If voxels have components, \f$h = (a + b) / 2\f$ and \f$d\f$ are vectors, and \f$g\f$ is \f$\exp(-D^2 / 2)\f$ with
 * the Mahalanobis distance \f$D\f$ of the vector: \f$D^2 = (x - m)^T C^{-1} (x - m)\f$, for the mean vector \f$m\f$ and
 * the covariance matrix \f$C\f$. WeightedSum uses the absolute values of the components of \f$d = a - b\f$, as
 * SimpleFuzzyConnectednessRGBImageFilter of ITK 3; the other functions use \f$d\f$ with its signs, and
 * AbsoluteDifference its Euclidean length. With one component, results are those of a scalar image.
 *
 * With DistanceWeighting (not for AbsoluteDifference), the affinity is multiplied by the smallest spacing (of x and y
 * only, if the image has one slice) and divided by the distance between the two voxels. Voxels with NaN or infinite
 * intensities, or components, have affinity 0 to all neighbors.
 *
 * \par Parameters
 * - Seeds (none), SeedImage (none): indices of seeds, and an image whose non-zero voxels are seeds. At least one seed
 *   is required.
 * - Those of VoxelMapsImageFilter: paths stay inside the MaskImage. Images of fewer than 8192 voxels are computed on
 *   the CPU, whatever Device is.
 * - AffinityFunction (GeometricMean): see above.
 * - Affinity (none): mean and variance of the intensities of the object and of the differences in it, such as
 *   SetAffinity({ { 110.0 }, { 400.0 }, {}, { 60.0 } }); mean vectors and covariance matrices for images whose voxels
 * have components. See voxelmaps::FuzzyConnectednessAffinity for the limits. Update() throws unless it is set or
 * estimated; AbsoluteDifference needs none.
 * - Weight (0.5): in [0, 1]; for WeightedSum.
 * - EstimateAffinityFromSeeds (off), EstimationRadius (2): whether to estimate the affinity from the intensities in
 *   boxes around the seeds, and the radius of the boxes in voxels.
 * - MinimumStrength (0): in [0, 1]; strengths below it are set to 0 and not searched.
 * - Adjacency (Face): which voxels are neighbors; see FuzzyConnectednessEnums::Adjacency.
 * - DistanceWeighting (off): see above. Spacings must be from 1e-140 to 1e140.
 * - Method (empty): see voxelmaps::FuzzyConnectednessJob. It affects run time, not the result; images of fewer than
 * 8192 voxels are computed on a CUDA device if it is set.
 * - CropToSeeds (off), CropMargin (10), CropMarginInMillimeters (off): see below.
 *
 * \par Estimate
 * In the box of 2 * EstimationRadius + 1 voxels along each axis around a seed, the object is what is connected to the
 * seed by faces and close to it in intensity: within twice the median difference of neighbors. Means and variances are
 * those of the objects in all boxes, so that they also hold for vessels thinner than the box. If the boxes show the
 * contrast to the surroundings, variances are at least such that the Gaussians of both terms fall to 1/2 at half the
 * contrast. A warning (itkWarningMacro) states that the object may leak, if twice its standard deviation exceeds what
 * distinguishes its mean from its surroundings: for example, if a seed is in another object.
 * voxelmaps::EstimateAffinity has the exact definition.
 *
 * \par Vector images
 * The input is a scalar image, or one of 1 to 16 components: an itk::VectorImage, or an itk::Image of RGBPixel, Vector,
 * CovariantVector or another FixedArray. Components, as scalars, are integers of 8, 16 or 32 bits, float or double; all
 * are converted to double for each affinity, without memory for a copy. A CUDA device needs the components while it
 * computes a table of 4 bytes per voxel and half of the neighbors, and then the table.
 *
 * \par Crop
 * With CropToSeeds, the result is that of an image which ends at the bounding box of all seeds, enlarged by CropMargin
 * at both ends of each axis, but not beyond the image. Strengths are 0 outside this box. CropMargin is one number or
 * one for each axis, in voxels, or in the units of the spacing with CropMarginInMillimeters; fractions of voxels are
 * rounded up, and infinity extends the box to the end of the image. Time and memory are then those of the box, apart
 * from the output, which keeps the size of the image, and from a copy of the intensities in the box. Paths that leave
 * the box are not found, so the margin must be wide enough for the object.
 *
 * \par Suggested threshold
 * Where an object leaks, every voxel behind the weakest link on the way has the strength of that link, and the number
 * of voxels of at least a threshold jumps as the threshold falls to that strength. GetSuggestedThreshold() returns the
 * smallest strength before the largest jump relative to the volume. It ignores jumps from volumes below a minimum, and
 * below that of one box of EstimationRadius, since the object itself also begins with jumps: the better the minimum is
 * known, the better the suggestion. GetVolumeOfThreshold() returns the volume for any threshold. The suggestion does
 * not know whether the object leaks at all, nor which of two leaks is meant. Both functions use the output of the last
 * update as it is.
 *
 * \par Pipeline
 * Requires its entire input and produces its entire output, which has no voxels if the input has none. Memory in
 * addition to input and output: 1 byte per voxel if there is a mask; Hierarchy uses up to 9 bytes per voxel with 6
 * neighbors (13 with 26), and Buckets stores the linear indices of the voxels in its queues (about 4 bytes each). The
 * engines read the input and use the memory of the output until the end, so the filter does not run in place.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value if there is no seed, if a seed is outside the image or the mask,
 * if the affinity does not have the number of components of the input, or is not valid, if the geometry of the seed
 * image or the mask differs from that of the input, if all voxels of the seed image are zero, if Weight or
 * MinimumStrength is outside [0, 1], if an estimated variance is not positive and finite, or if CropMargin is negative
 * or NaN.
 *
 * \par Sources
 * \cite Udupa1996; \cite Li2016, corrected CUDA-kFOE.
 *
 * \sa RelativeFuzzyConnectednessImageFilter, VoxelMapsImageFilter
 * \sa \python{itk.fuzzy_connectedness_image_filter}, \python{voxelmaps.fuzzy_connectedness}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = typename VoxelMapsDetail::ImageOf<TInputImage, float>::Type,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT FuzzyConnectednessImageFilter
  : public FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FuzzyConnectednessImageFilter);

  using Self = FuzzyConnectednessImageFilter;
  using Superclass = FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FuzzyConnectednessImageFilter);

  using typename Superclass::IndexType;
  using typename Superclass::InputImageType;
  using typename Superclass::OutputImageType;
  using typename Superclass::OutputPixelType;
  using SeedsType = std::vector<IndexType>;

  static_assert((std::is_same<OutputPixelType, float>::value || std::is_same<OutputPixelType, double>::value) &&
                  VoxelMapsDetail::hasPixelsInBuffer<OutputImageType>,
                "The output must be an itk::Image of float or double");

  /** Indices of the seeds. */
  virtual void
  SetSeed(const IndexType & seed)
  {
    this->SetSeeds(SeedsType(1, seed));
  }
  virtual void
  AddSeed(const IndexType & seed)
  {
    m_Seeds.push_back(seed);
    this->Modified();
  }
  virtual void
  ClearSeeds()
  {
    this->SetSeeds(SeedsType());
  }
  virtual void
  SetSeeds(const SeedsType & seeds)
  {
    if (m_Seeds != seeds)
    {
      m_Seeds = seeds;
      this->Modified();
    }
  }
  itkGetConstReferenceMacro(Seeds, SeedsType);

  /** Volume, in the units of the spacing, of the voxels of the output whose strength is not 0 and at least the
   * threshold. The first call after an update sorts the strengths of the output. */
  double
  GetVolumeOfThreshold(double threshold) const
  {
    if (std::isnan(threshold))
    {
      itkExceptionMacro("The threshold is " << threshold << ", but must be a number.");
    }
    double volume = static_cast<double>(this->GetVolumeCurve().GetNumberOfVoxels(threshold));
    for (unsigned int d = 0; d < TInputImage::ImageDimension; ++d)
    {
      volume *= this->GetOutput()->GetSpacing()[d];
    }
    return volume;
  }

  /** A suggestion for the threshold of the output, for an object that is known to have at least a volume; see
   * "Suggested threshold" above. 0 if there is none. */
  double
  GetSuggestedThreshold(double minimumVolume = 0.0) const;

  /** Names of the methods that support the parameters on the device of the filter, the one that an empty Method chooses
   * first: Hierarchy and CorrectedKFOE on a CUDA device; Hierarchy, Buckets and Queue on the CPU. See
   * voxelmaps::FuzzyConnectednessJob. */
  virtual std::vector<std::string>
  GetAvailableMethods() const
  {
    return this->template GetMethodsFor<voxelmaps::FuzzyConnectednessJob>();
  }

  /** The method that the last Update() used; empty before. */
  itkGetStringMacro(UsedMethod);

protected:
  FuzzyConnectednessImageFilter() = default;
  ~FuzzyConnectednessImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "Seeds:";
    constexpr std::size_t maxPrinted = 10;
    for (std::size_t i = 0; i < std::min(m_Seeds.size(), maxPrinted); ++i)
    {
      os << ' ' << m_Seeds[i];
    }
    os << (m_Seeds.size() > maxPrinted ? " and others, in all " + std::to_string(m_Seeds.size()) : "");
    os << std::endl;
    os << indent << "UsedMethod: " << m_UsedMethod << std::endl;
  }
  void
  VerifyPreconditions() const override
  {
    Superclass::VerifyPreconditions();

    if (m_Seeds.empty() && this->GetSeedImage() == nullptr)
    {
      itkExceptionMacro("There are 0 seeds, but at least one is needed: SetSeed, AddSeed, SetSeeds or SetSeedImage.");
    }
  }
  void
  VerifyInputInformation() const override
  {
    Superclass::VerifyInputInformation();
    for (const IndexType & seed : m_Seeds)
    {
      this->VerifySeed(seed);
    }
  }
  void
  GenerateData() override
  {
    m_IsOutputComplete = false;
    VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { this->ComputeOutput(); });
    m_IsOutputComplete = true;
  }

private:
  void
  ComputeOutput();

  const voxelmaps::FuzzyConnectednessVolumeCurve &
  GetVolumeCurve() const;

  SeedsType   m_Seeds;
  std::string m_UsedMethod;

  // Volumes over thresholds for the output as it was at that time.
  mutable voxelmaps::FuzzyConnectednessVolumeCurve m_VolumeCurve;
  mutable ModifiedTimeType                         m_VolumeCurveTime{ 0 };
  bool                                             m_IsOutputComplete{ false };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFuzzyConnectednessImageFilter.hxx"
#endif

#endif // itkFuzzyConnectednessImageFilter_h
