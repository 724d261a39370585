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
#ifndef Text_h
#define Text_h

// Texts for the user.

#include <exception>
#include <sstream>
#include <string>

namespace ProgramIO
{
/** The message of an exception on one line of at most 300 characters, without the class and address of the ITK object
 * that threw it. */
std::string
GetOneLineMessage(const std::exception & error);

/** "4,4" for the values 4 and 4. */
template <typename TValues>
std::string
Join(const TValues & values, const char * separator = ",")
{
  std::ostringstream text;
  const char *       before = "";
  for (const auto & value : values)
  {
    text << before << value;
    before = separator;
  }
  return text.str();
}

} // namespace ProgramIO

#endif // Text_h
