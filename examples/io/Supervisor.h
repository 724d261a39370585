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
#ifndef Supervisor_h
#define Supervisor_h

// Libraries that read files can abort, loop, or print what is wrong and go on. The programs therefore work in a child
// process, whose end the first process explains.

#include <array>
#include <csignal>
#include <functional>
#include <string>

namespace ExampleIO
{
/** Signals by which users and systems ask a program to end. */
#ifdef _WIN32
constexpr std::array<int, 2> endingSignals{ { SIGINT, SIGTERM } };
#else
constexpr std::array<int, 8> endingSignals{ { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU } };
#endif

/** Call a function in a child process, which then exits with the code that the function returns, and return that code.
 * If a signal ends the child, this prints one line that begins with the name of the program, and returns 1. Signals
 * that ask the program to end are passed on to the child; after it, they end the calling process too.
 *
 * The function is called in this process if the environment variable VOXELMAPS_SUPERVISE is 0, for debuggers and
 * profilers, and on Windows. */
int
RunSupervised(const std::string & program, const std::function<int()> & run);

/** The seconds of processor time that a reader may take for a header, and for this number of bytes. */
double
GetReadingTimeLimit(double numberOfBytes = 0.0);

/** What a library does with a file. */
enum class FileAction
{
  Read,
  Write
};

/** Call a function that reads or writes a file through a library. Throws std::runtime_error, "cannot read 'name': ...",
 * if it throws an exception, or if the library prints anything but warnings. If the library aborts, exits, or takes
 * more processor time than the limit, RunSupervised says so. */
void
CallReader(const std::string & name, const std::function<void()> & read, double seconds = GetReadingTimeLimit(),
           FileAction action = FileAction::Read);

/** Print what libraries print while they read, on standard error. */
void
SetReadersVerbose(bool isVerbose);

/** The first line of what a reader printed that is not a warning, or an empty text. */
std::string
FindReaderError(const std::string & printed);
} // namespace ExampleIO

#endif // Supervisor_h
