// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzyConnectednessJobChecks_h
#define FuzzyConnectednessJobChecks_h

#include "FuzzyConnectednessRandomCase.h"

#include <cstdint>
#include <vector>

namespace VoxelMapsTest
{
using FuzzyConnectednessMethod = voxelmaps::FuzzyConnectednessJob::Method;

inline std::vector<FuzzyConnectednessMethod>
GetAllFuzzyConnectednessMethods()
{
  return { FuzzyConnectednessMethod::Buckets,
           FuzzyConnectednessMethod::Hierarchy,
           FuzzyConnectednessMethod::Automatic };
}

/** Expect keys of every method; of Hierarchy with these numbers of threads. */
inline void
ExpectKeysWithAllMethods(const std::vector<std::uint32_t> & expected, const voxelmaps::FuzzyConnectednessJob & job,
                         const std::vector<unsigned int> & workerCounts = { 1, 2, 8, 8, 2, 1 })
{
  using Method = FuzzyConnectednessMethod;
  EXPECT_TRUE(AreSameKeys(expected, RunFuzzyConnectednessJob(job, Method::Buckets, 1))) << "Buckets";
  for (const unsigned int workers : workerCounts)
  {
    EXPECT_TRUE(AreSameKeys(expected, RunFuzzyConnectednessJob(job, Method::Hierarchy, workers)))
      << "Hierarchy with " << workers << " threads";
  }
}

/** Compare a case, computed by all methods, with the oracle: as it is, with shuffled seeds, and with a minimum
 * strength.
 */
inline void
CheckFuzzyConnectednessCase(const FuzzyConnectednessRandomCase & randomCase, RandomNumbers & random,
                            const std::vector<unsigned int> & workerCounts = { 1, 2, 8, 8, 2, 1 })
{
  using Method = FuzzyConnectednessMethod;
  voxelmaps::FuzzyConnectednessJob job = MakeFuzzyConnectednessJob(randomCase);
  const std::vector<std::uint32_t> expected = FuzzyConnectednessOracle::ComputeKeys(randomCase.scene);
  ExpectKeysWithAllMethods(expected, job, workerCounts);

  random.Shuffle(job.seeds);
  const Method method = random.OneOf(GetAllFuzzyConnectednessMethods());
  EXPECT_TRUE(AreSameKeys(expected, RunFuzzyConnectednessJob(job, method, 3))) << "shuffled seeds, method " << method;

  // A voxel whose strength equals the minimum must be kept.
  const auto   strengths = ConvertToStrengths<double>(job, expected);
  const double fraction = static_cast<double>(random.Below(1000)) / 1000.0;
  job.minimumStrength = random.OneOf<double>({ fraction, random.OneOf(strengths), random.OneOf(strengths), 1.0 });
  const std::vector<std::uint32_t> strong = ClearWeakKeys(job, expected, job.minimumStrength);
  for (const Method each : { Method::Buckets, Method::Hierarchy })
  {
    EXPECT_TRUE(AreSameKeys(strong, RunFuzzyConnectednessJob(job, each, 2)))
      << "minimum strength " << job.minimumStrength << ", method " << each;
  }
}
} // namespace VoxelMapsTest

#endif // FuzzyConnectednessJobChecks_h
