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
