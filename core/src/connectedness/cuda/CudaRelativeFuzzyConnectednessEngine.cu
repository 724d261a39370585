// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaConnectednessSlab.h"
#include "CudaNearestLabels.cuh"
#include "CudaRelativeHierarchy.h"
#include "connectedness/BestTwo.h"
#include "connectedness/RelativeResults.h"
#include "connectedness/VerifyJob.h"
#include "device/CudaStaging.h"
#include "voxelmaps/CudaDevices.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace voxelmaps
{
namespace
{
using Job = RelativeFuzzyConnectednessJob;
using Report = CudaRelativeFuzzyConnectednessReport;

/** The greatest keys of all voxels, and the labels of the greatest. */
struct BestKeys
{
  std::uint32_t * best;
  std::uint32_t * second;
  std::uint16_t * winners;

  __device__ std::uint32_t
             GetKeys(std::int64_t voxel, std::uint32_t & otherKey) const
  {
    otherKey = second[voxel];
    return best[voxel];
  }
};

__global__ void
AddLabelKernel(std::int64_t numberOfVoxels, const std::uint32_t * scene, std::uint16_t label, bool keepsTies,
               BestKeys keys, std::uint32_t rank, std::size_t wordsPerSet, std::uint32_t * strongest)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    if (wordsPerSet > 0)
    {
      AddToSet(scene[voxel], keys.best[voxel], rank, wordsPerSet, strongest + voxel * wordsPerSet);
    }
    BestTwo bestTwo{ keys.best[voxel], keys.second[voxel], keys.winners[voxel] };
    bestTwo.Add(scene[voxel], label, keepsTies);
    keys.best[voxel] = bestTwo.best;
    keys.second[voxel] = bestTwo.second;
    keys.winners[voxel] = bestTwo.winner;
  });
}

__global__ void
ClearWeakSetsKernel(std::int64_t numberOfVoxels, BestKeys keys, std::uint32_t minKey, std::size_t wordsPerSet,
                    std::uint32_t * strongest)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    for (std::size_t i = 0; keys.best[voxel] < minKey && i < wordsPerSet; ++i)
    {
      strongest[voxel * wordsPerSet + i] = 0;
    }
  });
}

template <typename TLabel>
__global__ void
WriteLabelsKernel(std::int64_t numberOfVoxels, BestKeys keys, std::uint32_t minKey, TLabel * labels)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    labels[voxel] = static_cast<TLabel>(keys.best[voxel] >= minKey ? keys.winners[voxel] : 0);
  });
}

/** Compute one scene for every label, each with its own affinity, and keep the best two of every voxel. */
void
ComputeScenes(const Job & job, const CudaOptions & options, Report & report)
{
  const std::int64_t count = job.GetNumberOfVoxels();
  const auto         voxels = static_cast<std::size_t>(count);
  const CudaStream   stream;
  CudaKernelTimes    times(stream);
  WaitForInput(options, stream);
  DeviceBuffer<std::uint32_t> best(2 * voxels, stream);
  DeviceBuffer<std::uint16_t> winners(voxels, stream);
  const BestKeys              keys{ best.data(), best.data() + voxels, winners.data() };
  const CudaRelativeOutputs   outputs{ job, options, stream, times };
  constexpr unsigned int      threads = CudaRelativeOutputs::threads;
  CheckCuda(cudaMemsetAsync(best.data(), 0, best.size() * sizeof(std::uint32_t), stream), "clearing keys");
  CheckCuda(cudaMemsetAsync(winners.data(), 0, winners.size() * sizeof(std::uint16_t), stream), "clearing labels");
  static_assert(noKey == 0, "memset fills the keys with it");
  const bool                  isByDistance = job.tieRule == Job::TieRule::Distance && !job.seeds.empty();
  const TieDistances          distances(job);
  TieSets                     sets(distances);
  const std::size_t           words = isByDistance ? sets.GetWordsPerSet() : 0;
  DeviceBuffer<std::uint32_t> strongest(voxels * words, stream); // labels, as sets
  if (isByDistance)
  {
    CheckCuda(cudaMemsetAsync(strongest.data(), 0, strongest.size() * sizeof(std::uint32_t), stream), "clearing sets");
  }
  CudaConnectednessScene geometry{}; // the same for all labels
  ForEachLabelJob(job, [&](std::uint16_t label, const FuzzyConnectednessJob & labelJob) {
    CudaConnectednessContext    context{ labelJob, options, nullptr, stream, CudaKernelTimes(stream), nullptr, 0 };
    const CudaConnectednessSlab slab(context, 0, CudaConnectednessSlab::GetNumberOfPlanes(labelJob));
    RunCudaHierarchy(context, slab);
    geometry = slab.GetScene();
    outputs.Launch([&](unsigned int blocks) {
      AddLabelKernel<<<blocks, threads, 0, stream>>>(count,
                                                     slab.GetScene().keys,
                                                     label,
                                                     job.tieRule != Job::TieRule::Background,
                                                     keys,
                                                     distances.labelRanks[label],
                                                     words,
                                                     strongest.data());
    });
    report.numberOfIterations += context.numberOfIterations;
    report.kernelMilliseconds += context.kernelTimes.GetMilliseconds();
  });

  DeviceBuffer<std::uint32_t> setsOfVoxels;
  if (isByDistance)
  {
    outputs.Launch([&](unsigned int blocks) {
      ClearWeakSetsKernel<<<blocks, threads, 0, stream>>>(count, keys, MinKey(job), words, strongest.data());
    });
    std::vector<std::uint32_t> onHost(strongest.size());
    CopyFromDevice(onHost.data(), strongest.data(), onHost.size(), stream);
    setsOfVoxels = CopyToDevice(sets.Find(onHost), stream);
    strongest = DeviceBuffer<std::uint32_t>();
  }
  DeviceBuffer<CudaNearestLabels::Key> leads;
  const auto                           writeLabels = [&](auto label) {
    using Label = decltype(label);
    outputs.Write<Label>(job.labelOutput, [&](Label * out) {
      outputs.Launch(
        [&](unsigned int blocks) { WriteLabelsKernel<<<blocks, threads, 0, stream>>>(count, keys, MinKey(job), out); });
      if (isByDistance)
      {
        SettleTiesByDistance(outputs, geometry, distances, sets, setsOfVoxels.data(), out, leads, report);
      }
    });
  };
  job.labelsAre16Bit ? writeLabels(std::uint16_t{ 0 }) : writeLabels(std::uint8_t{ 0 });
  outputs.WriteReals(keys, leads.data());
  // Adds the times of all kernels so far.
  CudaKernelClock(times).Stop();
  report.kernelMilliseconds += times.GetMilliseconds();
}

/** Bytes of device memory that a job takes; an estimate, as noise leaves 4 to 9 % of the voxels as nodes, of which 15 %
 * are assumed. */
std::uint64_t
EstimateBytes(const Job & job, bool hasHierarchy)
{
  FuzzyConnectednessJob problem;
  static_cast<FuzzyConnectednessProblem &>(problem) = job;
  constexpr double nodes = 0.15;
  // Nodes and keys of voxels, and the links of the forest; in addition, the graph and two entries of the lists of
  // links.
  constexpr double kept = 8.0 + nodes * 12.0;
  constexpr double building = nodes * 24.0 + 4.0;
  constexpr double scenes = 10.0 + 4.0 + 4.0 + 4.0 + nodes * 24.0;
  // The graph, two lists of links, results and seeds of nodes, and one output at a time.
  const double output =
    job.strengthOutput != nullptr || job.marginOutput != nullptr ? (job.outputIsDouble ? 8.0 : 4.0) : 2.0;
  const double computing = nodes * (24.0 + 24.0 + 20.0) + output;
  const double image = static_cast<double>(CudaConnectednessSlab::GetImageBytes(problem));
  const double bytes = !job.labelAffinities.empty() ? image + scenes + output
                       : hasHierarchy               ? computing
                                                    : image + kept + std::max(building, computing);
  // Keys of labels, those of other labels for margins, sets, and bits of links; of scenes, also the words of sets.
  const double sets =
    8.0 + (job.labelAffinities.empty() ? 0.0 : 4.0 * static_cast<double>(TieSets(TieDistances(job)).GetWordsPerSet()));
  const double distances =
    job.tieRule == Job::TieRule::Distance ? sets + (job.marginOutput != nullptr ? 16.0 : 8.0) : 0.0;
  // Nodes and keys of tiles with seeds are saved.
  const auto   voxels = static_cast<double>(job.GetNumberOfVoxels());
  const double saved = 8.0 * std::min(voxels, 2048.0 * static_cast<double>(job.seeds.size()));
  // Tables of terms, up to 0.8 MB, counters, and the rounding up of allocations.
  return static_cast<std::uint64_t>((bytes + distances) * voxels + (job.labelAffinities.empty() ? saved : 0.0)) +
         2000000;
}

/** Call f() if the device has enough memory. hierarchyBytes are those of a hierarchy that is there already. */
template <typename TFunction>
void
WithinMemory(const Job & job, const CudaOptions & options, std::uint64_t hierarchyBytes, const TFunction & f)
{
  const std::uint64_t bytes = EstimateBytes(job, hierarchyBytes > 0);
  const std::uint64_t budget = options.memoryBudget;
  // The memory of the hierarchy counts towards the budget, but is no longer free.
  const std::uint64_t usable = budget == 0               ? UsableDeviceMemory(0)
                               : budget > hierarchyBytes ? UsableDeviceMemory(budget - hierarchyBytes)
                                                         : 0;
  const auto          fail = [&] {
    const std::uint64_t allowed = budget != 0 && budget <= hierarchyBytes ? budget : usable + hierarchyBytes;
    // How much is needed is known only after a part of the work.
    throw DeviceMemoryError(
      "The device, or the DeviceMemoryBudget, allows " + std::to_string(allowed) +
      " bytes, but labels of this image need " +
      (bytes > usable ? "about " + std::to_string(bytes + hierarchyBytes) : std::string("more with these seeds")) +
      ". Free memory on the device, set a larger DeviceMemoryBudget, release hierarchies of other "
               "filters, or use the filter without Cuda.");
  };
  if (bytes > usable)
  {
    fail();
  }
  try
  {
    f();
  }
  catch (const CudaOutOfMemory &)
  {
    fail();
  }
}

Report
MakeReport(const CudaOptions & options)
{
  Report report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  report.method = "Hierarchy";
  report.numberOfSlabs = 1;
  return report;
}
} // namespace

std::vector<std::string>
GetCudaMethods(const RelativeFuzzyConnectednessJob & job, int deviceID)
{
  const CurrentDevice device(deviceID);
  return GetMethods(job);
}

CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options)
{
  VerifyRelativeJob(job, options.inputLocation);
  if (job.GetNumberOfVoxels() == 0)
  {
    return {};
  }
  const CurrentDevice device(options.deviceID);
  VerifyDeviceMask(job, options);
  Report report = MakeReport(options);
  WithinMemory(job, options, 0, [&] {
    if (!job.labelAffinities.empty())
    {
      ComputeScenes(job, options, report);
    }
    else
    {
      CudaRelativeHierarchy(job, options, report).Compute(job, options, report);
    }
  });
  return report;
}

CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
                                      RelativeFuzzyConnectednessHierarchy & hierarchy)
{
  if (!job.labelAffinities.empty() || job.GetNumberOfVoxels() == 0)
  {
    return ComputeRelativeFuzzyConnectednessCuda(job, options);
  }
  VerifyRelativeJob(job, options.inputLocation);
  const CurrentDevice device(options.deviceID);
  VerifyDeviceMask(job, options);
  Report report = MakeReport(options);
  auto * kept = dynamic_cast<CudaRelativeHierarchy *>(hierarchy.m_Hierarchy.get());
  if (kept != nullptr && kept->GetDeviceID() == options.deviceID)
  {
    try
    {
      WithinMemory(job, options, kept->GetMemory(), [&] { kept->Compute(job, options, report); });
    }
    catch (...)
    {
      if (kept->IsDamaged())
      {
        hierarchy.Release();
      }
      throw;
    }
    return report;
  }
  WithinMemory(job, options, 0, [&] {
    auto made = std::make_unique<CudaRelativeHierarchy>(job, options, report);
    made->Compute(job, options, report);
    hierarchy.m_Hierarchy = std::move(made);
  });
  return report;
}
} // namespace voxelmaps
