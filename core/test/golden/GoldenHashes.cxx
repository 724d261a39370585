// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "TestedProcessor.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

namespace VoxelMapsGolden
{
namespace
{
constexpr std::size_t maxFailures = 10;

const std::map<std::string, std::uint64_t> goldenHashes{
#include "GoldenHashes.inc"
};

std::string
ToText(std::uint64_t hash)
{
  char text[32];
  std::snprintf(text, sizeof(text), "0x%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/** The new list; null if hashes are to be compared. Results of CUDA are never written. */
std::ofstream *
GetNewList()
{
  const char * const   path = VoxelMapsTest::IsCudaTest() ? nullptr : std::getenv("VOXELMAPS_GOLDEN_UPDATE");
  static std::ofstream list(path != nullptr ? path : "");
  return path != nullptr ? &list : nullptr;
}
} // namespace

std::uint64_t
Hash(const void * data, std::size_t bytes, std::uint64_t hash)
{
  const auto * const values = static_cast<const unsigned char *>(data);
  for (std::size_t i = 0; i < bytes; ++i)
  {
    hash = (hash ^ values[i]) * 0x100000001b3;
  }
  return hash;
}

GoldenGroup::~GoldenGroup()
{
  std::size_t rows = 0;
  for (const auto & row : goldenHashes)
  {
    rows += row.first.compare(0, m_Name.size() + 1, m_Name + "/") == 0 ? 1 : 0;
  }
  if (GetNewList() == nullptr)
  {
    EXPECT_EQ(rows, m_NumberOfCases) << "cases of " << m_Name << " in the list, and in the test";
  }
  EXPECT_LE(m_NumberOfFailures, maxFailures) << "failures in " << m_Name << " in all";
}

std::string
GoldenGroup::NextCase()
{
  m_Case = m_Name + "/" + std::to_string(m_NumberOfCases++);
  m_IsExpectedKnown = false;
  if (GetNewList() == nullptr)
  {
    const auto row = goldenHashes.find(m_Case);
    EXPECT_TRUE(row != goldenHashes.end()) << m_Case << " is not in the list";
    m_IsExpectedKnown = row != goldenHashes.end();
    m_Expected = m_IsExpectedKnown ? row->second : 0;
  }
  return m_Case;
}

void
GoldenGroup::Check(const std::string & variant, std::uint64_t hash)
{
  if (!m_IsExpectedKnown)
  {
    m_Expected = hash;
    m_IsExpectedKnown = true;
    if (std::ofstream * const list = GetNewList())
    {
      *list << "{ \"" << m_Case << "\", " << ToText(hash) << " },\n" << std::flush;
    }
  }
  if (hash != m_Expected && ++m_NumberOfFailures <= maxFailures)
  {
    ADD_FAILURE() << m_Case << ", " << variant << ": " << ToText(hash) << " instead of " << ToText(m_Expected);
  }
}
} // namespace VoxelMapsGolden
