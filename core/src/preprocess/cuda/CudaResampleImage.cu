// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "common/ParallelFor.h"
#include "device/CudaLaunch.h"
#include "device/CudaStaging.h"
#include "discretization/GrayLevelJob.h"
#include "preprocess/ResamplePixel.h"
#include "preprocess/ResamplePlan.h"
#include "voxelmaps/CudaArrays.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;
// Neighboring lines are neighbors in memory along y and z, and in few cache lines along x.
constexpr unsigned int threadsPerBlockOfLines = 64;

/** Pixels of a box of an array. */
template <typename TPixel>
struct Pixels
{
  const TPixel * first;
  std::int64_t   rowStride;
  std::int64_t   planeStride;
};

/** Pixels of a box as doubles, and the number of the first that is not finite. */
template <typename TPixel>
__global__ void
LoadKernel(Pixels<TPixel> pixels, std::int64_t sizeX, std::int64_t sizeY, std::int64_t count, double * values,
           unsigned long long * firstNonfinite)
{
  ForEachInGrid(count, [&](std::int64_t i) {
    const std::int64_t row = i / sizeX;
    const double       value =
      static_cast<double>(pixels.first[i % sizeX + row % sizeY * pixels.rowStride + row / sizeY * pixels.planeStride]);
    values[i] = value;
    if constexpr (std::is_floating_point<TPixel>::value)
    {
      if (value - value != 0.0)
      {
        // By hand: hardly any pixel comes here.
        atomicMin(firstNonfinite, static_cast<unsigned long long>(i));
      }
    }
  });
}

/** Filter lines with a stride, which begin at all x and all rows of a plane with another stride. */
__global__ void
FilterKernel(const __grid_constant__ SplineFilter filter, double * values, std::int64_t stride, std::int64_t count,
             std::int64_t sizeX, std::int64_t strideX, std::int64_t strideY)
{
  ForEachInGrid(count, [&](std::int64_t i) {
    double * const first = values + i % sizeX * strideX + i / sizeX * strideY;
    FilterSplineLine(filter, [first, stride](std::int64_t n) -> double & { return first[n * stride]; });
  });
}

/** What the kernels of the output have of a job. */
struct OutputTask
{
  GridMap         map;
  ResampleFormula formula;
  ResampleSource  source;
  std::int64_t    sizeY;
  std::int64_t    numberOfVoxels;
  bool            isEmpty;
};

/** Copy pixels, of the type of the output, if they are not null, or compute values. */
template <typename TPixel>
__global__ void
OutputKernel(const __grid_constant__ OutputTask task, const TPixel * pixels, TPixel defaultPixel, TPixel * output)
{
  const ResampleFormula & formula = task.formula;
  ForEachInGrid(task.numberOfVoxels, [&](std::int64_t i) {
    const std::int64_t rowNumber = i / task.map.rowLength;
    const std::int64_t x = i % task.map.rowLength;
    const RowOfIndices row = task.map.GetRow(rowNumber % task.sizeY, rowNumber / task.sizeY);
    bool               isInside = !task.isEmpty;
    AxisTaps           taps[3];
    for (int axis = 0; axis < 3; ++axis)
    {
      const double index = task.map.GetIndex(row, x, axis);
      isInside = isInside && IsInsideAxis(index, formula.size[axis]);
      if (isInside)
      {
        taps[axis] = formula.GetTaps(axis, index, task.source.boxIndex[axis]);
      }
    }
    if (!isInside)
    {
      output[i] = defaultPixel;
    }
    else if (pixels != nullptr)
    {
      output[i] = pixels[taps[2].index[0] * task.source.planeStride + taps[1].index[0] * task.source.rowStride +
                         taps[0].index[0]];
    }
    else
    {
      output[i] = ConvertTo<TPixel>(formula.GetValue(task.source, taps));
    }
  });
}

/** Computes a job in a stream. */
class Resampler
{
public:
  Resampler(const ResampleImageJob & job, const ResamplePlan & plan, const CudaOptions & options, cudaStream_t stream)
    : m_Job(job)
    , m_Plan(plan)
    , m_Options(options)
    , m_Stream(stream)
  {
    m_Options.stream = stream;
  }

  void
  Run()
  {
    ResampleSource source{};
    const void *   pixels = nullptr;
    if (!m_Plan.IsEmpty())
    {
      if (!m_Plan.isCopy)
      {
        this->AllocateValues();
      }
      ArrayBox box{ m_Job.inputGrid.size, m_Plan.paddedIndex, m_Plan.paddedSize };
      pixels = m_Job.pixels;
      if (m_Options.inputLocation == MemoryLocation::Host)
      {
        pixels = this->Upload(box);
        box = { box.size, { { 0, 0, 0 } }, box.size };
      }
      m_Job.execution.CheckAbort();
      if (m_Plan.isCopy)
      {
        // Where the box is in the image, and the image in the array.
        source.rowStride = box.arraySize[0];
        source.planeStride = box.arraySize[0] * box.arraySize[1];
        for (int axis = 0; axis < 3; ++axis)
        {
          source.boxIndex[axis] = m_Plan.paddedIndex[axis] - box.index[axis];
        }
      }
      else
      {
        source = this->MakeSource(pixels, box);
        m_Job.execution.CheckAbort();
        pixels = nullptr;
      }
    }
    this->ComputeOutput(source, pixels);
  }

private:
  const void *
  Upload(const ArrayBox & box)
  {
    const auto     pixelSize = static_cast<std::uint64_t>(GetPixelSize(m_Job.pixelType));
    const ArrayBox target{ box.size, { { 0, 0, 0 } }, box.size };
    m_Pixels.Allocate(static_cast<std::size_t>(box.size[0] * box.size[1] * box.size[2]) * pixelSize, m_Stream);
    CudaOptions toDevice = m_Options;
    toDevice.outputLocation = MemoryLocation::Device;
    CopyBoxCuda(m_Job.pixels, box, m_Pixels.data(), target, pixelSize, m_Job.execution, toDevice);
    return m_Pixels.data();
  }

  void
  AllocateValues()
  {
    const Triple & size = m_Plan.paddedSize;
    if (!m_Values.TryAllocate(static_cast<std::size_t>(size[0] * size[1] * size[2]), m_Stream))
    {
      throw CudaOutOfMemory(GetResampleMemoryError(size));
    }
  }

  /** The values of a box, filtered along all axes. */
  ResampleSource
  MakeSource(const void * pixels, const ArrayBox & box)
  {
    const Triple &     size = m_Plan.paddedSize;
    const std::int64_t rowStride = size[0];
    const std::int64_t planeStride = size[0] * size[1];
    this->Load(pixels, box, planeStride * size[2]);
    this->Filter(0, 1, { size[1], size[2] }, { rowStride, planeStride });
    this->Filter(1, rowStride, { size[0], size[2] }, { 1, planeStride });
    this->Filter(2, planeStride, { size[0], size[1] }, { 1, rowStride });
    ResampleSource source{ m_Values.data(), {}, rowStride, planeStride };
    std::copy(m_Plan.paddedIndex.begin(), m_Plan.paddedIndex.end(), source.boxIndex);
    return source;
  }

  void
  Load(const void * pixels, const ArrayBox & box, std::int64_t count)
  {
    const DeviceBuffer<unsigned long long> firstNonfinite(1, m_Stream);
    CheckCuda(cudaMemsetAsync(firstNonfinite.data(), 0xff, sizeof(unsigned long long), m_Stream),
              "clearing device memory");
    bool mayBeNonfinite = false;
    VisitPixelType(m_Job.pixelType, [&](auto pixel) {
      using TPixel = decltype(pixel);
      mayBeNonfinite = m_Plan.hasPoles && std::is_floating_point<TPixel>::value;
      Pixels<TPixel> from{ static_cast<const TPixel *>(pixels), box.arraySize[0], box.arraySize[0] * box.arraySize[1] };
      from.first += box.index[0] + box.index[1] * from.rowStride + box.index[2] * from.planeStride;
      LoadKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(count), threadsPerBlock),
                   threadsPerBlock,
                   0,
                   m_Stream>>>(from, box.size[0], box.size[1], count, m_Values.data(), firstNonfinite.data());
      CheckLaunch("starting the kernel that loads pixels");
    });
    if (!mayBeNonfinite)
    {
      return;
    }
    const unsigned long long found = CopyFromDevice(firstNonfinite, m_Stream);
    if (found != ~0ull)
    {
      double value;
      CopyFromDevice(&value, m_Values.data() + found, 1, m_Stream);
      const auto         number = static_cast<std::int64_t>(found);
      const Triple &     size = m_Plan.paddedSize;
      const Triple &     index = m_Plan.paddedIndex;
      const std::int64_t y = index[1] + number / size[0] % size[1];
      const std::int64_t z = index[2] + number / size[0] / size[1];
      ThrowNonfinitePixel(
        m_Job, (z * m_Job.inputGrid.size[1] + y) * m_Job.inputGrid.size[0] + index[0] + number % size[0], value);
    }
  }

  using Pair = std::int64_t[2];

  void
  Filter(int axis, std::int64_t stride, const Pair & size, const Pair & strides)
  {
    if (m_Plan.filters[axis].numberOfPoles > 0)
    {
      const std::int64_t count = size[0] * size[1];
      FilterKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(count), threadsPerBlockOfLines),
                     threadsPerBlockOfLines,
                     0,
                     m_Stream>>>(m_Plan.filters[axis], m_Values.data(), stride, count, size[0], strides[0], strides[1]);
      CheckLaunch("starting the kernel of B-spline coefficients");
    }
  }

  void
  ComputeOutput(const ResampleSource & source, const void * pixels)
  {
    const std::int64_t count = m_Plan.numberOfOutputVoxels;
    const OutputTask   task{ m_Plan.map, m_Plan.formula, source, m_Job.outputGrid.size[1], count, m_Plan.IsEmpty() };
    const auto         bytes = static_cast<std::size_t>(count * GetPixelSize(m_Job.outputType));
    const bool         isOnHost = m_Options.outputLocation == MemoryLocation::Host;
    if (isOnHost)
    {
      m_Output.Allocate(bytes, m_Stream);
    }
    VisitPixelType(m_Job.outputType, [&](auto pixel) {
      using TPixel = decltype(pixel);
      void * const output = isOnHost ? m_Output.data() : m_Job.output;
      OutputKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(count), threadsPerBlock),
                     threadsPerBlock,
                     0,
                     m_Stream>>>(task,
                                 static_cast<const TPixel *>(pixels),
                                 static_cast<TPixel>(m_Job.defaultValue),
                                 static_cast<TPixel *>(output));
      CheckLaunch("starting the kernel that resamples");
    });
    if (isOnHost)
    {
      CudaStaging(m_Job.execution)
        .ToHost({ static_cast<char *>(m_Job.output), bytes }, m_Output.data(), m_Stream, [this](std::size_t) {
          m_Job.execution.CheckAbort();
        });
    }
    m_Job.execution.ReportProgress(static_cast<std::uint64_t>(count));
  }

  const ResampleImageJob & m_Job;
  const ResamplePlan &     m_Plan;
  CudaOptions              m_Options;
  const cudaStream_t       m_Stream;
  DeviceBuffer<char>       m_Pixels;
  DeviceBuffer<double>     m_Values;
  DeviceBuffer<char>       m_Output;
};
} // namespace

void
ResampleImageCuda(const ResampleImageJob & job, const CudaOptions & options)
{
  const DefaultFloatingPointEnvironment environment;
  const CurrentDevice                   device(options.deviceID);
  const ResamplePlan                    plan = MakeResamplePlan(job);
  if (plan.numberOfOutputVoxels == 0)
  {
    return;
  }
  std::optional<CudaStream> ownStream;
  auto                      stream = static_cast<cudaStream_t>(options.stream);
  if (!options.UsesStream())
  {
    stream = ownStream.emplace();
  }
  Resampler(job, plan, options, stream).Run();
}
} // namespace voxelmaps
