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

// Included once per instruction set by SeparableTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "SeparableTileMemory.h"

#include <cstring>
#if defined(__AVX2__)
#  include <immintrin.h>
#endif

#if defined(__GNUC__)
#  define VOXELMAPS_RESTRICT __restrict__
#else
#  define VOXELMAPS_RESTRICT __restrict
#endif

/* Box sums of images seg_k give all sums over runs (run by run, the identity is easy to check):
 *   seg_k(p) = 1 if the k voxels from p along direction d are of one level,
 *   S_k[f] = sum of f(level) seg_k(p) over those p of the window whose k voxels are all in the window,
 *   R_l[f] = S_l[f] - 2 S_(l+1)[f] + S_(l+2)[f] is the sum of f over the runs of length l.
 * The p of S_k are a box that shrinks by |d| with every k, so windows need no border cases, and the sums are separable.
 * Images seg_k are indexed by the least corner of their k voxels, so every box starts at the window's first voxel. */
namespace itk
{
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
// ---- lanes
// -----------------------------------------------------------------------------------------------------------

#if defined(__GNUC__)
#  if defined(__AVX512F__)
constexpr int lanes = 8;
#  elif defined(__AVX2__)
constexpr int lanes = 4;
#  else
constexpr int lanes = 2;
#  endif
using Real = double __attribute__((vector_size(8 * lanes)));
using Bits64 = std::uint64_t __attribute__((vector_size(8 * lanes)));
using Bits32 = std::uint32_t __attribute__((vector_size(4 * lanes)));
using Signed32 = std::int32_t __attribute__((vector_size(4 * lanes)));
using Bits16 = std::uint16_t __attribute__((vector_size(2 * lanes)));

// Sums in 32 bits stay below 2^31 (SeparableTakes), and signed conversions are the fast ones.
inline Real
ToReal(Bits32 value)
{
  return __builtin_convertvector(reinterpret_cast<Signed32>(value), Real);
}
inline Real
ToReal(Bits16 value)
{
  return __builtin_convertvector(__builtin_convertvector(value, Signed32), Real);
}
inline Real
ToReal(Bits64 value)
{
#  if defined(__AVX512DQ__)
  return __builtin_convertvector(value, Real);
#  else
  // Put the halves into the mantissas of 2^84 and 2^52; one rounding, in the last addition.
  const Bits64 high = (value >> 32) | 0x4530000000000000u;
  const Bits64 low = (value & 0xffffffffu) | 0x4330000000000000u;
  return (reinterpret_cast<Real>(high) - 19342813118337666422669312.0) + reinterpret_cast<Real>(low);
#  endif
}
#else
constexpr int lanes = 1;
using Real = double;
using Bits64 = std::uint64_t;
using Bits32 = std::uint32_t;
using Bits16 = std::uint16_t;
template <typename TBits>
inline Real
ToReal(TBits value)
{
  return static_cast<double>(value);
}
#endif

template <typename TPack, typename T>
inline TPack
Load(const T * memory)
{
  TPack pack;
  std::memcpy(&pack, memory, sizeof(TPack));
  return pack;
}

#if defined(__FMA__)
/** Correctly rounded quotients from one reciprocal: with r = RN(1/b), q = RN(a r) is within 2^-52 of a/b, the fused
 * remainder a - q b is exact, and q + remainder * r is within 2^-104 of a/b before its rounding. No quotient by an
 * integer b < 2^50 is that close to the middle of two doubles without being it, so the bits are those of a/b. */
struct FusedDivision
{
  struct Divisor
  {
    Real value;
    Real reciprocal;
  };
  static inline Real
  MultiplyAdd(Real a, Real b, Real c)
  {
#  if defined(__AVX512F__)
    return reinterpret_cast<Real>(
      _mm512_fmadd_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b), reinterpret_cast<__m512d>(c)));
#  else
    return reinterpret_cast<Real>(
      _mm256_fmadd_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(c)));
#  endif
  }
  static inline Divisor
  By(Real value)
  {
    return Divisor{ value, 1.0 / value };
  }
  static inline Real
  Quotient(Real numerator, const Divisor & divisor)
  {
    const Real quotient = numerator * divisor.reciprocal;
    const Real remainder = MultiplyAdd(-quotient, divisor.value, numerator);
    return MultiplyAdd(remainder, divisor.reciprocal, quotient);
  }
};
using Division = FusedDivision;
#else
using Division = PlainDivision<Real>;
#endif

// ---- box sums
// --------------------------------------------------------------------------------------------------------

struct Box
{
  int x, y, z;
};

/** seg_k. */
template <typename T>
struct Counted
{
  const std::uint8_t * segment;
  T
  operator()(std::ptrdiff_t i) const
  {
    return static_cast<T>(segment[i]);
  }
};

/** f(level) seg_k. */
template <typename T>
struct Weighted
{
  const std::uint8_t * segment;
  const T *            weight;
  T
  operator()(std::ptrdiff_t i) const
  {
    return static_cast<T>(weight[i] & (T{ 0 } - static_cast<T>(segment[i])));
  }
};

/** seg_k of one level. */
template <typename T>
struct OfLevel
{
  const std::uint8_t * segment;
  const std::uint8_t * indicator;
  T
  operator()(std::ptrdiff_t i) const
  {
    return static_cast<T>(segment[i] & indicator[i]);
  }
};

/** Sums along z of the boxes that start in input plane z; call with z = 0, 1, ... in turn. */
template <typename T, typename TSource>
inline void
AdvancePlane(const TileShape & shape, const Box & box, const TSource & source, int z, T * VOXELMAPS_RESTRICT plane)
{
  const std::ptrdiff_t planeStride = std::ptrdiff_t{ shape.ex } * shape.ey;
  const int            rows = shape.ny + box.y - 1;
  const int            width = RoundUp(shape.nx + box.x - 1, lanesOfBlock);
  for (int y = 0; y < rows; ++y)
  {
    T * VOXELMAPS_RESTRICT out = plane + std::ptrdiff_t{ y } * shape.ex;
    const std::ptrdiff_t   at = z * planeStride + std::ptrdiff_t{ y } * shape.ex;
    if (z == 0 || box.z == 1)
    {
      for (int x0 = 0; x0 < width; x0 += lanesOfBlock)
      {
        for (int x = x0; x < x0 + lanesOfBlock; ++x)
        {
          out[x] = source(at + x);
        }
      }
      for (int k = 1; k < box.z; ++k)
      {
        const std::ptrdiff_t from = at + k * planeStride;
        for (int x0 = 0; x0 < width; x0 += lanesOfBlock)
        {
          for (int x = x0; x < x0 + lanesOfBlock; ++x)
          {
            out[x] = static_cast<T>(out[x] + source(from + x));
          }
        }
      }
    }
    else
    {
      const std::ptrdiff_t entering = at + (box.z - 1) * planeStride;
      const std::ptrdiff_t leaving = at - planeStride;
      for (int x0 = 0; x0 < width; x0 += lanesOfBlock)
      {
        for (int x = x0; x < x0 + lanesOfBlock; ++x)
        {
          out[x] = static_cast<T>(out[x] + source(entering + x) - source(leaving + x));
        }
      }
    }
  }
}

template <bool VAdd, int VWidth, typename T>
inline void
SumAlongShortRow(const T * VOXELMAPS_RESTRICT in, T * VOXELMAPS_RESTRICT out, int n)
{
  for (int x0 = 0; x0 < n; x0 += lanesOfBlock)
  {
    for (int x = x0; x < x0 + lanesOfBlock; ++x)
    {
      T sum = in[x];
      for (int j = 1; j < VWidth; ++j)
      {
        sum = static_cast<T>(sum + in[x + j]);
      }
      out[x] = VAdd ? static_cast<T>(out[x] + sum) : sum;
    }
  }
}

/** out[x] = or += sum of in[x] ... in[x + width - 1]. Scratch holds two rows. */
template <bool VAdd, typename T>
inline void
SumAlongRow(const T * VOXELMAPS_RESTRICT in, T * VOXELMAPS_RESTRICT out, int n, int width, T * scratch, int scratchRow)
{
  switch (width)
  {
    case 1:
      return SumAlongShortRow<VAdd, 1>(in, out, n);
    case 2:
      return SumAlongShortRow<VAdd, 2>(in, out, n);
    case 3:
      return SumAlongShortRow<VAdd, 3>(in, out, n);
    case 4:
      return SumAlongShortRow<VAdd, 4>(in, out, n);
    case 5:
      return SumAlongShortRow<VAdd, 5>(in, out, n);
    case 6:
      return SumAlongShortRow<VAdd, 6>(in, out, n);
    case 7:
      return SumAlongShortRow<VAdd, 7>(in, out, n);
    default:
      break;
  }
  // Sums of 1, 2, 4 ... voxels; those of the binary digits of the width make the whole.
  const int length = RoundUp(n + width - 1, lanesOfBlock);
  T *       current = scratch;
  T *       next = scratch + scratchRow;
  std::memcpy(current, in, length * sizeof(T));
  int  done = 0;
  bool add = VAdd;
  for (int power = 1;; power *= 2)
  {
    if (width & power)
    {
      const T * VOXELMAPS_RESTRICT part = current + done;
      for (int x0 = 0; x0 < n; x0 += lanesOfBlock)
      {
        for (int x = x0; x < x0 + lanesOfBlock; ++x)
        {
          out[x] = static_cast<T>((add ? out[x] : T{ 0 }) + part[x]);
        }
      }
      add = true;
      done += power;
    }
    if (done == width)
    {
      return;
    }
    const T * VOXELMAPS_RESTRICT from = current;
    T * VOXELMAPS_RESTRICT       to = next;
    for (int x = 0; x < length - power; ++x)
    {
      to[x] = static_cast<T>(from[x] + from[x + power]);
    }
    std::memcpy(to + length - power, from + length - power, power * sizeof(T));
    next = current;
    current = to;
  }
}

/** Sums along y and x of a plane of sums along z, for a plane of outputs. */
template <bool VAdd, typename T>
inline void
SumPlane(const TileShape & shape, const Box & box, const T * plane, T * VOXELMAPS_RESTRICT row, T * scratch, T * out)
{
  const int width = RoundUp(shape.nx + box.x - 1, lanesOfBlock);
  for (int y = 0; y < shape.ny; ++y)
  {
    const T * VOXELMAPS_RESTRICT entering = plane + std::ptrdiff_t{ y + box.y - 1 } * shape.ex;
    const T *                    sums = entering;
    if (box.y > 1)
    {
      sums = row;
      if (y == 0)
      {
        std::memcpy(row, plane, width * sizeof(T));
        for (int k = 1; k < box.y; ++k)
        {
          const T * VOXELMAPS_RESTRICT next = plane + std::ptrdiff_t{ k } * shape.ex;
          for (int x0 = 0; x0 < width; x0 += lanesOfBlock)
          {
            for (int x = x0; x < x0 + lanesOfBlock; ++x)
            {
              row[x] = static_cast<T>(row[x] + next[x]);
            }
          }
        }
      }
      else
      {
        const T * VOXELMAPS_RESTRICT leaving = plane + std::ptrdiff_t{ y - 1 } * shape.ex;
        for (int x0 = 0; x0 < width; x0 += lanesOfBlock)
        {
          for (int x = x0; x < x0 + lanesOfBlock; ++x)
          {
            row[x] = static_cast<T>(row[x] + entering[x] - leaving[x]);
          }
        }
      }
    }
    SumAlongRow<VAdd>(sums, out + std::ptrdiff_t{ y } * shape.nx, shape.nx, box.x, scratch, shape.ex + lanesOfBlock);
  }
}

// ---- one tile
// --------------------------------------------------------------------------------------------------------

class TileComputation
{
public:
  TileComputation(const SeparableTask & task, const SeparableTile & tile, void * workspace)
    : m_Task(task)
    , m_Tile(tile)
    , m_Shape(task, tile.size)
    , m_Memory(task, m_Shape, workspace)
    , m_InputVoxels(m_Shape.inputVoxels + lanesOfBlock + 256)
  {}

  void
  Compute()
  {
    if (!this->LoadLevels())
    {
      this->WriteBackground();
      return;
    }
    this->MakeWeights();
    this->SumFirst();
    if (m_Task.needsLevelCounts)
    {
      for (int d = 0; d < m_Task.numberOfDirections; ++d)
      {
        this->MakeLinks(d, m_Memory.links + d * m_InputVoxels);
      }
      switch (LevelCountBytes(m_Task))
      {
        case 1:
          this->CountLevels<std::uint8_t, std::uint16_t>();
          break;
        case 2:
          this->CountLevels<std::uint16_t, std::uint32_t>();
          break;
        default:
          this->CountLevels<std::uint32_t, std::uint64_t>();
          break;
      }
    }
    const bool merge = m_Task.aggregation == SeparableTask::Aggregation::Merge;
    for (int d = 0; d < m_Task.numberOfDirections; ++d)
    {
      const int longest = this->MakeSegments(d);
      for (int z = 0; z < m_Shape.nz; ++z)
      {
        for (int k = 2; k <= longest; ++k)
        {
          this->SumSegments(d, k, z);
        }
        if (!merge)
        {
          this->FinishPlane(d, longest, z);
        }
      }
      m_LongestOfMerged = longest > m_LongestOfMerged ? longest : m_LongestOfMerged;
    }
    if (merge)
    {
      for (int z = 0; z < m_Shape.nz; ++z)
      {
        this->FinishPlane(0, m_LongestOfMerged, z);
      }
    }
    else if (m_Task.aggregation == SeparableTask::Aggregation::Average)
    {
      this->WriteAverages();
    }
  }

private:
  const int *
  Direction(int d) const
  {
    return m_Task.directions + 3 * d;
  }

  Box
  BoxOf(int d, int k) const
  {
    const int * direction = this->Direction(d);
    return Box{ m_Task.window[0] - (k - 1) * (direction[0] != 0 ? 1 : 0),
                m_Task.window[1] - (k - 1) * (direction[1] != 0 ? 1 : 0),
                m_Task.window[2] - (k - 1) * (direction[2] != 0 ? 1 : 0) };
  }

  std::ptrdiff_t
  InputOffset(int x, int y, int z) const
  {
    return (std::ptrdiff_t{ z } * m_Shape.ey + y) * m_Shape.ex + x;
  }

  /** From the least corner of k voxels along a direction to their first. */
  std::ptrdiff_t
  FirstVoxel(int d, int k) const
  {
    const int * direction = this->Direction(d);
    return this->InputOffset(direction[0] < 0 ? k - 1 : 0, direction[1] < 0 ? k - 1 : 0, direction[2] < 0 ? k - 1 : 0);
  }

  const std::uint16_t *
  CenterRow(int y, int z) const
  {
    return m_Memory.levels + this->InputOffset(m_Task.anchor[0], m_Task.anchor[1] + y, m_Task.anchor[2] + z);
  }

  /** Copy the tile's input, 0 outside the level buffer. Returns whether any output voxel has a level. */
  bool
  LoadLevels()
  {
    const std::int64_t * size = m_Task.levelsSize;
    std::int64_t         start[3];
    for (int i = 0; i < 3; ++i)
    {
      start[i] = m_Tile.start[i] + m_Task.outputToLevels[i] - m_Task.anchor[i];
    }
    const std::int64_t input = m_Tile.size[0] + m_Task.window[0] - 1;
    const std::int64_t first = start[0] < 0 ? (-start[0] < input ? -start[0] : input) : 0;
    const std::int64_t end =
      size[0] - start[0] < input ? (size[0] - start[0] > first ? size[0] - start[0] : first) : input;
    std::memset(m_Memory.levels, 0, 2 * static_cast<std::size_t>(m_InputVoxels));
    for (int z = 0; z < m_Shape.ez; ++z)
    {
      for (int y = 0; y < m_Shape.ey; ++y)
      {
        const std::int64_t fromZ = start[2] + z;
        const std::int64_t fromY = start[1] + y;
        if (fromZ >= 0 && fromZ < size[2] && fromY >= 0 && fromY < size[1])
        {
          std::memcpy(m_Memory.levels + this->InputOffset(static_cast<int>(first), y, z),
                      m_Task.levels + (fromZ * size[1] + fromY) * size[0] + start[0] + first,
                      2 * static_cast<std::size_t>(end - first));
        }
      }
    }
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int y = 0; y < m_Shape.ny; ++y)
      {
        const std::uint16_t * row = this->CenterRow(y, z);
        for (int x = 0; x < m_Tile.size[0]; ++x)
        {
          if (row[x] != 0)
          {
            return true;
          }
        }
      }
    }
    return false;
  }

  void
  MakeWeights()
  {
    const std::ptrdiff_t                     n = m_InputVoxels;
    const std::uint16_t * VOXELMAPS_RESTRICT levels = m_Memory.levels;
    std::uint8_t * VOXELMAPS_RESTRICT        segments = m_Memory.segments;
    for (std::ptrdiff_t i = 0; i < n; ++i)
    {
      segments[i] = levels[i] != 0 ? 1 : 0;
    }
    if (m_Task.needsSquares && m_Task.wideSquares)
    {
      auto * VOXELMAPS_RESTRICT squares = static_cast<std::uint64_t *>(m_Memory.weights[SquareChannel]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        squares[i] = std::uint64_t{ levels[i] } * levels[i];
      }
    }
    else if (m_Task.needsSquares)
    {
      auto * VOXELMAPS_RESTRICT squares = static_cast<std::uint32_t *>(m_Memory.weights[SquareChannel]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        squares[i] = std::uint32_t{ levels[i] } * levels[i];
      }
    }
    if (m_Task.needsLevelSum)
    {
      auto * VOXELMAPS_RESTRICT weights = static_cast<std::uint32_t *>(m_Memory.weights[LevelChannel]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        weights[i] = levels[i];
      }
    }
    if (m_Task.needsInverses)
    {
      auto * inverses = static_cast<std::uint64_t *>(m_Memory.weights[InverseChannel]);
      for (std::ptrdiff_t i = 0; i < n; ++i)
      {
        inverses[i] = m_Task.inverseSquares[levels[i]];
      }
    }
  }

  /** seg_2 of a direction. */
  void
  MakeLinks(int d, std::uint8_t * VOXELMAPS_RESTRICT links) const
  {
    const int *          direction = this->Direction(d);
    const std::ptrdiff_t first = this->FirstVoxel(d, 2);
    const std::ptrdiff_t step = this->InputOffset(direction[0], direction[1], direction[2]);
    const int            rows = m_Shape.ey - (direction[1] != 0 ? 1 : 0);
    const int            planes = m_Shape.ez - (direction[2] != 0 ? 1 : 0);
    for (int z = 0; z < planes; ++z)
    {
      for (int y = 0; y < rows; ++y)
      {
        const std::ptrdiff_t                     at = this->InputOffset(0, y, z);
        const std::uint16_t * VOXELMAPS_RESTRICT a = m_Memory.levels + at + first;
        const std::uint16_t * VOXELMAPS_RESTRICT b = a + step;
        std::uint8_t * VOXELMAPS_RESTRICT        out = links + at;
        for (int x0 = 0; x0 < m_Shape.ex; x0 += lanesOfBlock)
        {
          for (int x = x0; x < x0 + lanesOfBlock; ++x)
          {
            out[x] = static_cast<std::uint8_t>((a[x] == b[x] ? 1 : 0) & (a[x] != 0 ? 1 : 0));
          }
        }
      }
    }
  }

  std::uint8_t *
  Segments(int k) const
  {
    return m_Memory.segments + (k - 1) * m_InputVoxels;
  }

  /** seg_2, seg_3 ... of a direction, up to the longest that is not zero everywhere, whose k is returned. */
  int
  MakeSegments(int d) const
  {
    const int longest = m_Task.longestRuns[d];
    if (longest < 2)
    {
      return 1;
    }
    const int * direction = this->Direction(d);
    // seg_k(c) = seg_(k-1)(c + shorter) and link(c + link): the last voxel of k joins the k - 1 before it.
    const std::ptrdiff_t shorter = this->FirstVoxel(d, 2);
    for (int k = 2; k <= longest; ++k)
    {
      if (k == 2)
      {
        this->MakeLinks(d, this->Segments(2));
      }
      const std::ptrdiff_t link =
        this->InputOffset(direction[0] > 0 ? k - 2 : 0, direction[1] > 0 ? k - 2 : 0, direction[2] > 0 ? k - 2 : 0);
      const int    rows = m_Shape.ey - (direction[1] != 0 ? k - 1 : 0);
      const int    planes = m_Shape.ez - (direction[2] != 0 ? k - 1 : 0);
      const int    columns = m_Tile.size[0] + m_Task.window[0] - 1 - (direction[0] != 0 ? k - 1 : 0);
      unsigned int any = 0;
      for (int z = 0; z < planes; ++z)
      {
        for (int y = 0; y < rows; ++y)
        {
          const std::ptrdiff_t                    at = this->InputOffset(0, y, z);
          std::uint8_t * VOXELMAPS_RESTRICT       out = this->Segments(k) + at;
          const std::uint8_t * VOXELMAPS_RESTRICT before = this->Segments(k - 1) + at + shorter;
          const std::uint8_t * VOXELMAPS_RESTRICT links = this->Segments(2) + at + link;
          if (k > 2)
          {
            for (int x0 = 0; x0 < m_Shape.ex; x0 += lanesOfBlock)
            {
              for (int x = x0; x < x0 + lanesOfBlock; ++x)
              {
                out[x] = before[x] & links[x];
              }
            }
          }
          std::uint8_t some = 0;
          for (int x = 0; x < columns; ++x)
          {
            some |= out[x];
          }
          any |= some;
        }
      }
      if (any == 0)
      {
        return k - 1;
      }
    }
    return longest;
  }

  template <typename T>
  T *
  Scratch() const
  {
    return static_cast<T *>(m_Memory.rowScratch);
  }

  template <bool VAdd, typename T, typename TSource>
  void
  SumChannel(const Box & box, const TSource & source, int z, T * plane, T * out) const
  {
    AdvancePlane(m_Shape, box, source, z, plane);
    SumPlane<VAdd>(m_Shape, box, plane, static_cast<T *>(m_Memory.row), this->Scratch<T>(), out);
  }

  template <bool VAdd>
  void
  SumAllChannels(const Box & box, int k, int z, std::ptrdiff_t first, void * const outs[],
                 std::ptrdiff_t outOffset) const
  {
    const std::ptrdiff_t planeVoxels = std::ptrdiff_t{ m_Shape.ex } * m_Shape.ey + lanesOfBlock + 256;
    const std::uint8_t * segment = this->Segments(k);
    for (int c = 0; c < NumberOfChannels; ++c)
    {
      const int bytes = ChannelBytes(m_Task, c);
      if (bytes == 4)
      {
        auto * plane = static_cast<std::uint32_t *>(m_Memory.planes[c]) + (k - 1) * planeVoxels;
        auto * out = static_cast<std::uint32_t *>(outs[c]) + outOffset;
        if (c == CountChannel)
        {
          this->SumChannel<VAdd>(box, Counted<std::uint32_t>{ segment }, z, plane, out);
        }
        else
        {
          const auto * weight = static_cast<const std::uint32_t *>(m_Memory.weights[c]) + first;
          this->SumChannel<VAdd>(box, Weighted<std::uint32_t>{ segment, weight }, z, plane, out);
        }
      }
      else if (bytes == 8)
      {
        auto *       plane = static_cast<std::uint64_t *>(m_Memory.planes[c]) + (k - 1) * planeVoxels;
        auto *       out = static_cast<std::uint64_t *>(outs[c]) + outOffset;
        const auto * weight = static_cast<const std::uint64_t *>(m_Memory.weights[c]) + first;
        this->SumChannel<VAdd>(box, Weighted<std::uint64_t>{ segment, weight }, z, plane, out);
      }
    }
  }

  /** S_1, which all directions share. */
  void
  SumFirst() const
  {
    const Box box{ m_Task.window[0], m_Task.window[1], m_Task.window[2] };
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      this->SumAllChannels<false>(box, 1, z, 0, m_Memory.firstSums, z * this->PlaneOutputs());
    }
  }

  std::ptrdiff_t
  PlaneOutputs() const
  {
    return std::ptrdiff_t{ m_Shape.nx } * m_Shape.ny;
  }

  /** Where S_k of an output plane begins: only merged matrices keep all planes. */
  std::ptrdiff_t
  SumsOffset(int k, int z) const
  {
    return m_Task.aggregation == SeparableTask::Aggregation::Merge
             ? (k - 2) * m_Shape.outputVoxels + z * this->PlaneOutputs()
             : (k - 2) * this->PlaneOutputs();
  }

  /** S_k of a direction, added to that of the directions before if merged. */
  void
  SumSegments(int d, int k, int z) const
  {
    const Box            box = this->BoxOf(d, k);
    const std::ptrdiff_t first = this->FirstVoxel(d, k);
    const bool           add = m_Task.aggregation == SeparableTask::Aggregation::Merge && k <= m_LongestOfMerged;
    if (add)
    {
      this->SumAllChannels<true>(box, k, z, first, m_Memory.sums, this->SumsOffset(k, z));
    }
    else
    {
      this->SumAllChannels<false>(box, k, z, first, m_Memory.sums, this->SumsOffset(k, z));
    }
  }

  int
  FindPresentLevels() const
  {
    std::memset(m_Memory.present, 0, std::size_t{ m_Task.numberOfGrayLevels } + 1);
    for (std::ptrdiff_t i = 0; i < m_Shape.inputVoxels; ++i)
    {
      m_Memory.present[m_Memory.levels[i]] = 1;
    }
    int n = 0;
    for (std::uint32_t level = 1; level <= m_Task.numberOfGrayLevels; ++level)
    {
      if (m_Memory.present[level] != 0)
      {
        m_Memory.presentLevels[n++] = static_cast<std::uint16_t>(level);
      }
    }
    return n;
  }

  /** Sum over levels of (runs of the level)^2; the runs of a level are its voxels less its links. */
  template <typename TCount, typename TSquare>
  void
  CountLevels() const
  {
    const bool merge = m_Task.aggregation == SeparableTask::Aggregation::Merge;
    const int  directions = m_Task.numberOfDirections;
    const auto outputs = m_Shape.outputVoxels;
    auto *     squares = static_cast<TSquare *>(m_Memory.nonUniformities);
    auto *     plane = static_cast<TCount *>(m_Memory.countPlane);
    auto *     voxels = static_cast<TCount *>(m_Memory.levelVoxels);
    auto *     runs = static_cast<TCount *>(m_Memory.levelRuns);
    const Box  window{ m_Task.window[0], m_Task.window[1], m_Task.window[2] };
    std::memset(squares, 0, sizeof(TSquare) * static_cast<std::size_t>(outputs) * (merge ? 1 : directions));

    const int levels = this->FindPresentLevels();
    for (int g = 0; g < levels; ++g)
    {
      this->MakeIndicator(m_Memory.presentLevels[g]);
      for (int z = 0; z < m_Shape.nz; ++z)
      {
        this->SumChannel<false>(
          window, Counted<TCount>{ m_Memory.indicator }, z, plane, voxels + z * this->PlaneOutputs());
      }
      if (merge)
      {
        std::memset(runs, 0, sizeof(TCount) * static_cast<std::size_t>(outputs));
      }
      for (int d = 0; d < directions; ++d)
      {
        if (m_Task.longestRuns[d] >= 2)
        {
          const OfLevel<TCount> source{ m_Memory.links + d * m_InputVoxels,
                                        m_Memory.indicator + this->FirstVoxel(d, 2) };
          for (int z = 0; z < m_Shape.nz; ++z)
          {
            TCount * out = runs + z * this->PlaneOutputs();
            if (merge)
            {
              this->SumChannel<true>(this->BoxOf(d, 2), source, z, plane, out);
            }
            else
            {
              this->SumChannel<false>(this->BoxOf(d, 2), source, z, plane, out);
            }
          }
        }
        else if (!merge)
        {
          std::memset(runs, 0, sizeof(TCount) * static_cast<std::size_t>(outputs));
        }
        if (!merge)
        {
          AddSquares(voxels, runs, 1, squares + d * outputs, outputs);
        }
      }
      if (merge)
      {
        AddSquares(voxels, runs, directions, squares, outputs);
      }
    }
  }

  template <typename TCount, typename TSquare>
  static void
  AddSquares(const TCount * VOXELMAPS_RESTRICT voxels, const TCount * VOXELMAPS_RESTRICT links, int directions,
             TSquare * VOXELMAPS_RESTRICT squares, std::ptrdiff_t n)
  {
    const auto factor = static_cast<TCount>(directions);
    for (std::ptrdiff_t i0 = 0; i0 < n; i0 += lanesOfBlock)
    {
      for (std::ptrdiff_t i = i0; i < i0 + lanesOfBlock; ++i)
      {
        const auto runs = static_cast<TSquare>(static_cast<TCount>(factor * voxels[i] - links[i]));
        squares[i] = static_cast<TSquare>(squares[i] + runs * runs);
      }
    }
  }

  void
  MakeIndicator(std::uint16_t level) const
  {
    const std::uint16_t * VOXELMAPS_RESTRICT levels = m_Memory.levels;
    std::uint8_t * VOXELMAPS_RESTRICT        indicator = m_Memory.indicator;
    for (std::ptrdiff_t i = 0; i < m_InputVoxels; ++i)
    {
      indicator[i] = levels[i] == level ? 1 : 0;
    }
  }

  /** Runs of length l from S_l, S_(l+1), S_(l+2), read while going up in l. */
  template <typename TBits, typename T>
  class RunsOfLength
  {
  public:
    RunsOfLength(const void * first, const void * sums, std::ptrdiff_t stride, int longest, int directions)
      : m_Sums(static_cast<const T *>(sums))
      , m_Stride(stride)
      , m_Longest(longest)
      , m_This(Load<TBits>(static_cast<const T *>(first)) * static_cast<T>(directions))
      , m_Next(this->Read(2))
    {}
    Real
    Of(int l)
    {
      const TBits afterNext = this->Read(l + 2);
      const TBits runs = m_This - m_Next - m_Next + afterNext;
      m_This = m_Next;
      m_Next = afterNext;
      return ToReal(runs);
    }

  private:
    TBits
    Read(int k) const
    {
      return k <= m_Longest ? Load<TBits>(m_Sums + (k - 2) * m_Stride) : TBits() * T{ 0 };
    }
    const T *      m_Sums;
    std::ptrdiff_t m_Stride;
    int            m_Longest;
    TBits          m_This;
    TBits          m_Next;
  };
  using RunsOfLength32 = RunsOfLength<Bits32, std::uint32_t>;
  using RunsOfLength64 = RunsOfLength<Bits64, std::uint64_t>;

  const void *
  FirstSum(int channel, std::ptrdiff_t at) const
  {
    return static_cast<const char *>(m_Memory.firstSums[channel]) + at * ChannelBytes(m_Task, channel);
  }
  const void *
  Sum(int channel, std::ptrdiff_t at) const
  {
    return static_cast<const char *>(m_Memory.sums[channel]) + at * ChannelBytes(m_Task, channel);
  }

  Real
  LevelNonUniformity(std::ptrdiff_t at) const
  {
    switch (LevelCountBytes(m_Task))
    {
      case 1:
        return ToReal(Load<Bits16>(static_cast<const std::uint16_t *>(m_Memory.nonUniformities) + at));
      case 2:
      {
        // May exceed 2^31, so the signed conversion is not for it.
        double values[lanes];
        for (int i = 0; i < lanes; ++i)
        {
          values[i] = static_cast<const std::uint32_t *>(m_Memory.nonUniformities)[at + i];
        }
        return Load<Real>(values);
      }
      default:
        return ToReal(Load<Bits64>(static_cast<const std::uint64_t *>(m_Memory.nonUniformities) + at));
    }
  }

  /** Features of one matrix of every voxel of an output plane. */
  void
  FinishPlane(int d, int longest, int z) const
  {
    const bool           merge = m_Task.aggregation == SeparableTask::Aggregation::Merge;
    const bool           average = m_Task.aggregation == SeparableTask::Aggregation::Average;
    const int            directions = merge ? m_Task.numberOfDirections : 1;
    const std::ptrdiff_t stride = merge ? m_Shape.outputVoxels : this->PlaneOutputs();
    const int            features = m_Task.numberOfFeatures;
    const Real           zero = Real() * 0.0;

    for (int y = 0; y < m_Shape.ny; ++y)
    {
      for (int x = 0; x < m_Shape.nx; x += lanes)
      {
        const std::ptrdiff_t inPlane = std::ptrdiff_t{ y } * m_Shape.nx + x;
        const std::ptrdiff_t at = z * this->PlaneOutputs() + inPlane;
        const std::ptrdiff_t atSums = this->SumsOffset(2, z) + inPlane;

        RunLengthSums<Real> sums{};
        ClearRuns(sums);
        RunsOfLength32 runs(
          this->FirstSum(CountChannel, at), this->Sum(CountChannel, atSums), stride, longest, directions);
        sums.voxels = ToReal(Load<Bits32>(static_cast<const std::uint32_t *>(this->FirstSum(CountChannel, at)))) *
                      double(directions);
        const auto sumRuns = [&](auto squaresOf, auto inversesOf) {
          for (int l = 1; l <= longest; ++l)
          {
            AddRunsOfLength(
              sums, double(l) * double(l), m_Task.shortRunWeights[l], runs.Of(l), squaresOf(l), inversesOf(l));
          }
        };
        const auto none = [&](int) { return zero; };
        const auto withInverses = [&](auto squaresOf) {
          if (m_Task.needsInverses)
          {
            RunsOfLength64 inverses(
              this->FirstSum(InverseChannel, at), this->Sum(InverseChannel, atSums), stride, longest, directions);
            sumRuns(squaresOf, [&](int l) { return inverses.Of(l); });
          }
          else
          {
            sumRuns(squaresOf, none);
          }
        };
        if (m_Task.needsSquares && m_Task.wideSquares)
        {
          RunsOfLength64 squares(
            this->FirstSum(SquareChannel, at), this->Sum(SquareChannel, atSums), stride, longest, directions);
          withInverses([&](int l) { return squares.Of(l); });
        }
        else if (m_Task.needsSquares)
        {
          RunsOfLength32 squares(
            this->FirstSum(SquareChannel, at), this->Sum(SquareChannel, atSums), stride, longest, directions);
          withInverses([&](int l) { return squares.Of(l); });
        }
        else
        {
          withInverses(none);
        }

        sums.levelNonUniformity =
          m_Task.needsLevelCounts ? this->LevelNonUniformity((merge ? 0 : d * m_Shape.outputVoxels) + at) : zero;
        sums.levelVariance = zero;
        sums.entropy = zero;
        if (m_Task.needsLevelSum)
        {
          RunsOfLength32 levels(
            this->FirstSum(LevelChannel, at), this->Sum(LevelChannel, atSums), stride, longest, directions);
          Real levelSum = zero;
          for (int l = 1; l <= longest; ++l)
          {
            levelSum += levels.Of(l);
          }
          sums.levelVariance = sums.runs * sums.squares - levelSum * levelSum;
        }

        const RunLengthDivisors<Real, Division> divisors(sums, m_Task.scales);
        double *                                to = average ? m_Memory.averages + at : m_Memory.values + x;
        const std::ptrdiff_t                    featureStride = average ? m_Shape.outputVoxels : m_Shape.nx;
        for (int f = 0; f < features; ++f, to += featureStride)
        {
          Real value = RunLengthFeatureValue(m_Task.features[f], sums, divisors, m_Task.scales);
          if (average && d > 0)
          {
            value += Load<Real>(to);
          }
          std::memcpy(to, &value, sizeof(Real));
        }
      }
      if (!average)
      {
        this->WriteRow(m_Memory.values, m_Shape.nx, merge ? 0 : d * features, y, z);
      }
    }
  }

  void
  WriteAverages() const
  {
    const auto directions = static_cast<double>(m_Task.numberOfDirections);
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int y = 0; y < m_Shape.ny; ++y)
      {
        double * VOXELMAPS_RESTRICT row =
          m_Memory.averages + z * this->PlaneOutputs() + std::ptrdiff_t{ y } * m_Shape.nx;
        for (int f = 0; f < m_Task.numberOfFeatures; ++f)
        {
          double * VOXELMAPS_RESTRICT values = row + f * m_Shape.outputVoxels;
          for (int x = 0; x < m_Shape.nx; ++x)
          {
            values[x] = values[x] / directions;
          }
        }
        this->WriteRow(row, m_Shape.outputVoxels, 0, y, z);
      }
    }
  }

  std::ptrdiff_t
  Components() const
  {
    return std::ptrdiff_t{ m_Task.numberOfFeatures } *
           (m_Task.aggregation == SeparableTask::Aggregation::PerDirection ? m_Task.numberOfDirections : 1);
  }

  /** Offset of the first component of an output row. */
  std::ptrdiff_t
  OutputRow(int y, int z) const
  {
    const std::int64_t row = (m_Tile.start[2] + z) * m_Task.outputSize[1] + m_Tile.start[1] + y;
    return (row * m_Task.outputSize[0] + m_Tile.start[0]) * this->Components();
  }

  /** Interleave a row of features into the output, from component `first` on. */
  void
  WriteRow(const double * values, std::ptrdiff_t featureStride, std::ptrdiff_t first, int y, int z) const
  {
    if (m_Task.outputIsDouble)
    {
      this->WriteRowAs<double>(values, featureStride, first, y, z);
    }
    else
    {
      this->WriteRowAs<float>(values, featureStride, first, y, z);
    }
  }

  template <typename TOutput>
  void
  WriteRowAs(const double * values, std::ptrdiff_t featureStride, std::ptrdiff_t first, int y, int z) const
  {
    const std::ptrdiff_t  components = this->Components();
    const std::uint16_t * centers = this->CenterRow(y, z);
    const auto            background = static_cast<TOutput>(m_Task.backgroundValue);
    TOutput *             out = static_cast<TOutput *>(m_Task.output) + this->OutputRow(y, z) + first;
    for (int x = 0; x < m_Tile.size[0]; ++x, out += components)
    {
      const double * from = values + x;
      for (int f = 0; f < m_Task.numberOfFeatures; ++f)
      {
        out[f] = centers[x] != 0 ? static_cast<TOutput>(from[f * featureStride]) : background;
      }
    }
  }

  void
  WriteBackground() const
  {
    for (int z = 0; z < m_Shape.nz; ++z)
    {
      for (int y = 0; y < m_Shape.ny; ++y)
      {
        const std::ptrdiff_t n = m_Tile.size[0] * this->Components();
        const std::ptrdiff_t at = this->OutputRow(y, z);
        for (std::ptrdiff_t i = 0; i < n; ++i)
        {
          if (m_Task.outputIsDouble)
          {
            static_cast<double *>(m_Task.output)[at + i] = m_Task.backgroundValue;
          }
          else
          {
            static_cast<float *>(m_Task.output)[at + i] = static_cast<float>(m_Task.backgroundValue);
          }
        }
      }
    }
  }

  const SeparableTask & m_Task;
  const SeparableTile & m_Tile;
  const TileShape       m_Shape;
  const TileMemory      m_Memory;
  const std::ptrdiff_t  m_InputVoxels;
  int                   m_LongestOfMerged{ 1 };
};
} // namespace

void
ComputeSeparableTile(const SeparableTask & task, const SeparableTile & tile, void * workspace)
{
  TileComputation(task, tile, workspace).Compute();
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
} // namespace itk
