// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "Process.h"
#include "Text.h"

#include "itkMacro.h"
#include "itkObject.h"
#include "voxelmaps/ImageFile.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#ifndef _WIN32
#  include <fcntl.h>
#  include <unistd.h>
#endif

namespace ProgramIO
{
namespace
{
bool areLibrariesVerbose = false;

/** Never destroyed: the thread that waits for signals uses them until the end. */
std::recursive_mutex &
GetMutex()
{
  static auto * const mutex = new std::recursive_mutex;
  return *mutex;
}

std::set<std::filesystem::path> &
GetFolders()
{
  static auto * const folders = new std::set<std::filesystem::path>;
  return *folders;
}

#ifndef _WIN32
[[noreturn]] void
EndBySignal(int number)
{
  // Never unlocked: what fails because a folder is gone waits here instead of printing a message.
  GetMutex().lock();
  for (const auto & folder : GetFolders())
  {
    std::error_code error;
    // Other threads may be writing into it.
    for (int i = 0; i < 100 && std::filesystem::exists(folder, error); ++i)
    {
      std::filesystem::remove_all(folder, error);
    }
  }
  // Shells and batch systems want to see that the signal ended the program.
  std::signal(number, SIG_DFL);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, number);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  raise(number);
  std::_Exit(EXIT_FAILURE);
}

/** While it exists, what this process prints goes into a pipe. */
class Capture
{
public:
  Capture()
  {
    int pipeEnds[2];
    if (pipe(pipeEnds) == -1)
    {
      return;
    }
    m_Pipe = pipeEnds[0];
    // A library that prints much loses text instead of waiting.
    fcntl(pipeEnds[0], F_SETFL, O_NONBLOCK);
    fcntl(pipeEnds[1], F_SETFL, O_NONBLOCK);
    FlushStandardStreams();
    m_OutputState = std::cout.rdstate();
    for (int i = 0; i < 2; ++i)
    {
      m_Saved[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
      dup2(pipeEnds[1], STDOUT_FILENO + i);
    }
    close(pipeEnds[1]);
  }
  Capture(const Capture &) = delete;
  Capture &
  operator=(const Capture &) = delete;
  ~Capture() { this->Finish(); }

  /** Print as before, and return what was printed meanwhile. */
  std::string
  Finish()
  {
    std::string text;
    if (m_Pipe == -1)
    {
      return text;
    }
    FlushStandardStreams();
    // Text that did not fit into the pipe is no error of standard output.
    std::cout.clear(m_OutputState);
    std::cerr.clear();
    for (int i = 0; i < 2; ++i)
    {
      dup2(m_Saved[i], STDOUT_FILENO + i);
      close(m_Saved[i]);
    }
    char block[4096];
    for (ssize_t count = 0; (count = read(m_Pipe, block, sizeof(block))) > 0;)
    {
      text.append(block, static_cast<std::size_t>(count));
    }
    close(m_Pipe);
    m_Pipe = -1;
    return text;
  }

private:
  static void
  FlushStandardStreams()
  {
    std::cout.flush();
    std::clog.flush();
    std::fflush(nullptr);
  }

  std::ios::iostate m_OutputState{};
  int               m_Pipe{ -1 };
  int               m_Saved[2]{};
};
#else
struct Capture
{
  std::string
  Finish()
  {
    return {};
  }
};
#endif

void
CallLibrary(const std::string & verb, const std::string & agent, const std::string & name,
            const std::function<void()> & function)
{
  std::string failure;
  itk::Object::SetGlobalWarningDisplay(areLibrariesVerbose);
  Capture capture;
  try
  {
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
  const std::string printed = capture.Finish();
  itk::Object::SetGlobalWarningDisplay(false);
  std::cerr << (areLibrariesVerbose ? printed : "") << std::flush;
  failure = failure.empty() ? FindLibraryError(printed) : failure;
  if (!failure.empty())
  {
    throw std::runtime_error("cannot " + verb + " '" + name + "': " + failure);
  }
}
} // namespace

void
PrepareProcess()
{
#ifndef _WIN32
  static bool isPrepared = false;
  if (std::exchange(isPrepared, true))
  {
    return;
  }
  int file = 0;
  do
  {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  close(file);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t requests;
  sigemptyset(&requests);
  for (const int number : { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU })
  {
    struct sigaction action;
    sigaction(number, nullptr, &action);
    // nohup ignores SIGHUP, and shells ignore SIGINT for jobs in the background.
    if (action.sa_handler != SIG_IGN)
    {
      sigaddset(&requests, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &requests, nullptr);
  std::thread([requests] {
    int number = 0;
    sigwait(&requests, &number);
    EndBySignal(number);
  }).detach();
#endif
}

std::unique_lock<std::recursive_mutex>
DeferRequestsToEnd()
{
  return std::unique_lock<std::recursive_mutex>(GetMutex());
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path & prefix)
  : m_Path(std::filesystem::absolute(prefix))
{
  std::random_device random;
  m_Path += std::to_string(random()) + std::to_string(random());
  const auto      lock = DeferRequestsToEnd();
  std::error_code error;
  if (!std::filesystem::create_directory(m_Path, error))
  {
    throw std::runtime_error("no file can be made in '" + prefix.parent_path().string() +
                             "': " + voxelmaps::GetSystemMessage(error.value()));
  }
  GetFolders().insert(m_Path);
}

TemporaryFolder::~TemporaryFolder()
{
  std::error_code error;
  std::filesystem::remove_all(m_Path, error);
  const auto lock = DeferRequestsToEnd();
  GetFolders().erase(m_Path);
}

void
CallReader(const std::string & name, const std::function<void()> & read)
{
  CallLibrary("read", "ITK's reader", name, read);
}

void
CallWriter(const std::string & name, const std::function<void()> & write)
{
  CallLibrary("write", "ITK's writer", name, write);
}

void
SetLibrariesVerbose(bool isVerbose)
{
  areLibrariesVerbose = isVerbose;
}

std::string
FindLibraryError(const std::string & printed)
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
} // namespace ProgramIO
