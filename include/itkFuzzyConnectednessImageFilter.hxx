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
#ifndef itkFuzzyConnectednessImageFilter_hxx
#define itkFuzzyConnectednessImageFilter_hxx

#include "itkCudaFuzzyConnectednessImageFilter.h"
#include "itkFuzzyConnectednessAffinityEstimate.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"
#include "itkVoxelMapsHostMemory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::FuzzyConnectednessImageFilter()
{
  // Using the static member instantiates it, which registers the override at load time.
  using CudaFilterType = CudaFuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>;
  static_cast<void>(VoxelMapsCudaOverride<Self, CudaFilterType>::isRegistered);
  this->AddOptionalInputName("MaskImage");
  this->AddOptionalInputName("SeedImage");
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::SetSeed(const IndexType & seed)
{
  this->SetSeeds(SeedsType(1, seed));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::AddSeed(const IndexType & seed)
{
  m_Seeds.push_back(seed);
  this->Modified();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::ClearSeeds()
{
  this->SetSeeds(SeedsType());
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::SetSeeds(const SeedsType & seeds)
{
  if (m_Seeds != seeds)
  {
    m_Seeds = seeds;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Seeds:";
  for (const IndexType & seed : m_Seeds)
  {
    os << ' ' << seed;
  }
  os << std::endl
     << indent
     << "InsidePixelValue: " << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(m_InsidePixelValue)
     << std::endl;
  os << indent << "AffinityFunction: " << m_AffinityFunction << std::endl;
  os << indent << "ObjectMean: " << m_ObjectMean << std::endl;
  os << indent << "ObjectVariance: " << m_ObjectVariance << std::endl;
  os << indent << "DifferenceMean: " << m_DifferenceMean << std::endl;
  os << indent << "DifferenceVariance: " << m_DifferenceVariance << std::endl;
  os << indent << "Weight: " << m_Weight << std::endl;
  os << indent << "EstimateAffinityFromSeeds: " << (m_EstimateAffinityFromSeeds ? "On" : "Off") << std::endl;
  os << indent << "EstimationRadius: " << m_EstimationRadius << std::endl;
  os << indent << "MinimumStrength: " << m_MinimumStrength << std::endl;
  os << indent << "Adjacency: " << m_Adjacency << std::endl;
  os << indent << "DistanceWeighting: " << (m_DistanceWeighting ? "On" : "Off") << std::endl;
  os << indent << "Method: " << m_Method << std::endl;
  os << indent << "UsedObjectMean: " << m_UsedObjectMean << std::endl;
  os << indent << "UsedObjectVariance: " << m_UsedObjectVariance << std::endl;
  os << indent << "UsedDifferenceMean: " << m_UsedDifferenceMean << std::endl;
  os << indent << "UsedDifferenceVariance: " << m_UsedDifferenceVariance << std::endl;
  os << indent << "UsedMethod: " << m_UsedMethod << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();

  if (m_Seeds.empty() && this->GetSeedImage() == nullptr)
  {
    itkExceptionMacro("There are 0 seeds, but at least one is needed: SetSeed, AddSeed, SetSeeds or SetSeedImage.");
  }
  voxelmaps::VerifyEnumerator(*this, "AffinityFunction", m_AffinityFunction, AffinityFunctionEnum::Homogeneity);
  voxelmaps::VerifyEnumerator(*this, "Adjacency", m_Adjacency, AdjacencyEnum::Full);
  voxelmaps::VerifyEnumerator(*this, "Method", m_Method, MethodEnum::Hierarchy);
  voxelmaps::VerifyInsidePixelValue(*this, m_InsidePixelValue);
  const auto verifyVariance = [this](const char * name, double variance) {
    if (!IsVariance(variance))
    {
      itkExceptionMacro(<< name << " is " << variance << ", but must be positive and finite, from " << minVariance
                        << " to " << maxVariance << '.');
    }
  };
  const auto verifyMean = [this](const char * name, double mean) {
    if (!IsMean(mean))
    {
      itkExceptionMacro(<< name << " is " << mean << ", but must be finite, from " << -maxMean << " to " << maxMean
                        << '.');
    }
  };
  const auto verifyFraction = [this](const char * name, double fraction) {
    if (!(fraction >= 0.0 && fraction <= 1.0))
    {
      itkExceptionMacro(<< name << " is " << fraction << ", but must be 0 to 1.");
    }
  };
  if (!m_EstimateAffinityFromSeeds)
  {
    verifyMean("ObjectMean", m_ObjectMean);
    verifyVariance("ObjectVariance", m_ObjectVariance);
    verifyMean("DifferenceMean", m_DifferenceMean);
    verifyVariance("DifferenceVariance", m_DifferenceVariance);
  }
  verifyFraction("Weight", m_Weight);
  verifyFraction("MinimumStrength", m_MinimumStrength);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyInputInformation() const
{
  Superclass::VerifyInputInformation();
  voxelmaps::VerifySameRegion(*this, "the mask", this->GetMaskImage(), this->GetInput());
  voxelmaps::VerifySameRegion(*this, "the seed image", this->GetSeedImage(), this->GetInput());
  const auto region = this->GetInput()->GetLargestPossibleRegion();
  for (const IndexType & seed : m_Seeds)
  {
    if (!region.IsInside(seed))
    {
      itkExceptionMacro("The seed " << seed << " is outside the image, whose index is " << region.GetIndex()
                                    << " and size " << region.GetSize() << '.');
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  const_cast<InputImageType *>(this->GetInput())->SetRequestedRegionToLargestPossibleRegion();
  for (const MaskImageType * image : { this->GetMaskImage(), this->GetSeedImage() })
  {
    if (image != nullptr)
    {
      const_cast<MaskImageType *>(image)->SetRequestedRegionToLargestPossibleRegion();
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  output->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::int64_t>
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::FindSeedsOfImage(
  const voxelmaps::JobExecution & execution) const
{
  // In blocks of this size, most of which have no seed.
  constexpr std::int64_t blockSize = 64;

  const MaskImageType * seedImage = this->GetSeedImage();
  voxelmaps::VerifyBuffer(seedImage);
  const auto region = seedImage->GetLargestPossibleRegion();
  // By the first voxel of the part that they were found in.
  std::map<std::int64_t, std::vector<std::int64_t>> found;
  std::mutex                                        mutex;
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(region.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t>           seeds;
      voxelmaps::RowReader<MaskImageType> reader(seedImage);
      voxelmaps::ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
        const MaskPixelType * const row = reader.Read(index, count);
        const auto   isSeed = [row](std::int64_t i) { return row[i] != NumericTraits<MaskPixelType>::ZeroValue(); };
        std::int64_t i = 0;
        for (; i + blockSize <= count; i += blockSize)
        {
          int seedsOfBlock = 0;
          for (std::int64_t j = i; j < i + blockSize; ++j)
          {
            seedsOfBlock += isSeed(j) ? 1 : 0;
          }
          for (std::int64_t j = i; seedsOfBlock > 0; ++j)
          {
            if (isSeed(j))
            {
              seeds.push_back(voxel + j);
              --seedsOfBlock;
            }
          }
        }
        for (; i < count; ++i)
        {
          if (isSeed(i))
          {
            seeds.push_back(voxel + i);
          }
        }
      });
      if (!seeds.empty())
      {
        const std::lock_guard<std::mutex> lock(mutex);
        found[begin] = std::move(seeds);
      }
    });
  std::vector<std::int64_t> all;
  for (const auto & part : found)
  {
    all.insert(all.end(), part.second.begin(), part.second.end());
  }
  return all;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
std::vector<std::int64_t>
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::FindSeeds(
  const voxelmaps::BufferedImage<InputImageType> & input, const voxelmaps::FuzzyConnectednessJob & job) const
{
  std::vector<std::int64_t> seeds;
  for (const IndexType & seed : m_Seeds)
  {
    seeds.push_back(input.ComputeOffset(seed));
  }
  if (this->GetSeedImage() != nullptr)
  {
    const std::vector<std::int64_t> seedsOfImage = this->FindSeedsOfImage(job.execution);
    if (seedsOfImage.empty())
    {
      itkExceptionMacro("The seed image has 0 non-zero voxels among " << job.GetNumberOfVoxels()
                                                                      << ", but at least one is needed.");
    }
    seeds.insert(seeds.end(), seedsOfImage.begin(), seedsOfImage.end());
  }
  for (const std::int64_t seed : seeds)
  {
    if (job.mask != nullptr && job.mask[seed] == 0)
    {
      itkExceptionMacro("The seed " << input.ComputeIndex(seed) << " is outside the mask, where the mask is not "
                                    << static_cast<typename NumericTraits<MaskPixelType>::PrintType>(m_InsidePixelValue)
                                    << '.');
    }
  }
  return seeds;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::SetAffinity(
  voxelmaps::FuzzyConnectednessJob & job)
{
  m_UsedObjectMean = m_ObjectMean;
  m_UsedObjectVariance = m_ObjectVariance;
  m_UsedDifferenceMean = m_DifferenceMean;
  m_UsedDifferenceVariance = m_DifferenceVariance;
  if (m_EstimateAffinityFromSeeds)
  {
    const voxelmaps::AffinityEstimate estimate =
      voxelmaps::EstimateAffinity(job, { m_AffinityFunction, m_EstimationRadius }, job.execution);
    m_UsedObjectMean = estimate.mean;
    m_UsedObjectVariance = estimate.variance;
    m_UsedDifferenceMean = estimate.differenceMean;
    m_UsedDifferenceVariance = estimate.differenceVariance;
    if (!IsVariance(estimate.variance) || !IsVariance(estimate.differenceVariance) || !IsMean(estimate.mean) ||
        !IsMean(estimate.differenceMean))
    {
      itkExceptionMacro(
        "The " << estimate.numberOfVoxels << " voxels around the seeds (EstimationRadius " << m_EstimationRadius
               << ") have the mean " << estimate.mean << ", the variance " << estimate.variance
               << " and the difference variance " << estimate.differenceVariance << ", but the mean must be from "
               << -maxMean << " to " << maxMean << ", and both variances positive and finite, from " << minVariance
               << " to " << maxVariance
               << ": increase EstimationRadius, or set ObjectMean, ObjectVariance and DifferenceVariance and turn "
                  "EstimateAffinityFromSeeds off.");
    }
  }
  job.affinityFunction = m_AffinityFunction;
  job.objectMean = m_UsedObjectMean;
  job.objectVariance = m_UsedObjectVariance;
  job.differenceMean = m_UsedDifferenceMean;
  job.differenceVariance = m_UsedDifferenceVariance;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::GenerateData()
{
  voxelmaps::ComputeOutput(*this, *this->GetOutput(), [this] { this->ComputeOutput(); });
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeOutput()
{
  this->UpdateProgress(0.0f);
  m_UsedMethod = MethodEnum::Automatic;
  const InputImageType * input = this->GetInput();
  const auto             region = input->GetLargestPossibleRegion();
  const auto             numberOfVoxels = static_cast<std::int64_t>(region.GetNumberOfPixels());
  if (numberOfVoxels == 0)
  {
    this->AllocateOutputs();
    return;
  }

  voxelmaps::FuzzyConnectednessJob job;
  using PixelTypeEnum = voxelmaps::FuzzyConnectednessJob::PixelType;
  constexpr bool        isSigned = std::is_signed<InputPixelType>::value;
  constexpr std::size_t bytes = sizeof(InputPixelType);
  if constexpr (std::is_floating_point<InputPixelType>::value)
  {
    job.pixelType = bytes == 4 ? PixelTypeEnum::Float : PixelTypeEnum::Double;
  }
  else
  {
    job.pixelType = bytes == 1   ? (isSigned ? PixelTypeEnum::Int8 : PixelTypeEnum::UInt8)
                    : bytes == 2 ? (isSigned ? PixelTypeEnum::Int16 : PixelTypeEnum::UInt16)
                                 : (isSigned ? PixelTypeEnum::Int32 : PixelTypeEnum::UInt32);
  }
  job.size[2] = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    job.size[d] = static_cast<std::int64_t>(region.GetSize(d));
    job.spacing[d] = input->GetSpacing()[d];
  }

  voxelmaps::JobProgress progress(this, static_cast<std::uint64_t>(numberOfVoxels));
  job.execution = voxelmaps::MakeJobExecution(this, progress);
  // Automatic depends on the number of threads, which may be less than the number of work units.
  job.execution.numberOfWorkers =
    std::min<unsigned int>(this->GetNumberOfWorkUnits(), this->GetMultiThreader()->GetMaximumNumberOfThreads());

  const auto bufferedInput = voxelmaps::MakeBufferedImage(input, job.execution);
  job.image = bufferedInput->GetBufferPointer();
  const auto mask = voxelmaps::MakeBytes(this->GetMaskImage(), region, m_InsidePixelValue, job.execution);
  job.mask = mask.get();
  job.seeds = this->FindSeeds(*bufferedInput, job);
  job.weight = m_Weight;
  job.minimumStrength = m_MinimumStrength;
  job.adjacency = m_Adjacency;
  job.distanceWeighting = m_DistanceWeighting;
  job.method = m_Method;
  this->SetAffinity(job);

  this->AllocateOutputs();
  job.output = this->GetOutput()->GetBufferPointer();
  voxelmaps::UseHugePages(job.output, static_cast<std::size_t>(numberOfVoxels) * sizeof(OutputPixelType));
  job.outputIsDouble = std::is_same<OutputPixelType, double>::value;
  this->ComputeStrengths(job);
  this->UpdateProgress(1.0f);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeStrengths(
  const voxelmaps::FuzzyConnectednessJob & job)
{
  m_UsedMethod = voxelmaps::CallEngine(*this, [&job] { return voxelmaps::ComputeFuzzyConnectedness(job); }).method;
}
} // namespace itk

#endif // itkFuzzyConnectednessImageFilter_hxx
