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
#ifndef VoxelMapsTestUtilities_h
#define VoxelMapsTestUtilities_h

#include "itkDataObject.h"
#include "itkImage.h"
#include "itkMacro.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
/** Random numbers that are the same with every standard library. */
class RandomNumbers
{
public:
  explicit RandomNumbers(std::uint64_t seed)
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
  std::mt19937_64 m_Engine;
};

/** An image of these pixels, x fastest. */
template <typename TImage>
typename TImage::Pointer
MakeImage(const typename TImage::SizeType & size, const std::vector<typename TImage::PixelType> & pixels,
          const typename TImage::IndexType & start = typename TImage::IndexType{ {} })
{
  auto image = TImage::New();
  image->SetRegions(typename TImage::RegionType(start, size));
  image->Allocate();
  EXPECT_EQ(pixels.size(), image->GetBufferedRegion().GetNumberOfPixels());
  std::copy(pixels.begin(), pixels.end(), image->GetBufferPointer());
  return image;
}

/** The pixels of an image's buffer. */
template <typename TImage>
std::vector<typename TImage::InternalPixelType>
GetBuffer(const TImage * image)
{
  const auto * const begin = image->GetBufferPointer();
  const std::size_t  count = image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  return std::vector<typename TImage::InternalPixelType>(begin, begin + count);
}

/** The pixels of a region inside an image's buffer, all components. */
template <typename TImage>
std::vector<typename TImage::InternalPixelType>
GetBuffer(const TImage * image, const typename TImage::RegionType & region)
{
  std::vector<typename TImage::InternalPixelType> values;
  const auto *                                    buffer = image->GetBufferPointer();
  const std::size_t                               components = image->GetNumberOfComponentsPerPixel();
  for (std::size_t i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    auto        index = region.GetIndex();
    std::size_t rest = i;
    for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
    {
      index[axis] += static_cast<itk::IndexValueType>(rest % region.GetSize(axis));
      rest /= region.GetSize(axis);
    }
    const auto * const pixel = buffer + static_cast<std::size_t>(image->ComputeOffset(index)) * components;
    values.insert(values.end(), pixel, pixel + components);
  }
  return values;
}

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
  const auto isPartOfWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
  {
    const std::size_t end = at + word.size();
    const bool        beginsWord =
      at == 0 || (!isPartOfWord(text[at - 1]) && !(text[at - 1] == '.' && at > 1 && isPartOfWord(text[at - 2])));
    const bool endsWord =
      end == text.size() ||
      (!isPartOfWord(text[end]) && !(text[end] == '.' && end + 1 < text.size() && isPartOfWord(text[end + 1])));
    if (beginsWord && endsWord)
    {
      return true;
    }
  }
  return false;
}

/** Expect an itk::ExceptionObject whose message contains all of these words; "~0.5" may be a part of a longer one. */
template <typename TAction>
void
ExpectError(TAction && action, const std::vector<std::string> & words)
{
  try
  {
    action();
  }
  catch (const itk::ExceptionObject & error)
  {
    std::string message = error.GetDescription();
    // The address of the object is no part of what the message tells.
    const std::size_t prefix = message.find("): ");
    message = prefix == std::string::npos ? message : message.substr(prefix + 3);
    for (const std::string & word : words)
    {
      const bool found =
        word[0] == '~' ? message.find(word.substr(1)) != std::string::npos : ContainsWord(message, word);
      EXPECT_TRUE(found) << "\"" << word << "\" is missing in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "no itk::ExceptionObject";
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

/** Mark a test as unable to go on if an ITK call throws, with the message. */
#define VOXELMAPS_ASSERT_NO_ITK_ERROR(statement)                                                                       \
  try                                                                                                                  \
  {                                                                                                                    \
    statement;                                                                                                         \
  }                                                                                                                    \
  catch (const itk::ExceptionObject & error)                                                                           \
  {                                                                                                                    \
    FAIL() << error.what();                                                                                            \
  }                                                                                                                    \
  static_assert(true, "")
} // namespace VoxelMapsTest

#endif // VoxelMapsTestUtilities_h
