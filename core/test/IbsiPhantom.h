// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef IbsiPhantom_h
#define IbsiPhantom_h

#include <cstdio>
#include <cstdlib>
#include <vector>

/** Digital phantom of the Image Biomarker Standardisation Initiative, theibsi/data_sets, CC-BY-4.0. */
namespace IbsiPhantom
{
constexpr unsigned int phantomSize[3] = { 5, 4, 4 };

// clang-format off
const std::vector<short> phantomImage{
  1, 4, 4, 1, 1, //
  1, 4, 6, 1, 1, //
  4, 1, 6, 4, 1, //
  4, 4, 6, 4, 1, //
  1, 4, 4, 1, 1, //
  1, 1, 6, 1, 1, //
  1, 1, 3, 1, 1, //
  4, 4, 6, 1, 1, //
  1, 4, 4, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 9, 1, 1, //
  1, 1, 6, 1, 1, //
  1, 4, 4, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 6, 1, 1 //
};

const std::vector<unsigned char> phantomMask{
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  0, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 0, 0, //
  1, 1, 1, 1, 1, //
  1, 1, 0, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 0, 0, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1, //
  1, 1, 1, 1, 1 //
};
// clang-format on

/** Published values have three significant digits. */
inline double
RoundTo3Digits(double value)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return std::strtod(text, nullptr);
}
} // namespace IbsiPhantom

#endif // IbsiPhantom_h
