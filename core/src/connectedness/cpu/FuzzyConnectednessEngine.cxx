// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "BucketsMethod.h"
#include "HierarchyMethod.h"
#include "connectedness/ConnectednessKeyEngines.h"
#include "connectedness/KeysToStrengths.h"
#include "connectedness/VerifyJob.h"

#include <algorithm>
#include <type_traits>

namespace voxelmaps
{
namespace
{
using Method = FuzzyConnectednessJob::Method;

// Hierarchy always works on the whole image, most of which a search for strong voxels does not visit; but all workers
// share its work, while Buckets has one thread.
constexpr unsigned int minWorkersForHierarchy = 4;

/** Whether Hierarchy can number all links with 32 bits. */
bool
HierarchySupports(const FuzzyConnectednessJob & job)
{
  // A link is counted at one of its two ends.
  const auto voxelLinks = static_cast<std::int64_t>(MakeLinks(job).size() / 2);
  return job.GetNumberOfVoxels() < std::int64_t{ 0xffffffff } / std::max<std::int64_t>(voxelLinks, 1);
}
} // namespace

FuzzyConnectednessJob::Method
ChooseMethod(const FuzzyConnectednessJob & job)
{
  Method method = job.method;
  if (method == Method::Automatic)
  {
    method = job.minimumStrength == 0.0 || job.execution.numberOfWorkers >= minWorkersForHierarchy ? Method::Hierarchy
                                                                                                   : Method::Buckets;
  }
  return method == Method::Hierarchy && !HierarchySupports(job) ? Method::Buckets : method;
}

FuzzyConnectednessReport
ComputeFuzzyConnectednessKeys(const FuzzyConnectednessJob & job, std::uint32_t * keys)
{
  VerifyJob(job);
  FuzzyConnectednessReport report;
  report.method = ChooseMethod(job);
  if (job.GetNumberOfVoxels() == 0)
  {
    return report;
  }
  ClearKeys(job, keys);
  if (report.method == Method::Hierarchy)
  {
    HierarchyMethod(job, keys).Run();
    return report;
  }
  WithPixels(job, [&](const auto * image) {
    using Pixel = std::remove_cv_t<std::remove_reference_t<decltype(*image)>>;
    if (job.GetNumberOfVoxels() <= std::int64_t{ 0xffffffff })
    {
      BucketsMethod<Pixel, std::uint32_t>(job, keys).Run();
    }
    else
    {
      BucketsMethod<Pixel, std::int64_t>(job, keys).Run();
    }
  });
  return report;
}

FuzzyConnectednessReport
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job)
{
  VerifyOutput(job);
  std::uint32_t * const          keys = GetKeysInOutput(job);
  const FuzzyConnectednessReport report = ComputeFuzzyConnectednessKeys(job, keys);
  ConvertKeysToStrengths(job, keys);
  return report;
}
} // namespace voxelmaps
