// CooccurrenceTileKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// CooccurrenceTileKernel_hSPDX-License-Identifier: Apache-2.0

// CooccurrenceTileKernel_hIncluded once per instruction set by CooccurrenceTile*.cxx, which define
// VOXELMAPS_INSTRUCTION_SET.
#CooccurrenceTileKernel_hinclude "CooccurrenceTile.h"

#CooccurrenceTileKernel_hif defined(__AVX2__) && (defined(__GNUC__) || defined(__clang__)) &&                          \
  !defined(VOXELMAPS_WITHOUT_COMPILER_EXTENSIONS)
#CooccurrenceTileKernel_hinclude < immintrin.h>
#CooccurrenceTileKernel_hdefine VOXELMAPS_TILE_KERNEL
#CooccurrenceTileKernel_hendif

#CooccurrenceTileKernel_hinclude < cstring>

CooccurrenceTileKernel_hnamespace voxelmaps
{
  CooccurrenceTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
#CooccurrenceTileKernel_hif defined(VOXELMAPS_TILE_KERNEL)
    CooccurrenceTileKernel_hnamespace
    {
      /** CooccurrenceTileKernel_hThe moments of a column or window. */
      CooccurrenceTileKernel_hstruct Moments
      {
        CooccurrenceTileKernel_hstd::int64_t values[cooccurrenceMoments];

        CooccurrenceTileKernel_htemplate<int VSign> CooccurrenceTileKernel_hvoid CooccurrenceTileKernel_hAdd(
          const std::int64_t * differences, const std::int64_t * sums)
        {
          CooccurrenceTileKernel_hfor(int i = 0; i < cooccurrenceDifferenceMoments; ++i)
          {
            CooccurrenceTileKernel_hvalues[i] += VSign * differences[i];
          }
          CooccurrenceTileKernel_hfor(int i = 0; i < cooccurrenceSumMoments; ++i)
          {
            CooccurrenceTileKernel_hvalues[cooccurrenceDifferenceMoments + i] += VSign * sums[i];
          }
        }
        CooccurrenceTileKernel_htemplate<int VSign> CooccurrenceTileKernel_hvoid CooccurrenceTileKernel_hAdd(
          const std::int64_t * moments)
        {
          CooccurrenceTileKernel_hthis->Add<VSign>(moments, moments + cooccurrenceDifferenceMoments);
        }
      };

      /** CooccurrenceTileKernel_hAdd the pairs of a line along z to a column, or remove them. Returns the greatest
       * place of a cell. */
      CooccurrenceTileKernel_htemplate<int VSign> CooccurrenceTileKernel_hint CooccurrenceTileKernel_hCountLine(
        const CooccurrenceTile & tile, std::ptrdiff_t at, std::uint8_t * column, std::int64_t * columnMoments)
      {
        // CooccurrenceTileKernel_hCopies, since stores of bytes could change what is read by reference.
        CooccurrenceTileKernel_hconst std::uint8_t * const ranks = tile.ranks + at;
        CooccurrenceTileKernel_hconst std::uint8_t * const       others = ranks + tile.step;
        CooccurrenceTileKernel_hconst CooccurrencePlaces * const allPlaces = tile.places;
        CooccurrenceTileKernel_hconst std::int64_t * const differenceTable =
          CooccurrenceTileKernel_htile.differenceTable -
          std::ptrdiff_t{ tile.differencesBegin } * cooccurrenceDifferenceMoments;
        CooccurrenceTileKernel_hconst std::int64_t * const sumTable =
          tile.sumTable - std::ptrdiff_t{ tile.sumsBegin } * cooccurrenceSumMoments;
        CooccurrenceTileKernel_hconst int placesPerRow = tile.numberOfRanks + 1;
        CooccurrenceTileKernel_hconst int numberOfPairs = tile.pairs[2];
        CooccurrenceTileKernel_hMoments   moments;
        CooccurrenceTileKernel_hstd::memcpy(moments.values, columnMoments, sizeof(moments.values));

        CooccurrenceTileKernel_hconst auto change = [column](int place, int step) {
          CooccurrenceTileKernel_hcolumn[place] = static_cast<std::uint8_t>(column[place] + VSign * step);
        };
        CooccurrenceTileKernel_hint greatest = 0;
        CooccurrenceTileKernel_hfor(int z = 0; z < numberOfPairs; ++z)
        {
          CooccurrenceTileKernel_hconst int first = ranks[z];
          CooccurrenceTileKernel_hconst int second = others[z];
          CooccurrenceTileKernel_hif(first == 0 || second == 0)
          {
            CooccurrenceTileKernel_hcontinue;
          }
          CooccurrenceTileKernel_hconst CooccurrencePlaces places = allPlaces[first * placesPerRow + second];
          CooccurrenceTileKernel_hchange(first, 1);
          CooccurrenceTileKernel_hchange(second, 1);
          CooccurrenceTileKernel_hchange(places.sum, 1);
          CooccurrenceTileKernel_hchange(places.difference, 1);
          CooccurrenceTileKernel_hchange(places.cell, places.step);
          CooccurrenceTileKernel_hgreatest = places.cell > greatest ? places.cell : greatest;
          CooccurrenceTileKernel_hmoments.Add<VSign>(
            differenceTable + std::ptrdiff_t{ places.difference } * cooccurrenceDifferenceMoments,
            CooccurrenceTileKernel_hsumTable + std::ptrdiff_t{ places.sum } * cooccurrenceSumMoments);
        }
        CooccurrenceTileKernel_hstd::memcpy(columnMoments, moments.values, sizeof(moments.values));
        CooccurrenceTileKernel_hreturn greatest;
      }

#CooccurrenceTileKernel_hif defined(__AVX512BW__)
      CooccurrenceTileKernel_husing         Vector = __m512i;
      CooccurrenceTileKernel_hconstexpr int vectorCounts = 32;

      /** CooccurrenceTileKernel_hAdd a column to the counts of a window, remove another one, and return some of the
       * counts. */
      CooccurrenceTileKernel_hinline Vector CooccurrenceTileKernel_hSlide(
        std::uint16_t * counts, const std::uint8_t * entering, const std::uint8_t * leaving, int i)
      {
        CooccurrenceTileKernel_hconst auto widen = [i](const std::uint8_t * column) {
          CooccurrenceTileKernel_hreturn _mm512_cvtepu8_epi16(
            _mm256_load_si256(reinterpret_cast<const __m256i *>(column + i)));
        };
        CooccurrenceTileKernel_hconst Vector moved = CooccurrenceTileKernel_h_mm512_sub_epi16(
          _mm512_add_epi16(_mm512_load_si512(counts + i), widen(entering)), widen(leaving));
        CooccurrenceTileKernel_h_mm512_store_si512(counts + i, moved);
        CooccurrenceTileKernel_hreturn moved;
      }

      /** CooccurrenceTileKernel_hThe terms t(n): those of small counts in registers, slice by slice. */
      CooccurrenceTileKernel_hstruct Terms
      {
        CooccurrenceTileKernel_hconst std::int64_t * all;
        CooccurrenceTileKernel_hVector               low[CooccurrenceTile::slices];
        CooccurrenceTileKernel_hVector               high[CooccurrenceTile::slices];

        CooccurrenceTileKernel_hexplicit Terms(const CooccurrenceTile & tile)
          : CooccurrenceTileKernel_hall(tile.terms)
        {
          CooccurrenceTileKernel_hfor(int i = 0; i < CooccurrenceTile::slices; ++i)
          {
            CooccurrenceTileKernel_hconst std::uint16_t * const slice =
              tile.termSlices + i * CooccurrenceTile::smallCounts;
            CooccurrenceTileKernel_hlow[i] = _mm512_loadu_si512(slice);
            CooccurrenceTileKernel_hhigh[i] = _mm512_loadu_si512(slice + vectorCounts);
          }
        }
      };

      /** CooccurrenceTileKernel_hSums over the counts of a part. */
      CooccurrenceTileKernel_hclass Sums
      {
      CooccurrenceTileKernel_hpublic:
        /** CooccurrenceTileKernel_hAdd the terms of the counts at counts + i, and for cells the squares, VTimes times.
         */
        CooccurrenceTileKernel_htemplate<int VTimes, bool VCells> CooccurrenceTileKernel_hvoid
        CooccurrenceTileKernel_hAdd(const Terms & terms, Vector vector, const std::uint16_t * counts, int i)
        {
          CooccurrenceTileKernel_hif(VTimes > 1 && _mm512_test_epi16_mask(vector, vector) == 0)
          {
            CooccurrenceTileKernel_hreturn;
          }
          CooccurrenceTileKernel_hconst Vector times = _mm512_set1_epi16(VTimes);
          constexpr CooccurrenceTileKernel_hif(VCells)
          {
            CooccurrenceTileKernel_hconst Vector squares = _mm512_madd_epi16(vector, vector);
            CooccurrenceTileKernel_hm_Squares =
              _mm512_add_epi32(m_Squares, VTimes > 1 ? _mm512_add_epi32(squares, squares) : squares);
            CooccurrenceTileKernel_hm_Maximum = _mm512_maskz_max_epu16(0xffffffff, m_Maximum, vector);
          }
          CooccurrenceTileKernel_hconst __mmask32 isGreat = CooccurrenceTileKernel_h_mm512_cmpgt_epu16_mask(
            vector, _mm512_set1_epi16(static_cast<short>(CooccurrenceTile::smallCounts - 1)));
          CooccurrenceTileKernel_hif(isGreat != 0)
          {
            CooccurrenceTileKernel_hfor(std::uint32_t left = isGreat; left != 0; left &= left - 1)
            {
              CooccurrenceTileKernel_hm_Great += VTimes * terms.all[counts[i + __builtin_ctz(left)]];
            }
            CooccurrenceTileKernel_hvector = _mm512_maskz_mov_epi16(~isGreat, vector);
          }
          CooccurrenceTileKernel_hfor(int slice = 0; slice < CooccurrenceTile::slices; ++slice)
          {
            CooccurrenceTileKernel_hconst Vector values =
              _mm512_permutex2var_epi16(terms.low[slice], vector, terms.high[slice]);
            CooccurrenceTileKernel_hm_Slices[slice] =
              _mm512_add_epi32(m_Slices[slice], _mm512_madd_epi16(values, times));
          }
        }
        CooccurrenceTileKernel_hstd::int64_t CooccurrenceTileKernel_hGetTerms() const
        {
          CooccurrenceTileKernel_hVector       sum = _mm512_setzero_si512();
          CooccurrenceTileKernel_hconst Vector low = _mm512_set1_epi64(0xffffffff);
          CooccurrenceTileKernel_hfor(int i = 0; i < CooccurrenceTile::slices; ++i)
          {
            CooccurrenceTileKernel_hconst auto   shift = static_cast<unsigned int>(CooccurrenceTile::sliceBits * i);
            CooccurrenceTileKernel_hconst Vector both = CooccurrenceTileKernel_h_mm512_add_epi64(
              _mm512_and_si512(m_Slices[i], low), _mm512_maskz_srli_epi64(0xff, m_Slices[i], 32));
            CooccurrenceTileKernel_hsum = _mm512_add_epi64(sum, _mm512_maskz_slli_epi64(0xff, both, shift));
          }
          CooccurrenceTileKernel_hreturn Total<std::int64_t>(sum) + m_Great;
        }
        CooccurrenceTileKernel_hstd::int64_t CooccurrenceTileKernel_hGetSquares() const
        {
          CooccurrenceTileKernel_hreturn Total<std::int32_t>(m_Squares);
        }
        CooccurrenceTileKernel_hstd::int64_t CooccurrenceTileKernel_hGetMaximum() const
        {
          CooccurrenceTileKernel_halignas(64) std::uint16_t counts[vectorCounts];
          CooccurrenceTileKernel_h_mm512_store_si512(counts, m_Maximum);
          CooccurrenceTileKernel_hint maximum = 0;
          CooccurrenceTileKernel_hfor(const int count : counts)
          {
            CooccurrenceTileKernel_hmaximum = count > maximum ? count : maximum;
          }
          CooccurrenceTileKernel_hreturn maximum;
        }

      CooccurrenceTileKernel_hprivate:
        CooccurrenceTileKernel_htemplate<typename TElement> CooccurrenceTileKernel_hstatic std::int64_t
        CooccurrenceTileKernel_hTotal(Vector vector)
        {
          CooccurrenceTileKernel_halignas(64) TElement elements[64 / sizeof(TElement)];
          CooccurrenceTileKernel_h_mm512_store_si512(elements, vector);
          CooccurrenceTileKernel_hTElement total = 0;
          CooccurrenceTileKernel_hfor(const TElement element : elements)
          {
            CooccurrenceTileKernel_htotal += element;
          }
          CooccurrenceTileKernel_hreturn total;
        }

        CooccurrenceTileKernel_hVector       m_Slices[CooccurrenceTile::slices]{};
        CooccurrenceTileKernel_hVector       m_Squares{};
        CooccurrenceTileKernel_hVector       m_Maximum{};
        CooccurrenceTileKernel_hstd::int64_t m_Great{ 0 };
      };
#CooccurrenceTileKernel_helse
      CooccurrenceTileKernel_husing         Vector = __m256i;
      CooccurrenceTileKernel_hconstexpr int vectorCounts = 16;

      CooccurrenceTileKernel_hinline Vector CooccurrenceTileKernel_hSlide(
        std::uint16_t * counts, const std::uint8_t * entering, const std::uint8_t * leaving, int i)
      {
        CooccurrenceTileKernel_hconst auto widen = [i](const std::uint8_t * column) {
          CooccurrenceTileKernel_hreturn _mm256_cvtepu8_epi16(
            _mm_load_si128(reinterpret_cast<const __m128i *>(column + i)));
        };
        CooccurrenceTileKernel_hauto * const memory = reinterpret_cast<Vector *>(counts + i);
        CooccurrenceTileKernel_hconst Vector moved =
          _mm256_sub_epi16(_mm256_add_epi16(_mm256_load_si256(memory), widen(entering)), widen(leaving));
        CooccurrenceTileKernel_h_mm256_store_si256(memory, moved);
        CooccurrenceTileKernel_hreturn moved;
      }
      /** CooccurrenceTileKernel_hTwo bits for each count that is not 0. */
      CooccurrenceTileKernel_hinline std::uint32_t CooccurrenceTileKernel_hFindCounts(Vector vector)
      {
        CooccurrenceTileKernel_hreturn ~static_cast<std::uint32_t>(
          _mm256_movemask_epi8(_mm256_cmpeq_epi16(vector, _mm256_setzero_si256())));
      }

      CooccurrenceTileKernel_hstruct Terms
      {
        CooccurrenceTileKernel_hconst std::int64_t * all;

        CooccurrenceTileKernel_hexplicit Terms(const CooccurrenceTile & tile)
          : CooccurrenceTileKernel_hall(tile.terms)
        {}
      };

      /** CooccurrenceTileKernel_hSums over the counts of a part, one by one, as most are 0. */
      CooccurrenceTileKernel_hclass Sums
      {
      CooccurrenceTileKernel_hpublic:
        CooccurrenceTileKernel_htemplate<int VTimes, bool VCells> CooccurrenceTileKernel_hvoid
        CooccurrenceTileKernel_hAdd(const Terms & terms, Vector vector, const std::uint16_t * counts, int i)
        {
          CooccurrenceTileKernel_hfor(std::uint32_t left = FindCounts(vector); left != 0; left &= left - 1)
          {
            CooccurrenceTileKernel_hconst int bit = __builtin_ctz(left);
            CooccurrenceTileKernel_hleft &= left - 1;
            CooccurrenceTileKernel_hconst std::int64_t count = counts[i + bit / 2];
            CooccurrenceTileKernel_hm_Terms += VTimes * terms.all[count];
            constexpr CooccurrenceTileKernel_hif(VCells)
            {
              CooccurrenceTileKernel_hm_Squares += VTimes * count * count;
              CooccurrenceTileKernel_hm_Maximum = count > m_Maximum ? count : m_Maximum;
            }
          }
        }
        CooccurrenceTileKernel_hstd::int64_t CooccurrenceTileKernel_hGetTerms() const
        {
          CooccurrenceTileKernel_hreturn m_Terms;
        }
        CooccurrenceTileKernel_hstd::int64_t CooccurrenceTileKernel_hGetSquares() const
        {
          CooccurrenceTileKernel_hreturn m_Squares;
        }
        CooccurrenceTileKernel_hstd::int64_t CooccurrenceTileKernel_hGetMaximum() const
        {
          CooccurrenceTileKernel_hreturn m_Maximum;
        }

      CooccurrenceTileKernel_hprivate:
        CooccurrenceTileKernel_hstd::int64_t m_Terms{ 0 };
        CooccurrenceTileKernel_hstd::int64_t m_Squares{ 0 };
        CooccurrenceTileKernel_hstd::int64_t m_Maximum{ 0 };
      };
#CooccurrenceTileKernel_hendif

      /** CooccurrenceTileKernel_hMove the counts of a window to the next one. */
      CooccurrenceTileKernel_hinline void CooccurrenceTileKernel_hSlideAll(
        const CooccurrenceTile & tile, int end, const std::uint8_t * entering, const std::uint8_t * leaving)
      {
        CooccurrenceTileKernel_hfor(int i = 0; i < end; i += vectorCounts)
        {
          CooccurrenceTileKernel_hSlide(tile.counts, entering, leaving, i);
        }
      }

      /** CooccurrenceTileKernel_hThe same, and the sums over them. */
      CooccurrenceTileKernel_hvoid CooccurrenceTileKernel_hComputeWindow(
        const CooccurrenceTile &                       tile,
        int                                            end,
        const std::uint8_t *                           entering,
        const std::uint8_t *                           leaving,
        CooccurrenceTileKernel_hCooccurrenceTileSums & to)
      {
        CooccurrenceTileKernel_hconst Terms           terms(tile);
        CooccurrenceTileKernel_hstd::uint16_t * const counts = tile.counts;
        CooccurrenceTileKernel_hconst auto            addPart = [&](int begin, int partEnd) {
          CooccurrenceTileKernel_hSums sums;
          CooccurrenceTileKernel_hfor(int i = begin; i < partEnd; i += vectorCounts)
          {
            CooccurrenceTileKernel_hsums.template Add<1, false>(terms, Slide(counts, entering, leaving, i), counts, i);
          }
          CooccurrenceTileKernel_hreturn sums.GetTerms();
        };
        CooccurrenceTileKernel_hto.rowTerms = addPart(0, tile.sumsBegin);
        CooccurrenceTileKernel_hto.sumTerms = addPart(tile.sumsBegin, tile.differencesBegin);
        CooccurrenceTileKernel_hto.differenceTerms = addPart(tile.differencesBegin, tile.diagonalBegin);
        CooccurrenceTileKernel_hSums sums;
        CooccurrenceTileKernel_hfor(int i = tile.diagonalBegin; i < tile.cellsBegin; i += vectorCounts)
        {
          CooccurrenceTileKernel_hsums.template Add<1, true>(terms, Slide(counts, entering, leaving, i), counts, i);
        }
        // CooccurrenceTileKernel_hTwo cells each.
        CooccurrenceTileKernel_hfor(int i = tile.cellsBegin; i < end; i += vectorCounts)
        {
          CooccurrenceTileKernel_hsums.template Add<2, true>(terms, Slide(counts, entering, leaving, i), counts, i);
        }
        CooccurrenceTileKernel_hto.cellTerms = sums.GetTerms();
        CooccurrenceTileKernel_hto.cellSquares = sums.GetSquares();
        CooccurrenceTileKernel_hto.maximum = sums.GetMaximum();
      }
    } // CooccurrenceTileKernel_hnamespace

    CooccurrenceTileKernel_hint CooccurrenceTileKernel_hGetCooccurrenceTileCounts()
    {
#CooccurrenceTileKernel_hif defined(__AVX512BW__)
      CooccurrenceTileKernel_hreturn 160;
#CooccurrenceTileKernel_helse
      CooccurrenceTileKernel_hreturn 50;
#CooccurrenceTileKernel_hendif
    }

    CooccurrenceTileKernel_hvoid CooccurrenceTileKernel_hComputeCooccurrenceTile(const CooccurrenceTile & tile)
    {
      CooccurrenceTileKernel_hconst int  columns = tile.windows[0] + tile.pairs[0] - 1;
      CooccurrenceTileKernel_hconst auto columnAt = [&](int x) {
        return tile.columns + std::ptrdiff_t{ x } * tile.size;
      };
      CooccurrenceTileKernel_hconst auto columnMomentsAt = [&](int x) {
        return tile.columnMoments + std::ptrdiff_t{ x } * cooccurrenceMoments;
      };
      // CooccurrenceTileKernel_hThe last column has no pairs.
      CooccurrenceTileKernel_hstd::memset(
        tile.columns, 0, static_cast<std::size_t>(columns + 1) * static_cast<std::size_t>(tile.size));
      CooccurrenceTileKernel_hstd::memset(
        columnMomentsAt(0), 0, static_cast<std::size_t>(columns + 1) * sizeof(Moments));
      CooccurrenceTileKernel_hint greatest = 0;
      CooccurrenceTileKernel_hfor(int y = 0; y < tile.windows[1]; ++y)
      {
        CooccurrenceTileKernel_hfor(int x = 0; x < columns; ++x)
        {
          CooccurrenceTileKernel_hconst std::ptrdiff_t at = tile.first + x * tile.strideX;
          CooccurrenceTileKernel_hif(y > 0)
          {
            CooccurrenceTileKernel_hCountLine<-1>(tile, at + (y - 1) * tile.strideY, columnAt(x), columnMomentsAt(x));
          }
          CooccurrenceTileKernel_hfor(int line = y == 0 ? 0 : y + tile.pairs[1] - 1; line < y + tile.pairs[1]; ++line)
          {
            CooccurrenceTileKernel_hconst int place =
              CountLine<1>(tile, at + line * tile.strideY, columnAt(x), columnMomentsAt(x));
            CooccurrenceTileKernel_hgreatest = place > greatest ? place : greatest;
          }
        }
        // CooccurrenceTileKernel_hNo cell behind it has pairs.
        CooccurrenceTileKernel_hconst int end =
          (greatest / CooccurrenceTile::alignment + 1) * CooccurrenceTile::alignment;

        CooccurrenceTileKernel_hstd::memset(
          tile.counts, 0, static_cast<std::size_t>(tile.size) * sizeof(std::uint16_t));
        CooccurrenceTileKernel_hMoments moments{};
        CooccurrenceTileKernel_hfor(int x = 0; x + 1 < tile.pairs[0]; ++x)
        {
          CooccurrenceTileKernel_hSlideAll(tile, end, columnAt(x), columnAt(columns));
          CooccurrenceTileKernel_hmoments.Add<1>(columnMomentsAt(x));
        }
        CooccurrenceTileKernel_hfor(int x = 0; x < tile.windows[0]; ++x)
        {
          CooccurrenceTileKernel_hconst int leaving = x > 0 ? x - 1 : columns;
          CooccurrenceTileKernel_hconst int entering = x + tile.pairs[0] - 1;
          CooccurrenceTileKernel_hmoments.Add<1>(columnMomentsAt(entering));
          CooccurrenceTileKernel_hmoments.Add<-1>(columnMomentsAt(leaving));
          CooccurrenceTileKernel_hconst bool           isComputed = tile.isComputed[y * tile.windows[0] + x] != 0;
          CooccurrenceTileKernel_hCooccurrenceTileSums sums{};
          CooccurrenceTileKernel_hif(isComputed && tile.terms != nullptr)
          {
            CooccurrenceTileKernel_hComputeWindow(tile, end, columnAt(entering), columnAt(leaving), sums);
          }
          CooccurrenceTileKernel_helse
          {
            CooccurrenceTileKernel_hSlideAll(tile, end, columnAt(entering), columnAt(leaving));
          }
          CooccurrenceTileKernel_hif(isComputed)
          {
            CooccurrenceTileKernel_hstd::memcpy(sums.moments, moments.values, sizeof(moments.values));
            CooccurrenceTileKernel_htile.finishWindow(tile.context, x, y, sums, tile.counts);
          }
        }
      }
    }
#CooccurrenceTileKernel_helse
    CooccurrenceTileKernel_hint CooccurrenceTileKernel_hGetCooccurrenceTileCounts()
    {
      CooccurrenceTileKernel_hreturn 0;
    }

    CooccurrenceTileKernel_hvoid CooccurrenceTileKernel_hComputeCooccurrenceTile(const CooccurrenceTile &) {}
#CooccurrenceTileKernel_hendif
  } // CooccurrenceTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // CooccurrenceTileKernel_hnamespace voxelmaps
