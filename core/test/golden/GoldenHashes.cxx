// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "GoldenHashes.h"
#include "TestedProcessor.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>

namespace VoxelMapsGolden
{
namespace
{
constexpr std::size_t maxFailures = 10;

/** Hashes of the cases of each group. */
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

GoldenGroup::GoldenGroup(std::string name)
  : m_Name(std::move(name))
{
  const auto row = goldenHashes.find(m_Name);
  if (GetNewList() == nullptr && row != goldenHashes.end())
  {
    m_Hashes = row->second;
  }
}

GoldenGroup::~GoldenGroup()
{
  EXPECT_EQ(m_Hashes.size(), m_NumberOfCases) << "cases of " << m_Name << " in the list, and in the test";
  EXPECT_LE(m_NumberOfFailures, maxFailures) << "failures in " << m_Name << " in all";
  if (std::ofstream * const list = GetNewList())
  {
    *list << "{ \"" << m_Name << "\", {";
    const char * separator = " ";
    for (const std::uint64_t hash : m_Hashes)
    {
      *list << separator << ToText(hash);
      separator = ", ";
    }
    *list << " } },\n" << std::flush;
  }
}

std::string
GoldenGroup::NextCase()
{
  m_Case = m_Name + "/" + std::to_string(m_NumberOfCases++);
  EXPECT_TRUE(GetNewList() != nullptr || m_NumberOfCases <= m_Hashes.size()) << m_Case << " is not in the list";
  return m_Case;
}

void
GoldenGroup::Check(const std::string & variant, std::uint64_t hash)
{
  if (m_Hashes.size() < m_NumberOfCases)
  {
    m_Hashes.push_back(hash);
  }
  const std::uint64_t expected = m_Hashes.at(m_NumberOfCases - 1);
  if (hash != expected && ++m_NumberOfFailures <= maxFailures)
  {
    ADD_FAILURE() << m_Case << ", " << variant << ": " << ToText(hash) << " instead of " << ToText(expected);
  }
}
} // namespace VoxelMapsGolden
