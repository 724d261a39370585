// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CudaRelativeFuzzyConnectednessJob_h
#define voxelmaps_CudaRelativeFuzzyConnectednessJob_h

#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class CudaRelativeFuzzyConnectednessReport
 * \brief How the CUDA engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct CudaRelativeFuzzyConnectednessReport : CudaReport
{
  /** Number of rounds in which components were merged, and of passes over ties. */
  std::uint64_t numberOfIterations{ 0 };
};

/** \class DeviceMemoryError
 * \brief The device has too little memory for a job that the CPU may be able to compute.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT DeviceMemoryError : public EngineError
{
public:
  using EngineError::EngineError;
};

/** Compute the outputs of a job on a CUDA device; bit-identical to ComputeRelativeFuzzyConnectedness. The whole image
 * must fit into the device memory. Throws EngineError if the job is invalid or CUDA fails, and DeviceMemoryError if the
 * device has too little memory; the message has the text of CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options);

/** The same with a hierarchy, as ComputeRelativeFuzzyConnectedness. One that was built by the CPU or on another device
 * is replaced. Its memory is that of the device. */
VoxelMapsCore_EXPORT CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
                                      RelativeFuzzyConnectednessHierarchy & hierarchy);

/** Names of the methods of a CUDA device that support a job, as GetMethods for the CPU. */
VoxelMapsCore_EXPORT std::vector<std::string>
                     GetCudaMethods(const RelativeFuzzyConnectednessJob & job, int deviceID = 0);
} // namespace voxelmaps

#endif // voxelmaps_CudaRelativeFuzzyConnectednessJob_h
