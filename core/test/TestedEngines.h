// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedEngines_h
#define TestedEngines_h

// The engines that the tests use, for the processor that IsCudaTest() selects.

#include "TestedProcessor.h"

#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/FeatureMapsJob.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
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

/** Names of the methods of a class on the tested processor; "" is the automatic choice. */
template <typename TJob>
struct MethodNames;
template <>
struct MethodNames<voxelmaps::CooccurrenceJob>
{
  static constexpr const char * cpu[]{ "", "Columns", "SlidingWindow", "WindowWalk" };
  static constexpr const char * cuda[]{ "", "SortedPairs", "RankTables", "WindowWalk" };
};
template <>
struct MethodNames<voxelmaps::DependenceJob>
{
  static constexpr const char * cpu[]{ "", "Tiles", "WindowWalk" };
  static constexpr const char * cuda[]{ "", "BitPlanes", "WindowWalk" };
};
template <>
struct MethodNames<voxelmaps::FirstOrderJob>
{
  static constexpr const char * cpu[]{ "", "Tiles" };
  static constexpr const char * cuda[]{ "", "RadixSelection" };
};
template <>
struct MethodNames<voxelmaps::GrayToneDifferenceJob>
{
  static constexpr const char * cpu[]{ "", "Tiles", "WindowWalk" };
  static constexpr const char * cuda[]{ "", "LevelTables", "WindowWalk" };
};
template <>
struct MethodNames<voxelmaps::RunLengthJob>
{
  static constexpr const char * cpu[]{ "", "BoxSums", "WindowWalk" };
  static constexpr const char * cuda[]{ "", "WindowWord", "BoxSums", "SlidingWindow", "WindowWalk", "SortReduce" };
};
template <>
struct MethodNames<voxelmaps::SizeZoneJob>
{
  static constexpr const char * cpu[]{ "", "BitPlanes", "WindowWalk" };
  static constexpr const char * cuda[]{ "", "BitPlanes" };
};

/** Those of the tested processor. */
template <typename TJob>
std::vector<std::string>
GetMethodNames()
{
  using Names = MethodNames<TJob>;
  return IsCudaTest() ? std::vector<std::string>(std::begin(Names::cuda), std::end(Names::cuda))
                      : std::vector<std::string>(std::begin(Names::cpu), std::end(Names::cpu));
}

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
struct HasOffsets : std::false_type
{};
template <typename TJob>
struct HasOffsets<TJob, std::void_t<decltype(TJob::offsets)>> : std::true_type
{};

/** A method of the CPU that is not the automatic choice, for jobs that do not have too many steps. */
template <typename TJob>
Engine<TJob>
MakeCpuEngine(const std::string & method)
{
  return { method, [method](TJob job) {
            double steps = 13.0;
            if constexpr (HasOffsets<TJob>::value)
            {
              steps = static_cast<double>(job.offsets.size());
            }
            for (unsigned int axis = 0; axis < 3; ++axis)
            {
              steps *= static_cast<double>(job.windowSize[axis]) * static_cast<double>(job.outputSize[axis]);
            }
            const bool isShort = steps < (std::is_same<TJob, voxelmaps::RunLengthJob>::value ? 2e7 : 2e6);
            const auto methods = voxelmaps::GetMethods(job);
            const bool isOther = std::find(methods.begin() + 1, methods.end(), method) != methods.end();
            if (isShort && isOther)
            {
              job.method = method;
              ComputeFeatureMaps(job);
            }
            return isShort && isOther;
          } };
}

template <typename TJob>
Engine<TJob>
MakeCudaEngine(const std::string & method)
{
  return { method.empty() ? "automatic" : method, [method](TJob job) {
            job.method = method;
            try
            {
              ComputeFeatureMapsCuda(job, {});
            }
            catch (const voxelmaps::UnsupportedMethodError &)
            {
              return false;
            }
            return true;
          } };
}

/** The engines for a job, the first of which is to be compared with the oracle. For the CPU, the automatic choice with
 * every instruction set, and the other methods. For CUDA, all methods, and the CPU engine: its bits are those of CUDA.
 */
template <typename TJob>
std::vector<Engine<TJob>>
GetEngines(const TJob &)
{
  using voxelmaps::InstructionSet;
  std::vector<Engine<TJob>> engines;
  const auto                methods = GetMethodNames<TJob>();
  if (!IsCudaTest())
  {
    engines = { MakeCpuEngine<TJob>(InstructionSet::Baseline),
                MakeCpuEngine<TJob>(InstructionSet::AVX2),
                MakeCpuEngine<TJob>(InstructionSet::AVX512) };
    // The only method is the automatic choice.
    for (std::size_t i = 1; i < methods.size() && methods.size() > 2; ++i)
    {
      engines.push_back(MakeCpuEngine<TJob>(methods[i]));
    }
    return engines;
  }
  std::transform(methods.begin(), methods.end(), std::back_inserter(engines), MakeCudaEngine<TJob>);
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
