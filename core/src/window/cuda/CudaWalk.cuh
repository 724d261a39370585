// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaWalk_cuh
#define CudaWalk_cuh

#include "device/CudaLaunch.h"
#include "device/CudaPolicy.h"
#include "device/CudaWarp.cuh"
#include "window/cuda/CudaSlabEngine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** The team of walks on the device: all threads of a block, one warp or several. SingleThread documents its functions.
 */
class CudaThreadBlock
{
public:
  static constexpr int lanesPerWarp = 32;
  static constexpr int maxWarps = 8;
  static constexpr int maxSize = lanesPerWarp * maxWarps;
  static constexpr int maxBallotSize = lanesPerWarp;

  static __device__ int
  Rank()
  {
    return static_cast<int>(threadIdx.x);
  }
  static __device__ int
  Size()
  {
    return static_cast<int>(blockDim.x);
  }
  static __device__ void
  Synchronize()
  {
    __syncthreads();
  }
  template <typename T>
  static __device__ T
  Sum(T value)
  {
    value = ReduceWarp(value, cuda::std::plus<>());
    if (Size() == lanesPerWarp)
    {
      return value;
    }
    // By hand, as CUB's BlockReduce has blocks of one size, and the result in the first thread only.
    __shared__ T warpSums[maxWarps];
    Synchronize();
    if (Rank() % lanesPerWarp == 0)
    {
      warpSums[Rank() / lanesPerWarp] = value;
    }
    Synchronize();
    value = warpSums[0];
    for (int warp = 1; warp < Size() / lanesPerWarp; ++warp)
    {
      value = value + warpSums[warp];
    }
    return value;
  }
  /** For blocks of maxBallotSize. */
  static __device__ std::uint32_t
                    Ballot(bool value)
  {
    return __ballot_sync(0xffffffffu, value);
  }
  static __device__ std::uint32_t
                    Add(std::uint32_t & number, std::uint32_t value)
  {
    return atomicAdd(&number, value);
  }
  static __device__ std::uint64_t
                    Add(std::uint64_t & number, std::uint64_t value)
  {
    return atomicAdd(reinterpret_cast<unsigned long long *>(&number), static_cast<unsigned long long>(value));
  }
  static __device__ void
  SetBits(std::uint32_t & word, std::uint32_t bits)
  {
    // Reading is faster, and most bits are set already.
    if ((*static_cast<volatile std::uint32_t *>(&word) & bits) != bits)
    {
      atomicOr(&word, bits);
    }
  }
  static __device__ std::uint32_t
                    ReplaceZero(std::uint32_t & number, std::uint32_t value)
  {
    const std::uint32_t before = *static_cast<volatile std::uint32_t *>(&number);
    return before != 0 ? before : atomicCAS(&number, 0u, value);
  }
  template <typename TVisit>
  static __device__ void
  ForEachVoxel(const int (&size)[3], const TVisit & visit)
  {
    // Divisions of integers are slow: only steps between the voxels of a thread have them.
    const int rowStep = Size() / size[0];
    const int step[3] = { Size() % size[0], rowStep % size[1], rowStep / size[1] };
    const int row = Rank() / size[0];
    int       x = Rank() % size[0];
    int       y = row % size[1];
    for (int z = row / size[1]; z < size[2]; z += step[2])
    {
      visit(x, y, z);
      x += step[0];
      y += step[1];
      if (x >= size[0])
      {
        x -= size[0];
        ++y;
      }
      if (y >= size[1])
      {
        y -= size[1];
        ++z;
      }
    }
  }
  /** Aborts are checked between launches. */
  static __device__ void
  CountSteps(std::uint64_t)
  {}
};

/** How the walk of a class is launched. */
struct CudaWalkPolicy
{
  const char * name;
  /** Threads of a block. */
  int threads;
  /** PolicyValue name.shared: a larger workspace is in device memory, as are those of single threads. */
  std::int64_t maxSharedBytes;
  /** PolicyValue name.teams: in flight on every multiprocessor, if there is memory for them. */
  std::int64_t teamsPerMultiprocessor;
};

/** For walks of single threads, as those of weighted matrices, which are added up in one order. */
constexpr CudaWalkPolicy cudaThreadWalkPolicy{ "weighted", 64, 0, 512 };

/** Compilers access shared memory faster if they know that it is. */
template <typename TWalk, bool VIsShared>
__global__ void
__launch_bounds__(CudaThreadBlock::maxSize)
  WalkKernel(const __grid_constant__ typename TWalk::Task task, std::int64_t teams, char * scratch,
             std::size_t workspaceBytes, std::int64_t first, std::int64_t end)
{
  extern __shared__ __align__(16) char shared[];
  std::int64_t                         team = blockIdx.x;
  if constexpr (TWalk::usesSingleThreads)
  {
    team = team * blockDim.x + threadIdx.x;
  }
  if (team >= teams)
  {
    return;
  }
  const auto compute = [&](void * workspace) {
    TWalk walk(task, CudaThreadBlock(), workspace);
    for (std::int64_t number = first + team; number < end; number += teams)
    {
      walk.Compute(number);
    }
  };
  if constexpr (VIsShared)
  {
    compute(shared);
  }
  else
  {
    compute(scratch + static_cast<std::uint64_t>(team) * workspaceBytes);
  }
}

/** The teams of a walk at most, and their workspaces. */
template <typename TWalk>
struct CudaWalkTeams
{
  std::size_t   workspaceBytes;
  bool          areShared;
  std::int64_t  groups; // of windows
  std::uint64_t number;

  CudaWalkTeams(const typename TWalk::Task & task, const CudaWalkPolicy & policy)
    : workspaceBytes((TWalk::GetWorkspaceBytes(task) + 15) / 16 * 16)
    , areShared(!TWalk::usesSingleThreads && static_cast<std::int64_t>(workspaceBytes) <=
                                               PolicyValue(std::string(policy.name) + ".shared", policy.maxSharedBytes))
    , groups(static_cast<std::int64_t>((NumberOfVoxels(task.outputSize) + TWalk::numberOfWindows - 1) /
                                       TWalk::numberOfWindows))
    , number(std::min(
        static_cast<std::uint64_t>(groups),
        static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) *
          static_cast<std::uint64_t>(PolicyValue(std::string(policy.name) + ".teams", policy.teamsPerMultiprocessor))))
  {}
};

template <typename TWalk>
CudaScratchBytes
CudaWalkScratchBytes(const typename TWalk::Task & task, const CudaWalkPolicy & policy)
{
  const CudaWalkTeams<TWalk> teams(task, policy);
  const std::uint64_t        bytes = teams.areShared ? 0 : teams.workspaceBytes;
  return { bytes, bytes * teams.number };
}

/** windowSteps: a measure of the work for one window, about six picoseconds each on a busy device. */
template <typename TWalk>
void
ComputeByCudaWalk(const typename TWalk::Task & task, const CudaWalkPolicy & policy, std::int64_t windowSteps,
                  const CudaMethodResources & resources)
{
  const CudaWalkTeams<TWalk> teams(task, policy);
  const auto                 number = static_cast<std::int64_t>(
    teams.areShared ? teams.number : std::min(teams.number, resources.scratchBytes / teams.workspaceBytes));
  // In parts of about a tenth of a second, so that an abort is quick whatever the window; each team has a window.
  constexpr std::int64_t partSteps = std::int64_t{ 1 } << 34;
  const std::int64_t     part =
    std::max(partSteps / (std::max<std::int64_t>(windowSteps, 1) * TWalk::numberOfWindows),
             TWalk::usesSingleThreads ? number : std::int64_t{ GetCudaDeviceLimits().numberOfMultiprocessors });
  LaunchChunked(
    teams.groups, part, resources, "starting the kernel of WindowWalk", [&](std::int64_t first, std::int64_t end) {
      const auto used = static_cast<std::uint64_t>(std::min(number, end - first));
      const auto threads = static_cast<unsigned int>(policy.threads);
      const auto kernel = teams.areShared ? WalkKernel<TWalk, true> : WalkKernel<TWalk, false>;
      kernel<<<BlocksFor(used, TWalk::usesSingleThreads ? threads : 1),
               threads,
               teams.areShared ? teams.workspaceBytes : 0,
               resources.stream>>>(task,
                                   static_cast<std::int64_t>(used),
                                   static_cast<char *>(resources.scratch),
                                   teams.workspaceBytes,
                                   first,
                                   end);
    });
}
} // namespace voxelmaps

#endif // CudaWalk_cuh
