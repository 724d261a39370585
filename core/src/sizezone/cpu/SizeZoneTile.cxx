// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneTile.h"

#include "SizeZoneTileMemory.h"

namespace voxelmaps
{
bool
SizeZoneTileSupports(const SizeZoneTask & task)
{
  return SlicesFitWords(task, maxWordBits);
}

std::size_t
SizeZoneWorkspaceSize(const SizeZoneTask & task, const int (&tileSize)[3])
{
  return SizeZoneTileMemory(task, TileShape(task, tileSize), nullptr).bytes;
}
} // namespace voxelmaps
