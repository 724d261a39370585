// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef VoxelMapsTestUtilities_h
#define VoxelMapsTestUtilities_h

#include "voxelmaps/Job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace VoxelMapsTest
{
/** Draws from an engine of 64 bits that are the same with every standard library. */
template <typename TEngine>
class DrawsFrom
{
public:
  explicit DrawsFrom(std::uint64_t seed)
    : m_Engine(seed)
  {}

  /** 0 ... count - 1 */
  std::int64_t
  Below(std::int64_t count)
  {
    return static_cast<std::int64_t>(m_Engine() % static_cast<std::uint64_t>(count));
  }

  /** first ... last */
  std::int64_t
  Between(std::int64_t first, std::int64_t last)
  {
    return first + this->Below(last - first + 1);
  }

  bool
  Chance(double probability)
  {
    return static_cast<double>(this->Below(1 << 20)) < probability * (1 << 20);
  }

  template <typename T>
  const T &
  OneOf(const std::vector<T> & choices)
  {
    return choices[static_cast<std::size_t>(this->Below(static_cast<std::int64_t>(choices.size())))];
  }

  template <typename T>
  void
  Shuffle(std::vector<T> & values)
  {
    for (std::size_t i = values.size(); i > 1; --i)
    {
      std::swap(values[i - 1], values[static_cast<std::size_t>(this->Below(static_cast<std::int64_t>(i)))]);
    }
  }

private:
  TEngine m_Engine;
};
using RandomNumbers = DrawsFrom<std::mt19937_64>;

/** Whether two vectors have the same bits; unlike ==, this holds for NaN and tells 0 from -0. */
template <typename T>
bool
HasSameBits(const std::vector<T> & a, const std::vector<T> & b)
{
  static_assert(std::is_arithmetic<T>::value, "compares numbers");
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/** Whether a text contains a word that is not a part of a longer word or number: "0" is not in "10" or "0.5". */
inline bool
ContainsWord(const std::string & text, const std::string & word)
{
  const auto isWordCharacter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
  {
    const std::size_t end = at + word.size();
    const bool        beginsWord =
      at == 0 || (!isWordCharacter(text[at - 1]) && !(text[at - 1] == '.' && at > 1 && isWordCharacter(text[at - 2])));
    const bool endsWord =
      end == text.size() ||
      (!isWordCharacter(text[end]) && !(text[end] == '.' && end + 1 < text.size() && isWordCharacter(text[end + 1])));
    if (beginsWord && endsWord)
    {
      return true;
    }
  }
  return false;
}

/** The message of the EngineError that a call throws. */
template <typename TCall>
std::string
GetErrorMessage(const TCall & call)
{
  try
  {
    call();
  }
  catch (const voxelmaps::EngineError & error)
  {
    return error.what();
  }
  return "no error";
}

/** Expect that a call throws an EngineError whose message contains all of these words or phrases. */
template <typename TCall>
void
ExpectEngineError(const TCall & call, const std::vector<std::string> & words)
{
  const std::string message = GetErrorMessage(call);
  for (const std::string & word : words)
  {
    EXPECT_TRUE(ContainsWord(message, word)) << word << " is missing in: " << message;
  }
}

/** What tests throw to end a job. */
struct Aborted
{};

/** A value as an output stream prints it. */
template <typename T>
std::string
Print(const T & value)
{
  std::ostringstream text;
  text << value;
  return text.str();
}

/** The position of a voxel with a number, x fastest. */
inline std::array<std::int64_t, 3>
GetPosition(std::int64_t number, const std::array<std::int64_t, 3> & size)
{
  return { { number % size[0], number / size[0] % size[1], number / size[0] / size[1] } };
}

/** Offsets of the neighbors at a distance of up to 1, or more, in a plane or a volume, one of each two opposite ones.
 */
inline std::vector<std::array<std::int64_t, 3>>
GetNeighborOffsets(bool isVolume, std::int64_t distance = 1)
{
  std::vector<std::array<std::int64_t, 3>> offsets;
  const std::int64_t                       side = 2 * distance + 1;
  const std::int64_t                       planes = isVolume ? side : distance + 1;
  for (std::int64_t i = side * side * side / 2 + 1; i < side * side * planes; ++i)
  {
    offsets.push_back({ { i % side - distance, i / side % side - distance, i / (side * side) - distance } });
  }
  return offsets;
}

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

/** Workers one after another, the last one first. */
inline void
RunBackward(unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body)
{
  while (numberOfWorkers-- > 0)
  {
    body(numberOfWorkers);
  }
}

/** Workers as real threads, whatever the number of processors; passes an exception on. */
inline void
RunThreads(unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body)
{
  std::vector<std::thread>        threads;
  std::vector<std::exception_ptr> errors(numberOfWorkers);
  for (unsigned int worker = 0; worker < numberOfWorkers; ++worker)
  {
    threads.emplace_back([&body, &errors, worker] {
      try
      {
        body(worker);
      }
      catch (...)
      {
        errors[worker] = std::current_exception();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (const std::exception_ptr & error : errors)
  {
    if (error)
    {
      std::rethrow_exception(error);
    }
  }
}
} // namespace VoxelMapsTest

#endif // VoxelMapsTestUtilities_h
