// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedEngines_h
#define TestedEngines_h

// The engines that the tests use, for the processor that IsCudaTest() selects.

#include "TestedProcessor.h"

#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/FeatureMapsJob.h"

#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace VoxelMapsTest
{
/** A way to compute the jobs of a texture class; all ways must give the same bits. */
template <typename TJob>
struct Engine
{
  std::string name;
  /** False if this way does not support the job. */
  std::function<bool(TJob job)> compute;
};

template <typename TJob>
Engine<TJob>
MakeCpuEngine(voxelmaps::InstructionSet instructionSet)
{
  return { "instruction set " + std::to_string(static_cast<int>(instructionSet)), [instructionSet](TJob job) {
            job.widestInstructionSet = instructionSet;
            ComputeFeatureMaps(job);
            return true;
          } };
}

template <typename TJob, typename = void>
struct HasWalkWindows : std::false_type
{};
template <typename TJob>
struct HasWalkWindows<TJob, std::void_t<decltype(TJob::walkWindows)>> : std::true_type
{};

/** The CPU engine that walks every window, for jobs that do not have too many steps. */
template <typename TJob>
Engine<TJob>
MakeWalkEngine()
{
  return { "windows walked one by one", [](TJob job) {
            auto steps = static_cast<double>(job.offsets.size());
            for (unsigned int axis = 0; axis < 3; ++axis)
            {
              steps *= static_cast<double>(job.windowSize[axis]) * static_cast<double>(job.outputSize[axis]);
            }
            job.walkWindows = true;
            const bool isShort = steps < (std::is_same<TJob, voxelmaps::RunLengthJob>::value ? 2e7 : 2e6);
            if (isShort)
            {
              ComputeFeatureMaps(job);
            }
            return isShort;
          } };
}

template <typename TJob>
Engine<TJob>
MakeCudaEngine(typename TJob::CudaMethod method)
{
  std::ostringstream name;
  name << method;
  return { name.str(), [method](const TJob & job) {
            voxelmaps::CudaTextureOptions<TJob> options;
            options.method = method;
            try
            {
              ComputeFeatureMapsCuda(job, options);
            }
            catch (const voxelmaps::UnsupportedOnDeviceError &)
            {
              return false;
            }
            return true;
          } };
}

/** The engines for a job, the first of which is to be compared with the oracle. For the CPU, its engine with every
 * instruction set, and the one that walks every window. For CUDA, all methods, Automatic first, and the CPU engine: its
 * bits are those of CUDA. */
template <typename TJob>
std::vector<Engine<TJob>>
GetEngines(const TJob &)
{
  using voxelmaps::InstructionSet;
  std::vector<Engine<TJob>> engines;
  if (!IsCudaTest())
  {
    engines = { MakeCpuEngine<TJob>(InstructionSet::Baseline),
                MakeCpuEngine<TJob>(InstructionSet::AVX2),
                MakeCpuEngine<TJob>(InstructionSet::AVX512) };
    if constexpr (HasWalkWindows<TJob>::value)
    {
      engines.push_back(MakeWalkEngine<TJob>());
    }
    return engines;
  }
  for (const auto method : voxelmaps::GetEnumerators<typename TJob::CudaMethod>())
  {
    engines.push_back(MakeCudaEngine<TJob>(method));
  }
  engines.push_back(MakeCpuEngine<TJob>(InstructionSet::AVX512));
  return engines;
}

/** The engine of labels; hierarchy is that of a job, or nothing. */
template <typename... THierarchy>
void
ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job, THierarchy &... hierarchy)
{
  if (IsCudaTest())
  {
    voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, {}, hierarchy...);
  }
  else
  {
    voxelmaps::ComputeRelativeFuzzyConnectedness(job, hierarchy...);
  }
}
} // namespace VoxelMapsTest

#endif // TestedEngines_h
