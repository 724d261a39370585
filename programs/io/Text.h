// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
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
