// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "device/CudaArchitectures.h"

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
