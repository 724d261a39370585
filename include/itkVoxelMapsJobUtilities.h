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
#ifndef itkVoxelMapsJobUtilities_h
#define itkVoxelMapsJobUtilities_h

#include "itkImage.h"
#include "itkMultiThreaderBase.h"
#include "itkProcessObject.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsHostMemory.h"
#include "itkVoxelMapsJob.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** Throw an itk::ExceptionObject unless the other image, such as a mask, has the region of the image. */
template <typename TImage, typename TOtherImage>
void
VerifySameRegion(const ProcessObject & filter, const char * nameOfOther, const TOtherImage * other,
                 const TImage * image)
{
  if (other != nullptr && other->GetLargestPossibleRegion() != image->GetLargestPossibleRegion())
  {
    const auto & region = other->GetLargestPossibleRegion();
    const auto & expected = image->GetLargestPossibleRegion();
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": " << nameOfOther << " has index " << region.GetIndex()
                             << " and size " << region.GetSize() << ", but the image has index " << expected.GetIndex()
                             << " and size " << expected.GetSize() << ": both must be the same.");
  }
}

/** The threads of a filter, for its engine. */
inline ParallelFor
MakeParallelFor(ProcessObject * filter)
{
  return [filter](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    filter->GetMultiThreader()->SetNumberOfWorkUnits(filter->GetNumberOfWorkUnits());
    filter->GetMultiThreader()->ParallelizeArray(
      0, numberOfWorkers, [&body](SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
  };
}

/** Call an engine or a device on behalf of a filter. Its own errors become an itk::ExceptionObject, with the remark
 * after the name of the filter; all other exceptions, such as those of the user's observers, pass unchanged. */
template <typename TCompute>
auto
CallEngine(const ProcessObject & filter, const TCompute & compute, const char * remark = "")
{
  try
  {
    return compute();
  }
  catch (const EngineError & error)
  {
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << remark << ": " << error.what());
  }
}

/** CallEngine for engines that need a CUDA device; the message says so. */
template <typename TCompute>
auto
CallDevice(const ProcessObject & filter, const TCompute & compute)
{
  return CallEngine(filter, compute, ", which needs a CUDA device");
}

/** \class JobProgress
 * \brief Turns the progress that an engine reports, from any thread, into progress events of its filter.
 *
 * \ingroup VoxelMaps
 */
class JobProgress
{
public:
  JobProgress(ProcessObject * filter, std::uint64_t numberOfVoxels)
    : m_Filter(filter)
    , m_NumberOfVoxels(numberOfVoxels)
  {}

  /** Count finished voxels. Throws itk::ProcessAborted if the filter is to be aborted. */
  void
  Report(std::uint64_t numberOfVoxels)
  {
    if (m_Filter->GetAbortGenerateData())
    {
      ProcessAborted aborted(__FILE__, __LINE__);
      aborted.SetDescription(std::string("Object ") + m_Filter->GetNameOfClass() + ": AbortGenerateDataOn");
      throw aborted;
    }
    // At most a hundred events, even if few voxels are reported at a time.
    const std::uint64_t before = m_Done.fetch_add(numberOfVoxels);
    const std::uint64_t percents = (before + numberOfVoxels) * 100 / m_NumberOfVoxels - before * 100 / m_NumberOfVoxels;
    if (percents > 0)
    {
      m_Filter->IncrementProgress(static_cast<float>(percents) * 0.01f);
    }
  }

private:
  ProcessObject *            m_Filter;
  const std::uint64_t        m_NumberOfVoxels;
  std::atomic<std::uint64_t> m_Done{ 0 };
};

/** The threads, progress and abort of a filter, for its engine; the progress must outlive the job. */
inline JobExecution
MakeJobExecution(ProcessObject * filter, JobProgress & progress)
{
  JobExecution execution;
  execution.numberOfWorkers = filter->GetNumberOfWorkUnits();
  execution.parallelFor = MakeParallelFor(filter);
  execution.reportProgress = [&progress](std::uint64_t numberOfVoxels) { progress.Report(numberOfVoxels); };
  return execution;
}

/** Call compute(begin, end) for parts of 0 ... size - 1, by all workers, with checks for an abort. */
VoxelMaps_EXPORT void
ForEachRangeOfVoxels(std::int64_t size, const JobExecution & execution,
                     const std::function<void(std::int64_t begin, std::int64_t end)> & compute);

/** Call f(index, voxel, count) for the rows of a region, or their parts, that hold voxels begin ... end - 1 of the
 * region: each has count voxels from that index on, the first of which is that voxel of the region. */
template <typename TRegion, typename TFunction>
void
ForEachRow(const TRegion & region, std::int64_t begin, std::int64_t end, const TFunction & f)
{
  const auto length = static_cast<std::int64_t>(region.GetSize(0));
  for (std::int64_t voxel = begin; voxel < end;)
  {
    auto         index = region.GetIndex();
    std::int64_t rest = voxel;
    for (unsigned int d = 0; d < TRegion::ImageDimension; ++d)
    {
      index[d] += rest % static_cast<std::int64_t>(region.GetSize(d));
      rest /= static_cast<std::int64_t>(region.GetSize(d));
    }
    const std::int64_t count = std::min(end - voxel, length - voxel % length);
    f(index, voxel, count);
    voxel += count;
  }
}

/** \class RowReader
 * \brief Pointers to the pixels of rows, which loops read faster than iterators.
 *
 * Images that compute their pixels, such as adaptors, are copied row by row.
 *
 * \ingroup VoxelMaps
 */
template <typename TImage>
class RowReader
{
public:
  using PixelType = typename TImage::PixelType;

  explicit RowReader(const TImage * image)
    : m_Image(image)
  {}

  /** The pixels of a row from an index on, until the next call. */
  const PixelType *
  Read(const typename TImage::IndexType & index, std::int64_t count)
  {
    if constexpr (std::is_base_of<Image<PixelType, TImage::ImageDimension>, TImage>::value)
    {
      static_cast<void>(count);
      return m_Image->GetBufferPointer() + m_Image->ComputeOffset(index);
    }
    else
    {
      m_Row.clear();
      auto at = index;
      for (std::int64_t i = 0; i < count; ++i, ++at[0])
      {
        m_Row.push_back(m_Image->GetPixel(at));
      }
      return m_Row.data();
    }
  }

private:
  const TImage *         m_Image;
  std::vector<PixelType> m_Row;
};

/** One byte per voxel of a region, 1 where the image has this value and 0 elsewhere; null without an image. */
template <typename TImage>
std::unique_ptr<std::uint8_t[]>
MakeBytes(const TImage * image, const typename TImage::RegionType & region, typename TImage::PixelType value,
          const JobExecution & execution)
{
  if (image == nullptr)
  {
    return nullptr;
  }
  const auto size = static_cast<std::int64_t>(region.GetNumberOfPixels());
  // Not a vector: one thread would clear it.
  std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[static_cast<std::size_t>(size)]);
  UseHugePages(bytes.get(), static_cast<std::size_t>(size));
  ForEachRangeOfVoxels(size, execution, [&](std::int64_t begin, std::int64_t end) {
    RowReader<TImage> reader(image);
    ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
      const auto * const   row = reader.Read(index, count);
      std::uint8_t * const to = bytes.get() + voxel;
      for (std::int64_t i = 0; i < count; ++i)
      {
        to[i] = row[i] == value ? 1 : 0;
      }
    });
  });
  return bytes;
}
} // namespace voxelmaps
} // namespace itk

/** Set and get a parameter that is a field of a struct. */
#define VoxelMapsSetGetMacro(name, type, field)                                                                        \
  virtual void Set##name(const type & value)                                                                           \
  {                                                                                                                    \
    itkDebugMacro("setting " #name);                                                                                   \
    if (field != value)                                                                                                \
    {                                                                                                                  \
      field = value;                                                                                                   \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return field;                                                                                                      \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

#endif // itkVoxelMapsJobUtilities_h
