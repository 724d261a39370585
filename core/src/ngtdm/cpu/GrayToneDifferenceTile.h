// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GrayToneDifferenceTile_h
#define GrayToneDifferenceTile_h

#include "ngtdm/GrayToneDifferenceFormulas.h"
#include "ngtdm/GrayToneDifference.h"
#include "window/cpu/KernelTile.h"

#include <cstddef>
#include <cstdint>

namespace voxelmaps
{
/** Store the features of a window as the components that begin here. Compiled once, for all instruction sets. */
void
StoreGrayToneDifferenceFeatures(const GrayToneDifferenceTask & task, const GrayToneDifferenceSums & sums,
                                std::int64_t firstComponent);

namespace
{
constexpr int maxSimdWidth = 8;
constexpr int maxClasses = 3;

/** The classes of the positions of a window along one axis, by the neighbors that the window cuts off: first, inside,
 * last; first and last; or one class, if there are no neighbors along the axis. */
struct PositionClasses
{
  int number;
  int positions[maxClasses]; // of each class
  int first[maxClasses];     // position of each class
  int before[maxClasses];    // neighbors before the voxel: 0 or 1
  int after[maxClasses];

  PositionClasses(int windowSize, int reach)
    : number(reach == 0                ? 1
             : windowSize < maxClasses ? windowSize
                                       : maxClasses)
    , positions{}
    , first{}
    , before{}
    , after{}
  {
    for (int position = windowSize - 1; position >= 0; --position)
    {
      const int c = this->Of(position, windowSize);
      ++positions[c];
      first[c] = position;
      before[c] = reach != 0 && position > 0 ? 1 : 0;
      after[c] = reach != 0 && position < windowSize - 1 ? 1 : 0;
    }
  }
  int
  Of(int position, int windowSize) const
  {
    return number == 1 || position == 0 ? 0 : position == windowSize - 1 ? number - 1 : 1;
  }
};

/** A row of the windows of a row of the output; the pointers are those of the window of the first voxel. */
struct GrayToneDifferenceWindowRow
{
  const std::uint16_t * levels;
  const std::uint64_t * terms; // of the first class along x
  std::uint64_t *       sums;
};

/** The parts of a workspace. Laid out twice: without memory to learn the size, then on the memory. */
struct GrayToneDifferenceTileMemory
{
  PositionClasses classes[3];
  int             pitch;  // voxels of an input row, whole vectors
  int             rows;   // of an input plane
  int             planes; // of the input
  std::ptrdiff_t  planeVoxels;
  int             maxLevels; // of a window, whole vectors and one more

  std::uint16_t * levels; // of the input, with a margin of one voxel along x and y; 0 where a voxel is absent

  // One plane: sums of neighbors along x, of a row and all its classes; a sum has levels in its lower bits, the
  // number of voxels above sumBits.
  std::uint32_t * rowSums;
  /** By (plane % window size, class along y, class along x). */
  std::uint32_t * planeSums;
  /** By (class along z, plane % positions of the class, class along y, class along x): terms of A(i) and, above
   * differenceBits, of n(i). */
  std::uint64_t * terms;
  std::ptrdiff_t  classTerms[maxClasses];

  GrayToneDifferenceWindowRow * windowRows;

  /** Sums of the terms by level, of one window; two tables, to be added. */
  std::uint64_t * table;

  // Levels of one window.
  std::uint64_t * packed;
  double *        present;
  std::uint32_t * counts;
  double *        products;
  double *        weighted; // i n(i)

  double * reciprocals; // 1 / n for n up to the voxels of a window

  std::size_t bytes;

  static constexpr int sumBits = 22;

  GrayToneDifferenceTileMemory(const GrayToneDifferenceTask & task, const int (&tileSize)[3], void * memory)
    : classes{ { task.window[0], task.reach[0] }, { task.window[1], task.reach[1] }, { task.window[2], task.reach[2] } }
    , pitch((tileSize[0] + task.window[0] - 1 + 2 * maxSimdWidth - 1) / (2 * maxSimdWidth) * (2 * maxSimdWidth))
    , rows(tileSize[1] + task.window[1] - 1)
    , planes(tileSize[2] + task.window[2] - 1)
    , planeVoxels(std::ptrdiff_t{ pitch } * rows)
    , maxLevels((task.numberOfGrayLevels < task.windowVoxels ? task.numberOfGrayLevels : task.windowVoxels) +
                2 * maxSimdWidth)
  {
    WorkspaceLayout      layout(memory);
    const std::ptrdiff_t images = std::ptrdiff_t{ classes[0].number } * classes[1].number;
    levels = layout.Append<std::uint16_t>(this->LevelOffset(-1, -1, planes) + 2 * maxSimdWidth);
    rowSums = layout.Append<std::uint32_t>(std::ptrdiff_t{ pitch } * (rows + 2) * classes[0].number);
    planeSums = layout.Append<std::uint32_t>(planeVoxels * images * task.window[2]);
    std::ptrdiff_t numberOfTerms = 0;
    for (int c = 0; c < maxClasses; ++c)
    {
      classTerms[c] = numberOfTerms;
      numberOfTerms += classes[2].positions[c] * images * planeVoxels;
    }
    terms = layout.Append<std::uint64_t>(numberOfTerms);
    windowRows = layout.Append<GrayToneDifferenceWindowRow>(std::ptrdiff_t{ task.window[1] } * task.window[2]);
    table = layout.Append<std::uint64_t>(2 * (std::ptrdiff_t{ task.numberOfGrayLevels } + maxSimdWidth));
    packed = layout.Append<std::uint64_t>(maxLevels);
    present = layout.Append<double>(maxLevels);
    counts = layout.Append<std::uint32_t>(maxLevels);
    products = layout.Append<double>(maxLevels);
    weighted = layout.Append<double>(maxLevels);
    reciprocals = layout.Append<double>(std::ptrdiff_t{ task.windowVoxels } + 1);
    bytes = layout.Bytes();
  }

  /** Among the levels, which have margins. */
  std::ptrdiff_t
  LevelOffset(int x, int y, int z) const
  {
    return (std::ptrdiff_t{ z } * (rows + 2) + y + 1) * (pitch + 2) + x + 1;
  }
  std::uint32_t *
  PlaneSums(int plane, int windowSize, int classY, int classX) const
  {
    return planeSums +
           ((std::ptrdiff_t{ plane % windowSize } * classes[1].number + classY) * classes[0].number + classX) *
             planeVoxels;
  }
  std::uint64_t *
  Terms(int classZ, int plane, int classY, int classX) const
  {
    const int slot = plane % classes[2].positions[classZ];
    return terms + classTerms[classZ] +
           ((std::ptrdiff_t{ slot } * classes[1].number + classY) * classes[0].number + classX) * planeVoxels;
  }
};
} // namespace

VOXELMAPS_DECLARE_KERNEL(void ComputeGrayToneDifferenceTile(const GrayToneDifferenceTask & task,
                                                            const KernelTile & tile, void * workspace))
} // namespace voxelmaps

#endif // GrayToneDifferenceTile_h
