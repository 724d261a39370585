// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GuardedOutput_h
#define GuardedOutput_h

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
/** Run a job into a buffer between guards, and expect that it wrote every number inside and none outside. Nothing if
 * the engine does not support the job. */
template <typename TReal, typename TJob, typename TEngine>
std::vector<TReal>
ComputeIntoGuardedOutput(TJob job, std::size_t numberOfComponents, const TEngine & engine)
{
  constexpr std::size_t guard = 64;
  static constexpr auto untouched = static_cast<TReal>(-1.2345e33); // no result of any feature
  const std::size_t     count =
    numberOfComponents * static_cast<std::size_t>(job.outputSize[0] * job.outputSize[1] * job.outputSize[2]);
  std::vector<TReal> buffer(count + 2 * guard, untouched);
  job.output = buffer.data() + guard;
  job.outputIsDouble = std::is_same<TReal, double>::value;
  if (!engine.compute(job))
  {
    return {};
  }
  const auto isUntouched = [](TReal value) { return value == untouched; };
  EXPECT_TRUE(std::all_of(buffer.begin(), buffer.begin() + guard, isUntouched)) << "wrote before the output";
  EXPECT_TRUE(std::all_of(buffer.end() - guard, buffer.end(), isUntouched)) << "wrote after the output";
  std::vector<TReal> result(buffer.begin() + guard, buffer.end() - guard);
  EXPECT_TRUE(std::none_of(result.begin(), result.end(), isUntouched)) << "left out a voxel";
  return result;
}
} // namespace VoxelMapsTest

#endif // GuardedOutput_h
