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
#include "StagedFiles.h"

#include "Supervisor.h"
#include "TemporaryFolders.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <system_error>

#ifndef _WIN32
#  include <fcntl.h>
#  include <unistd.h>
#endif

namespace ExampleIO
{
namespace
{
namespace fs = std::filesystem;

std::runtime_error
MakeError(const std::string & name, const std::string & reason)
{
  return std::runtime_error("cannot write '" + name + "': " + reason);
}

/** Wait until the data of a file or the entries of a folder are on the disk. */
std::error_code
Synchronize(const fs::path & path)
{
#ifdef _WIN32
  static_cast<void>(path);
  return {};
#else
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
  {
    return { errno, std::generic_category() };
  }
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  // Some file systems cannot synchronize folders.
  return { error == EINVAL || error == ENOTSUP ? 0 : error, std::generic_category() };
#endif
}

/** Ignores the signals that ask the program to end while it moves files, which takes milliseconds. */
class SignalsIgnored
{
public:
  SignalsIgnored()
  {
    for (std::size_t i = 0; i < endingSignals.size(); ++i)
    {
      m_Formers[i] = std::signal(endingSignals[i], SIG_IGN);
    }
  }
  SignalsIgnored(const SignalsIgnored &) = delete;
  SignalsIgnored &
  operator=(const SignalsIgnored &) = delete;
  ~SignalsIgnored()
  {
    for (std::size_t i = 0; i < endingSignals.size(); ++i)
    {
      if (m_Formers[i] != SIG_ERR)
      {
        std::signal(endingSignals[i], m_Formers[i]);
      }
    }
  }

private:
  using Handler = void (*)(int);
  std::array<Handler, endingSignals.size()> m_Formers{};
};
} // namespace

std::string
GetMessage(const std::error_code & error)
{
  std::string message = error.message();
  if (!message.empty())
  {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

fs::path
ResolveFile(const fs::path & name)
{
  fs::path        file = fs::absolute(name);
  std::error_code error;
  // weakly_canonical does not follow a link to a file that does not exist.
  for (int i = 0; i < 40 && fs::is_symlink(file, error); ++i)
  {
    const fs::path target = fs::read_symlink(file, error);
    if (error)
    {
      break;
    }
    file = file.parent_path() / target;
  }
  const fs::path resolved = fs::weakly_canonical(file, error);
  return error ? file.lexically_normal() : resolved;
}

bool
IsSameFile(const fs::path & a, const fs::path & b)
{
  std::error_code error;
  return (fs::exists(a, error) && fs::exists(b, error) && fs::equivalent(a, b, error)) ||
         ResolveFile(a) == ResolveFile(b);
}

std::string
GetReasonWhyFull(const fs::path & file)
{
#ifndef _WIN32
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
  {
    return GetMessage({ errno, std::generic_category() });
  }
  // As much as a file system may have left in its last blocks.
  const std::vector<char> block(65536, 0);
  int                     error = 0;
  for (int i = 0; i < 16 && error == 0; ++i)
  {
    const auto count = ::write(descriptor, block.data(), block.size());
    error = count < 0 ? errno : 0;
  }
  if (error == 0 && ::fsync(descriptor) != 0 && errno != EINVAL)
  {
    error = errno;
  }
  ::close(descriptor);
  return error == 0 ? "" : GetMessage({ error, std::generic_category() });
#else
  static_cast<void>(file);
  return "";
#endif
}

StagedFiles::~StagedFiles()
{
  this->RemoveFolders();
}

void
StagedFiles::RemoveFolders()
{
  std::error_code error;
  for (const auto & [place, folder] : m_Folders)
  {
    fs::remove_all(folder, error);
    KeepFolderIfKilled(folder);
  }
  m_Folders.clear();
}

fs::path
StagedFiles::MakeFolder(const fs::path & finalFolder, const std::string & name)
{
  const fs::path  place = ResolveFile(finalFolder);
  std::error_code error;
  if (!fs::is_directory(place, error))
  {
    throw MakeError(name, "there is no folder '" + finalFolder.string() + "'");
  }
  fs::path hidden;
  for (const auto & [otherPlace, folder] : m_Folders)
  {
    if (otherPlace == place)
    {
      hidden = folder;
    }
  }
  if (hidden.empty())
  {
    static constexpr char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device    random;
    bool                  isMade = false;
    while (!isMade)
    {
      std::string folder = ".voxelmaps-";
      for (int i = 0; i < 6; ++i)
      {
        folder += letters[random() % (sizeof(letters) - 1)];
      }
      hidden = place / folder;
      if (fs::exists(fs::symlink_status(hidden, error)))
      {
        continue;
      }
      // First, so that a run that is killed at any moment leaves no folder behind.
      RemoveFolderIfKilled(hidden);
      // False if another process has just made such a folder.
      isMade = fs::create_directory(hidden, error);
      if (!isMade)
      {
        KeepFolderIfKilled(hidden);
      }
      if (error)
      {
        throw MakeError(name, "no file can be made in '" + finalFolder.string() + "': " + GetMessage(error));
      }
    }
    m_Folders.emplace_back(place, hidden);
    // A bit by which files get the group of their folder stays.
    fs::permissions(hidden, fs::perms::group_all | fs::perms::others_all, fs::perm_options::remove, error);
  }
  const fs::path folder = hidden / std::to_string(m_NumberOfFolders++);
  if (!fs::create_directory(folder, error))
  {
    throw MakeError(name, GetMessage(error));
  }
  return folder;
}

void
StagedFiles::Add(const fs::path & temporary, const fs::path & target, const std::string & name)
{
  const auto synchronized = Synchronize(temporary);
  if (synchronized)
  {
    throw MakeError(name, GetMessage(synchronized));
  }
  std::error_code error;
  const auto      status = fs::status(target, error);
  if (fs::exists(status))
  {
    fs::permissions(temporary, status.permissions(), error);
  }
  m_Files.push_back({ temporary, target, name });
}

void
StagedFiles::Replace(std::vector<fs::path> & formers)
{
  std::error_code error;
  for (const auto & file : m_Files)
  {
    fs::path   former;
    const auto status = fs::status(file.target, error);
    if (fs::exists(status) && !fs::is_regular_file(status))
    {
      throw MakeError(file.name, "it is no longer a regular file");
    }
    // The last file needs no copy of the former one: it is either replaced, or stays.
    if (fs::exists(status) && &file != &m_Files.back())
    {
      former = this->MakeFolder(file.target.parent_path(), file.name) / "former";
      fs::create_hard_link(file.target, former, error);
      if (error)
      {
        // Some file systems have no hard links.
        fs::rename(file.target, former, error);
      }
      if (error)
      {
        throw MakeError(file.name, GetMessage(error));
      }
    }
    formers.push_back(former);
    fs::rename(file.temporary, file.target, error);
    if (error)
    {
      throw MakeError(file.name, GetMessage(error));
    }
  }
}

void
StagedFiles::Commit()
{
  const SignalsIgnored signalsIgnored;
  // From here on, the hidden folders have the former files.
  for (const auto & [place, folder] : m_Folders)
  {
    KeepFolderIfKilled(folder);
  }
  std::vector<fs::path> formers;
  try
  {
    this->Replace(formers);
  }
  catch (const std::exception &)
  {
    std::error_code error;
    for (std::size_t i = formers.size(); i-- > 0;)
    {
      if (!formers[i].empty())
      {
        fs::rename(formers[i], m_Files[i].target, error);
        if (error)
        {
          m_Folders.clear();
          throw MakeError(m_Files[i].name,
                          GetMessage(error) + "; its former content is in '" + formers[i].string() + "'");
        }
      }
      else if (!fs::exists(m_Files[i].temporary, error))
      {
        fs::remove(m_Files[i].target, error);
      }
    }
    this->RemoveFolders();
    throw;
  }
  m_Files.clear();
  for (const auto & [place, folder] : m_Folders)
  {
    Synchronize(place);
  }
  // While signals are ignored: a killed run would leave the folders behind.
  this->RemoveFolders();
}
} // namespace ExampleIO
