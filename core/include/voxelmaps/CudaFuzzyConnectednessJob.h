// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CudaFuzzyConnectednessJob_h
#define voxelmaps_CudaFuzzyConnectednessJob_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class CudaFuzzyConnectednessOptions
 * \brief Options of the CUDA engine for a FuzzyConnectednessJob. They do not affect the result.
 *
 * \ingroup VoxelMaps
 */
struct CudaFuzzyConnectednessOptions : CudaOptions
{
  /** Passes over voxels at block borders in every iteration of CorrectedKFOE. */
  unsigned int correctionPasses{ 2 };
};

/** \class CudaFuzzyConnectednessReport
 * \brief How the CUDA engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct CudaFuzzyConnectednessReport : CudaReport
{
  /** Number of iterations of CorrectedKFOE or rounds of Hierarchy, summed over all slabs. */
  std::uint64_t numberOfIterations{ 0 };
};

/** Compute the strengths of all voxels on a CUDA device; bit-identical to ComputeFuzzyConnectedness. Throws
 * EngineError if CUDA fails or the device has too little memory; the message has the text of
 * CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options);

/** Names of the methods of a CUDA device that support a job, as GetMethods for the CPU. */
VoxelMapsCore_EXPORT std::vector<std::string>
                     GetCudaMethods(const FuzzyConnectednessJob & job, int deviceID = 0);
} // namespace voxelmaps

#endif // voxelmaps_CudaFuzzyConnectednessJob_h
