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
constexpr std::size_t hashesPerRow = 8;

/** Hashes of successive cases, by the name of the first one. */
const std::map<std::string, std::vector<std::uint64_t>> goldenHashes{
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
  std::size_t cases = 0;
  for (const auto & row : goldenHashes)
  {
    cases += row.first.compare(0, m_Name.size() + 1, m_Name + "/") == 0 ? row.second.size() : 0;
  }
  if (GetNewList() == nullptr)
  {
    EXPECT_EQ(cases, m_NumberOfCases) << "cases of " << m_Name << " in the list, and in the test";
  }
  this->WriteRow();
  EXPECT_LE(m_NumberOfFailures, maxFailures) << "failures in " << m_Name << " in all";
}

std::string
GoldenGroup::NextCase()
{
  const std::size_t inRow = m_NumberOfCases % hashesPerRow;
  const auto        row = goldenHashes.find(m_Name + "/" + std::to_string(m_NumberOfCases - inRow));
  m_Case = m_Name + "/" + std::to_string(m_NumberOfCases++);
  m_IsExpectedKnown = false;
  if (GetNewList() == nullptr)
  {
    m_IsExpectedKnown = row != goldenHashes.end() && inRow < row->second.size();
    EXPECT_TRUE(m_IsExpectedKnown) << m_Case << " is not in the list";
    m_Expected = m_IsExpectedKnown ? row->second[inRow] : 0;
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
    m_NewHashes.push_back(hash);
    if (m_NewHashes.size() == hashesPerRow)
    {
      this->WriteRow();
    }
  }
  if (hash != m_Expected && ++m_NumberOfFailures <= maxFailures)
  {
    ADD_FAILURE() << m_Case << ", " << variant << ": " << ToText(hash) << " instead of " << ToText(m_Expected);
  }
}

void
GoldenGroup::WriteRow()
{
  std::ofstream * const list = GetNewList();
  if (list != nullptr && !m_NewHashes.empty())
  {
    *list << "{ \"" << m_Name << "/" << m_NumberOfCases - m_NewHashes.size() << "\", {";
    const char * separator = " ";
    for (const std::uint64_t hash : m_NewHashes)
    {
      *list << separator << ToText(hash);
      separator = ", ";
    }
    *list << " } },\n" << std::flush;
  }
  m_NewHashes.clear();
}
} // namespace VoxelMapsGolden
