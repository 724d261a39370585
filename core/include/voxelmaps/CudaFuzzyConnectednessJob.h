// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CudaFuzzyConnectednessJob_h
#define voxelmaps_CudaFuzzyConnectednessJob_h

#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstdint>

namespace voxelmaps
{
/** \class CudaFuzzyConnectednessOptions
 * \brief Options of the CUDA engine for a FuzzyConnectednessJob. They do not affect the result.
 *
 * \ingroup VoxelMaps
 */
struct CudaFuzzyConnectednessOptions : CudaOptions
{
  using Method = FuzzyConnectednessEnums::CudaMethod;

  Method method{ Method::Automatic };
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
  /** The method that computed the last slab; never Automatic. */
  CudaFuzzyConnectednessOptions::Method method{ CudaFuzzyConnectednessOptions::Method::Automatic };
  /** Number of iterations of CorrectedKFOE or rounds of Hierarchy, summed over all slabs. */
  std::uint64_t numberOfIterations{ 0 };
};

/** Compute the strengths of all voxels on a CUDA device; bit-identical to ComputeFuzzyConnectedness. The method of the
 * job is ignored. Throws EngineError if CUDA fails or the device has too little memory; the message has the text of
 * CUDA, what was needed and what to do. */
VoxelMapsCore_EXPORT CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_CudaFuzzyConnectednessJob_h
