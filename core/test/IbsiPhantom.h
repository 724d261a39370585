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
