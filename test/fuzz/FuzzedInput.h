// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzedInput_h
#define FuzzedInput_h

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

namespace VoxelMapsFuzz
{
/** Values drawn from the bytes of an input, as LLVM's FuzzedDataProvider draws them: the stored inputs rely on it. That
 * header comes with Clang only, but the stored inputs are tested with every compiler. */
class FuzzedInput
{
public:
  FuzzedInput(const std::uint8_t * data, std::size_t size)
    : m_Data(data)
    , m_Size(size)
  {}

  /** A number from the last bytes; min if no bytes are left. */
  template <typename T>
  T
  ConsumeIntegralInRange(T min, T max)
  {
    static_assert(std::is_integral<T>::value && sizeof(T) <= sizeof(std::uint64_t), "consumes integers");
    if (min > max)
    {
      std::abort();
    }
    const std::uint64_t range = static_cast<std::uint64_t>(max) - static_cast<std::uint64_t>(min);
    std::uint64_t       result = 0;
    for (std::size_t offset = 0; offset < sizeof(T) * CHAR_BIT && (range >> offset) > 0 && m_Size > 0;
         offset += CHAR_BIT)
    {
      result = (result << CHAR_BIT) | m_Data[--m_Size];
    }
    if (range != std::numeric_limits<std::uint64_t>::max())
    {
      result %= range + 1;
    }
    return static_cast<T>(static_cast<std::uint64_t>(min) + result);
  }

  template <typename T>
  T
  ConsumeIntegral()
  {
    return this->ConsumeIntegralInRange(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }

  bool
  ConsumeBool()
  {
    return (this->ConsumeIntegral<std::uint8_t>() & 1) != 0;
  }

  template <typename T, std::size_t VSize>
  T
  PickValueInArray(const T (&values)[VSize])
  {
    return values[this->ConsumeIntegralInRange<std::size_t>(0, VSize - 1)];
  }

  template <typename T>
  T
  PickValueInArray(std::initializer_list<const T> values)
  {
    return *(values.begin() + this->ConsumeIntegralInRange<std::size_t>(0, values.size() - 1));
  }

  template <typename T>
  std::vector<T>
  ConsumeRemainingBytes()
  {
    static_assert(sizeof(T) == 1, "consumes bytes");
    const std::vector<T> bytes(m_Data, m_Data + m_Size);
    m_Size = 0;
    return bytes;
  }

private:
  const std::uint8_t * m_Data;
  std::size_t          m_Size;
};
} // namespace VoxelMapsFuzz

#endif // FuzzedInput_h
