// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkRelativeFuzzyConnectednessImageFilter_hxx
#define itkRelativeFuzzyConnectednessImageFilter_hxx

#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>

namespace itk
{
template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
void
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::PrintSelf(
  std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Seeds:";
  constexpr std::size_t maxPrinted = 10;
  for (std::size_t i = 0; i < std::min(m_Seeds.size(), maxPrinted); ++i)
  {
    os << ' ' << m_Seeds[i].first << '=' << m_Seeds[i].second;
  }
  os << (m_Seeds.size() > maxPrinted ? " and others, in all " + std::to_string(m_Seeds.size()) : "");
  os << std::endl;
  os << indent << "EstimateAffinityOfEveryLabel: " << (m_EstimateAffinityOfEveryLabel ? "On" : "Off") << std::endl;
  os << indent << "LabelsWithAffinities:";
  for (const auto & each : m_LabelAffinities)
  {
    os << ' ' << each.first;
  }
  os << std::endl;
  os << indent << "Competition: " << m_Competition << std::endl;
  os << indent << "TieRule: " << m_TieRule << std::endl;
  os << indent << "GenerateStrengthImage: " << (m_GenerateStrengthImage ? "On" : "Off") << std::endl;
  os << indent << "GenerateMarginImage: " << (m_GenerateMarginImage ? "On" : "Off") << std::endl;
  os << indent << "KeepHierarchy: " << (m_KeepHierarchy ? "On" : "Off") << std::endl;
  os << indent << "MemoryOfHierarchy: " << this->GetMemoryOfHierarchy() << std::endl;
}

template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
void
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  if (m_Seeds.empty() && this->GetSeedImage() == nullptr)
  {
    itkExceptionMacro("There are 0 seeds, but at least one is needed: AddSeed or SetSeedImage.");
  }
  for (const Seed & seed : m_Seeds)
  {
    if (!IsLabel(seed.second))
    {
      itkExceptionMacro("The seed " << seed.first << " has the label " << seed.second << ", but labels must be 1 to "
                                    << maximumLabel << '.');
    }
  }
  VoxelMapsDetail::VerifyEnumerator(*this, "Competition", m_Competition, CompetitionEnum::Iterative);
  VoxelMapsDetail::VerifyEnumerator(*this, "TieRule", m_TieRule, TieRuleEnum::Distance);
  for (const auto & each : m_LabelAffinities)
  {
    if (!IsLabel(each.first))
    {
      itkExceptionMacro("The label " << each.first << " has an affinity of its own, but labels must be 1 to "
                                     << maximumLabel << '.');
    }
  }
}

template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
void
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::SetLabelAffinities(
  voxelmaps::RelativeFuzzyConnectednessJob & job)
{
  m_UsedLabelAffinities.clear();
  if (this->EstimatesAffinityOfEveryLabel())
  {
    for (const std::uint16_t label : std::set<std::uint16_t>(job.labels.begin(), job.labels.end()))
    {
      voxelmaps::FuzzyConnectednessInput input = job;
      input.seeds.clear();
      for (std::size_t i = 0; i < job.seeds.size(); ++i)
      {
        if (job.labels[i] == label)
        {
          input.seeds.push_back(job.seeds[i]);
        }
      }
      m_UsedLabelAffinities[label] =
        this->EstimateAffinity(input, job.execution, ", seeds of label " + std::to_string(label));
    }
  }
  else
  {
    m_UsedLabelAffinities.insert(m_LabelAffinities.begin(), m_LabelAffinities.end());
    for (const auto & each : m_LabelAffinities)
    {
      if (std::find(job.labels.begin(), job.labels.end(), each.first) == job.labels.end())
      {
        itkWarningMacro("The label " << each.first << " has an affinity of its own, but no seeds.");
      }
    }
  }
  job.labelAffinities = m_UsedLabelAffinities;
}

template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
void
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::FindSeeds(
  voxelmaps::RelativeFuzzyConnectednessJob & job) const
{
  const auto & region = this->GetUsedCropRegion();
  for (const Seed & seed : m_Seeds)
  {
    job.seeds.push_back(VoxelMapsDetail::GetVoxel(region, seed.first));
    job.labels.push_back(static_cast<std::uint16_t>(seed.second));
  }
  for (const std::int64_t label : this->AddImageSeeds(job))
  {
    job.labels.push_back(static_cast<std::uint16_t>(label));
  }

  // Those of a seed image alone are all different.
  std::vector<std::pair<std::int64_t, std::uint16_t>> labels;
  for (std::size_t i = 0; i < job.seeds.size() && !m_Seeds.empty(); ++i)
  {
    labels.emplace_back(job.seeds[i], job.labels[i]);
  }
  std::sort(labels.begin(), labels.end());
  for (std::size_t i = 1; i < labels.size(); ++i)
  {
    if (labels[i - 1].first == labels[i].first && labels[i - 1].second != labels[i].second)
    {
      itkExceptionMacro("The voxel " << VoxelMapsDetail::GetIndex(region, labels[i].first)
                                     << " is a seed of the labels " << labels[i - 1].second << " and "
                                     << labels[i].second << ", but a voxel may be a seed of one label only.");
    }
  }
}

template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
bool
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::State::IsSame(
  const State & other) const
{
  return input == other.input && inputTime == other.inputTime && mask == other.mask && maskTime == other.maskTime &&
         insideValue == other.insideValue && region == other.region && problem.size == other.problem.size &&
         problem.spacing == other.problem.spacing && problem.affinityFunction == other.problem.affinityFunction &&
         problem.affinity == other.problem.affinity && problem.numberOfComponents == other.problem.numberOfComponents &&
         problem.weight == other.problem.weight && problem.adjacency == other.problem.adjacency &&
         problem.distanceWeighting == other.problem.distanceWeighting;
}

template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
void
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::ComputeOutput(
  bool mayUseCuda)
{
  this->UpdateProgress(0.0f);
  StrengthImageType * const strengthImage = m_GenerateStrengthImage ? this->GetStrengthImage() : nullptr;
  StrengthImageType * const marginImage = m_GenerateMarginImage ? this->GetMarginImage() : nullptr;
  // What is not generated becomes empty.
  this->GetStrengthImage()->Initialize();
  this->GetMarginImage()->Initialize();
  this->AllocateOutputs();
  this->ChooseMemory(mayUseCuda, this->GetOutput(), strengthImage, marginImage);
  const InputImageType * input = this->GetInput();
  const MaskImageType *  maskImage = this->GetMaskImage();
  std::vector<IndexType> seeds;
  std::transform(
    m_Seeds.begin(), m_Seeds.end(), std::back_inserter(seeds), [](const Seed & seed) { return seed.first; });
  this->SetUsedCropRegion(seeds);
  const auto & region = this->GetUsedCropRegion();
  const auto   numberOfVoxels = static_cast<std::int64_t>(region.GetNumberOfPixels());

  voxelmaps::RelativeFuzzyConnectednessJob           job;
  VoxelMapsDetail::JobProgress                       progress(this, static_cast<std::uint64_t>(numberOfVoxels));
  const voxelmaps::JobExecution                      execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  const VoxelMapsDetail::InputRegion<InputImageType> inputRegion(
    this->GetNameOfClass(), input, region, execution, this->GetMemory());
  this->FillProblem(inputRegion, execution, job);
  const auto mask = this->MakeMaskBytes("the mask", maskImage, region, execution);
  job.mask = mask.get();
  if (numberOfVoxels > 0)
  {
    this->FindSeeds(job);
    this->SetUsedAffinity(job, this->EstimatesAffinityOfEveryLabel() ? std::vector<std::uint16_t>() : job.labels);
    this->SetLabelAffinities(job);
  }

  VoxelMapsDetail::OutputRegion<LabelImageType> labels(this->GetOutput(), region, this->GetMemory());
  job.labelOutput = labels.GetBufferPointer();
  job.labelsAre16Bit = sizeof(LabelPixelType) == 2;
  using StrengthRegion = VoxelMapsDetail::OutputRegion<StrengthImageType>;
  std::optional<StrengthRegion> strengths;
  std::optional<StrengthRegion> margins;
  if (strengthImage != nullptr)
  {
    strengths.emplace(strengthImage, region, this->GetMemory());
  }
  if (marginImage != nullptr)
  {
    margins.emplace(marginImage, region, this->GetMemory());
  }
  job.strengthOutput = strengths ? strengths->GetBufferPointer() : nullptr;
  job.marginOutput = margins ? margins->GetBufferPointer() : nullptr;
  job.outputIsDouble = std::is_same<StrengthPixelType, double>::value;
  job.competition = m_Competition;
  job.tieRule = m_TieRule;
  bool isComputed = true;
  if (m_KeepHierarchy && numberOfVoxels > 0)
  {
    State state{};
    state.input = input;
    state.inputTime = input->GetMTime();
    state.mask = maskImage;
    state.maskTime = maskImage != nullptr ? maskImage->GetMTime() : 0;
    state.insideValue = this->m_InsidePixelValue;
    state.region = region;
    state.problem = job;
    state.problem.seeds.clear();
    state.problem.image = nullptr;
    state.problem.mask = nullptr;
    state.problem.execution = voxelmaps::JobExecution();
    if (!state.IsSame(m_HierarchyState))
    {
      m_Hierarchy.Release();
    }
    m_HierarchyState = state;
    isComputed = this->ComputeLabels(job, &m_Hierarchy);
  }
  else if (numberOfVoxels > 0)
  {
    isComputed = this->ComputeLabels(job, nullptr);
  }
  if (!isComputed)
  {
    this->ComputeOutput(false);
    return;
  }

  labels.Write(execution);
  for (auto * const each : { &strengths, &margins })
  {
    if (*each)
    {
      (*each)->Write(execution);
    }
  }
  this->UpdateProgress(1.0f);
}

template <typename TInputImage, typename TLabelImage, typename TStrengthImage, typename TMaskImage>
bool
RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>::ComputeLabels(
  const voxelmaps::RelativeFuzzyConnectednessJob & job, voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy)
{
  if (this->UsesCudaFor(job))
  {
    const auto compute = [&](const auto & options) {
      return hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options, *hierarchy)
                                  : voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options);
    };
    const auto computeUnlessTooLarge = [&](const auto & options) {
      try
      {
        return compute(options).deviceName;
      }
      catch (const voxelmaps::DeviceMemoryError &)
      {
        if (this->GetDevice() != DeviceEnums::Device::Automatic)
        {
          throw;
        }
        return std::string();
      }
    };
    const std::string name = this->template CallCuda<voxelmaps::CudaOptions>(computeUnlessTooLarge);
    this->SetUsedDeviceName(name);
    return !name.empty();
  }
  VoxelMapsDetail::CallEngine(*this, [&] {
    hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectedness(job, *hierarchy)
                         : voxelmaps::ComputeRelativeFuzzyConnectedness(job);
  });
  this->SetUsedDeviceName("CPU");
  return true;
}
} // namespace itk

#endif // itkRelativeFuzzyConnectednessImageFilter_hxx
