// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderTile_h
#define FirstOrderTile_h

#include "firstorder/FirstOrderTask.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** A box of the output region. */
struct FirstOrderTile
{
  std::int64_t start[3];
  int          size[3];

  // Called every few milliseconds; throws to end the job.
  void (*checkAbort)(const void * execution);
  const void * execution;
};

/** Bytes of the memory that a call of ComputeFirstOrderTile for a tile of at most this size needs, aligned to 64. */
std::size_t
FirstOrderWorkspaceSize(const FirstOrderTask & task, const int (&tileSize)[3]);

// One compilation of FirstOrderTileKernel.h per instruction set.
namespace baseline
{
void
ComputeFirstOrderTile(const FirstOrderTask & task, const FirstOrderTile & tile, void * workspace);
}
namespace avx2
{
void
ComputeFirstOrderTile(const FirstOrderTask & task, const FirstOrderTile & tile, void * workspace);
}
namespace avx512
{
void
ComputeFirstOrderTile(const FirstOrderTask & task, const FirstOrderTile & tile, void * workspace);
}
} // namespace voxelmaps

#endif // FirstOrderTile_h
