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

// Libraries that read and write files can abort, loop, or print what is wrong and go on. The programs therefore work in
// a child process, whose end the first process explains.

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

namespace ExampleIO
{
/** Signals by which users and systems ask a program to end. */
#ifdef _WIN32
constexpr int endingSignals[] = { SIGINT, SIGTERM };
#else
constexpr int endingSignals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU };
#endif

/** Call a function in a child process, which then exits with the code that the function returns, and return that code.
 * If a signal ends the child, this prints one line that begins with the name of the program, and returns 1. Signals
 * that ask the program to end are passed on to the child; after it, they end the calling process too.
 *
 * The function is called in this process if the environment variable VOXELMAPS_SUPERVISE is 0, for debuggers and
 * profilers, and on Windows. */
int
RunSupervised(const std::string & program, const std::function<int()> & run);

/** Have the first process remove a folder and what it contains if a signal ends the child. */
void
RemoveFolderIfKilled(const std::filesystem::path & folder);

/** Undo RemoveFolderIfKilled. */
void
KeepFolderIfKilled(const std::filesystem::path & folder);

/** The seconds of processor time that a library may take for a header, and for this number of bytes. */
double
GetReadingTimeLimit(double numberOfBytes = 0.0);

/** Call a function that reads a file through a library. Throws std::runtime_error, "cannot read 'name': ...", if it
 * throws an exception, or if the library prints anything but warnings. If the library aborts, exits, or takes more
 * processor time than the limit, RunSupervised says so. */
void
CallReader(const std::string & name, const std::function<void()> & read, double seconds = GetReadingTimeLimit());

/** The same for a function that writes a file, "cannot write 'name': ...", without a limit of time. */
void
CallWriter(const std::string & name, const std::function<void()> & write);

/** Print what libraries print while they read, on standard error. */
void
SetReadersVerbose(bool isVerbose);

/** The first line of what a library printed that is not a warning, or an empty text. */
std::string
FindReaderError(const std::string & printed);
} // namespace ExampleIO

#endif // Supervisor_h
