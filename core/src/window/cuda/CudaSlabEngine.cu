// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "window/cuda/CudaSlabEngine.h"

#include "common/HostMemory.h"
#include "device/CudaLaunch.h"
#include "device/CudaStaging.h"
#include "window/Tiling.h"
#include "window/WindowBox.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace voxelmaps
{
namespace
{
// More than this many bytes of output are cut, so that copies and kernels overlap.
constexpr std::uint64_t preferredSlabBytes = std::uint64_t{ 256 } << 20;
// Thinner slabs compute much of their neighbors again.
constexpr std::int64_t preferredPlanes = 32;
// Below this, allocate without querying free memory, which takes longer than a small job.
constexpr std::uint64_t optimisticAllocationBytes = std::uint64_t{ 64 } << 20;
// Smaller parts of the output are touched by the copies.
constexpr std::size_t minBytesToTouch = std::size_t{ 32 } << 20;
// What methods with batches get beyond their minimum.
constexpr std::uint64_t preferredScratchBytes = std::uint64_t{ 1 } << 30;

constexpr unsigned int threadsPerBlock = 256;
// Supported by every device along x; its threads loop over voxels.
constexpr std::uint64_t maxBackgroundBlocks = 65535;

/** Write the background value where nothing is to be computed: methods ignore the selection and may not preserve NaN
 * payloads. */
__global__ void
BackgroundKernel(const __grid_constant__ TextureTask task, std::int64_t voxels)
{
  ForEachInGrid(voxels, [&](std::int64_t i) {
    if (!WindowBox::At(task, i).isComputed)
    {
      StoreBackground(task, i);
    }
  });
}

/** Part of the levels that the windows of a box of the output reach. */
struct LevelBox
{
  Triple start;
  Triple size;

  LevelBox(const TextureTask & entire, const CudaOptions & options, const Triple & boxStart, const Triple & boxSize)
  {
    for (int d = 0; d < 3; ++d)
    {
      if (d < 2 && options.inputLocation == MemoryLocation::Device)
      {
        // Levels that are not copied stay in their planes.
        start[d] = 0;
        size[d] = entire.levelsSize[d];
        continue;
      }
      const std::int64_t first = boxStart[d] + entire.outputToLevels[d] - entire.anchor[d];
      const std::int64_t end = first + boxSize[d] + entire.window[d] - 1;
      start[d] = std::min(std::max<std::int64_t>(first, 0), entire.levelsSize[d]);
      size[d] = std::max<std::int64_t>(std::min(end, entire.levelsSize[d]) - start[d], 0);
    }
  }
};

/** Where voxels of the output, which follow each other, are in host memory. */
HostRows
OutputRows(const TextureTask & entire, std::int64_t firstVoxel, std::uint64_t voxels)
{
  const std::size_t bytes = ComponentBytes(entire);
  const auto        components = static_cast<std::size_t>(entire.numberOfComponents);
  HostRows          rows{};
  rows.data = static_cast<char *>(entire.output) + static_cast<std::size_t>(firstVoxel * entire.voxelStride) * bytes;
  rows.rowBytes = bytes * (entire.IsPlanar() ? voxels : components);
  rows.numberOfRows = entire.IsPlanar() ? components : voxels;
  rows.pitch = bytes * static_cast<std::size_t>(entire.IsPlanar() ? entire.componentStride : entire.voxelStride);
  return rows;
}

/** The output region in boxes of complete rows: planes, or rows of one plane where a plane is too much. */
Tiling
MakeSlabs(const Triple & region, std::int64_t rows)
{
  const std::int64_t planes = rows / region[1];
  return planes > 0 ? Tiling(region, { { region[0], region[1], EqualPart(region[2], planes) } })
                    : Tiling(region, { { region[0], EqualPart(region[1], rows), 1 } });
}
} // namespace

/** Stream, device memory and events of one of the slabs in flight. */
class CudaSlabEngine::Slot
{
public:
  struct Bytes
  {
    std::uint64_t output;
    std::uint64_t scratch;
    std::uint64_t selection;
    std::uint64_t intensities;
    std::uint64_t levels;

    std::uint64_t
    Sum() const
    {
      return RoundUpToAlignment(output) + RoundUpToAlignment(scratch) + RoundUpToAlignment(selection) +
             RoundUpToAlignment(intensities) + levels;
    }
  };

  /** Without copies of the output, the caller has the only stream, and times are not reported. */
  Slot(cudaStream_t copies, bool isOutputCopied)
    : stream(copies)
    , m_Events(isOutputCopied ? std::make_unique<Events>() : nullptr)
  {}

  /** All in one buffer: each allocation takes time. By hand: the sizes are compared with a budget before. */
  bool
  TryAllocate(const Bytes & bytes)
  {
    if (!m_Buffer.TryAllocate(bytes.Sum(), stream))
    {
      return false;
    }
    if (bytes.Sum() == 0)
    {
      return true;
    }
    m_Scratch = m_Buffer.data() + RoundUpToAlignment(bytes.output);
    m_ScratchBytes = bytes.scratch;
    m_Selection = m_Scratch + RoundUpToAlignment(bytes.scratch);
    m_Intensities = m_Selection + RoundUpToAlignment(bytes.selection);
    m_Levels = m_Intensities + RoundUpToAlignment(bytes.intensities);
    return true;
  }

  /** Copies use the stream of the slot; the kernels of all slots share one, so that each has the device for itself. The
   * stream of a slot may be that of the kernels. */
  void
  Start(const TextureFeatureMapJob & job, const TextureTask & entire, const CudaOptions & options,
        const ComputeFunction & compute, const Triple & start, const Triple & size, CudaStaging & staging,
        cudaStream_t kernels)
  {
    TextureTask        task = entire;
    const LevelBox     box(entire, options, start, size);
    const std::int64_t firstVoxel = (start[2] * entire.outputSize[1] + start[1]) * entire.outputSize[0];
    for (int d = 0; d < 3; ++d)
    {
      task.levelsSize[d] = box.size[d];
      task.outputSize[d] = size[d];
      task.outputToLevels[d] = start[d] + entire.outputToLevels[d] - box.start[d];
    }
    if (options.outputLocation == MemoryLocation::Device)
    {
      const auto bytes = static_cast<std::int64_t>(ComponentBytes(entire));
      task.output = static_cast<char *>(entire.output) + firstVoxel * entire.voxelStride * bytes;
    }
    else
    {
      task.output = m_Buffer.data();
      task.voxelStride = entire.IsPlanar() ? 1 : entire.numberOfComponents;
      task.componentStride = entire.IsPlanar() ? static_cast<std::int64_t>(NumberOfVoxels(size)) : 1;
    }
    if (options.inputLocation == MemoryLocation::Device)
    {
      const std::int64_t firstLevel = box.start[2] * entire.levelsSize[1] * entire.levelsSize[0];
      task.levels = entire.levels + firstLevel;
      if (entire.intensities != nullptr)
      {
        task.intensities =
          static_cast<const char *>(entire.intensities) + static_cast<std::size_t>(firstLevel) * IntensityBytes(entire);
      }
      task.selection = entire.selection != nullptr ? entire.selection + firstVoxel : nullptr;
    }
    else
    {
      task.levels = reinterpret_cast<std::uint16_t *>(m_Levels);
      this->CopyVoxels(job, box, job.levels, sizeof(std::uint16_t), m_Levels, staging);
      if (entire.intensities != nullptr)
      {
        this->CopyVoxels(job, box, entire.intensities, IntensityBytes(entire), m_Intensities, staging);
        task.intensities = m_Intensities;
      }
      if (entire.selection != nullptr)
      {
        staging.ToDevice(m_Selection, entire.selection + firstVoxel, NumberOfVoxels(size), stream);
        task.selection = reinterpret_cast<std::uint8_t *>(m_Selection);
      }
    }
    if (m_Events != nullptr)
    {
      Order(stream, m_Events->copied, kernels);
      m_Events->started.Record(kernels);
    }
    compute(task, CudaMethodResources{ kernels, m_Scratch, m_ScratchBytes, [&job] { job.execution.CheckAbort(); } });
    if (entire.selection != nullptr || std::isnan(entire.backgroundValue))
    {
      const std::uint64_t voxels = NumberOfVoxels(size);
      BackgroundKernel<<<BlocksFor(voxels, threadsPerBlock, maxBackgroundBlocks), threadsPerBlock, 0, kernels>>>(
        task, static_cast<std::int64_t>(voxels));
      CheckLaunch("starting the kernel of the background");
    }
    if (m_Events != nullptr)
    {
      m_Events->finished.Record(kernels);
      Order(kernels, m_Events->ordered, stream);
    }
  }

  /** After Start, when the stream is done; of output that is copied. */
  double
  KernelMilliseconds() const
  {
    return m_Events->finished.MillisecondsSince(m_Events->started);
  }
  const char *
  Output() const
  {
    return m_Buffer.data();
  }

  const cudaStream_t stream;

private:
  struct Events
  {
    CudaEvent copied;
    CudaEvent started;
    CudaEvent finished;
    CudaEvent ordered;
  };

  /** The later work of a stream waits for the work so far in another one. */
  static void
  Order(cudaStream_t first, const CudaEvent & event, cudaStream_t then)
  {
    if (first != then)
    {
      event.Record(first);
      CheckCuda(cudaStreamWaitEvent(then, event), "ordering streams");
    }
  }

  /** Copy a box of the levels, or of what there is for each of them. */
  void
  CopyVoxels(const TextureFeatureMapJob & job, const LevelBox & box, const void * from, std::size_t voxelBytes,
             char * to, CudaStaging & staging)
  {
    if (NumberOfVoxels(box.size) == 0)
    {
      return;
    }
    const auto row = [voxelBytes](std::int64_t voxels) { return static_cast<std::size_t>(voxels) * voxelBytes; };
    if (box.size[0] == job.levelsSize[0] && (box.size[1] == job.levelsSize[1] || box.size[2] == 1))
    {
      // Contiguous, as the levels of entire images.
      const std::int64_t first = (box.start[2] * job.levelsSize[1] + box.start[1]) * job.levelsSize[0];
      staging.ToDevice(
        to, static_cast<const char *>(from) + row(first), row(box.size[0] * box.size[1] * box.size[2]), stream);
      return;
    }
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<void *>(from),
                                      row(job.levelsSize[0]),
                                      static_cast<std::size_t>(job.levelsSize[0]),
                                      static_cast<std::size_t>(job.levelsSize[1]));
    copy.srcPos =
      make_cudaPos(row(box.start[0]), static_cast<std::size_t>(box.start[1]), static_cast<std::size_t>(box.start[2]));
    copy.dstPtr = make_cudaPitchedPtr(
      to, row(box.size[0]), static_cast<std::size_t>(box.size[0]), static_cast<std::size_t>(box.size[1]));
    copy.extent =
      make_cudaExtent(row(box.size[0]), static_cast<std::size_t>(box.size[1]), static_cast<std::size_t>(box.size[2]));
    copy.kind = cudaMemcpyHostToDevice;
    CheckCuda(cudaMemcpy3DAsync(&copy, stream), "copying the levels to the device");
  }

  DeviceBuffer<char>            m_Buffer;
  char *                        m_Scratch{ nullptr };
  std::uint64_t                 m_ScratchBytes{ 0 };
  char *                        m_Selection{ nullptr };
  char *                        m_Intensities{ nullptr };
  char *                        m_Levels{ nullptr };
  const std::unique_ptr<Events> m_Events;
};

/** Slabs of a size that fits, and the slots for them. */
struct CudaSlabEngine::Layout
{
  Layout(const Tiling & theSlabs, const CudaOptions & options)
    : slabs(theSlabs)
    , ownStream(options.UsesStream() ? nullptr : std::make_unique<CudaStream>())
    , kernels(ownStream ? cudaStream_t(*ownStream) : static_cast<cudaStream_t>(options.stream))
    , waits(options.outputLocation == MemoryLocation::Host)
  {}
  // All work ends before the streams are put back. The memory of buffers goes back after the work of their streams;
  // those of several slabs in flight are used in two.
  ~Layout()
  {
    if (waits)
    {
      cudaStreamSynchronize(kernels);
      for (const auto & slot : slots)
      {
        cudaStreamSynchronize(slot->stream);
      }
    }
  }

  const Tiling                             slabs;
  const std::unique_ptr<CudaStream>        ownStream;
  const cudaStream_t                       kernels;
  const bool                               waits;
  std::vector<std::unique_ptr<CudaStream>> copies;
  std::vector<std::unique_ptr<Slot>>       slots;
};

CudaSlabEngine::CudaSlabEngine(const TextureFeatureMapJob & job, const TextureTask & entire,
                               const CudaOptions & options, const ScratchBytesFunction & scratchBytes,
                               std::uint64_t otherBytes)
  : m_Job(job)
  , m_Whole(entire)
  , m_Options(options)
{
  const std::uint64_t budget = options.memoryBudget;
  std::int64_t        rows = job.outputSize[1] * job.outputSize[2];
  if (options.outputLocation == MemoryLocation::Host)
  {
    const auto rowBytes =
      static_cast<std::uint64_t>(job.outputSize[0] * entire.numberOfComponents) * ComponentBytes(entire);
    const auto preferredRows = static_cast<std::int64_t>(std::max<std::uint64_t>(preferredSlabBytes / rowBytes, 1));
    rows = std::min(rows, std::max(preferredRows, preferredPlanes * job.outputSize[1]));
  }
  if (budget == 0 && this->TryLayout(rows, scratchBytes, otherBytes, optimisticAllocationBytes, true))
  {
    return;
  }
  const std::uint64_t memory = UsableDeviceMemory(budget);
  if (!RetryWithSmallerSize(
        rows, 1, [&](std::int64_t size) { return this->TryLayout(size, scratchBytes, otherBytes, memory, false); }))
  {
    throw CudaOutOfMemory("The smallest slab needs " + std::to_string(m_NeededBytes) + " bytes of device memory, but " +
                          std::to_string(memory) +
                          " can be used. Free memory on the device, or set a larger DeviceMemoryBudget if one is set.");
  }
}

CudaSlabEngine::~CudaSlabEngine() = default;

bool
CudaSlabEngine::TryLayout(std::int64_t rows, const ScratchBytesFunction & scratchBytes, std::uint64_t otherBytes,
                          std::uint64_t memory, bool withMaximum)
{
  const Tiling   slabs = MakeSlabs(m_Job.outputSize, rows);
  const Triple & size = slabs.tile;
  const bool     isInputCopied = m_Options.inputLocation == MemoryLocation::Host;
  const bool     isOutputCopied = m_Options.outputLocation == MemoryLocation::Host;
  // Only copies overlap kernels.
  const std::uint64_t slots = slabs.Number() > 1 && isOutputCopied ? 2 : 1;
  TextureTask         slab = m_Whole;
  std::uint64_t       levelVoxels = 1;
  for (int d = 0; d < 3; ++d)
  {
    slab.outputSize[d] = size[d];
    slab.levelsSize[d] = m_Whole.levelsSize[d];
    if (d == 2 || isInputCopied)
    {
      slab.levelsSize[d] = std::min(m_Whole.levelsSize[d], size[d] + m_Whole.window[d] - 1);
    }
    levelVoxels *= static_cast<std::uint64_t>(slab.levelsSize[d]);
  }
  const CudaScratchBytes scratch = scratchBytes(slab);
  const std::uint64_t    voxels = NumberOfVoxels(size);
  Slot::Bytes            bytes{};
  bytes.scratch = scratch.minimum;
  if (isOutputCopied)
  {
    bytes.output = voxels * static_cast<std::uint64_t>(slab.numberOfComponents) * ComponentBytes(slab);
  }
  if (isInputCopied)
  {
    bytes.selection = m_Whole.selection != nullptr ? voxels : 0;
    bytes.intensities = levelVoxels * IntensityBytes(slab);
    bytes.levels = levelVoxels * sizeof(std::uint16_t);
  }
  m_NeededBytes = slots * bytes.Sum() + otherBytes;
  if (m_NeededBytes > memory)
  {
    return false;
  }
  // In addition to what must be.
  const std::uint64_t useful = std::min(scratch.maximum - scratch.minimum, preferredScratchBytes);
  const std::uint64_t free = (memory - m_NeededBytes) / slots;
  if (withMaximum && free < useful)
  {
    return false;
  }
  bytes.scratch = scratch.minimum + std::min(useful, free);
  // Rounding up must not exceed the budget.
  bytes.scratch = std::max(scratch.minimum, bytes.scratch / 256 * 256);
  auto layout = std::make_unique<Layout>(slabs, m_Options);
  for (std::uint64_t slot = 0; slot < slots; ++slot)
  {
    if (slots > 1)
    {
      layout->copies.push_back(std::make_unique<CudaStream>());
    }
    layout->slots.push_back(
      std::make_unique<Slot>(slots > 1 ? *layout->copies.back() : layout->kernels, isOutputCopied));
    // Another program may have taken memory since it was counted.
    if (!layout->slots.back()->TryAllocate(bytes))
    {
      return false;
    }
  }
  m_Layout = std::move(layout);
  return true;
}

void
CudaSlabEngine::Compute(const ComputeFunction & compute, CudaReport & report)
{
  const Tiling &     slabs = m_Layout->slabs;
  CudaStaging        staging(m_Job.execution);
  const std::int64_t number = slabs.Number();
  report.numberOfSlabs = static_cast<std::uint64_t>(number);
  const std::size_t voxelBytes = static_cast<std::size_t>(m_Whole.numberOfComponents) * ComponentBytes(m_Whole);
  const auto getSlot = [&](std::int64_t slab) -> Slot & { return *m_Layout->slots[slab % m_Layout->slots.size()]; };
  Triple     start;
  Triple     size;
  const auto startSlab = [&](std::int64_t slab) {
    slabs.Get(slab, start, size);
    getSlot(slab).Start(m_Job, m_Whole, m_Options, compute, start, size, staging, m_Layout->kernels);
  };
  if (m_Options.outputLocation == MemoryLocation::Device)
  {
    for (std::int64_t slab = 0; slab < number; ++slab)
    {
      startSlab(slab);
      m_Job.execution.ReportProgress(NumberOfVoxels(size));
    }
    return;
  }
  startSlab(0);
  for (std::int64_t slab = 0; slab < number; ++slab)
  {
    if (slab + 1 < number)
    {
      startSlab(slab + 1);
    }
    const Slot & slot = getSlot(slab);
    slabs.Get(slab, start, size);
    const std::int64_t first = (start[2] * m_Job.outputSize[1] + start[1]) * m_Job.outputSize[0];
    const HostRows     output = OutputRows(m_Whole, first, NumberOfVoxels(size));
    std::size_t        arrived = 0;
    if (output.GetBytes() >= minBytesToTouch && output.HasLongRows() && (slab == 0 || !PopulatesHugePages()))
    {
      // While the kernels run. Copies provide the pages of later slabs themselves.
      output.ForEachPart(0, output.GetBytes(), [&](std::size_t to, std::size_t, std::size_t bytes) {
        TouchMemory(output.data + to, bytes, m_Job.execution);
      });
    }
    staging.ToHost(output, slot.Output(), slot.stream, [&](std::size_t bytes) {
      m_Job.execution.ReportProgress((arrived + bytes) / voxelBytes - arrived / voxelBytes);
      arrived += bytes;
    });
    report.kernelMilliseconds += slot.KernelMilliseconds();
  }
}
} // namespace voxelmaps
