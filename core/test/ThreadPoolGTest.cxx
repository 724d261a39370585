// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

TEST(ThreadPool, CallsTheBodyOnceForEachWorker)
{
  const voxelmaps::ParallelFor parallelFor = voxelmaps::GetThreadPool();
  for (const unsigned int workers : { 1u, 2u, 7u, 40u })
  {
    std::vector<std::atomic<int>> calls(workers);
    for (int repetition = 0; repetition < 50; ++repetition)
    {
      parallelFor(workers, [&](unsigned int worker) { ++calls[worker]; });
    }
    for (const auto & number : calls)
    {
      EXPECT_EQ(number, 50);
    }
  }
}

TEST(ThreadPool, CallsFromItsThreadsAndFromOthersEnd)
{
  const voxelmaps::ParallelFor parallelFor = voxelmaps::GetThreadPool();
  std::atomic<int>             calls{ 0 };
  VoxelMapsTest::RunThreads(4, [&](unsigned int) {
    for (int repetition = 0; repetition < 20; ++repetition)
    {
      parallelFor(3, [&](unsigned int) { parallelFor(2, [&](unsigned int) { ++calls; }); });
    }
  });
  EXPECT_EQ(calls, 4 * 20 * 3 * 2);
}

TEST(ThreadPool, WorkersOverlap)
{
  std::atomic<int>  arrived{ 0 };
  std::atomic<bool> haveMet{ false };
  voxelmaps::GetThreadPool()(2, [&](unsigned int) {
    ++arrived;
    for (int i = 0; i < 5000 && !haveMet; ++i)
    {
      haveMet = haveMet || arrived == 2;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(haveMet);
}
