// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsEngineCall_h
#define itkVoxelMapsEngineCall_h

#include "itkMultiThreaderBase.h"
#include "itkNumericTraits.h"
#include "itkProcessObject.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <new>
#include <sstream>
#include <string>

namespace itk
{
/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
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
  catch (const voxelmaps::EngineError & error)
  {
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << remark << ": " << error.what());
  }
}

/** "1.8 GB": a number of bytes in a text. */
inline std::string
BytesToText(double bytes)
{
  const char * const   units[] = { "bytes", "kB", "MB", "GB", "TB", "PB", "EB" };
  const char * const * unit = units;
  for (; bytes >= 1000.0 && unit + 1 != std::end(units); ++unit)
  {
    bytes /= 1000.0;
  }
  std::ostringstream text;
  text.precision(3);
  text << bytes << ' ' << *unit;
  return text.str();
}

/** Call compute() for the output of a filter. If there is not enough memory, the itk::MemoryAllocationError states the
 * size of the output. */
template <typename TOutputImage, typename TCompute>
void
ReportMemoryErrors(const ProcessObject & filter, const TOutputImage & output, const TCompute & compute)
{
  const auto & size = output.GetRequestedRegion().GetSize();
  // Not an integer, which may overflow.
  double bytes = static_cast<double>(output.GetNumberOfComponentsPerPixel()) *
                 static_cast<double>(sizeof(typename TOutputImage::InternalPixelType));
  for (unsigned int d = 0; d < TOutputImage::ImageDimension; ++d)
  {
    bytes *= static_cast<double>(size[d]);
  }
  try
  {
    if (bytes > static_cast<double>(NumericTraits<std::ptrdiff_t>::max()))
    {
      throw std::bad_alloc();
    }
    compute();
    return;
  }
  catch (const std::bad_alloc &)
  {}
  catch (const MemoryAllocationError &)
  {}
  std::ostringstream message;
  message << filter.GetNameOfClass() << ": Not enough memory: the output of " << size << " voxels";
  if (output.GetNumberOfComponentsPerPixel() > 1)
  {
    message << " with " << output.GetNumberOfComponentsPerPixel() << " components";
  }
  message << " needs " << BytesToText(bytes) << ", in addition to the input and to what the computation needs.";
  throw MemoryAllocationError(__FILE__, __LINE__, message.str(), ITK_LOCATION);
}

/** The threads of a filter, for its engine. */
inline voxelmaps::ParallelFor
MakeParallelFor(ProcessObject * filter)
{
  return [filter](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    filter->GetMultiThreader()->SetNumberOfWorkUnits(filter->GetNumberOfWorkUnits());
    filter->GetMultiThreader()->ParallelizeArray(
      0, numberOfWorkers, [&body](SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
  };
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
    , m_NumberOfVoxels(std::max<std::uint64_t>(numberOfVoxels, 1))
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
inline voxelmaps::JobExecution
MakeJobExecution(ProcessObject * filter, JobProgress & progress)
{
  voxelmaps::JobExecution execution;
  execution.numberOfWorkers = filter->GetNumberOfWorkUnits();
  execution.parallelFor = MakeParallelFor(filter);
  execution.reportProgress = [&progress](std::uint64_t numberOfVoxels) { progress.Report(numberOfVoxels); };
  return execution;
}
} // namespace VoxelMapsDetail
} // namespace itk

#endif // itkVoxelMapsEngineCall_h
