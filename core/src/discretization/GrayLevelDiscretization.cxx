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
#include "voxelmaps/GrayLevelDiscretization.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <sstream>

namespace voxelmaps
{
namespace
{
template <typename... TParts>
[[noreturn]] void
ThrowError(const TParts &... parts)
{
  std::ostringstream message;
  (message << ... << parts);
  throw EngineError(message.str());
}

/** Call visit with a pixel of the type. */
template <typename TVisit>
void
VisitPixelType(PixelType pixelType, const TVisit & visit)
{
  switch (pixelType)
  {
    case PixelType::Int8:
      return visit(std::int8_t{});
    case PixelType::UInt8:
      return visit(std::uint8_t{});
    case PixelType::Int16:
      return visit(std::int16_t{});
    case PixelType::UInt16:
      return visit(std::uint16_t{});
    case PixelType::Int32:
      return visit(std::int32_t{});
    case PixelType::UInt32:
      return visit(std::uint32_t{});
    case PixelType::Int64:
      return visit(std::int64_t{});
    case PixelType::UInt64:
      return visit(std::uint64_t{});
    case PixelType::Float:
      return visit(float{});
    case PixelType::Double:
      return visit(double{});
  }
}

std::int64_t
GetPixelSize(PixelType pixelType)
{
  std::int64_t size = 0;
  VisitPixelType(pixelType, [&size](auto pixel) { size = sizeof(pixel); });
  return size;
}

/** False for all integers. */
template <typename TPixel>
bool
IsNaN(TPixel value)
{
  return value != value;
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
      ThrowError("The size of the array is ",
                 size[0],
                 " x ",
                 size[1],
                 " x ",
                 size[2],
                 ", but must not be negative, and its pixels must fit into memory.");
    }
    voxels *= extent;
  }
  return voxels;
}
} // namespace

std::ostream &
operator<<(std::ostream & out, PixelType value)
{
  switch (value)
  {
    case PixelType::Int8:
      return out << "Int8";
    case PixelType::UInt8:
      return out << "UInt8";
    case PixelType::Int16:
      return out << "Int16";
    case PixelType::UInt16:
      return out << "UInt16";
    case PixelType::Int32:
      return out << "Int32";
    case PixelType::UInt32:
      return out << "UInt32";
    case PixelType::Int64:
      return out << "Int64";
    case PixelType::UInt64:
      return out << "UInt64";
    case PixelType::Float:
      return out << "Float";
    case PixelType::Double:
      return out << "Double";
  }
  return out << "invalid pixel type";
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
      result = result & (pixels[i] >= std::numeric_limits<TPixel>::lowest()) &
               (pixels[i] <= std::numeric_limits<TPixel>::max());
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
  // Adding zero makes a negative zero positive, so that the sign does not depend on the order.
  m_Minimum = std::min(m_Minimum, static_cast<double>(lowest) + 0.0);
  m_Maximum = std::max(m_Maximum, static_cast<double>(highest) + 0.0);
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
IntensityRange::Merge(const IntensityRange & other)
{
  m_Minimum = std::min(m_Minimum, other.m_Minimum);
  m_Maximum = std::max(m_Maximum, other.m_Maximum);
  m_NumberOfUnmaskedPixels += other.m_NumberOfUnmaskedPixels;
}

GrayLevelDiscretization::GrayLevelDiscretization(const GrayLevelDiscretizationParameters & parameters,
                                                 PixelType pixelType, const IntensityRange & range,
                                                 std::int64_t numberOfVoxels)
  : m_Parameters(parameters)
  , m_PixelType(pixelType)
{
  VerifyEnumerator("The pixel type", pixelType, PixelType::Double);
  parameters.Verify();
  this->SetRange(range);
  this->SetNumberOfGrayLevels();
  VisitPixelType(pixelType, [&](auto pixel) {
    if constexpr (sizeof(pixel) <= 2)
    {
      this->MakeTable<decltype(pixel)>(numberOfVoxels);
    }
  });
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
    default:
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
        ThrowError("No intensity of the image is finite, so there is no range; the image has ",
                   range.GetNumberOfUnmaskedPixels(),
                   " voxels.");
      }
      // With an empty mask or image there is no level to compute, so any range works.
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
    ThrowError("BinWidth ",
               width,
               " over the range ",
               m_Minimum,
               " to ",
               m_Maximum,
               " makes ",
               numberOfLevels,
               " gray levels, but at most ",
               maxLevels,
               " are possible.");
  }
  m_NumberOfGrayLevels = static_cast<unsigned int>(numberOfLevels);
}

template <typename TPixel>
void
GrayLevelDiscretization::MakeTable(std::int64_t numberOfVoxels)
{
  // With fewer voxels, a table takes longer to compute than it saves. Copying an entry is faster than computing it.
  constexpr std::int64_t minVoxelsPerTableEntry = 8;
  constexpr std::int64_t copiesPerComputedEntry = 16;

  constexpr int lowest = std::numeric_limits<TPixel>::lowest();
  constexpr int highest = std::numeric_limits<TPixel>::max();
  constexpr int size = highest - lowest + 1;
  int           first = lowest;
  int           last = highest;
  if (m_Parameters.UsesRange())
  {
    // Intensities outside the range have the levels of its ends.
    const auto clamp = [](double value) {
      return static_cast<int>(std::min(std::max(value, static_cast<double>(lowest)), static_cast<double>(highest)));
    };
    first = clamp(std::floor(m_Minimum));
    last = clamp(std::ceil(m_Maximum));
  }
  const std::int64_t entries = last - first + 1 + size / copiesPerComputedEntry;
  if (sizeof(TPixel) > 1 && entries * minVoxelsPerTableEntry > numberOfVoxels)
  {
    return;
  }
  m_Table.resize(static_cast<std::size_t>(size));
  const auto at = [this](int value) { return m_Table.begin() + (value - lowest); };
  for (int value = first; value <= last; ++value)
  {
    *at(value) = this->Discretize(static_cast<TPixel>(value));
  }
  std::fill(m_Table.begin(), at(first), *at(first));
  std::fill(at(last) + 1, m_Table.end(), *at(last));
}

/** Level of an intensity; 0 for NaN, and for intensities that are not valid levels (Identity, Levels). */
template <typename TPixel>
std::uint16_t
GrayLevelDiscretization::Discretize(TPixel value) const
{
  if (IsNaN(value))
  {
    return 0;
  }
  const double minimum = m_Minimum;
  const double maximum = m_Maximum;
  const double width = m_Parameters.binWidth;
  const double number = m_Parameters.numberOfGrayLevels;
  const double scale = m_Scale;
  const auto   intensity = static_cast<double>(value);
  const double x = std::min(std::max(intensity, minimum), maximum);
  double       level = 0.0;
  switch (m_Parameters.method)
  {
    case MethodEnum::FixedBinNumber:
      level =
        maximum > minimum
          ? std::min(std::floor(number * (scale * x - scale * minimum) / (scale * maximum - scale * minimum)) + 1.0,
                     number)
          : 1.0;
      break;
    case MethodEnum::FixedBinSize:
      level = std::floor((scale * x - scale * minimum) / (scale * width)) + 1.0;
      break;
    case MethodEnum::FixedBinSizeAtMultiples:
      level = maximum > minimum ? std::floor(x / width) - std::floor(minimum / width) + 1.0 : 1.0;
      break;
    case MethodEnum::Identity:
      level = x == intensity && x == std::floor(x) ? x + 1.0 : 0.0;
      break;
    case MethodEnum::Levels:
      level = x == intensity && x == std::floor(x) ? x : 0.0;
      break;
    case MethodEnum::Edges:
      level =
        static_cast<double>(std::upper_bound(m_Parameters.binEdges.begin(), m_Parameters.binEdges.end(), intensity) -
                            m_Parameters.binEdges.begin());
      break;
  }
  return static_cast<std::uint16_t>(level);
}

/** Levels of pixels without a mask. */
template <typename TPixel>
void
GrayLevelDiscretization::Discretize(const TPixel * pixels, std::int64_t count, std::uint16_t * levels) const
{
  if constexpr (sizeof(TPixel) <= 2)
  {
    if (!m_Table.empty())
    {
      // The same function, evaluated once per value instead of once per voxel.
      const std::uint16_t * const table = m_Table.data();
      constexpr int               first = std::numeric_limits<TPixel>::lowest();
      for (std::int64_t i = 0; i < count; ++i)
      {
        levels[i] = table[static_cast<int>(pixels[i]) - first];
      }
      return;
    }
  }
  const bool   isNumber = m_Parameters.method == MethodEnum::FixedBinNumber;
  const double minimum = m_Minimum;
  const double maximum = m_Maximum;
  const double factor = isNumber ? m_Parameters.numberOfGrayLevels : 1.0;
  const double divisor = isNumber ? maximum - minimum : m_Parameters.binWidth;
  if ((isNumber || m_Parameters.method == MethodEnum::FixedBinSize) && maximum > minimum &&
      std::isfinite(factor * (maximum - minimum)))
  {
    // As for a single intensity, in a loop that compilers vectorize: bins are neither negative nor large.
    const auto numberOfLevels = static_cast<int>(m_NumberOfGrayLevels);
    for (std::int64_t i = 0; i < count; ++i)
    {
      const auto   intensity = static_cast<double>(pixels[i]);
      const bool   isNaN = intensity != intensity;
      const double x = std::min(std::max(isNaN ? minimum : intensity, minimum), maximum);
      const int    level = std::min(static_cast<int>(factor * (x - minimum) / divisor) + 1, numberOfLevels);
      levels[i] = static_cast<std::uint16_t>(isNaN ? 0 : level);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
  {
    levels[i] = this->Discretize(pixels[i]);
  }
}

/** Remember the smallest intensity that is not a valid level: these have level 0. */
template <typename TPixel>
void
GrayLevelDiscretization::FindInvalid(const TPixel * pixels, const std::uint8_t * mask, std::int64_t count,
                                     const std::uint16_t * levels)
{
  const bool            isIdentity = m_Parameters.method == MethodEnum::Identity;
  std::optional<double> smallest;
  for (std::int64_t i = 0; i < count; ++i)
  {
    // Intensity 0 is a valid level of Levels, for absent voxels, but level 0 is not one of Identity.
    if (levels[i] == 0 && (mask == nullptr || mask[i] != 0) && !IsNaN(pixels[i]) && (isIdentity || pixels[i] != 0))
    {
      const auto x = static_cast<double>(pixels[i]);
      smallest = smallest ? std::min(*smallest, x) : x;
    }
  }
  if (smallest)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_SmallestInvalid = m_SmallestInvalid ? std::min(*m_SmallestInvalid, *smallest) : *smallest;
  }
}

void
GrayLevelDiscretization::DiscretizeRow(const void * pixels, const std::uint8_t * mask, std::int64_t count,
                                       std::uint16_t * levels)
{
  VisitPixelType(m_PixelType, [&](auto pixel) {
    const auto * const values = static_cast<const decltype(pixel) *>(pixels);
    this->Discretize(values, count, levels);
    if (m_Parameters.method == MethodEnum::Identity || m_Parameters.method == MethodEnum::Levels)
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
    ThrowError("Intensity ",
               *m_SmallestInvalid,
               " is not a valid gray level: ",
               m_Parameters.method,
               " takes integers from 0 to ",
               m_Maximum,
               " (NumberOfGrayLevels",
               m_Parameters.method == MethodEnum::Identity ? " - 1" : "",
               ").");
  }
}

GrayLevelDiscretizationResult
DiscretizeGrayLevels(const GrayLevelDiscretizationJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  VerifyEnumerator("The pixel type", job.pixelType, PixelType::Double);
  job.parameters.Verify();
  const std::int64_t voxels = GetNumberOfVoxels(job);
  if (voxels > 0 && (job.pixels == nullptr || job.levels == nullptr))
  {
    ThrowError("The array has ", voxels, " voxels, but ", job.pixels == nullptr ? "pixels" : "levels", " is null.");
  }
  const auto *       pixels = static_cast<const std::uint8_t *>(job.pixels);
  const std::int64_t pixelSize = GetPixelSize(job.pixelType);

  IntensityRange range;
  if (job.parameters.NeedsWholeInput())
  {
    const std::uint8_t * const mask =
      job.parameters.rangeSource == GrayLevelDiscretizationEnums::RangeSource::Mask ? job.mask : nullptr;
    std::mutex mutex;
    ForEachRangeOfVoxels(voxels, job.execution, [&](std::int64_t begin, std::int64_t end) {
      IntensityRange part;
      part.AddRow(job.pixelType, pixels + begin * pixelSize, mask == nullptr ? nullptr : mask + begin, end - begin);
      const std::lock_guard<std::mutex> lock(mutex);
      range.Merge(part);
    });
  }

  GrayLevelDiscretization discretization(job.parameters, job.pixelType, range, voxels);
  ForEachRangeOfVoxels(voxels, job.execution, [&](std::int64_t begin, std::int64_t end) {
    discretization.DiscretizeRow(
      pixels + begin * pixelSize, job.mask == nullptr ? nullptr : job.mask + begin, end - begin, job.levels + begin);
    job.execution.ReportProgress(static_cast<std::uint64_t>(end - begin));
  });
  discretization.VerifyIntensities();
  return { discretization.GetRangeMinimum(), discretization.GetRangeMaximum(), discretization.GetNumberOfGrayLevels() };
}
} // namespace voxelmaps
