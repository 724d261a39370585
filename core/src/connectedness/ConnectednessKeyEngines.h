// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ConnectednessKeyEngines_h
#define ConnectednessKeyEngines_h

#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cstddef>
#include <cstdint>
#include <memory>

// The engines up to their last step, in which keys become strengths.
namespace voxelmaps
{
/** Set all keys to noKey. */
void
ClearKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys);

/** Fill the output of the job with the strengths of keys, which may lie in an output of floats. */
void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, const std::uint32_t * keys);

/** Fill the output of the job with the strengths of the keys that compute(keys) writes. */
template <typename TCompute>
auto
ComputeStrengths(const FuzzyConnectednessJob & job, const TCompute & compute)
{
  // Floats replace their own keys. Not a vector: one thread would clear it.
  const std::unique_ptr<std::uint32_t[]> memory(
    job.outputIsDouble ? new std::uint32_t[static_cast<std::size_t>(job.GetNumberOfVoxels())] : nullptr);
  std::uint32_t * const keys = memory ? memory.get() : static_cast<std::uint32_t *>(job.output);
  const auto            report = compute(keys);
  ConvertKeysToStrengths(job, keys);
  return report;
}

/** Compute one key per voxel on the CPU, see ConnectednessKeys.h; the output of the job is not used. */
FuzzyConnectednessReport
ComputeFuzzyConnectednessKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys);

/** The same on a CUDA device. */
CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessKeysCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options,
                                  std::uint32_t * keys);
} // namespace voxelmaps

#endif // ConnectednessKeyEngines_h
