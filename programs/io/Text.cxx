// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Text.h"

#include "itkMacro.h"

#include <algorithm>

namespace ProgramIO
{
namespace
{
/** A text without its middle if it is longer than a user wants to read. */
std::string
Shorten(const std::string & text)
{
  constexpr std::size_t head = 200;
  constexpr std::size_t tail = 95;
  if (text.size() <= head + tail + 5)
  {
    return text;
  }
  // Bytes that continue a character of UTF-8 begin with the bits 10.
  const auto  isContinuation = [&text](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  std::size_t first = head;
  std::size_t last = text.size() - tail;
  while (first > 0 && isContinuation(first))
  {
    --first;
  }
  while (last < text.size() && isContinuation(last))
  {
    ++last;
  }
  return text.substr(0, first) + " ... " + text.substr(last);
}
} // namespace

std::string
GetOneLineMessage(const std::exception & error)
{
  const auto * itkError = dynamic_cast<const itk::ExceptionObject *>(&error);
  std::string  text = itkError ? itkError->GetDescription() : error.what();

  for (const std::string prefix : { "ITK ERROR: ", "itk::ERROR: " })
  {
    if (text.compare(0, prefix.size(), prefix) == 0)
    {
      const auto end = text.find("): ");
      text.erase(0, end == std::string::npos ? prefix.size() : end + 3);
    }
  }

  // Names and contents of files can have characters that a terminal would obey.
  std::replace_if(
    text.begin(),
    text.end(),
    [](unsigned char c) { return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7F; },
    '?');
  std::istringstream words(text);
  std::string        line;
  for (std::string word; words >> word;)
  {
    line += (line.empty() ? "" : " ") + word;
  }
  return Shorten(line);
}
} // namespace ProgramIO
