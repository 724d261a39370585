// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by CooccurrenceTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "CooccurrenceTile.h"

#if defined(__AVX2__) && (defined(__GNUC__) || defined(__clang__)) && !defined(VOXELMAPS_WITHOUT_COMPILER_EXTENSIONS)
#  include <immintrin.h>
#  define VOXELMAPS_TILE_KERNEL
#endif

#include <cstring>

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
#if defined(VOXELMAPS_TILE_KERNEL)
namespace
{
/** The moments of a column or window. */
struct Moments
{
  std::int64_t values[cooccurrenceMoments];

  template <int VSign>
  void
  Add(const std::int64_t * differences, const std::int64_t * sums)
  {
    for (int i = 0; i < cooccurrenceDifferenceMoments; ++i)
    {
      values[i] += VSign * differences[i];
    }
    for (int i = 0; i < cooccurrenceSumMoments; ++i)
    {
      values[cooccurrenceDifferenceMoments + i] += VSign * sums[i];
    }
  }
  template <int VSign>
  void
  Add(const std::int64_t * moments)
  {
    this->Add<VSign>(moments, moments + cooccurrenceDifferenceMoments);
  }
};

/** Add the pairs of a line along z to a column, or remove them. Returns the greatest place of a cell. */
template <int VSign>
int
CountLine(const CooccurrenceTile & tile, std::ptrdiff_t at, std::uint8_t * column, std::int64_t * columnMoments)
{
  // Copies, since stores of bytes could change what is read by reference.
  const std::uint8_t * const       ranks = tile.ranks + at;
  const std::uint8_t * const       others = ranks + tile.step;
  const CooccurrencePlaces * const allPlaces = tile.places;
  const std::int64_t * const       differenceTable =
    tile.differenceTable - std::ptrdiff_t{ tile.differencesBegin } * cooccurrenceDifferenceMoments;
  const std::int64_t * const sumTable = tile.sumTable - std::ptrdiff_t{ tile.sumsBegin } * cooccurrenceSumMoments;
  const int                  placesPerRow = tile.numberOfRanks + 1;
  const int                  numberOfPairs = tile.pairs[2];
  Moments                    moments;
  std::memcpy(moments.values, columnMoments, sizeof(moments.values));

  const auto change = [column](int place, int step) {
    column[place] = static_cast<std::uint8_t>(column[place] + VSign * step);
  };
  int greatest = 0;
  for (int z = 0; z < numberOfPairs; ++z)
  {
    const int first = ranks[z];
    const int second = others[z];
    if (first == 0 || second == 0)
    {
      continue;
    }
    const CooccurrencePlaces places = allPlaces[first * placesPerRow + second];
    change(first, 1);
    change(second, 1);
    change(places.sum, 1);
    change(places.difference, 1);
    change(places.cell, places.step);
    greatest = places.cell > greatest ? places.cell : greatest;
    moments.Add<VSign>(differenceTable + std::ptrdiff_t{ places.difference } * cooccurrenceDifferenceMoments,
                       sumTable + std::ptrdiff_t{ places.sum } * cooccurrenceSumMoments);
  }
  std::memcpy(columnMoments, moments.values, sizeof(moments.values));
  return greatest;
}

#  if defined(__AVX512BW__)
using Vector = __m512i;
constexpr int vectorCounts = 32;

/** Add a column to the counts of a window, remove another one, and return some of the counts. */
inline Vector
Slide(std::uint16_t * counts, const std::uint8_t * entering, const std::uint8_t * leaving, int i)
{
  const auto widen = [i](const std::uint8_t * column) {
    return _mm512_cvtepu8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i *>(column + i)));
  };
  const Vector moved =
    _mm512_sub_epi16(_mm512_add_epi16(_mm512_load_si512(counts + i), widen(entering)), widen(leaving));
  _mm512_store_si512(counts + i, moved);
  return moved;
}

/** The terms t(n): those of small counts in registers, slice by slice. */
struct Terms
{
  const std::int64_t * all;
  Vector               low[CooccurrenceTile::slices];
  Vector               high[CooccurrenceTile::slices];

  explicit Terms(const CooccurrenceTile & tile)
    : all(tile.terms)
  {
    for (int i = 0; i < CooccurrenceTile::slices; ++i)
    {
      const std::uint16_t * const slice = tile.termSlices + i * CooccurrenceTile::smallCounts;
      low[i] = _mm512_loadu_si512(slice);
      high[i] = _mm512_loadu_si512(slice + vectorCounts);
    }
  }
};

/** Sums over the counts of a part. */
class Sums
{
public:
  /** Add the terms of the counts at counts + i, and for cells the squares, VTimes times. */
  template <int VTimes, bool VCells>
  void
  Add(const Terms & terms, Vector vector, const std::uint16_t * counts, int i)
  {
    if (VTimes > 1 && _mm512_test_epi16_mask(vector, vector) == 0)
    {
      return;
    }
    const Vector times = _mm512_set1_epi16(VTimes);
    if constexpr (VCells)
    {
      const Vector squares = _mm512_madd_epi16(vector, vector);
      m_Squares = _mm512_add_epi32(m_Squares, VTimes > 1 ? _mm512_add_epi32(squares, squares) : squares);
      m_Maximum = _mm512_maskz_max_epu16(0xffffffff, m_Maximum, vector);
    }
    const __mmask32 isGreat =
      _mm512_cmpgt_epu16_mask(vector, _mm512_set1_epi16(static_cast<short>(CooccurrenceTile::smallCounts - 1)));
    if (isGreat != 0)
    {
      for (std::uint32_t left = isGreat; left != 0; left &= left - 1)
      {
        m_Great += VTimes * terms.all[counts[i + __builtin_ctz(left)]];
      }
      vector = _mm512_maskz_mov_epi16(~isGreat, vector);
    }
    for (int slice = 0; slice < CooccurrenceTile::slices; ++slice)
    {
      const Vector values = _mm512_permutex2var_epi16(terms.low[slice], vector, terms.high[slice]);
      m_Slices[slice] = _mm512_add_epi32(m_Slices[slice], _mm512_madd_epi16(values, times));
    }
  }
  std::int64_t
  GetTerms() const
  {
    Vector       sum = _mm512_setzero_si512();
    const Vector low = _mm512_set1_epi64(0xffffffff);
    for (int i = 0; i < CooccurrenceTile::slices; ++i)
    {
      const auto   shift = static_cast<unsigned int>(CooccurrenceTile::sliceBits * i);
      const Vector both =
        _mm512_add_epi64(_mm512_and_si512(m_Slices[i], low), _mm512_maskz_srli_epi64(0xff, m_Slices[i], 32));
      sum = _mm512_add_epi64(sum, _mm512_maskz_slli_epi64(0xff, both, shift));
    }
    return Total<std::int64_t>(sum) + m_Great;
  }
  std::int64_t
  GetSquares() const
  {
    return Total<std::int32_t>(m_Squares);
  }
  std::int64_t
  GetMaximum() const
  {
    alignas(64) std::uint16_t counts[vectorCounts];
    _mm512_store_si512(counts, m_Maximum);
    int maximum = 0;
    for (const int count : counts)
    {
      maximum = count > maximum ? count : maximum;
    }
    return maximum;
  }

private:
  template <typename TElement>
  static std::int64_t
  Total(Vector vector)
  {
    alignas(64) TElement elements[64 / sizeof(TElement)];
    _mm512_store_si512(elements, vector);
    TElement total = 0;
    for (const TElement element : elements)
    {
      total += element;
    }
    return total;
  }

  Vector       m_Slices[CooccurrenceTile::slices]{};
  Vector       m_Squares{};
  Vector       m_Maximum{};
  std::int64_t m_Great{ 0 };
};
#  else
using Vector = __m256i;
constexpr int vectorCounts = 16;

inline Vector
Slide(std::uint16_t * counts, const std::uint8_t * entering, const std::uint8_t * leaving, int i)
{
  const auto widen = [i](const std::uint8_t * column) {
    return _mm256_cvtepu8_epi16(_mm_load_si128(reinterpret_cast<const __m128i *>(column + i)));
  };
  auto * const memory = reinterpret_cast<Vector *>(counts + i);
  const Vector moved = _mm256_sub_epi16(_mm256_add_epi16(_mm256_load_si256(memory), widen(entering)), widen(leaving));
  _mm256_store_si256(memory, moved);
  return moved;
}
/** Two bits for each count that is not 0. */
inline std::uint32_t
FindCounts(Vector vector)
{
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(vector, _mm256_setzero_si256())));
}

struct Terms
{
  const std::int64_t * all;

  explicit Terms(const CooccurrenceTile & tile)
    : all(tile.terms)
  {}
};

/** Sums over the counts of a part, one by one, as most are 0. */
class Sums
{
public:
  template <int VTimes, bool VCells>
  void
  Add(const Terms & terms, Vector vector, const std::uint16_t * counts, int i)
  {
    for (std::uint32_t left = FindCounts(vector); left != 0; left &= left - 1)
    {
      const int bit = __builtin_ctz(left);
      left &= left - 1;
      const std::int64_t count = counts[i + bit / 2];
      m_Terms += VTimes * terms.all[count];
      if constexpr (VCells)
      {
        m_Squares += VTimes * count * count;
        m_Maximum = count > m_Maximum ? count : m_Maximum;
      }
    }
  }
  std::int64_t
  GetTerms() const
  {
    return m_Terms;
  }
  std::int64_t
  GetSquares() const
  {
    return m_Squares;
  }
  std::int64_t
  GetMaximum() const
  {
    return m_Maximum;
  }

private:
  std::int64_t m_Terms{ 0 };
  std::int64_t m_Squares{ 0 };
  std::int64_t m_Maximum{ 0 };
};
#  endif

/** Move the counts of a window to the next one. */
inline void
SlideAll(const CooccurrenceTile & tile, int end, const std::uint8_t * entering, const std::uint8_t * leaving)
{
  for (int i = 0; i < end; i += vectorCounts)
  {
    Slide(tile.counts, entering, leaving, i);
  }
}

/** The same, and the sums over them. */
void
ComputeWindow(const CooccurrenceTile & tile, int end, const std::uint8_t * entering, const std::uint8_t * leaving,
              CooccurrenceTileSums & to)
{
  const Terms           terms(tile);
  std::uint16_t * const counts = tile.counts;
  const auto            addPart = [&](int begin, int partEnd) {
    Sums sums;
    for (int i = begin; i < partEnd; i += vectorCounts)
    {
      sums.template Add<1, false>(terms, Slide(counts, entering, leaving, i), counts, i);
    }
    return sums.GetTerms();
  };
  to.rowTerms = addPart(0, tile.sumsBegin);
  to.sumTerms = addPart(tile.sumsBegin, tile.differencesBegin);
  to.differenceTerms = addPart(tile.differencesBegin, tile.diagonalBegin);
  Sums sums;
  for (int i = tile.diagonalBegin; i < tile.cellsBegin; i += vectorCounts)
  {
    sums.template Add<1, true>(terms, Slide(counts, entering, leaving, i), counts, i);
  }
  // Two cells each.
  for (int i = tile.cellsBegin; i < end; i += vectorCounts)
  {
    sums.template Add<2, true>(terms, Slide(counts, entering, leaving, i), counts, i);
  }
  to.cellTerms = sums.GetTerms();
  to.cellSquares = sums.GetSquares();
  to.maximum = sums.GetMaximum();
}
} // namespace

int
GetCooccurrenceTileCounts()
{
#  if defined(__AVX512BW__)
  return 160;
#  else
  return 50;
#  endif
}

void
ComputeCooccurrenceTile(const CooccurrenceTile & tile)
{
  const int  columns = tile.windows[0] + tile.pairs[0] - 1;
  const auto columnAt = [&](int x) { return tile.columns + std::ptrdiff_t{ x } * tile.size; };
  const auto columnMomentsAt = [&](int x) { return tile.columnMoments + std::ptrdiff_t{ x } * cooccurrenceMoments; };
  // The last column has no pairs.
  std::memset(tile.columns, 0, static_cast<std::size_t>(columns + 1) * static_cast<std::size_t>(tile.size));
  std::memset(columnMomentsAt(0), 0, static_cast<std::size_t>(columns + 1) * sizeof(Moments));
  int greatest = 0;
  for (int y = 0; y < tile.windows[1]; ++y)
  {
    for (int x = 0; x < columns; ++x)
    {
      const std::ptrdiff_t at = tile.first + x * tile.strideX;
      if (y > 0)
      {
        CountLine<-1>(tile, at + (y - 1) * tile.strideY, columnAt(x), columnMomentsAt(x));
      }
      for (int line = y == 0 ? 0 : y + tile.pairs[1] - 1; line < y + tile.pairs[1]; ++line)
      {
        const int place = CountLine<1>(tile, at + line * tile.strideY, columnAt(x), columnMomentsAt(x));
        greatest = place > greatest ? place : greatest;
      }
    }
    // No cell behind it has pairs.
    const int end = (greatest / CooccurrenceTile::alignment + 1) * CooccurrenceTile::alignment;

    std::memset(tile.counts, 0, static_cast<std::size_t>(tile.size) * sizeof(std::uint16_t));
    Moments moments{};
    for (int x = 0; x + 1 < tile.pairs[0]; ++x)
    {
      SlideAll(tile, end, columnAt(x), columnAt(columns));
      moments.Add<1>(columnMomentsAt(x));
    }
    for (int x = 0; x < tile.windows[0]; ++x)
    {
      const int leaving = x > 0 ? x - 1 : columns;
      const int entering = x + tile.pairs[0] - 1;
      moments.Add<1>(columnMomentsAt(entering));
      moments.Add<-1>(columnMomentsAt(leaving));
      const bool           isComputed = tile.isComputed[y * tile.windows[0] + x] != 0;
      CooccurrenceTileSums sums{};
      if (isComputed && tile.terms != nullptr)
      {
        ComputeWindow(tile, end, columnAt(entering), columnAt(leaving), sums);
      }
      else
      {
        SlideAll(tile, end, columnAt(entering), columnAt(leaving));
      }
      if (isComputed)
      {
        std::memcpy(sums.moments, moments.values, sizeof(moments.values));
        tile.finishWindow(tile.context, x, y, sums, tile.counts);
      }
    }
  }
}
#else
int
GetCooccurrenceTileCounts()
{
  return 0;
}

void
ComputeCooccurrenceTile(const CooccurrenceTile &)
{}
#endif
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
