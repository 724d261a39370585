// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef MaximalCorrelation_h
#define MaximalCorrelation_h

#include "common/HostDevice.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

// Precedes loops with a constant number of steps.
#if !defined(VOXELMAPS_UNROLL)
#  define VOXELMAPS_UNROLL
#endif

/* The maximal correlation coefficient of one matrix. One text for host and device, for single numbers and vectors.
 *
 * A matrix with the counts c(i, j), their sums of rows r(i) and of columns k(j), and their total S has the coefficient
 * that is the second greatest singular value of c(i, j) / sqrt(r(i) k(j)). The greatest one is 1, of the vectors
 * sqrt(r(i) / S) and sqrt(k(j) / S). Without it, the matrix is
 *
 *   D(i, j) = (c(i, j) S - r(i) k(j)) / (sqrt(r(i) S) sqrt(k(j) S)),
 *
 * whose numerators are exact integers below 2^53, so that each element has only the rounding of the roots, quotients
 * and products. The coefficient is the greatest singular value of D: of a symmetric D the greatest magnitude of its
 * eigenvalues, else the root of the greatest eigenvalue of D D^T, which is as accurate, since that eigenvalue is of the
 * magnitude of the elements that are rounded.
 *
 * Householder reflections give the tridiagonal form. The coefficient is then found on a grid: it is the least multiple
 * m of 2^-40 for which no magnitude exceeds m + 2^-41, which Sturm's leading principal minors determine. So a matrix
 * without correlation has exactly 0, and one whose graph of levels is disconnected or bipartite exactly 1.
 *
 * Every sum is added in one order, that of rising indices, from 0. Levels behind the last one, without counts, change
 * no bit of it: they add zeros. So matrices of different sizes can be computed side by side. */
namespace voxelmaps
{
/** Levels that a matrix can have at most: its lower triangle takes 67 MB. */
constexpr int maxCorrelationLevels = 4096;

/** The grid of the search. */
constexpr int    correlationBits = 40;
constexpr double correlationGrid = 9.094947017729282379150390625e-13; // 2^-40

/** Where row i of the lower triangle of a symmetric matrix begins; its last element is on the diagonal. */
VOXELMAPS_HOST_DEVICE constexpr int
TriangleRow(int i)
{
  return i * (i + 1) / 2;
}

/** TReal is double, or a vector of doubles, one matrix per element. TTeam defines how the lanes that compute a matrix
 * share it: a lane computes the rows first, first + step and so on, and all lanes compute sums that all need.
 *
 *   int first, step;
 *   static constexpr bool isAlone;       // whether step is 1
 *   void Sync() const;                   // between writing and reading of other lanes
 *   bool FinishColumn(int rows) const;   // with so many rows left or done; true ends the work, for an abort
 *   static TReal SquareRoot(TReal);
 *   bool AreZero(TReal) const;           // all elements of a vector, and of matrices side by side
 */
template <typename TReal, typename TTeam>
struct MaximalCorrelation
{
  /** From counts, in the lower triangle, to D. Needs room for two numbers per level. */
  static VOXELMAPS_HOST_DEVICE void
  RemoveTrivialPart(const TTeam & team, int levels, TReal * matrix, TReal * sums, TReal * factors)
  {
    VOXELMAPS_UNROLL
    for (int i = team.first; i < levels; i += team.step)
    {
      TReal sum{};
      VOXELMAPS_UNROLL
      for (int j = 0; j <= i; ++j)
      {
        sum += matrix[TriangleRow(i) + j];
      }
      VOXELMAPS_UNROLL
      for (int j = i + 1; j < levels; ++j)
      {
        sum += matrix[TriangleRow(j) + i];
      }
      sums[i] = sum;
    }
    team.Sync();
    const TReal total = Sum(levels, sums);
    VOXELMAPS_UNROLL
    for (int i = team.first; i < levels; i += team.step)
    {
      factors[i] = Factor(sums[i], total);
    }
    team.Sync();
    VOXELMAPS_UNROLL
    for (int i = team.first; i < levels; i += team.step)
    {
      TReal * const row = matrix + TriangleRow(i);
      VOXELMAPS_UNROLL
      for (int j = 0; j <= i; ++j)
      {
        row[j] = (row[j] * total - sums[i] * sums[j]) * (factors[i] * factors[j]);
      }
    }
    team.Sync();
  }

  /** From counts, row by row, to the lower triangle of D D^T, whose elements are stride apart. Needs room for two
   * numbers per row and two per column. */
  static VOXELMAPS_HOST_DEVICE void
  MultiplyByTransposed(const TTeam & team, int rows, int columns, TReal * counts, TReal * rowSums, TReal * columnSums,
                       TReal * matrix, std::ptrdiff_t stride)
  {
    const auto row = [&](int i) { return counts + i * columns; };
    for (int i = team.first; i < rows; i += team.step)
    {
      TReal sum{};
      for (int j = 0; j < columns; ++j)
      {
        sum += row(i)[j];
      }
      rowSums[i] = sum;
    }
    for (int j = team.first; j < columns; j += team.step)
    {
      TReal sum{};
      for (int i = 0; i < rows; ++i)
      {
        sum += row(i)[j];
      }
      columnSums[j] = sum;
    }
    team.Sync();
    const TReal total = Sum(rows, rowSums);
    for (int i = team.first; i < rows; i += team.step)
    {
      rowSums[rows + i] = Factor(rowSums[i], total);
    }
    for (int j = team.first; j < columns; j += team.step)
    {
      columnSums[columns + j] = Factor(columnSums[j], total);
    }
    team.Sync();
    for (int i = team.first; i < rows; i += team.step)
    {
      for (int j = 0; j < columns; ++j)
      {
        row(i)[j] = (row(i)[j] * total - rowSums[i] * columnSums[j]) * (rowSums[rows + i] * columnSums[columns + j]);
      }
    }
    team.Sync();
    // The same number of rounds for all lanes.
    for (int begin = 0; begin < rows; begin += team.step)
    {
      const int i = begin + team.first;
      for (int j = 0; i < rows && j <= i; ++j)
      {
        TReal sum{};
        for (int k = 0; k < columns; ++k)
        {
          sum += row(i)[k] * row(j)[k];
        }
        matrix[(TriangleRow(i) + j) * stride] = sum;
      }
      if (team.FinishColumn(begin))
      {
        return;
      }
    }
    team.Sync();
  }

  /** Bring a symmetric matrix to tridiagonal form: its diagonal, and the squares of the elements next to it; the last
   * square is 0. The matrix is lost. */
  static VOXELMAPS_HOST_DEVICE void
  Tridiagonalize(const TTeam & team, int levels, TReal * matrix, TReal * diagonal, TReal * squares)
  {
    // Less than 10^-30 of a column is left out, so that no square is lost to underflow.
    constexpr double negligible = 1e-60;
    VOXELMAPS_UNROLL
    for (int k = 0; k + 1 < levels; ++k)
    {
      // The reflection of a column, whose elements below the diagonal are first and others: v = (first +- norm,
      // others).
      const TReal first = matrix[TriangleRow(k + 1) + k];
      TReal       others{};
      VOXELMAPS_UNROLL
      for (int i = k + 2; i < levels; ++i)
      {
        const TReal element = matrix[TriangleRow(i) + k];
        others += element * element;
      }
      const TReal firstSquared = first * first;
      const TReal normSquared = firstSquared + others;
      const TReal norm = TTeam::SquareRoot(normSquared);
      const TReal magnitude = (first < 0.0 ? -first : first) + norm;
      const TReal zero{};
      // 2 / v v
      const TReal scale = others > negligible ? 1.0 / (norm * magnitude) : zero;
      // What is left of the two arrays behind k holds v and A v.
      TReal * const v = diagonal;
      TReal * const product = squares;
      VOXELMAPS_UNROLL
      for (int i = team.first; i < levels; i += team.step)
      {
        if (i == k)
        {
          diagonal[k] = matrix[TriangleRow(k) + k];
          squares[k] = others > negligible ? normSquared : firstSquared;
        }
        else if (i == k + 1)
        {
          v[i] = first < 0.0 ? -magnitude : magnitude;
        }
        else if (i > k)
        {
          v[i] = matrix[TriangleRow(i) + k];
        }
      }
      if (!team.AreZero(scale))
      {
        team.Sync();
        Multiply(team, k + 1, levels, matrix, v, scale, product);
        team.Sync();
        TReal sum{};
        VOXELMAPS_UNROLL
        for (int i = k + 1; i < levels; ++i)
        {
          sum += v[i] * product[i];
        }
        team.Sync();
        const TReal part = 0.5 * scale * sum;
        VOXELMAPS_UNROLL
        for (int i = team.first; i < levels; i += team.step)
        {
          if (i > k)
          {
            product[i] -= part * v[i];
          }
        }
        team.Sync();
        Reflect(team, k + 1, levels, matrix, v, product);
      }
      team.Sync();
      if (team.FinishColumn(levels - k))
      {
        return;
      }
    }
    if (levels > 0 && (levels - 1) % team.step == team.first)
    {
      diagonal[levels - 1] = matrix[TriangleRow(levels - 1) + levels - 1];
      squares[levels - 1] = TReal{};
    }
    team.Sync();
  }

  /** The least of the leading principal minors of x - T and of x + T, where T is tridiagonal, up to powers of 2:
   * greater than 0 if no eigenvalue is above x, or below -x. */
  static VOXELMAPS_HOST_DEVICE void
  GetLeastMinors(int levels, const TReal * diagonal, const TReal * squares, TReal x, TReal & above, TReal & below)
  {
    Minors aboveMinors;
    Minors belowMinors;
    TReal  square{};
    VOXELMAPS_UNROLL
    for (int k = 0; k < levels; ++k)
    {
      aboveMinors.Add(x - diagonal[k], square, k);
      belowMinors.Add(x + diagonal[k], square, k);
      square = squares[k];
    }
    above = aboveMinors.least;
    below = belowMinors.least;
  }
  /** Only the first of these. */
  static VOXELMAPS_HOST_DEVICE TReal
  GetLeastMinor(int levels, const TReal * diagonal, const TReal * squares, TReal x)
  {
    Minors minors;
    TReal  square{};
    VOXELMAPS_UNROLL
    for (int k = 0; k < levels; ++k)
    {
      minors.Add(x - diagonal[k], square, k);
      square = squares[k];
    }
    return minors.least;
  }

  /** The greatest magnitude of the eigenvalues of a tridiagonal matrix, on the grid; isSquared: its root, where no
   * eigenvalue is negative. For a serial lane. Changes the diagonal. */
  static VOXELMAPS_HOST_DEVICE TReal
  Search(const TTeam & team, int levels, TReal * diagonal, const TReal * squares, bool isSquared)
  {
    TReal     units{};
    TReal     above{};
    const int round = ChooseSide(team, levels, diagonal, squares, isSquared, units, above);
    if (round > correlationBits)
    {
      return units * correlationGrid;
    }
    MakePositive(levels, diagonal, above);
    return Bisect(levels, diagonal, squares, isSquared, round, units);
  }

  /** The first rounds of the search, until it is known which side has the greatest magnitude: above 0 or below. Returns
   * how many rounds that were. */
  static VOXELMAPS_HOST_DEVICE int
  ChooseSide(const TTeam & team, int levels, const TReal * diagonal, const TReal * squares, bool isSquared,
             TReal & units, TReal & above)
  {
    const TReal zero{};
    const TReal one = zero + 1.0;
    // Which sides can have the greatest magnitude: 1, or 0 for no longer.
    above = one;
    TReal below = isSquared ? zero : one;
    int   round = 0;
    for (; round <= correlationBits && !team.AreZero(above * below); ++round)
    {
      const double step = RoundStep(round);
      TReal        minorsAbove;
      TReal        minorsBelow;
      GetLeastMinors(levels, diagonal, squares, Point(units + (step - 0.5), isSquared), minorsAbove, minorsBelow);
      const TReal isAbove = minorsAbove > 0.0 ? zero : above;
      const TReal isBelow = minorsBelow > 0.0 ? zero : below;
      const TReal isOutside = isAbove + isBelow;
      units = isOutside > 0.0 ? units + step : units;
      above = isOutside > 0.0 ? isAbove : above;
      below = isOutside > 0.0 ? isBelow : below;
    }
    return round;
  }
  /** Change the sign of matrices whose side is not above. */
  static VOXELMAPS_HOST_DEVICE void
  MakePositive(int levels, TReal * diagonal, TReal above)
  {
    for (int k = 0; k < levels; ++k)
    {
      diagonal[k] = above > 0.0 ? diagonal[k] : -diagonal[k];
    }
  }

  /** The rounds of the search from one on. */
  static VOXELMAPS_HOST_DEVICE TReal
  Bisect(int levels, const TReal * diagonal, const TReal * squares, bool isSquared, int round, TReal units)
  {
    for (; round <= correlationBits; ++round)
    {
      const double step = RoundStep(round);
      const TReal  minors = GetLeastMinor(levels, diagonal, squares, Point(units + (step - 0.5), isSquared));
      units = minors > 0.0 ? units : units + step;
    }
    return units * correlationGrid;
  }

  /** The eigenvalue to compare with, of a number of units of the grid. */
  static VOXELMAPS_HOST_DEVICE TReal
  Point(TReal units, bool isSquared)
  {
    const TReal x = units * correlationGrid;
    return isSquared ? x * x : x;
  }
  /** 2^39, 2^38 ... 2, 1 and 1 units of the grid, which add up to 1. */
  static VOXELMAPS_HOST_DEVICE double
  RoundStep(int round)
  {
    return round < correlationBits ? static_cast<double>(std::int64_t{ 1 } << (correlationBits - 1 - round)) : 1.0;
  }

private:
  static VOXELMAPS_HOST_DEVICE TReal
  Sum(int number, const TReal * values)
  {
    TReal sum{};
    VOXELMAPS_UNROLL
    for (int i = 0; i < number; ++i)
    {
      sum += values[i];
    }
    return sum;
  }

  /** 0 for levels without counts, which only fill up. */
  static VOXELMAPS_HOST_DEVICE TReal
  Factor(TReal sum, TReal total)
  {
    const TReal zero{};
    return sum > 0.0 ? 1.0 / TTeam::SquareRoot(sum * total) : zero;
  }

  /** product = scale A v for the rows from begin on. */
  static VOXELMAPS_HOST_DEVICE void
  Multiply(const TTeam & team, int begin, int levels, const TReal * matrix, const TReal * v, TReal scale,
           TReal * product)
  {
    if constexpr (TTeam::isAlone)
    {
      // Reads each element once; every sum still has the order of the columns.
      VOXELMAPS_UNROLL
      for (int i = begin; i < levels; ++i)
      {
        const TReal * const row = matrix + TriangleRow(i);
        const TReal         rowValue = v[i];
        TReal               sum{};
        VOXELMAPS_UNROLL
        for (int j = begin; j < i; ++j)
        {
          sum += row[j] * v[j];
          product[j] += row[j] * rowValue;
        }
        product[i] = sum + row[i] * rowValue;
      }
      VOXELMAPS_UNROLL
      for (int i = begin; i < levels; ++i)
      {
        product[i] *= scale;
      }
    }
    else
    {
      ForEachTeamRow(team, begin, levels, [&](auto rows, int first) {
        constexpr int number = decltype(rows)::number;
        TReal         sums[number]{};
        int           columnValue = TriangleRow(begin);
        for (int j = begin; j < levels; ++j)
        {
          const TReal vectorValue = v[j];
          for (int n = 0; n < number; ++n)
          {
            // Rows behind the last one repeat it, and are not stored.
            const int i = first + n * TTeam::step < levels ? first + n * TTeam::step : levels - 1;
            sums[n] += matrix[j <= i ? TriangleRow(i) + j : columnValue + i] * vectorValue;
          }
          columnValue += j + 1;
        }
        for (int n = 0; n < number; ++n)
        {
          if (first + n * TTeam::step < levels)
          {
            product[first + n * TTeam::step] = sums[n] * scale;
          }
        }
      });
    }
  }

  /** A -= v product^T + product v^T for the rows from begin on. */
  static VOXELMAPS_HOST_DEVICE void
  Reflect(const TTeam & team, int begin, int levels, TReal * matrix, const TReal * v, const TReal * product)
  {
    if constexpr (TTeam::isAlone)
    {
      VOXELMAPS_UNROLL
      for (int i = begin; i < levels; ++i)
      {
        TReal * const row = matrix + TriangleRow(i);
        const TReal   rowValue = v[i];
        const TReal   rowProduct = product[i];
        VOXELMAPS_UNROLL
        for (int j = begin; j <= i; ++j)
        {
          row[j] -= rowValue * product[j] + rowProduct * v[j];
        }
      }
    }
    else
    {
      ForEachTeamRow(team, begin, levels, [&](auto rows, int first) {
        constexpr int number = decltype(rows)::number;
        TReal         rowValue[number];
        TReal         rowProduct[number];
        for (int n = 0; n < number; ++n)
        {
          const int i = first + n * TTeam::step < levels ? first + n * TTeam::step : levels - 1;
          rowValue[n] = v[i];
          rowProduct[n] = product[i];
        }
        for (int j = begin; j < levels && j <= first + (number - 1) * TTeam::step; ++j)
        {
          const TReal columnValue = v[j];
          const TReal columnProduct = product[j];
          for (int n = 0; n < number; ++n)
          {
            const int i = first + n * TTeam::step;
            if (i < levels && j <= i)
            {
              matrix[TriangleRow(i) + j] -= rowValue[n] * columnProduct + rowProduct[n] * columnValue;
            }
          }
        }
      });
    }
  }

  /** Call visit(NumberOfRows, first) for the rows of a lane from begin on: first, first + step ... */
  template <int VNumber>
  struct NumberOfRows
  {
    static constexpr int number = VNumber;
  };
  template <typename TVisit>
  static VOXELMAPS_HOST_DEVICE void
  ForEachTeamRow(const TTeam & team, int begin, int levels, const TVisit & visit)
  {
    // The same number of rows for all lanes, so that they stay together.
    int first = begin + (team.first - begin % TTeam::step + TTeam::step) % TTeam::step;
    int left = levels - begin;
    for (; left > 2 * TTeam::step; left -= 4 * TTeam::step, first += 4 * TTeam::step)
    {
      visit(NumberOfRows<4>(), first);
    }
    if (left > TTeam::step)
    {
      visit(NumberOfRows<2>(), first);
    }
    else if (left > 0)
    {
      visit(NumberOfRows<1>(), first);
    }
  }

  /** Leading principal minors of a tridiagonal matrix, from the first on. */
  struct Minors
  {
    TReal before{};
    TReal minor = TReal{} + 1.0;
    TReal least = TReal{} + 1.0;

    VOXELMAPS_HOST_DEVICE void
    Add(TReal element, TReal square, int k)
    {
      // Factors of minors are 2^-82 to 2, or 2^-135 if all digits but the last one cancel: four of them neither
      // overflow nor underflow, and a small minor does not become smaller and smaller.
      constexpr int    between = 4;
      constexpr double large = 0x1p256;
      constexpr double small = 0x1p-256;
      const TReal      next = element * minor - square * before;
      before = minor;
      minor = next;
      least = minor < least ? minor : least;
      if (k % between == between - 1)
      {
        const TReal one = TReal{} + 1.0;
        const TReal growing = TReal{} + 0x1p656;
        const TReal shrinking = TReal{} + 0x1p-256;
        const TReal scale = minor < small ? growing : (minor > large ? shrinking : one);
        minor *= scale;
        before *= scale;
      }
    }
  };
};

/** The one lane of a thread. */
struct SerialLane
{
  static constexpr int  first = 0;
  static constexpr int  step = 1;
  static constexpr bool isAlone = true;

  VOXELMAPS_HOST_DEVICE void
  Sync() const
  {}
  VOXELMAPS_HOST_DEVICE bool
  FinishColumn(int) const
  {
    return false;
  }
  static VOXELMAPS_HOST_DEVICE double
  SquareRoot(double value)
  {
#if defined(__CUDA_ARCH__)
    return __dsqrt_rn(value);
#else
    return std::sqrt(value);
#endif
  }
  static VOXELMAPS_HOST_DEVICE bool
  AreZero(double value)
  {
    return value == 0.0;
  }
};
} // namespace voxelmaps

#endif // MaximalCorrelation_h
