// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RetryWithSmallerSize_h
#define RetryWithSmallerSize_h

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
/** Call attempt(size) with a size, then with half of it, and so on down to minSize, until its result, a std::optional
 * or a bool, is not empty or false; returns the last result. */
template <typename TAttempt>
auto
RetryWithSmallerSize(std::int64_t size, std::int64_t minSize, const TAttempt & attempt) -> decltype(attempt(size))
{
  for (;;)
  {
    auto result = attempt(size);
    if (result || size <= minSize)
    {
      return result;
    }
    size = std::max(size / 2, minSize);
  }
}
} // namespace voxelmaps

#endif // RetryWithSmallerSize_h
