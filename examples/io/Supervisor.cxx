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
#include "Supervisor.h"
#include "Text.h"

#include "itkMacro.h"
#include "itkObject.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <new>
#include <regex>
#include <sstream>
#include <stdexcept>

#ifndef _WIN32
#  include <fcntl.h>
#  include <sys/time.h>
#  include <sys/wait.h>
#  include <unistd.h>
#  ifdef __linux__
#    include <sys/prctl.h>
#  endif
#endif

namespace ExampleIO
{
namespace
{
bool areReadersVerbose = false;

#ifdef _WIN32
void
Report(char, const std::string &)
{}
#else
/** The ends of the pipe for what libraries print, which the child and its parent share. */
int capture[2]{ -1, -1 };

/** Where the child tells its parent what it does. */
int reportPipe = -1;

volatile std::sig_atomic_t childProcess = 0;

extern "C" void
ForwardSignal(int number)
{
  const int error = errno;
  if (childProcess > 0)
  {
    kill(static_cast<pid_t>(childProcess), number);
  }
  errno = error;
}

void
Report(char kind, const std::string & text)
{
  const std::string message = kind + text + '\0';
  if (reportPipe != -1 && write(reportPipe, message.data(), message.size()) == -1)
  {
    // The parent has been killed, and so will be this process.
    reportPipe = -1;
  }
}

/** What the child has reported until its end. */
struct ChildState
{
  /** Whether folders are removed. */
  std::map<std::string, bool> folders;
  /** "cannot read 'x': ITK's reader" while it reads. */
  std::string library;
  /** Not empty if what libraries print is shown. */
  std::string verbose;

  explicit ChildState(int file)
  {
    std::string buffer;
    char        block[4096];
    for (ssize_t count = 1; count > 0 || (count == -1 && errno == EINTR);)
    {
      count = read(file, block, sizeof(block));
      buffer.append(block, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      for (auto end = buffer.find('\0'); end != std::string::npos; end = buffer.find('\0'))
      {
        const char        kind = buffer[0];
        const std::string text = buffer.substr(1, end - 1);
        buffer.erase(0, end + 1);
        if (kind == '+' || kind == '-')
        {
          folders[text] = kind == '+';
        }
        else
        {
          (kind == 'v' ? verbose : library) = text;
        }
      }
    }
  }
};

void
OpenCapture()
{
  if (capture[0] == -1 && pipe(capture) == -1)
  {
    throw std::runtime_error(std::string("no pipe can be made: ") + std::strerror(errno));
  }
  // A library that prints for ever then loses text instead of waiting.
  fcntl(capture[0], F_SETFL, O_NONBLOCK);
  fcntl(capture[1], F_SETFL, O_NONBLOCK);
#  ifdef F_SETPIPE_SZ
  fcntl(capture[1], F_SETPIPE_SZ, 1 << 20);
#  endif
}

std::string
TakeCapturedText()
{
  std::string text;
  char        block[4096];
  for (ssize_t count = 0; (count = read(capture[0], block, sizeof(block))) > 0;)
  {
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

void
FlushStandardStreams()
{
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

/** SIGPROF, which ends the process, comes after this processor time of all threads; 0: never. */
void
SetTimeLimit(double seconds)
{
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  // Only where a parent explains it.
  if (reportPipe != -1)
  {
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
}

/** While it exists, what this process prints is captured, its time is limited, and its parent knows why it may end. */
class Capture
{
public:
  Capture(const std::string & cannotDoIt, double seconds)
  {
    OpenCapture();
    FlushStandardStreams();
    m_OutputState = std::cout.rdstate();
    for (int i = 0; i < 2; ++i)
    {
      m_Saved[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
      dup2(capture[1], STDOUT_FILENO + i);
    }
    Report('l', cannotDoIt);
    SetTimeLimit(seconds);
  }

  Capture(const Capture &) = delete;
  Capture &
  operator=(const Capture &) = delete;

  ~Capture()
  {
    SetTimeLimit(0.0);
    Report('l', "");
    FlushStandardStreams();
    // Text that did not fit into the pipe is no error of standard output.
    std::cout.clear(m_OutputState);
    std::cerr.clear();
    for (int i = 0; i < 2; ++i)
    {
      dup2(m_Saved[i], STDOUT_FILENO + i);
      close(m_Saved[i]);
    }
  }

private:
  std::ios::iostate m_OutputState{};
  int               m_Saved[2]{};
};

/** Say why the child ended, and return the exit code of the program. */
int
ExplainEnd(const std::string & program, const ChildState & state, int status)
{
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (number == 0 && state.library.empty())
  {
    return WEXITSTATUS(status);
  }
  const std::string printed = TakeCapturedText();
  // Reports of AddressSanitizer and its relatives are for developers, and whole. A progress bar may stand in the line.
  const bool isShown = !state.verbose.empty() || printed.find("Sanitizer") != std::string::npos;
  std::cerr << (isShown ? printed : state.library.empty() && isatty(STDERR_FILENO) ? "\n" : "");

  std::string text = state.library.empty() ? "the program" : state.library;
  text += number == 0         ? " ended the program"
          : number == SIGPROF ? " took too much time"
                              : std::string(" failed (") + strsignal(number) + ')';
  text += number == SIGKILL ? "; perhaps there was not enough memory" : "";
  std::cerr << program << ": " << GetOneLineMessage(std::runtime_error(text)) << std::endl;
  return EXIT_FAILURE;
}
#endif // _WIN32

void
CallLibrary(const std::string & verb, const std::string & agent, const std::string & name,
            const std::function<void()> & function, [[maybe_unused]] double seconds)
{
  const std::string cannot = "cannot " + verb + " '" + name + "': ";
  std::string       failure;
  std::string       printed;
  itk::Object::SetGlobalWarningDisplay(areReadersVerbose);
  try
  {
#ifndef _WIN32
    const Capture scope(cannot + agent, seconds);
#endif
    function();
  }
  catch (const std::bad_alloc &)
  {
    throw;
  }
  catch (const itk::MemoryAllocationError &)
  {
    throw;
  }
  catch (const std::exception & error)
  {
    // The name of a class, such as BMPImageIO, is that of the format.
    static const std::regex imageIO("\\b([A-Z][A-Za-z0-9]*)ImageIO\\b");
    failure = std::regex_replace(GetOneLineMessage(error), imageIO, agent + " of $1");
    failure = failure.empty() ? agent + " gave no reason" : failure;
  }
  itk::Object::SetGlobalWarningDisplay(false);
#ifndef _WIN32
  printed = TakeCapturedText();
#endif
  std::cerr << (areReadersVerbose ? printed : "") << std::flush;
  failure = failure.empty() ? FindReaderError(printed) : failure;
  if (!failure.empty())
  {
    throw std::runtime_error(cannot + failure);
  }
}
} // namespace

int
RunSupervised([[maybe_unused]] const std::string & program, const std::function<int()> & run)
{
#ifdef _WIN32
  return run();
#else
  // Files must not get the numbers of closed standard streams: messages would be written into them.
  int file = 0;
  do
  {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  close(file);
  OpenCapture();
  const char * wanted = std::getenv("VOXELMAPS_SUPERVISE");
  // No signal may come before there is a child to forward it to.
  sigset_t ending;
  sigset_t formerMask;
  sigemptyset(&ending);
  for (const int number : endingSignals)
  {
    sigaddset(&ending, number);
  }
  FlushStandardStreams();
  pthread_sigmask(SIG_BLOCK, &ending, &formerMask);
  int         reports[2];
  const pid_t parent = getpid();
  const bool  isSupervised = (!wanted || std::string(wanted) != "0") && pipe(reports) == 0;
  const pid_t child = isSupervised ? fork() : -1;
  if (child <= 0)
  {
    pthread_sigmask(SIG_SETMASK, &formerMask, nullptr);
    if (child == -1)
    {
      return run();
    }
    close(reports[0]);
    reportPipe = fcntl(reports[1], F_DUPFD_CLOEXEC, 3);
    close(reports[1]);
#  ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#  endif
    // Not if the parent is gone already.
    std::exit(getppid() == parent ? run() : EXIT_FAILURE);
  }

  childProcess = child;
  std::map<int, struct sigaction> formerActions;
  for (const int number : endingSignals)
  {
    sigaction(number, nullptr, &formerActions[number]);
    // nohup ignores SIGHUP, and shells ignore SIGINT for jobs in the background.
    if (formerActions[number].sa_handler != SIG_IGN)
    {
      std::signal(number, ForwardSignal);
    }
  }
  pthread_sigmask(SIG_SETMASK, &formerMask, nullptr);
  close(reports[1]);
  const ChildState state(reports[0]);
  close(reports[0]);
  // Another process can soon have its number.
  childProcess = 0;
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR)
  {
  }
  for (const auto & [folder, isRemoved] : state.folders)
  {
    std::error_code error;
    if (isRemoved)
    {
      std::filesystem::remove_all(folder, error);
    }
  }
  for (const auto & [number, action] : formerActions)
  {
    sigaction(number, &action, nullptr);
    if (WIFSIGNALED(status) && WTERMSIG(status) == number)
    {
      // Shells and batch systems want to see that the signal ended the program.
      std::signal(number, SIG_DFL);
      raise(number);
    }
  }
  return ExplainEnd(program, state, status);
#endif
}

void
RemoveFolderIfKilled(const std::filesystem::path & folder)
{
  Report('+', std::filesystem::absolute(folder).string());
}

void
KeepFolderIfKilled(const std::filesystem::path & folder)
{
  Report('-', std::filesystem::absolute(folder).string());
}

double
GetReadingTimeLimit(double numberOfBytes)
{
  return 60.0 + std::floor(numberOfBytes / 1e6);
}

void
CallReader(const std::string & name, const std::function<void()> & read, double seconds)
{
  CallLibrary("read", "ITK's reader", name, read, seconds);
}

void
CallWriter(const std::string & name, const std::function<void()> & write)
{
  CallLibrary("write", "ITK's writer", name, write, 0.0);
}

void
SetReadersVerbose(bool isVerbose)
{
  areReadersVerbose = isVerbose;
  Report('v', isVerbose ? "1" : "");
}

std::string
FindReaderError(const std::string & printed)
{
  std::istringstream lines(printed);
  bool               isInWarning = false;
  for (std::string line; std::getline(lines, line);)
  {
    const auto start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos)
    {
      isInWarning = false;
      continue;
    }
    std::string lower = line;
    std::transform(
      lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // "WARNING: In file, line 3", as ITK and GDCM begin theirs, goes on until an empty line.
    isInWarning = isInWarning || lower.find("warning: in ") != std::string::npos;
    if (!isInWarning && lower.find("warning") == std::string::npos)
    {
      return line.substr(start, line.find_last_not_of(" \t\r") + 1 - start);
    }
  }
  return {};
}
} // namespace ExampleIO
