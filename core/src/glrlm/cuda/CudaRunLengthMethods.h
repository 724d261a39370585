// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRunLengthMethods_h
#define CudaRunLengthMethods_h

#include "device/CudaLaunch.h"
#include "glrlm/RunLength.h"
#include "window/cuda/CudaSlabEngine.h"

// The methods of the CUDA engine. All accept tasks with device pointers and give bit-identical results.
namespace voxelmaps
{
/** Where each feature goes, for kernels that compute features in the order of the enumeration, without entropy. */
struct FeatureComponents
{
  /** Component of a feature among those of a direction, -1 if it is not selected. */
  int  of[RunLengthTask::maxFeatures];
  bool beyondEleven;
};

inline FeatureComponents
MakeFeatureComponents(const RunLengthTask & task)
{
  FeatureComponents components{};
  for (int & component : components.of)
  {
    component = -1;
  }
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    const RunLengthJob::Feature feature = task.features[f];
    if (feature != RunLengthJob::Feature::RunEntropy)
    {
      components.of[static_cast<int>(feature)] = f;
      components.beyondEleven =
        components.beyondEleven || feature > RunLengthJob::Feature::LongRunHighGrayLevelEmphasis;
    }
  }
  return components;
}

/** The voxels of a window in a machine word. This and the following methods leave run entropy out. */
bool
CudaWindowWordSupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
void
ComputeByCudaWindowWord(const RunLengthTask & task, const CudaMethodResources & resources);

/** Box sums that neighboring windows share. */
bool
CudaBoxSumsSupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
CudaScratchBytes
CudaBoxSumsScratchBytes(const RunLengthTask & task);
void
ComputeByCudaBoxSums(const RunLengthTask & task, const CudaMethodResources & resources);

/** Windows that slide, and keep their matrices up to date. More scratch memory means fewer batches of windows. */
bool
CudaSlidingWindowSupports(const RunLengthTask & task, const CudaDeviceLimits & limits);
CudaScratchBytes
CudaSlidingWindowScratchBytes(const RunLengthTask & task);
void
ComputeByCudaSlidingWindow(const RunLengthTask & task, const CudaMethodResources & resources);

/** The pipeline of Zhang et al. More scratch memory means fewer batches of windows. */
bool
CudaSortReduceSupports(const RunLengthTask & task);
CudaScratchBytes
CudaSortReduceScratchBytes(const RunLengthTask & task);
void
ComputeByCudaSortReduce(const RunLengthTask & task, const CudaMethodResources & resources);

/** Computes run entropy only, of windows of up to 7 voxels along each axis. */
bool
CudaRunEntropyBitsSupports(const RunLengthTask & task);
void
ComputeCudaRunEntropyBits(const RunLengthTask & task, const CudaMethodResources & resources);

/** Computes run entropy only, of windows that slide. More scratch memory means fewer batches of windows. */
bool
CudaRunEntropySlideSupports(const RunLengthTask & task);
CudaScratchBytes
CudaRunEntropySlideScratchBytes(const RunLengthTask & task);
void
ComputeCudaRunEntropySlide(const RunLengthTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaRunLengthMethods_h
