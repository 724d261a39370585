// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FirstOrderTile.h"

#include "FirstOrderTileMemory.h"

namespace voxelmaps
{
std::size_t
FirstOrderWorkspaceSize(const FirstOrderTask & task, const int (&tileSize)[3])
{
  return FirstOrderTileMemory(task, TileShape(task, tileSize), nullptr).bytes;
}
} // namespace voxelmaps
