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
#ifndef CudaTileQueue_cuh
#define CudaTileQueue_cuh

#include "CudaConnectednessScene.cuh"

namespace itk
{
namespace voxelmaps
{
/* Tiles of 512 voxels are settled for themselves, given the keys around them, and wake the neighbors that they could
 * improve. Keys only grow, and a fixed point of all links is unique, so the order does not matter.
 *
 * Blocks take tiles from one queue until no tile is awake: there are no rounds and no grid-wide barriers. A tile has
 * one writer at a time, so its keys need no atomics. What a block reads of neighbor tiles may be out of date; but a
 * tile wakes its neighbors after its keys are written, so a neighbor that missed them is visited again. */

constexpr int tileBits = 9;
constexpr int tileVoxels = 1 << tileBits;

constexpr int          warp = 32;
constexpr unsigned int allLanes = 0xffffffffu;

// States of tiles; 0 is asleep.
constexpr unsigned int queued = 1;
constexpr unsigned int running = 2;

struct TileQueue
{
  unsigned long long * head;  // number of tiles taken
  unsigned long long * tail;  // number of tiles put
  unsigned int *       awake; // number of tiles whose state is not 0
  unsigned int *       slots; // tile + 1; 0 is empty. A ring with room for all tiles
  unsigned int         slotMask;
  unsigned int *       states;
  unsigned long long   nanoseconds; // that a launch may last

  /** Once time is up, nobody takes tiles any more: then it is enough that their state is queued. */
  __device__ void
  Put(unsigned int tile, unsigned long long deadline) const
  {
    unsigned int * const slot = slots + (atomicAdd(tail, 1) & slotMask);
    // Full only while its former tile is being taken.
    while (Time() < deadline && atomicCAS(slot, 0, tile + 1) != 0)
    {
    }
  }

  /** To be called after the keys that wake the tile are visible. Returns whether it must be put, or started. */
  __device__ bool
  Wake(unsigned int tile) const
  {
    // A running tile is put by who runs it.
    const bool wasAsleep = atomicOr(states + tile, queued) == 0;
    if (wasAsleep)
    {
      atomicAdd(awake, 1);
    }
    return wasAsleep;
  }

  /** Start a tile that was taken, or that was woken and not put: its keys can be read after this. */
  __device__ void
  Start(unsigned int tile) const
  {
    atomicExch(states + tile, running);
    __threadfence();
  }

  /** The next tile, started; or -1 if none is awake, or time is up. */
  __device__ int
  Take(unsigned long long deadline) const
  {
    volatile unsigned int * const slot = slots + (atomicAdd(head, 1) & slotMask);
    for (unsigned int pause = 20;; pause = pause < 200 ? 2 * pause : pause)
    {
      const unsigned int tile = *slot;
      if (Time() > deadline || *static_cast<volatile unsigned int *>(awake) == 0)
      {
        return -1;
      }
      if (tile != 0)
      {
        *slot = 0;
        this->Start(tile - 1);
        return static_cast<int>(tile - 1);
      }
      __nanosleep(pause);
    }
  }

  /** Whether blocks wait for tiles, as far as one can tell. */
  __device__ bool
  IsShort() const
  {
    return *static_cast<volatile unsigned long long *>(head) > *static_cast<volatile unsigned long long *>(tail);
  }

  __device__ void
  Finish(unsigned int tile, unsigned long long deadline) const
  {
    if (atomicCAS(states + tile, running, 0) == running)
    {
      atomicSub(awake, 1);
    }
    else
    {
      atomicExch(states + tile, queued);
      this->Put(tile, deadline);
    }
  }

  static __device__ unsigned long long
  Time()
  {
    unsigned long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  }
};

/** Let a warp wake tiles, one per lane. If blocks wait for tiles anyway, one is kept for this block and returned by all
 * lanes: what goes through the queue loses time. Else -1. */
inline __device__ int
WakeTiles(const TileQueue & queue, bool wakes, unsigned int tile, unsigned long long deadline)
{
  const bool         mine = wakes && queue.Wake(tile);
  const unsigned int all = __ballot_sync(allLanes, mine);
  if (all == 0)
  {
    return -1;
  }
  const bool keeps = __shfl_sync(allLanes, queue.IsShort() && TileQueue::Time() < deadline, 0);
  const int  keeper = keeps ? __ffs(static_cast<int>(all)) - 1 : -1;
  const int  lane = static_cast<int>(threadIdx.x) % warp;
  if (mine && lane != keeper)
  {
    queue.Put(tile, deadline);
  }
  if (lane == keeper)
  {
    queue.Start(tile);
  }
  return keeper >= 0 ? static_cast<int>(__shfl_sync(allLanes, tile, keeper)) : -1;
}

/** Number of the tile that is a step away in each axis, each -1, 0 or 1. */
inline __device__ unsigned int
GetNeighborTile(const CudaTileGrid & grid, int tile, int x, int y, int z)
{
  return static_cast<unsigned int>(tile + (z * grid.tiles[1] + y) * grid.tiles[0] + x);
}

inline __device__ std::uint32_t
                  Least(std::uint32_t a, std::uint32_t b)
{
  return a < b ? a : b;
}

inline __device__ std::uint32_t
                  Greatest(std::uint32_t a, std::uint32_t b)
{
  return a > b ? a : b;
}
} // namespace voxelmaps
} // namespace itk

#endif // CudaTileQueue_cuh
