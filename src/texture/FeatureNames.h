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
#ifndef FeatureNames_h
#define FeatureNames_h

#include <cctype>
#include <string>

// Names of features, for the enumerations of texture classes.
namespace itk
{
namespace voxelmaps
{
inline bool
EqualIgnoringCase(const std::string & a, const char * b)
{
  std::size_t i = 0;
  for (; i < a.size() && b[i] != '\0'; ++i)
  {
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
    {
      return false;
    }
  }
  return i == a.size() && b[i] == '\0';
}
} // namespace voxelmaps
} // namespace itk

#endif // FeatureNames_h
