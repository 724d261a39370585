// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Filter_h
#define Filter_h

#include "common/HostDevice.h"
#include "voxelmaps/FilterImageJob.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

// What the filters of CPU and CUDA have in common.
namespace voxelmaps
{
/** The most numbers that a kernel has. */
constexpr std::int64_t maxTaps = std::int64_t{ 1 } << 20;

/** Throw EngineError with a message of these parts. */
template <typename... TParts>
[[noreturn]] void
Refuse(const TParts &... parts)
{
  std::ostringstream message;
  (message << ... << parts);
  throw EngineError(message.str());
}

/** Coefficients of Deriche's recursion: those of the input (causal and anticausal), of former results, and of voxels
 * before the first one, which are equal to it. */
struct RecursiveCoefficients
{
  double n[4];
  double m[4];
  double d[4];
  double causalBoundary[4];
  double anticausalBoundary[4];
};

/** The numbers of a Gabor filter, even and odd part in turn, of the voxels before that of the result, in whose order
 * they are. Those behind it have the same even part and the negative odd part, and that of the result has 1 and 0. */
struct GaborKernel
{
  /** Voxels that are adjacent along the axis, from first on, at an offset along the second axis from the result. */
  struct Row
  {
    std::int64_t offset;
    std::int64_t first;
    std::int64_t count;
  };
  std::vector<Row>    rows;
  std::vector<double> numbers;
};

/** The modulus of the response to the even and the odd part. */
VOXELMAPS_HOST_DEVICE inline double
Modulus(double even, double odd)
{
  return std::sqrt(even * even + odd * odd);
}

/** The coefficients of a filter for voxels of a size along its axis. Throws EngineError if they are not finite. */
RecursiveCoefficients
ComputeRecursiveCoefficients(const AxisFilter & filter, double spacing);

/** Sum of products, in the order of ITK. */
VOXELMAPS_HOST_DEVICE inline double
SumOfFour(double a, double b, double c, double d, const double * factors)
{
  return a * factors[0] + b * factors[1] + c * factors[2] + d * factors[3];
}

/** Index of the voxel that a boundary has at an index beyond the ends of a line, or the index itself; -1 for zero. */
VOXELMAPS_HOST_DEVICE inline std::int64_t
BoundaryIndex(std::int64_t index, std::int64_t length, FilterBoundary boundary)
{
  if (index >= 0 && index < length)
  {
    return index;
  }
  switch (boundary)
  {
    case FilterBoundary::Zero:
      return -1;
    case FilterBoundary::Nearest:
      return index < 0 ? 0 : length - 1;
    default:
      break;
  }
  const bool         isPeriodic = boundary == FilterBoundary::Periodic;
  const std::int64_t edge = boundary == FilterBoundary::MirrorWithoutEdge ? 1 : 0;
  const std::int64_t period = isPeriodic ? length : 2 * (length - edge);
  if (period == 0)
  {
    return 0;
  }
  const std::int64_t remainder = (index % period + period) % period;
  return remainder < length ? remainder : period - 1 + edge - remainder;
}

/** The number of the first terms of a convolution, for the result at an index, that begin again from the other end;
 * they are added in reverse order. */
VOXELMAPS_HOST_DEVICE inline std::int64_t
NumberOfReversedTerms(std::int64_t index, std::int64_t origin, std::int64_t length, std::int64_t taps,
                      FilterBoundary boundary)
{
  const std::int64_t beyond = index + origin - length + 1;
  return boundary != FilterBoundary::Periodic || beyond < 0 ? 0 : beyond < taps ? beyond : taps;
}

/** A term within the combination of its image. */
struct FilterLeaf
{
  std::size_t       image;
  double            factor;
  FilterCombination combination;
  bool              isAbsolute;
  /** Its number in the order of computation, and that of terms. */
  std::int64_t number;
  std::int64_t count;

  VOXELMAPS_HOST_DEVICE bool
  IsFirst() const
  {
    return number == 0;
  }
  VOXELMAPS_HOST_DEVICE bool
  IsLast() const
  {
    return number + 1 == count;
  }
  /** What the term contributes to the progress of so many voxels, which all terms make. */
  std::uint64_t
  GetProgress(std::int64_t voxels) const
  {
    return static_cast<std::uint64_t>(voxels * (number + 1) / count - voxels * number / count);
  }
};

/** The combination with the value of one more term. */
VOXELMAPS_HOST_DEVICE inline double
AddTerm(const FilterLeaf & leaf, double former, double value)
{
  const double term = leaf.factor * value;
  double       result = leaf.combination == FilterCombination::Magnitude ? term * term : term;
  if (!leaf.IsFirst() && leaf.combination == FilterCombination::Maximum)
  {
    // NaN stays.
    result = former >= result || former != former ? former : result;
  }
  else if (!leaf.IsFirst())
  {
    result = former + result;
  }
  if (leaf.IsLast())
  {
    result = leaf.combination == FilterCombination::Magnitude ? std::sqrt(result)
             : leaf.combination == FilterCombination::Mean    ? result / static_cast<double>(leaf.count)
                                                              : result;
    result = leaf.isAbsolute ? std::fabs(result) : result;
  }
  return result;
}

/** A box of voxels, from begin to before end. */
struct FilterBox
{
  Triple begin{ { 0, 0, 0 } };
  Triple end{ { 0, 0, 0 } };

  Triple
  GetSize() const
  {
    return { { end[0] - begin[0], end[1] - begin[1], end[2] - begin[2] } };
  }
  std::int64_t
  GetNumberOfVoxels() const
  {
    const Triple size = this->GetSize();
    return size[0] * size[1] * size[2];
  }
  /** Voxels of an array of the box from one to the next along an axis. */
  std::int64_t
  GetStride(unsigned int axis) const
  {
    const Triple size = this->GetSize();
    return axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
  }
  /** Number of a voxel in an array of the box. */
  std::int64_t
  GetNumber(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return ((z - begin[2]) * (end[1] - begin[1]) + (y - begin[1])) * (end[0] - begin[0]) + (x - begin[0]);
  }
};

/** How a filter is computed. */
enum class FilterKind : std::uint8_t
{
  Recursive,
  Convolution,
  Gabor
};

/** A filter in the tree of the filters of a job, whose branches begin with the same ones. */
struct FilterNode
{
  const AxisFilter *    filter{ nullptr };
  FilterKind            kind{ FilterKind::Recursive };
  RecursiveCoefficients coefficients{};
  /** Offsets of a Gabor filter along its axes are within these. */
  std::array<std::int64_t, 2> reach{ { 0, 0 } };

  FilterBox               box;   // of its results
  FilterBox               reads; // of the results of the filter before it, which it needs
  std::vector<FilterNode> children;
  std::vector<FilterLeaf> leaves;
};

/** The kernel of a Gabor filter for voxels of a spacing. */
GaborKernel
MakeGaborKernel(const FilterNode & node, const std::array<double, 3> & spacing);

/** The filters of a job. */
struct FilterPlan
{
  Triple                  size; // with appended planes
  FilterBox               output;
  FilterBox               input; // that the output depends on
  std::vector<FilterNode> roots;
  /** Whether sums need memory of their own, since the output has another type. */
  bool        hasSums{ false };
  std::size_t valueBytes{ sizeof(double) }; // of results and sums

  /** Throws EngineError if the job is invalid. */
  explicit FilterPlan(const FilterImageJob & job, bool hasArrays = true);

  bool
  IsEmpty() const
  {
    return output.GetNumberOfVoxels() == 0;
  }
};

/** Compute nodes from the results of a filter, which are released as early as possible. The engine has Compute(node,
 * input), which returns results, and Combine(leaf, node, results). */
template <typename TEngine, typename TResults>
void
ComputeNodes(TEngine & engine, const std::vector<FilterNode> & nodes, TResults input)
{
  for (std::size_t i = 0; i < nodes.size(); ++i)
  {
    auto results = engine.Compute(nodes[i], input);
    if (i + 1 == nodes.size())
    {
      input = {};
    }
    for (const FilterLeaf & leaf : nodes[i].leaves)
    {
      engine.Combine(leaf, nodes[i], results);
    }
    ComputeNodes(engine, nodes[i].children, std::move(results));
  }
}

/** Bytes of results and sums that are in memory at most. */
std::uint64_t
GetFilterBytes(const FilterPlan & plan);

/** Throw EngineError if a job needs more bytes than can be used. */
void
VerifyFilterMemory(std::uint64_t needed, std::uint64_t usable, const char * where);
} // namespace voxelmaps

#endif // Filter_h
