// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CommandLine_h
#define CommandLine_h

// The command line and the main function of the example programs.

#include "DicomSeries.h"
#include "Geometry.h"
#include "Process.h"
#include "Text.h"
#include "itkMultiThreaderBase.h"
#include "itkObject.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
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

namespace ProgramIO
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
      if constexpr (std::is_floating_point<T>::value)
      {
        if (!std::isfinite(value))
        {
          return "'" + text + "' is not a finite number";
        }
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
  return app.add_option(name, value, description)->type_name("FILE");
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
      "--verbose",
      [] { SetLibrariesVerbose(true); },
      "print all messages and warnings of the readers and writers of image files")
    ->excludes(quiet);
}

/** Add the options for masks whose geometry differs from that of the image. */
inline std::pair<CLI::Option *, CLI::Option *>
AddMaskGeometryOptions(CLI::App & app, MaskGeometryRules & rules)
{
  auto * mode = app
                  .add_option("--mask-geometry",
                              rules.mode,
                              "a mask or seed image of another geometry is an error (check), or takes the geometry of "
                              "the image if it has the same size (ignore)")
                  ->type_name("HOW")
                  ->capture_default_str()
                  ->check(CLI::IsMember({ "check", "ignore" }));
  std::ostringstream tolerance;
  tolerance << rules.tolerance;
  auto * number = AddNumbers(app,
                             "--geometry-tolerance",
                             rules.tolerance,
                             "T",
                             "largest difference of such geometries: a fraction of the spacing for spacing and origin, "
                             "absolute for direction cosines (default " +
                               tolerance.str() + ")",
                             0.0);
  return { mode, number };
}

/** Throw if an option or a file has an empty value, such as an empty variable of a shell script, which must not mean
 * that there is no mask; or if an entry of a list is empty. */
inline void
RefuseEmptyValues(CLI::App & app, const std::vector<std::string> & arguments)
{
  const auto check = [](const CLI::Option * option, const std::string & value) {
    const char delimiter = option->get_delimiter();
    if (value.empty())
    {
      throw std::runtime_error(option->get_name() + ": the value is empty");
    }
    if (delimiter != '\0' && (value.front() == delimiter || value.back() == delimiter ||
                              value.find({ delimiter, delimiter }) != std::string::npos))
    {
      throw std::runtime_error(option->get_name() + ": '" + value + "' has an empty entry");
    }
  };
  auto       positionals = app.get_options([](const CLI::Option * option) { return option->get_positional(); });
  auto       positional = positionals.begin();
  bool       areOptionsOver = false;
  const auto end = arguments.end();
  for (auto argument = arguments.begin(); argument != end; ++argument)
  {
    if (!areOptionsOver && argument->compare(0, 2, "--") == 0)
    {
      areOptionsOver = *argument == "--";
      const auto   equal = argument->find('=');
      const auto * option = app.get_option_no_throw(argument->substr(0, equal));
      if (option == nullptr || option->get_items_expected_max() == 0)
      {
        continue;
      }
      if (equal != std::string::npos)
      {
        check(option, argument->substr(equal + 1));
      }
      else if (argument + 1 != end)
      {
        check(option, *++argument);
      }
    }
    else if (positional != positionals.end())
    {
      check(*positional++, *argument);
    }
  }
}

/** Add the options --series, --allow-uneven-slices, and --list-series, which prints the series and ends the program.
 * The input must be an option that was added before. */
inline void
AddDicomOptions(CLI::App & app, const std::string & input, DicomOptions & options)
{
  options.seriesAdvice = ": --series UID chooses one, and --list-series lists them";
  options.unevenAdvice = "; --allow-uneven-slices reads them as if they were even";
  app
    .add_option("--series", options.series, "SeriesInstanceUID to read, of a directory with more than one DICOM series")
    ->type_name("UID")
    ->check(
      CLI::Validator([](const std::string & text) { return text.empty() ? std::string("the UID is empty") : ""; }, ""));
  app.add_flag("--allow-uneven-slices",
               options.allowUnevenSlices,
               "read a DICOM series with missing or uneven slices as if they were even, with a warning");
  app.add_flag_callback(
    "--list-series",
    [&input] {
      if (!std::filesystem::is_directory(input))
      {
        throw std::runtime_error("--list-series is for a folder with DICOM files, but '" + input + "' is not a folder");
      }
      throw CLI::CallForVersion(ListDicomSeries(input), 0);
    },
    "print the series of a directory of DICOM files, and end");
}

/** Parse the command line and run the program; print an error as one line that begins with the name of the program.
 * Returns the exit code. */
inline int
RunProgram(CLI::App & app, int argc, char * argv[], const std::function<void()> & run)
{
  PrepareProcess();
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
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  const auto               fail = [&app](const std::string & message) {
    std::cerr << app.get_name() << ": " << message << '\n';
    return EXIT_FAILURE;
  };
  try
  {
    RefuseEmptyValues(app, arguments);
    app.parse(reversed);
    run();
  }
  catch (const CLI::ParseError & error)
  {
    if (error.get_exit_code() != 0)
    {
      return fail(GetOneLineMessage(error) + " (--help shows the usage)");
    }
    app.exit(error);
  }
  catch (const std::bad_alloc &)
  {
    return fail("not enough memory");
  }
  catch (const std::exception & error)
  {
    return fail(GetOneLineMessage(error));
  }
  return std::cout.flush() ? EXIT_SUCCESS : fail("the outputs are complete, but standard output cannot be written");
}
} // namespace ProgramIO

#endif // CommandLine_h
