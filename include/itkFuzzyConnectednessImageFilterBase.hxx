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
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage,
                                  TSeedImage>::FuzzyConnectednessImageFilterBase()
{
  this->AddOptionalInputName("SeedImage");
  m_CropMargin.Fill(10.0);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::PrintSelf(std::ostream & os,
                                                                                                Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "AffinityFunction: " << m_AffinityFunction << std::endl;
  os << indent << "ObjectMean: " << m_ObjectMean << std::endl;
  os << indent << "ObjectVariance: " << m_ObjectVariance << std::endl;
  os << indent << "DifferenceMean: " << m_DifferenceMean << std::endl;
  os << indent << "DifferenceVariance: " << m_DifferenceVariance << std::endl;
  os << indent << "ObjectMeanVector: " << m_Vectors.objectMean << std::endl;
  os << indent << "ObjectCovariance: " << m_Vectors.objectCovariance << std::endl;
  os << indent << "DifferenceMeanVector: " << m_Vectors.differenceMean << std::endl;
  os << indent << "DifferenceCovariance: " << m_Vectors.differenceCovariance << std::endl;
  os << indent << "Weight: " << m_Weight << std::endl;
  os << indent << "EstimateAffinityFromSeeds: " << (m_EstimateAffinityFromSeeds ? "On" : "Off") << std::endl;
  os << indent << "EstimationRadius: " << m_EstimationRadius << std::endl;
  os << indent << "MinimumStrength: " << m_MinimumStrength << std::endl;
  os << indent << "Adjacency: " << m_Adjacency << std::endl;
  os << indent << "DistanceWeighting: " << (m_DistanceWeighting ? "On" : "Off") << std::endl;
  os << indent << "CropToSeeds: " << (m_CropToSeeds ? "On" : "Off") << std::endl;
  os << indent << "CropMargin: " << m_CropMargin << std::endl;
  os << indent << "CropMarginInMillimeters: " << (m_CropMarginInMillimeters ? "On" : "Off") << std::endl;
  os << indent << "UsedCropRegion: " << m_UsedCropRegion;
  os << indent << "UsedObjectMean: " << m_UsedObjectMean << std::endl;
  os << indent << "UsedObjectVariance: " << m_UsedObjectVariance << std::endl;
  os << indent << "UsedDifferenceMean: " << m_UsedDifferenceMean << std::endl;
  os << indent << "UsedDifferenceVariance: " << m_UsedDifferenceVariance << std::endl;
  os << indent << "UsedObjectMeanVector: " << m_UsedVectors.objectMean << std::endl;
  os << indent << "UsedObjectCovariance: " << m_UsedVectors.objectCovariance << std::endl;
  os << indent << "UsedDifferenceMeanVector: " << m_UsedVectors.differenceMean << std::endl;
  os << indent << "UsedDifferenceCovariance: " << m_UsedVectors.differenceCovariance << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();

  VoxelMapsDetail::VerifyEnumerator(
    *this, "AffinityFunction", m_AffinityFunction, AffinityFunctionEnum::AbsoluteDifference);
  VoxelMapsDetail::VerifyEnumerator(*this, "Adjacency", m_Adjacency, AdjacencyEnum::Full);
  const auto verifyFraction = [this](const char * name, double fraction) {
    if (!(fraction >= 0.0 && fraction <= 1.0))
    {
      itkExceptionMacro(<< name << " is " << fraction << ", but must be 0 to 1.");
    }
  };
  if (!m_EstimateAffinityFromSeeds)
  {
    this->VerifyMean("ObjectMean", m_ObjectMean);
    this->VerifyVariance("ObjectVariance", m_ObjectVariance);
    this->VerifyMean("DifferenceMean", m_DifferenceMean);
    this->VerifyVariance("DifferenceVariance", m_DifferenceVariance);
  }
  if (m_DistanceWeighting && m_AffinityFunction == AffinityFunctionEnum::AbsoluteDifference)
  {
    itkExceptionMacro("DistanceWeighting is on, but AffinityFunction is AbsoluteDifference, which has no weighting.");
  }
  verifyFraction("Weight", m_Weight);
  verifyFraction("MinimumStrength", m_MinimumStrength);
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    if (!(m_CropMargin[d] >= 0.0))
    {
      itkExceptionMacro("CropMargin is " << m_CropMargin[d] << " along axis " << d << ", but must be at least 0.");
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyMean(
  const std::string & name, double mean) const
{
  if (!IsMean(mean))
  {
    itkExceptionMacro(<< name << " is " << mean << ", but must be finite, from " << -maxMean << " to " << maxMean
                      << '.');
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyVariance(
  const std::string & name, double variance) const
{
  if (!IsVariance(variance))
  {
    itkExceptionMacro(<< name << " is " << variance << ", but must be positive and finite, from " << minVariance
                      << " to " << maxVariance << '.');
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyInputInformation() const
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
    if (m_ObjectMean != 0.0 || m_ObjectVariance != 1.0 || m_DifferenceMean != 0.0 || m_DifferenceVariance != 1.0)
    {
      itkExceptionMacro("ObjectMean is " << m_ObjectMean << ", ObjectVariance " << m_ObjectVariance
                                         << ", DifferenceMean " << m_DifferenceMean << " and DifferenceVariance "
                                         << m_DifferenceVariance << ", but the pixels of the input have " << components
                                         << " components: set ObjectMeanVector, ObjectCovariance, DifferenceMeanVector "
                                            "and DifferenceCovariance, and leave these values at 0 and 1.");
    }
  }
  this->VerifyVectors(m_Vectors, "");
  // Last, since all else may be wrong too.
  if (!InputComponentsType::isVector && m_AffinityFunction != AffinityFunctionEnum::AbsoluteDifference &&
      !this->HasAffinity())
  {
    itkExceptionMacro("There is no affinity: set ObjectMean, ObjectVariance and DifferenceVariance, or turn "
                      "EstimateAffinityFromSeeds on.");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyVectors(
  const VoxelMapsDetail::VectorParameters & parameters, const std::string & context) const
{
  const auto verify = [&](const std::string & name, std::size_t rows, std::size_t columns, const auto & verifyValues) {
    if (rows * columns == 0)
    {
      return;
    }
    if (!InputComponentsType::isVector)
    {
      itkExceptionMacro(<< name << context << " has " << rows * columns
                        << " elements, but the input is a scalar image: set means and variances.");
    }
    VoxelMapsDetail::CallEngine(*this, verifyValues);
  };
  const unsigned int        n = this->GetInput()->GetNumberOfComponentsPerPixel();
  voxelmaps::VectorAffinity vectors;
  CopyVectors(parameters, vectors);
  const auto verifyMean = [&](const std::string & name, const std::vector<double> & mean) {
    verify(name, mean.size(), 1, [&] { voxelmaps::VerifyMeanVector(name + context, mean, n); });
  };
  const auto verifyCovariance =
    [&](const std::string & name, const Array2D<double> & matrix, const std::vector<double> & covariance) {
      verify(name, matrix.rows(), matrix.cols(), [&] {
        if (matrix.rows() != n || matrix.cols() != n)
        {
          itkExceptionMacro(<< name << context << " has " << matrix.rows() << " rows and " << matrix.cols()
                            << " columns, but pixels of " << n << " components need " << n << " of both.");
        }
        voxelmaps::VerifyCovariance(name + context, covariance, n);
      });
    };
  verifyMean("ObjectMeanVector", vectors.objectMean);
  verifyCovariance("ObjectCovariance", parameters.objectCovariance, vectors.objectCovariance);
  verifyMean("DifferenceMeanVector", vectors.differenceMean);
  verifyCovariance("DifferenceCovariance", parameters.differenceCovariance, vectors.differenceCovariance);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::CopyVectors(
  const VoxelMapsDetail::VectorParameters & parameters, voxelmaps::VectorAffinity & vectors)
{
  // vnl has the elements of a matrix in the order of rows.
  const auto copy = [](const auto & from, std::vector<double> & to) {
    if (from.size() > 0)
    {
      to.assign(from.data_block(), from.data_block() + from.size());
    }
  };
  copy(parameters.objectMean, vectors.objectMean);
  copy(parameters.objectCovariance, vectors.objectCovariance);
  copy(parameters.differenceMean, vectors.differenceMean);
  copy(parameters.differenceCovariance, vectors.differenceCovariance);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
voxelmaps::VectorAffinity
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::EstimateVectors(
  const voxelmaps::FuzzyConnectednessInput & input, const voxelmaps::JobExecution & execution) const
{
  return voxelmaps::EstimateVectorAffinity(input, { m_AffinityFunction, m_EstimationRadius }, execution).vectors;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyUsedVectors(
  const voxelmaps::FuzzyConnectednessProblem & problem, const std::string & context) const
{
  try
  {
    voxelmaps::VerifyVectorAffinity(problem, context);
  }
  catch (const voxelmaps::EngineError & error)
  {
    // What is set was verified before.
    itkExceptionMacro("The estimate from the voxels around the seeds (EstimationRadius "
                      << m_EstimationRadius << ") is no affinity. " << error.what()
                      << " Increase EstimationRadius, or set the parameter and turn EstimateAffinityFromSeeds off.");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::SetVectorAffinity(
  voxelmaps::FuzzyConnectednessProblem & problem)
{
  m_UsedVectors = VoxelMapsDetail::VectorParameters();
  if (m_AffinityFunction == AffinityFunctionEnum::AbsoluteDifference)
  {
    return;
  }
  const bool usesObject = m_AffinityFunction != AffinityFunctionEnum::Homogeneity;
  const bool usesDifferenceMean = m_AffinityFunction == AffinityFunctionEnum::WeightedSum;
  if (m_EstimateAffinityFromSeeds || m_Vectors.differenceCovariance.size() == 0 ||
      (usesObject && (m_Vectors.objectMean.size() == 0 || m_Vectors.objectCovariance.size() == 0)) ||
      (usesDifferenceMean && m_Vectors.differenceMean.size() == 0))
  {
    problem.vectors = this->EstimateVectors(problem, problem.execution);
  }
  if (!m_EstimateAffinityFromSeeds)
  {
    CopyVectors(m_Vectors, problem.vectors);
  }
  this->VerifyUsedVectors(problem, "");

  const unsigned int n = problem.numberOfComponents;
  const auto         copyMean = [](const std::vector<double> & from, Array<double> & to) {
    to.SetSize(from.size());
    std::copy(from.begin(), from.end(), to.begin());
  };
  const auto copyCovariance = [n](const std::vector<double> & from, Array2D<double> & to) {
    if (!from.empty())
    {
      to.SetSize(n, n);
      std::copy(from.begin(), from.end(), to.begin());
    }
  };
  copyMean(problem.vectors.objectMean, m_UsedVectors.objectMean);
  copyCovariance(problem.vectors.objectCovariance, m_UsedVectors.objectCovariance);
  copyMean(problem.vectors.differenceMean, m_UsedVectors.differenceMean);
  copyCovariance(problem.vectors.differenceCovariance, m_UsedVectors.differenceCovariance);
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifySeed(
  const IndexType & seed) const
{
  const auto region = this->GetInput()->GetLargestPossibleRegion();
  if (!region.IsInside(seed))
  {
    itkExceptionMacro("The seed " << seed << " is outside the image, whose index is " << region.GetIndex()
                                  << " and size " << region.GetSize() << '.');
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  const_cast<InputImageType *>(this->GetInput())->SetRequestedRegionToLargestPossibleRegion();
  if (this->GetSeedImage() != nullptr)
  {
    const_cast<SeedImageType *>(this->GetSeedImage())->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::EnlargeOutputRequestedRegion(
  DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  output->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
std::vector<std::int64_t>
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::FindImageSeeds(
  const InputImageRegionType & region, const voxelmaps::JobExecution & execution) const
{
  // In blocks of this size, most of which have no seed.
  constexpr std::int64_t blockSize = 64;

  const SeedImageType * seedImage = this->GetSeedImage();
  VoxelMapsDetail::VerifyBuffer(seedImage);
  // By the first voxel of the part that they were found in.
  std::map<std::int64_t, std::vector<std::int64_t>> found;
  std::mutex                                        mutex;
  voxelmaps::ForEachRangeOfVoxels(
    static_cast<std::int64_t>(region.GetNumberOfPixels()), execution, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t>                 seeds;
      VoxelMapsDetail::RowReader<SeedImageType> reader(seedImage);
      VoxelMapsDetail::ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
        const SeedPixelType * const row = reader.Read(index, count);
        const auto   isSeed = [row](std::int64_t i) { return row[i] != NumericTraits<SeedPixelType>::ZeroValue(); };
        std::int64_t i = 0;
        for (; i + blockSize <= count; i += blockSize)
        {
          int blockSeeds = 0;
          for (std::int64_t j = i; j < i + blockSize; ++j)
          {
            blockSeeds += isSeed(j) ? 1 : 0;
          }
          for (std::int64_t j = i; blockSeeds > 0; ++j)
          {
            if (isSeed(j))
            {
              seeds.push_back(voxel + j);
              --blockSeeds;
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
    for (std::int64_t voxel : this->FindImageSeeds(whole, VoxelMapsDetail::MakeJobExecution(this, progress)))
    {
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
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::AddImageSeeds(
  const VoxelMapsDetail::BufferedImage<InputImageType> & image, voxelmaps::FuzzyConnectednessProblem & problem) const
{
  if (this->GetSeedImage() != nullptr)
  {
    const std::vector<std::int64_t> imageSeeds = this->FindImageSeeds(image.GetBufferedRegion(), problem.execution);
    if (imageSeeds.empty())
    {
      itkExceptionMacro("The seed image has 0 non-zero voxels among "
                        << this->GetSeedImage()->GetLargestPossibleRegion().GetNumberOfPixels()
                        << ", but at least one is needed.");
    }
    problem.seeds.insert(problem.seeds.end(), imageSeeds.begin(), imageSeeds.end());
  }
  for (const std::int64_t seed : problem.seeds)
  {
    if (problem.mask != nullptr && problem.mask[seed] == 0)
    {
      itkExceptionMacro("The seed " << image.ComputeIndex(seed)
                                    << " is outside the mask: move the seed, or change the mask.");
    }
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::VerifyEstimate(
  const voxelmaps::AffinityEstimate & estimate, const std::string & context) const
{
  if (!IsVariance(estimate.variance) || !IsVariance(estimate.differenceVariance) || !IsMean(estimate.mean) ||
      !IsMean(estimate.differenceMean))
  {
    itkExceptionMacro(
      "The " << estimate.numberOfVoxels << " voxels around the seeds" << context << " (EstimationRadius "
             << m_EstimationRadius << ") have the mean " << estimate.mean << ", the variance " << estimate.variance
             << " and the difference variance " << estimate.differenceVariance << ", but the mean must be from "
             << -maxMean << " to " << maxMean << ", and both variances positive and finite, from " << minVariance
             << " to " << maxVariance
             << ": increase EstimationRadius, or set ObjectMean, ObjectVariance and DifferenceVariance and turn "
                "EstimateAffinityFromSeeds off.");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::SetAffinity(
  voxelmaps::FuzzyConnectednessProblem & problem)
{
  m_UsedObjectMean = m_ObjectMean;
  m_UsedObjectVariance = m_ObjectVariance;
  m_UsedDifferenceMean = m_DifferenceMean;
  m_UsedDifferenceVariance = m_DifferenceVariance;
  if (InputComponentsType::isVector)
  {
    this->SetVectorAffinity(problem);
  }
  else if (m_EstimateAffinityFromSeeds && m_AffinityFunction != AffinityFunctionEnum::AbsoluteDifference)
  {
    const voxelmaps::AffinityEstimate estimate =
      voxelmaps::EstimateAffinity(problem, { m_AffinityFunction, m_EstimationRadius }, problem.execution);
    m_UsedObjectMean = estimate.mean;
    m_UsedObjectVariance = estimate.variance;
    m_UsedDifferenceMean = estimate.differenceMean;
    m_UsedDifferenceVariance = estimate.differenceVariance;
    this->VerifyEstimate(estimate, "");
  }
  problem.affinityFunction = m_AffinityFunction;
  problem.objectMean = m_UsedObjectMean;
  problem.objectVariance = m_UsedObjectVariance;
  problem.differenceMean = m_UsedDifferenceMean;
  problem.differenceVariance = m_UsedDifferenceVariance;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage, typename TSeedImage>
void
FuzzyConnectednessImageFilterBase<TInputImage, TOutputImage, TMaskImage, TSeedImage>::FillProblem(
  const VoxelMapsDetail::BufferedImage<InputImageType> & image, const voxelmaps::JobExecution & execution,
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
  const auto region = image.GetBufferedRegion();
  problem.size[2] = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    problem.size[d] = static_cast<std::int64_t>(region.GetSize(d));
    problem.spacing[d] = this->GetInput()->GetSpacing()[d];
  }
  problem.image = image.GetBufferPointer();
  if constexpr (InputComponentsType::isVector)
  {
    static_assert(InputComponentsType::number == 0 ||
                    sizeof(InputPixelType) == InputComponentsType::number * sizeof(InputComponentType),
                  "The components of a pixel must follow each other in memory");
    problem.numberOfComponents = image.GetNumberOfComponentsPerPixel();
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
