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
