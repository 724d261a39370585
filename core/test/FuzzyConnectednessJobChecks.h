// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzyConnectednessJobChecks_h
#define FuzzyConnectednessJobChecks_h

// All ways to compute strengths, for the processor that IsCudaTest() selects.

#include "CudaTestUtilities.h"
#include "FuzzyConnectednessRandomCase.h"
#include "TestedProcessor.h"

#include "connectedness/ConnectednessKeyEngines.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** A way to compute the keys or strengths of a job; all ways must give the same bits. */
struct ConnectednessEngine
{
  using Job = voxelmaps::FuzzyConnectednessJob;

  std::string                                            name;
  std::function<std::vector<std::uint32_t>(const Job &)> computeKeys;
  /** Into the output of the job. */
  std::function<void(Job)> compute;
};

/** A budget with which an image is computed in slabs of a few planes; the engine reserves 2 MB. */
inline std::uint64_t
BudgetForPlanes(const voxelmaps::FuzzyConnectednessJob & job, std::int64_t planes)
{
  const std::int64_t  allPlanes = job.size[2] > 1 ? job.size[2] : job.size[1] > 1 ? job.size[1] : job.size[0];
  const std::uint64_t voxelBytes = job.numberOfComponents > 0 ? 8 * job.numberOfComponents + 80 : 25;
  return 2000000 + voxelBytes * static_cast<std::uint64_t>(job.GetNumberOfVoxels() / allPlanes * planes);
}

inline ConnectednessEngine
MakeConnectednessEngine(const std::string & method, unsigned int workers)
{
  using Job = voxelmaps::FuzzyConnectednessJob;
  return { method + " with " + std::to_string(workers) + " threads",
           [=](const Job & job) { return RunFuzzyConnectednessJob(job, method, workers); },
           [=](Job job) {
             job.method = method;
             job.execution.numberOfWorkers = workers;
             job.execution.parallelFor = RunThreads;
             voxelmaps::ComputeFuzzyConnectedness(job);
           } };
}

inline ConnectednessEngine
MakeConnectednessEngine(const std::string & method, const voxelmaps::CudaFuzzyConnectednessOptions & options)
{
  using Job = voxelmaps::FuzzyConnectednessJob;
  return { method + (options.memoryBudget > 0 ? " in slabs" : "") + ", " + std::to_string(options.correctionPasses) +
             " correction passes",
           [=](const Job & job) {
             return ComputeGuardedKeys(job.GetNumberOfVoxels(), [&](std::uint32_t * keys) {
               voxelmaps::ComputeFuzzyConnectednessKeysCuda(WithMethod(job, method), options, keys);
             });
           },
           [=](const Job & job) { voxelmaps::ComputeFuzzyConnectednessCuda(WithMethod(job, method), options); } };
}

constexpr const char * cudaConnectednessMethods[]{ "", "Hierarchy", "CorrectedKFOE" };

/** For the CPU, all methods that support a job, and Hierarchy with different numbers of threads. For CUDA, all methods,
 * and those with a name in slabs as well. */
inline std::vector<ConnectednessEngine>
GetEngines(const voxelmaps::FuzzyConnectednessJob & job)
{
  std::vector<ConnectednessEngine> engines;
  if (!IsCudaTest())
  {
    engines = { MakeConnectednessEngine("Buckets", 1),   MakeConnectednessEngine("Hierarchy", 1),
                MakeConnectednessEngine("Hierarchy", 2), MakeConnectednessEngine("Hierarchy", 8),
                MakeConnectednessEngine("Hierarchy", 8), MakeConnectednessEngine("", 3) };
    if (job.numberOfComponents == 0)
    {
      engines.push_back(MakeConnectednessEngine("Queue", 1));
    }
    return engines;
  }
  using Options = voxelmaps::CudaFuzzyConnectednessOptions;
  for (const std::string method : cudaConnectednessMethods)
  {
    engines.push_back(MakeConnectednessEngine(method, Options{}));
    if (!method.empty())
    {
      auto options = MakeCudaOptions<Options>(BudgetForPlanes(job, 7));
      options.correctionPasses = static_cast<unsigned int>(job.GetNumberOfVoxels() % 5);
      engines.push_back(MakeConnectednessEngine(method, options));
    }
  }
  return engines;
}

/** Expect keys of all engines. */
inline void
ExpectKeys(const std::vector<std::uint32_t> & expected, const voxelmaps::FuzzyConnectednessJob & job)
{
  for (const ConnectednessEngine & engine : GetEngines(job))
  {
    EXPECT_TRUE(AreSameKeys(expected, engine.computeKeys(job))) << engine.name;
  }
}

/** The same for a scene with pixels of a type. */
inline void
ExpectKeys(const std::vector<std::uint32_t> & expected, const FuzzyConnectednessOracle::Scene & scene,
           voxelmaps::FuzzyConnectednessJob::PixelType type)
{
  const auto randomCase = MakeFuzzyConnectednessCase(scene, type);
  SCOPED_TRACE(::testing::Message() << randomCase);
  ExpectKeys(expected, MakeFuzzyConnectednessJob(randomCase));
}

/** Compare a case, computed by all engines, with the oracle: as it is, with shuffled seeds, and with a minimum
 * strength.
 */
inline void
CheckFuzzyConnectednessCase(const FuzzyConnectednessRandomCase & randomCase, RandomNumbers & random)
{
  voxelmaps::FuzzyConnectednessJob job = MakeFuzzyConnectednessJob(randomCase);
  const std::vector<std::uint32_t> expected = FuzzyConnectednessOracle::ComputeKeys(randomCase.scene);
  ExpectKeys(expected, job);

  // A voxel whose strength equals the minimum must be kept, and not one whose strength is slightly less.
  random.Shuffle(job.seeds);
  const auto   strengths = ConvertToStrengths<double>(job, expected);
  const double fraction = static_cast<double>(random.Below(1000)) / 1000.0;
  const double next = std::min(std::nextafter(random.OneOf(strengths), 2.0), 1.0);
  job.minimumStrength = random.OneOf<double>({ 0.0, fraction, random.OneOf(strengths), next, 1.0 });
  SCOPED_TRACE(::testing::Message() << "shuffled seeds, minimum strength " << job.minimumStrength);
  ExpectKeys(ClearWeakKeys(job, expected, job.minimumStrength), job);
}
} // namespace VoxelMapsTest

#endif // FuzzyConnectednessJobChecks_h
