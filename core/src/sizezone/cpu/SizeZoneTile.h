// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneTile_h
#define SizeZoneTile_h

#include "sizezone/SizeZoneTask.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** A box of the output region. */
struct SizeZoneTile
{
  std::int64_t start[3];
  int          size[3];

  /** Stores the features of an output voxel from the zones of its window, or the background if there are none. */
  void (*finish)(void * matrix, std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones);
  void * matrix;

  // Called every few milliseconds; throws to end the job.
  void (*checkAbort)(const void * execution);
  const void * execution;
};

/** Whether the bits of a window fit the words of the kernel. */
bool
SizeZoneTileSupports(const SizeZoneTask & task);

/** Bytes of the memory that a call of ComputeSizeZoneTile for a tile of at most this size needs, aligned to 64. */
std::size_t
SizeZoneWorkspaceSize(const SizeZoneTask & task, const int (&tileSize)[3]);

// One compilation of SizeZoneTileKernel.h per instruction set.
namespace baseline
{
void
ComputeSizeZoneTile(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace);
}
namespace avx2
{
void
ComputeSizeZoneTile(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace);
}
namespace avx512
{
void
ComputeSizeZoneTile(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace);
}
} // namespace voxelmaps

#endif // SizeZoneTile_h
