// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaNumberKey_h
#define CudaNumberKey_h

#include <cstring>

namespace voxelmaps
{
/** Keys of numbers have their order: devices have atomic minima of integers only. */
using NumberKey = unsigned long long;
// The key of a NaN; all bytes are the same, so that cudaMemset can write it.
constexpr NumberKey noNumberKey = ~NumberKey{ 0 };

#if defined(__CUDACC__)
/** Key of a number, which must not be NaN. */
inline __device__ NumberKey
ToNumberKey(double number)
{
  constexpr NumberKey signBit = NumberKey{ 1 } << 63;
  const auto          bits = static_cast<NumberKey>(__double_as_longlong(number));
  return (bits & signBit) != 0 ? ~bits : bits | signBit;
}
#endif

inline double
FromNumberKey(NumberKey key)
{
  constexpr NumberKey signBit = NumberKey{ 1 } << 63;
  const NumberKey     bits = (key & signBit) != 0 ? key & ~signBit : ~key;
  double              number;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}
} // namespace voxelmaps

#endif // CudaNumberKey_h
