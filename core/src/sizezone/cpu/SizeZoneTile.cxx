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
