// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaBoxSumsLaunch_cuh
#define CudaBoxSumsLaunch_cuh

#include "CudaBoxSumsLevels.cuh"
#include "CudaBoxSumsRuns.cuh"
#include "CudaBoxSumsWords.cuh"
#include "CudaRunLengthMethods.h"
#include "common/FixedPoint.h"

#include <algorithm>

// Choice and launch of the kernels of BoxSums. Each largest window is compiled in a file of its own, since they are
// many.
namespace voxelmaps
{
/** Most that a sum of i^2 over a window can be. */
inline std::uint64_t
MaxSquares(const RunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  return task.maxVoxels * levels * levels;
}

inline SumWidth
ChooseSumWidth(const RunLengthTask & task)
{
  if (BitCount(MaxSquares(task)) + BitCount(task.maxVoxels) > 32)
  {
    return SumWidth::Separate;
  }
  return static_cast<double>(MaxSquares(task)) * task.scales.shortRunScale < 4294967296.0 ? SumWidth::Narrow
                                                                                          : SumWidth::Packed;
}

/** Whether all of S_k fits one 64-bit word. */
inline bool
FitsWord(const RunLengthTask & task)
{
  return BitCount(task.maxVoxels) <= wordCountBits && task.numberOfGrayLevels < 1 << wordLevelBits &&
         BitCount(MaxSquares(task)) <= wordSquareBits &&
         static_cast<double>(task.maxVoxels) < task.scales.inverseScale * PowerOfTwo(wordInverseBits);
}

/** Bytes of shared memory for the averages of a tile on their way to the output. */
inline std::size_t
StagingBytes(const RunLengthTask & task)
{
  return std::size_t{ boxSumsThreads } * task.numberOfFeatures * ComponentBytes(task);
}

using Kernel = void (*)(RunLengthTask, BoxSumsTiling, std::int64_t);

/** Start a kernel for all tiles: with two sets of sums in shared memory, so that it waits half as often, if they fit.
 * By hand: tables, then these sets, whose place the results have at the end. */
inline void
Launch(Kernel kernel, const RunLengthTask & task, BoxSumsTiling tiling, std::size_t sumBytes, std::size_t tableBytes,
       std::size_t minBytes, cudaStream_t stream)
{
  std::size_t bytes = sumBytes;
  if (2 * sumBytes + tableBytes <= GetCudaDeviceLimits().maxSharedMemoryPerBlock)
  {
    tiling.bufferStride = static_cast<int>(sumBytes);
    bytes *= 2;
  }
  bytes = std::max(bytes, minBytes) + tableBytes;
  AllowSharedMemory(kernel, bytes);
  const std::int64_t     tiles = tiling.tilesX * tiling.tilesY * task.outputSize[2];
  constexpr std::int64_t maxBlocks = std::int64_t{ 1 } << 30;
  for (std::int64_t first = 0; first < tiles; first += maxBlocks)
  {
    kernel<<<static_cast<unsigned int>(std::min(maxBlocks, tiles - first)), boxSumsThreads, bytes, stream>>>(
      task, tiling, first);
    CheckLaunch("starting a kernel of BoxSums");
  }
}

template <int VWindow, WindowShape VShape, SumWidth VWidth, bool VAllFeatures>
void
LaunchSums(const RunLengthTask & task, const BoxSumsTiling & tiling, cudaStream_t stream)
{
  using Sums = RunBoxSums<VWindow, VShape, VWidth, VAllFeatures>;
  Launch(BoxSumsKernel<VWindow, VShape, VWidth, VAllFeatures>,
         task,
         tiling,
         Sums::sumBytes,
         InverseTableBytes(task),
         StagingBytes(task),
         stream);
}

template <int VWindow, WindowShape VShape>
void
LaunchShape(const RunLengthTask & task, const BoxSumsTiling & tiling, cudaStream_t stream)
{
  if (task.needsLevelCounts)
  {
    Launch(tiling.levelBits == 8 ? LevelNonUniformityKernel<VWindow, VShape, 8>
                                 : LevelNonUniformityKernel<VWindow, VShape, 16>,
           task,
           tiling,
           LevelCounts<VWindow, VShape, 8>::sumBytes,
           sizeof(typename LevelCounts<VWindow, VShape, 8>::Levels),
           0,
           stream);
  }
  const SumWidth width = ChooseSumWidth(task);
  const bool     all = tiling.components.beyondEleven;
  if constexpr (VShape == WindowShape::Cube && VWindow <= StartWeights::maxLength)
  {
    if (task.aggregation == RunLengthJob::Aggregation::Average && !all && FitsWord(task))
    {
      using Sums = WordBoxSums<VWindow>;
      return Launch(
        WordBoxSumsKernel<VWindow>, task, tiling, Sums::sumBytes, Sums::TableBytes(task), StagingBytes(task), stream);
    }
  }
  if constexpr (VShape == WindowShape::Cube && VWindow <= 5)
  {
    if (width == SumWidth::Narrow && !all)
    {
      return LaunchSums<VWindow, VShape, SumWidth::Narrow, false>(task, tiling, stream);
    }
  }
  if constexpr (VShape == WindowShape::Cube)
  {
    if (width != SumWidth::Separate && !all)
    {
      return LaunchSums<VWindow, VShape, SumWidth::Packed, false>(task, tiling, stream);
    }
  }
  if (width != SumWidth::Separate)
  {
    return LaunchSums<VWindow, VShape, SumWidth::Packed, true>(task, tiling, stream);
  }
  constexpr std::uint64_t maxCount = VWindow * VWindow * VWindow;
  constexpr bool          fitWord = BitCount(maxCount * maxGrayLevels * maxGrayLevels) + BitCount(maxCount) <= 32;
  static_assert(fitWord == (VWindow <= 3), "only sums of windows up to 3 x 3 x 3 always fit a word");
  if constexpr (!fitWord)
  {
    return LaunchSums<VWindow, VShape, SumWidth::Separate, true>(task, tiling, stream);
  }
}

/** Compute with the kernels for windows of up to VWindow voxels along each axis. */
template <int VWindow>
void
LaunchBoxSums(const RunLengthTask & task, const BoxSumsTiling & tiling, cudaStream_t stream)
{
  bool isCube = true;
  bool isSquare = true;
  for (int d = 0; d < 3; ++d)
  {
    isCube = isCube && task.window[d] == VWindow;
    isSquare = isSquare && task.window[d] == (d == 2 ? 1 : VWindow);
  }
  for (int i = 0; i < task.directions.number; ++i)
  {
    isSquare = isSquare && task.directions.steps[i][2] == 0;
  }
  if (isCube)
  {
    LaunchShape<VWindow, WindowShape::Cube>(task, tiling, stream);
  }
  else if (isSquare)
  {
    LaunchShape<VWindow, WindowShape::Square>(task, tiling, stream);
  }
  else
  {
    LaunchShape<VWindow, WindowShape::Box>(task, tiling, stream);
  }
}

extern template void
LaunchBoxSums<3>(const RunLengthTask &, const BoxSumsTiling &, cudaStream_t);
extern template void
LaunchBoxSums<5>(const RunLengthTask &, const BoxSumsTiling &, cudaStream_t);
extern template void
LaunchBoxSums<7>(const RunLengthTask &, const BoxSumsTiling &, cudaStream_t);
extern template void
LaunchBoxSums<9>(const RunLengthTask &, const BoxSumsTiling &, cudaStream_t);
} // namespace voxelmaps

#endif // CudaBoxSumsLaunch_cuh
