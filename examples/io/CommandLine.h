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
#ifndef CommandLine_h
#define CommandLine_h

// The command line and the main function of the example programs.

#include "Supervisor.h"
#include "Text.h"
#include "itkMultiThreaderBase.h"
#include "itkObject.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ExampleIO
{
/** Accepts decimal numbers in a range. CLI11 2.1 alone reads 010 as 8, and accepts -1 for an unsigned type and numbers
 * that are too large. */
template <typename T>
CLI::Validator
DecimalNumber(T low, T high)
{
  return CLI::Validator(
    [low, high](std::string & text) -> std::string {
      T            value{};
      const char * end = text.data() + text.size();
      const auto   result = std::from_chars(text.data(), end, value);
      if (result.ec == std::errc::result_out_of_range)
      {
        return text + " is out of range";
      }
      if (result.ec != std::errc{} || result.ptr != end)
      {
        const char * kind = std::is_floating_point<T>::value
                              ? "a number"
                              : (std::is_signed<T>::value ? "a whole number" : "a whole number >= 0");
        return "'" + text + "' is not " + kind;
      }
      if (!(value >= low && value <= high))
      {
        std::ostringstream message;
        message << text << " is not from " << low << " to " << high;
        return message.str();
      }
      if constexpr (std::is_integral<T>::value)
      {
        text = std::to_string(value);
      }
      return {};
    },
    "");
}

/** The number type of a number, an optional number, a list of numbers, or a list of lists. */
template <typename T>
struct NumberIn
{
  using Type = T;
};
template <typename T>
struct NumberIn<std::optional<T>> : NumberIn<T>
{};
template <typename T>
struct NumberIn<std::vector<T>> : NumberIn<T>
{};

/** Add an option whose value is a number, or a list of numbers separated by commas. */
template <typename T, typename TNumber = typename NumberIn<T>::Type>
CLI::Option *
AddNumbers(CLI::App & app, const std::string & name, T & value, const std::string & typeName,
           const std::string & description, TNumber low = std::numeric_limits<TNumber>::lowest(),
           TNumber high = std::numeric_limits<TNumber>::max())
{
  return app.add_option(name, value, description)
    ->type_name(typeName)
    ->delimiter(',')
    ->allow_extra_args(false)
    ->transform(DecimalNumber<TNumber>(low, high));
}

/** Add an option whose value is the name of a file. */
inline CLI::Option *
AddFile(CLI::App & app, const std::string & name, std::string & value, const std::string & description)
{
  // An empty variable of a shell script must not mean that there is no mask.
  return app.add_option(name, value, description)
    ->type_name("FILE")
    ->check(CLI::Validator(
      [](const std::string & text) { return text.empty() ? std::string("the name of the file is empty") : ""; }, ""));
}

/** Copy the numbers of an option to an array of the same size. */
template <typename T, typename TArray>
void
CopyNumbers(const std::string & option, const std::vector<T> & values, TArray & array, const std::string & whyCount)
{
  if (values.size() != static_cast<std::size_t>(std::distance(array.begin(), array.end())))
  {
    throw std::runtime_error(option + ": '" + Join(values) + "' has " + std::to_string(values.size()) +
                             " entries, but " + whyCount);
  }
  std::copy(values.begin(), values.end(), array.begin());
}

/** Add the option --threads, which sets the number of threads of all filters, and the flags --quiet and --verbose. */
inline void
AddRunOptions(CLI::App & app, bool & isQuiet)
{
  app
    .add_option_function<unsigned int>(
      "--threads",
      [](unsigned int threads) {
        itk::MultiThreaderBase::SetGlobalMaximumNumberOfThreads(threads);
        itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
      },
      "number of threads (default: one per processor)")
    ->type_name("N")
    ->transform(DecimalNumber<unsigned int>(1, itk::ITK_MAX_THREADS));
  auto * quiet = app.add_flag("--quiet", isQuiet, "print nothing but errors");
  app
    .add_flag_callback(
      "--verbose", [] { SetReadersVerbose(true); }, "print all messages and warnings of the readers of image files")
    ->excludes(quiet);
}

/** Parse the command line and run the program; print an error as one line that begins with the name of the program.
 * Returns the exit code. */
inline int
RunProgram(CLI::App & app, int argc, char * argv[], const std::function<void()> & run)
{
  // Warnings of readers would add lines to the one-line error message.
  itk::Object::SetGlobalWarningDisplay(false);
  app.set_version_flag("--version", app.get_name() + " " + VOXELMAPS_VERSION);
  // 3D Slicer knows options without hyphens only: --bin_width is --bin-width.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::for_each(arguments.begin(), std::find(arguments.begin(), arguments.end(), "--"), [](std::string & argument) {
    if (argument.compare(0, 2, "--") == 0)
    {
      std::replace(argument.begin(), std::find(argument.begin(), argument.end(), '='), '_', '-');
    }
  });
  // The order that CLI11 wants.
  std::reverse(arguments.begin(), arguments.end());
  return RunSupervised(app.get_name(), [&]() -> int {
    try
    {
      app.parse(arguments);
      run();
    }
    catch (const CLI::ParseError & error)
    {
      if (error.get_exit_code() == 0)
      {
        return app.exit(error);
      }
      std::cerr << app.get_name() << ": " << GetOneLineMessage(error) << " (--help shows the usage)\n";
      return EXIT_FAILURE;
    }
    catch (const std::bad_alloc &)
    {
      std::cerr << app.get_name() << ": there is not enough memory\n";
      return EXIT_FAILURE;
    }
    catch (const std::exception & error)
    {
      std::cerr << app.get_name() << ": " << GetOneLineMessage(error) << '\n';
      return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
  });
}
} // namespace ExampleIO

#endif // CommandLine_h
