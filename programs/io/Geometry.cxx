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
#include "Geometry.h"

#include "Text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace ProgramIO
{
namespace
{
template <typename T>
std::string
DescribeDifference(const std::string & mask, const char * what, const T & ofMask, const T & ofImage)
{
  return mask + " has " + what + " " + ToText(ofMask) + ", the image " + ToText(ofImage);
}
} // namespace

std::string
ToText(double number)
{
  std::array<char, 32> text{};
  const auto           result = std::to_chars(text.data(), text.data() + text.size(), number);
  return { text.data(), result.ptr };
}

std::string
ToText(const std::vector<double> & numbers)
{
  std::vector<std::string> texts;
  for (const double number : numbers)
  {
    texts.push_back(ToText(number));
  }
  return "[" + Join(texts, ", ") + "]";
}

std::string
ToText(const std::vector<itk::SizeValueType> & numbers)
{
  return "[" + Join(numbers, ", ") + "]";
}

std::string
ToText(const std::vector<std::vector<double>> & rows)
{
  std::vector<std::string> texts;
  for (const auto & row : rows)
  {
    const auto text = ToText(row);
    texts.push_back(text.substr(1, text.size() - 2));
  }
  return "[" + Join(texts, "; ") + "]";
}

bool
IsClose(const std::vector<double> & a, const std::vector<double> & b, double tolerance)
{
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    if (!(std::abs(a[i] - b.at(i)) <= tolerance))
    {
      return false;
    }
  }
  return a.size() == b.size();
}

bool
IsClose(const std::vector<std::vector<double>> & a, const std::vector<std::vector<double>> & b, double tolerance)
{
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    if (!IsClose(a[i], b.at(i), tolerance))
    {
      return false;
    }
  }
  return a.size() == b.size();
}

std::string
FindDifference(const std::string & mask, const Geometry & maskGeometry, const Geometry & image, double tolerance)
{
  const double coordinateTolerance = tolerance * std::abs(image.spacing.at(0));
  if (maskGeometry.size != image.size)
  {
    return DescribeDifference(mask, "size", maskGeometry.size, image.size);
  }
  if (!IsClose(maskGeometry.spacing, image.spacing, coordinateTolerance))
  {
    return DescribeDifference(mask, "spacing", maskGeometry.spacing, image.spacing);
  }
  if (!IsClose(maskGeometry.origin, image.origin, coordinateTolerance))
  {
    return DescribeDifference(mask, "origin", maskGeometry.origin, image.origin);
  }
  if (!IsClose(maskGeometry.direction, image.direction, tolerance))
  {
    return DescribeDifference(mask, "direction", maskGeometry.direction, image.direction);
  }
  return "";
}
} // namespace ProgramIO
