/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef RunLengthJobChecks_h
#define RunLengthJobChecks_h

#include "GuardedOutput.h"
#include "RunLengthRandomCase.h"
#include "TestedClasses.h"
#include "VoxelMapsTestUtilities.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace VoxelMapsTest
{
/** The output of a job by an engine; nothing if the engine cannot take the job. */
template <typename TReal>
std::vector<TReal>
ComputeRunLengthJob(itk::voxelmaps::RunLengthJob job, const RunLengthEngine & engine = GetRunLengthEngines().front())
{
  return ComputeIntoGuardedOutput<TReal>(job, job.GetNumberOfComponents(), engine);
}

/** Compare a case, computed by all engines and in all ways, with the oracle. */
template <typename TReal>
void
CheckRunLengthCase(const RunLengthRandomCase & randomCase, RandomNumbers & random, std::int64_t budget)
{
  itk::voxelmaps::RunLengthJob job = MakeRunLengthJob(randomCase);
  job.backgroundValue = 3.0;

  // An index frame of its own must not matter.
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t shift = random.Between(-1000, 1000);
    job.levelsIndex[axis] += shift;
    job.outputIndex[axis] += shift;
  }

  std::vector<TReal> first;
  for (const RunLengthEngine & engine : GetRunLengthEngines())
  {
    SCOPED_TRACE(engine.name);
    job.execution.numberOfWorkers = static_cast<unsigned int>(random.Between(1, 5));
    job.execution.parallelFor = random.Chance(0.5) ? RunThreads : decltype(job.execution.parallelFor){};
    if (!job.execution.parallelFor)
    {
      job.execution.numberOfWorkers = 1;
    }
    std::atomic<std::uint64_t> completed{ 0 };
    job.execution.reportProgress = [&completed](std::uint64_t numberOfVoxels) { completed += numberOfVoxels; };

    const std::vector<TReal> result = ComputeRunLengthJob<TReal>(job, engine);
    if (first.empty())
    {
      first = result;
      ASSERT_TRUE(AgreesWithOracle(randomCase, result, job.backgroundValue, random, budget));
    }
    else if (result.empty())
    {
      continue; // cannot take the job
    }
    EXPECT_EQ(static_cast<std::uint64_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]), completed.load());
    ASSERT_TRUE(HasSameBits(first, result));
  }

  // The engine that walks every window, while it does not take too long.
  double steps = static_cast<double>(job.offsets.size());
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    steps *= static_cast<double>(job.windowSize[axis] * job.outputSize[axis]);
  }
  if (steps < 2e7 && !isCudaTest)
  {
    SCOPED_TRACE("windows walked one by one");
    job.walkWindows = true;
    job.execution.reportProgress = nullptr;
    ASSERT_TRUE(HasSameBits(first, ComputeRunLengthJob<TReal>(job)));
  }
}
} // namespace VoxelMapsTest

#endif // RunLengthJobChecks_h
