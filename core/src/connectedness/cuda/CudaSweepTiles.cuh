// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSweepTiles_cuh
#define CudaSweepTiles_cuh

#include "CudaTileQueue.cuh"

namespace voxelmaps
{
// For links across faces in 3D: one warp settles a tile of 8 x 8 x 8 voxels, line by line.

// With these strides, reading and writing lines along any axis causes almost no bank conflicts.
constexpr int side = 8;
constexpr int rowStride = 9;
constexpr int planeStride = 72;
constexpr int sweepVoxels = 7 * (planeStride + rowStride + 1) + 1;
constexpr int linesPerThread = side * side / warp;

/** Where the line along an axis starts whose coordinates along the two other axes are a and b, in this order. */
inline __device__ int
LineStart(int axis, int a, int b)
{
  return axis == 0 ? a * rowStride + b * planeStride : axis == 1 ? a + b * planeStride : a + b * rowStride;
}

/** Weight of the links along an axis. */
inline __device__ LinkWeight
GetAxisWeight(const CudaConnectednessScene & scene, int axis)
{
  int l = 0;
  while ((axis == 0 ? scene.links[l].x : axis == 1 ? scene.links[l].y : scene.links[l].z) == 0)
  {
    ++l;
  }
  return scene.links[l].weight;
}

template <typename TKeys>
__global__ void
__launch_bounds__(warp) SweepTilesKernel(CudaConnectednessScene scene, CudaTileGrid grid, TileQueue queue)
{
  using Pixel = typename TKeys::Pixel;
  __shared__ Pixel pixels[sweepVoxels];
  __shared__ std::uint32_t values[sweepVoxels];
  constexpr int            strides[3] = { 1, rowStride, planeStride };
  const int                lane = static_cast<int>(threadIdx.x);
  const unsigned long long deadline = TileQueue::Time() + queue.nanoseconds;

  for (int kept = -1;;)
  {
    const int tile = kept >= 0 ? kept : __shfl_sync(allLanes, lane == 0 ? queue.Take(deadline) : 0, 0);
    if (tile < 0)
    {
      return;
    }
    const CudaPlace<int> origin = GetTileOrigin(grid, tile);
    const int            laneX = lane % side;
    // The voxels of the halo, at both ends of each line; all loads are issued before the first one is needed.
    std::uint32_t endValues[3][linesPerThread][2];
    Pixel         endPixels[3][linesPerThread][2];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
    {
#pragma unroll
      for (int n = 0; n < linesPerThread; ++n)
      {
        const int          line = lane + n * warp;
        const int          a = line % side;
        const int          b = line / side;
        const int          x = origin.x + (axis == 0 ? 0 : a);
        const int          y = origin.y + (axis == 0 ? a : axis == 1 ? 0 : b);
        const int          z = origin.z + (axis == 2 ? 0 : b);
        const bool         isIn = IsInImage(scene, x, y, z);
        const std::int64_t stride = axis == 0   ? 1
                                    : axis == 1 ? scene.size[0]
                                                : std::int64_t{ scene.size[0] } * scene.size[1];
        const int          at = axis == 0 ? x : axis == 1 ? y : z;
        const bool         has[2] = { isIn && at > 0, isIn && at + side < scene.size[axis] };
#pragma unroll
        for (int end = 0; end < 2; ++end)
        {
          const std::int64_t voxel = GetVoxel(scene, x, y, z) + (end == 0 ? -stride : side * stride);
          endValues[axis][n][end] = has[end] ? __ldcg(scene.keys + voxel) : noKey;
          endPixels[axis][n][end] = has[end] ? TKeys::Load(scene, voxel) : TKeys::Outside();
        }
      }
    }
#pragma unroll
    for (int i = 0; i < side * side * side / warp; ++i)
    {
      const int          row = i * (warp / side) + lane / side;
      const int          y = row % side;
      const int          z = row / side;
      const std::int64_t voxel = GetVoxel(scene, origin.x + laneX, origin.y + y, origin.z + z);
      const bool         inside = IsInImage(scene, origin.x + laneX, origin.y + y, origin.z + z);
      const int          local = z * planeStride + y * rowStride + laneX;
      pixels[local] = inside ? TKeys::Load(scene, voxel) : TKeys::Outside();
      values[local] = inside ? __ldcg(scene.keys + voxel) : noKey;
    }
    __syncwarp();

    // Keys of the links along lines, and of those at both ends of each line to the neighbor tiles.
    std::uint32_t keys[3][linesPerThread][side - 1];
    std::uint32_t endKeys[3][linesPerThread][2];
    bool          changed = false;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
    {
      const LinkWeight weight = GetAxisWeight(scene, axis);
#pragma unroll
      for (int n = 0; n < linesPerThread; ++n)
      {
        const int line = lane + n * warp;
        const int start = LineStart(axis, line % side, line / side);
        Pixel     before = pixels[start];
        endKeys[axis][n][0] = TKeys::Key(scene, endPixels[axis][n][0], before, weight);
#pragma unroll
        for (int i = 0; i < side - 1; ++i)
        {
          const Pixel next = pixels[start + (i + 1) * strides[axis]];
          keys[axis][n][i] = TKeys::Key(scene, before, next, weight);
          before = next;
        }
        endKeys[axis][n][1] = TKeys::Key(scene, before, endPixels[axis][n][1], weight);
      }
    }

    // Sweep lines along x, y and z in turn until nothing changes; offers from the halo enter in the first sweep.
    bool first = true;
    for (bool any = true; any;)
    {
      bool improved = false;
#pragma unroll
      for (int axis = 0; axis < 3; ++axis)
      {
#pragma unroll
        for (int n = 0; n < linesPerThread; ++n)
        {
          const int     line = lane + n * warp;
          const int     start = LineStart(axis, line % side, line / side);
          std::uint32_t v[side];
#pragma unroll
          for (int i = 0; i < side; ++i)
          {
            v[i] = values[start + i * strides[axis]];
          }
          std::uint32_t now[side];
          now[0] = v[0];
          std::uint32_t lastOffer = noKey;
          if (first)
          {
            now[0] = Max(now[0], Min(endKeys[axis][n][0], endValues[axis][n][0]));
            lastOffer = Min(endKeys[axis][n][1], endValues[axis][n][1]);
          }
#pragma unroll
          for (int i = 1; i < side; ++i)
          {
            now[i] = Max(v[i], Min(now[i - 1], keys[axis][n][i - 1]));
          }
          now[side - 1] = Max(now[side - 1], lastOffer);
#pragma unroll
          for (int i = side - 1; i > 0; --i)
          {
            now[i - 1] = Max(now[i - 1], Min(now[i], keys[axis][n][i - 1]));
          }
#pragma unroll
          for (int i = 0; i < side; ++i)
          {
            if (now[i] != v[i])
            {
              values[start + i * strides[axis]] = now[i];
              improved = true;
            }
          }
        }
        __syncwarp();
      }
      first = false;
      any = __any_sync(allLanes, improved) != 0;
      changed = changed || any;
    }

    if (changed)
    {
      for (int row = lane / side; row < side * side; row += warp / side)
      {
        const int y = row % side;
        const int z = row / side;
        if (IsInImage(scene, origin.x + laneX, origin.y + y, origin.z + z))
        {
          scene.keys[GetVoxel(scene, origin.x + laneX, origin.y + y, origin.z + z)] =
            values[z * planeStride + y * rowStride + laneX];
        }
      }
      __threadfence();
    }
    __syncwarp();
    // The keys of seeds do not change in the first visit, so wake neighbors whether or not keys have changed.
    unsigned int wakes = 0;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
    {
#pragma unroll
      for (int n = 0; n < linesPerThread; ++n)
      {
        const int           line = lane + n * warp;
        const int           start = LineStart(axis, line % side, line / side);
        const std::uint32_t before = Min(values[start], endKeys[axis][n][0]);
        const std::uint32_t behind = Min(values[start + (side - 1) * strides[axis]], endKeys[axis][n][1]);
        wakes |= before > endValues[axis][n][0] ? 1u << (2 * axis) : 0u;
        wakes |= behind > endValues[axis][n][1] ? 2u << (2 * axis) : 0u;
      }
    }
    for (int distance = warp / 2; distance > 0; distance /= 2)
    {
      wakes |= __shfl_xor_sync(allLanes, wakes, distance);
    }
    const int step = lane % 2 == 0 ? -1 : 1;
    kept = WakeTiles(
      queue,
      lane < 6 && (wakes >> lane & 1u) != 0,
      GetNeighborTile(grid, tile, lane / 2 == 0 ? step : 0, lane / 2 == 1 ? step : 0, lane / 2 == 2 ? step : 0),
      deadline);
    __syncwarp();
    if (lane == 0)
    {
      queue.Finish(static_cast<unsigned int>(tile), deadline);
    }
  }
}
} // namespace voxelmaps

#endif // CudaSweepTiles_cuh
