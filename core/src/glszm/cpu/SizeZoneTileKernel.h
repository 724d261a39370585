// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by SizeZoneTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "SizeZoneTile.h"
#include "window/cpu/Simd.h"
#include "window/WindowBox.h"

#if defined(VOXELMAPS_VECTOR_TYPES) && defined(__SSE2__)
#  include <immintrin.h>
#endif

/* An element of a vector is a window; the windows of a vector are neighbors along x. A slice of a window is a word of
 * bits, row by row. All windows of a vector fill one zone each at the same time: the voxels found so far grow by their
 * neighbors of the same level, until they stay as they are; then this window begins its next zone. */
namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
#if defined(VOXELMAPS_VECTOR_TYPES)
constexpr int vectorBytes = 8 * simdWidth;
#endif

/** A vector of elements, and of levels for as many. */
template <typename TElement>
struct ElementVector;

template <>
struct ElementVector<std::uint32_t>
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  using Elements = std::uint32_t __attribute__((vector_size(vectorBytes)));
  using Levels = std::uint16_t __attribute__((vector_size(vectorBytes / 2)));
#else
  using Elements = std::uint32_t;
  using Levels = std::uint16_t;
#endif
};

template <>
struct ElementVector<std::uint64_t>
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  using Elements = std::uint64_t __attribute__((vector_size(vectorBytes)));
  using Levels = std::uint16_t __attribute__((vector_size(vectorBytes / 4)));
#else
  using Elements = std::uint64_t;
  using Levels = std::uint16_t;
#endif
};

/** All bits of the elements that are 0, no bit of the others. */
template <typename TWords>
inline TWords
ZeroMask(TWords words)
{
#if defined(VOXELMAPS_VECTOR_TYPES)
  return reinterpret_cast<TWords>(words == TWords{});
#else
  return words == 0 ? ~TWords{ 0 } : TWords{ 0 };
#endif
}

/** One bit for each element of a mask. */
template <typename TWord, typename TWords>
inline std::uint32_t
MaskBits(TWords mask)
{
#if defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX512F__)
  return sizeof(TWord) == 4 ? _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask))
                            : _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask));
#elif defined(VOXELMAPS_VECTOR_TYPES) && defined(__AVX2__)
  return static_cast<std::uint32_t>(sizeof(TWord) == 4 ? _mm256_movemask_ps(reinterpret_cast<__m256>(mask))
                                                       : _mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#elif defined(VOXELMAPS_VECTOR_TYPES) && defined(__SSE2__)
  return static_cast<std::uint32_t>(sizeof(TWord) == 4 ? _mm_movemask_ps(reinterpret_cast<__m128>(mask))
                                                       : _mm_movemask_pd(reinterpret_cast<__m128d>(mask)));
#else
  constexpr int width = static_cast<int>(sizeof(TWords) / sizeof(TWord));
  TWord         elements[width];
  std::memcpy(elements, &mask, sizeof(mask));
  std::uint32_t bits = 0;
  for (int i = 0; i < width; ++i)
  {
    bits |= elements[i] != 0 ? 1u << i : 0u;
  }
  return bits;
#endif
}

inline int
LowestBit(std::uint32_t bits)
{
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctz(bits);
#else
  int i = 0;
  while ((bits >> i & 1u) == 0)
  {
    ++i;
  }
  return i;
#endif
}

inline std::uint32_t
NumberOfBits(std::uint64_t bits)
{
#if (defined(__GNUC__) || defined(__clang__)) && defined(__POPCNT__)
  return static_cast<std::uint32_t>(__builtin_popcountll(bits));
#else
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  return static_cast<std::uint32_t>(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/** Vectors of words that an element holds. */
template <typename TElement>
struct SimpleWords
{
  using Element = TElement;
  using Elements = typename ElementVector<TElement>::Elements;
  using Words = Elements;
  static constexpr int parts = 1;

  /** All words alike. */
  static Words
  From(Elements elements)
  {
    return elements;
  }
  /** What is not 0 if a word is not. */
  static Elements
  Any(Words words)
  {
    return words;
  }
  /** An element per word, moved up. */
  static Words
  Place(Elements elements, int distance)
  {
    return elements << distance;
  }
  static Words
  LowestBit(Words words)
  {
    return words & (Elements{} - words);
  }
};

/** Vectors of words of two elements. Shifts are by 1 to 63 bits. */
struct DoubleWords
{
  using Element = std::uint64_t;
  using Elements = ElementVector<Element>::Elements;
  using Words = DoubleWords;
  static constexpr int parts = 2;
  static constexpr int elementBits = 64;

  Elements low;
  Elements high;

  static DoubleWords
  From(Elements elements)
  {
    return { elements, elements };
  }
  static Elements
  Any(DoubleWords words)
  {
    return words.low | words.high;
  }
  static DoubleWords
  Place(Elements elements, int distance)
  {
    const Elements none{};
    return distance < elementBits ? DoubleWords{ elements << distance, none }
                                  : DoubleWords{ none, elements << (distance - elementBits) };
  }
  static DoubleWords
  LowestBit(DoubleWords words)
  {
    const Elements none{};
    return { words.low & (none - words.low), words.high & (none - words.high) & ZeroMask(words.low) };
  }
  DoubleWords
  operator~() const
  {
    return { ~low, ~high };
  }
  DoubleWords
  operator|(DoubleWords other) const
  {
    return { low | other.low, high | other.high };
  }
  DoubleWords
  operator&(DoubleWords other) const
  {
    return { low & other.low, high & other.high };
  }
  DoubleWords
  operator^(DoubleWords other) const
  {
    return { low ^ other.low, high ^ other.high };
  }
  DoubleWords
  operator<<(int distance) const
  {
    return { low << distance, (high << distance) | (low >> (elementBits - distance)) };
  }
  DoubleWords
  operator>>(int distance) const
  {
    return { (low >> distance) | (high << (elementBits - distance)), high >> distance };
  }
};

/** Computes a tile of windows whose slices fit words of a kind. VSlices is at least their number of slices; the others
 * are empty. */
template <typename TKind, int VSlices>
class SizeZoneTileComputer
{
public:
  SizeZoneTileComputer(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace)
    : m_Task(task)
    , m_Tile(tile)
    , m_Shape(task, tile.size)
    , m_Memory(task, m_Shape, workspace)
    , m_Slices(static_cast<Words *>(m_Memory.slices))
    , m_LevelBits(LevelBits(task))
    , m_RowBits(RowBits(task))
  {}

  void
  Compute()
  {
    std::memset(m_Memory.levels, 0, static_cast<std::size_t>(m_Shape.inputVoxels + inputSlack) * sizeof(std::uint16_t));
    CopyInput(m_Task, m_Tile, m_Task.levels, m_Shape, m_Memory.levels);
    std::memset(m_Memory.slices, 0, static_cast<std::size_t>(m_Shape.ez) * this->SliceVectors() * sizeof(Words));
    for (int y = 0; y < m_Tile.size[1] + m_Task.window[1] - 1; ++y)
    {
      for (int z = 0; z < m_Tile.size[2] + m_Task.window[2] - 1; ++z)
      {
        for (int x = 0; x < m_Tile.size[0]; x += width)
        {
          this->AddRow(x, y, z);
        }
      }
      const int outputRow = y - m_Task.window[1] + 1;
      for (int z = 0; z < m_Tile.size[2] && outputRow >= 0; ++z)
      {
        m_Tile.checkAbort(m_Tile.execution);
        for (int x = 0; x < m_Tile.size[0]; x += width)
        {
          this->ComputeVector(x, outputRow, z);
        }
      }
    }
  }

private:
  using Words = typename TKind::Words;
  using Element = typename TKind::Element;
  using Elements = typename TKind::Elements;
  using Levels = typename ElementVector<Element>::Levels;
  static constexpr int width = static_cast<int>(sizeof(Elements) / sizeof(Element)); // windows of a vector
  static_assert(blockVoxels % width == 0, "rows are whole vectors");
  static_assert(width <= maxVectorWindows && sizeof(Elements) <= maxVectorBytes, "the workspace is large enough");

  std::size_t
  SliceVectors() const
  {
    return static_cast<std::size_t>(m_Shape.nx / width * (m_LevelBits + 1));
  }
  /** The words of a slice of the windows from x on: of its voxels, then of the bits of their levels. */
  Words *
  SliceAt(int x, int z) const
  {
    return m_Slices + static_cast<std::size_t>(z) * this->SliceVectors() +
           static_cast<std::size_t>(x / width * (m_LevelBits + 1));
  }

  /** Let the slices of the windows from x on move by a row, which becomes their last one. */
  void
  AddRow(int x, int y, int z)
  {
    const int                   place = m_RowBits * (m_Task.window[1] - 1);
    const std::uint16_t * const levels = m_Memory.levels + m_Shape.InputOffset(x, y, z);
    Words * const               slice = this->SliceAt(x, z);
    for (int b = 0; b <= m_LevelBits; ++b)
    {
      slice[b] = slice[b] >> m_RowBits;
    }
    for (int i = 0; i < m_Task.window[0]; ++i)
    {
      const Elements level = Widen(Load<Levels>(levels + i));
      const Elements present = ~ZeroMask(level) & Element{ 1 };
      const Elements index = level - Element{ 1 };
      slice[0] = slice[0] | TKind::Place(present, place + i);
      for (int b = 0; b < m_LevelBits; ++b)
      {
        slice[b + 1] = slice[b + 1] | TKind::Place((index >> b) & present, place + i);
      }
    }
  }

  static Elements
  Widen(Levels levels)
  {
#if defined(VOXELMAPS_VECTOR_TYPES)
    return __builtin_convertvector(levels, Elements);
#else
    return levels;
#endif
  }

  void
  ComputeVector(int x, int y, int z)
  {
    const int                   windows = m_Tile.size[0] - x < width ? m_Tile.size[0] - x : width;
    const std::uint16_t * const own =
      m_Memory.levels + m_Shape.InputOffset(x + m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2]);
    Element computed[width] = {};
    bool    isAny = false;
    for (int i = 0; i < windows; ++i)
    {
      const bool isComputed = own[i] != 0 && m_Task.IsSelected(OutputVoxel(m_Task, m_Tile, x + i, y, z));
      computed[i] = isComputed ? ~Element{ 0 } : Element{ 0 };
      isAny = isAny || isComputed;
    }
    int zoneCounts[width] = {};
    if (isAny)
    {
      this->FillZones(this->SliceAt(x, z), TKind::From(Load<Elements>(computed)), zoneCounts);
    }
    for (int i = 0; i < windows; ++i)
    {
      m_Tile.finish(m_Tile.matrix,
                    OutputVoxel(m_Task, m_Tile, x + i, y, z),
                    m_Memory.zones + i * m_Task.windowVoxels,
                    zoneCounts[i]);
    }
  }

  /** List the zones of the windows of a vector, level by level. */
  void
  FillZones(const Words * slices, Words computed, int (&zoneCounts)[width])
  {
    const Elements zero{};
    const Words    none = TKind::From(zero);
    const Words    across = TKind::From(zero + (m_Task.connectsSlices ? ~Element{ 0 } : Element{ 0 }));
    const Words *  slice[VSlices];
    Words          left[VSlices];  // voxels whose zone is not known yet
    Words          same[VSlices];  // those of the level of the current zone
    Words          zone[VSlices];  // the current zone
    Words          grown[VSlices]; // the zone and its neighbors in the slice
    Element        words[VSlices][TKind::parts][width];
    Element        levels[width] = {};
    Elements       level{};
    for (int s = 0; s < VSlices; ++s)
    {
      slice[s] = slices + static_cast<std::size_t>(s < m_Task.window[2] ? s : 0) * this->SliceVectors();
      left[s] = s < m_Task.window[2] ? slice[s][0] & computed : none;
      same[s] = none;
      zone[s] = none;
    }
    for (;;)
    {
      for (int s = 0; s < VSlices; ++s)
      {
        const Words inRow = zone[s] | (zone[s] << 1) | (zone[s] >> 1);
        grown[s] = inRow | (inRow << m_RowBits) | (inRow >> m_RowBits);
      }
      Words changes = none;
      for (int s = 0; s < VSlices; ++s)
      {
        const Words below = s > 0 ? grown[s > 0 ? s - 1 : 0] : none;
        const Words above = s + 1 < VSlices ? grown[s + 1 < VSlices ? s + 1 : s] : none;
        const Words next = (grown[s] | ((below | above) & across)) & same[s];
        changes = changes | (next ^ zone[s]);
        zone[s] = next;
      }
      const Elements done = ZeroMask(TKind::Any(changes));
      if (MaskBits<Element>(done) == 0)
      {
        continue;
      }

      Words hasZone = none;
      for (int s = 0; s < VSlices; ++s)
      {
        hasZone = hasZone | zone[s];
      }
      std::memcpy(words, zone, sizeof(words));
      for (std::uint32_t found = MaskBits<Element>(done & ~ZeroMask(TKind::Any(hasZone))); found != 0;
           found &= found - 1)
      {
        const int     i = LowestBit(found);
        std::uint32_t size = 0;
        for (int s = 0; s < VSlices; ++s)
        {
          for (int part = 0; part < TKind::parts; ++part)
          {
            size += NumberOfBits(words[s][part][i]);
          }
        }
        m_Memory.zones[i * m_Task.windowVoxels + zoneCounts[i]++] =
          MakeZone(static_cast<std::uint32_t>(levels[i]), size);
      }

      // Begin the next zone with the first voxel of the same level, or of all.
      const Words isDone = TKind::From(done);
      Words       hasSame = none;
      for (int s = 0; s < VSlices; ++s)
      {
        const Words rest = ~(zone[s] & isDone);
        left[s] = left[s] & rest;
        same[s] = same[s] & rest;
        hasSame = hasSame | same[s];
      }
      const Elements changesLevel = done & ZeroMask(TKind::Any(hasSame));
      const Words    newLevels = TKind::From(changesLevel);
      Elements       isFree = done;
      Words          hasAny = none;
      for (int s = 0; s < VSlices; ++s)
      {
        const Words candidates = same[s] | (left[s] & newLevels);
        const Words seed = TKind::LowestBit(candidates) & TKind::From(isFree);
        isFree &= ZeroMask(TKind::Any(candidates));
        zone[s] = (zone[s] & ~isDone) | seed;
        hasAny = hasAny | zone[s];
      }
      if (MaskBits<Element>(~ZeroMask(TKind::Any(hasAny))) == 0)
      {
        return;
      }
      if (MaskBits<Element>(changesLevel) != 0)
      {
        Words    sameLevel[VSlices];
        Elements newLevel{};
        for (int s = 0; s < VSlices; ++s)
        {
          sameLevel[s] = left[s];
        }
        for (int b = 0; b < m_LevelBits; ++b)
        {
          Words bit = none;
          for (int s = 0; s < VSlices; ++s)
          {
            bit = bit | (slice[s][b + 1] & zone[s]);
          }
          const Elements isSet = ~ZeroMask(TKind::Any(bit));
          newLevel |= isSet & (Element{ 1 } << b);
          const Words wordsAreSet = TKind::From(isSet);
          for (int s = 0; s < VSlices; ++s)
          {
            sameLevel[s] = sameLevel[s] & ~(slice[s][b + 1] ^ wordsAreSet);
          }
        }
        for (int s = 0; s < VSlices; ++s)
        {
          same[s] = (same[s] & ~newLevels) | (sameLevel[s] & newLevels);
        }
        level = (level & ~changesLevel) | ((newLevel + Element{ 1 }) & changesLevel);
        std::memcpy(levels, &level, sizeof(levels));
      }
    }
  }

  const SizeZoneTask &     m_Task;
  const SizeZoneTile &     m_Tile;
  const TileShape          m_Shape;
  const SizeZoneTileMemory m_Memory;
  Words * const            m_Slices;
  const int                m_LevelBits;
  const int                m_RowBits;
};

template <typename TKind>
inline void
ComputeWordTile(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace)
{
  const int slices = task.window[2];
  if (slices == 1)
  {
    SizeZoneTileComputer<TKind, 1>(task, tile, workspace).Compute();
  }
  else if (slices <= 3)
  {
    SizeZoneTileComputer<TKind, 3>(task, tile, workspace).Compute();
  }
  else if (slices <= 5)
  {
    SizeZoneTileComputer<TKind, 5>(task, tile, workspace).Compute();
  }
  else if (slices <= 7)
  {
    SizeZoneTileComputer<TKind, 7>(task, tile, workspace).Compute();
  }
  else
  {
    SizeZoneTileComputer<TKind, maxWordSlices>(task, tile, workspace).Compute();
  }
}
} // namespace

void
ComputeSizeZoneTile(const SizeZoneTask & task, const SizeZoneTile & tile, void * workspace)
{
  if (SlicesFitWords(task, 32))
  {
    ComputeWordTile<SimpleWords<std::uint32_t>>(task, tile, workspace);
  }
  else if (SlicesFitWords(task, 64))
  {
    ComputeWordTile<SimpleWords<std::uint64_t>>(task, tile, workspace);
  }
  else
  {
    ComputeWordTile<DoubleWords>(task, tile, workspace);
  }
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
