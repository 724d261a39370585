// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaFirstOrderMethods.h"
#include "firstorder/FirstOrderPlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/FirstOrderJob.h"

#include <cmath>

namespace voxelmaps
{
CudaFirstOrderReport
ComputeFirstOrderFeatureMapsCuda(const FirstOrderJob & job, const CudaFirstOrderOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<FirstOrderPlan>(job, options, ComputeFirstOrderFeatureMapsCuda);
  }
  using Method = CudaFirstOrderOptions::Method;
  return RunCudaTextureEngine<FirstOrderPlan, CudaFirstOrderReport>(
    job,
    options,
    [](const FirstOrderTask &) {
      return CudaTextureMethods<FirstOrderTask, Method>{
        "", { { Method::RadixSelection, true, true, CudaRadixSelectionScratchBytes, ComputeByCudaRadixSelection } }
      };
    },
    [](const FirstOrderPlan & plan, Method, CudaTables & tables, FirstOrderTask & task) {
      tables.Add(plan.entropyTable, task.entropyTable);
    });
}

bool
IsCpuFaster(const FirstOrderJob & job, const CudaOptions & options)
{
  // Nanoseconds per voxel of a window, and per voxel times the square of the logarithm of their number for sorting, on
  // one CPU thread and on the device.
  constexpr double cpuNanoseconds = 2.5;
  constexpr double cpuNanosecondsPerSortStep = 0.025;
  constexpr double deviceNanoseconds = 0.003;
  constexpr double deviceNanosecondsPerSortStep = 0.0001;

  // A plan would make its table.
  FirstOrderTask task{};
  FirstOrderPlan::SetFeatures(job, task);
  const auto   voxels = static_cast<double>(NumberOfVoxels(job.outputSize));
  const auto   windowVoxels = static_cast<double>(NumberOfVoxels(job.windowSize));
  const double logarithm = task.needsPercentiles ? std::log2(windowVoxels + 1.0) : 0.0;
  const double steps = 1e-6 * voxels * windowVoxels;
  const double cpu = steps * (cpuNanoseconds + logarithm * logarithm * cpuNanosecondsPerSortStep);
  const double device = steps * (deviceNanoseconds + logarithm * logarithm * deviceNanosecondsPerSortStep);
  // The tiles of the CPU engine have about so many voxels.
  constexpr std::uint64_t tileVoxels = 8192;
  return IsCpuEngineFaster(job, job.features.size(), cpu, device, tileVoxels, options);
}
} // namespace voxelmaps
