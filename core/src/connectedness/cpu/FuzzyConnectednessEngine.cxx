// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "BucketsMethod.h"
#include "HierarchyMethod.h"
#include "QueueMethod.h"
#include "TilesMethod.h"

#include "connectedness/ConnectednessKeyEngines.h"
#include "connectedness/KeysToStrengths.h"
#include "connectedness/VerifyJob.h"

#include <type_traits>

namespace voxelmaps
{
namespace
{
using Method = FuzzyConnectednessJob::Method;

// Tiles visits voxels several times, so with fewer threads it is slower than one thread of Buckets, which settles every
// voxel once.
constexpr unsigned int minWorkersForTiles = 4;

// With more links per voxel, Hierarchy needs more than 12 bytes of memory per voxel.
constexpr std::size_t maxLinksForHierarchy = 8;

/** Whether Hierarchy can number all links with 32 bits. */
bool
HierarchyCanTake(const FuzzyConnectednessJob & job, std::size_t links)
{
  // A link is counted at one of its two ends.
  const auto voxelLinks = static_cast<std::int64_t>(links / 2);
  return job.GetNumberOfVoxels() < std::int64_t{ 0xffffffff } / std::max<std::int64_t>(voxelLinks, 1);
}

template <typename TPixel>
void
Run(Method method, const ConnectednessSearch<TPixel> & search)
{
  switch (method)
  {
    case Method::Queue:
      return RunQueueMethod(search);
    case Method::Tiles:
      return TilesMethod<TPixel>(search).Run();
    default:
      break;
  }
  if (search.job.GetNumberOfVoxels() <= std::int64_t{ 0xffffffff })
  {
    BucketsMethod<TPixel, std::uint32_t>(search).Run();
  }
  else
  {
    BucketsMethod<TPixel, std::int64_t>(search).Run();
  }
}
} // namespace

FuzzyConnectednessJob::Method
ChooseMethod(const FuzzyConnectednessJob & job)
{
  const std::size_t links = MakeLinks(job).size();
  Method            method = job.method;
  if (method == Method::Automatic)
  {
    // Hierarchy always works on the whole image, most of which a search for strong voxels does not visit.
    method = job.minimumStrength == 0.0 && links <= maxLinksForHierarchy ? Method::Hierarchy
             : job.execution.numberOfWorkers >= minWorkersForTiles       ? Method::Tiles
                                                                         : Method::Buckets;
  }
  return method == Method::Hierarchy && !HierarchyCanTake(job, links) ? Method::Buckets : method;
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
    Run(report.method, ConnectednessSearch<Pixel>(job, keys));
  });
  return report;
}

FuzzyConnectednessReport
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job)
{
  std::uint32_t * const          keys = GetKeysInOutput(job);
  const FuzzyConnectednessReport report = ComputeFuzzyConnectednessKeys(job, keys);
  ConvertKeysToStrengths(job, keys);
  return report;
}
} // namespace voxelmaps
