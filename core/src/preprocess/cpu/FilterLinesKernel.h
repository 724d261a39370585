// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Included once per instruction set by FilterLines*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#include "FilterLines.h"

namespace voxelmaps
{
namespace VOXELMAPS_INSTRUCTION_SET
{
namespace
{
/** The result of a step of a recursion, for a group of lines: the products of the input minus those of the former
 * results. Beyond the line, these are the voxel at its end times coefficients of the boundary. */
struct Step
{
  const double * inputs[4];
  const double * results[4];
  double         n[4];
  double         d[4];

  void
  Compute(double * result) const
  {
    double values[filterLaneGroup];
    for (std::int64_t k = 0; k < filterLaneGroup; ++k)
    {
      values[k] = (inputs[0][k] * n[0] + inputs[1][k] * n[1] + inputs[2][k] * n[2] + inputs[3][k] * n[3]) -
                  (results[0][k] * d[0] + results[1][k] * d[1] + results[2][k] * d[2] + results[3][k] * d[3]);
    }
    for (std::int64_t k = 0; k < filterLaneGroup; ++k)
    {
      result[k] = values[k];
    }
  }
};

/** One direction of a recursion. Voxel i is at i * stride, the first input of its step at (i - lag) * stride. */
void
FilterDirection(const double * input, double * output, std::int64_t length, std::int64_t stride, int lag,
                const double * factors, const double * denominators, const double * boundary)
{
  for (std::int64_t i = 0; i < length; ++i)
  {
    Step step;
    for (int k = 0; k < 4; ++k)
    {
      const bool isInside = i - k - 1 >= 0;
      step.n[k] = factors[k];
      step.d[k] = isInside ? denominators[k] : boundary[k];
      step.inputs[k] = i - k - lag >= 0 ? input + (i - k - lag) * stride : input;
      step.results[k] = isInside ? output + (i - k - 1) * stride : input;
    }
    step.Compute(output + i * stride);
  }
}

template <typename T>
void
Convolve(const FilterLinesTask & task)
{
  const AxisFilter & filter = *task.node->filter;
  const auto         taps = static_cast<std::int64_t>(filter.kernel.size());
  const auto * const input = static_cast<const T *>(task.input);
  auto * const       output = static_cast<T *>(task.output);
  for (std::int64_t i = 0; i < task.outputLength; ++i)
  {
    const std::int64_t reversed =
      NumberOfReversedTerms(task.first + i, filter.origin, task.lineLength, taps, filter.boundary);
    for (std::int64_t group = 0; group < task.lanes; group += filterLaneGroup)
    {
      const T * const last = input + (i + taps - 1) * task.lanes + group;
      T               sums[filterLaneGroup] = {};
      const auto      add = [&](std::int64_t j) {
        const T         factor = static_cast<T>(filter.kernel[static_cast<std::size_t>(j)]);
        const T * const values = last - j * task.lanes;
        for (std::int64_t k = 0; k < filterLaneGroup; ++k)
        {
          sums[k] += factor * values[k];
        }
      };
      for (std::int64_t j = reversed - 1; j >= 0; --j)
      {
        add(j);
      }
      for (std::int64_t j = reversed; j < taps; ++j)
      {
        add(j);
      }
      T * const result = output + i * task.lanes + group;
      for (std::int64_t k = 0; k < filterLaneGroup; ++k)
      {
        result[k] = sums[k];
      }
    }
  }
}

template <typename T>
void
FilterGaborRow(const GaborRowTask & task)
{
  for (std::int64_t group = 0; group < task.length; group += gaborLaneGroup)
  {
    const T * const center = static_cast<const T *>(task.input) + group;
    const T *       numbers = static_cast<const T *>(task.numbers);
    T               even[gaborLaneGroup];
    T               odd[gaborLaneGroup] = {};
    for (std::int64_t k = 0; k < gaborLaneGroup; ++k)
    {
      even[k] = center[k];
    }
    for (const GaborKernel::Row & row : *task.rows)
    {
      const std::int64_t offset = row.offset * task.pitch + row.first;
      const T *          before = center + offset;
      const T *          behind = center - offset;
      for (std::int64_t i = 0; i < row.count; ++i, ++before, --behind, numbers += 2)
      {
        const T evenFactor = numbers[0];
        const T oddFactor = numbers[1];
        for (std::int64_t k = 0; k < gaborLaneGroup; ++k)
        {
          even[k] += evenFactor * (before[k] + behind[k]);
          odd[k] += oddFactor * (before[k] - behind[k]);
        }
      }
    }
    for (std::int64_t k = 0; k < gaborLaneGroup; ++k)
    {
      static_cast<T *>(task.even)[group + k] = even[k];
      static_cast<T *>(task.odd)[group + k] = odd[k];
    }
  }
}
} // namespace

void
FilterRecursively(const FilterLinesTask & task)
{
  const RecursiveCoefficients & c = task.node->coefficients;
  const std::int64_t            length = task.inputLength;
  const std::int64_t            stride = task.lanes;
  const std::int64_t            last = (length - 1) * stride;
  const auto * const            input = static_cast<const double *>(task.input);
  auto * const                  output = static_cast<double *>(task.output);
  for (std::int64_t group = 0; group < stride; group += filterLaneGroup)
  {
    FilterDirection(input + group, output + group, length, stride, 0, c.n, c.d, c.causalBoundary);
    FilterDirection(
      input + group + last, task.anticausal + group + last, length, -stride, 1, c.m, c.d, c.anticausalBoundary);
  }
  for (std::int64_t i = 0; i < length * stride; ++i)
  {
    output[i] += task.anticausal[i];
  }
}

void
ConvolveDoubles(const FilterLinesTask & task)
{
  Convolve<double>(task);
}

void
ConvolveFloats(const FilterLinesTask & task)
{
  Convolve<float>(task);
}

void
GaborDoubles(const GaborRowTask & task)
{
  FilterGaborRow<double>(task);
}

void
GaborFloats(const GaborRowTask & task)
{
  FilterGaborRow<float>(task);
}
} // namespace VOXELMAPS_INSTRUCTION_SET
} // namespace voxelmaps
