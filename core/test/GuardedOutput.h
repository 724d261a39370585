// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef GuardedOutput_h
#define GuardedOutput_h

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace VoxelMapsTest
{
/** An output between guards; both hold a value, if possible one that is not a result, until something is written. */
template <typename T>
class GuardedOutput
{
public:
  static constexpr std::size_t guard = 64;

  GuardedOutput(std::size_t size, T untouched)
    : values(size + 2 * guard, untouched)
    , m_Untouched(untouched)
  {}

  T *
  data()
  {
    return values.data() + guard;
  }

  /** The output; expect that nothing was written outside of it. */
  std::vector<T>
  Get() const
  {
    const auto isUntouched = [this](T value) { return value == m_Untouched; };
    EXPECT_TRUE(std::all_of(values.begin(), values.begin() + guard, isUntouched)) << "wrote before the output";
    EXPECT_TRUE(std::all_of(values.end() - guard, values.end(), isUntouched)) << "wrote after the output";
    return std::vector<T>(values.begin() + guard, values.end() - guard);
  }

  /** With guards. */
  std::vector<T> values;

private:
  const T m_Untouched;
};
} // namespace VoxelMapsTest

#endif // GuardedOutput_h
