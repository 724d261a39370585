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
#ifndef StagedFiles_h
#define StagedFiles_h

// Files that appear together, or not at all.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ExampleIO
{
/** Files that are written into hidden folders beside their places, and moved there together. What a failed or killed
 * run has written never appears under the final names, and what was there before stays. */
class StagedFiles
{
public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles &) = delete;
  StagedFiles &
  operator=(const StagedFiles &) = delete;

  /** Removes the hidden folders with all files that were not moved. */
  ~StagedFiles();

  /** An empty folder to write files into that will be moved into this folder. The name is for messages.
   * Throws if no file can be made there. */
  std::filesystem::path
  MakeFolder(const std::filesystem::path & finalFolder, const std::string & name);

  /** Write the data of a file to the disk, and move it when Commit() is called. The mode of a former file is kept. */
  void
  Add(const std::filesystem::path & temporary, const std::filesystem::path & target, const std::string & name);

  /** Move all files in the order of Add(). If one cannot be moved, put back what was there before, and throw. Removes
   * the hidden folders. */
  void
  Commit();

private:
  struct File
  {
    std::filesystem::path temporary;
    std::filesystem::path target;
    std::string           name;
  };
  /** A hidden folder by the folder that it is in. */
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> m_Folders;
  std::vector<File>                                                    m_Files;
  unsigned int                                                         m_NumberOfFolders{ 0 };

  void
  Replace(std::vector<std::filesystem::path> & formers);
  void
  RemoveFolders();
};

/** The place of a file, with all symbolic links resolved; the file itself need not exist. */
std::filesystem::path
ResolveFile(const std::filesystem::path & name);

/** Whether two names are those of the same file, which need not exist. */
bool
IsSameFile(const std::filesystem::path & a, const std::filesystem::path & b);

/** Why nothing can be written at the end of a file, or the file cannot be made, such as "no space left on the device";
 * empty if it can be. */
std::string
GetReasonWhyFull(const std::filesystem::path & file);

/** The message of an error of the system, beginning with a small letter. */
std::string
GetMessage(const std::error_code & error);
} // namespace ExampleIO

#endif // StagedFiles_h
