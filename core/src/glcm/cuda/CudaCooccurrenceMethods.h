// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaCooccurrenceMethods_h
#define CudaCooccurrenceMethods_h

#include "glcm/Cooccurrence.h"
#include "device/CudaLaunch.h"
#include "window/cuda/CudaSlabEngine.h"

#include <cstdint>
#include <vector>

// The methods of the CUDA engine. All accept tasks with device pointers and give bit-identical results.
namespace voxelmaps
{
/** The windows that a kernel leaves to another one: a list, which begins with their number, of numbers from first on,
 * or a byte for every window, 1 where it is left; null if not wanted. */
struct CudaOtherWindows
{
  std::uint32_t * list;
  std::int64_t    first;
  std::uint8_t *  marks;

#if defined(__CUDACC__)
  __device__ void
  Add(std::int64_t window) const
  {
    // By hand: few windows are left; CUB's DeviceSelect needs a mark for every window, and reads them all.
    if (list != nullptr)
    {
      list[1 + atomicAdd(list, 1u)] = static_cast<std::uint32_t>(window - first);
    }
    if (marks != nullptr)
    {
      marks[window] = 1;
    }
  }
#endif
};

/** The first stages of SortedPairs and RankTables: one thread per matrix of the windows in tiles of few levels. The
 * output is cut into rows of tiles. */
struct CudaTileRows
{
  std::int64_t tiles; // of a row
  std::int64_t inPlane;
  std::int64_t windowRows;
  std::int64_t number;

  std::int64_t
  GetFirstWindow(const TextureTask & task, std::int64_t tileRow) const
  {
    const std::int64_t plane = tileRow / inPlane;
    return (plane * task.outputSize[1] + (tileRow - plane * inPlane) * windowRows) * task.outputSize[0];
  }
};
bool
CudaFewLevelTilesSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits);
CudaTileRows
GetCudaTileRows(const CooccurrenceTask & task);
/** Scratch memory for so many tiles. */
std::uint64_t
CudaFewLevelTilesScratchBytes(std::int64_t tiles);
void
LaunchCudaFewLevelTiles(const CooccurrenceTask & task, std::int64_t firstRow, std::int64_t endRow,
                        const CudaOtherWindows & others, void * scratch, cudaStream_t stream);

/** One thread per window, which sorts the pairs of two offsets at a time in its registers. The list is that of
 * MakeCudaPairList in device memory. */
bool
CudaSortedPairsSupports(const CooccurrenceTask & task, const CudaDeviceLimits & limits);
CudaScratchBytes
CudaSortedPairsScratchBytes(const CooccurrenceTask & task);
std::vector<std::int32_t>
MakeCudaPairList(const CooccurrenceTask & hostTask);
void
ComputeByCudaSortedPairs(const CooccurrenceTask & task, const std::int32_t * pairList,
                         const CudaMethodResources & resources);

/** The maximal correlation coefficients of all voxels, if the task needs them: the methods above leave them out, and
 * this stage follows each of them. */
CudaScratchBytes
CudaMaximalCorrelationScratchBytes(const CooccurrenceTask & task);
void
ComputeCudaMaximalCorrelations(const CooccurrenceTask & task, const CudaMethodResources & resources);
} // namespace voxelmaps

#endif // CudaCooccurrenceMethods_h
