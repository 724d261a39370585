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
#include "TemporaryFolders.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

#ifndef _WIN32
#  include <fcntl.h>
#  include <sys/mman.h>
#  include <sys/wait.h>
#  include <unistd.h>
#endif

namespace ExampleIO
{
#ifdef _WIN32
void
RemoveFolderIfKilled(const std::filesystem::path &)
{}

void
KeepFolderIfKilled(const std::filesystem::path &)
{}
#else
namespace
{
constexpr std::size_t maxFolders = 64;
constexpr std::size_t maxLength = 4096;
using FolderTable = char[maxFolders][maxLength];

/** Names of the folders, in memory that the processes share; an empty name is a free entry. */
FolderTable * folders = nullptr;
std::mutex    foldersMutex;

/** Wait until no process holds the other end of the pipe, then remove the folders. */
[[noreturn]] void
RemoveFoldersAtEnd(int readEnd)
{
  // A signal to the whole process group must not end this process: it would leave the folders behind.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  char    byte;
  ssize_t count = 0;
  do
  {
    count = read(readEnd, &byte, 1);
  } while (count > 0 || (count == -1 && errno == EINTR));
  for (const auto & folder : *folders)
  {
    if (folder[0] != '\0')
    {
      std::error_code error;
      std::filesystem::remove_all(folder, error);
    }
  }
  _exit(EXIT_SUCCESS);
}
} // namespace

void
RemoveFolderIfKilled(const std::filesystem::path & folder)
{
  if (!folders)
  {
    return;
  }
  const std::string                 name = std::filesystem::absolute(folder).string();
  const std::lock_guard<std::mutex> lock(foldersMutex);
  for (auto & entry : *folders)
  {
    if (entry[0] == '\0')
    {
      if (name.size() >= maxLength)
      {
        throw std::runtime_error("the name of the folder '" + name + "' is too long");
      }
      // The first character last: a part of the name must never count as a name.
      std::memcpy(entry + 1, name.c_str() + 1, name.size());
      std::atomic_signal_fence(std::memory_order_seq_cst);
      entry[0] = name[0];
      return;
    }
  }
  throw std::runtime_error("there are more than " + std::to_string(maxFolders) + " temporary folders");
}

void
KeepFolderIfKilled(const std::filesystem::path & folder)
{
  if (!folders)
  {
    return;
  }
  const std::string                 name = std::filesystem::absolute(folder).string();
  const std::lock_guard<std::mutex> lock(foldersMutex);
  for (auto & entry : *folders)
  {
    if (name == entry)
    {
      entry[0] = '\0';
    }
  }
}

bool
TemporaryFolderRemover::Start()
{
  void * memory = mmap(nullptr, sizeof(FolderTable), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
  {
    return false;
  }
  // New pages are zero: all entries are free.
  folders = static_cast<FolderTable *>(memory);
  int ends[2];
  if (pipe(ends) == -1)
  {
    this->Finish();
    return false;
  }
  m_WriteEnd = ends[1];
  fcntl(m_WriteEnd, F_SETFD, FD_CLOEXEC);
  m_Process = fork();
  if (m_Process == 0)
  {
    close(m_WriteEnd);
    RemoveFoldersAtEnd(ends[0]);
  }
  close(ends[0]);
  if (m_Process == -1)
  {
    this->Finish();
    return false;
  }
  return true;
}

void
TemporaryFolderRemover::Finish()
{
  if (m_WriteEnd != -1)
  {
    close(m_WriteEnd);
    m_WriteEnd = -1;
  }
  while (m_Process > 0 && waitpid(m_Process, nullptr, 0) == -1 && errno == EINTR)
  {
  }
  m_Process = -1;
  if (folders)
  {
    munmap(folders, sizeof(FolderTable));
    folders = nullptr;
  }
}
#endif // _WIN32
} // namespace ExampleIO
