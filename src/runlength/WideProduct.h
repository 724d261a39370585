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
#ifndef WideProduct_h
#define WideProduct_h

#include <cstdint>

namespace itk
{
namespace voxelmaps
{
/** Upper 64 bits of a 64 x 64 bit product. */
inline std::uint64_t
MultiplyHigh(std::uint64_t a, std::uint64_t b)
{
#if defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
  const std::uint64_t aLow = a & 0xffffffffu;
  const std::uint64_t aHigh = a >> 32;
  const std::uint64_t bLow = b & 0xffffffffu;
  const std::uint64_t bHigh = b >> 32;
  const std::uint64_t middle = aHigh * bLow + ((aLow * bLow) >> 32);
  const std::uint64_t middle2 = aLow * bHigh + (middle & 0xffffffffu);
  return aHigh * bHigh + (middle >> 32) + (middle2 >> 32);
#endif
}
} // namespace voxelmaps
} // namespace itk

#endif // WideProduct_h
