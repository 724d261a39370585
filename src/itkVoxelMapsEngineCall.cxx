// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsEngineCall.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <new>
#include <sstream>

namespace itk
{
namespace VoxelMapsDetail
{
namespace
{
/** "1.8 GB" */
std::string
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
} // namespace

bool
IsCudaAllowed()
{
  const char * const variable = std::getenv("VOXELMAPS_USE_CUDA");
  std::string        value(variable != nullptr ? variable : "");
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
  return value != "0" && value != "OFF" && value != "NO" && value != "FALSE";
}

void
ThrowEngineError(const ProcessObject & filter, const char * remark, const voxelmaps::EngineError & error)
{
  itkGenericExceptionMacro(<< filter.GetNameOfClass() << remark << ": " << error.what());
}

void
ReportMemoryErrors(const ProcessObject & filter, const std::string & size, unsigned int numberOfComponents,
                   double bytes, const std::function<void()> & compute)
{
  try
  {
    if (bytes > static_cast<double>(std::numeric_limits<std::ptrdiff_t>::max()))
    {
      throw std::bad_alloc();
    }
    CallEngine(filter, compute);
    return;
  }
  catch (const std::bad_alloc &)
  {}
  catch (const MemoryAllocationError &)
  {}
  std::ostringstream message;
  message << filter.GetNameOfClass() << ": Not enough memory: the output of " << size << " voxels";
  if (numberOfComponents > 1)
  {
    message << " with " << numberOfComponents << " components";
  }
  message << " needs " << BytesToText(bytes) << ", in addition to the input and to what the computation needs.";
  throw MemoryAllocationError(__FILE__, __LINE__, message.str(), ITK_LOCATION);
}

voxelmaps::ParallelFor
MakeParallelFor(ProcessObject * filter)
{
  return [filter](unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body) {
    filter->GetMultiThreader()->SetNumberOfWorkUnits(filter->GetNumberOfWorkUnits());
    filter->GetMultiThreader()->ParallelizeArray(
      0, numberOfWorkers, [&body](SizeValueType worker) { body(static_cast<unsigned int>(worker)); }, nullptr);
  };
}

JobProgress::JobProgress(ProcessObject * filter, std::uint64_t numberOfVoxels)
  : m_Filter(filter)
  , m_NumberOfVoxels(std::max<std::uint64_t>(numberOfVoxels, 1))
{}

void
JobProgress::Report(std::uint64_t numberOfVoxels)
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

voxelmaps::JobExecution
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
