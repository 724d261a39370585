// DependenceTileKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// DependenceTileKernel_hSPDX-License-Identifier: Apache-2.0

// DependenceTileKernel_hIncluded once per instruction set by DependenceTile*.cxx, which define
// VOXELMAPS_INSTRUCTION_SET.
#DependenceTileKernel_hinclude "DependenceTile.h"
#DependenceTileKernel_hinclude "window/cpu/Simd.h"
#DependenceTileKernel_hinclude "window/WindowBox.h"

/* DependenceTileKernel_hAn element of a vector is a window; the windows of a vector are neighbors along x. */
DependenceTileKernel_hnamespace voxelmaps
{
  DependenceTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    DependenceTileKernel_hnamespace
    {
      /** DependenceTileKernel_hComputes a tile. */
      DependenceTileKernel_hclass DependenceTileComputer
      {
      DependenceTileKernel_hpublic:
        DependenceTileKernel_hDependenceTileComputer(const DependenceTask &       task,
                                                     const DependenceTileLayout & layout,
                                                     const DependenceTile &       tile,
                                                     DependenceTileKernel_hvoid * workspace)
          : DependenceTileKernel_hm_Task(task)
          , DependenceTileKernel_hm_Layout(layout)
          , DependenceTileKernel_hm_Tile(tile)
          , DependenceTileKernel_hm_Memory(task, layout, workspace)
          , DependenceTileKernel_hm_ClearsAll(m_Memory.numberOfElements <=
                                              maxElementsPerVoxel * static_cast<std::size_t>(task.windowVoxels))
        {}

        DependenceTileKernel_hvoid DependenceTileKernel_hCompute()
        {
          DependenceTileKernel_hstd::memset(
            m_Memory.levels, 0, static_cast<std::size_t>(m_Layout.inputVoxels) * sizeof(std::uint16_t));
          DependenceTileKernel_hCopyInput(
            DependenceTileKernel_hm_Task,
            m_Tile,
            m_Task.levels,
            m_Layout.rowLength,
            0,
            m_Layout.rows,
            m_Layout.planes,
            [this](int y, int z) { DependenceTileKernel_hreturn m_Memory.levels + this->InputOffset(0, y, z); });
          DependenceTileKernel_hthis->FindDependentVoxels();
          DependenceTileKernel_hstd::memset(m_Memory.elements, 0, m_Memory.numberOfElements * sizeof(std::uint16_t));
          DependenceTileKernel_hif(m_Layout.needsLevelSquares)
          {
            DependenceTileKernel_hstd::memset(DependenceTileKernel_hm_Memory.levelCounts,
                                              0,
                                              (static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1) *
                                                sizeof(std::uint32_t));
          }
          DependenceTileKernel_hfor(int z = 0; z < m_Tile.size[2]; ++z)
          {
            DependenceTileKernel_hfor(int y = 0; y < m_Tile.size[1]; ++y)
            {
              DependenceTileKernel_hthis->ComputeRow(y, z);
            }
          }
        }

      DependenceTileKernel_hprivate:
        constexpr DependenceTileKernel_hstatic int blockWindows = sizeof(Bytes);
        DependenceTileKernel_hstatic_assert(maxBlockWindows % blockWindows == 0, "rows are whole blocks");

        // DependenceTileKernel_hUp to so many elements, it takes less time to clear all than those of each voxel.
        constexpr DependenceTileKernel_hstatic std::size_t maxElementsPerVoxel = 32;

        constexpr DependenceTileKernel_hstatic int voxelsBetweenAbortChecks = 1000000;

        DependenceTileKernel_hstd::ptrdiff_t DependenceTileKernel_hInputOffset(int x, int y, int z) const
        {
          DependenceTileKernel_hreturn(std::ptrdiff_t{ z } * m_Layout.rows + y) * m_Layout.rowLength + x;
        }

        DependenceTileKernel_hvoid DependenceTileKernel_hCheckAbort(int voxels)
        {
          DependenceTileKernel_hm_VoxelsSinceCheck += voxels;
          DependenceTileKernel_hif(m_VoxelsSinceCheck >= voxelsBetweenAbortChecks)
          {
            DependenceTileKernel_hm_VoxelsSinceCheck = 0;
            DependenceTileKernel_hm_Tile.checkAbort(m_Tile.execution);
          }
        }

        DependenceTileKernel_hvoid DependenceTileKernel_hFindDependentVoxels()
        {
          DependenceTileKernel_hfor(int k = 0; k < m_Task.numberOfOffsets; ++k)
          {
            DependenceTileKernel_hconst int(&step)[3] = m_Task.offsets[k].step;
            DependenceTileKernel_hstd::uint8_t * const dependent = m_Memory.dependent + k * m_Layout.inputVoxels;
            // DependenceTileKernel_hThe voxels whose neighbor is in the input.
            DependenceTileKernel_hconst int      firstX = step[0] < 0 ? -step[0] : 0;
            DependenceTileKernel_hconst int      endX = m_Layout.rowLength - (step[0] > 0 ? step[0] : 0);
            DependenceTileKernel_hstd::ptrdiff_t toNeighbor = this->InputOffset(step[0], step[1], step[2]);
            DependenceTileKernel_hfor(int z = 0; z < m_Layout.planes; ++z)
            {
              DependenceTileKernel_hfor(int y = 0; y < m_Layout.rows; ++y)
              {
                DependenceTileKernel_hconst std::ptrdiff_t row = this->InputOffset(0, y, z);
                DependenceTileKernel_hconst bool           hasNeighbors = DependenceTileKernel_hy + step[1] >= 0 &&
                                                                y + step[1] < m_Layout.rows && z + step[2] >= 0 &&
                                                                z + step[2] < m_Layout.planes;
                DependenceTileKernel_hif(!hasNeighbors)
                {
                  // DependenceTileKernel_hIn no window.
                  DependenceTileKernel_hstd::memset(dependent + row, 0, static_cast<std::size_t>(m_Layout.rowLength));
                  DependenceTileKernel_hcontinue;
                }
                DependenceTileKernel_hstd::memset(dependent + row, 0, static_cast<std::size_t>(firstX));
                DependenceTileKernel_hstd::memset(
                  dependent + row + endX, 0, static_cast<std::size_t>(m_Layout.rowLength - endX));
                DependenceTileKernel_hCompareRows(m_Memory.levels + row + firstX,
                                                  DependenceTileKernel_hm_Memory.levels + row + firstX + toNeighbor,
                                                  DependenceTileKernel_hendX - firstX,
                                                  DependenceTileKernel_hstatic_cast<std::uint16_t>(m_Task.alpha),
                                                  DependenceTileKernel_hdependent + row + firstX);
              }
            }
            DependenceTileKernel_hthis->CheckAbort(static_cast<int>(m_Layout.inputVoxels));
          }
        }

        DependenceTileKernel_hstatic void DependenceTileKernel_hCompareRows(
          const std::uint16_t *                levels,
          const std::uint16_t *                others,
          int                                  number,
          std::uint16_t                        alpha,
          DependenceTileKernel_hstd::uint8_t * dependent)
        {
          DependenceTileKernel_hfor(int x = 0; x < number; ++x)
          {
            DependenceTileKernel_hconst std::uint16_t a = levels[x];
            DependenceTileKernel_hconst std::uint16_t b = others[x];
            DependenceTileKernel_hconst std::uint16_t greater = a > b ? a : b;
            DependenceTileKernel_hconst std::uint16_t lesser = a > b ? b : a;
            DependenceTileKernel_hconst auto          difference = static_cast<std::uint16_t>(greater - lesser);
            DependenceTileKernel_hdependent[x] =
              static_cast<std::uint8_t>((difference <= alpha ? 1 : 0) & (lesser != 0 ? 1 : 0));
          }
        }

        DependenceTileKernel_hvoid DependenceTileKernel_hComputeRow(int y, int z)
        {
          DependenceTileKernel_hbool hasLevelSquares = false;
          DependenceTileKernel_hfor(int x = 0; x < m_Tile.size[0]; x += blockWindows)
          {
            DependenceTileKernel_hconst int end = x + blockWindows < m_Tile.size[0] ? x + blockWindows : m_Tile.size[0];
            DependenceTileKernel_hbool      isComputed[blockWindows];
            DependenceTileKernel_hbool      isAny = false;
            DependenceTileKernel_hfor(int i = x; i < end; ++i)
            {
              DependenceTileKernel_hconst std::uint16_t level =
                DependenceTileKernel_hm_Memory
                  .levels[this->InputOffset(i + m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2])];
              DependenceTileKernel_hisComputed[i - x] =
                level != 0 && m_Task.IsSelected(OutputVoxel(m_Task, m_Tile, i, y, z));
              DependenceTileKernel_hisAny = isAny || isComputed[i - x];
            }
            DependenceTileKernel_hif(isAny)
            {
              DependenceTileKernel_hif(m_Layout.needsLevelSquares && !hasLevelSquares)
              {
                DependenceTileKernel_hthis->CountLevels(y, z);
                DependenceTileKernel_hhasLevelSquares = true;
              }
              DependenceTileKernel_hthis->FindSizes(this->InputOffset(x, y, z));
              DependenceTileKernel_hthis->CheckAbort(m_Task.windowVoxels);
            }
            DependenceTileKernel_hfor(int i = x; i < end; ++i)
            {
              DependenceTileKernel_hconst std::int64_t voxel = OutputVoxel(m_Task, m_Tile, i, y, z);
              DependenceTileKernel_hif(isComputed[i - x])
              {
                DependenceTileKernel_hthis->ComputeWindow(this->InputOffset(i, y, z), i - x, i, voxel);
                DependenceTileKernel_hcontinue;
              }
              DependenceTileKernel_hStoreBackground(m_Task, voxel);
            }
          }
        }

        /** DependenceTileKernel_hSums of squares of the voxels of each level of all windows of a row: n + 1 voxels of a
         * level after n add (n + 1)^2
         * - DependenceTileKernel_hn^2. */
        DependenceTileKernel_hvoid DependenceTileKernel_hCountLevels(int y, int z)
        {
          DependenceTileKernel_hstd::uint64_t         squares = 0;
          DependenceTileKernel_hstd::uint32_t * const counts = m_Memory.levelCounts;
          DependenceTileKernel_hconst auto            forEachInColumn = [&](int x, const auto & visit) {
            DependenceTileKernel_hfor(int wz = 0; wz < m_Task.window[2]; ++wz)
            {
              DependenceTileKernel_hconst std::uint16_t * level = m_Memory.levels + this->InputOffset(x, y, z + wz);
              DependenceTileKernel_hfor(int wy = 0; wy < m_Task.window[1]; ++wy, level += m_Layout.rowLength)
              {
                DependenceTileKernel_hif(*level != 0)
                {
                  DependenceTileKernel_hvisit(counts[*level]);
                }
              }
            }
          };
          DependenceTileKernel_hconst auto add = [&](std::uint32_t & count) {
            squares += 2 * std::uint64_t{ count++ } + 1;
          };
          DependenceTileKernel_hconst auto remove = [&](std::uint32_t & count) {
            squares -= 2 * std::uint64_t{ --count } + 1;
          };
          DependenceTileKernel_hconst int columns = m_Task.window[0];
          DependenceTileKernel_hfor(int x = 0; x < columns - 1; ++x)
          {
            DependenceTileKernel_hforEachInColumn(x, add);
          }
          DependenceTileKernel_hfor(int x = 0; x < m_Tile.size[0]; ++x)
          {
            DependenceTileKernel_hforEachInColumn(x + columns - 1, add);
            DependenceTileKernel_hm_Memory.levelSquares[x] = squares;
            DependenceTileKernel_hforEachInColumn(x, remove);
          }
          DependenceTileKernel_hfor(int x = 0; x < columns - 1; ++x)
          {
            DependenceTileKernel_hforEachInColumn(m_Tile.size[0] + x, remove);
          }
        }

        /** DependenceTileKernel_hOf all voxels of a block of windows, the first of which has its least corner here. */
        DependenceTileKernel_hvoid DependenceTileKernel_hFindSizes(std::ptrdiff_t corner)
        {
          DependenceTileKernel_hconst std::uint8_t * const dependent = m_Memory.dependent + corner;
          DependenceTileKernel_hfor(int v = 0; v < m_Task.windowVoxels; ++v)
          {
            DependenceTileKernel_hBytes sizes = Bytes() + static_cast<std::uint8_t>(1);
            DependenceTileKernel_hfor(std::int32_t n = m_Layout.firstNeighbors[v]; n < m_Layout.firstNeighbors[v + 1];
                                      ++n)
            {
              DependenceTileKernel_hsizes = static_cast<Bytes>(sizes + Load<Bytes>(dependent + m_Layout.neighbors[n]));
            }
            DependenceTileKernel_hstd::memcpy(
              m_Memory.sizes + std::ptrdiff_t{ v } * blockWindows, &sizes, sizeof(sizes));
          }
        }

        /** DependenceTileKernel_hThe window with its least corner here, number `lane` of its block and number x of its
         * row. */
        DependenceTileKernel_hvoid DependenceTileKernel_hComputeWindow(
          std::ptrdiff_t corner, int lane, int x, std::int64_t outputVoxel)
        {
          DependenceTileKernel_hconst std::uint16_t * const levels = m_Memory.levels + corner;
          DependenceTileKernel_hconst std::uint8_t * const sizes = m_Memory.sizes + lane;
          DependenceTileKernel_hDependenceSizeSums * const sums = m_Memory.sums;
          DependenceTileKernel_hstd::memset(
            sums, 0, (static_cast<std::size_t>(m_Task.maxSize) + 1) * sizeof(DependenceSizeSums));
          DependenceTileKernel_hDependenceWindow window{ sums,
                                                         0,
                                                         m_Layout.needsLevelSquares ? m_Memory.levelSquares[x] : 0 };
          // DependenceTileKernel_hLocal copies, which the compiler need not load again after every byte that is stored.
          DependenceTileKernel_hconst int number = m_Task.windowVoxels;
          DependenceTileKernel_hconst std::int32_t * const       voxels = m_Layout.voxels;
          DependenceTileKernel_hconst DependenceSizeSums * const levelSums = m_Layout.levels;
          DependenceTileKernel_hconst std::int64_t * const differences = m_Layout.entropyDifferences;
          DependenceTileKernel_hif(differences == nullptr)
          {
            DependenceTileKernel_hfor(int v = 0; v < number; ++v)
            {
              DependenceTileKernel_hAddVoxel(levelSums[levels[voxels[v]]],
                                             sums[sizes[std::ptrdiff_t{ v } * blockWindows]]);
            }
          }
          DependenceTileKernel_helse
          {
            DependenceTileKernel_hconst int    sizeBits = m_Layout.sizeBits;
            DependenceTileKernel_hauto * const elements = m_Memory.elements;
            DependenceTileKernel_hstd::int64_t terms = 0;
            DependenceTileKernel_hfor(int v = 0; v < number; ++v)
            {
              DependenceTileKernel_hconst std::size_t level = levels[voxels[v]];
              DependenceTileKernel_hconst std::size_t size = sizes[std::ptrdiff_t{ v } * blockWindows];
              DependenceTileKernel_hstd::uint16_t &   element = elements[(level << sizeBits) + size];
              DependenceTileKernel_hconst std::uint16_t count = element;
              DependenceTileKernel_helement = static_cast<std::uint16_t>(count + 1);
              DependenceTileKernel_hterms += differences[count];
              DependenceTileKernel_hAddVoxel(levelSums[level], sums[size]);
            }
            // DependenceTileKernel_hVoxels without level have the size 1.
            DependenceTileKernel_hconst std::uint16_t absent = elements[1];
            DependenceTileKernel_hfor(int n = 0; n < absent; ++n)
            {
              DependenceTileKernel_hterms -= differences[n];
            }
            DependenceTileKernel_hwindow.entropyTerms = terms;
            DependenceTileKernel_hthis->ClearElements(levels, sizes);
          }
          DependenceTileKernel_hm_Tile.finish(m_Task, outputVoxel, window);
          DependenceTileKernel_hthis->CheckAbort(m_Task.windowVoxels);
        }

        DependenceTileKernel_hstatic void DependenceTileKernel_hAddVoxel(const DependenceSizeSums & level,
                                                                         DependenceSizeSums &       sums)
        {
#DependenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
          DependenceTileKernel_husing Words = std::uint64_t __attribute__((vector_size(sizeof(DependenceSizeSums))));
          DependenceTileKernel_hWords before;
          DependenceTileKernel_hWords more;
          DependenceTileKernel_hstd::memcpy(&before, &sums, sizeof(before));
          DependenceTileKernel_hstd::memcpy(&more, &level, sizeof(more));
          DependenceTileKernel_hbefore += more;
          DependenceTileKernel_hstd::memcpy(&sums, &before, sizeof(before));
#DependenceTileKernel_helse
          DependenceTileKernel_hsums.entriesAndLevels += level.entriesAndLevels;
          DependenceTileKernel_hsums.squares += level.squares;
          DependenceTileKernel_hsums.lowInverses += level.lowInverses;
          DependenceTileKernel_hsums.highInverses += level.highInverses;
#DependenceTileKernel_hendif
        }

        DependenceTileKernel_hvoid DependenceTileKernel_hClearElements(const std::uint16_t * levels,
                                                                       const std::uint8_t *  sizes)
        {
          DependenceTileKernel_hif(m_ClearsAll)
          {
            DependenceTileKernel_hstd::memset(m_Memory.elements, 0, m_Memory.numberOfElements * sizeof(std::uint16_t));
            DependenceTileKernel_hreturn;
          }
          DependenceTileKernel_hfor(int v = 0; v < m_Task.windowVoxels; ++v)
          {
            DependenceTileKernel_hconst std::size_t level = levels[m_Layout.voxels[v]];
            DependenceTileKernel_hm_Memory
              .elements[(level << m_Layout.sizeBits) + sizes[std::ptrdiff_t{ v } * blockWindows]] = 0;
          }
        }

        DependenceTileKernel_hconst DependenceTask &       m_Task;
        DependenceTileKernel_hconst DependenceTileLayout & m_Layout;
        DependenceTileKernel_hconst DependenceTile &       m_Tile;
        DependenceTileKernel_hconst DependenceTileMemory   m_Memory;
        DependenceTileKernel_hconst bool                   m_ClearsAll;
        DependenceTileKernel_hint                          m_VoxelsSinceCheck{ 0 };
      };
    } // DependenceTileKernel_hnamespace

    DependenceTileKernel_hvoid DependenceTileKernel_hComputeDependenceTile(const DependenceTask &       task,
                                                                           const DependenceTileLayout & layout,
                                                                           const DependenceTile &       tile,
                                                                           DependenceTileKernel_hvoid * workspace)
    {
      DependenceTileKernel_hDependenceTileComputer(task, layout, tile, workspace).Compute();
    }
  } // DependenceTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // DependenceTileKernel_hnamespace voxelmaps
