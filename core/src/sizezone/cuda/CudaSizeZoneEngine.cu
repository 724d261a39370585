// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaSizeZoneMethods.h"
#include "sizezone/SizeZonePlan.h"
#include "texture/cuda/CudaTextureEngine.h"
#include "voxelmaps/SizeZoneJob.h"

#include <string>

namespace voxelmaps
{
CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob & job, const CudaSizeZoneOptions & options)
{
  if (!options.otherDeviceIDs.empty())
  {
    return ComputeOnSeveralDevices<SizeZonePlan>(job, options, ComputeSizeZoneFeatureMapsCuda);
  }
  using Method = CudaSizeZoneOptions::Method;
  return RunCudaTextureEngine<SizeZonePlan, CudaSizeZoneReport>(
    job,
    options,
    [](const SizeZoneTask & task) {
      return CudaTextureMethods<SizeZoneTask, Method>{
        " with " + std::to_string(task.numberOfGrayLevels) + " gray levels",
        { { Method::BitPlanes, CudaBitPlanesSupports(task), true, {}, ComputeByCudaBitPlanes },
          { Method::UnionFind, true, true, CudaUnionFindScratchBytes, ComputeByCudaUnionFind } }
      };
    },
    [](const SizeZonePlan & plan, Method, CudaTables & tables, SizeZoneTask & task) {
      plan.matrix.AddTables(tables, task.scales);
    });
}
} // namespace voxelmaps
