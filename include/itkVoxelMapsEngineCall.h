// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsEngineCall_h
#define itkVoxelMapsEngineCall_h

#include "VoxelMapsExport.h"
#include "itkProcessObject.h"
#include "voxelmaps/Job.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace itk
{
/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
/** Whether the environment allows CUDA devices to be chosen automatically. */
VoxelMaps_EXPORT bool
IsCudaAllowed();

/** Throw an itk::ExceptionObject: the name of the filter, the remark, and the error. */
[[noreturn]] VoxelMaps_EXPORT void
ThrowEngineError(const ProcessObject & filter, const char * remark, const voxelmaps::EngineError & error);

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
    ThrowEngineError(filter, remark, error);
  }
}

/** Throw an itk::ExceptionObject unless an enumerator exists, of an enumeration that counts from 0 to the last one. */
template <typename TEnum>
void
VerifyEnumerator(const ProcessObject & filter, const char * parameterName, TEnum value, TEnum last)
{
  CallEngine(filter, [&] { voxelmaps::VerifyEnumerator(parameterName, value, last); });
}

/** Call compute(), whose output has a size, given as text, and a number of components. If there is not enough memory,
 * throw an itk::MemoryAllocationError that states them. The number of bytes is not an integer, which may overflow. */
VoxelMaps_EXPORT void
ReportMemoryErrors(const ProcessObject & filter, const std::string & size, unsigned int numberOfComponents,
                   double bytes, const std::function<void()> & compute);

/** The same for the requested region of an output, which may be one of several that are alike. */
template <typename TOutputImage>
void
ReportMemoryErrors(const ProcessObject & filter, const TOutputImage & output, const std::function<void()> & compute,
                   unsigned int numberOfOutputs = 1)
{
  std::string        size;
  const unsigned int components = output.GetNumberOfComponentsPerPixel() * numberOfOutputs;
  double             bytes = static_cast<double>(components * sizeof(typename TOutputImage::InternalPixelType));
  for (const auto length : output.GetRequestedRegion().GetSize())
  {
    size += (size.empty() ? "[" : ", ") + std::to_string(length);
    bytes *= static_cast<double>(length);
  }
  ReportMemoryErrors(filter, size + ']', components, bytes, compute);
}

/** The threads of a filter, for its engine. */
VoxelMaps_EXPORT voxelmaps::ParallelFor
                 MakeParallelFor(ProcessObject * filter);

/** \class JobProgress
 * \brief Turns the progress that an engine reports, from any thread, into progress events of its filter.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT JobProgress
{
public:
  JobProgress(ProcessObject * filter, std::uint64_t numberOfVoxels);

  /** Count finished voxels. Throws itk::ProcessAborted if the filter is to be aborted. */
  void
  Report(std::uint64_t numberOfVoxels);

private:
  ProcessObject *            m_Filter;
  const std::uint64_t        m_NumberOfVoxels;
  std::atomic<std::uint64_t> m_Done{ 0 };
};

/** The threads, progress and abort of a filter, for its engine; the progress must outlive the job. */
VoxelMaps_EXPORT voxelmaps::JobExecution
                 MakeJobExecution(ProcessObject * filter, JobProgress & progress);
} // namespace VoxelMapsDetail
} // namespace itk

#endif // itkVoxelMapsEngineCall_h
