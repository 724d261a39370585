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
#ifndef itkVoxelMapsJob_h
#define itkVoxelMapsJob_h

#include "VoxelMapsExport.h"

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

// What the jobs of all engines have in common. A job is the interface between a filter and its engines: plain data
// without ITK types, so that engines compiled by nvcc can use it.
namespace itk
{
namespace voxelmaps
{
/** Index or size (x, y, z), x fastest in memory; a 2D image has size 1 in z. */
using Triple = std::array<std::int64_t, 3>;

/** Calls body(0) ... body(numberOfWorkers - 1), concurrently where possible. */
using ParallelFor =
  std::function<void(unsigned int numberOfWorkers, const std::function<void(unsigned int worker)> & body)>;

/** \class JobExecution
 * \brief The threads an engine may use, and the callback by which it reports progress and checks for an abort.
 *
 * \ingroup VoxelMaps
 */
struct JobExecution
{
  unsigned int numberOfWorkers{ 1 };
  /** If empty, everything runs on the calling thread. */
  ParallelFor parallelFor;
  /** Called from any worker with the number of voxels finished since its last call; throws to abort the job. */
  std::function<void(std::uint64_t numberOfVoxels)> reportProgress;

  void
  ReportProgress(std::uint64_t numberOfVoxels) const
  {
    if (reportProgress)
    {
      reportProgress(numberOfVoxels);
    }
  }
  /** Throws if the job is to be aborted. */
  void
  CheckAbort() const
  {
    this->ReportProgress(0);
  }
};

/** \class CudaOptions
 * \brief The device a CUDA engine uses. It does not affect the result.
 *
 * \ingroup VoxelMaps
 */
struct CudaOptions
{
  int deviceID{ 0 };
  /** Maximum number of bytes of device memory to use; 0 for all that is free. */
  std::uint64_t memoryBudget{ 0 };
};

/** \class CudaReport
 * \brief How a CUDA engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct CudaReport
{
  std::string deviceName;
  /** Number of parts of the image that were computed one after the other. */
  std::uint64_t numberOfSlabs{ 0 };
  /** Sum of the times of all kernels. */
  double kernelMilliseconds{ 0.0 };
};

/** \class EngineError
 * \brief An error of an engine or of a device, which a filter turns into an itk::ExceptionObject.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT EngineError : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};
} // namespace voxelmaps
} // namespace itk

#endif // itkVoxelMapsJob_h
