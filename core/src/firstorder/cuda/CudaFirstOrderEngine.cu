// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaFirstOrderMethods.h"
#include "firstorder/FirstOrderPlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/FirstOrderJob.h"

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
} // namespace voxelmaps
