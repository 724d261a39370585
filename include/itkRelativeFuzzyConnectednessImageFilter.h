// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkRelativeFuzzyConnectednessImageFilter_h
#define itkRelativeFuzzyConnectednessImageFilter_h

#include "itkFuzzyConnectednessImageFilterBase.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace itk
{
/** \class RelativeFuzzyConnectednessImageFilter
 * \brief Labels for all voxels from labeled seeds: each voxel goes to the label to which it is connected most strongly.
 *
 * Paths, affinities and strengths are those of FuzzyConnectednessImageFilter, with the same parameters. There is one
 * affinity for all labels, or one for each. Seeds have labels, which are any numbers except 0.
 *
 * \par Definitions
 * Let \f$f(l, v)\f$ be the strength of the strongest path from any seed of label \f$l\f$ to voxel \f$v\f$, \f$F(v)\f$
 * the greatest \f$f(l, v)\f$ of all labels, and a seed stronger connected to its own label than any affinity. The paths
 * of a label may lead through seeds and voxels of other labels.
 * - Competition Relative (RFC): \f$v\f$ belongs to label \f$l\f$ if \f$f(l, v) > f(k, v)\f$ for all other labels
 *   \f$k\f$ \cite Saha2001. It is a tie if \f$f(l, v) = F(v) > 0\f$ for several labels.
 * - Competition Iterative (IRFC): the object of label \f$l\f$ begins with the voxels that Relative gives it, and grows:
 *   links of its voxels no longer serve other labels, and what is then connected more strongly to \f$l\f$ than to all
 *   of these joins it, until nothing changes \cite Ciesielski2007. The filter does not iterate. Call a path from a seed
 *   to \f$v\f$ strongest throughout if it reaches every voxel \f$u\f$ on it with strength \f$F(u)\f$. Then the object
 *   of \f$l\f$ is the set of all voxels that such paths reach from seeds of \f$l\f$ only. The voxels that they reach
 *   from several labels are ties. If all affinities differ, there are no ties, and the objects are the trees of the
 *   maximum spanning forest that is rooted at the seeds \cite Ciesielski2012.
 *
 * Both do not depend on the order of anything, so that results are bit-identical for all numbers of threads. Strengths
 * are compared as the integers of FuzzyConnectednessImageFilter; affinities that round to the same integer are equal.
 *
 * \par Ties
 * With TieRule Background, ties get label 0. With LowestLabel, they get the lowest of their labels: of those with
 * \f$f(l, v) = F(v)\f$ for Relative; of those from which paths reach \f$v\f$ that are strongest throughout for
 * Iterative. These paths consist of voxels that LowestLabel gives to the same label, so its objects are connected to
 * their seeds. Audigier and Lotufo \cite Audigier2007 call what several optimal forests label differently the tie zone.
 *
 * With Distance, a voxel with \f$f(l, v) = F(v) > 0\f$ for several labels \f$l\f$ gets the label of the nearest voxel
 * without such a tie, along links between voxels with ties of which each leads to a voxel that has the same tied labels
 * or more, so that it is one of these labels. Lengths are in units of 1/64 of the smallest spacing; of labels at equal
 * distances, the one with the first seed in memory is the nearest. So labels depend neither on their numbers nor on the
 * order of seeds, and both competitions give the same. If labels have affinities of their own, stronger labels can
 * surround a voxel with a tie, so that none of its labels arrives; it gets the one with the first seed. To decide by a
 * second rule where strengths are equal is the idea of power watersheds \cite Couprie2011.
 *
 * \par Outputs
 * - The labels; 0 for voxels that no path reaches, for ties with Background, and below MinimumStrength.
 * - GetStrengthImage(), with GenerateStrengthImageOn(): the strength of the winner \f$F(v)\f$, also of ties.
 * - GetMarginImage(), with GenerateMarginImageOn(): \f$F(v)\f$ minus the greatest \f$f(k, v)\f$ of all labels except
 *   the winner, as a measure of confidence. It is 0 for ties of Relative, also where Iterative decides between labels
 *   of equal strength. For ties by Distance, it is -1 / (1 + lead), where the lead is by how many voxels of the
 *   smallest spacing the nearest other label is farther than that of the voxel: -1 where both are equally near or no
 *   label arrives, and 0 where only its own arrives.
 *
 * All are 0 where \f$F(v)\f$ is less than MinimumStrength, and outside the box of CropToSeeds, which
 * FuzzyConnectednessImageFilter describes. The images of strength and margin are empty if they are not generated, and a
 * filter downstream that makes them compute is an error.
 *
 * \par Parameters
 * - Seeds (none), SeedImage (none): AddSeed(index, label), and an image whose non-zero voxels are seeds of the label
 * that is their value. At least one seed is required, and a voxel may be a seed of one label only.
 * - Competition (Iterative), TieRule (Distance): see above. AffinityFunction (AbsoluteDifference): labels meet at the
 * strongest edges between their seeds, whatever the intensities of the objects are.
 * - SetAffinityOfLabel(label, affinity): the affinity of a label by itself, for Relative. \f$f(l, v)\f$ is then
 * computed with the affinity of \f$l\f$, one label after the other; labels without one have Affinity. AffinityFunction,
 * Weight and Adjacency are the same for all.
 * - EstimateAffinityOfEveryLabel (off): whether to estimate these affinities from the seeds of each label.
 * - GenerateStrengthImage (off), GenerateMarginImage (off): see above.
 * - KeepHierarchy (off): see below.
 * - All others: see FuzzyConnectednessImageFilter. EstimateAffinityFromSeeds uses the seeds of all labels together,
 * whose intensities must be similar.
 *
 * \par Editing seeds
 * Most of the time goes into the contraction of the image to a small graph, which does not depend on the seeds. With
 * KeepHierarchyOn(), the filter retains it (GetMemoryOfHierarchy(); about 7 bytes per voxel, on a device 9 and those
 * of the image) for the next update, if only seeds, labels, competition, ties, MinimumStrength or the outputs have
 * changed since. Adding a seed takes as long as deleting one. If EstimateAffinityFromSeeds is on, other seeds give
 * another affinity, which needs another graph.
 * Images count as changed if the pipeline considers them modified: call Modified() after writing to a buffer.
 * With CropToSeeds, the graph is that of the box, so seeds that change the box need another graph. ReleaseHierarchy()
 * frees the memory. With one affinity per label, there is no such graph.
 *
 * \par Pipeline
 * Requires its entire input and produces its entire output. Memory in addition to input and output: on noisy CT, 9 to
 * 12 bytes per voxel with 6 neighbors and 13 to 15 with 26 while the graph is made; 1 byte per voxel if there is a
 * mask. With affinities of labels, 14 bytes per voxel and what FuzzyConnectednessImageFilter needs. Where most voxels
 * are seeds, links between seeds add about 100 bytes per voxel with 6 neighbors and 700 with 26. Images must have less
 * than 2^32 links.
 *
 * \par CUDA
 * Labels do not use slabs: the entire image must fit into the device memory, with 20 to 30 bytes per voxel, more for
 * vectors and where many tiles of 2048 voxels have seeds. If it does not, the exception states how much is needed, or
 * with Device Automatic, the CPU computes, as it does images of fewer than 8192 voxels. A graph that is kept stays in
 * device memory with a copy of the image: 9 bytes per voxel, and 2 for integers of up to 65535 levels, 4 for float, 8
 * for others, or for vectors 4 for each pair of opposite neighbors.
 *
 * \par Errors
 * Throws an itk::ExceptionObject that names the value in the cases of FuzzyConnectednessImageFilter, if a label is 0
 * or greater than the type of labels allows, if a voxel is a seed of two labels, if labels have separate affinities for
 * Iterative, and if one affinity is to be estimated for labels that differ in intensity by more than twice the standard
 * deviation (voxelmaps::EstimateAffinity).
 *
 * \par Sources
 * \cite Saha2001, \cite Ciesielski2007, \cite Ciesielski2012, \cite Audigier2007.
 *
 * \sa FuzzyConnectednessImageFilter, VoxelMapsImageFilter
 * \sa \python{itk.relative_fuzzy_connectedness_image_filter}, \python{voxelmaps.labels},
 * \python{voxelmaps.SeedSession}
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage,
          typename TLabelImage = typename VoxelMapsDetail::ImageOf<TInputImage, unsigned char>::Type,
          typename TStrengthImage = typename VoxelMapsDetail::ImageOf<TInputImage, float>::Type,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT RelativeFuzzyConnectednessImageFilter
  : public FuzzyConnectednessImageFilterBase<TInputImage, TLabelImage, TMaskImage, TLabelImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(RelativeFuzzyConnectednessImageFilter);

  using Self = RelativeFuzzyConnectednessImageFilter;
  using Superclass = FuzzyConnectednessImageFilterBase<TInputImage, TLabelImage, TMaskImage, TLabelImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(RelativeFuzzyConnectednessImageFilter);

  using typename Superclass::IndexType;
  using typename Superclass::InputComponentsType;
  using typename Superclass::InputImageType;
  using typename Superclass::MaskImageType;
  using LabelImageType = TLabelImage;
  using LabelPixelType = typename LabelImageType::PixelType;
  using StrengthImageType = TStrengthImage;
  using StrengthPixelType = typename StrengthImageType::PixelType;
  using CompetitionEnum = RelativeFuzzyConnectednessEnums::Competition;
  using TieRuleEnum = RelativeFuzzyConnectednessEnums::TieRule;
  using DataObjectPointerArraySizeType = ProcessObject::DataObjectPointerArraySizeType;

  static_assert((std::is_same<LabelPixelType, unsigned char>::value ||
                 std::is_same<LabelPixelType, unsigned short>::value) &&
                  VoxelMapsDetail::hasPixelsInBuffer<LabelImageType>,
                "Labels must be an itk::Image of unsigned char or unsigned short");
  static_assert((std::is_same<StrengthPixelType, float>::value || std::is_same<StrengthPixelType, double>::value) &&
                  VoxelMapsDetail::hasPixelsInBuffer<StrengthImageType>,
                "Strengths must be an itk::Image of float or double");

  /** Add a seed of a label: 1 to 255, or to 65535 if labels are unsigned short; others are an error of Update(). */
  virtual void
  AddSeed(const IndexType & seed, unsigned int label)
  {
    m_Seeds.emplace_back(seed, label);
    this->Modified();
  }
  virtual void
  ClearSeeds()
  {
    if (!m_Seeds.empty())
    {
      m_Seeds.clear();
      this->Modified();
    }
  }
  virtual SizeValueType
  GetNumberOfSeeds() const
  {
    return m_Seeds.size();
  }

  /** The affinity of one label, in place of that of all. */
  virtual void
  SetAffinityOfLabel(unsigned int label, const FuzzyConnectednessAffinity & affinity)
  {
    const auto known = m_LabelAffinities.find(label);
    if (known == m_LabelAffinities.end() || known->second != affinity)
    {
      m_LabelAffinities[label] = affinity;
      this->Modified();
    }
  }
  virtual void
  ClearAffinitiesOfLabels()
  {
    if (!m_LabelAffinities.empty())
    {
      m_LabelAffinities.clear();
      this->Modified();
    }
  }

  /** Whether to estimate the affinity of every label from its own seeds, in place of all values that are set. Default:
   * off. */
  itkSetMacro(EstimateAffinityOfEveryLabel, bool);
  itkGetConstMacro(EstimateAffinityOfEveryLabel, bool);
  itkBooleanMacro(EstimateAffinityOfEveryLabel);

  /** The affinities of labels that the last Update() used; empty if there was one for all. */
  const std::map<std::uint16_t, FuzzyConnectednessAffinity> &
  GetUsedAffinitiesOfLabels() const
  {
    return m_UsedLabelAffinities;
  }

  /** Which label gets a voxel. Default: Iterative. */
  itkSetEnumMacro(Competition, CompetitionEnum);
  itkGetEnumMacro(Competition, CompetitionEnum);

  /** What becomes of voxels that several labels have the same claim to. Default: Distance. */
  itkSetEnumMacro(TieRule, TieRuleEnum);
  itkGetEnumMacro(TieRule, TieRuleEnum);

  /** Names of the methods that support the parameters on the device of the filter: Hierarchy. */
  virtual std::vector<std::string>
  GetAvailableMethods() const
  {
    return this->template GetMethodsFor<voxelmaps::RelativeFuzzyConnectednessJob>();
  }

  /** Whether to generate the image of the winner's strength. Default: off. */
  itkSetMacro(GenerateStrengthImage, bool);
  itkGetConstMacro(GenerateStrengthImage, bool);
  itkBooleanMacro(GenerateStrengthImage);
  StrengthImageType *
  GetStrengthImage()
  {
    return static_cast<StrengthImageType *>(this->ProcessObject::GetOutput(1));
  }
  const StrengthImageType *
  GetStrengthImage() const
  {
    return static_cast<const StrengthImageType *>(this->ProcessObject::GetOutput(1));
  }

  /** Whether to generate the image of margins. Default: off. */
  itkSetMacro(GenerateMarginImage, bool);
  itkGetConstMacro(GenerateMarginImage, bool);
  itkBooleanMacro(GenerateMarginImage);
  StrengthImageType *
  GetMarginImage()
  {
    return static_cast<StrengthImageType *>(this->ProcessObject::GetOutput(2));
  }
  const StrengthImageType *
  GetMarginImage() const
  {
    return static_cast<const StrengthImageType *>(this->ProcessObject::GetOutput(2));
  }

  /** Whether to keep the contracted graph, with which other seeds take less time. It affects run time and memory, not
   * the result. Default: off. */
  virtual void
  SetKeepHierarchy(bool keepHierarchy)
  {
    // Does not call Modified(): the outputs stay as they are.
    m_KeepHierarchy = keepHierarchy;
    if (!keepHierarchy)
    {
      this->ReleaseHierarchy();
    }
  }
  itkGetConstMacro(KeepHierarchy, bool);
  itkBooleanMacro(KeepHierarchy);
  virtual void
  ReleaseHierarchy()
  {
    m_Hierarchy.Release();
  }
  /** Number of bytes of the graph that is kept now. */
  virtual std::uint64_t
  GetMemoryOfHierarchy() const
  {
    return m_Hierarchy.GetMemory();
  }

protected:
  RelativeFuzzyConnectednessImageFilter()
  {
    this->SetAffinityFunction(FuzzyConnectednessEnums::AffinityFunction::AbsoluteDifference);
    this->SetNumberOfRequiredOutputs(1);
    this->SetNthOutput(1, this->MakeOutput(1));
    this->SetNthOutput(2, this->MakeOutput(2));
  }
  ~RelativeFuzzyConnectednessImageFilter() override = default;

  DataObject::Pointer
  MakeOutput(DataObjectPointerArraySizeType number) override
  {
    if (number == 0)
    {
      return Superclass::MakeOutput(number);
    }
    return StrengthImageType::New().GetPointer();
  }
  // ImageSource makes images of labels for all names, also when an image of strengths is disconnected.
  DataObject::Pointer
  MakeOutput(const ProcessObject::DataObjectIdentifierType & name) override
  {
    return this->IsIndexedOutputName(name) ? this->MakeOutput(this->MakeIndexFromOutputName(name))
                                           : Superclass::MakeOutput(name);
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  VerifyInputInformation() const override
  {
    Superclass::VerifyInputInformation();
    for (const Seed & seed : m_Seeds)
    {
      this->VerifySeed(seed.first);
    }
  }
  void
  GenerateOutputInformation() override
  {
    Superclass::GenerateOutputInformation();
    // What is not generated has no voxels, so that nothing downstream asks for them.
    const typename StrengthImageType::RegionType nothing;
    if (!m_GenerateStrengthImage)
    {
      this->GetStrengthImage()->SetLargestPossibleRegion(nothing);
    }
    if (!m_GenerateMarginImage)
    {
      this->GetMarginImage()->SetLargestPossibleRegion(nothing);
    }
  }
  void
  GenerateOutputRequestedRegion(DataObject * output) override
  {
    const auto verify = [&](const DataObject * image, bool isGenerated, const char * name) {
      if (output == image && !isGenerated)
      {
        itkExceptionMacro("The image of " << name << "s is needed, but not generated: call Generate" << name
                                          << "ImageOn().");
      }
    };
    verify(this->GetStrengthImage(), m_GenerateStrengthImage, "Strength");
    verify(this->GetMarginImage(), m_GenerateMarginImage, "Margin");
    this->GetOutput()->SetRequestedRegionToLargestPossibleRegion();
    this->GetStrengthImage()->SetRequestedRegionToLargestPossibleRegion();
    this->GetMarginImage()->SetRequestedRegionToLargestPossibleRegion();
  }
  void
  GenerateData() override
  {
    VoxelMapsDetail::ReportMemoryErrors(*this, *this->GetOutput(), [this] { this->ComputeOutput(); });
  }

private:
  /** Compute a job, with the hierarchy if it is not null. Returns whether the device had enough memory. */
  bool
  ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job,
                voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy);

  using Seed = std::pair<IndexType, unsigned int>;

  /** What the hierarchy depends on. */
  struct State
  {
    const void *                         input;
    ModifiedTimeType                     inputTime;
    const void *                         mask;
    ModifiedTimeType                     maskTime;
    decltype(Self::m_InsidePixelValue)   insideValue;
    typename InputImageType::RegionType  region;
    voxelmaps::FuzzyConnectednessProblem problem; // without seeds and pointers

    bool
    IsSame(const State & other) const;
  };

  void
  ComputeOutput(bool mayUseCuda = true);

  /** Set labels and seeds of a job. Throws an itk::ExceptionObject if a voxel has two labels. */
  void
  FindSeeds(voxelmaps::RelativeFuzzyConnectednessJob & job) const;

  static constexpr unsigned int maximumLabel = std::numeric_limits<LabelPixelType>::max();

  /** Labels are passed as a wider type, so that out-of-range values are rejected, not truncated. */
  static bool
  IsLabel(unsigned int label)
  {
    return label >= 1 && label <= maximumLabel;
  }

  /** Absolute differences have nothing to estimate. */
  bool
  EstimatesAffinityOfEveryLabel() const
  {
    return m_EstimateAffinityOfEveryLabel &&
           this->GetAffinityFunction() != FuzzyConnectednessEnums::AffinityFunction::AbsoluteDifference;
  }

  /** Set the affinities of labels of a job that has seeds, estimated if requested. */
  void
  SetLabelAffinities(voxelmaps::RelativeFuzzyConnectednessJob & job);

  std::map<unsigned int, FuzzyConnectednessAffinity>  m_LabelAffinities;
  bool                                                m_EstimateAffinityOfEveryLabel{ false };
  std::map<std::uint16_t, FuzzyConnectednessAffinity> m_UsedLabelAffinities;

  std::vector<Seed> m_Seeds;
  CompetitionEnum   m_Competition{ CompetitionEnum::Iterative };
  TieRuleEnum       m_TieRule{ TieRuleEnum::Distance };
  bool              m_GenerateStrengthImage{ false };
  bool              m_GenerateMarginImage{ false };
  bool              m_KeepHierarchy{ false };

  voxelmaps::RelativeFuzzyConnectednessHierarchy m_Hierarchy;
  State                                          m_HierarchyState{};
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkRelativeFuzzyConnectednessImageFilter.hxx"
#endif

#endif // itkRelativeFuzzyConnectednessImageFilter_h
