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
#include "TemporaryFolders.h"
#include "Text.h"

#include "itkMacro.h"
#include "itkObject.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <system_error>

#ifndef _WIN32
#  include <fcntl.h>
#  include <sys/mman.h>
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

const char *
GetVerb(FileAction action)
{
  return action == FileAction::Read ? "read" : "write";
}

std::string
GetAgent(FileAction action)
{
  return action == FileAction::Read ? "reader" : "writer";
}

#ifndef _WIN32
/** What the child tells its parent, in memory that both share. */
struct SharedState
{
  std::atomic<bool> isReading;
  std::atomic<bool> isVerbose;
  FileAction        action;
  double            seconds;
  char              file[1024];
};

SharedState * shared = nullptr;

/** What readers print; the parent and the child share its position. */
int captureFile = -1;

volatile std::sig_atomic_t childProcess = 0;

constexpr auto & requests = endingSignals;

extern "C" void
ForwardSignal(int signalNumber)
{
  const int error = errno;
  if (childProcess > 0)
  {
    kill(static_cast<pid_t>(childProcess), signalNumber);
  }
  errno = error;
}

/** Passes requests to end on to the child. */
class SignalForwarder
{
public:
  SignalForwarder()
  {
    sigemptyset(&m_Requests);
    std::for_each(requests.begin(), requests.end(), [this](int signalNumber) { sigaddset(&m_Requests, signalNumber); });
    pthread_sigmask(SIG_BLOCK, &m_Requests, &m_OldMask);
  }

  SignalForwarder(const SignalForwarder &) = delete;
  SignalForwarder &
  operator=(const SignalForwarder &) = delete;

  ~SignalForwarder() { this->Stop(); }

  void
  Start(pid_t child)
  {
    childProcess = child;
    for (std::size_t i = 0; i < requests.size(); ++i)
    {
      struct sigaction action{};
      action.sa_handler = ForwardSignal;
      action.sa_flags = SA_RESTART;
      sigaction(requests[i], nullptr, &m_OldActions[i]);
      // nohup ignores SIGHUP, and shells ignore SIGINT for jobs in the background.
      if (m_OldActions[i].sa_handler != SIG_IGN)
      {
        sigaction(requests[i], &action, nullptr);
      }
    }
    m_IsStarted = true;
    pthread_sigmask(SIG_SETMASK, &m_OldMask, nullptr);
  }

  void
  Stop()
  {
    childProcess = 0;
    for (std::size_t i = 0; m_IsStarted && i < requests.size(); ++i)
    {
      sigaction(requests[i], &m_OldActions[i], nullptr);
    }
    m_IsStarted = false;
    pthread_sigmask(SIG_SETMASK, &m_OldMask, nullptr);
  }

private:
  sigset_t                                      m_Requests;
  sigset_t                                      m_OldMask;
  std::array<struct sigaction, requests.size()> m_OldActions{};
  bool                                          m_IsStarted{ false };
};

/** Files must not get the numbers of closed standard streams: messages would be written into them. */
void
OpenStandardStreams()
{
  for (int i = 0; i <= 2; ++i)
  {
    if (fcntl(i, F_GETFD) == -1 && errno == EBADF)
    {
      // The lowest free number, hence i.
      if (open("/dev/null", O_RDWR) == -1)
      {
        return;
      }
    }
  }
}

int
OpenCaptureFile()
{
#  ifdef MFD_ALLOW_SEALING
  const int file = memfd_create("readers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file != -1)
  {
    // A reader that prints in an endless loop must not fill the memory.
    // A limit of the size of files (ulimit -f) must not end the program here.
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    if (ftruncate(file, 1 << 20) == 0)
    {
      fcntl(file, F_ADD_SEALS, F_SEAL_GROW);
    }
    std::signal(SIGXFSZ, old);
    return file;
  }
#  endif
  std::FILE * temporary = std::tmpfile();
  return temporary ? dup(fileno(temporary)) : -1;
}

std::string
GetCapturedText()
{
  std::string text;
  const off_t size = lseek(captureFile, 0, SEEK_CUR);
  if (size > 0)
  {
    text.resize(static_cast<std::size_t>(size));
    const ssize_t count = pread(captureFile, text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
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

/** While it exists, what this process prints goes to a file, its time is limited, and the parent knows what it reads.
 */
class ReadingScope
{
public:
  ReadingScope(const std::string & name, double seconds, FileAction action)
  {
    if (captureFile == -1)
    {
      OpenStandardStreams();
      captureFile = OpenCaptureFile();
    }
    if (captureFile == -1)
    {
      throw std::runtime_error("no temporary file can be made for what libraries print");
    }
    FlushStandardStreams();
    m_OutputState = std::cout.rdstate();
    lseek(captureFile, 0, SEEK_SET);
    m_Output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    m_Error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(captureFile, STDOUT_FILENO);
    dup2(captureFile, STDERR_FILENO);
    if (shared)
    {
      const auto length = std::min(name.size(), sizeof(shared->file) - 1);
      std::copy_n(name.begin(), length, shared->file);
      shared->file[length] = '\0';
      shared->seconds = seconds;
      shared->action = action;
      shared->isReading = true;
      SetTimer(seconds);
    }
  }

  ReadingScope(const ReadingScope &) = delete;
  ReadingScope &
  operator=(const ReadingScope &) = delete;

  ~ReadingScope()
  {
    if (shared)
    {
      SetTimer(0.0);
      shared->isReading = false;
    }
    FlushStandardStreams();
    // Where files have a limit of size, what libraries printed may not have been written.
    std::cout.clear(m_OutputState);
    std::cerr.clear();
    for (const auto & [saved, standard] : { std::pair{ m_Output, STDOUT_FILENO }, std::pair{ m_Error, STDERR_FILENO } })
    {
      if (saved != -1)
      {
        dup2(saved, standard);
        close(saved);
      }
    }
  }

private:
  /** SIGPROF, which ends the process, comes after this processor time of all threads; 0: never. */
  static void
  SetTimer(double seconds)
  {
    itimerval  timer{};
    const auto whole = std::floor(seconds);
    timer.it_value.tv_sec = static_cast<time_t>(whole);
    timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6);
    setitimer(ITIMER_PROF, &timer, nullptr);
  }

  int               m_Output{ -1 };
  int               m_Error{ -1 };
  std::ios::iostate m_OutputState{};
};

/** The last line that is not empty. */
std::string
GetLastLine(const std::string & text)
{
  std::istringstream lines(text);
  std::string        last;
  for (std::string line; std::getline(lines, line);)
  {
    last = line.find_first_not_of(" \t\r") == std::string::npos ? last : line;
  }
  return last;
}

/** Say why the child ended, and return the exit code of the program. */
int
ExplainEnd(const std::string & program, int status)
{
  const bool  isSignaled = WIFSIGNALED(status);
  const int   signalNumber = isSignaled ? WTERMSIG(status) : 0;
  const bool  isReading = shared->isReading;
  std::string text;
  if (!isReading && !isSignaled)
  {
    return WEXITSTATUS(status);
  }
  if (isReading)
  {
    const std::string printed = GetCapturedText();
    // Reports of AddressSanitizer and its relatives are for developers, and whole.
    if (shared->isVerbose || printed.find("Sanitizer") != std::string::npos)
    {
      std::cerr << printed;
    }
    const std::string agent = GetAgent(shared->action);
    text = std::string("cannot ") + GetVerb(shared->action) + " '" + shared->file + "': ";
    if (signalNumber == SIGPROF)
    {
      std::ostringstream seconds;
      seconds << shared->seconds;
      text += "the " + agent + " did not end within " + seconds.str() + " s";
    }
    else
    {
      text += isSignaled ? "ITK's " + agent + " failed (" + strsignal(signalNumber) + ")"
                         : "ITK's " + agent + " ended the program";
    }
    const std::string last = GetLastLine(printed);
    // An assertion in a library's code tells a user nothing.
    text += last.empty() || last.find("Assertion") != std::string::npos ? "" : ": " + last;
  }
  else
  {
    text = "ended by signal " + std::to_string(signalNumber) + " (" + strsignal(signalNumber) + ")";
  }
  if (signalNumber == SIGKILL)
  {
    text += "; perhaps there was not enough memory";
  }
  // A progress bar may stand in the line.
  std::cerr << (isatty(STDERR_FILENO) && !isReading ? "\n" : "") << program << ": "
            << GetOneLineMessage(std::runtime_error(text)) << std::endl;
  return EXIT_FAILURE;
}

int
Supervise(const std::string & program, pid_t child, SignalForwarder & forwarder, TemporaryFolderRemover & remover)
{
  forwarder.Start(child);
  // The child keeps its number until the forwarder has stopped: no other process gets a signal.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == -1 && errno == EINTR)
  {
  }
  forwarder.Stop();
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR)
  {
  }

  remover.Finish();
  if (WIFSIGNALED(status) && std::find(requests.begin(), requests.end(), WTERMSIG(status)) != requests.end())
  {
    // Shells and batch systems want to see that the signal ended the program.
    std::signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
  return ExplainEnd(program, status);
}
#endif // _WIN32
} // namespace

int
RunSupervised(const std::string & program, const std::function<int()> & run)
{
#ifdef _WIN32
  (void)program;
  return run();
#else
  OpenStandardStreams();
  const char * wanted = std::getenv("VOXELMAPS_SUPERVISE");
  if (wanted && std::string(wanted) == "0")
  {
    return run();
  }
  captureFile = OpenCaptureFile();
  void * memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
  {
    return run();
  }
  shared = new (memory) SharedState{};

  FlushStandardStreams();
  SignalForwarder        forwarder;
  TemporaryFolderRemover remover;
  const pid_t            parent = getpid();
  const pid_t            child = remover.Start() ? fork() : -1;
  int                    code = EXIT_FAILURE;
  if (child == 0)
  {
    forwarder.Stop();
#  ifdef __linux__
    struct sigaction action{};
    sigaction(SIGTERM, nullptr, &action);
    prctl(PR_SET_PDEATHSIG, action.sa_handler == SIG_IGN ? SIGKILL : SIGTERM);
    // The parent may be gone already.
    if (getppid() != parent)
    {
      _exit(EXIT_FAILURE);
    }
#  endif
    std::exit(run());
  }
  if (child > 0)
  {
    code = Supervise(program, child, forwarder, remover);
  }
  remover.Finish();
  shared = nullptr;
  munmap(memory, sizeof(SharedState));
  close(captureFile);
  captureFile = -1;
  if (child == -1)
  {
    forwarder.Stop();
    return run();
  }
  return code;
#endif
}

double
GetReadingTimeLimit(double numberOfBytes)
{
  return 60.0 + std::floor(numberOfBytes / 1e6);
}

void
CallReader(const std::string & name, const std::function<void()> & read, double seconds, FileAction action)
{
  std::string printed;
  std::string failure;
  itk::Object::SetGlobalWarningDisplay(areReadersVerbose);
  {
#ifdef _WIN32
    (void)seconds;
    (void)action;
#else
    const ReadingScope scope(name, seconds, action);
#endif
    try
    {
      read();
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
      const std::string       agent = GetAgent(action);
      failure = std::regex_replace(GetOneLineMessage(error), imageIO, "ITK's " + agent + " of $1");
      failure = failure.empty() ? "ITK's " + agent + " gave no reason" : failure;
    }
  }
  itk::Object::SetGlobalWarningDisplay(false);
#ifndef _WIN32
  printed = GetCapturedText();
#endif
  if (areReadersVerbose)
  {
    std::cerr << printed << std::flush;
  }
  if (failure.empty())
  {
    failure = FindReaderError(printed);
  }
  if (!failure.empty())
  {
    throw std::runtime_error(std::string("cannot ") + GetVerb(action) + " '" + name + "': " + failure);
  }
}

void
SetReadersVerbose(bool isVerbose)
{
  areReadersVerbose = isVerbose;
#ifndef _WIN32
  if (shared)
  {
    shared->isVerbose = isVerbose;
  }
#endif
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
