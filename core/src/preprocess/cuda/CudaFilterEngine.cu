// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/ParallelFor.h"
#include "device/CudaLaunch.h"
#include "device/CudaStaging.h"
#include "discretization/GrayLevelJob.h"
#include "preprocess/Filter.h"

#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 128;
constexpr int          tileSize = 32;
constexpr int          tileRows = 8;

/** A FilterBox for kernels. */
struct DeviceBox
{
  std::int64_t begin[3];
  std::int64_t size[3];

  explicit DeviceBox(const FilterBox & box)
  {
    for (int d = 0; d < 3; ++d)
    {
      begin[d] = box.begin[d];
      size[d] = box.GetSize()[d];
    }
  }
  __device__ std::int64_t
             GetNumber(const std::int64_t * index) const
  {
    return ((index[2] - begin[2]) * size[1] + (index[1] - begin[1])) * size[0] + (index[0] - begin[0]);
  }
  __device__ void
  GetIndex(std::int64_t number, std::int64_t * index) const
  {
    index[0] = begin[0] + number % size[0];
    index[1] = begin[1] + number / size[0] % size[1];
    index[2] = begin[2] + number / size[0] / size[1];
  }
};

/** Lines in an array: line k begins at k % inner + k / inner * outerStride, after the offset. */
struct LineLayout
{
  std::int64_t offset;
  std::int64_t inner;
  std::int64_t outerStride;
  std::int64_t stride; // from one voxel of a line to the next

  __device__ std::int64_t
             GetBegin(std::int64_t line) const
  {
    return offset + line % inner + line / inner * outerStride;
  }
};

struct ConvolutionParameters
{
  const double * kernel;
  std::int64_t   taps;
  std::int64_t   origin;
  std::int64_t   length;
  FilterBoundary boundary;
  unsigned int   axis;
  std::int64_t   stride; // of the input along the axis
};

template <typename TPixel, typename TReal>
__global__ void
ConvolveKernel(const __grid_constant__ ConvolutionParameters filter, const TPixel * input,
               const __grid_constant__ DeviceBox inputBox, TReal * results, const __grid_constant__ DeviceBox box)
{
  ForEachInGrid(box.size[0] * box.size[1] * box.size[2], [&](std::int64_t number) {
    std::int64_t index[3];
    box.GetIndex(number, index);
    const std::int64_t i = index[filter.axis];
    index[filter.axis] = 0;
    const TPixel * const line = input + inputBox.GetNumber(index);
    TReal                sum = 0;
    const auto           add = [&](std::int64_t j) {
      const std::int64_t at = BoundaryIndex(i + filter.origin - j, filter.length, filter.boundary);
      const TReal        value = at < 0 ? TReal{ 0 } : static_cast<TReal>(line[at * filter.stride]);
      sum += static_cast<TReal>(filter.kernel[j]) * value;
    };
    const std::int64_t reversed = NumberOfReversedTerms(i, filter.origin, filter.length, filter.taps, filter.boundary);
    for (std::int64_t j = reversed - 1; j >= 0; --j)
    {
      add(j);
    }
    for (std::int64_t j = reversed; j < filter.taps; ++j)
    {
      add(j);
    }
    results[number] = sum;
  });
}

/** Planes of a Gabor filter with the voxels around them: voxel (i, j) of plane k is at (k * rows + j) * pitch + i. */
struct GaborPlanes
{
  unsigned int a, b, c; // axes of the filter and the one across
  std::int64_t pitch;
  std::int64_t rows;
  std::int64_t reach;  // voxels before the first result along a
  std::int64_t margin; // and along b
  std::int64_t first;  // plane
  std::int64_t count;  // of planes
};

template <typename TPixel, typename TReal>
__global__ void
PadKernel(const __grid_constant__ GaborPlanes planes, FilterBoundary boundary, const __grid_constant__ DeviceBox image,
          const TPixel * input, const __grid_constant__ DeviceBox inputBox, const __grid_constant__ DeviceBox box,
          TReal * padded)
{
  ForEachInGrid(planes.pitch * planes.rows * planes.count, [&](std::int64_t number) {
    const std::int64_t i = number % planes.pitch + box.begin[planes.a] - planes.reach;
    const std::int64_t j = number / planes.pitch % planes.rows + box.begin[planes.b] - planes.margin;
    std::int64_t       index[3];
    index[planes.a] = BoundaryIndex(i, image.size[planes.a], boundary);
    index[planes.b] = BoundaryIndex(j, image.size[planes.b], boundary);
    index[planes.c] = planes.first + number / planes.pitch / planes.rows;
    const bool isZero = index[planes.a] < 0 || index[planes.b] < 0;
    padded[number] = isZero ? TReal{ 0 } : static_cast<TReal>(input[inputBox.GetNumber(index)]);
  });
}

/** Each thread has the results of adjacent planes, for which it reads the kernel once. */
template <int planesPerThread, typename TReal>
__global__ void
GaborRowsKernel(const __grid_constant__ GaborPlanes planes, const GaborKernel::Row * rows, std::int64_t numberOfRows,
                const TReal * numbers, const TReal * padded, TReal * results, const __grid_constant__ DeviceBox box)
{
  const std::int64_t groups = (planes.count + planesPerThread - 1) / planesPerThread;
  ForEachInGrid(box.size[planes.a] * box.size[planes.b] * groups, [&](std::int64_t number) {
    const std::int64_t i = number % box.size[planes.a];
    const std::int64_t j = number / box.size[planes.a] % box.size[planes.b];
    const std::int64_t plane = number / box.size[planes.a] / box.size[planes.b] * planesPerThread;
    const TReal *      inputs[planesPerThread];
    TReal              even[planesPerThread];
    TReal              odd[planesPerThread] = {};
#pragma unroll
    for (int k = 0; k < planesPerThread; ++k)
    {
      const std::int64_t at = plane + k < planes.count ? plane + k : planes.count - 1;
      inputs[k] = padded + (at * planes.rows + j + planes.margin) * planes.pitch + i + planes.reach;
      even[k] = *inputs[k];
    }
    const TReal * factors = numbers;
    for (std::int64_t r = 0; r < numberOfRows; ++r)
    {
      const GaborKernel::Row row = rows[r];
      std::int64_t           offset = row.offset * planes.pitch + row.first;
      for (std::int64_t t = 0; t < row.count; ++t, ++offset, factors += 2)
      {
        const TReal evenFactor = factors[0];
        const TReal oddFactor = factors[1];
#pragma unroll
        for (int k = 0; k < planesPerThread; ++k)
        {
          const TReal before = inputs[k][offset];
          const TReal behind = inputs[k][-offset];
          even[k] += evenFactor * (before + behind);
          odd[k] += oddFactor * (before - behind);
        }
      }
    }
    std::int64_t index[3];
    index[planes.a] = box.begin[planes.a] + i;
    index[planes.b] = box.begin[planes.b] + j;
#pragma unroll
    for (int k = 0; k < planesPerThread; ++k)
    {
      index[planes.c] = planes.first + plane + k;
      if (plane + k < planes.count)
      {
        results[box.GetNumber(index)] = static_cast<TReal>(Modulus(even[k], odd[k]));
      }
    }
  });
}

/** One direction of a recursion along a line; get(i) is the input i steps from the first one, and set(i, value) is
 * called with the results. */
template <typename TGet, typename TSet>
__device__ void
FilterDirection(std::int64_t length, const double * factors, const double * denominators, const double * boundary,
                bool isCausal, const TGet & get, const TSet & set)
{
  const double first = get(0);
  double       inputs[4] = { first, first, first, first };
  double       results[4] = { first, first, first, first };
  for (std::int64_t i = 0; i < length; ++i)
  {
    if (isCausal)
    {
      inputs[3] = inputs[2];
      inputs[2] = inputs[1];
      inputs[1] = inputs[0];
      inputs[0] = get(i);
    }
    const double past =
      i < 4
        ? results[0] * (i > 0 ? denominators[0] : boundary[0]) + results[1] * (i > 1 ? denominators[1] : boundary[1]) +
            results[2] * (i > 2 ? denominators[2] : boundary[2]) + results[3] * (i > 3 ? denominators[3] : boundary[3])
        : SumOfFour(results[0], results[1], results[2], results[3], denominators);
    const double value = SumOfFour(inputs[0], inputs[1], inputs[2], inputs[3], factors) - past;
    results[3] = results[2];
    results[2] = results[1];
    results[1] = results[0];
    results[0] = value;
    set(i, value);
    if (!isCausal)
    {
      inputs[3] = inputs[2];
      inputs[2] = inputs[1];
      inputs[1] = inputs[0];
      inputs[0] = get(i);
    }
  }
}

/** Filter a line per thread; the results of its voxels from skipped on are stored, of which there are count. */
template <typename TPixel, typename TResult>
__global__ void
RecursiveKernel(const __grid_constant__ RecursiveCoefficients c, const TPixel * input,
                const __grid_constant__ LineLayout from, double * causal, TResult * results,
                const __grid_constant__ LineLayout to, std::int64_t lines, std::int64_t length, std::int64_t skipped,
                std::int64_t count)
{
  ForEachInGrid(lines, [&](std::int64_t line) {
    const TPixel * const values = input + from.GetBegin(line);
    TResult * const      stored = results + to.GetBegin(line);
    FilterDirection(
      length,
      c.n,
      c.d,
      c.causalBoundary,
      true,
      [&](std::int64_t i) { return static_cast<double>(values[i * from.stride]); },
      [&](std::int64_t i, double value) {
        if (i >= skipped && i < skipped + count)
        {
          causal[(i - skipped) * lines + line] = value;
        }
      });
    FilterDirection(
      length,
      c.m,
      c.d,
      c.anticausalBoundary,
      false,
      [&](std::int64_t i) { return static_cast<double>(values[(length - 1 - i) * from.stride]); },
      [&](std::int64_t i, double value) {
        const std::int64_t at = length - 1 - i - skipped;
        if (at >= 0 && at < count)
        {
          stored[at * to.stride] = static_cast<TResult>(causal[at * lines + line] + value);
        }
      });
  });
}

/** Exchange rows and columns: row r of the input begins at the line r of the layout, of which voxels from the offset of
 * the layout on are read. The output has one row per column. */
template <typename TFrom, typename TTo>
__global__ void
TransposeKernel(const TFrom * input, std::int64_t inputPitch, std::int64_t inner, std::int64_t outerPitch,
                std::int64_t rows, std::int64_t columns, TTo * output)
{
  __shared__ TTo     tile[tileSize][tileSize + 1];
  const std::int64_t columnTiles = (columns + tileSize - 1) / tileSize;
  const std::int64_t tiles = columnTiles * ((rows + tileSize - 1) / tileSize);
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x)
  {
    const std::int64_t column = number % columnTiles * tileSize;
    const std::int64_t row = number / columnTiles * tileSize;
    for (int r = static_cast<int>(threadIdx.y); r < tileSize; r += tileRows)
    {
      const std::int64_t from = row + r;
      if (from < rows && column + threadIdx.x < columns)
      {
        tile[r][threadIdx.x] =
          static_cast<TTo>(input[from % inner * inputPitch + from / inner * outerPitch + column + threadIdx.x]);
      }
    }
    __syncthreads();
    for (int r = static_cast<int>(threadIdx.y); r < tileSize; r += tileRows)
    {
      if (column + r < columns && row + threadIdx.x < rows)
      {
        output[(column + r) * rows + row + threadIdx.x] = tile[threadIdx.x][r];
      }
    }
    __syncthreads();
  }
}

template <typename TPixel>
__global__ void
AppendKernel(const TPixel * input, const __grid_constant__ DeviceBox inputBox, TPixel * output,
             const __grid_constant__ DeviceBox box)
{
  ForEachInGrid(box.size[0] * box.size[1] * box.size[2], [&](std::int64_t number) {
    std::int64_t index[3];
    box.GetIndex(number, index);
    for (int d = 0; d < 3; ++d)
    {
      index[d] = index[d] >= inputBox.size[d] ? index[d] - inputBox.size[d] : index[d];
    }
    output[number] = input[inputBox.GetNumber(index)];
  });
}

template <typename TResult, typename TSum, typename TOutput>
__global__ void
CombineKernel(const __grid_constant__ FilterLeaf leaf, const TResult * values, const __grid_constant__ DeviceBox box,
              TSum * sums, TOutput * output, const __grid_constant__ DeviceBox outputBox)
{
  ForEachInGrid(outputBox.size[0] * outputBox.size[1] * outputBox.size[2], [&](std::int64_t number) {
    std::int64_t index[3];
    outputBox.GetIndex(number, index);
    const double former = leaf.IsFirst() ? 0.0 : static_cast<double>(sums[number]);
    const double value = AddTerm(leaf, former, static_cast<double>(values[box.GetNumber(index)]));
    if (leaf.IsLast())
    {
      output[number] = static_cast<TOutput>(value);
    }
    else
    {
      sums[number] = static_cast<TSum>(value);
    }
  });
}

/** The input of a job, or results of a filter. */
struct Values
{
  std::shared_ptr<DeviceBuffer<char>> memory;
  const void *                        data{ nullptr };
  PixelType                           type{ PixelType::Double };
  FilterBox                           box;
};

class Engine
{
public:
  Engine(const FilterImageJob & job, const FilterPlan & plan, const CudaOptions & options, cudaStream_t stream)
    : m_Job(job)
    , m_Plan(plan)
    , m_HasHostOutput(options.outputLocation == MemoryLocation::Host)
    , m_Stream(stream)
    , m_Staging(job.execution)
  {
    m_Input.box.end = job.size;
    m_Input.type = job.pixelType;
    m_Input.data = job.pixels;
    if (options.inputLocation == MemoryLocation::Host)
    {
      const auto bytes = static_cast<std::size_t>(m_Input.box.GetNumberOfVoxels() * GetPixelSize(job.pixelType));
      m_Input.memory = std::make_shared<DeviceBuffer<char>>(bytes, stream);
      m_Input.data = m_Input.memory->data();
      m_Staging.ToDevice(m_Input.memory->data(), job.pixels, bytes, stream);
      // The caller may free its memory after an error.
      const CudaEvent isCopied;
      isCopied.Record(stream);
      isCopied.Synchronize();
    }
    if (plan.size != job.size)
    {
      Values appended;
      appended.box.end = plan.size;
      appended.type = job.pixelType;
      const auto bytes = static_cast<std::size_t>(appended.box.GetNumberOfVoxels() * GetPixelSize(job.pixelType));
      appended.memory = std::make_shared<DeviceBuffer<char>>(bytes, stream);
      appended.data = appended.memory->data();
      VisitPixelType(job.pixelType, [&](auto pixel) {
        using Pixel = decltype(pixel);
        AppendKernel<<<this->GetBlocks(appended.box.GetNumberOfVoxels()), threadsPerBlock, 0, m_Stream>>>(
          static_cast<const Pixel *>(m_Input.data),
          DeviceBox(m_Input.box),
          reinterpret_cast<Pixel *>(appended.memory->data()),
          DeviceBox(appended.box));
        CheckLaunch("starting the kernel that appends planes");
      });
      m_Input = std::move(appended);
    }
  }
  Engine(const Engine &) = delete;
  Engine &
  operator=(const Engine &) = delete;

  Values
  TakeInput()
  {
    return std::exchange(m_Input, {});
  }

  Values
  Compute(const FilterNode & node, const Values & input)
  {
    m_Job.execution.CheckAbort();
    Values results;
    results.box = node.box;
    results.type = m_Job.isSingle ? PixelType::Float : PixelType::Double;
    results.memory = this->Allocate(node.box);
    results.data = results.memory->data();
    VisitPixelType(input.type, [&](auto pixel) {
      const auto * const pixels = static_cast<const decltype(pixel) *>(input.data);
      if (m_Job.isSingle)
      {
        this->Compute(node, pixels, input.box, reinterpret_cast<float *>(results.memory->data()));
      }
      else
      {
        this->Compute(node, pixels, input.box, reinterpret_cast<double *>(results.memory->data()));
      }
    });
    return results;
  }

  void
  Combine(const FilterLeaf & leaf, const FilterNode &, const Values & values)
  {
    m_Job.isSingle ? this->Combine<float>(leaf, values) : this->Combine<double>(leaf, values);
  }

  /** Bytes of buffers other than results and sums. */
  static std::uint64_t
  GetOtherBytes(const FilterImageJob & job, const FilterPlan & plan, const CudaOptions & options)
  {
    const std::uint64_t pixels = static_cast<std::uint64_t>(GetPixelSize(job.pixelType));
    FilterBox           array;
    array.end = plan.size;
    const auto    voxels = static_cast<std::uint64_t>(array.GetNumberOfVoxels());
    std::uint64_t bytes = options.inputLocation == MemoryLocation::Host ? voxels * pixels : 0;
    bytes += plan.size != job.size ? voxels * pixels : 0;
    bytes += options.outputLocation == MemoryLocation::Host
               ? static_cast<std::uint64_t>(plan.output.GetNumberOfVoxels()) * sizeof(double)
               : 0;
    return bytes + GetScratchBytes(plan.roots, plan.valueBytes);
  }

private:
  /** Planes that a Gabor filter makes at a time: as many as are 64 MiB, or one. */
  static GaborPlanes
  GetGaborPlanes(const FilterNode & node, std::uint64_t valueBytes)
  {
    constexpr std::int64_t mostBytes = std::int64_t{ 1 } << 26;
    const unsigned int     a = node.filter->axis;
    const unsigned int     b = node.filter->secondAxis;
    const Triple           size = node.box.GetSize();
    GaborPlanes            planes{ a, b, 3 - a - b, 0, 0, node.reach[0], node.reach[1], 0, 0 };
    planes.pitch = size[a] + 2 * planes.reach;
    planes.rows = size[b] + 2 * planes.margin;
    const std::int64_t bytes = planes.pitch * planes.rows * static_cast<std::int64_t>(valueBytes);
    planes.count = std::min(size[planes.c], std::max<std::int64_t>(1, mostBytes / bytes));
    return planes;
  }

  static std::uint64_t
  GetScratchBytes(const std::vector<FilterNode> & nodes, std::uint64_t valueBytes)
  {
    std::uint64_t bytes = 0;
    for (const FilterNode & node : nodes)
    {
      const auto results = static_cast<std::uint64_t>(node.box.GetNumberOfVoxels());
      FilterBox  lines = node.box;
      lines.begin[0] = node.reads.begin[0];
      lines.end[0] = node.reads.end[0];
      std::uint64_t scratch = node.kind == FilterKind::Recursive ? results * sizeof(double) : 0;
      if (node.kind == FilterKind::Gabor)
      {
        const GaborPlanes planes = GetGaborPlanes(node, valueBytes);
        scratch = static_cast<std::uint64_t>(planes.pitch * planes.rows * planes.count) * valueBytes;
      }
      else if (scratch > 0 && node.filter->axis == 0)
      {
        scratch += static_cast<std::uint64_t>(lines.GetNumberOfVoxels()) * sizeof(double) + results * valueBytes;
      }
      bytes = std::max({ bytes, scratch, GetScratchBytes(node.children, valueBytes) });
    }
    return bytes;
  }

  std::shared_ptr<DeviceBuffer<char>>
  Allocate(const FilterBox & box) const
  {
    const auto bytes = static_cast<std::size_t>(box.GetNumberOfVoxels()) * m_Plan.valueBytes;
    return std::make_shared<DeviceBuffer<char>>(bytes, m_Stream);
  }

  static unsigned int
  GetBlocks(std::int64_t items)
  {
    return BlocksForGridStride(static_cast<std::uint64_t>(items), threadsPerBlock);
  }

  template <typename TFrom, typename TTo>
  void
  Transpose(const TFrom * input, std::int64_t pitch, std::int64_t inner, std::int64_t outerPitch, std::int64_t rows,
            std::int64_t columns, TTo * output)
  {
    const std::int64_t tiles = ((rows + tileSize - 1) / tileSize) * ((columns + tileSize - 1) / tileSize);
    const dim3         threads(tileSize, tileRows);
    TransposeKernel<<<BlocksFor(static_cast<std::uint64_t>(tiles), 1), threads, 0, m_Stream>>>(
      input, pitch, inner, outerPitch, rows, columns, output);
    CheckLaunch("starting the kernel that transposes lines");
  }

  template <typename TPixel, typename TResult>
  void
  Compute(const FilterNode & node, const TPixel * pixels, const FilterBox & inputBox, TResult * results)
  {
    const unsigned int axis = node.filter->axis;
    if (node.kind == FilterKind::Gabor)
    {
      this->FilterPlanes(node, pixels, inputBox, results);
      return;
    }
    if (node.kind == FilterKind::Convolution)
    {
      const auto * const bytes = reinterpret_cast<const char *>(node.filter->kernel.data());
      const auto         taps = static_cast<std::int64_t>(node.filter->kernel.size());
      auto table = CudaContext::Current().GetTable({ bytes, bytes + node.filter->kernel.size() * sizeof(double) });
      const ConvolutionParameters parameters{ static_cast<const double *>(table.get()),
                                              taps,
                                              node.filter->origin,
                                              m_Plan.size[axis],
                                              node.filter->boundary,
                                              axis,
                                              axis == 0   ? 1
                                              : axis == 1 ? inputBox.GetSize()[0]
                                                          : inputBox.GetSize()[0] * inputBox.GetSize()[1] };
      ConvolveKernel<<<GetBlocks(node.box.GetNumberOfVoxels()), threadsPerBlock, 0, m_Stream>>>(
        parameters, pixels, DeviceBox(inputBox), results, DeviceBox(node.box));
      CheckLaunch("starting the kernel of a convolution");
      CudaContext::Current().KeepTable(std::move(table), m_Stream);
      return;
    }
    const Triple         size = node.box.GetSize();
    const Triple         inputSize = inputBox.GetSize();
    const std::int64_t   length = node.reads.end[axis] - node.reads.begin[axis];
    const std::int64_t   count = size[axis];
    const std::int64_t   skipped = node.box.begin[axis] - node.reads.begin[axis];
    const std::int64_t   lines = node.box.GetNumberOfVoxels() / count;
    const std::int64_t   plane = inputSize[0] * inputSize[1];
    DeviceBuffer<double> causal(static_cast<std::size_t>(lines * count), m_Stream);
    const auto * first = pixels + inputBox.GetNumber(node.reads.begin[0], node.reads.begin[1], node.reads.begin[2]);
    const auto   filter = [&](
                          const auto * from, const LineLayout & fromLayout, TResult * to, const LineLayout & toLayout) {
      RecursiveKernel<<<BlocksFor(static_cast<std::uint64_t>(lines), threadsPerBlock), threadsPerBlock, 0, m_Stream>>>(
        node.coefficients, from, fromLayout, causal.data(), to, toLayout, lines, length, skipped, count);
      CheckLaunch("starting the kernel of a recursive filter");
    };
    if (axis != 0)
    {
      const bool isY = axis == 1;
      filter(first,
             { 0, size[0], isY ? plane : inputSize[0], isY ? inputSize[0] : plane },
             results,
             { 0, size[0], isY ? size[0] * size[1] : size[0], isY ? size[0] : size[0] * size[1] });
      return;
    }
    // Neighboring threads have neighboring voxels in a transposed array.
    DeviceBuffer<double>  columns(static_cast<std::size_t>(lines * length), m_Stream);
    DeviceBuffer<TResult> filtered(static_cast<std::size_t>(lines * count), m_Stream);
    this->Transpose(first, inputSize[0], size[1], plane, lines, length, columns.data());
    filter(
      static_cast<const double *>(columns.data()), { 0, lines, 0, lines }, filtered.data(), { 0, lines, 0, lines });
    this->Transpose(filtered.data(), lines, count, 0, count, lines, results);
  }

  template <typename TPixel, typename TReal>
  void
  FilterPlanes(const FilterNode & node, const TPixel * pixels, const FilterBox & inputBox, TReal * results)
  {
    const GaborKernel        kernel = MakeGaborKernel(node, m_Job.spacing);
    const std::vector<TReal> numbers(kernel.numbers.begin(), kernel.numbers.end());
    std::vector<char>        bytes;
    const auto               append = [&bytes](const auto & values) {
      const auto * const begin = reinterpret_cast<const char *>(values.data());
      bytes.insert(bytes.end(), begin, begin + values.size() * sizeof(values[0]));
    };
    append(kernel.rows);
    append(numbers);
    auto                table = CudaContext::Current().GetTable(bytes);
    const auto * const  rows = static_cast<const GaborKernel::Row *>(table.get());
    GaborPlanes         planes = GetGaborPlanes(node, sizeof(TReal));
    const std::int64_t  planeVoxels = planes.pitch * planes.rows;
    DeviceBuffer<TReal> padded(static_cast<std::size_t>(planeVoxels * planes.count), m_Stream);
    FilterBox           image;
    image.end = m_Plan.size;
    const Triple       size = node.box.GetSize();
    const std::int64_t end = node.box.end[planes.c];
    for (planes.first = node.box.begin[planes.c]; planes.first < end; planes.first += planes.count)
    {
      m_Job.execution.CheckAbort();
      planes.count = std::min(planes.count, end - planes.first);
      PadKernel<<<GetBlocks(planeVoxels * planes.count), threadsPerBlock, 0, m_Stream>>>(planes,
                                                                                         node.filter->boundary,
                                                                                         DeviceBox(image),
                                                                                         pixels,
                                                                                         DeviceBox(inputBox),
                                                                                         DeviceBox(node.box),
                                                                                         padded.data());
      CheckLaunch("starting the kernel that pads planes");
      const auto filter = [&](auto planesPerThread) {
        constexpr int      number = decltype(planesPerThread)::value;
        const std::int64_t groups = (planes.count + number - 1) / number;
        GaborRowsKernel<number><<<GetBlocks(size[planes.a] * size[planes.b] * groups), threadsPerBlock, 0, m_Stream>>>(
          planes,
          rows,
          static_cast<std::int64_t>(kernel.rows.size()),
          reinterpret_cast<const TReal *>(rows + kernel.rows.size()),
          static_cast<const TReal *>(padded.data()),
          results,
          DeviceBox(node.box));
        CheckLaunch("starting the kernel of a Gabor filter");
      };
      planes.count > 1 ? filter(std::integral_constant<int, 4>()) : filter(std::integral_constant<int, 1>());
    }
    CudaContext::Current().KeepTable(std::move(table), m_Stream);
  }

  template <typename TResult>
  void
  Combine(const FilterLeaf & leaf, const Values & values)
  {
    const std::int64_t voxels = m_Plan.output.GetNumberOfVoxels();
    const auto         add = [&](auto * output) {
      using Output = std::remove_pointer_t<decltype(output)>;
      output += static_cast<std::int64_t>(leaf.image) * voxels;
      Output * onDevice = output;
      if (m_HasHostOutput)
      {
        DeviceBuffer<char> & buffer = m_Outputs[leaf.image];
        if (leaf.IsFirst())
        {
          buffer.Allocate(static_cast<std::size_t>(voxels) * sizeof(Output), m_Stream);
        }
        onDevice = reinterpret_cast<Output *>(buffer.data());
      }
      const auto launch = [&](auto * sums) {
        CombineKernel<<<GetBlocks(voxels), threadsPerBlock, 0, m_Stream>>>(leaf,
                                                                           static_cast<const TResult *>(values.data),
                                                                           DeviceBox(values.box),
                                                                           sums,
                                                                           onDevice,
                                                                           DeviceBox(m_Plan.output));
        CheckLaunch("starting the kernel that adds the terms of an image");
      };
      if (std::is_same<TResult, Output>::value || (leaf.IsFirst() && leaf.IsLast()))
      {
        launch(onDevice);
      }
      else
      {
        auto & sums = m_Sums[leaf.image];
        sums = leaf.IsFirst() ? this->Allocate(m_Plan.output) : sums;
        launch(reinterpret_cast<TResult *>(sums->data()));
      }
      if (leaf.IsLast())
      {
        m_Sums.erase(leaf.image);
        if (m_HasHostOutput)
        {
          m_Staging.ToHost({ reinterpret_cast<char *>(output), static_cast<std::size_t>(voxels) * sizeof(Output) },
                           m_Outputs[leaf.image].data(),
                           m_Stream,
                           [this](std::size_t) { m_Job.execution.CheckAbort(); });
          m_Outputs.erase(leaf.image);
        }
      }
      m_Job.execution.ReportProgress(leaf.GetProgress(voxels));
    };
    m_Job.outputIsDouble ? add(static_cast<double *>(m_Job.output)) : add(static_cast<float *>(m_Job.output));
  }

  const FilterImageJob &                                     m_Job;
  const FilterPlan &                                         m_Plan;
  const bool                                                 m_HasHostOutput;
  const cudaStream_t                                         m_Stream;
  Values                                                     m_Input;
  CudaStaging                                                m_Staging;
  std::map<std::size_t, std::shared_ptr<DeviceBuffer<char>>> m_Sums;
  std::map<std::size_t, DeviceBuffer<char>>                  m_Outputs;
};
} // namespace

void
FilterImageCuda(const FilterImageJob & job, const CudaOptions & options)
{
  const DefaultFloatingPointEnvironment environment;
  const CurrentDevice                   device(options.deviceID);
  const FilterPlan                      plan(job);
  if (plan.IsEmpty() || job.images.empty())
  {
    return;
  }
  VerifyFilterMemory(GetFilterBytes(plan) + Engine::GetOtherBytes(job, plan, options),
                     UsableDeviceMemory(job.memoryBudget == 0 ? options.memoryBudget : job.memoryBudget),
                     "device memory");
  std::optional<CudaStream> ownStream;
  auto                      stream = static_cast<cudaStream_t>(options.stream);
  if (!options.UsesStream())
  {
    stream = ownStream.emplace();
  }
  Engine engine(job, plan, options, stream);
  ComputeNodes(engine, plan.roots, engine.TakeInput());
}
} // namespace voxelmaps
