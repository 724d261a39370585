// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Process_h
#define Process_h

// What concerns the whole process: requests to end it, and what libraries print while they read and write files.

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

namespace ProgramIO
{
/** To be called before there are other threads; RunProgram calls it if nobody did. Signals by which users and systems
 * ask a program to end, such as SIGTERM, first remove every TemporaryFolder, and then end the program.
 * Those that were ignored stay so, and a file that becomes too large or a closed pipe is an error of a write only.
 * Files never get the numbers of standard streams that are closed, since messages would be written into them. */
void
PrepareProcess();

/** A new folder, which is removed with what it contains when the object is destroyed, or when a signal asks the program
 * to end. */
class TemporaryFolder
{
public:
  /** The name is the prefix and a random number. */
  explicit TemporaryFolder(const std::filesystem::path & prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &
  operator=(const TemporaryFolder &) = delete;

  const std::filesystem::path &
  GetPath() const
  {
    return m_Path;
  }

private:
  std::filesystem::path m_Path;
};

/** Requests to end the program wait while this exists. */
std::unique_lock<std::recursive_mutex>
DeferRequestsToEnd();

/** Call a function that reads a file through a library. Throws std::runtime_error, "cannot read 'name': ...", if it
 * throws an exception, or if the library prints anything but warnings. */
void
CallReader(const std::string & name, const std::function<void()> & read);

/** The same for a function that writes a file, "cannot write 'name': ...". */
void
CallWriter(const std::string & name, const std::function<void()> & write);

/** Print what libraries print while they read and write, on standard error. */
void
SetLibrariesVerbose(bool isVerbose);

/** The first line of what a library printed that is not a warning, or an empty text. */
std::string
FindLibraryError(const std::string & printed);
} // namespace ProgramIO

#endif // Process_h
