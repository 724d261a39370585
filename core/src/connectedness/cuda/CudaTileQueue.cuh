// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTileQueue_cuh
#define CudaTileQueue_cuh

#include "CudaConnectednessScene.cuh"

namespace voxelmaps
{
/* Tiles of 512 voxels are settled one by one, given the keys around them, and wake the neighbors that they could
 * improve. Keys only grow, and the fixed point of all links is unique, so the order does not matter.
 *
 * Blocks take tiles from one queue until no tile is awake: there are no rounds and no grid-wide barriers. A tile has
 * one writer at a time, so its keys need no atomics. The keys that a block reads from neighbor tiles may be out of
 * date; but a tile wakes its neighbors after writing its keys, so a neighbor that missed them is visited again. */

constexpr int settleTileBits = 9;
constexpr int settleTileVoxels = 1 << settleTileBits;

constexpr int          warp = 32;
constexpr unsigned int allLanes = 0xffffffffu;

// Bits of the state of a tile; 0 means asleep.
constexpr unsigned int queued = 1;
constexpr unsigned int running = 2;

struct TileQueue
{
  unsigned long long * head;  // number of tiles taken
  unsigned long long * tail;  // number of tiles put
  unsigned int *       awake; // number of tiles whose state is not 0
  unsigned int *       slots; // a ring with room for all tiles: tile + 1, or 0 if empty
  unsigned int         slotMask;
  unsigned int *       states;
  unsigned long long   nanoseconds; // maximum time of a launch

  /** Once time is up, no block takes tiles any more: then it is enough that their state is queued. */
  __device__ void
  Put(unsigned int tile, unsigned long long deadline) const
  {
    unsigned int * const slot = slots + (atomicAdd(tail, 1) & slotMask);
    // A slot is full only while a block is taking its previous tile.
    while (Time() < deadline && atomicCAS(slot, 0, tile + 1) != 0)
    {
    }
  }

  /** To be called once the keys that wake the tile are visible. Returns whether the caller must put or start it. */
  __device__ bool
  Wake(unsigned int tile) const
  {
    // If the tile is running, Finish() puts it.
    const bool wasAsleep = atomicOr(states + tile, queued) == 0;
    if (wasAsleep)
    {
      atomicAdd(awake, 1);
    }
    return wasAsleep;
  }

  /** Start a tile that was taken, or that was woken and not put; its keys can be read afterwards. */
  __device__ void
  Start(unsigned int tile) const
  {
    atomicExch(states + tile, running);
    __threadfence();
  }

  /** Take and start the next tile; -1 if none is awake or time is up. */
  __device__ int
  Take(unsigned long long deadline) const
  {
    volatile unsigned int * const slot = slots + (atomicAdd(head, 1) & slotMask);
    // Pauses of 20 ns, doubled up to 320 ns, keep waiting blocks from slowing down the memory for the others.
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

  /** Whether blocks probably wait for tiles: the counters may change at any time. */
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

/** Let a warp wake tiles, one per lane. If blocks wait for tiles, keep one tile for this block and return it in all
 * lanes, since passing it through the queue takes time; else return -1. */
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

/** Number of the tile that is so many tiles away along each axis. */
inline __device__ unsigned int
GetNeighborTile(const CudaTileGrid & grid, int tile, int x, int y, int z)
{
  return static_cast<unsigned int>(tile + (z * grid.tiles[1] + y) * grid.tiles[0] + x);
}

inline __device__ std::uint32_t
                  Min(std::uint32_t a, std::uint32_t b)
{
  return a < b ? a : b;
}

inline __device__ std::uint32_t
                  Max(std::uint32_t a, std::uint32_t b)
{
  return a > b ? a : b;
}
} // namespace voxelmaps

#endif // CudaTileQueue_cuh
