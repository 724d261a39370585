// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
