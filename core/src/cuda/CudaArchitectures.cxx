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
#include "cuda/CudaArchitectures.h"

#include <cctype>
#include <cstdlib>
#include <sstream>

namespace voxelmaps
{
bool
ArchitecturesRunOn(const std::string & architectures, int capability)
{
  std::istringstream list(architectures);
  for (std::string entry; std::getline(list, entry, ',');)
  {
    if (entry.empty() || std::isdigit(static_cast<unsigned char>(entry[0])) == 0)
    {
      return true;
    }
    char *            rest = nullptr;
    const int         compiled = static_cast<int>(std::strtol(entry.c_str(), &rest, 10));
    const std::string kind(rest);
    const bool        isSpecific = kind.rfind('a', 0) == 0;
    const bool        isFamily = kind.rfind('f', 0) == 0;
    const bool        hasCode = kind != "-virtual";
    const bool        hasPTX = kind != "-real" && !isSpecific && !isFamily;
    if (compiled == capability || (hasPTX && compiled <= capability) ||
        (hasCode && !isSpecific && compiled / 10 == capability / 10 && compiled <= capability))
    {
      return true;
    }
  }
  return false;
}
} // namespace voxelmaps
