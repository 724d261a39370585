// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/ParallelFor.h"
#include "discretization/GrayLevelJob.h"
#include "preprocess/cpu/FilterLines.h"
#include "voxelmaps/HostMemory.h"
#include "window/cpu/TileKernel.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace voxelmaps
{
namespace
{
/** The input of a job, or results of a filter. */
struct Values
{
  std::shared_ptr<void> memory;
  const void *          data{ nullptr };
  PixelType             type{ PixelType::Double };
  FilterBox             box;
};

/** Kernels for the processor. */
struct Kernels
{
  using Kernel = void (*)(const FilterLinesTask & task);
  Kernel filter = ChooseKernel<Kernel>(InstructionSet::AVX512, VOXELMAPS_KERNELS(FilterRecursively));
  Kernel convolveDoubles = ChooseKernel<Kernel>(InstructionSet::AVX512, VOXELMAPS_KERNELS(ConvolveDoubles));
  Kernel convolveFloats = ChooseKernel<Kernel>(InstructionSet::AVX512, VOXELMAPS_KERNELS(ConvolveFloats));

  using GaborRowKernel = void (*)(const GaborRowTask & task);
  GaborRowKernel gaborDoubles = ChooseKernel<GaborRowKernel>(InstructionSet::AVX512, VOXELMAPS_KERNELS(GaborDoubles));
  GaborRowKernel gaborFloats = ChooseKernel<GaborRowKernel>(InstructionSet::AVX512, VOXELMAPS_KERNELS(GaborFloats));
};

/** How a plane of a Gabor filter is cut into bands of rows, which a worker reads with the voxels around them. */
struct GaborBands
{
  static constexpr std::int64_t rows = 32;

  std::int64_t length; // of a row of results
  std::int64_t pitch;  // of a row of the input
  std::int64_t numberPerPlane;
  std::int64_t number;
  // Numbers in the arrays of a worker: an unpadded row, the padded rows, and sums.
  std::int64_t lineSize;
  std::int64_t paddedSize;
  std::int64_t sumsSize;

  explicit GaborBands(const FilterNode & node)
  {
    const unsigned int a = node.filter->axis;
    const unsigned int b = node.filter->secondAxis;
    const Triple       size = node.box.GetSize();
    length = (size[a] + gaborLaneGroup - 1) / gaborLaneGroup * gaborLaneGroup;
    pitch = length + 2 * node.reach[0];
    numberPerPlane = (size[b] + rows - 1) / rows;
    number = numberPerPlane * size[3 - a - b];
    lineSize = node.reads.GetSize()[a];
    paddedSize = (rows + 2 * node.reach[1]) * pitch;
    sumsSize = 2 * length;
  }
};

class Engine
{
public:
  explicit Engine(const FilterImageJob & job, const FilterPlan & plan)
    : m_Job(job)
    , m_Plan(plan)
    , m_ResultType(job.isSingle ? PixelType::Float : PixelType::Double)
  {}

  /** Bytes of the arrays of all workers for a Gabor filter, at most; those for other filters are a few lines. */
  static std::uint64_t
  GetGaborBytes(const FilterImageJob & job, const FilterPlan & plan, const std::vector<FilterNode> & nodes)
  {
    std::uint64_t bytes = 0;
    for (const FilterNode & node : nodes)
    {
      if (node.kind == FilterKind::Gabor)
      {
        const GaborBands bands(node);
        const auto       workers = std::min<std::int64_t>(job.execution.numberOfWorkers, bands.number);
        const auto       values = workers * (bands.lineSize + bands.paddedSize + bands.sumsSize);
        bytes = std::max(bytes, static_cast<std::uint64_t>(values) * plan.valueBytes);
      }
      bytes = std::max(bytes, GetGaborBytes(job, plan, node.children));
    }
    return bytes;
  }

  Values
  GetInput() const
  {
    return { {}, m_Job.pixels, m_Job.pixelType, { { { 0, 0, 0 } }, m_Job.size } };
  }

  Values
  Compute(const FilterNode & node, const Values & input)
  {
    Values results = this->Allocate(node.box);
    if (node.kind == FilterKind::Gabor)
    {
      m_Job.isSingle ? this->FilterPlanes<float>(node, input, results)
                     : this->FilterPlanes<double>(node, input, results);
    }
    else if (!m_Job.isSingle)
    {
      this->Filter<double, double>(node, input, results);
    }
    else if (node.kind == FilterKind::Recursive)
    {
      this->Filter<double, float>(node, input, results);
    }
    else
    {
      this->Filter<float, float>(node, input, results);
    }
    return results;
  }

  void
  Combine(const FilterLeaf & leaf, const FilterNode &, const Values & values)
  {
    m_Job.isSingle ? this->Combine<float>(leaf, values) : this->Combine<double>(leaf, values);
  }

private:
  struct Block
  {
    std::shared_ptr<void> memory;
    std::size_t           bytes{ 0 };
  };

  Values
  Allocate(const FilterBox & box)
  {
    Values     values;
    const auto bytes = static_cast<std::size_t>(box.GetNumberOfVoxels()) * m_Plan.valueBytes;
    // The system takes longer to provide fresh pages than the filter to fill them.
    Block block = std::exchange(m_Spare, {});
    if (block.bytes < bytes)
    {
      block.memory.reset();
      block = { MakeWorkspace(bytes), bytes };
      UseHugePages(block.memory.get(), bytes);
    }
    values.memory = std::shared_ptr<void>(block.memory.get(), [this, block](void *) {
      if (block.bytes > m_Spare.bytes)
      {
        m_Spare = block;
      }
    });
    values.data = values.memory.get();
    values.type = m_ResultType;
    values.box = box;
    return values;
  }

  /** Read the voxels from one on along an axis; those behind the end of the input are appended ones. */
  template <typename TReal>
  static void
  ReadLine(const Values & input, unsigned int axis, Triple from, std::int64_t count, TReal * values)
  {
    const FilterBox &  box = input.box;
    const std::int64_t x = from[axis];
    const std::int64_t inside = std::max<std::int64_t>(0, std::min(count, box.end[axis] - x));
    const auto         wrap = [&box](std::int64_t i, std::size_t d) { return i >= box.end[d] ? i - box.end[d] : i; };
    for (std::size_t d = 0; d < 3; ++d)
    {
      from[d] = d == axis ? 0 : wrap(from[d], d);
    }
    const std::int64_t line = box.GetNumber(from[0], from[1], from[2]);
    const std::int64_t stride = box.GetStride(axis);
    VisitPixelType(input.type, [&](auto pixel) {
      const auto * const pixels = static_cast<const decltype(pixel) *>(input.data) + line;
      if (stride == 1)
      {
        for (std::int64_t i = 0; i < inside; ++i)
        {
          values[i] = static_cast<TReal>(pixels[x + i]);
        }
      }
      for (std::int64_t i = stride == 1 ? inside : 0; i < count; ++i)
      {
        values[i] = static_cast<TReal>(pixels[wrap(x + i, axis) * stride]);
      }
    });
  }

  /** Filter all lines of a box. Those of a task are adjacent in x, or rows, if the lines are parallel to x. */
  template <typename TReal, typename TResult>
  void
  Filter(const FilterNode & node, const Values & input, const Values & results)
  {
    const unsigned int axis = node.filter->axis;
    const Triple       size = node.box.GetSize();
    const FilterBox &  reads = node.reads;
    const bool         isRecursive = node.kind == FilterKind::Recursive;
    const auto         taps = static_cast<std::int64_t>(node.filter->kernel.size());
    // Where the voxels of a line are, with those that the boundary has.
    std::vector<std::int64_t> indices;
    const std::int64_t begin = isRecursive ? reads.begin[axis] : node.box.begin[axis] + node.filter->origin - taps + 1;
    const std::int64_t end = isRecursive ? reads.end[axis] : node.box.end[axis] + node.filter->origin;
    for (std::int64_t i = begin; i < end; ++i)
    {
      indices.push_back(BoundaryIndex(i, m_Plan.size[axis], node.filter->boundary));
    }
    const std::int64_t length = end - begin;
    const std::int64_t outputLength = isRecursive ? length : size[axis];
    // Number of results of a line before the first one that is stored.
    const std::int64_t skipped = isRecursive ? node.box.begin[axis] - begin : 0;

    // As many lines as the second-level cache holds, since long parts of rows are read faster.
    constexpr std::int64_t scratchBytes = std::int64_t{ 3 } << 18;
    const std::int64_t     bytesPerLane = length * static_cast<std::int64_t>(3 * sizeof(TReal));
    const std::int64_t     mostLanes = axis == 0 ? filterLaneGroup : 4 * filterLaneGroup;
    const std::int64_t     fittingLanes = scratchBytes / bytesPerLane / filterLaneGroup * filterLaneGroup;
    const std::int64_t     lanes = std::max(filterLaneGroup, std::min(mostLanes, fittingLanes));
    const std::int64_t     rows = size[1] * size[2];
    const std::int64_t     blocks = (size[0] + lanes - 1) / lanes;
    const std::int64_t     tasks = axis == 0 ? (rows + lanes - 1) / lanes : blocks * size[3 - axis];

    auto * const target = static_cast<TResult *>(results.memory.get());
    const auto   makeWorker = [&](unsigned int) {
      const auto bytes = static_cast<std::size_t>(length * lanes) * sizeof(TReal);
      const auto row = MakeWorkspace(static_cast<std::size_t>(reads.GetSize()[0]) * sizeof(TReal));
      const auto inputs = MakeWorkspace(bytes);
      const auto outputs = MakeWorkspace(bytes);
      const auto anticausal = MakeWorkspace(isRecursive ? bytes : 1);
      return [&, row, inputs, outputs, anticausal](std::int64_t number) {
        auto * const          in = static_cast<TReal *>(inputs.get());
        auto * const          out = static_cast<TReal *>(outputs.get()) + skipped * lanes;
        const FilterLinesTask task{ &node,
                                    in,
                                    length,
                                    outputs.get(),
                                    static_cast<double *>(anticausal.get()),
                                    outputLength,
                                    lanes,
                                    m_Plan.size[axis],
                                    node.box.begin[axis] };
        m_Job.execution.CheckAbort();
        if (axis == 0)
        {
          auto * const       values = static_cast<TReal *>(row.get());
          const std::int64_t first = number * lanes;
          const std::int64_t used = std::min(lanes, rows - first);
          for (std::int64_t k = 0; k < lanes; ++k)
          {
            // Lanes without a row have the last one again, so that no value is uninitialized.
            const std::int64_t line = first + std::min(k, used - 1);
            ReadLine(input,
                     0,
                       { { reads.begin[0], node.box.begin[1] + line % size[1], node.box.begin[2] + line / size[1] } },
                     reads.GetSize()[0],
                     values);
            for (std::int64_t i = 0; i < length; ++i)
            {
              const std::int64_t index = indices[static_cast<std::size_t>(i)];
              in[i * lanes + k] = index < 0 ? TReal{ 0 } : values[index - reads.begin[0]];
            }
          }
          this->Run(task);
          for (std::int64_t k = 0; k < used; ++k)
          {
            TResult * const stored = target + (first + k) * size[0];
            for (std::int64_t i = 0; i < size[0]; ++i)
            {
              stored[i] = static_cast<TResult>(out[i * lanes + k]);
            }
          }
          return;
        }
        const std::int64_t first = node.box.begin[0] + number % blocks * lanes;
        const std::int64_t used = std::min(lanes, node.box.end[0] - first);
        const std::int64_t across = node.box.begin[3 - axis] + number / blocks;
        for (std::int64_t i = 0; i < length; ++i)
        {
          TReal * const      values = in + i * lanes;
          const std::int64_t index = indices[static_cast<std::size_t>(i)];
          if (index >= 0)
          {
            ReadLine(input, 0, { { first, axis == 1 ? index : across, axis == 1 ? across : index } }, used, values);
          }
          std::fill(values + (index < 0 ? 0 : used), values + lanes, TReal{ 0 });
        }
        this->Run(task);
        for (std::int64_t i = 0; i < size[axis]; ++i)
        {
          const std::int64_t index = node.box.begin[axis] + i;
          TResult * const    stored =
            target + (axis == 1 ? node.box.GetNumber(first, index, across) : node.box.GetNumber(first, across, index));
          for (std::int64_t k = 0; k < used; ++k)
          {
            stored[k] = static_cast<TResult>(out[i * lanes + k]);
          }
        }
      };
    };
    ForEachTask(tasks, m_Job.execution, makeWorker);
  }

  /** Compute a Gabor filter, by bands of rows of a plane. */
  template <typename TReal>
  void
  FilterPlanes(const FilterNode & node, const Values & input, const Values & results)
  {
    const AxisFilter &       filter = *node.filter;
    const unsigned int       a = filter.axis;
    const unsigned int       b = filter.secondAxis;
    const unsigned int       c = 3 - a - b;
    const GaborKernel        kernel = MakeGaborKernel(node, m_Job.spacing);
    const std::vector<TReal> numbers(kernel.numbers.begin(), kernel.numbers.end());
    const std::int64_t       reach = node.reach[0];
    const std::int64_t       margin = node.reach[1];
    const Triple             size = node.box.GetSize();
    const FilterBox &        reads = node.reads;
    const GaborBands         bands(node);
    const std::int64_t       length = bands.length;
    const std::int64_t       pitch = bands.pitch;
    // Where the voxels of a row are, with those that the boundary has.
    std::vector<std::int64_t> indices;
    for (std::int64_t i = node.box.begin[a] - reach; i < node.box.end[a] + reach; ++i)
    {
      indices.push_back(BoundaryIndex(i, m_Plan.size[a], filter.boundary));
    }
    const auto makeWorker = [&](unsigned int) {
      const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(TReal); };
      const auto line = MakeWorkspace(bytes(bands.lineSize));
      const auto rows = MakeWorkspace(bytes(bands.paddedSize));
      const auto sums = MakeWorkspace(bytes(bands.sumsSize));
      return [&, line, rows, sums](std::int64_t number) {
        auto * const       values = static_cast<TReal *>(line.get());
        auto * const       even = static_cast<TReal *>(sums.get());
        Triple             at = node.box.begin;
        const std::int64_t first = at[b] + number % bands.numberPerPlane * GaborBands::rows;
        const std::int64_t end = std::min(first + GaborBands::rows, node.box.end[b]);
        at[c] += number / bands.numberPerPlane;
        auto * row = static_cast<TReal *>(rows.get());
        for (std::int64_t i = first - margin; i < end + margin; ++i, row += pitch)
        {
          std::fill_n(row, pitch, TReal{ 0 });
          at[a] = reads.begin[a];
          at[b] = BoundaryIndex(i, m_Plan.size[b], filter.boundary);
          if (at[b] >= 0)
          {
            ReadLine(input, a, at, reads.GetSize()[a], values);
            for (std::size_t k = 0; k < indices.size(); ++k)
            {
              row[k] = indices[k] < 0 ? TReal{ 0 } : values[indices[k] - reads.begin[a]];
            }
          }
        }
        at[a] = node.box.begin[a];
        for (at[b] = first; at[b] < end; ++at[b])
        {
          m_Job.execution.CheckAbort();
          const TReal * const corner = static_cast<TReal *>(rows.get()) + (at[b] - first + margin) * pitch + reach;
          const GaborRowTask  task{ &kernel.rows, numbers.data(), corner, even, even + length, pitch, length };
          (m_Job.isSingle ? m_Kernels.gaborFloats : m_Kernels.gaborDoubles)(task);
          TReal * const stored = static_cast<TReal *>(results.memory.get()) + node.box.GetNumber(at[0], at[1], at[2]);
          for (std::int64_t k = 0; k < size[a]; ++k)
          {
            stored[k * node.box.GetStride(a)] = static_cast<TReal>(Modulus(even[k], even[length + k]));
          }
        }
      };
    };
    ForEachTask(bands.number, m_Job.execution, makeWorker);
  }

  void
  Run(const FilterLinesTask & task) const
  {
    const bool isRecursive = task.node->kind == FilterKind::Recursive;
    (isRecursive ? m_Kernels.filter : m_Job.isSingle ? m_Kernels.convolveFloats : m_Kernels.convolveDoubles)(task);
  }

  template <typename TResult>
  void
  Combine(const FilterLeaf & leaf, const Values & values)
  {
    const std::int64_t voxels = m_Plan.output.GetNumberOfVoxels();
    const auto         add = [&](auto * output) {
      output += static_cast<std::int64_t>(leaf.image) * voxels;
      if (m_Plan.hasSums && !(leaf.IsFirst() && leaf.IsLast()))
      {
        Values & sums = m_Sums[leaf.image];
        if (leaf.IsFirst())
        {
          sums = this->Allocate(m_Plan.output);
        }
        this->AddRows(
          leaf, values, static_cast<const TResult *>(nullptr), static_cast<TResult *>(sums.memory.get()), output);
        if (leaf.IsLast())
        {
          m_Sums.erase(leaf.image);
        }
      }
      else
      {
        this->AddRows(leaf, values, static_cast<const TResult *>(nullptr), output, output);
      }
    };
    m_Job.outputIsDouble ? add(static_cast<double *>(m_Job.output)) : add(static_cast<float *>(m_Job.output));
  }

  /** Add a term; the output has the last sum. Where sums need no memory of their own, they are the output. */
  template <typename TResult, typename TSum, typename TOutput>
  void
  AddRows(const FilterLeaf & leaf, const Values & values, const TResult *, TSum * sums, TOutput * output) const
  {
    const Triple size = m_Plan.output.GetSize();
    ForEachTask(size[1] * size[2], m_Job.execution, [&](unsigned int) {
      return [&](std::int64_t row) {
        const Triple &        begin = m_Plan.output.begin;
        const TResult * const terms =
          static_cast<const TResult *>(values.data) +
          values.box.GetNumber(begin[0], begin[1] + row % size[1], begin[2] + row / size[1]);
        TSum * const    sum = sums + row * size[0];
        TOutput * const result = output + row * size[0];
        for (std::int64_t i = 0; i < size[0]; ++i)
        {
          const double value =
            AddTerm(leaf, leaf.IsFirst() ? 0.0 : static_cast<double>(sum[i]), static_cast<double>(terms[i]));
          if (leaf.IsLast())
          {
            result[i] = static_cast<TOutput>(value);
          }
          else
          {
            sum[i] = static_cast<TSum>(value);
          }
        }
        m_Job.execution.ReportProgress(leaf.GetProgress(size[0]));
      };
    });
  }

  const FilterImageJob & m_Job;
  const FilterPlan &     m_Plan;
  const PixelType        m_ResultType;
  const Kernels          m_Kernels;
  // The largest block that is not used any more; it must live longer than the sums.
  Block                         m_Spare;
  std::map<std::size_t, Values> m_Sums;
};
} // namespace

void
FilterImage(const FilterImageJob & job)
{
  const DefaultFloatingPointEnvironment environment;
  const FilterPlan                      plan(job);
  if (plan.IsEmpty() || job.images.empty())
  {
    return;
  }
  VerifyFilterMemory(GetFilterBytes(plan) + Engine::GetGaborBytes(job, plan, plan.roots),
                     job.memoryBudget == 0 ? GetMachineMemory() : job.memoryBudget,
                     "memory");
  Engine engine(job, plan);
  ComputeNodes(engine, plan.roots, engine.GetInput());
}
} // namespace voxelmaps
