// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/GrayLevelDiscretization.h"

#include "common/ParallelFor.h"
#include "device/CudaLaunch.h"
#include "device/CudaNumberKey.h"
#include "device/CudaRange.cuh"
#include "device/CudaStaging.h"
#include "discretization/GrayLevelFormula.h"
#include "discretization/GrayLevelJob.h"

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;
// Below this, allocate without querying free memory, which takes longer than a small job.
constexpr std::uint64_t optimisticAllocationBytes = std::uint64_t{ 64 } << 20;
// Smaller parts take longer to start than to compute.
constexpr std::int64_t minPartSize = std::int64_t{ 1 } << 16;

// Kernels cannot call the functions of std::numeric_limits.
template <typename T>
constexpr T quietNaN = std::numeric_limits<T>::quiet_NaN();

using Key = NumberKey;
constexpr Key noKey = noNumberKey;

struct SmallerKey
{
  __device__ Key
  operator()(Key a, Key b) const
  {
    return a < b ? a : b;
  }
};

/** Compute levels, in blocks of threadsPerBlock. If the method has invalid intensities, lower the key to that of the
 * smallest one. */
template <typename TPixel>
__global__ void
LevelsKernel(const __grid_constant__ GrayLevelFormula formula, const TPixel * pixels, const std::uint8_t * mask,
             std::int64_t count, std::uint16_t * levels, Key * smallestInvalid)
{
  Key smallest = noKey;
  ForEachInGrid(count, [&](std::int64_t i) {
    std::uint16_t level = 0;
    if (mask == nullptr || mask[i] != 0)
    {
      const auto intensity = static_cast<double>(pixels[i]);
      level = formula.GetLevel(intensity);
      if (level == 0 && formula.IsInvalid(intensity))
      {
        const Key key = ToNumberKey(intensity);
        smallest = key < smallest ? key : smallest;
      }
    }
    levels[i] = level;
  });
  if (formula.HasInvalidIntensities())
  {
    using BlockReduce = cub::BlockReduce<Key, threadsPerBlock>;
    __shared__ typename BlockReduce::TempStorage memory;
    smallest = BlockReduce(memory).Reduce(smallest, SmallerKey());
    // The key in memory is never raised, so most blocks can see that theirs does not matter.
    if (threadIdx.x == 0 && smallest < *static_cast<volatile Key *>(smallestInvalid))
    {
      atomicMin(smallestInvalid, smallest);
    }
  }
}

template <typename TPixel, typename TIntensity>
__global__ void
SelectKernel(const TPixel * pixels, const std::uint16_t * levels, std::int64_t count, TIntensity * intensities)
{
  ForEachInGrid(count, [&](std::int64_t i) {
    // Adding 0 makes negative zero positive.
    intensities[i] = levels[i] != 0 ? static_cast<TIntensity>(pixels[i]) + TIntensity{ 0 } : quietNaN<TIntensity>;
  });
}

/** The discretization of a job. Arrays in host memory pass through the device in parts if it cannot hold them. */
class Discretizer
{
public:
  Discretizer(const GrayLevelDiscretizationJob & job, const CudaOptions & options, std::int64_t voxels,
              cudaStream_t stream)
    : m_Job(job)
    , m_Voxels(voxels)
    , m_Stream(stream)
    , m_HasHostInput(options.inputLocation == MemoryLocation::Host)
    , m_HasHostOutput(options.outputLocation == MemoryLocation::Host)
    , m_Staging(job.execution)
  {
    const std::uint64_t bytes = this->GetBytes(voxels);
    const std::uint64_t usable = options.memoryBudget == 0 && bytes <= optimisticAllocationBytes
                                   ? optimisticAllocationBytes
                                   : UsableDeviceMemory(options.memoryBudget);
    const std::int64_t  smallest = std::min(voxels, minPartSize);
    if (!RetryWithSmallerSize(voxels, smallest, [&](std::int64_t size) { return this->TryAllocate(size, usable); }))
    {
      throw CudaOutOfMemory("The smallest part of the discretization needs " +
                            std::to_string(this->GetBytes(smallest)) + " bytes of device memory, but " +
                            std::to_string(usable) +
                            " can be used. Free memory on the device, or set a larger DeviceMemoryBudget if one is "
                            "set.");
    }
  }
  Discretizer(const Discretizer &) = delete;
  Discretizer &
  operator=(const Discretizer &) = delete;
  ~Discretizer()
  {
    if (m_HasHostInput)
    {
      // The caller may free it now. The levels need not be ready.
      cudaEventSynchronize(m_Copied);
    }
  }

  IntensityRange
  FindRange()
  {
    const bool     isMasked = GetRangeMask(m_Job) != nullptr;
    IntensityRange range;
    this->ForEachPart([&](const auto * pixels, const std::uint8_t * mask, std::int64_t, std::int64_t size) {
      const auto     part = FindCudaRange(pixels, isMasked ? mask : nullptr, size, m_Stream);
      constexpr auto infinity = std::numeric_limits<double>::infinity();
      range.AddRange(part.IsEmpty() ? infinity : static_cast<double>(part.least),
                     part.IsEmpty() ? -infinity : static_cast<double>(part.greatest),
                     isMasked ? 0 : size);
      m_Job.execution.CheckAbort();
    });
    return range;
  }

  void
  ComputeLevels(GrayLevelDiscretization & discretization)
  {
    GrayLevelFormula            formula(discretization);
    std::shared_ptr<const void> edges;
    if (m_Job.parameters.method == GrayLevelFormula::MethodEnum::Edges)
    {
      const auto * const bytes = reinterpret_cast<const char *>(formula.edges);
      edges = CudaContext::Current().GetTable({ bytes, bytes + m_Job.parameters.binEdges.size() * sizeof(double) });
      formula.edges = static_cast<const double *>(edges.get());
    }
    if (formula.HasInvalidIntensities())
    {
      CheckCuda(cudaMemsetAsync(m_Key, 0xff, sizeof(Key), m_Stream), "clearing device memory");
    }
    this->ForEachPart([&](const auto * pixels, const std::uint8_t * mask, std::int64_t begin, std::int64_t size) {
      std::uint16_t * const levels = m_HasHostOutput ? m_Levels : m_Job.levels + begin;
      LevelsKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(size), threadsPerBlock),
                     threadsPerBlock,
                     0,
                     m_Stream>>>(formula, pixels, mask, size, levels, m_Key);
      CheckLaunch("starting the kernel of the levels");
      this->Finish(begin, size);
    });
    if (edges != nullptr)
    {
      CudaContext::Current().KeepTable(edges, m_Stream);
    }
    if (formula.HasInvalidIntensities())
    {
      Key key = noKey;
      CopyFromDevice(&key, m_Key, 1, m_Stream);
      if (key != noKey)
      {
        discretization.AddInvalidIntensity(FromNumberKey(key));
      }
    }
  }

private:
  static std::uint64_t
  GetKeyBytes()
  {
    return RoundUpToAlignment(sizeof(Key));
  }
  std::uint64_t
  GetPixelBytes(std::int64_t size) const
  {
    return m_HasHostInput ? RoundUpToAlignment(static_cast<std::uint64_t>(size * GetPixelSize(m_Job.pixelType))) : 0;
  }
  std::uint64_t
  GetMaskBytes(std::int64_t size) const
  {
    return m_HasHostInput && m_Job.mask != nullptr ? RoundUpToAlignment(static_cast<std::uint64_t>(size)) : 0;
  }
  std::uint64_t
  GetLevelBytes(std::int64_t size) const
  {
    return m_HasHostOutput ? static_cast<std::uint64_t>(size) * sizeof(std::uint16_t) : 0;
  }
  /** Bytes of the buffer for a part. */
  std::uint64_t
  GetBytes(std::int64_t size) const
  {
    return GetKeyBytes() + this->GetPixelBytes(size) + this->GetMaskBytes(size) + this->GetLevelBytes(size);
  }

  /** All in one buffer: each allocation takes time. By hand: the sizes are compared with a budget before. */
  bool
  TryAllocate(std::int64_t partSize, std::uint64_t usable)
  {
    const std::uint64_t bytes = this->GetBytes(partSize);
    if (bytes > usable || !m_Buffer.TryAllocate(bytes, m_Stream))
    {
      return false;
    }
    m_PartSize = partSize;
    m_Key = reinterpret_cast<Key *>(m_Buffer.data());
    m_Pixels = m_Buffer.data() + GetKeyBytes();
    m_Mask = reinterpret_cast<std::uint8_t *>(m_Pixels + this->GetPixelBytes(partSize));
    m_Levels = reinterpret_cast<std::uint16_t *>(m_Mask + this->GetMaskBytes(partSize));
    return true;
  }

  /** Call compute(pixels, mask, begin, size) for each part, with device pointers to its pixels and mask. */
  template <typename TCompute>
  void
  ForEachPart(const TCompute & compute)
  {
    for (std::int64_t begin = 0; begin < m_Voxels; begin += m_PartSize)
    {
      const std::int64_t size = std::min(m_PartSize, m_Voxels - begin);
      if (m_HasHostInput)
      {
        this->Upload(begin, size);
      }
      VisitPixelType(m_Job.pixelType, [&](auto pixel) {
        using PixelPointer = const decltype(pixel) *;
        if (m_HasHostInput)
        {
          compute(reinterpret_cast<PixelPointer>(m_Pixels), m_Job.mask != nullptr ? m_Mask : nullptr, begin, size);
        }
        else
        {
          compute(static_cast<PixelPointer>(m_Job.pixels) + begin,
                  m_Job.mask != nullptr ? m_Job.mask + begin : nullptr,
                  begin,
                  size);
        }
      });
    }
  }

  /** Copy a part of the input to the device, unless it is there. */
  void
  Upload(std::int64_t begin, std::int64_t size)
  {
    if (m_Uploaded == begin)
    {
      return;
    }
    m_Uploaded = begin;
    const std::int64_t pixelSize = GetPixelSize(m_Job.pixelType);
    m_Staging.ToDevice(m_Pixels,
                       static_cast<const char *>(m_Job.pixels) + begin * pixelSize,
                       static_cast<std::size_t>(size * pixelSize),
                       m_Stream);
    m_Copied.Record(m_Stream);
    if (m_Job.mask != nullptr)
    {
      m_Staging.ToDevice(m_Mask, m_Job.mask + begin, static_cast<std::size_t>(size), m_Stream);
      m_Copied.Record(m_Stream);
    }
  }

  /** Copy the levels of a part to host memory if they belong there, and report progress. */
  void
  Finish(std::int64_t begin, std::int64_t size)
  {
    if (!m_HasHostOutput)
    {
      m_Job.execution.ReportProgress(static_cast<std::uint64_t>(size));
      return;
    }
    std::size_t arrived = 0;
    m_Staging.ToHost({ reinterpret_cast<char *>(m_Job.levels + begin), this->GetLevelBytes(size) },
                     m_Levels,
                     m_Stream,
                     [this, &arrived](std::size_t bytes) {
                       m_Job.execution.ReportProgress((arrived + bytes) / sizeof(std::uint16_t) -
                                                      arrived / sizeof(std::uint16_t));
                       arrived += bytes;
                     });
  }

  const GrayLevelDiscretizationJob & m_Job;
  const std::int64_t                 m_Voxels;
  const cudaStream_t                 m_Stream;
  const bool                         m_HasHostInput;
  const bool                         m_HasHostOutput;
  std::int64_t                       m_PartSize{ 0 };
  // Where the part begins that is on the device; -1 if there is none.
  std::int64_t m_Uploaded{ -1 };
  // Pixels, mask and levels of a part, as far as they are in host memory.
  DeviceBuffer<char> m_Buffer;
  Key *              m_Key{ nullptr };
  char *             m_Pixels{ nullptr };
  std::uint8_t *     m_Mask{ nullptr };
  std::uint16_t *    m_Levels{ nullptr };
  CudaEvent          m_Copied;
  CudaStaging        m_Staging;
};
} // namespace

GrayLevelDiscretizationResult
DiscretizeGrayLevelsCuda(const GrayLevelDiscretizationJob & job, const CudaOptions & options)
{
  const DefaultFloatingPointEnvironment environment;
  const CurrentDevice                   device(options.deviceID);
  const std::int64_t                    voxels = VerifyGrayLevelJob(job);
  if (voxels == 0)
  {
    return MakeGrayLevelResult(GrayLevelDiscretization(job.parameters, job.pixelType, IntensityRange()));
  }
  std::optional<CudaStream> ownStream;
  auto                      stream = static_cast<cudaStream_t>(options.stream);
  if (!options.UsesStream())
  {
    stream = ownStream.emplace();
  }
  Discretizer    discretizer(job, options, voxels, stream);
  IntensityRange range;
  if (job.parameters.NeedsWholeInput())
  {
    range = discretizer.FindRange();
  }
  // The device uses no table, so that none need be made for the number of voxels.
  GrayLevelDiscretization discretization(job.parameters, job.pixelType, range);
  discretizer.ComputeLevels(discretization);
  discretization.VerifyIntensities();
  return MakeGrayLevelResult(discretization);
}

void
SelectIntensitiesCuda(PixelType pixelType, const void * pixels, const std::uint16_t * levels, std::int64_t count,
                      void * intensities, bool intensitiesAreDouble, const CudaOptions & options)
{
  VerifyEnumerator("The pixel type", pixelType, PixelType::Double);
  if (options.inputLocation != MemoryLocation::Device || options.outputLocation != MemoryLocation::Device)
  {
    throw EngineError("SelectIntensitiesCuda supports arrays in device memory only, but a location is host memory.");
  }
  const CurrentDevice device(options.deviceID);
  if (count < 1)
  {
    return;
  }
  const auto         stream = static_cast<cudaStream_t>(options.stream);
  const unsigned int blocks = BlocksForGridStride(static_cast<std::uint64_t>(count), threadsPerBlock);
  VisitPixelType(pixelType, [&](auto pixel) {
    const auto * const values = static_cast<const decltype(pixel) *>(pixels);
    const auto         select = [&](auto * selected) {
      SelectKernel<<<blocks, threadsPerBlock, 0, stream>>>(values, levels, count, selected);
    };
    intensitiesAreDouble ? select(static_cast<double *>(intensities)) : select(static_cast<float *>(intensities));
    CheckLaunch("starting the kernel that selects intensities");
  });
}
} // namespace voxelmaps
