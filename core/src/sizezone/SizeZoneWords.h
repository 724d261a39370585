// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeZoneWords_h
#define SizeZoneWords_h

#include "sizezone/SizeZoneTask.h"

// A slice of a window as a word of bits, row by row. A row is followed by one bit that is always 0, so that no voxel
// becomes a neighbor of the next row's.
namespace voxelmaps
{
namespace
{
constexpr int maxWordSlices = 9;
constexpr int maxWordBits = 128;

/** From a row to the next one. */
VOXELMAPS_HOST_DEVICE inline int
RowBits(const SizeZoneTask & task)
{
  return task.window[0] + 1;
}

/** Whether the slices of a window fit words of so many bits. From row to row, words are shifted by less than 64 bits.
 */
inline bool
SlicesFitWords(const SizeZoneTask & task, int bits)
{
  return RowBits(task) < (bits < 64 ? bits : 64) && RowBits(task) * task.window[1] - 1 <= bits &&
         task.window[2] <= maxWordSlices;
}

/** Number of bits of a level - 1. */
inline int
LevelBits(const SizeZoneTask & task)
{
  int bits = 0;
  while ((task.numberOfGrayLevels - 1) >> bits != 0)
  {
    ++bits;
  }
  return bits;
}
} // namespace
} // namespace voxelmaps

#endif // SizeZoneWords_h
