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
#ifndef TemporaryFolders_h
#define TemporaryFolders_h

// Folders that must not stay behind, however a program ends.

#include <filesystem>

namespace ExampleIO
{
/** Remove a folder and what it contains after this process has been killed; throws if there are too many such folders.
 * Does nothing if no TemporaryFolderRemover was started before this process. */
void
RemoveFolderIfKilled(const std::filesystem::path & folder);

/** Undo RemoveFolderIfKilled. */
void
KeepFolderIfKilled(const std::filesystem::path & folder);

#ifndef _WIN32
/** A process that removes the folders once the process that started it, and all that this forks later, have ended, even
 * by SIGKILL. No thread can write into the folders any more by then. */
class TemporaryFolderRemover
{
public:
  /** False if there is no memory or no process for it. */
  bool
  Start();

  /** Wait until the folders are gone. Processes that were forked since Start() must have ended. */
  void
  Finish();

private:
  int m_Process{ -1 };
  int m_WriteEnd{ -1 };
};
#endif
} // namespace ExampleIO

#endif // TemporaryFolders_h
