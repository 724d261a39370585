// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_VoxelMapsJob_h
#define voxelmaps_VoxelMapsJob_h

#include "voxelmaps/CoreExport.h"

#include <array>
#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// What the jobs of all engines have in common. A job is the interface between a filter and its engines: plain data
// without ITK types, so that engines compiled by nvcc can use it.
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

/** Where an array is in memory. */
enum class MemoryLocation : std::uint8_t
{
  Host,
  Device
};

/** \class CudaOptions
 * \brief The devices a CUDA engine uses, and the memory that holds the arrays of a job. They do not affect the result.
 *
 * \ingroup VoxelMaps
 */
struct CudaOptions
{
  int deviceID{ 0 };
  /** Further devices, which compute parts of texture feature maps at the same time. Connectedness does not use them. */
  std::vector<int> otherDeviceIDs;
  /** Maximum number of bytes of device memory to use, on each device; 0 for all that is free. */
  std::uint64_t memoryBudget{ 0 };

  /** Where all arrays that the engine reads are, and where all that it writes are; those of a device must be accessible
   * by the one with deviceID. */
  MemoryLocation inputLocation{ MemoryLocation::Host };
  MemoryLocation outputLocation{ MemoryLocation::Host };
  /** The cudaStream_t in which arrays in device memory are used: after the work so far in it, and before all later
   * work. Null is the legacy default stream. If the output is in device memory, the call may return before it has
   * been computed. Not used if all arrays are in host memory. */
  void * stream{ nullptr };

  bool
  UsesStream() const
  {
    return inputLocation == MemoryLocation::Device || outputLocation == MemoryLocation::Device;
  }
};

/** \class CudaReport
 * \brief How a CUDA engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct CudaReport
{
  std::string deviceName;
  /** The method that computed the job; empty if there was nothing to compute, or if the CPU has computed it: the device
   * is then "CPU". */
  std::string method;
  /** Number of parts of the image that were computed one after the other. */
  std::uint64_t numberOfSlabs{ 0 };
  /** Sum of the times of all kernels; 0 if the output is in device memory, since the call does not wait for them. */
  double kernelMilliseconds{ 0.0 };
};

/** \class EngineError
 * \brief An error of an engine or of a device, which a filter turns into an itk::ExceptionObject.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT EngineError : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/** \class UnsupportedMethodError
 * \brief The method of a job does not exist or does not support it; the message lists those that do.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT UnsupportedMethodError : public EngineError
{
public:
  using EngineError::EngineError;
};

/** Throw EngineError unless an enumerator exists, of an enumeration that counts from 0 to the last one. */
template <typename TEnum>
void
VerifyEnumerator(const char * nameOfParameter, TEnum value, TEnum last)
{
  static_assert(std::is_unsigned<std::underlying_type_t<TEnum>>::value, "there are no negative enumerators");
  if (value > last)
  {
    std::ostringstream message;
    message << nameOfParameter << " is " << static_cast<unsigned int>(value) << ", which does not exist; it must be 0 ("
            << static_cast<TEnum>(0) << ") to " << static_cast<unsigned int>(last) << " (" << last << ").";
    throw EngineError(message.str());
  }
}

/** Call compute(begin, end) for parts of 0 ... size - 1, by all workers, with checks for an abort. */
VoxelMapsCore_EXPORT void
ForEachRangeOfVoxels(std::int64_t size, const JobExecution & execution,
                     const std::function<void(std::int64_t begin, std::int64_t end)> & compute);
} // namespace voxelmaps

#endif // voxelmaps_VoxelMapsJob_h
