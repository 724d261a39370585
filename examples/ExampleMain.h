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
#ifndef ExampleMain_h
#define ExampleMain_h

// The main function of the example programs.

#include "ExampleIO.h"
#include "itkObject.h"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>

namespace ExampleIO
{
/** Parse the command line, then run the program. An error becomes one line that begins with the program's name.
 * Returns the exit code. */
inline int
RunProgram(CLI::App & app, int argc, char * argv[], const std::function<void()> & run)
{
  // Warnings of readers would add lines to the one that says what is wrong.
  itk::Object::SetGlobalWarningDisplay(false);
  try
  {
    app.parse(argc, argv);
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
  catch (const std::exception & error)
  {
    std::cerr << app.get_name() << ": " << GetOneLineMessage(error) << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
} // namespace ExampleIO

#endif // ExampleMain_h
