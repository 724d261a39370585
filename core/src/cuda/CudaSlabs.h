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
#ifndef CudaSlabs_h
#define CudaSlabs_h

#include <algorithm>
#include <cstdint>
#include <optional>

namespace voxelmaps
{
/** Call attempt(size) with a size, then with half of it, and so on down to minSize, until its result, a std::optional
 * or a bool, is not empty or false; returns the last result. */
template <typename TAttempt>
auto
HalveUntilItFits(std::int64_t size, std::int64_t minSize, const TAttempt & attempt) -> decltype(attempt(size))
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

#endif // CudaSlabs_h
