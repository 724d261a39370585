// GrayToneDifferenceTileKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// GrayToneDifferenceTileKernel_hSPDX-License-Identifier: Apache-2.0

// GrayToneDifferenceTileKernel_hIncluded once per instruction set by GrayToneDifferenceTile*.cxx, which define
// VOXELMAPS_INSTRUCTION_SET.
#GrayToneDifferenceTileKernel_hinclude "GrayToneDifferenceTile.h"
#GrayToneDifferenceTileKernel_hinclude "window/cpu/Simd.h"
#GrayToneDifferenceTileKernel_hinclude "window/WindowBox.h"

/* GrayToneDifferenceTileKernel_hWhat a voxel adds to its window depends on its neighbors in the window, so on the faces
 * of the window it is on: its GrayToneDifferenceTileKernel_hclass of positions, one of up to 27. The terms of all
 * voxels and classes are computed once, in vectors of voxels, and GrayToneDifferenceTileKernel_heach window adds up the
 * terms of its voxels by level. Vectors of the pairs of levels have one level i per element:
 * GrayToneDifferenceTileKernel_heach element adds up its row of Complexity in the order of its definition. */
GrayToneDifferenceTileKernel_hnamespace voxelmaps
{
  GrayToneDifferenceTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    GrayToneDifferenceTileKernel_hnamespace
    {
      /** GrayToneDifferenceTileKernel_hNumbers of a table of doubles, at the indices that the elements of a vector
       * have. */
      GrayToneDifferenceTileKernel_hinline Real GrayToneDifferenceTileKernel_hGather(const double * table,
                                                                                     Bits32         indices)
      {
        // GrayToneDifferenceTileKernel_hThe unmasked forms trip a false warning of GCC 12.
#GrayToneDifferenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX512F__)
        GrayToneDifferenceTileKernel_hreturn reinterpret_cast<Real>(
          GrayToneDifferenceTileKernel_h_mm512_mask_i32gather_pd(
            _mm512_setzero_pd(), 0xff, reinterpret_cast<__m256i>(indices), table, 8));
#GrayToneDifferenceTileKernel_helif defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX2__)
        GrayToneDifferenceTileKernel_hconst __m256d all = reinterpret_cast<__m256d>(Bits64{} - 1);
        GrayToneDifferenceTileKernel_hreturn reinterpret_cast<Real>(
          GrayToneDifferenceTileKernel_h_mm256_mask_i32gather_pd(
            _mm256_setzero_pd(), table, reinterpret_cast<__m128i>(indices), all, 8));
#GrayToneDifferenceTileKernel_helif defined(VOXELMAPS_VECTOR_TYPES)
        GrayToneDifferenceTileKernel_hreturn Real{ table[indices[0]], table[indices[1]] };
#GrayToneDifferenceTileKernel_helse
        GrayToneDifferenceTileKernel_hreturn table[indices];
#GrayToneDifferenceTileKernel_hendif
      }

      /** GrayToneDifferenceTileKernel_hThe bits of integers below 2^52 that are held in doubles. */
      GrayToneDifferenceTileKernel_hinline Bits64 GrayToneDifferenceTileKernel_hToBits64(Real value)
      {
#GrayToneDifferenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        // GrayToneDifferenceTileKernel_hThe sum has the integer in its lower bits.
        GrayToneDifferenceTileKernel_hreturn reinterpret_cast<Bits64>(value + 4503599627370496.0) & 0xfffffffffffffu;
#GrayToneDifferenceTileKernel_helse
        GrayToneDifferenceTileKernel_hreturn static_cast<std::uint64_t>(value);
#GrayToneDifferenceTileKernel_hendif
      }

      GrayToneDifferenceTileKernel_hinline Bits32 GrayToneDifferenceTileKernel_hToBits32(Bits64 value)
      {
#GrayToneDifferenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        GrayToneDifferenceTileKernel_hreturn __builtin_convertvector(value, Bits32);
#GrayToneDifferenceTileKernel_helse
        GrayToneDifferenceTileKernel_hreturn static_cast<std::uint32_t>(value);
#GrayToneDifferenceTileKernel_hendif
      }

      /** GrayToneDifferenceTileKernel_hThe value where an element is below a limit, else 0. */
      GrayToneDifferenceTileKernel_hinline Real GrayToneDifferenceTileKernel_hWhere(
        Real numbers, double limit, Real value)
      {
#GrayToneDifferenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        GrayToneDifferenceTileKernel_hreturn reinterpret_cast<Real>(reinterpret_cast<Bits64>(numbers < limit) &
                                                                    reinterpret_cast<Bits64>(value));
#GrayToneDifferenceTileKernel_helse
        GrayToneDifferenceTileKernel_hreturn numbers < limit ? value : 0.0;
#GrayToneDifferenceTileKernel_hendif
      }

      GrayToneDifferenceTileKernel_hinline Real GrayToneDifferenceTileKernel_hAbsoluteValue(Real value)
      {
#GrayToneDifferenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        GrayToneDifferenceTileKernel_hreturn reinterpret_cast<Real>(reinterpret_cast<Bits64>(value) &
                                                                    0x7fffffffffffffffu);
#GrayToneDifferenceTileKernel_helse
        GrayToneDifferenceTileKernel_hreturn value < 0.0 ? -value : value;
#GrayToneDifferenceTileKernel_hendif
      }

      GrayToneDifferenceTileKernel_htemplate<typename TPack, typename T> GrayToneDifferenceTileKernel_hinline void
      GrayToneDifferenceTileKernel_hStore(const TPack & pack, T * memory)
      {
        GrayToneDifferenceTileKernel_hstd::memcpy(memory, &pack, sizeof(TPack));
      }

      /** GrayToneDifferenceTileKernel_hSum of integers, whose order does not matter. */
      GrayToneDifferenceTileKernel_htemplate<typename T, typename TPack> GrayToneDifferenceTileKernel_hinline T
      GrayToneDifferenceTileKernel_hElementSum(const TPack & pack)
      {
        GrayToneDifferenceTileKernel_hT elements[simdWidth];
        GrayToneDifferenceTileKernel_hstd::memcpy(elements, &pack, sizeof(pack));
        GrayToneDifferenceTileKernel_hT sum = 0;
        GrayToneDifferenceTileKernel_hfor(const T element : elements)
        {
          GrayToneDifferenceTileKernel_hsum += element;
        }
        GrayToneDifferenceTileKernel_hreturn sum;
      }

      /** GrayToneDifferenceTileKernel_hComputes a tile. */
      GrayToneDifferenceTileKernel_hclass GrayToneDifferenceTileComputer
      {
      GrayToneDifferenceTileKernel_hpublic:
        GrayToneDifferenceTileKernel_hGrayToneDifferenceTileComputer(
          const GrayToneDifferenceTask & task, const KernelTile & tile, void * workspace)
          : GrayToneDifferenceTileKernel_hm_Task(task)
          , GrayToneDifferenceTileKernel_hm_Tile(tile)
          , GrayToneDifferenceTileKernel_hm_Memory(task, tile.size, workspace)
          , GrayToneDifferenceTileKernel_hm_Slides(m_Memory.classes[0].number != 2 && task.window[0] >= minSlidingSize)
        {
          GrayToneDifferenceTileKernel_hfor(int voxels = 0; voxels < maxNeighbors + 2; ++voxels)
          {
            // GrayToneDifferenceTileKernel_hExact, as weights are below 2^53.
            GrayToneDifferenceTileKernel_hconst bool hasWeight = voxels > 0 && voxels <= 2 * task.numberOfOffsets + 1;
            GrayToneDifferenceTileKernel_hm_Weights[voxels] =
              hasWeight ? static_cast<double>(task.weights[voxels - 1]) : 0.0;
          }
          GrayToneDifferenceTileKernel_hm_Memory.reciprocals[0] = 0.0;
          GrayToneDifferenceTileKernel_hfor(int n = 1; n <= task.windowVoxels; ++n)
          {
            GrayToneDifferenceTileKernel_hm_Memory.reciprocals[n] = 1.0 / n;
          }
          GrayToneDifferenceTileKernel_hfor(int lane = 0; lane < simdWidth; ++lane)
          {
            GrayToneDifferenceTileKernel_hm_Numbers[lane] = lane;
          }
        }

        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hCompute()
        {
          GrayToneDifferenceTileKernel_hstd::memset(
            m_Memory.levels,
            GrayToneDifferenceTileKernel_h0,
            GrayToneDifferenceTileKernel_hstatic_cast<std::size_t>(m_Memory.LevelOffset(-1, -1, m_Memory.planes)) *
              sizeof(std::uint16_t));
          GrayToneDifferenceTileKernel_hCopyInput(
            m_Task, m_Tile, m_Task.levels, m_Memory.pitch, -1, m_Memory.rows + 1, m_Memory.planes, [&](int y, int z) {
              GrayToneDifferenceTileKernel_hreturn m_Memory.levels + m_Memory.LevelOffset(0, y, z);
            });
          GrayToneDifferenceTileKernel_hconst PositionClasses & classes = m_Memory.classes[2];
          GrayToneDifferenceTileKernel_hint                     summed = 0;
          GrayToneDifferenceTileKernel_hint                     ready[maxClasses] = { classes.first[0],
                                                                                      classes.first[1],
                                                                                      classes.first[2] };
          GrayToneDifferenceTileKernel_hfor(int z = 0; z < m_Tile.size[2]; ++z)
          {
            GrayToneDifferenceTileKernel_hm_Tile.checkAbort(m_Tile.execution);
            GrayToneDifferenceTileKernel_hfor(; summed < z + m_Task.window[2]; ++summed)
            {
              GrayToneDifferenceTileKernel_hthis->SumPlane(summed);
            }
            GrayToneDifferenceTileKernel_hfor(int c = 0; c < classes.number; ++c)
            {
              GrayToneDifferenceTileKernel_hfor(; ready[c] < z + classes.first[c] + classes.positions[c]; ++ready[c])
              {
                GrayToneDifferenceTileKernel_hthis->MakeTerms(c, ready[c]);
              }
            }
            GrayToneDifferenceTileKernel_hfor(int y = 0; y < m_Tile.size[1]; ++y)
            {
              GrayToneDifferenceTileKernel_hthis->ComputeRow(y, z);
            }
          }
        }

      GrayToneDifferenceTileKernel_hprivate:
        constexpr GrayToneDifferenceTileKernel_hstatic int maxNeighbors = 26;
        // GrayToneDifferenceTileKernel_hFour columns of a window that slides take less time than all columns of larger
        // windows.
        constexpr GrayToneDifferenceTileKernel_hstatic int minSlidingSize = 6;

        /** GrayToneDifferenceTileKernel_hLevels and number of the neighbors along x and y of all voxels of a plane,
         * themselves among them. */
        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hSumPlane(int z)
        {
          GrayToneDifferenceTileKernel_hconstexpr std::uint32_t one = std::uint32_t{ 1 }
                                                                      << GrayToneDifferenceTileMemory::sumBits;
          GrayToneDifferenceTileKernel_hconst int pitch = m_Memory.pitch;
          GrayToneDifferenceTileKernel_hconst int classesX = m_Memory.classes[0].number;
          GrayToneDifferenceTileKernel_hfor(int y = -1; y <= m_Memory.rows; ++y)
          {
            GrayToneDifferenceTileKernel_hconst std::uint16_t * const levels =
              m_Memory.levels + m_Memory.LevelOffset(0, y, z);
            GrayToneDifferenceTileKernel_hfor(int c = 0; c < classesX; ++c)
            {
              GrayToneDifferenceTileKernel_hstd::uint32_t * const sums = this->RowSums(y, c);
              GrayToneDifferenceTileKernel_hconst bool            before = m_Memory.classes[0].before[c] != 0;
              GrayToneDifferenceTileKernel_hconst bool            after = m_Memory.classes[0].after[c] != 0;
              GrayToneDifferenceTileKernel_hconst auto            getValue = [](std::uint16_t level) {
                return std::uint32_t{ level } + (level != 0 ? one : 0u);
              };
              GrayToneDifferenceTileKernel_hfor(int x = 0; x < pitch; ++x)
              {
                GrayToneDifferenceTileKernel_hsums[x] = GrayToneDifferenceTileKernel_hgetValue(levels[x]) +
                                                        (before ? getValue(levels[x - 1]) : 0u) +
                                                        (after ? getValue(levels[x + 1]) : 0u);
              }
            }
          }
          GrayToneDifferenceTileKernel_hfor(int b = 0; b < m_Memory.classes[1].number; ++b)
          {
            GrayToneDifferenceTileKernel_hconst bool before = m_Memory.classes[1].before[b] != 0;
            GrayToneDifferenceTileKernel_hconst bool after = m_Memory.classes[1].after[b] != 0;
            GrayToneDifferenceTileKernel_hfor(int c = 0; c < classesX; ++c)
            {
              GrayToneDifferenceTileKernel_hstd::uint32_t * to = m_Memory.PlaneSums(z, m_Task.window[2], b, c);
              GrayToneDifferenceTileKernel_hfor(int y = 0; y < m_Memory.rows; ++y, to += pitch)
              {
                GrayToneDifferenceTileKernel_hconst std::uint32_t * const own = this->RowSums(y, c);
                GrayToneDifferenceTileKernel_hconst std::uint32_t * const previous = this->RowSums(y - 1, c);
                GrayToneDifferenceTileKernel_hconst std::uint32_t * const next = this->RowSums(y + 1, c);
                GrayToneDifferenceTileKernel_hfor(int x = 0; x < pitch; ++x)
                {
                  GrayToneDifferenceTileKernel_hto[x] = own[x] + (before ? previous[x] : 0u) + (after ? next[x] : 0u);
                }
              }
            }
          }
        }

        GrayToneDifferenceTileKernel_hstd::uint32_t * GrayToneDifferenceTileKernel_hRowSums(int y, int c) const
        {
          GrayToneDifferenceTileKernel_hreturn m_Memory.rowSums +
            (std::ptrdiff_t{ y + 1 } * m_Memory.classes[0].number + c) * m_Memory.pitch;
        }

        /** GrayToneDifferenceTileKernel_hThe terms of all voxels of a plane of the input in one class along z. */
        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hMakeTerms(int classZ, int z)
        {
          GrayToneDifferenceTileKernel_hconst bool before = m_Memory.classes[2].before[classZ] != 0;
          GrayToneDifferenceTileKernel_hconst bool after = m_Memory.classes[2].after[classZ] != 0;
          GrayToneDifferenceTileKernel_hfor(int b = 0; b < m_Memory.classes[1].number; ++b)
          {
            GrayToneDifferenceTileKernel_hfor(int c = 0; c < m_Memory.classes[0].number; ++c)
            {
              GrayToneDifferenceTileKernel_hconst std::uint32_t * const own =
                m_Memory.PlaneSums(z, m_Task.window[2], b, c);
              GrayToneDifferenceTileKernel_hconst std::uint32_t * const previous =
                before ? m_Memory.PlaneSums(z - 1, m_Task.window[2], b, c) : own;
              GrayToneDifferenceTileKernel_hconst std::uint32_t * const next =
                after ? m_Memory.PlaneSums(z + 1, m_Task.window[2], b, c) : own;
              GrayToneDifferenceTileKernel_hstd::uint64_t * const to = m_Memory.Terms(classZ, z, b, c);
              GrayToneDifferenceTileKernel_hfor(int y = 0; y < m_Memory.rows; ++y)
              {
                GrayToneDifferenceTileKernel_hconst std::uint16_t * const levels =
                  m_Memory.levels + m_Memory.LevelOffset(0, y, z);
                GrayToneDifferenceTileKernel_hconst std::ptrdiff_t row = std::ptrdiff_t{ y } * m_Memory.pitch;
                GrayToneDifferenceTileKernel_hfor(int x = 0; x < m_Memory.pitch; x += simdWidth)
                {
                  GrayToneDifferenceTileKernel_hBits32 sums = Load<Bits32>(own + row + x);
                  GrayToneDifferenceTileKernel_hsums += before ? Load<Bits32>(previous + row + x) : Bits32{};
                  GrayToneDifferenceTileKernel_hsums += after ? Load<Bits32>(next + row + x) : Bits32{};
                  GrayToneDifferenceTileKernel_hStore(this->LevelTerms(sums, Load<Bits16>(levels + x)), to + row + x);
                }
              }
            }
          }
        }

        /** GrayToneDifferenceTileKernel_hTerms of the voxels with these levels from the sums of their neighbors and
         * themselves. */
        GrayToneDifferenceTileKernel_hBits64 GrayToneDifferenceTileKernel_hLevelTerms(Bits32 sums, Bits16 bits) const
        {
          GrayToneDifferenceTileKernel_hconstexpr std::uint32_t sumMask =
            (std::uint32_t{ 1 } << GrayToneDifferenceTileMemory::sumBits) - 1;
          // GrayToneDifferenceTileKernel_hThe levels of absent voxels do not matter, as nothing is done with their
          // terms.
#GrayToneDifferenceTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
          GrayToneDifferenceTileKernel_hconst Bits32 levels = __builtin_convertvector(bits, Bits32);
#GrayToneDifferenceTileKernel_helse
          GrayToneDifferenceTileKernel_hconst Bits32 levels = bits;
#GrayToneDifferenceTileKernel_hendif
          GrayToneDifferenceTileKernel_hconst Bits32 voxels = sums >> GrayToneDifferenceTileMemory::sumBits;
          // GrayToneDifferenceTileKernel_hOf k + 1 voxels, one is the voxel itself: (k + 1) i - (S + i) = k i - S.
          GrayToneDifferenceTileKernel_hconst Real product = ToReal(voxels) * ToReal(levels);
          GrayToneDifferenceTileKernel_hconst Real difference = AbsoluteValue(product - ToReal(sums & sumMask));
          GrayToneDifferenceTileKernel_hconst Real weight = Gather(m_Weights, voxels);
          GrayToneDifferenceTileKernel_hconst Real counted =
            m_Task.countVoxelsWithoutNeighbors ? Real{} + 1.0 : Where(-ToReal(voxels), -1.5, Real{} + 1.0);
          GrayToneDifferenceTileKernel_hreturn ToBits64(difference * weight) +
            (ToBits64(counted) << m_Task.differenceBits);
        }

        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hComputeRow(int y, int z)
        {
          GrayToneDifferenceTileKernel_hconst std::uint16_t * const own =
            GrayToneDifferenceTileKernel_hm_Memory.levels +
            m_Memory.LevelOffset(m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2]);
          GrayToneDifferenceTileKernel_hconst std::int64_t firstVoxel = OutputVoxel(m_Task, m_Tile, 0, y, z);
          GrayToneDifferenceTileKernel_hthis->ListRows(y, z);
          GrayToneDifferenceTileKernel_hint last = -1; // window whose sums are in the tables, if they are kept
          GrayToneDifferenceTileKernel_hfor(int x = 0; x < m_Tile.size[0]; ++x)
          {
            GrayToneDifferenceTileKernel_hconst std::int64_t out = (firstVoxel + x) * m_Task.voxelStride;
            GrayToneDifferenceTileKernel_hif(own[x] == 0 || !m_Task.IsSelected(firstVoxel + x))
            {
              GrayToneDifferenceTileKernel_hStoreBackground(m_Task, firstVoxel + x);
              GrayToneDifferenceTileKernel_hcontinue;
            }
            GrayToneDifferenceTileKernel_hif(m_Slides && x > 0 && last == x - 1)
            {
              GrayToneDifferenceTileKernel_hthis->SlideTo(x);
            }
            GrayToneDifferenceTileKernel_helse
            {
              GrayToneDifferenceTileKernel_hthis->ClearTables();
              GrayToneDifferenceTileKernel_hthis->AddVoxels(x);
            }
            GrayToneDifferenceTileKernel_hlast = x;
            GrayToneDifferenceTileKernel_hthis->ComputeWindow(out);
          }
        }

        /** GrayToneDifferenceTileKernel_hThe rows of the windows of a row of the output. */
        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hListRows(int y, int z)
        {
          GrayToneDifferenceTileKernel_hGrayToneDifferenceWindowRow * row = m_Memory.windowRows;
          GrayToneDifferenceTileKernel_hfor(int wz = 0; wz < m_Task.window[2]; ++wz)
          {
            GrayToneDifferenceTileKernel_hconst int classZ = m_Memory.classes[2].Of(wz, m_Task.window[2]);
            GrayToneDifferenceTileKernel_hfor(int wy = 0; wy < m_Task.window[1]; ++wy, ++row)
            {
              GrayToneDifferenceTileKernel_hconst int classY = m_Memory.classes[1].Of(wy, m_Task.window[1]);
              GrayToneDifferenceTileKernel_hrow->levels = m_Memory.levels + m_Memory.LevelOffset(0, y + wy, z + wz);
              GrayToneDifferenceTileKernel_hrow->terms =
                m_Memory.Terms(classZ, z + wz, classY, 0) + std::ptrdiff_t{ y + wy } * m_Memory.pitch;
              // GrayToneDifferenceTileKernel_hAdditions to one number wait for each other, so that two tables take less
              // time than one.
              GrayToneDifferenceTileKernel_hrow->sums =
                m_Memory.table + (wy % 2 == 0 ? 0 : m_Task.numberOfGrayLevels + 1);
            }
          }
        }

        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hClearTables()
        {
          GrayToneDifferenceTileKernel_hstd::memset(GrayToneDifferenceTileKernel_hm_Memory.table,
                                                    0,
                                                    2 * (static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1) *
                                                      sizeof(std::uint64_t));
        }

        /** GrayToneDifferenceTileKernel_hAdd the voxels of a window to empty tables. */
        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hAddVoxels(int x)
        {
          GrayToneDifferenceTileKernel_hconst int classes = m_Memory.classes[0].number;
          GrayToneDifferenceTileKernel_hconst int inside = classes == 1 ? m_Task.window[0] : m_Task.window[0] - 2;
          GrayToneDifferenceTileKernel_hconst GrayToneDifferenceWindowRow * const end =
            m_Memory.windowRows + m_Task.window[1] * m_Task.window[2];
          GrayToneDifferenceTileKernel_hfor(const GrayToneDifferenceWindowRow * row = m_Memory.windowRows; row < end;
                                            ++row)
          {
            GrayToneDifferenceTileKernel_hconst std::uint16_t * levels = row->levels + x;
            GrayToneDifferenceTileKernel_hconst std::uint64_t * terms = row->terms + x;
            GrayToneDifferenceTileKernel_hstd::uint64_t * const sums = row->sums;
            GrayToneDifferenceTileKernel_hif(classes > 1)
            {
              GrayToneDifferenceTileKernel_hsums[levels[0]] += terms[0];
              GrayToneDifferenceTileKernel_hsums[levels[inside + 1]] +=
                terms[inside + 1 + (classes - 1) * m_Memory.planeVoxels];
              GrayToneDifferenceTileKernel_hterms += m_Memory.planeVoxels + 1;
              ++GrayToneDifferenceTileKernel_hlevels;
            }
            GrayToneDifferenceTileKernel_hfor(int i = 0; i < inside; ++i)
            {
              GrayToneDifferenceTileKernel_hsums[levels[i]] += terms[i];
            }
          }
        }

        /** GrayToneDifferenceTileKernel_hFrom the sums of the window before to those of a window: one column leaves,
         * one enters, and two change their GrayToneDifferenceTileKernel_hclass. Differences of unsigned numbers cancel.
         */
        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hSlideTo(int x)
        {
          GrayToneDifferenceTileKernel_hconst int                                 classes = m_Memory.classes[0].number;
          GrayToneDifferenceTileKernel_hconst int                                 size = m_Task.window[0];
          GrayToneDifferenceTileKernel_hconst GrayToneDifferenceWindowRow * const end =
            m_Memory.windowRows + m_Task.window[1] * m_Task.window[2];
          GrayToneDifferenceTileKernel_hfor(const GrayToneDifferenceWindowRow * row = m_Memory.windowRows; row < end;
                                            ++row)
          {
            GrayToneDifferenceTileKernel_hconst std::uint16_t * const levels = row->levels + x - 1;
            GrayToneDifferenceTileKernel_hconst std::uint64_t * const first = row->terms + x - 1;
            GrayToneDifferenceTileKernel_hconst std::uint64_t * const inside =
              classes == 1 ? first : first + m_Memory.planeVoxels;
            GrayToneDifferenceTileKernel_hconst std::uint64_t * const last =
              classes == 1 ? first : first + 2 * m_Memory.planeVoxels;
            GrayToneDifferenceTileKernel_hstd::uint64_t * const sums = row->sums;
            GrayToneDifferenceTileKernel_hsums[levels[0]] -= first[0];
            GrayToneDifferenceTileKernel_hsums[levels[size]] += last[size];
            GrayToneDifferenceTileKernel_hif(classes > 1)
            {
              GrayToneDifferenceTileKernel_hsums[levels[1]] += first[1] - inside[1];
              GrayToneDifferenceTileKernel_hsums[levels[size - 1]] += inside[size - 1] - last[size - 1];
            }
          }
        }

        /** GrayToneDifferenceTileKernel_hList the levels of the window. */
        GrayToneDifferenceTileKernel_hint GrayToneDifferenceTileKernel_hListLevels()
        {
          GrayToneDifferenceTileKernel_hconst std::uint64_t * const table = m_Memory.table;
          GrayToneDifferenceTileKernel_hconst std::uint64_t * const otherTable = table + m_Task.numberOfGrayLevels + 1;
          GrayToneDifferenceTileKernel_hint                         levels = 0;
          GrayToneDifferenceTileKernel_hfor(int i = 1; i <= m_Task.numberOfGrayLevels; ++i)
          {
            GrayToneDifferenceTileKernel_hconst std::uint64_t sum = table[i] + otherTable[i];
            GrayToneDifferenceTileKernel_hm_Memory.packed[levels] = sum;
            GrayToneDifferenceTileKernel_hm_Memory.present[levels] = i;
            GrayToneDifferenceTileKernel_hlevels += sum != 0 ? 1 : 0;
          }
          GrayToneDifferenceTileKernel_hreturn levels;
        }

        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hComputeWindow(std::int64_t out)
        {
          GrayToneDifferenceTileKernel_hconst int levels = this->ListLevels();
          GrayToneDifferenceTileKernel_hStore(Bits64{}, m_Memory.packed + levels);
          GrayToneDifferenceTileKernel_hStore(Real{}, m_Memory.present + levels);
          GrayToneDifferenceTileKernel_hconst std::uint64_t mask = (std::uint64_t{ 1 } << m_Task.differenceBits) - 1;
          GrayToneDifferenceTileKernel_hBits64              differences{};
          GrayToneDifferenceTileKernel_hBits64              productSum{};
          GrayToneDifferenceTileKernel_hReal                voxels{};
          GrayToneDifferenceTileKernel_hReal                voxelLevels{};
          GrayToneDifferenceTileKernel_hReal                voxelSquares{};
          GrayToneDifferenceTileKernel_hReal                levelSum{};
          GrayToneDifferenceTileKernel_hReal                levelSquares{};
          GrayToneDifferenceTileKernel_hfor(int i = 0; i < levels; i += simdWidth)
          {
            GrayToneDifferenceTileKernel_hconst Bits64 packed = Load<Bits64>(m_Memory.packed + i);
            GrayToneDifferenceTileKernel_hconst Bits64 count = packed >> m_Task.differenceBits;
            GrayToneDifferenceTileKernel_hconst Bits64 product = (packed & mask) * count;
            GrayToneDifferenceTileKernel_hdifferences += packed & mask;
            GrayToneDifferenceTileKernel_hproductSum += product;
            // GrayToneDifferenceTileKernel_hIntegers below 2^53, whose sums are exact in any order.
            GrayToneDifferenceTileKernel_hconst Real present = Load<Real>(m_Memory.present + i);
            GrayToneDifferenceTileKernel_hconst Real counts = ToReal(count);
            GrayToneDifferenceTileKernel_hconst Real weighted = counts * present;
            GrayToneDifferenceTileKernel_hvoxels += counts;
            GrayToneDifferenceTileKernel_hvoxelLevels += weighted;
            GrayToneDifferenceTileKernel_hvoxelSquares += weighted * present;
            GrayToneDifferenceTileKernel_hlevelSum += present;
            GrayToneDifferenceTileKernel_hlevelSquares += present * present;
            GrayToneDifferenceTileKernel_hStore(ToBits32(count), m_Memory.counts + i);
            GrayToneDifferenceTileKernel_hStore(ToReal(product), m_Memory.products + i);
            GrayToneDifferenceTileKernel_hStore(weighted, m_Memory.weighted + i);
            GrayToneDifferenceTileKernel_hStore(Bits32{}, m_Memory.counts + i + simdWidth);
            GrayToneDifferenceTileKernel_hfor(double * const padded : { m_Memory.products, m_Memory.weighted })
            {
              GrayToneDifferenceTileKernel_hStore(Real{}, padded + i + simdWidth);
            }
          }
          GrayToneDifferenceTileKernel_hGrayToneDifferenceSums sums{};
          GrayToneDifferenceTileKernel_hsums.voxels = static_cast<std::uint64_t>(ElementSum<double>(voxels));
          GrayToneDifferenceTileKernel_hsums.levels = static_cast<std::uint64_t>(levels);
          GrayToneDifferenceTileKernel_hsums.voxelLevels = static_cast<std::uint64_t>(ElementSum<double>(voxelLevels));
          GrayToneDifferenceTileKernel_hsums.voxelSquares =
            static_cast<std::uint64_t>(ElementSum<double>(voxelSquares));
          GrayToneDifferenceTileKernel_hsums.levelSum = static_cast<std::uint64_t>(ElementSum<double>(levelSum));
          GrayToneDifferenceTileKernel_hsums.levelSquares =
            static_cast<std::uint64_t>(ElementSum<double>(levelSquares));
          GrayToneDifferenceTileKernel_hsums.differences = static_cast<double>(ElementSum<std::uint64_t>(differences));
          GrayToneDifferenceTileKernel_hsums.products = static_cast<double>(ElementSum<std::uint64_t>(productSum));
          GrayToneDifferenceTileKernel_hif(m_Task.needsComplexity || m_Task.needsImbalances)
          {
            GrayToneDifferenceTileKernel_hthis->ComparePairs(levels, sums);
          }
          GrayToneDifferenceTileKernel_hStoreGrayToneDifferenceFeatures(m_Task, sums, out);
        }

        GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hComparePairs(
          int levels, GrayToneDifferenceSums & sums) const
        {
          GrayToneDifferenceTileKernel_hconst Real numbers = Load<Real>(m_Numbers);
          GrayToneDifferenceTileKernel_hReal       imbalances{};
          GrayToneDifferenceTileKernel_hfor(int i = 0; i < levels - 1; i += simdWidth)
          {
            GrayToneDifferenceTileKernel_hconst Real   present = Load<Real>(m_Memory.present + i);
            GrayToneDifferenceTileKernel_hconst Bits32 counts = Load<Bits32>(m_Memory.counts + i);
            GrayToneDifferenceTileKernel_hconst Real   products = Load<Real>(m_Memory.products + i);
            GrayToneDifferenceTileKernel_hconst Real   weighted = Load<Real>(m_Memory.weighted + i);
            GrayToneDifferenceTileKernel_hReal         rows{};
            GrayToneDifferenceTileKernel_hfor(int j = i + 1; j < levels; ++j)
            {
              // GrayToneDifferenceTileKernel_hElement e has the levels i + e and j + e.
              GrayToneDifferenceTileKernel_hconst double remaining = levels - j;
              GrayToneDifferenceTileKernel_hconst Real   reciprocal =
                Gather(m_Memory.reciprocals, counts + Load<Bits32>(m_Memory.counts + j));
              GrayToneDifferenceTileKernel_hconst Real term =
                GrayToneDifferencePairTerm<Real>(GrayToneDifferenceTileKernel_hproducts,
                                                 Load<Real>(m_Memory.products + j),
                                                 Load<Real>(m_Memory.present + j) - present,
                                                 reciprocal);
              GrayToneDifferenceTileKernel_hrows += Where(numbers, remaining, term);
              GrayToneDifferenceTileKernel_himbalances +=
                Where(numbers, remaining, AbsoluteValue(weighted - Load<Real>(m_Memory.weighted + j)));
            }
            GrayToneDifferenceTileKernel_hdouble elements[simdWidth];
            GrayToneDifferenceTileKernel_hStore(rows, elements);
            GrayToneDifferenceTileKernel_hfor(const double row : elements)
            {
              GrayToneDifferenceTileKernel_hsums.complexity += row;
            }
          }
          GrayToneDifferenceTileKernel_hsums.imbalances = static_cast<std::uint64_t>(ElementSum<double>(imbalances));
        }

        GrayToneDifferenceTileKernel_hconst GrayToneDifferenceTask &     m_Task;
        GrayToneDifferenceTileKernel_hconst KernelTile &                 m_Tile;
        GrayToneDifferenceTileKernel_hconst GrayToneDifferenceTileMemory m_Memory;
        GrayToneDifferenceTileKernel_hconst bool                         m_Slides;
        GrayToneDifferenceTileKernel_hdouble
          m_Weights[maxNeighbors + 2]; // by the number of neighbors and the voxel itself
        GrayToneDifferenceTileKernel_hdouble m_Numbers[simdWidth];
      };
    } // GrayToneDifferenceTileKernel_hnamespace

    GrayToneDifferenceTileKernel_hvoid GrayToneDifferenceTileKernel_hComputeGrayToneDifferenceTile(
      const GrayToneDifferenceTask & task, const KernelTile & tile, void * workspace)
    {
      GrayToneDifferenceTileKernel_hGrayToneDifferenceTileComputer(task, tile, workspace).Compute();
    }
  } // GrayToneDifferenceTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // GrayToneDifferenceTileKernel_hnamespace voxelmaps
