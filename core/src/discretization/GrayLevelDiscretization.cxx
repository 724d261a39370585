// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/GrayLevelDiscretization.h"

#include "common/ParallelFor.h"
#include "discretization/GrayLevelFormula.h"
#include "discretization/GrayLevelJob.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>

namespace voxelmaps
{
namespace
{
/** Text that is written like a stream. */
class Text
{
public:
  template <typename T>
  Text &
  operator<<(const T & part)
  {
    m_Stream << part;
    return *this;
  }
  operator std::string() const { return m_Stream.str(); }

private:
  std::ostringstream m_Stream;
};

void
VerifyBinEdges(const std::vector<double> & edges)
{
  if (edges.empty() || edges.size() > GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels)
  {
    throw EngineError(Text() << "There are " << edges.size() << " BinEdges, but must be 1 to "
                             << GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels << '.');
  }
  for (std::size_t i = 0; i < edges.size(); ++i)
  {
    if (!std::isfinite(edges[i]) || (i > 0 && !(edges[i - 1] < edges[i])))
    {
      throw EngineError(Text() << "Number " << i << " of the BinEdges is " << edges[i]
                               << ", but all must be finite and each greater than the one before.");
    }
  }
}
/** False for all integers. */
template <typename TPixel>
bool
IsNaN(TPixel value)
{
  return value != value;
}

template <typename TPixel, typename TIntensity>
void
Select(const TPixel * pixels, const std::uint16_t * levels, std::int64_t begin, std::int64_t end,
       TIntensity * intensities)
{
  for (std::int64_t i = begin; i < end; ++i)
  {
    // Adding 0 makes negative zero positive.
    intensities[i] = levels[i] != 0 ? static_cast<TIntensity>(pixels[i]) + TIntensity{ 0 }
                                    : std::numeric_limits<TIntensity>::quiet_NaN();
  }
}
/** Voxels of a job, whose size is verified here. */
std::int64_t
GetNumberOfVoxels(const GrayLevelDiscretizationJob & job)
{
  const Triple &     size = job.size;
  const std::int64_t pixelSize = std::max<std::int64_t>(GetPixelSize(job.pixelType), sizeof(std::uint16_t));
  std::int64_t       limit = std::numeric_limits<std::int64_t>::max() / pixelSize;
  std::int64_t       voxels = 1;
  for (const std::int64_t extent : size)
  {
    if (extent < 0 || (extent > 0 && voxels > limit / extent))
    {
      throw EngineError(Text() << "The size of the array is " << size[0] << " x " << size[1] << " x " << size[2]
                               << ", but must not be negative, and its pixels must fit into memory.");
    }
    voxels *= extent;
  }
  return voxels;
}
} // namespace

bool
GrayLevelDiscretizationParameters::UsesRange() const
{
  return method == MethodEnum::FixedBinNumber || method == MethodEnum::FixedBinSize ||
         method == MethodEnum::FixedBinSizeAtMultiples;
}

bool
GrayLevelDiscretizationParameters::NeedsWholeInput() const
{
  return this->UsesRange() && rangeSource != RangeSourceEnum::Given;
}

void
GrayLevelDiscretizationParameters::Verify() const
{
  VerifyEnumerator("The discretization method", method, MethodEnum::Edges);
  VerifyEnumerator("RangeSource", rangeSource, RangeSourceEnum::Mask);
  switch (method)
  {
    case MethodEnum::FixedBinNumber:
    case MethodEnum::Identity:
    case MethodEnum::Levels:
      if (numberOfGrayLevels < 1 || numberOfGrayLevels > MaximumNumberOfGrayLevels)
      {
        throw EngineError(Text() << "NumberOfGrayLevels is " << numberOfGrayLevels << ", but must be 1 to "
                                 << MaximumNumberOfGrayLevels << '.');
      }
      break;
    case MethodEnum::FixedBinSize:
    case MethodEnum::FixedBinSizeAtMultiples:
      if (!(binWidth > 0.0 && std::isfinite(binWidth)))
      {
        throw EngineError(Text() << "BinWidth is " << binWidth << ", but must be positive and finite.");
      }
      break;
    case MethodEnum::Edges:
      VerifyBinEdges(binEdges);
      break;
  }
  if (this->UsesRange() && rangeSource == RangeSourceEnum::Given &&
      (!(rangeMinimum < rangeMaximum) || !std::isfinite(rangeMaximum - rangeMinimum)))
  {
    throw EngineError(Text() << "The given range is " << rangeMinimum << " to " << rangeMaximum
                             << ", but RangeMinimum must be less than RangeMaximum, and their difference finite.");
  }
}

template <typename TPixel, typename TIsInside>
void
IntensityRange::Add(const TPixel * pixels, std::int64_t count, const TIsInside & isInside)
{
  const auto isUsed = [&](std::int64_t i) {
    bool result = isInside(i);
    if constexpr (std::is_floating_point<TPixel>::value)
    {
      // Finite; without branches, so that compilers vectorize the loop below.
      result &= pixels[i] >= std::numeric_limits<TPixel>::lowest();
      result &= pixels[i] <= std::numeric_limits<TPixel>::max();
    }
    return result;
  };
  std::int64_t i = 0;
  while (i < count && !isUsed(i))
  {
    ++i;
  }
  if (i == count)
  {
    return;
  }
  const TPixel first = pixels[i];
  TPixel       lowest = first;
  TPixel       highest = first;
  // In one loop, compilers make branches of the condition, which are slow for irregular masks.
  constexpr std::int64_t        blockSize = 1024;
  std::array<TPixel, blockSize> block;
  for (std::int64_t size = 0; i < count; i += size)
  {
    size = std::min(blockSize, count - i);
    for (std::int64_t j = 0; j < size; ++j)
    {
      const TPixel value = pixels[i + j];
      block[static_cast<std::size_t>(j)] = isUsed(i + j) ? value : first;
    }
    for (std::int64_t j = 0; j < size; ++j)
    {
      const TPixel value = block[static_cast<std::size_t>(j)];
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
  this->AddRange(static_cast<double>(lowest), static_cast<double>(highest), 0);
}

void
IntensityRange::AddRow(PixelType pixelType, const void * pixels, const std::uint8_t * mask, std::int64_t count)
{
  VisitPixelType(pixelType, [&](auto pixel) {
    const auto * const values = static_cast<const decltype(pixel) *>(pixels);
    if (mask != nullptr)
    {
      this->Add(values, count, [mask](std::int64_t i) { return mask[i] != 0; });
    }
    else
    {
      m_NumberOfUnmaskedPixels += count;
      this->Add(values, count, [](std::int64_t) { return true; });
    }
  });
}

void
IntensityRange::AddRange(double minimum, double maximum, std::int64_t numberOfUnmaskedPixels)
{
  // Adding zero makes a negative zero positive, so that the sign does not depend on the order.
  m_Minimum = std::min(m_Minimum, minimum + 0.0);
  m_Maximum = std::max(m_Maximum, maximum + 0.0);
  m_NumberOfUnmaskedPixels += numberOfUnmaskedPixels;
}

void
IntensityRange::Merge(const IntensityRange & other)
{
  m_Minimum = std::min(m_Minimum, other.m_Minimum);
  m_Maximum = std::max(m_Maximum, other.m_Maximum);
  m_NumberOfUnmaskedPixels += other.m_NumberOfUnmaskedPixels;
}

GrayLevelDiscretization::GrayLevelDiscretization(const GrayLevelDiscretizationParameters & parameters,
                                                 PixelType pixelType, const IntensityRange & range)
  : m_Parameters(parameters)
  , m_PixelType(pixelType)
{
  VerifyEnumerator("The pixel type", pixelType, PixelType::Double);
  parameters.Verify();
  this->SetRange(range);
  this->SetNumberOfGrayLevels();
}

void
GrayLevelDiscretization::SetRange(const IntensityRange & range)
{
  const double levels = m_Parameters.numberOfGrayLevels;
  switch (m_Parameters.method)
  {
    case MethodEnum::Identity:
      m_Minimum = 0.0;
      m_Maximum = levels - 1.0;
      break;
    case MethodEnum::Levels:
      m_Minimum = 1.0;
      m_Maximum = levels;
      break;
    case MethodEnum::Edges:
      m_Minimum = m_Parameters.binEdges.front();
      m_Maximum = m_Parameters.binEdges.back();
      break;
    case MethodEnum::FixedBinNumber:
    case MethodEnum::FixedBinSize:
    case MethodEnum::FixedBinSizeAtMultiples:
      if (!m_Parameters.NeedsWholeInput())
      {
        m_Minimum = m_Parameters.rangeMinimum;
        m_Maximum = m_Parameters.rangeMaximum;
      }
      else if (!range.IsEmpty())
      {
        m_Minimum = range.GetMinimum();
        m_Maximum = range.GetMaximum();
      }
      else if (range.GetNumberOfUnmaskedPixels() > 0)
      {
        throw EngineError(Text() << "No intensity of the image is finite, so there is no range; the image has "
                                 << range.GetNumberOfUnmaskedPixels() << " voxels.");
      }
      // An empty mask or image has no voxel to discretize, so any range works.
  }
}

void
GrayLevelDiscretization::SetNumberOfGrayLevels()
{
  constexpr unsigned int maxLevels = GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels;
  m_Scale = std::isfinite((m_Maximum - m_Minimum) * maxLevels) ? 1.0 : 0x1p-20;
  const double width = m_Parameters.binWidth;
  double       numberOfLevels = m_Parameters.numberOfGrayLevels;
  if (m_Parameters.method == MethodEnum::FixedBinSize)
  {
    numberOfLevels = std::floor((m_Scale * m_Maximum - m_Scale * m_Minimum) / (m_Scale * width)) + 1.0;
  }
  else if (m_Parameters.method == MethodEnum::FixedBinSizeAtMultiples)
  {
    // Quotients of a single intensity may be infinite.
    numberOfLevels = m_Maximum > m_Minimum ? std::floor(m_Maximum / width) - std::floor(m_Minimum / width) + 1.0 : 1.0;
  }
  else if (m_Parameters.method == MethodEnum::Edges)
  {
    numberOfLevels = static_cast<double>(m_Parameters.binEdges.size());
  }
  if (!(numberOfLevels <= maxLevels))
  {
    throw EngineError(Text() << "BinWidth " << width << " over the range " << m_Minimum << " to " << m_Maximum
                             << " makes " << numberOfLevels << " gray levels, but at most " << maxLevels
                             << " are possible.");
  }
  m_NumberOfGrayLevels = static_cast<unsigned int>(numberOfLevels);
}

/** Levels of pixels without a mask. */
template <typename TPixel>
void
GrayLevelDiscretization::Discretize(const TPixel * pixels, std::int64_t count, std::uint16_t * levels) const
{
  const bool   isNumber = m_Parameters.method == MethodEnum::FixedBinNumber;
  const double minimum = m_Minimum;
  const double maximum = m_Maximum;
  const double factor = isNumber ? m_Parameters.numberOfGrayLevels : 1.0;
  const double divisor = isNumber ? maximum - minimum : m_Parameters.binWidth;
  if ((isNumber || m_Parameters.method == MethodEnum::FixedBinSize) && maximum > minimum &&
      std::isfinite(factor * (maximum - minimum)))
  {
    // As for a single intensity: bins are neither negative nor large. In one loop, compilers make branches of the
    // conditions, which are slow for irregular intensities; these loops they vectorize.
    const auto                    numberOfLevels = static_cast<int>(m_NumberOfGrayLevels);
    constexpr std::int64_t        blockSize = 512;
    std::array<double, blockSize> block;
    double * const                x = block.data();
    for (std::int64_t begin = 0; begin < count; begin += blockSize)
    {
      const std::int64_t    size = std::min(blockSize, count - begin);
      const TPixel * const  from = pixels + begin;
      std::uint16_t * const to = levels + begin;
      for (std::int64_t i = 0; i < size; ++i)
      {
        const auto intensity = static_cast<double>(from[i]);
        x[i] = intensity > minimum ? intensity : minimum; // the minimum for NaN
      }
      for (std::int64_t i = 0; i < size; ++i)
      {
        x[i] = x[i] < maximum ? x[i] : maximum;
      }
      for (std::int64_t i = 0; i < size; ++i)
      {
        const int level = static_cast<int>(factor * (x[i] - minimum) / divisor) + 1;
        to[i] = static_cast<std::uint16_t>(std::min(level, numberOfLevels));
      }
      for (std::int64_t i = 0; std::is_floating_point<TPixel>::value && i < size; ++i)
      {
        to[i] = IsNaN(from[i]) ? std::uint16_t{ 0 } : to[i];
      }
    }
    return;
  }
  const GrayLevelFormula formula(*this);
  for (std::int64_t i = 0; i < count; ++i)
  {
    levels[i] = formula.GetLevel(static_cast<double>(pixels[i]));
  }
}

/** Remember the smallest intensity that is not a valid level: these have level 0. */
template <typename TPixel>
void
GrayLevelDiscretization::FindInvalid(const TPixel * pixels, const std::uint8_t * mask, std::int64_t count,
                                     const std::uint16_t * levels)
{
  const GrayLevelFormula formula(*this);
  std::optional<double>  smallest;
  for (std::int64_t i = 0; i < count; ++i)
  {
    const auto x = static_cast<double>(pixels[i]);
    if (levels[i] == 0 && (mask == nullptr || mask[i] != 0) && formula.IsInvalid(x))
    {
      smallest = smallest ? std::min(*smallest, x) : x;
    }
  }
  if (smallest)
  {
    this->AddInvalidIntensity(*smallest);
  }
}

void
GrayLevelDiscretization::AddInvalidIntensity(double intensity)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_SmallestInvalid = m_SmallestInvalid ? std::min(*m_SmallestInvalid, intensity) : intensity;
}

void
GrayLevelDiscretization::DiscretizeRow(const void * pixels, const std::uint8_t * mask, std::int64_t count,
                                       std::uint16_t * levels)
{
  VisitPixelType(m_PixelType, [&](auto pixel) {
    const auto * const values = static_cast<const decltype(pixel) *>(pixels);
    this->Discretize(values, count, levels);
    if (GrayLevelFormula(*this).HasInvalidIntensities())
    {
      this->FindInvalid(values, mask, count, levels);
    }
  });
  for (std::int64_t i = 0; mask != nullptr && i < count; ++i)
  {
    levels[i] = mask[i] != 0 ? levels[i] : std::uint16_t{ 0 };
  }
}

void
GrayLevelDiscretization::VerifyIntensities() const
{
  if (m_SmallestInvalid)
  {
    throw EngineError(Text() << "Intensity " << *m_SmallestInvalid
                             << " is not a valid gray level: " << m_Parameters.method << " accepts integers from 0 to "
                             << m_Maximum << " (NumberOfGrayLevels"
                             << (m_Parameters.method == MethodEnum::Identity ? " - 1" : "") << ").");
  }
}

std::int64_t
VerifyGrayLevelJob(const GrayLevelDiscretizationJob & job)
{
  VerifyEnumerator("The pixel type", job.pixelType, PixelType::Double);
  job.parameters.Verify();
  const std::int64_t voxels = GetNumberOfVoxels(job);
  if (voxels > 0 && (job.pixels == nullptr || job.levels == nullptr))
  {
    throw EngineError(Text() << "The array has " << voxels << " voxels, but "
                             << (job.pixels == nullptr ? "pixels" : "levels") << " is null.");
  }
  return voxels;
}

GrayLevelDiscretizationResult
DiscretizeGrayLevels(const GrayLevelDiscretizationJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  const std::int64_t                    voxels = VerifyGrayLevelJob(job);
  const auto *                          pixels = static_cast<const std::uint8_t *>(job.pixels);
  const std::int64_t                    pixelSize = GetPixelSize(job.pixelType);

  IntensityRange range;
  if (job.parameters.NeedsWholeInput())
  {
    const std::uint8_t * const mask = GetRangeMask(job);
    std::mutex                 mutex;
    ForEachRangeOfVoxels(voxels, job.execution, [&](std::int64_t begin, std::int64_t end) {
      IntensityRange part;
      part.AddRow(job.pixelType, pixels + begin * pixelSize, mask == nullptr ? nullptr : mask + begin, end - begin);
      const std::lock_guard<std::mutex> lock(mutex);
      range.Merge(part);
    });
  }

  GrayLevelDiscretization discretization(job.parameters, job.pixelType, range);
  ForEachRangeOfVoxels(voxels, job.execution, [&](std::int64_t begin, std::int64_t end) {
    discretization.DiscretizeRow(
      pixels + begin * pixelSize, job.mask == nullptr ? nullptr : job.mask + begin, end - begin, job.levels + begin);
    job.execution.ReportProgress(static_cast<std::uint64_t>(end - begin));
  });
  discretization.VerifyIntensities();
  return MakeGrayLevelResult(discretization);
}

void
SelectIntensities(PixelType pixelType, const void * pixels, const std::uint16_t * levels, std::int64_t count,
                  void * intensities, bool intensitiesAreDouble, const JobExecution & execution)
{
  VerifyEnumerator("The pixel type", pixelType, PixelType::Double);
  ForEachRangeOfVoxels(count, execution, [&](std::int64_t begin, std::int64_t end) {
    VisitPixelType(pixelType, [&](auto pixel) {
      const auto * const values = static_cast<const decltype(pixel) *>(pixels);
      intensitiesAreDouble ? Select(values, levels, begin, end, static_cast<double *>(intensities))
                           : Select(values, levels, begin, end, static_cast<float *>(intensities));
    });
  });
}
} // namespace voxelmaps
