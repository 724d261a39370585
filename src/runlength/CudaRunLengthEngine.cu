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
#include "../cuda/CudaDevice.h"
#include "../cuda/CudaMemory.h"
#include "../cuda/CudaStaging.h"
#include "../cuda/CudaStream.h"
#include "CudaRunLengthTask.h"
#include "RunLengthPlan.h"
#include "itkCudaDevices.h"
#include "itkCudaRunLengthJob.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace itk
{
namespace voxelmaps
{
namespace
{
using Triple = RunLengthJob::Triple;
using Method = CudaRunLengthOptions::Method;

/** Copies of what the plan has in vectors, in one buffer: each allocation takes time. */
class PlanOnDevice
{
public:
  PlanOnDevice(const RunLengthPlan & plan, cudaStream_t stream)
  {
    this->Append(plan.lengthSquares);
    this->Append(plan.shortRunWeights);
    this->Append(plan.inverseSquares);
    this->Append(plan.entropyTable);
    m_Buffer.Allocate(m_Bytes.size());
    // Returns as the bytes, in ordinary memory, have been read.
    CheckCuda(cudaMemcpyAsync(m_Buffer.data(), m_Bytes.data(), m_Bytes.size(), cudaMemcpyHostToDevice, stream),
              "copying the plan to the device");
  }
  template <typename T>
  const T *
  Get(int which) const
  {
    return reinterpret_cast<const T *>(m_Buffer.data() + m_Starts[which]);
  }

private:
  template <typename T>
  void
  Append(const std::vector<T> & values)
  {
    static_assert(sizeof(T) == 8, "all parts are aligned alike");
    m_Starts.push_back(m_Bytes.size());
    const auto * bytes = reinterpret_cast<const char *>(values.data());
    m_Bytes.insert(m_Bytes.end(), bytes, bytes + values.size() * sizeof(T));
  }

  std::vector<std::size_t> m_Starts;
  std::vector<char>        m_Bytes;
  DeviceBuffer<char>       m_Buffer;
};

/** The task of the whole job, without buffers. */
CudaRunLengthTask
MakeTask(const RunLengthJob & job, const RunLengthPlan & plan)
{
  CudaRunLengthTask task{};
  task.numberOfGrayLevels = static_cast<int>(job.numberOfGrayLevels);
  task.outputIsDouble = job.outputIsDouble;
  task.backgroundValue = job.backgroundValue;
  for (int d = 0; d < 3; ++d)
  {
    task.levelsSize[d] = job.levelsSize[d];
    task.outputSize[d] = job.outputSize[d];
    task.outputToLevels[d] = job.outputIndex[d] - job.levelsIndex[d];
    task.window[d] = static_cast<int>(job.windowSize[d]);
    task.anchor[d] = static_cast<int>(job.windowAnchor[d]);
  }
  task.numberOfDirections = static_cast<int>(plan.directions.size());
  for (int i = 0; i < task.numberOfDirections; ++i)
  {
    for (int d = 0; d < 3; ++d)
    {
      task.directions[i][d] = static_cast<int>(plan.directions[i][d]);
    }
    task.longestRuns[i] = plan.longestRuns[i];
  }
  task.longestRun = plan.longestRun;
  task.numberOfFeatures = static_cast<int>(job.features.size());
  std::copy(job.features.begin(), job.features.end(), task.features);
  task.aggregation = job.aggregation;
  task.mostVoxels = plan.mostVoxels;
  task.scales = plan.scales;
  task.wideInverses = plan.wideInverses;
  task.needsLevelCounts = plan.needsLevelCounts;
  task.needsLevelSum = plan.needsLevelSum;
  task.needsSquares = plan.needsSquares;
  task.needsInverses = plan.needsInverses;
  task.needsEntropy = plan.needsEntropy;
  return task;
}

Method
ChooseMethod(const CudaRunLengthTask & task)
{
  if (WindowWordTakes(task))
  {
    return Method::WindowWord;
  }
  return SeparableTakes(task) ? Method::Separable : Method::Windows;
}

void
VerifyMethod(Method method, const CudaRunLengthTask & task)
{
  if ((method == Method::WindowWord && !WindowWordTakes(task)) ||
      (method == Method::Separable && !SeparableTakes(task)))
  {
    std::ostringstream message;
    message << "The CudaMethod " << method << " cannot take a window of " << task.window[0] << " x " << task.window[1]
            << " x " << task.window[2] << " voxels with " << task.numberOfGrayLevels
            << " gray levels and these features: use Automatic.";
    throw std::runtime_error(message.str());
  }
}

/** Device memory beside levels and output, for a slab: what a method needs, and the most it can use. */
struct ScratchBytes
{
  std::uint64_t least{ 0 };
  std::uint64_t most{ 0 };

  ScratchBytes(Method method, const CudaRunLengthTask & slab)
  {
    switch (method)
    {
      case Method::Primitives:
        least = PrimitivesScratchBytes(slab);
        most = PrimitivesMostScratchBytes(slab);
        break;
      case Method::Separable:
        least = most = SeparableScratchBytes(slab);
        break;
      case Method::WindowWord:
        break;
      default:
        least = WindowsScratchBytes(slab);
        most = WindowsMostScratchBytes(slab);
    }
  }
};

void
Compute(Method method, const CudaRunLengthTask & task, const CudaRunLengthResources & resources)
{
  switch (method)
  {
    case Method::Primitives:
      return ComputeByPrimitives(task, resources);
    case Method::WindowWord:
      return ComputeByWindowWord(task, resources);
    case Method::Separable:
      return ComputeBySeparableSums(task, resources);
    default:
      return ComputeByWindows(task, resources);
  }
}

/** Boxes of whole rows that the output region is cut into: planes, or rows of one plane where a plane is too much. */
struct Slabs
{
  Triple size;
  Triple count{ { 1, 1, 1 } };
  Triple region;

  Slabs(const Triple & outputSize, std::int64_t rows)
    : region(outputSize)
  {
    const std::int64_t planes = rows / outputSize[1];
    size = planes > 0 ? Triple{ { outputSize[0], outputSize[1], std::min(planes, outputSize[2]) } }
                      : Triple{ { outputSize[0], rows, 1 } };
    for (int d = 1; d < 3; ++d)
    {
      count[d] = (region[d] + size[d] - 1) / size[d];
      // Equal slabs.
      size[d] = (region[d] + count[d] - 1) / count[d];
      count[d] = (region[d] + size[d] - 1) / size[d];
    }
  }
  std::int64_t
  Number() const
  {
    return count[1] * count[2];
  }
  void
  Get(std::int64_t number, Triple & start, Triple & slabSize) const
  {
    start = { { 0, number % count[1] * size[1], number / count[1] * size[2] } };
    for (int d = 0; d < 3; ++d)
    {
      slabSize[d] = std::min(size[d], region[d] - start[d]);
    }
  }
};

/** Part of the levels that the windows of a box of the output reach. */
struct LevelBox
{
  Triple start;
  Triple size;

  LevelBox(const CudaRunLengthTask & whole, const Triple & boxStart, const Triple & boxSize)
  {
    for (int d = 0; d < 3; ++d)
    {
      const std::int64_t first = boxStart[d] + whole.outputToLevels[d] - whole.anchor[d];
      const std::int64_t end = first + boxSize[d] + whole.window[d] - 1;
      start[d] = std::min(std::max<std::int64_t>(first, 0), whole.levelsSize[d]);
      size[d] = std::max<std::int64_t>(std::min(end, whole.levelsSize[d]) - start[d], 0);
    }
  }
  std::int64_t
  NumberOfVoxels() const
  {
    return size[0] * size[1] * size[2];
  }
};

/** Stream, device memory and events of one of the slabs in flight. */
class Lane
{
public:
  /** All in one buffer: each allocation takes time. */
  Lane(std::uint64_t outputBytes, std::uint64_t scratchBytes, std::uint64_t levelVoxels)
    : m_Buffer(RoundUp(outputBytes) + RoundUp(scratchBytes) + levelVoxels * sizeof(std::uint16_t))
    , m_Output(m_Buffer.data())
    , m_Scratch(m_Output + RoundUp(outputBytes))
    , m_ScratchBytes(scratchBytes)
    , m_Levels(reinterpret_cast<std::uint16_t *>(m_Scratch + RoundUp(scratchBytes)))
  {}

  static std::uint64_t
  RoundUp(std::uint64_t bytes)
  {
    return (bytes + 255) / 256 * 256;
  }

  /** Copies go by the stream of the lane; the kernels of all lanes by one, so that each has the device for itself. */
  void
  Start(const RunLengthJob & job, const CudaRunLengthTask & whole, Method method, const Triple & start,
        const Triple & size, cudaStream_t kernels)
  {
    const LevelBox box(whole, start, size);
    if (box.NumberOfVoxels() > 0)
    {
      cudaMemcpy3DParms copy{};
      copy.srcPtr = make_cudaPitchedPtr(const_cast<std::uint16_t *>(job.levels),
                                        static_cast<std::size_t>(job.levelsSize[0]) * sizeof(std::uint16_t),
                                        static_cast<std::size_t>(job.levelsSize[0]),
                                        static_cast<std::size_t>(job.levelsSize[1]));
      copy.srcPos = make_cudaPos(static_cast<std::size_t>(box.start[0]) * sizeof(std::uint16_t),
                                 static_cast<std::size_t>(box.start[1]),
                                 static_cast<std::size_t>(box.start[2]));
      copy.dstPtr = make_cudaPitchedPtr(m_Levels,
                                        static_cast<std::size_t>(box.size[0]) * sizeof(std::uint16_t),
                                        static_cast<std::size_t>(box.size[0]),
                                        static_cast<std::size_t>(box.size[1]));
      copy.extent = make_cudaExtent(static_cast<std::size_t>(box.size[0]) * sizeof(std::uint16_t),
                                    static_cast<std::size_t>(box.size[1]),
                                    static_cast<std::size_t>(box.size[2]));
      copy.kind = cudaMemcpyHostToDevice;
      CheckCuda(cudaMemcpy3DAsync(&copy, stream), "copying the levels to the device");
    }

    CudaRunLengthTask task = whole;
    task.levels = m_Levels;
    task.output = m_Output;
    for (int d = 0; d < 3; ++d)
    {
      task.levelsSize[d] = box.size[d];
      task.outputSize[d] = size[d];
      task.outputToLevels[d] = start[d] + whole.outputToLevels[d] - box.start[d];
    }
    CudaRunLengthResources resources{};
    resources.stream = kernels;
    resources.scratch = m_Scratch;
    resources.scratchBytes = m_ScratchBytes;
    resources.times = &m_Times;
    resources.poll = [&job]() {
      if (job.completed)
      {
        job.completed(0);
      }
    };
    m_Copied.Record(stream);
    CheckCuda(cudaStreamWaitEvent(kernels, m_Copied), "ordering streams");
    m_Started.Record(kernels);
    Compute(method, task, resources);
    m_Finished.Record(kernels);
    CheckCuda(cudaStreamWaitEvent(stream, m_Finished), "ordering streams");
  }

  /** After Start and as the stream is done. */
  double
  KernelMilliseconds() const
  {
    return m_Finished.MillisecondsSince(m_Started);
  }
  /** Of all slabs of this lane so far. */
  const CudaPrimitivesTimes &
  PrimitivesTimes() const
  {
    return m_Times;
  }
  const char *
  Output() const
  {
    return m_Output;
  }

private:
  DeviceBuffer<char>  m_Buffer;
  char *              m_Output;
  char *              m_Scratch;
  std::uint64_t       m_ScratchBytes;
  std::uint16_t *     m_Levels;
  CudaEvent           m_Copied;
  CudaEvent           m_Started;
  CudaEvent           m_Finished;
  CudaPrimitivesTimes m_Times;

public:
  // Last, so that its work is done before the buffers go.
  CudaStream stream;
};

/** Slabs of a size that fits, and the lanes for them. */
struct Layout
{
  Slabs                              slabs;
  std::vector<std::unique_ptr<Lane>> lanes;
};

// More than this many bytes of output are cut, so that copies and kernels overlap.
constexpr std::uint64_t preferredSlabBytes = std::uint64_t{ 256 } << 20;
// Thinner slabs compute much of their neighbors again.
constexpr std::int64_t preferredPlanes = 32;
// What methods with batches get beyond their least.
constexpr std::uint64_t preferredScratchBytes = std::uint64_t{ 1 } << 30;

Layout
MakeLayout(const CudaRunLengthTask & whole, Method method, std::uint64_t memory)
{
  const Triple region{ { whole.outputSize[0], whole.outputSize[1], whole.outputSize[2] } };
  const auto   rowBytes = static_cast<std::uint64_t>(region[0] * whole.NumberOfComponents()) *
                        (whole.outputIsDouble ? sizeof(double) : sizeof(float));
  std::int64_t rows = static_cast<std::int64_t>(std::max<std::uint64_t>(preferredSlabBytes / rowBytes, 1));
  rows = std::max(rows, preferredPlanes * region[1]);
  rows = std::min(rows, region[1] * region[2]);
  for (;;)
  {
    const Slabs         slabs(region, rows);
    const std::uint64_t lanes = slabs.Number() > 1 ? 2 : 1;
    CudaRunLengthTask   slab = whole;
    std::uint64_t       levelVoxels = 1;
    for (int d = 0; d < 3; ++d)
    {
      slab.outputSize[d] = slabs.size[d];
      slab.levelsSize[d] = std::min(whole.levelsSize[d], slabs.size[d] + whole.window[d] - 1);
      levelVoxels *= static_cast<std::uint64_t>(slab.levelsSize[d]);
    }
    const ScratchBytes  scratchBytes(method, slab);
    const std::uint64_t outputBytes = rowBytes * static_cast<std::uint64_t>(slabs.size[1] * slabs.size[2]);
    // And what rounding up may add.
    const std::uint64_t fixed = outputBytes + levelVoxels * sizeof(std::uint16_t) + 512;
    const std::uint64_t needed = lanes * (fixed + scratchBytes.least);
    const bool          isLeast = slabs.size[1] == 1 && slabs.size[2] == 1;
    try
    {
      if (needed > memory)
      {
        throw CudaOutOfMemory("The smallest slab needs " + std::to_string(needed) + " bytes of device memory, but " +
                              std::to_string(memory) +
                              " can be used. Free memory on the device, or set a greater DeviceMemoryBudget.");
      }
      const std::uint64_t scratch =
        std::max(scratchBytes.least, std::min({ scratchBytes.most, memory / lanes - fixed, preferredScratchBytes }));
      Layout layout{ slabs, {} };
      for (std::uint64_t lane = 0; lane < lanes; ++lane)
      {
        layout.lanes.push_back(std::make_unique<Lane>(outputBytes, scratch, levelVoxels));
      }
      return layout;
    }
    catch (const CudaOutOfMemory &)
    {
      // Another program may have taken memory since it was counted.
      if (isLeast)
      {
        throw;
      }
    }
    rows = std::max<std::int64_t>(slabs.size[1] * slabs.size[2] / 2, 1);
    if (slabs.size[2] > 1)
    {
      rows = std::max(rows / region[1], std::int64_t{ 1 }) * region[1];
    }
  }
}
} // namespace
} // namespace voxelmaps

CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob & job, const CudaRunLengthOptions & options)
{
  using namespace voxelmaps;
  const CurrentDevice device(options.deviceID);
  CudaRunLengthReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  if (job.outputSize[0] < 1 || job.outputSize[1] < 1 || job.outputSize[2] < 1)
  {
    return report;
  }
  const RunLengthPlan plan(job);
  CudaRunLengthTask   whole = MakeTask(job, plan);
  report.method = options.method == Method::Automatic ? ChooseMethod(whole) : options.method;
  VerifyMethod(report.method, whole);

  const Layout layout = MakeLayout(whole, report.method, UsableDeviceMemory(options.memoryBudget));

  // After the large buffers, for small ones are cheap then.
  const CudaStream   planStream;
  const PlanOnDevice planOnDevice(plan, planStream);
  planStream.Synchronize();
  whole.lengthSquares = planOnDevice.Get<double>(0);
  whole.shortRunWeights = planOnDevice.Get<double>(1);
  whole.inverseSquares = planOnDevice.Get<std::uint64_t>(2);
  whole.entropyTable = planOnDevice.Get<std::int64_t>(3);

  const Slabs &      slabs = layout.slabs;
  const CudaStream   kernels;
  CudaStaging        staging(job.numberOfWorkers, job.runWorkers);
  const std::int64_t number = slabs.Number();
  const std::size_t  voxelBytes =
    static_cast<std::size_t>(whole.NumberOfComponents()) * (job.outputIsDouble ? sizeof(double) : sizeof(float));
  Triple     start;
  Triple     size;
  const auto startSlab = [&](std::int64_t slab) {
    slabs.Get(slab, start, size);
    layout.lanes[slab % layout.lanes.size()]->Start(job, whole, report.method, start, size, kernels);
  };
  startSlab(0);
  for (std::int64_t slab = 0; slab < number; ++slab)
  {
    if (slab + 1 < number)
    {
      startSlab(slab + 1);
    }
    const Lane & lane = *layout.lanes[slab % layout.lanes.size()];
    slabs.Get(slab, start, size);
    const std::int64_t first = (start[2] * job.outputSize[1] + start[1]) * job.outputSize[0];
    std::size_t        arrived = 0;
    std::uint64_t      reported = 0;
    staging.ToHost(static_cast<char *>(job.output) + static_cast<std::size_t>(first) * voxelBytes,
                   lane.Output(),
                   static_cast<std::size_t>(size[0] * size[1] * size[2]) * voxelBytes,
                   lane.stream,
                   [&](std::size_t bytes) {
                     arrived += bytes;
                     const std::uint64_t voxels = arrived / voxelBytes;
                     if (job.completed)
                     {
                       job.completed(voxels - reported);
                     }
                     reported = voxels;
                   });
    report.kernelMilliseconds += lane.KernelMilliseconds();
  }
  for (const auto & lane : layout.lanes)
  {
    report.matricesMilliseconds += lane->PrimitivesTimes().matrices;
    report.featuresMilliseconds += lane->PrimitivesTimes().features;
  }
  report.numberOfSlabs = static_cast<std::uint64_t>(number);
  return report;
}
} // namespace itk
