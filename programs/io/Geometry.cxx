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

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

namespace ProgramIO
{
namespace
{
/** "[1, 1, 2.5]". */
std::string
ToText(const std::vector<double> & numbers)
{
  std::vector<std::string> texts;
  for (const double number : numbers)
  {
    texts.push_back(ProgramIO::ToText(number));
  }
  return "[" + Join(texts, ", ") + "]";
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
FindDifference(const std::string & mask, const Geometry & maskGeometry, const Geometry & image, double tolerance)
{
  const double inSpacing = tolerance * std::abs(image.spacing.at(0));
  for (const auto & [what, member, largest] : { std::tuple{ "size", &Geometry::size, 0.0 },
                                                std::tuple{ "spacing", &Geometry::spacing, inSpacing },
                                                std::tuple{ "origin", &Geometry::origin, inSpacing },
                                                std::tuple{ "direction", &Geometry::direction, tolerance } })
  {
    const auto & a = maskGeometry.*member;
    const auto & b = image.*member;
    // NaN is never close.
    const auto isClose = [most = largest](double x, double y) { return std::abs(x - y) <= most; };
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), isClose))
    {
      return mask + " has " + what + " " + ToText(a) + ", the image " + ToText(b);
    }
  }
  return "";
}
} // namespace ProgramIO
