// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FilterPropertyChecks_h
#define FilterPropertyChecks_h

// Checks of setters and of Print() that are the same for all filters.

#include <gtest/gtest.h>

#include <initializer_list>
#include <sstream>
#include <string>

namespace VoxelMapsTest
{
/** A function expectModified(set, modified) that calls set() and expects that it modifies the filter, or does not. */
template <typename TFilter>
auto
MakeModifiedCheck(const TFilter * filter)
{
  return [filter](const auto & set, bool modified) {
    const auto before = filter->GetMTime();
    set();
    EXPECT_EQ(modified, filter->GetMTime() > before);
  };
}

/** Expect that Print() prints all of these texts. */
template <typename TFilter>
void
ExpectPrints(const TFilter * filter, std::initializer_list<std::string> texts)
{
  std::ostringstream out;
  filter->Print(out);
  for (const std::string & text : texts)
  {
    EXPECT_NE(std::string::npos, out.str().find(text)) << text << " is missing in\n" << out.str();
  }
}
} // namespace VoxelMapsTest

#endif // FilterPropertyChecks_h
