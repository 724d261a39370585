// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaPolicy_h
#define CudaPolicy_h

#include <cstdint>
#include <cstdlib>
#include <string>

namespace voxelmaps
{
/** A number that decides how work is divided or which of two ways computes it, so that times depend on it, but no
 * result. benchmarks/tune.py lists all of them, with device, job and gain, and compares others:
 * VOXELMAPS_POLICY="name=number,..." sets them. */
inline std::int64_t
PolicyValue(const std::string & name, std::int64_t value)
{
  if (const char * const given = std::getenv("VOXELMAPS_POLICY"))
  {
    const std::string numbers = std::string(",") + given;
    const std::string key = "," + name + "=";
    const std::size_t at = numbers.find(key);
    return at == std::string::npos ? value : std::strtoll(numbers.c_str() + at + key.size(), nullptr, 10);
  }
  return value;
}
} // namespace voxelmaps

#endif // CudaPolicy_h
