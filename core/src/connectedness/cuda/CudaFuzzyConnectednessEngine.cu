// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaConnectednessSlab.h"
#include "common/HostMemory.h"
#include "common/Methods.h"
#include "connectedness/ConnectednessKeyEngines.h"
#include "connectedness/VerifyJob.h"
#include "device/CudaStaging.h"
#include "voxelmaps/CudaDevices.h"

#include <algorithm>
#include <string>
#include <vector>

namespace voxelmaps
{
namespace
{
struct CudaKeyMethod
{
  const char *  name;
  MethodSupport support;
  /** Bytes of device memory per voxel, in addition to those of image and keys; an estimate. */
  double bytesPerVoxel;
  void (*solve)(CudaConnectednessContext & context, const CudaConnectednessSlab & slab, unsigned int correctionPasses);
};

void
SolveByHierarchy(CudaConnectednessContext & context, const CudaConnectednessSlab & slab, unsigned int)
{
  RunCudaHierarchy(context, slab);
}

const std::vector<CudaKeyMethod> methods{
  // A label, two entries of two bytes in the lists of links, and 24 bytes per node: noise leaves 4 to 9 % of the voxels
  // as nodes, and 15 % are assumed.
  { "Hierarchy", MethodSupport::Full, 4.0 + 4.0 + 3.6, SolveByHierarchy },
  // The two flags of a voxel.
  { "CorrectedKFOE", MethodSupport::Full, 2.0, RunCudaCorrectedKFOE }
};

template <typename TReal>
__global__ void
WriteStrengthsKernel(const std::uint32_t * keys, std::int64_t count, Combination combination, TReal * strengths)
{
  ForEachInGrid(count, [&](std::int64_t i) { strengths[i] = static_cast<TReal>(KeyStrength(combination, keys[i])); });
}

/** Write the strengths of voxels from number first on to an output in device memory, from their keys there. */
void
WriteStrengths(CudaConnectednessContext & context, const std::uint32_t * keys, std::int64_t first, std::int64_t count)
{
  const FuzzyConnectednessJob & job = context.job;
  const Combination             combination = MakeAffinityTerms(job).combination;
  constexpr unsigned int        threads = 256;
  const unsigned int            blocks = BlocksForGridStride(static_cast<std::uint64_t>(count), threads);
  CudaKernelClock               clock(context.kernelTimes);
  const auto                    write = [&](auto * strengths) {
    WriteStrengthsKernel<<<blocks, threads, 0, context.stream>>>(keys, count, combination, strengths + first);
  };
  job.outputIsDouble ? write(static_cast<double *>(job.output)) : write(static_cast<float *>(job.output));
  CheckLaunch("writing strengths");
  clock.Stop();
}

/** The same for all voxels, from their keys in host memory, by parts. */
void
WriteHostKeyStrengths(CudaConnectednessContext & context)
{
  constexpr std::int64_t      partVoxels = 1 << 22;
  const std::int64_t          count = context.job.GetNumberOfVoxels();
  DeviceBuffer<std::uint32_t> keys(static_cast<std::size_t>(std::min(count, partVoxels)), context.stream);
  CudaStaging                 staging(context.job.execution);
  for (std::int64_t first = 0; first < count; first += partVoxels)
  {
    const std::int64_t size = std::min(count - first, partVoxels);
    staging.ToDevice(
      keys.data(), context.keys + first, static_cast<std::size_t>(size) * sizeof(std::uint32_t), context.stream);
    WriteStrengths(context, keys.data(), first, size);
  }
}

/** The planes of an image in slabs, each of which is solved again while the keys that enter it grow.
 *
 * Every slab has one additional plane at each end, whose known keys enter it. Every key is the strength of some path,
 * and slabs are solved until no key of a shared plane grows: then no link of the image would change any key. */
class Slabs
{
public:
  Slabs(CudaConnectednessContext & context, const CudaKeyMethod & method, unsigned int correctionPasses,
        std::int64_t slabPlanes)
    : m_Context(context)
    , m_Method(method)
    , m_CorrectionPasses(correctionPasses)
    , m_Planes(CudaConnectednessSlab::GetNumberOfPlanes(context.job))
    , m_PlaneSize(CudaConnectednessSlab::GetPlaneSize(context.job))
    , m_OwnPlanes(slabPlanes >= m_Planes ? m_Planes : slabPlanes - 2)
  {
    m_Waiting.assign(static_cast<std::size_t>((m_Planes + m_OwnPlanes - 1) / m_OwnPlanes), true);
  }

  std::uint64_t
  GetNumberOfSlabs() const
  {
    return m_Waiting.size();
  }

  void
  Solve()
  {
    const auto count = static_cast<std::int64_t>(m_Waiting.size());
    // Upwards and downwards in turn: strengths that grow in one slab reach all slabs of that direction in one pass.
    for (bool up = true; std::find(m_Waiting.begin(), m_Waiting.end(), true) != m_Waiting.end(); up = !up)
    {
      for (std::int64_t i = 0; i < count; ++i)
      {
        const std::int64_t number = up ? i : count - 1 - i;
        if (m_Waiting[number])
        {
          this->SolveOne(number);
        }
      }
    }
  }

private:
  void
  SolveOne(std::int64_t number)
  {
    const std::int64_t begin = number * m_OwnPlanes;
    const std::int64_t end = std::min(begin + m_OwnPlanes, m_Planes);
    const std::int64_t first = std::max<std::int64_t>(begin - 1, 0);
    const std::int64_t last = std::min(end + 1, m_Planes);
    // The two planes shared with each neighbor, as the neighbor knows them.
    const Keys before = this->GetPlanes(first, begin < 1 ? 0 : begin + 1);
    const Keys behind = this->GetPlanes(end == m_Planes ? last : end - 1, last);
    {
      CudaConnectednessSlab slab(m_Context, first, last);
      m_Method.solve(m_Context, slab, m_CorrectionPasses);
      if (m_Context.keys == nullptr)
      {
        WriteStrengths(m_Context, slab.GetScene().keys, 0, m_Context.job.GetNumberOfVoxels());
      }
      else
      {
        slab.CopyKeysToHost();
      }
    }
    m_Waiting[number] = false;
    if (begin > 0 && before != this->GetPlanes(first, begin + 1))
    {
      m_Waiting[number - 1] = true;
    }
    if (end < m_Planes && behind != this->GetPlanes(end - 1, last))
    {
      m_Waiting[number + 1] = true;
    }
  }

  using Keys = std::vector<std::uint32_t>;
  Keys
  GetPlanes(std::int64_t first, std::int64_t last) const
  {
    const std::uint32_t * const keys = m_Context.keys;
    return first < last ? Keys(keys + first * m_PlaneSize, keys + last * m_PlaneSize) : Keys();
  }

  CudaConnectednessContext & m_Context;
  const CudaKeyMethod &      m_Method;
  const unsigned int         m_CorrectionPasses;
  const std::int64_t         m_Planes;
  const std::int64_t         m_PlaneSize;
  const std::int64_t         m_OwnPlanes;
  std::vector<bool>          m_Waiting;
};

} // namespace

/** Without keys, strengths are written to the output, which is in device memory. */
CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessKeysCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options,
                                  std::uint32_t * keys)
{
  const CurrentDevice          device(options.deviceID);
  const CudaKeyMethod &        method = *FindMethod(methods, job.method, DescribeImage(job));
  CudaFuzzyConnectednessReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  report.method = method.name;

  // Tables of terms, up to 0.8 MB, counters, and the rounding up of allocations.
  constexpr double   otherBytes = 2e6;
  const std::int64_t planes = CudaConnectednessSlab::GetNumberOfPlanes(job);
  const std::int64_t minPlanes = std::min<std::int64_t>(planes, 3);
  constexpr double   keyBytes = 4.0;
  const double       planeBytes =
    (static_cast<double>(CudaConnectednessSlab::GetImageBytes(job)) + keyBytes + method.bytesPerVoxel) *
    static_cast<double>(CudaConnectednessSlab::GetPlaneSize(job));
  const auto   usable = static_cast<double>(UsableDeviceMemory(options.memoryBudget));
  std::int64_t planesThatFit = planes;
  if (planeBytes * static_cast<double>(planes) + otherBytes > usable)
  {
    planesThatFit = static_cast<std::int64_t>((usable - otherBytes) / planeBytes);
  }

  // Slabs of another size go on with the keys that are known already.
  bool                       isCleared = false;
  std::vector<std::uint32_t> slabKeys;
  const auto                 trySolve = [&](std::int64_t slabPlanes) {
    const CudaStream         stream;
    CudaConnectednessContext context{ job, options, keys, stream, CudaKernelTimes(stream), nullptr, 0 };
    job.execution.CheckAbort();
    WaitForInput(options, stream);
    if (slabPlanes >= planes)
    {
      if (keys != nullptr)
      {
        context.hostWork = [&job, keys] {
          TouchMemory(keys, static_cast<std::size_t>(job.GetNumberOfVoxels()) * sizeof(*keys), job.execution);
        };
      }
    }
    else
    {
      if (keys == nullptr)
      {
        slabKeys.resize(static_cast<std::size_t>(job.GetNumberOfVoxels()));
        context.keys = slabKeys.data();
      }
      if (!isCleared)
      {
        ClearKeys(job, context.keys);
        isCleared = true;
      }
    }
    bool fits = true;
    try
    {
      Slabs slabs(context, method, options.correctionPasses, slabPlanes);
      report.numberOfSlabs = slabs.GetNumberOfSlabs();
      slabs.Solve();
      if (!slabKeys.empty())
      {
        WriteHostKeyStrengths(context);
      }
    }
    catch (const CudaOutOfMemory &)
    {
      // The memory that Hierarchy needs is known only after a part of its work, so any allocation may fail.
      fits = false;
    }
    report.numberOfIterations += context.numberOfIterations;
    report.kernelMilliseconds += context.kernelTimes.GetMilliseconds();
    return fits;
  };
  if (planesThatFit < minPlanes || !RetryWithSmallerSize(planesThatFit, minPlanes, trySolve))
  {
    const auto minBytes = static_cast<std::uint64_t>(planeBytes * static_cast<double>(minPlanes) + otherBytes);
    throw CudaOutOfMemory(
      "The device, or the DeviceMemoryBudget, allows " + std::to_string(static_cast<std::uint64_t>(usable)) +
      " bytes, but the smallest slab of this image, " + std::to_string(minPlanes) + " planes, needs about " +
      std::to_string(minBytes) +
      ". Free memory on the device, set a larger DeviceMemoryBudget, or use the filter without Cuda.");
  }
  return report;
}

std::vector<std::string>
GetCudaMethods(const FuzzyConnectednessJob &, int deviceID)
{
  const CurrentDevice device(deviceID);
  return GetNames(methods);
}

CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options)
{
  VerifyJob(job, options.inputLocation);
  VerifyOutput(job);
  if (job.GetNumberOfVoxels() == 0)
  {
    return {};
  }
  VerifyDeviceMask(job, options);
  if (options.outputLocation == MemoryLocation::Device)
  {
    return ComputeFuzzyConnectednessKeysCuda(job, options, nullptr);
  }
  return ComputeStrengths(job,
                          [&](std::uint32_t * keys) { return ComputeFuzzyConnectednessKeysCuda(job, options, keys); });
}
} // namespace voxelmaps
