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
#ifndef CudaSeparableLaunch_cuh
#define CudaSeparableLaunch_cuh

#include "../cuda/CudaError.h"
#include "CudaSeparableLevels.cuh"
#include "CudaSeparableSums.cuh"

#include <algorithm>

// Choice and start of the kernels of Separable. Each largest window is compiled in a file of its own, for they are
// many.
namespace itk
{
namespace voxelmaps
{
/** Bits of the binary number n. */
inline int
BitsOf(std::uint64_t n)
{
  int bits = 0;
  while (n >> bits)
  {
    ++bits;
  }
  return bits;
}

/** Most that a sum of i^2 over a window can be. */
inline std::uint64_t
MostSquares(const CudaRunLengthTask & task)
{
  const auto levels = static_cast<std::uint64_t>(task.numberOfGrayLevels);
  return task.mostVoxels * levels * levels;
}

inline SumWidth
ChooseSumWidth(const CudaRunLengthTask & task)
{
  if (BitsOf(MostSquares(task)) + BitsOf(task.mostVoxels) > 32)
  {
    return SumWidth::Separate;
  }
  return static_cast<double>(MostSquares(task)) * task.scales.shortRunScale < 4294967296.0 ? SumWidth::Narrow
                                                                                           : SumWidth::Packed;
}

inline std::size_t
SharedMemoryOfDevice()
{
  int device = 0;
  int bytes = 0;
  CheckCuda(cudaGetDevice(&device), "asking for the current device");
  CheckCuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
            "asking for the shared memory of the device");
  return static_cast<std::size_t>(bytes);
}

using Kernel = void (*)(CudaRunLengthTask, SeparableLayout, std::int64_t);

/** Start a kernel for all tiles: with two sets of sums in shared memory, so that it waits half as often, if they fit.
 */
inline void
Launch(Kernel kernel, const CudaRunLengthTask & task, SeparableLayout layout, std::size_t bytesOfSums,
       std::size_t tableBytes, std::size_t leastBytes, cudaStream_t stream)
{
  std::size_t bytes = bytesOfSums;
  if (2 * bytesOfSums + tableBytes <= SharedMemoryOfDevice())
  {
    layout.bufferStride = static_cast<int>(bytesOfSums);
    bytes *= 2;
  }
  bytes = std::max(bytes, leastBytes) + tableBytes;
  CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "asking for shared memory");
  const std::int64_t     tiles = layout.tilesX * layout.tilesY * task.outputSize[2];
  constexpr std::int64_t mostBlocks = std::int64_t{ 1 } << 30;
  for (std::int64_t first = 0; first < tiles; first += mostBlocks)
  {
    kernel<<<static_cast<unsigned int>(std::min(mostBlocks, tiles - first)), separableThreads, bytes, stream>>>(
      task, layout, first);
    CheckLaunch("starting a kernel of Separable");
  }
}

template <int VWindow, WindowShape VShape, SumWidth VWidth, bool VAllFeatures>
void
LaunchSums(const CudaRunLengthTask & task, const SeparableLayout & layout, cudaStream_t stream)
{
  using Sums = SeparableSums<VWindow, VShape, VWidth, VAllFeatures>;
  const std::size_t staging =
    std::size_t{ separableThreads } * task.numberOfFeatures * (task.outputIsDouble ? sizeof(double) : sizeof(float));
  Launch(SeparableKernel<VWindow, VShape, VWidth, VAllFeatures>,
         task,
         layout,
         Sums::bytesOfSums,
         Sums::TableBytes(task),
         staging,
         stream);
}

template <int VWindow, WindowShape VShape>
void
LaunchShape(const CudaRunLengthTask & task, const SeparableLayout & layout, cudaStream_t stream)
{
  if (task.needsLevelCounts)
  {
    constexpr std::size_t bytes = 8 * tileVoxels * sizeof(std::uint32_t);
    Launch(layout.levelBits == 8 ? LevelNonUniformityKernel<VWindow, VShape, 8>
                                 : LevelNonUniformityKernel<VWindow, VShape, 16>,
           task,
           layout,
           bytes,
           0,
           0,
           stream);
  }
  const SumWidth width = ChooseSumWidth(task);
  const bool     all = layout.components.beyondEleven;
  if constexpr (VShape == WindowShape::Cube && VWindow <= 5)
  {
    if (width == SumWidth::Narrow && !all)
    {
      return LaunchSums<VWindow, VShape, SumWidth::Narrow, false>(task, layout, stream);
    }
  }
  if constexpr (VShape == WindowShape::Cube)
  {
    if (width != SumWidth::Separate && !all)
    {
      return LaunchSums<VWindow, VShape, SumWidth::Packed, false>(task, layout, stream);
    }
  }
  if (width != SumWidth::Separate)
  {
    return LaunchSums<VWindow, VShape, SumWidth::Packed, true>(task, layout, stream);
  }
  // Smaller windows have no sums that are too large for a word.
  if constexpr (VWindow >= 5)
  {
    return LaunchSums<VWindow, VShape, SumWidth::Separate, true>(task, layout, stream);
  }
}

/** Compute with the kernels for windows of up to VWindow voxels along each axis. */
template <int VWindow>
void
LaunchSeparable(const CudaRunLengthTask & task, const SeparableLayout & layout, cudaStream_t stream)
{
  bool isCube = true;
  bool isSquare = true;
  for (int d = 0; d < 3; ++d)
  {
    isCube = isCube && task.window[d] == VWindow;
    isSquare = isSquare && task.window[d] == (d == 2 ? 1 : VWindow);
  }
  for (int i = 0; i < task.numberOfDirections; ++i)
  {
    isSquare = isSquare && task.directions[i][2] == 0;
  }
  if (isCube)
  {
    LaunchShape<VWindow, WindowShape::Cube>(task, layout, stream);
  }
  else if (isSquare)
  {
    LaunchShape<VWindow, WindowShape::Square>(task, layout, stream);
  }
  else
  {
    LaunchShape<VWindow, WindowShape::Box>(task, layout, stream);
  }
}

extern template void
LaunchSeparable<3>(const CudaRunLengthTask &, const SeparableLayout &, cudaStream_t);
extern template void
LaunchSeparable<5>(const CudaRunLengthTask &, const SeparableLayout &, cudaStream_t);
extern template void
LaunchSeparable<7>(const CudaRunLengthTask &, const SeparableLayout &, cudaStream_t);
extern template void
LaunchSeparable<9>(const CudaRunLengthTask &, const SeparableLayout &, cudaStream_t);
} // namespace voxelmaps
} // namespace itk

#endif // CudaSeparableLaunch_cuh
