// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSlidingWindowSegment_cuh
#define CudaSlidingWindowSegment_cuh

#include "CudaSlidingWindowLayout.cuh"

namespace voxelmaps
{
namespace slidingwindow
{
/** A segment of outputs, and the levels that its windows reach. */
struct SlidingSegment
{
  std::int64_t row;
  std::int64_t plane;
  int          rows;
  /** The row of the levels at which the first window starts, and the planes of the window that are in the levels. */
  std::int64_t firstRow;
  std::int64_t firstPlane;
  int          beginZ;
  int          endZ;
  /** Where the sums of its outputs are. */
  std::int64_t sums;

  __device__
  SlidingSegment(const RunLengthTask & task, const SlidingLayout & layout, const SlidingBuffers & buffers,
                 std::int64_t segment)
    : row(segment % layout.segmentsY * layout.rows)
    , plane(segment / layout.segmentsY)
    , rows(static_cast<int>(min(std::int64_t{ layout.rows }, task.outputSize[1] - row)))
    , firstRow(row + task.outputToLevels[1] - task.anchor[1])
    , firstPlane(plane + task.outputToLevels[2] - task.anchor[2])
    , beginZ(static_cast<int>(max(std::int64_t{ 0 }, min(std::int64_t{ task.window[2] }, -firstPlane))))
    , endZ(static_cast<int>(min(std::int64_t{ task.window[2] }, task.levelsSize[2] - firstPlane)))
    , sums((segment - buffers.firstSegment) * layout.rows * task.outputSize[0])
  {}
  /** Whether features of an output are to be computed: a voxel that has a level, and is selected. */
  __device__ bool
  IsComputed(const RunLengthTask & task, std::int64_t x, int y) const
  {
    const std::int64_t at[3] = { x + task.outputToLevels[0],
                                 row + y + task.outputToLevels[1],
                                 plane + task.outputToLevels[2] };
    return x < task.outputSize[0] && at[0] >= 0 && at[0] < task.levelsSize[0] && at[1] >= 0 &&
           at[1] < task.levelsSize[1] && at[2] >= 0 && at[2] < task.levelsSize[2] &&
           task.levels[task.LevelOffset(at[0], at[1], at[2])] != 0 &&
           task.IsSelected((plane * task.outputSize[1] + row + y) * task.outputSize[0] + x);
  }
  /** Whether that holds for any output of a column. */
  __device__ bool
  IsAnyComputed(const RunLengthTask & task, std::int64_t x) const
  {
    for (int y = 0; y < rows; ++y)
    {
      if (this->IsComputed(task, x, y))
      {
        return true;
      }
    }
    return false;
  }
  __device__ bool
  HasLevels(const RunLengthTask & task, std::int64_t y) const
  {
    return y >= 0 && y < task.levelsSize[1];
  }
  /** Where a column of a row and plane of the window is among what follows from the levels. */
  __device__ std::int64_t
  Voxel(const RunLengthTask & task, const SlidingLayout & layout, std::int64_t column, std::int64_t y, int z) const
  {
    return ((firstPlane + z) * task.levelsSize[1] + y) * layout.pitch + column;
  }
};
} // namespace slidingwindow
} // namespace voxelmaps

#endif // CudaSlidingWindowSegment_cuh
