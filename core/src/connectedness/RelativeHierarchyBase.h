// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RelativeHierarchyBase_h
#define RelativeHierarchyBase_h

#include <cstdint>

namespace voxelmaps
{
/** A contracted graph in a RelativeFuzzyConnectednessHierarchy, of the CPU or of a CUDA device. */
class RelativeHierarchy
{
public:
  virtual ~RelativeHierarchy() = default;

  /** Number of bytes. */
  virtual std::uint64_t
  GetMemory() const = 0;
};
} // namespace voxelmaps

#endif // RelativeHierarchyBase_h
