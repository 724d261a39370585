// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzerUtilities_h
#define FuzzerUtilities_h

#include "FuzzedInput.h"
#include "VoxelMapsTestUtilities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

/** What the fuzz targets share: values drawn from the bytes of an input. */
namespace VoxelMapsFuzz
{
/** Report a broken promise of the library; libFuzzer then stores the input. */
[[noreturn]] inline void
Fail(const std::string & message)
{
  std::cerr << "VoxelMaps: " << message << std::endl;
  std::abort();
}

inline void
Require(bool condition, const char * message)
{
  if (!condition)
  {
    Fail(message);
  }
}

/** 0 or 1, one time in count. */
inline bool
ConsumeOneIn(FuzzedInput & data, std::uint8_t count)
{
  return data.ConsumeIntegralInRange<std::uint8_t>(0, static_cast<std::uint8_t>(count - 1)) == count - 1;
}

/** Any number of an integer type, with those at the ends of its range more often. */
template <typename T>
T
ConsumeAnyInteger(FuzzedInput & data)
{
  using Limits = std::numeric_limits<T>;
  switch (data.ConsumeIntegralInRange<std::uint8_t>(0, 3))
  {
    case 0:
      return static_cast<T>(Limits::max() - data.ConsumeIntegralInRange<T>(0, 3));
    case 1:
      return static_cast<T>(Limits::min() + data.ConsumeIntegralInRange<T>(0, 3));
    case 2:
      return static_cast<T>(data.ConsumeIntegralInRange<std::int8_t>(-3, 3));
    default:
      return data.ConsumeIntegral<T>();
  }
}

/** Any number of an enumeration's type, nearly always one of its count enumerators 0, 1 ... */
template <typename TEnum>
TEnum
ConsumeEnumerator(FuzzedInput & data, std::uint8_t count)
{
  return static_cast<TEnum>(ConsumeOneIn(data, 50) ? data.ConsumeIntegral<std::uint8_t>()
                                                   : data.ConsumeIntegralInRange<std::uint8_t>(0, count - 1));
}

/** Any double: small integers and fractions, numbers at the ends of the range, NaN and infinities, or random bits. */
inline double
ConsumeAnyDouble(FuzzedInput & data)
{
  using Limits = std::numeric_limits<double>;
  switch (data.ConsumeIntegralInRange<std::uint8_t>(0, 5))
  {
    case 0:
    {
      const double special = data.PickValueInArray({ Limits::infinity(),
                                                     Limits::quiet_NaN(),
                                                     Limits::max(),
                                                     Limits::max() / 2,
                                                     Limits::min(),
                                                     Limits::denorm_min(),
                                                     0.0,
                                                     1e-160,
                                                     1e-300,
                                                     1e154,
                                                     1e300,
                                                     9007199254740993.0,
                                                     0x1p63,
                                                     0x1p32 });
      return data.ConsumeBool() ? -special : special;
    }
    case 1:
    {
      const auto bits = data.ConsumeIntegral<std::uint64_t>();
      double     value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    case 2:
      return data.ConsumeIntegral<std::int16_t>() / 256.0;
    case 3:
      return data.ConsumeIntegralInRange<int>(0, 1000) / 1000.0;
    default:
      return data.ConsumeIntegral<std::int8_t>();
  }
}

/** Sizes of an image of few voxels in 2D or 3D, sometimes long along one axis. */
inline std::array<std::int64_t, 3>
ConsumeSmallSize(FuzzedInput & data)
{
  std::array<std::int64_t, 3> size{ { 1, 1, 1 } };
  const auto                  kind = data.ConsumeIntegralInRange<std::uint8_t>(0, 9);
  if (kind == 9)
  {
    size[data.ConsumeIntegralInRange<std::size_t>(0, 2)] = data.ConsumeIntegralInRange<std::int64_t>(1, 400);
    return size;
  }
  const bool is3D = kind > 4;
  for (std::size_t axis = 0; axis < (is3D ? 3 : 2); ++axis)
  {
    size[axis] = data.ConsumeIntegralInRange<std::int64_t>(1, is3D ? 7 : 18);
  }
  return size;
}

/** Those of ConsumeSmallSize, or sometimes of no voxel: then with any other components, since there is no buffer that
 * they would need. */
inline std::array<std::int64_t, 3>
ConsumeSize(FuzzedInput & data)
{
  std::array<std::int64_t, 3> size = ConsumeSmallSize(data);
  if (ConsumeOneIn(data, 16))
  {
    for (std::int64_t & component : size)
    {
      component = ConsumeAnyInteger<std::int64_t>(data);
    }
    size[data.ConsumeIntegralInRange<std::size_t>(0, 2)] = data.ConsumeIntegralInRange<std::int64_t>(-1, 0);
  }
  return size;
}

/** Number of voxels for which a size asks for a buffer. */
inline std::int64_t
CountVoxels(const std::array<std::int64_t, 3> & size)
{
  return std::min({ size[0], size[1], size[2] }) < 1 ? 0 : size[0] * size[1] * size[2];
}

/** Whether a size has so many voxels, of those of the other axes if it is 0 along one, that an engine may refuse it. */
inline bool
IsLarge(const std::array<std::int64_t, 3> & size)
{
  long double voxels = 1;
  for (const std::int64_t component : size)
  {
    voxels *= static_cast<long double>(std::max<std::int64_t>(component, 1));
  }
  return voxels > 0x1p56L;
}

/** One byte for each of count voxels: those that are left of the input, repeated with changes. */
inline std::vector<std::uint8_t>
ConsumeBytesForVoxels(FuzzedInput & data, std::int64_t count)
{
  std::vector<std::uint8_t> given = data.ConsumeRemainingBytes<std::uint8_t>();
  if (given.empty())
  {
    given.push_back(0);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i)
  {
    bytes[i] = static_cast<std::uint8_t>(given[i % given.size()] + i / given.size());
  }
  return bytes;
}

/** A pixel for each byte: as it is, or as a number near the ends of the type's range, as scale tells. The memory has no
 * byte more, so that AddressSanitizer finds what reads behind the last pixel; it is never null. */
template <typename TPixel>
std::vector<char>
MakePixels(const std::vector<std::uint8_t> & bytes, std::uint8_t scale)
{
  using Limits = std::numeric_limits<TPixel>;
  std::vector<char> pixels;
  pixels.reserve(std::max<std::size_t>(bytes.size(), 1) * sizeof(TPixel));
  for (const std::uint8_t byte : bytes)
  {
    const auto value = static_cast<TPixel>(byte % 128);
    const int  kind = scale % 8 == 0 ? byte % 16 : 0;
    TPixel     pixel = value;
    if constexpr (std::is_floating_point<TPixel>::value)
    {
      pixel = kind == 12     ? Limits::quiet_NaN()
              : kind == 15   ? Limits::infinity()
              : scale >= 200 ? static_cast<TPixel>(std::ldexp(value, scale / 8 * 60 - 900))
                             : value;
    }
    else
    {
      pixel = kind == 15 ? static_cast<TPixel>(Limits::max() / 2) : value;
    }
    pixel = kind == 13 ? Limits::max() : kind == 14 ? Limits::lowest() : pixel;
    const char * const begin = reinterpret_cast<const char *>(&pixel);
    pixels.insert(pixels.end(), begin, begin + sizeof(pixel));
  }
  return pixels;
}
} // namespace VoxelMapsFuzz

#endif // FuzzerUtilities_h
