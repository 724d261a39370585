// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GoldenHashes_h
#define GoldenHashes_h

#include "VoxelMapsTestUtilities.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Fixed cases whose results must never change: their hashes are in GoldenHashes.inc, compiled into the tests.
//
// VOXELMAPS_GOLDEN_UPDATE=<file> VoxelMapsCoreGoldenTests writes a new list. Every method, instruction set and number
// of workers must still agree. To renew the list means that results differ from those of earlier versions, which needs
// a reason in CHANGELOG.md; new cases only add hashes.
namespace VoxelMapsGolden
{
/** FNV-1a of 64 bits; the hash of several pieces begins with that of the pieces before. */
constexpr std::uint64_t emptyHash = 0xcbf29ce484222325;

std::uint64_t
Hash(const void * data, std::size_t bytes, std::uint64_t hash = emptyHash);

template <typename T>
std::uint64_t
Hash(const std::vector<T> & values, std::uint64_t hash = emptyHash)
{
  return Hash(values.data(), values.size() * sizeof(T), hash);
}

/** Bytes around every output, and what they and the output hold before. */
constexpr std::size_t   guardBytes = 64;
constexpr unsigned char poison = 0xa5;

/** An output of so many bytes between guards, which are hashed as well. */
inline std::vector<unsigned char>
MakeGuardedBuffer(std::size_t bytes)
{
  return std::vector<unsigned char>(bytes + 2 * guardBytes, poison);
}

/** Splitmix64, and nothing but integers: the same draws with every compiler and library. */
struct Splitmix64
{
  std::uint64_t state;

  explicit Splitmix64(std::uint64_t seed)
    : state(seed)
  {}
  std::uint64_t
  operator()()
  {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

class Draws : public VoxelMapsTest::DrawsFrom<Splitmix64>
{
public:
  /** The name of a case decides its draws, so that cases do not depend on each other. */
  explicit Draws(const std::string & name)
    : DrawsFrom(Hash(name.data(), name.size()))
  {}

  bool
  Percent(std::int64_t percent)
  {
    return this->Below(100) < percent;
  }
};

/** Compares hashes of a group of cases, whose names begin with that of the group, with those of the list. */
class GoldenGroup
{
public:
  explicit GoldenGroup(std::string name);

  /** Expects that all hashes of the group have been compared, or writes the new ones. */
  ~GoldenGroup();

  GoldenGroup(const GoldenGroup &) = delete;
  GoldenGroup &
  operator=(const GoldenGroup &) = delete;

  /** Name of the next case: group/number. */
  std::string
  NextCase();

  /** Compare a result of the present case. When the list is renewed, the first result is the one to be written. */
  void
  Check(const std::string & variant, std::uint64_t hash);

private:
  std::string                m_Name;
  std::string                m_Case;
  std::vector<std::uint64_t> m_Hashes;
  std::size_t                m_NumberOfCases{ 0 };
  std::size_t                m_NumberOfFailures{ 0 };
};
} // namespace VoxelMapsGolden

#endif // GoldenHashes_h
