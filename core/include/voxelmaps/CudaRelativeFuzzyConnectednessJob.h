// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CudaRelativeFuzzyConnectednessJob_h
#define voxelmaps_CudaRelativeFuzzyConnectednessJob_h

#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstdint>

namespace voxelmaps
{
/** \class CudaRelativeFuzzyConnectednessOptions
 * \brief Options of the CUDA engine for a RelativeFuzzyConnectednessJob. They do not affect the result.
 *
 * \ingroup VoxelMaps
 */
struct CudaRelativeFuzzyConnectednessOptions : CudaOptions
{
  using Method = RelativeFuzzyConnectednessEnums::CudaMethod;

  Method method{ Method::Automatic };
};

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
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob &         job,
                                      const CudaRelativeFuzzyConnectednessOptions & options);

/** The same with a hierarchy, as ComputeRelativeFuzzyConnectedness. One that was built by the CPU or on another device
 * is replaced. Its memory is that of the device. */
VoxelMapsCore_EXPORT CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob &         job,
                                      const CudaRelativeFuzzyConnectednessOptions & options,
                                      RelativeFuzzyConnectednessHierarchy &         hierarchy);
} // namespace voxelmaps

#endif // voxelmaps_CudaRelativeFuzzyConnectednessJob_h
