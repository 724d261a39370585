// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ResamplePlan_h
#define ResamplePlan_h

#include "preprocess/ResampleFormulas.h"
#include "voxelmaps/ResampleImageJob.h"

#include <cstdint>
#include <string>

namespace voxelmaps
{
/** A valid job in numbers, for both processors. */
struct ResamplePlan
{
  GridMap         map{};
  ResampleFormula formula{};
  /** Whether each axis of the output is along the same one of the image. */
  bool isSeparable{ false };
  /** Whether pixels are copied as they are. */
  bool isCopy{ false };
  bool hasPoles{ false };

  /** The part of the image that values depend on; empty if the output is outside of the image. */
  Triple boxIndex{ { 0, 0, 0 } };
  Triple boxSize{ { 0, 0, 0 } };
  /** The same with the margin of the B-spline. */
  Triple paddedIndex{ { 0, 0, 0 } };
  Triple paddedSize{ { 0, 0, 0 } };
  /** Along the lines of the padded box. */
  SplineFilter filters[3]{};

  std::int64_t numberOfOutputVoxels{ 0 };

  bool
  IsEmpty() const
  {
    return boxSize[0] == 0;
  }
};

/** Throws EngineError if the job is invalid. */
ResamplePlan
MakeResamplePlan(const ResampleImageJob & job);

/** The error for values of a box of doubles that do not fit into memory. */
std::string
GetResampleMemoryError(const Triple & size);

/** Throws the error for a pixel that is NaN or infinite, of which the number in the image is given. */
[[noreturn]] void
ThrowNonfinitePixel(const ResampleImageJob & job, std::int64_t number, double value);
} // namespace voxelmaps

#endif // ResamplePlan_h
