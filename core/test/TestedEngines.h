// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedEngines_h
#define TestedEngines_h

// The engines that the tests use, for the processor that IsCudaTest() selects.

#include "TestedProcessor.h"

#include "voxelmaps/CooccurrenceJob.h"
#include "voxelmaps/DependenceJob.h"
#include "voxelmaps/FirstOrderJob.h"
#include "voxelmaps/GrayToneDifferenceJob.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/RunLengthJob.h"
#include "voxelmaps/SizeZoneJob.h"

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
MakeCpuEngine(void (*compute)(const TJob &), voxelmaps::InstructionSet instructionSet)
{
  return { "instruction set " + std::to_string(static_cast<int>(instructionSet)), [compute, instructionSet](TJob job) {
            job.widestInstructionSet = instructionSet;
            compute(job);
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
MakeWalkEngine(void (*compute)(const TJob &))
{
  return { "windows walked one by one", [compute](TJob job) {
            auto steps = static_cast<double>(job.offsets.size());
            for (unsigned int axis = 0; axis < 3; ++axis)
            {
              steps *= static_cast<double>(job.windowSize[axis]) * static_cast<double>(job.outputSize[axis]);
            }
            job.walkWindows = true;
            const bool isShort = steps < (std::is_same<TJob, voxelmaps::RunLengthJob>::value ? 2e7 : 2e6);
            if (isShort)
            {
              compute(job);
            }
            return isShort;
          } };
}

template <typename TJob, typename TOptions, typename TReport>
Engine<TJob>
MakeCudaEngine(TReport (*compute)(const TJob &, const TOptions &), typename TOptions::Method method)
{
  std::ostringstream name;
  name << method;
  return { name.str(), [compute, method](const TJob & job) {
            TOptions options;
            options.method = method;
            try
            {
              compute(job, options);
            }
            catch (const voxelmaps::UnsupportedOnDeviceError &)
            {
              return false;
            }
            return true;
          } };
}

/** For the CPU, its engine with every instruction set, and the one that walks every window. For CUDA, all methods,
 * Automatic first, and the CPU engine: its bits are those of CUDA. */
template <typename TJob, typename TOptions, typename TReport>
std::vector<Engine<TJob>>
MakeEngines(void (*computeOnCpu)(const TJob &), TReport (*computeOnDevice)(const TJob &, const TOptions &))
{
  using voxelmaps::InstructionSet;
  std::vector<Engine<TJob>> engines;
  if (!IsCudaTest())
  {
    engines = { MakeCpuEngine(computeOnCpu, InstructionSet::Baseline),
                MakeCpuEngine(computeOnCpu, InstructionSet::AVX2),
                MakeCpuEngine(computeOnCpu, InstructionSet::AVX512) };
    if constexpr (HasWalkWindows<TJob>::value)
    {
      engines.push_back(MakeWalkEngine(computeOnCpu));
    }
    return engines;
  }
  for (const auto method : GetMethods<typename TOptions::Method>())
  {
    engines.push_back(MakeCudaEngine(computeOnDevice, method));
  }
  engines.push_back(MakeCpuEngine(computeOnCpu, InstructionSet::AVX512));
  return engines;
}

/** Enumerations and name of a texture class, and options and report of its CUDA engine. */
template <typename TJob>
struct JobTextureClass;

// For a job: GetEngines(job), the first of which is to be compared with the oracle, and the engines by the same names
// for all classes.
#define VOXELMAPS_TESTED_ENGINES(name)                                                                                 \
  template <>                                                                                                          \
  struct JobTextureClass<voxelmaps::name##Job>                                                                         \
  {                                                                                                                    \
    using Enums = voxelmaps::name##FeatureMapEnums;                                                                    \
    static constexpr const char * className = #name;                                                                   \
    using Options = voxelmaps::Cuda##name##Options;                                                                    \
    using Report = voxelmaps::Cuda##name##Report;                                                                      \
  };                                                                                                                   \
  inline void ComputeFeatureMaps(const voxelmaps::name##Job & job)                                                     \
  {                                                                                                                    \
    voxelmaps::Compute##name##FeatureMaps(job);                                                                        \
  }                                                                                                                    \
  inline voxelmaps::Cuda##name##Report ComputeFeatureMapsCuda(const voxelmaps::name##Job &           job,              \
                                                              const voxelmaps::Cuda##name##Options & options)          \
  {                                                                                                                    \
    return voxelmaps::Compute##name##FeatureMapsCuda(job, options);                                                    \
  }                                                                                                                    \
  inline std::vector<Engine<voxelmaps::name##Job>> GetEngines(const voxelmaps::name##Job &)                            \
  {                                                                                                                    \
    return MakeEngines(voxelmaps::Compute##name##FeatureMaps, voxelmaps::Compute##name##FeatureMapsCuda);              \
  }
VOXELMAPS_TESTED_ENGINES(Cooccurrence)
VOXELMAPS_TESTED_ENGINES(Dependence)
VOXELMAPS_TESTED_ENGINES(FirstOrder)
VOXELMAPS_TESTED_ENGINES(GrayToneDifference)
VOXELMAPS_TESTED_ENGINES(RunLength)
VOXELMAPS_TESTED_ENGINES(SizeZone)
#undef VOXELMAPS_TESTED_ENGINES

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
