// SizeZoneTileKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// SizeZoneTileKernel_hSPDX-License-Identifier: Apache-2.0

// SizeZoneTileKernel_hIncluded once per instruction set by SizeZoneTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#SizeZoneTileKernel_hinclude "SizeZoneTile.h"
#SizeZoneTileKernel_hinclude "window/cpu/Simd.h"
#SizeZoneTileKernel_hinclude "window/WindowBox.h"

#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES) && defined(__SSE2__)
#SizeZoneTileKernel_hinclude < immintrin.h>
#SizeZoneTileKernel_hendif

/* SizeZoneTileKernel_hAn element of a vector is a window; the windows of a vector are neighbors along x. A slice of a
 * window is a word of SizeZoneTileKernel_hbits, row by row. All windows of a vector fill one zone each at the same
 * time: the voxels found so far grow by their SizeZoneTileKernel_hneighbors of the same level, until they stay as they
 * are; then this window begins its next zone. */
SizeZoneTileKernel_hnamespace voxelmaps
{
  SizeZoneTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    SizeZoneTileKernel_hnamespace
    {
#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
      SizeZoneTileKernel_hconstexpr int vectorBytes = 8 * simdWidth;
#SizeZoneTileKernel_hendif

      /** SizeZoneTileKernel_hA vector of elements, and of levels for as many. */
      SizeZoneTileKernel_htemplate<typename TElement> SizeZoneTileKernel_hstruct ElementVector;

      SizeZoneTileKernel_htemplate<> SizeZoneTileKernel_hstruct ElementVector<std::uint32_t>
      {
#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        SizeZoneTileKernel_husing Elements = std::uint32_t __attribute__((vector_size(vectorBytes)));
        SizeZoneTileKernel_husing Levels = std::uint16_t __attribute__((vector_size(vectorBytes / 2)));
#SizeZoneTileKernel_helse
        SizeZoneTileKernel_husing Elements = std::uint32_t;
        SizeZoneTileKernel_husing Levels = std::uint16_t;
#SizeZoneTileKernel_hendif
      };

      SizeZoneTileKernel_htemplate<> SizeZoneTileKernel_hstruct ElementVector<std::uint64_t>
      {
#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        SizeZoneTileKernel_husing Elements = std::uint64_t __attribute__((vector_size(vectorBytes)));
        SizeZoneTileKernel_husing Levels = std::uint16_t __attribute__((vector_size(vectorBytes / 4)));
#SizeZoneTileKernel_helse
        SizeZoneTileKernel_husing Elements = std::uint64_t;
        SizeZoneTileKernel_husing Levels = std::uint16_t;
#SizeZoneTileKernel_hendif
      };

      /** SizeZoneTileKernel_hAll bits of the elements that are 0, no bit of the others. */
      SizeZoneTileKernel_htemplate<typename TWords> SizeZoneTileKernel_hinline TWords SizeZoneTileKernel_hZeroMask(
        TWords words)
      {
#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        SizeZoneTileKernel_hreturn reinterpret_cast<TWords>(words == TWords{});
#SizeZoneTileKernel_helse
        SizeZoneTileKernel_hreturn words == 0 ? ~TWords{ 0 } : TWords{ 0 };
#SizeZoneTileKernel_hendif
      }

      /** SizeZoneTileKernel_hOne bit for each element of a mask. */
      SizeZoneTileKernel_htemplate<typename TWord, typename TWords> SizeZoneTileKernel_hinline std::uint32_t
      SizeZoneTileKernel_hMaskBits(TWords mask)
      {
#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX512F__)
        SizeZoneTileKernel_hreturn sizeof(TWord) == 4
          ? _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask))
          : SizeZoneTileKernel_h_mm512_movepi64_mask(reinterpret_cast<__m512i>(mask));
#SizeZoneTileKernel_helif defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX2__)
        SizeZoneTileKernel_hreturn static_cast<std::uint32_t>(
          sizeof(TWord) == 4 ? _mm256_movemask_ps(reinterpret_cast<__m256>(mask))
                             : SizeZoneTileKernel_h_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#SizeZoneTileKernel_helif defined(VOXELMAPS_VECTOR_TYPES) && defined(__SSE2__)
        SizeZoneTileKernel_hreturn static_cast<std::uint32_t>(
          sizeof(TWord) == 4 ? _mm_movemask_ps(reinterpret_cast<__m128>(mask))
                             : SizeZoneTileKernel_h_mm_movemask_pd(reinterpret_cast<__m128d>(mask)));
#SizeZoneTileKernel_helse
        SizeZoneTileKernel_hconstexpr int width = static_cast<int>(sizeof(TWords) / sizeof(TWord));
        SizeZoneTileKernel_hTWord         elements[width];
        SizeZoneTileKernel_hstd::memcpy(elements, &mask, sizeof(mask));
        SizeZoneTileKernel_hstd::uint32_t bits = 0;
        SizeZoneTileKernel_hfor(int i = 0; i < width; ++i)
        {
          SizeZoneTileKernel_hbits |= elements[i] != 0 ? 1u << i : 0u;
        }
        SizeZoneTileKernel_hreturn bits;
#SizeZoneTileKernel_hendif
      }

      SizeZoneTileKernel_hinline int SizeZoneTileKernel_hLowestBit(std::uint32_t bits)
      {
#SizeZoneTileKernel_hif defined(__GNUC__) || defined(__clang__)
        SizeZoneTileKernel_hreturn __builtin_ctz(bits);
#SizeZoneTileKernel_helse
        SizeZoneTileKernel_hint i = 0;
        SizeZoneTileKernel_hwhile((bits >> i & 1u) == 0)
        {
          ++SizeZoneTileKernel_hi;
        }
        SizeZoneTileKernel_hreturn i;
#SizeZoneTileKernel_hendif
      }

      SizeZoneTileKernel_hinline std::uint32_t SizeZoneTileKernel_hNumberOfBits(std::uint64_t bits)
      {
#SizeZoneTileKernel_hif(defined(__GNUC__) || defined(__clang__)) && defined(__POPCNT__)
        SizeZoneTileKernel_hreturn static_cast<std::uint32_t>(__builtin_popcountll(bits));
#SizeZoneTileKernel_helse
        SizeZoneTileKernel_hbits -= bits >> 1 & 0x5555555555555555u;
        SizeZoneTileKernel_hbits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
        SizeZoneTileKernel_hreturn static_cast<std::uint32_t>(
          ((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#SizeZoneTileKernel_hendif
      }

      /** SizeZoneTileKernel_hVectors of words that an element holds. */
      SizeZoneTileKernel_htemplate<typename TElement> SizeZoneTileKernel_hstruct SimpleWords
      {
        SizeZoneTileKernel_husing                Element = TElement;
        SizeZoneTileKernel_husing                Elements = typename ElementVector<TElement>::Elements;
        SizeZoneTileKernel_husing                Words = Elements;
        constexpr SizeZoneTileKernel_hstatic int parts = 1;

        /** SizeZoneTileKernel_hAll words alike. */
        SizeZoneTileKernel_hstatic Words SizeZoneTileKernel_hFrom(Elements elements)
        {
          SizeZoneTileKernel_hreturn elements;
        }
        /** SizeZoneTileKernel_hWhat is not 0 if a word is not. */
        SizeZoneTileKernel_hstatic Elements SizeZoneTileKernel_hAny(Words words)
        {
          SizeZoneTileKernel_hreturn words;
        }
        /** SizeZoneTileKernel_hAn element per word, moved up. */
        SizeZoneTileKernel_hstatic Words SizeZoneTileKernel_hPlace(Elements elements, int distance)
        {
          SizeZoneTileKernel_hreturn elements << distance;
        }
        SizeZoneTileKernel_hstatic Words SizeZoneTileKernel_hLowestBit(Words words)
        {
          SizeZoneTileKernel_hreturn words &(Elements{} - words);
        }
      };

      /** SizeZoneTileKernel_hVectors of words of two elements. Shifts are by 1 to 63 bits. */
      SizeZoneTileKernel_hstruct DoubleWords
      {
        SizeZoneTileKernel_husing                Element = std::uint64_t;
        SizeZoneTileKernel_husing                Elements = ElementVector<Element>::Elements;
        SizeZoneTileKernel_husing                Words = DoubleWords;
        constexpr SizeZoneTileKernel_hstatic int parts = 2;
        constexpr SizeZoneTileKernel_hstatic int elementBits = 64;

        SizeZoneTileKernel_hElements low;
        SizeZoneTileKernel_hElements high;

        SizeZoneTileKernel_hstatic DoubleWords SizeZoneTileKernel_hFrom(Elements elements)
        {
          SizeZoneTileKernel_hreturn{ elements, elements };
        }
        SizeZoneTileKernel_hstatic Elements SizeZoneTileKernel_hAny(DoubleWords words)
        {
          SizeZoneTileKernel_hreturn words.low | words.high;
        }
        SizeZoneTileKernel_hstatic DoubleWords SizeZoneTileKernel_hPlace(Elements elements, int distance)
        {
          SizeZoneTileKernel_hconst Elements none{};
          SizeZoneTileKernel_hreturn distance < elementBits
            ? DoubleWords{ elements << distance, none }
            : SizeZoneTileKernel_hDoubleWords{ none, elements << (distance - elementBits) };
        }
        SizeZoneTileKernel_hstatic DoubleWords SizeZoneTileKernel_hLowestBit(DoubleWords words)
        {
          SizeZoneTileKernel_hconst Elements none{};
          SizeZoneTileKernel_hreturn{ words.low & (none - words.low),
                                      words.high & (none - words.high) & ZeroMask(words.low) };
        }
        SizeZoneTileKernel_hDoubleWords SizeZoneTileKernel_hoperator ~() const
        {
          SizeZoneTileKernel_hreturn{ ~low, ~high };
        }
        SizeZoneTileKernel_hDoubleWords SizeZoneTileKernel_hoperator | (DoubleWords other) const
        {
          SizeZoneTileKernel_hreturn{ low | other.low, high | other.high };
        }
        SizeZoneTileKernel_hDoubleWords SizeZoneTileKernel_hoperator &(DoubleWords other) const
        {
          SizeZoneTileKernel_hreturn{ low & other.low, high & other.high };
        }
        SizeZoneTileKernel_hDoubleWords SizeZoneTileKernel_hoperator ^ (DoubleWords other) const
        {
          SizeZoneTileKernel_hreturn{ low ^ other.low, high ^ other.high };
        }
        SizeZoneTileKernel_hDoubleWords SizeZoneTileKernel_hoperator << (int distance) const
        {
          SizeZoneTileKernel_hreturn{ low << distance, (high << distance) | (low >> (elementBits - distance)) };
        }
        SizeZoneTileKernel_hDoubleWords SizeZoneTileKernel_hoperator >> (int distance) const
        {
          SizeZoneTileKernel_hreturn{ (low >> distance) | (high << (elementBits - distance)), high >> distance };
        }
      };

      /** SizeZoneTileKernel_hComputes a tile of windows whose slices fit words of a kind. VSlices is at least their
       * number of slices; the others SizeZoneTileKernel_hare empty. */
      SizeZoneTileKernel_htemplate<typename TKind, int VSlices> SizeZoneTileKernel_hclass SizeZoneTileComputer
      {
      SizeZoneTileKernel_hpublic:
        SizeZoneTileKernel_hSizeZoneTileComputer(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace)
          : SizeZoneTileKernel_hm_Task(task)
          , SizeZoneTileKernel_hm_Tile(tile)
          , SizeZoneTileKernel_hm_Shape(task, tile.size)
          , SizeZoneTileKernel_hm_Memory(task, m_Shape, workspace)
          , SizeZoneTileKernel_hm_Slices(static_cast<Words *>(m_Memory.slices))
          , SizeZoneTileKernel_hm_LevelBits(LevelBits(task))
          , SizeZoneTileKernel_hm_RowBits(RowBits(task))
        {}

        SizeZoneTileKernel_hvoid SizeZoneTileKernel_hCompute()
        {
          SizeZoneTileKernel_hstd::memset(
            m_Memory.levels, 0, static_cast<std::size_t>(m_Shape.inputVoxels + inputSlack) * sizeof(std::uint16_t));
          SizeZoneTileKernel_hCopyInput(m_Task, m_Tile, m_Task.levels, m_Shape, m_Memory.levels);
          SizeZoneTileKernel_hstd::memset(
            m_Memory.slices, 0, static_cast<std::size_t>(m_Shape.ez) * this->SliceVectors() * sizeof(Words));
          SizeZoneTileKernel_hfor(int y = 0; y < m_Tile.size[1] + m_Task.window[1] - 1; ++y)
          {
            SizeZoneTileKernel_hfor(int z = 0; z < m_Tile.size[2] + m_Task.window[2] - 1; ++z)
            {
              SizeZoneTileKernel_hfor(int x = 0; x < m_Tile.size[0]; x += width)
              {
                SizeZoneTileKernel_hthis->AddRow(x, y, z);
              }
            }
            SizeZoneTileKernel_hconst int outputRow = y - m_Task.window[1] + 1;
            SizeZoneTileKernel_hfor(int z = 0; z < m_Tile.size[2] && outputRow >= 0; ++z)
            {
              SizeZoneTileKernel_hm_Tile.checkAbort(m_Tile.execution);
              SizeZoneTileKernel_hfor(int x = 0; x < m_Tile.size[0]; x += width)
              {
                SizeZoneTileKernel_hthis->ComputeVector(x, outputRow, z);
              }
            }
          }
        }

      SizeZoneTileKernel_hprivate:
        SizeZoneTileKernel_husing                Words = typename TKind::Words;
        SizeZoneTileKernel_husing                Element = typename TKind::Element;
        SizeZoneTileKernel_husing                Elements = typename TKind::Elements;
        SizeZoneTileKernel_husing                Levels = typename ElementVector<Element>::Levels;
        constexpr SizeZoneTileKernel_hstatic int width =
          static_cast<int>(sizeof(Elements) / sizeof(Element)); // windows of a vector
        SizeZoneTileKernel_hstatic_assert(blockVoxels % width == 0, "rows are whole vectors");
        SizeZoneTileKernel_hstatic_assert(width <= maxVectorWindows && sizeof(Elements) <= maxVectorBytes,
                                          "the workspace is large enough");

        SizeZoneTileKernel_hstd::size_t SizeZoneTileKernel_hSliceVectors() const
        {
          SizeZoneTileKernel_hreturn static_cast<std::size_t>(m_Shape.nx / width * (m_LevelBits + 1));
        }
        /** SizeZoneTileKernel_hThe words of a slice of the windows from x on: of its voxels, then of the bits of their
         * levels. */
        SizeZoneTileKernel_hWords * SizeZoneTileKernel_hSliceAt(int x, int z) const
        {
          SizeZoneTileKernel_hreturn m_Slices + static_cast<std::size_t>(z) * this->SliceVectors() +
            SizeZoneTileKernel_hstatic_cast<std::size_t>(x / width * (m_LevelBits + 1));
        }

        /** SizeZoneTileKernel_hLet the slices of the windows from x on move by a row, which becomes their last one. */
        SizeZoneTileKernel_hvoid SizeZoneTileKernel_hAddRow(int x, int y, int z)
        {
          SizeZoneTileKernel_hconst int place = m_RowBits * (m_Task.window[1] - 1);
          SizeZoneTileKernel_hconst std::uint16_t * const levels = m_Memory.levels + m_Shape.InputOffset(x, y, z);
          SizeZoneTileKernel_hWords * const               slice = this->SliceAt(x, z);
          SizeZoneTileKernel_hfor(int b = 0; b <= m_LevelBits; ++b)
          {
            SizeZoneTileKernel_hslice[b] = slice[b] >> m_RowBits;
          }
          SizeZoneTileKernel_hfor(int i = 0; i < m_Task.window[0]; ++i)
          {
            SizeZoneTileKernel_hconst Elements level = Widen(Load<Levels>(levels + i));
            SizeZoneTileKernel_hconst Elements present = ~ZeroMask(level) & Element{ 1 };
            SizeZoneTileKernel_hconst Elements index = level - Element{ 1 };
            SizeZoneTileKernel_hslice[0] = slice[0] | TKind::Place(present, place + i);
            SizeZoneTileKernel_hfor(int b = 0; b < m_LevelBits; ++b)
            {
              SizeZoneTileKernel_hslice[b + 1] = slice[b + 1] | TKind::Place((index >> b) & present, place + i);
            }
          }
        }

        SizeZoneTileKernel_hstatic Elements SizeZoneTileKernel_hWiden(Levels levels)
        {
#SizeZoneTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
          SizeZoneTileKernel_hreturn __builtin_convertvector(levels, Elements);
#SizeZoneTileKernel_helse
          SizeZoneTileKernel_hreturn levels;
#SizeZoneTileKernel_hendif
        }

        SizeZoneTileKernel_hvoid SizeZoneTileKernel_hComputeVector(int x, int y, int z)
        {
          SizeZoneTileKernel_hconst int windows = m_Tile.size[0] - x < width ? m_Tile.size[0] - x : width;
          SizeZoneTileKernel_hconst std::uint16_t * const own =
            SizeZoneTileKernel_hm_Memory.levels +
            m_Shape.InputOffset(x + m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2]);
          SizeZoneTileKernel_hElement computed[width] = {};
          SizeZoneTileKernel_hbool    isAny = false;
          SizeZoneTileKernel_hfor(int i = 0; i < windows; ++i)
          {
            SizeZoneTileKernel_hconst bool isComputed =
              own[i] != 0 && m_Task.IsSelected(OutputVoxel(m_Task, m_Tile, x + i, y, z));
            SizeZoneTileKernel_hcomputed[i] = isComputed ? ~Element{ 0 } : Element{ 0 };
            SizeZoneTileKernel_hisAny = isAny || isComputed;
          }
          SizeZoneTileKernel_hint zoneCounts[width] = {};
          SizeZoneTileKernel_hif(isAny)
          {
            SizeZoneTileKernel_hthis->FillZones(this->SliceAt(x, z), TKind::From(Load<Elements>(computed)), zoneCounts);
          }
          SizeZoneTileKernel_hfor(int i = 0; i < windows; ++i)
          {
            SizeZoneTileKernel_hm_Tile.finish(m_Tile.matrix,
                                              SizeZoneTileKernel_hOutputVoxel(m_Task, m_Tile, x + i, y, z),
                                              SizeZoneTileKernel_hm_Memory.zones + i * m_Task.windowVoxels,
                                              SizeZoneTileKernel_hzoneCounts[i]);
          }
        }

        /** SizeZoneTileKernel_hList the zones of the windows of a vector, level by level. */
        SizeZoneTileKernel_hvoid SizeZoneTileKernel_hFillZones(
          const Words * slices, Words computed, int(&zoneCounts)[width])
        {
          SizeZoneTileKernel_hconst Elements zero{};
          SizeZoneTileKernel_hconst Words    none = TKind::From(zero);
          SizeZoneTileKernel_hconst Words    across =
            TKind::From(zero + (m_Task.connectsSlices ? ~Element{ 0 } : Element{ 0 }));
          SizeZoneTileKernel_hconst Words * slice[VSlices];
          SizeZoneTileKernel_hWords         left[VSlices];  // voxels whose zone is not known yet
          SizeZoneTileKernel_hWords         same[VSlices];  // those of the level of the current zone
          SizeZoneTileKernel_hWords         zone[VSlices];  // the current zone
          SizeZoneTileKernel_hWords         grown[VSlices]; // the zone and its neighbors in the slice
          SizeZoneTileKernel_hElement       words[VSlices][TKind::parts][width];
          SizeZoneTileKernel_hElement       levels[width] = {};
          SizeZoneTileKernel_hElements      level{};
          SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
          {
            SizeZoneTileKernel_hslice[s] =
              slices + static_cast<std::size_t>(s < m_Task.window[2] ? s : 0) * this->SliceVectors();
            SizeZoneTileKernel_hleft[s] = s < m_Task.window[2] ? slice[s][0] & computed : none;
            SizeZoneTileKernel_hsame[s] = none;
            SizeZoneTileKernel_hzone[s] = none;
          }
          SizeZoneTileKernel_hfor(;;)
          {
            SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
            {
              SizeZoneTileKernel_hconst Words inRow = zone[s] | (zone[s] << 1) | (zone[s] >> 1);
              SizeZoneTileKernel_hgrown[s] = inRow | (inRow << m_RowBits) | (inRow >> m_RowBits);
            }
            SizeZoneTileKernel_hWords changes = none;
            SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
            {
              SizeZoneTileKernel_hconst Words below = s > 0 ? grown[s > 0 ? s - 1 : 0] : none;
              SizeZoneTileKernel_hconst Words above = s + 1 < VSlices ? grown[s + 1 < VSlices ? s + 1 : s] : none;
              SizeZoneTileKernel_hconst Words next = (grown[s] | ((below | above) & across)) & same[s];
              SizeZoneTileKernel_hchanges = changes | (next ^ zone[s]);
              SizeZoneTileKernel_hzone[s] = next;
            }
            SizeZoneTileKernel_hconst Elements done = ZeroMask(TKind::Any(changes));
            SizeZoneTileKernel_hif(MaskBits<Element>(done) == 0)
            {
              SizeZoneTileKernel_hcontinue;
            }

            SizeZoneTileKernel_hWords hasZone = none;
            SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
            {
              SizeZoneTileKernel_hhasZone = hasZone | zone[s];
            }
            SizeZoneTileKernel_hstd::memcpy(words, zone, sizeof(words));
            SizeZoneTileKernel_hfor(std::uint32_t found = MaskBits<Element>(done & ~ZeroMask(TKind::Any(hasZone)));
                                    found != 0;
                                    SizeZoneTileKernel_hfound &= found - 1)
            {
              SizeZoneTileKernel_hconst int     i = LowestBit(found);
              SizeZoneTileKernel_hstd::uint32_t size = 0;
              SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
              {
                SizeZoneTileKernel_hfor(int part = 0; part < TKind::parts; ++part)
                {
                  SizeZoneTileKernel_hsize += NumberOfBits(words[s][part][i]);
                }
              }
              SizeZoneTileKernel_hm_Memory.zones[i * m_Task.windowVoxels + zoneCounts[i]++] =
                SizeZoneTileKernel_hMakeZone(static_cast<std::uint32_t>(levels[i]), size);
            }

            // SizeZoneTileKernel_hBegin the next zone with the first voxel of the same level, or of all.
            SizeZoneTileKernel_hconst Words isDone = TKind::From(done);
            SizeZoneTileKernel_hWords       hasSame = none;
            SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
            {
              SizeZoneTileKernel_hconst Words rest = ~(zone[s] & isDone);
              SizeZoneTileKernel_hleft[s] = left[s] & rest;
              SizeZoneTileKernel_hsame[s] = same[s] & rest;
              SizeZoneTileKernel_hhasSame = hasSame | same[s];
            }
            SizeZoneTileKernel_hconst Elements changesLevel = done & ZeroMask(TKind::Any(hasSame));
            SizeZoneTileKernel_hconst Words    newLevels = TKind::From(changesLevel);
            SizeZoneTileKernel_hElements       isFree = done;
            SizeZoneTileKernel_hWords          hasAny = none;
            SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
            {
              SizeZoneTileKernel_hconst Words candidates = same[s] | (left[s] & newLevels);
              SizeZoneTileKernel_hconst Words seed = TKind::LowestBit(candidates) & TKind::From(isFree);
              SizeZoneTileKernel_hisFree &= ZeroMask(TKind::Any(candidates));
              SizeZoneTileKernel_hzone[s] = (zone[s] & ~isDone) | seed;
              SizeZoneTileKernel_hhasAny = hasAny | zone[s];
            }
            SizeZoneTileKernel_hif(MaskBits<Element>(~ZeroMask(TKind::Any(hasAny))) == 0)
            {
              SizeZoneTileKernel_hreturn;
            }
            SizeZoneTileKernel_hif(MaskBits<Element>(changesLevel) != 0)
            {
              SizeZoneTileKernel_hWords    sameLevel[VSlices];
              SizeZoneTileKernel_hElements newLevel{};
              SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
              {
                SizeZoneTileKernel_hsameLevel[s] = left[s];
              }
              SizeZoneTileKernel_hfor(int b = 0; b < m_LevelBits; ++b)
              {
                SizeZoneTileKernel_hWords bit = none;
                SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
                {
                  SizeZoneTileKernel_hbit = bit | (slice[s][b + 1] & zone[s]);
                }
                SizeZoneTileKernel_hconst Elements isSet = ~ZeroMask(TKind::Any(bit));
                SizeZoneTileKernel_hnewLevel |= isSet & (Element{ 1 } << b);
                SizeZoneTileKernel_hconst Words wordsAreSet = TKind::From(isSet);
                SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
                {
                  SizeZoneTileKernel_hsameLevel[s] = sameLevel[s] & ~(slice[s][b + 1] ^ wordsAreSet);
                }
              }
              SizeZoneTileKernel_hfor(int s = 0; s < VSlices; ++s)
              {
                SizeZoneTileKernel_hsame[s] = (same[s] & ~newLevels) | (sameLevel[s] & newLevels);
              }
              SizeZoneTileKernel_hlevel = (level & ~changesLevel) | ((newLevel + Element{ 1 }) & changesLevel);
              SizeZoneTileKernel_hstd::memcpy(levels, &level, sizeof(levels));
            }
          }
        }

        SizeZoneTileKernel_hconst SizeZoneTask &     m_Task;
        SizeZoneTileKernel_hconst SizeZoneTile &     m_Tile;
        SizeZoneTileKernel_hconst TileShape          m_Shape;
        SizeZoneTileKernel_hconst SizeZoneTileMemory m_Memory;
        SizeZoneTileKernel_hWords * const            m_Slices;
        SizeZoneTileKernel_hconst int                m_LevelBits;
        SizeZoneTileKernel_hconst int                m_RowBits;
      };

      SizeZoneTileKernel_htemplate<typename TKind> SizeZoneTileKernel_hinline void SizeZoneTileKernel_hComputeWordTile(
        const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace)
      {
        SizeZoneTileKernel_hconst int slices = task.window[2];
        SizeZoneTileKernel_hif(slices == 1)
        {
          SizeZoneTileKernel_hSizeZoneTileComputer<TKind, 1>(task, tile, workspace).Compute();
        }
        SizeZoneTileKernel_helse if (slices <= 3)
        {
          SizeZoneTileKernel_hSizeZoneTileComputer<TKind, 3>(task, tile, workspace).Compute();
        }
        SizeZoneTileKernel_helse if (slices <= 5)
        {
          SizeZoneTileKernel_hSizeZoneTileComputer<TKind, 5>(task, tile, workspace).Compute();
        }
        SizeZoneTileKernel_helse if (slices <= 7)
        {
          SizeZoneTileKernel_hSizeZoneTileComputer<TKind, 7>(task, tile, workspace).Compute();
        }
        SizeZoneTileKernel_helse
        {
          SizeZoneTileKernel_hSizeZoneTileComputer<TKind, maxWordSlices>(task, tile, workspace).Compute();
        }
      }
    } // SizeZoneTileKernel_hnamespace

    SizeZoneTileKernel_hvoid SizeZoneTileKernel_hComputeSizeZoneTile(
      const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace)
    {
      SizeZoneTileKernel_hif(SlicesFitWords(task, 32))
      {
        SizeZoneTileKernel_hComputeWordTile<SimpleWords<std::uint32_t>>(task, tile, workspace);
      }
      SizeZoneTileKernel_helse if (SlicesFitWords(task, 64))
      {
        SizeZoneTileKernel_hComputeWordTile<SimpleWords<std::uint64_t>>(task, tile, workspace);
      }
      SizeZoneTileKernel_helse
      {
        SizeZoneTileKernel_hComputeWordTile<DoubleWords>(task, tile, workspace);
      }
    }
  } // SizeZoneTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // SizeZoneTileKernel_hnamespace voxelmaps
