// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFuzzyConnectednessImageFilterBase_hxx
#define itkFuzzyConnectednessImageFilterBase_hxx

#include "itkFuzzyConnectednessImageFilterBase.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::PrintSelf(std::ostream & os,
                                                                                                Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  const auto print = [&](const char * prefix, const FuzzyConnectednessAffinity & affinity) {
    const auto printValues = [&](const char * name, const std::vector<double> & values) {
      os << indent << prefix << name << ':';
      for (const double value : values)
      {
        os << ' ' << value;
      }
      os << std::endl;
    };
    printValues("ObjectMean", affinity.objectMean);
    printValues("ObjectCovariance", affinity.objectCovariance);
    printValues("DifferenceMean", affinity.differenceMean);
    printValues("DifferenceCovariance", affinity.differenceCovariance);
  };
  os << indent << "AffinityFunction: " << m_AffinityFunction << std::endl;
  print("", m_Affinity);
  os << indent << "Weight: " << m_Weight << std::endl;
  os << indent << "EstimateAffinityFromSeeds: " << (m_EstimateAffinityFromSeeds ? "On" : "Off") << std::endl;
  os << indent << "EstimationRadius: " << m_EstimationRadius << std::endl;
  os << indent << "MinimumStrength: " << m_MinimumStrength << std::endl;
  os << indent << "Adjacency: " << m_Adjacency << std::endl;
  os << indent << "Method: " << m_Method << std::endl;
  os << indent << "DistanceWeighting: " << (m_DistanceWeighting ? "On" : "Off") << std::endl;
  os << indent << "CropToSeeds: " << (m_CropToSeeds ? "On" : "Off") << std::endl;
  os << indent << "CropMargin: " << m_CropMargin << std::endl;
  os << indent << "CropMarginInMillimeters: " << (m_CropMarginInMillimeters ? "On" : "Off") << std::endl;
  os << indent << "UsedCropRegion: " << m_UsedCropRegion;
  print("Used", m_UsedAffinity);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
std::vector<voxelmaps::NonzeroPixel>
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::FindImageSeeds(
  const InputImageRegionType & region, const voxelmaps::JobExecution & execution) const
{
  // In blocks of this size, most of which have no seed.
  constexpr std::int64_t blockSize = 64;

  const SeedImageType * const seedImage = this->GetSeedImage();
  const auto                  pixels =
    VoxelMapsDetail::GetPixels(this->GetNameOfClass(), "the seed image", seedImage, region, this->GetMemory());
  const SeedPixelType * const seedPixels = pixels.pointer;
  if (pixels.location == VoxelMapsDetail::JobMemory::Location::Device)
  {
    return VoxelMapsDetail::FindDeviceSeeds(
      voxelmaps::GetPixelType<SeedPixelType>(), seedPixels, seedImage->GetBufferedRegion(), region, this->GetMemory());
  }
  using Found = std::vector<voxelmaps::NonzeroPixel>;
  // By the first voxel of the part that they were found in.
  std::map<std::int64_t, Found> found;
  std::mutex                    mutex;
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(region.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
      Found seeds;
      VoxelMapsDetail::ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
        const SeedPixelType * const row = seedPixels + seedImage->ComputeOffset(index);
        const auto isSeed = [row](std::int64_t i) { return row[i] != NumericTraits<SeedPixelType>::ZeroValue(); };
        for (std::int64_t i = 0; i < count; i += blockSize)
        {
          const std::int64_t blockEnd = std::min(i + blockSize, count);
          int                blockSeeds = 0;
          for (std::int64_t j = i; j < blockEnd; ++j)
          {
            blockSeeds += isSeed(j) ? 1 : 0;
          }
          for (std::int64_t j = i; blockSeeds > 0; ++j)
          {
            if (isSeed(j))
            {
              // Labels are integers; other values are not used.
              seeds.push_back(
                { voxel + j, std::is_integral<SeedPixelType>::value ? static_cast<std::int64_t>(row[j]) : 1 });
              --blockSeeds;
            }
          }
        }
      });
      if (!seeds.empty())
      {
        const std::lock_guard<std::mutex> lock(mutex);
        found[begin] = std::move(seeds);
      }
    });
  Found all;
  for (const auto & part : found)
  {
    all.insert(all.end(), part.second.begin(), part.second.end());
  }
  return all;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::SetUsedCropRegion(
  const std::vector<IndexType> & seeds)
{
  const InputImageRegionType whole = this->GetInput()->GetLargestPossibleRegion();
  m_UsedCropRegion = whole;
  if (!m_CropToSeeds || whole.GetNumberOfPixels() == 0)
  {
    return;
  }
  // The first and last voxel of the bounding box, counted from the first one of the image.
  IndexType first;
  IndexType last;
  first.Fill(NumericTraits<IndexValueType>::max());
  last.Fill(-1);
  for (const IndexType & seed : seeds)
  {
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      first[d] = std::min(first[d], seed[d] - whole.GetIndex(d));
      last[d] = std::max(last[d], seed[d] - whole.GetIndex(d));
    }
  }
  if (this->GetSeedImage() != nullptr)
  {
    VoxelMapsDetail::JobProgress progress(this, 1);
    for (const auto & seed : this->FindImageSeeds(whole, VoxelMapsDetail::MakeJobExecution(this, progress)))
    {
      std::int64_t voxel = seed.number;
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        const auto size = static_cast<std::int64_t>(whole.GetSize(d));
        first[d] = std::min<IndexValueType>(first[d], voxel % size);
        last[d] = std::max<IndexValueType>(last[d], voxel % size);
        voxel /= size;
      }
    }
  }
  if (last[0] < 0)
  {
    return; // AddImageSeeds() tells that there is no seed.
  }
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    const auto size = static_cast<IndexValueType>(whole.GetSize(d));
    // 7.7 mm are 11 voxels of 0.7 mm, although the quotient is a little more.
    constexpr double rounding = 1e-6;
    const double     margin =
      std::ceil(m_CropMarginInMillimeters ? m_CropMargin[d] / std::abs(this->GetInput()->GetSpacing()[d]) - rounding
                                          : m_CropMargin[d]);
    const IndexValueType voxels = margin < static_cast<double>(size) ? static_cast<IndexValueType>(margin) : size;
    const IndexValueType begin = std::max<IndexValueType>(first[d] - voxels, 0);
    const IndexValueType end = std::min(last[d] + voxels + 1, size);
    m_UsedCropRegion.SetIndex(d, whole.GetIndex(d) + begin);
    m_UsedCropRegion.SetSize(d, static_cast<SizeValueType>(end - begin));
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
std::vector<std::int64_t>
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::AddImageSeeds(
  voxelmaps::FuzzyConnectednessProblem & problem) const
{
  std::vector<std::int64_t> values;
  if (this->GetSeedImage() != nullptr)
  {
    const auto imageSeeds = this->FindImageSeeds(m_UsedCropRegion, problem.execution);
    if (imageSeeds.empty())
    {
      itkExceptionMacro("The seed image has 0 non-zero voxels among "
                        << this->GetSeedImage()->GetLargestPossibleRegion().GetNumberOfPixels()
                        << ", but at least one is needed.");
    }
    for (const auto & seed : imageSeeds)
    {
      problem.seeds.push_back(seed.number);
      values.push_back(seed.value);
    }
  }
  // The engines of a device verify a mask that is there.
  const bool isOnHost = this->GetMemory().options.inputLocation == VoxelMapsDetail::JobMemory::Location::Host;
  for (const std::int64_t seed : problem.seeds)
  {
    if (isOnHost && problem.mask != nullptr && problem.mask[seed] == 0)
    {
      itkExceptionMacro("The seed " << VoxelMapsDetail::GetIndex(m_UsedCropRegion, seed)
                                    << " is outside the mask: move the seed, or change the mask.");
    }
  }
  return values;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::FillProblem(
  const VoxelMapsDetail::InputRegion<InputImageType> & input, const voxelmaps::JobExecution & execution,
  voxelmaps::FuzzyConnectednessProblem & problem) const
{
  using PixelTypeEnum = voxelmaps::FuzzyConnectednessInput::PixelType;
  constexpr bool        isSigned = std::is_signed<InputComponentType>::value;
  constexpr std::size_t bytes = sizeof(InputComponentType);
  if constexpr (std::is_floating_point<InputComponentType>::value)
  {
    problem.pixelType = bytes == 4 ? PixelTypeEnum::Float : PixelTypeEnum::Double;
  }
  else
  {
    problem.pixelType = bytes == 1   ? (isSigned ? PixelTypeEnum::Int8 : PixelTypeEnum::UInt8)
                        : bytes == 2 ? (isSigned ? PixelTypeEnum::Int16 : PixelTypeEnum::UInt16)
                                     : (isSigned ? PixelTypeEnum::Int32 : PixelTypeEnum::UInt32);
  }
  const auto & region = input.GetRegion();
  problem.size[2] = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    problem.size[d] = static_cast<std::int64_t>(region.GetSize(d));
    problem.spacing[d] = this->GetInput()->GetSpacing()[d];
  }
  problem.image = input.GetBufferPointer();
  problem.method = m_Method;
  if constexpr (InputComponentsType::isVector)
  {
    static_assert(InputComponentsType::number == 0 ||
                    sizeof(InputPixelType) == InputComponentsType::number * sizeof(InputComponentType),
                  "The components of a pixel must follow each other in memory");
    problem.numberOfComponents = this->GetInput()->GetNumberOfComponentsPerPixel();
  }
  problem.execution = execution;
  // The choice of a method depends on the number of threads, which may be less than the number of work units.
  problem.execution.numberOfWorkers =
    std::min<unsigned int>(this->GetNumberOfWorkUnits(), this->GetMultiThreader()->GetMaximumNumberOfThreads());
  problem.affinityFunction = m_AffinityFunction;
  problem.weight = m_Weight;
  problem.minimumStrength = m_MinimumStrength;
  problem.adjacency = m_Adjacency;
  problem.distanceWeighting = m_DistanceWeighting;
}
} // namespace itk

#endif // itkFuzzyConnectednessImageFilterBase_hxx
