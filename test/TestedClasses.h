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
#ifndef TestedClasses_h
#define TestedClasses_h

// The same tests are compiled twice: into VoxelMapsTests, which tests the CPU classes, and with VOXELMAPS_TEST_CUDA
// into VoxelMapsCudaTests, which tests the Cuda classes in the same way. This header says what "the filter" and "the
// engines" are in each.

#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "voxelmaps/CooccurrenceJob.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "voxelmaps/DependenceJob.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "voxelmaps/FirstOrderJob.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "voxelmaps/GrayToneDifferenceJob.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "voxelmaps/RunLengthJob.h"
#include "itkSizeZoneFeatureMapImageFilter.h"
#include "voxelmaps/SizeZoneJob.h"

#if defined(VOXELMAPS_TEST_CUDA)
#  include "itkCudaCooccurrenceFeatureMapImageFilter.h"
#  include "itkCudaDependenceFeatureMapImageFilter.h"
#  include "itkCudaFirstOrderFeatureMapImageFilter.h"
#  include "itkCudaFuzzyConnectednessImageFilter.h"
#  include "itkCudaGrayToneDifferenceFeatureMapImageFilter.h"
#  include "itkCudaRelativeFuzzyConnectednessImageFilter.h"
#  include "itkCudaRunLengthFeatureMapImageFilter.h"
#  include "itkCudaSizeZoneFeatureMapImageFilter.h"
#endif

#include <cstdlib>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** A way to compute the jobs of a texture class; all ways must give the same bits. */
template <typename TJob>
struct Engine
{
  std::string name;
  /** False if this way cannot take the job. */
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

#if !defined(VOXELMAPS_TEST_CUDA)

constexpr bool isCudaTest = false;

template <typename... TArguments>
using FuzzyConnectednessFilter = itk::FuzzyConnectednessImageFilter<TArguments...>;

template <typename... TArguments>
using RelativeFuzzyConnectednessFilter = itk::RelativeFuzzyConnectednessImageFilter<TArguments...>;

/** The engine of labels; hierarchy is that of a job, or nothing. */
template <typename... THierarchy>
void
ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job, THierarchy &... hierarchy)
{
  voxelmaps::ComputeRelativeFuzzyConnectedness(job, hierarchy...);
}

/** The CPU engine with every instruction set. */
template <typename TJob>
std::vector<Engine<TJob>>
GetCpuEngines(void (*compute)(const TJob &))
{
  using voxelmaps::InstructionSet;
  return { MakeCpuEngine(compute, InstructionSet::Baseline),
           MakeCpuEngine(compute, InstructionSet::AVX2),
           MakeCpuEngine(compute, InstructionSet::AVX512) };
}

#  define VOXELMAPS_TESTED_TEXTURE_CLASS(name)                                                                         \
    template <typename... TArguments>                                                                                  \
    using name##Filter = itk::name##FeatureMapImageFilter<TArguments...>;                                              \
    using name##Engine = Engine<voxelmaps::name##Job>;                                                                 \
    inline std::vector<name##Engine> GetEngines(const voxelmaps::name##Job &)                                          \
    {                                                                                                                  \
      return GetCpuEngines(voxelmaps::Compute##name##FeatureMaps);                                                     \
    }

#else

constexpr bool isCudaTest = true;

/** The engine of labels; hierarchy is that of a job, or nothing. */
template <typename... THierarchy>
void
ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job, THierarchy &... hierarchy)
{
  voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, {}, hierarchy...);
}

/** The methods 0, 1 ... of an enumeration that can be printed. */
template <typename TMethod>
std::vector<TMethod>
GetMethods()
{
  std::vector<TMethod> methods;
  for (int i = 0;; ++i)
  {
    std::ostringstream text;
    text << static_cast<TMethod>(i);
    if (text.str().find("invalid") != std::string::npos)
    {
      return methods;
    }
    methods.push_back(static_cast<TMethod>(i));
  }
}

/** The method of this name, or Automatic. */
template <typename TMethod>
TMethod
FindMethod(const std::string & name)
{
  for (const TMethod method : GetMethods<TMethod>())
  {
    std::ostringstream text;
    text << method;
    if (!name.empty() && text.str().find(name) != std::string::npos)
    {
      return method;
    }
  }
  return TMethod::Automatic;
}

/** A Cuda filter that uses the method in the environment variable VOXELMAPS_TEST_CUDA_METHOD where it takes the job. */
template <typename TCudaFilter>
class WithTestedMethod : public TCudaFilter
{
public:
  using Self = WithTestedMethod;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

  void
  Modified() const override
  {
    if (!m_IsChoosing)
    {
      TCudaFilter::Modified();
    }
  }

protected:
  using Method = typename TCudaFilter::CudaMethodEnum;

  WithTestedMethod()
  {
    const char * const name = std::getenv("VOXELMAPS_TEST_CUDA_METHOD");
    m_TestedMethod = FindMethod<Method>(name != nullptr ? name : "");
    // The images of the tests are small.
    this->UseCPUIfFasterOff();
  }

  /** Compute with the tested method; with Automatic if it says that it cannot take the job. */
  template <typename TCompute>
  void
  ComputeWithTestedMethod(const TCompute & compute)
  {
    // The tests may choose for themselves.
    if (m_TestedMethod == Method::Automatic || this->GetCudaMethod() != Method::Automatic)
    {
      compute();
      return;
    }
    this->Choose(m_TestedMethod);
    try
    {
      compute();
      this->Choose(Method::Automatic);
    }
    catch (const itk::ExceptionObject & error)
    {
      this->Choose(Method::Automatic);
      if (std::string(error.GetDescription()).find("cannot take") == std::string::npos)
      {
        throw;
      }
      compute();
    }
  }

private:
  /** The filter is not to compute again because of this. */
  void
  Choose(Method method)
  {
    m_IsChoosing = true;
    this->SetCudaMethod(method);
    m_IsChoosing = false;
  }

  Method m_TestedMethod{ Method::Automatic };
  bool   m_IsChoosing{ false };
};

template <typename... TArguments>
class FuzzyConnectednessFilter : public WithTestedMethod<itk::CudaFuzzyConnectednessImageFilter<TArguments...>>
{
public:
  using Self = FuzzyConnectednessFilter;
  using Superclass = WithTestedMethod<itk::CudaFuzzyConnectednessImageFilter<TArguments...>>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeStrengths(const voxelmaps::FuzzyConnectednessJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeStrengths(job); });
  }
};

template <typename... TArguments>
class RelativeFuzzyConnectednessFilter
  : public WithTestedMethod<itk::CudaRelativeFuzzyConnectednessImageFilter<TArguments...>>
{
public:
  using Self = RelativeFuzzyConnectednessFilter;
  using Superclass = WithTestedMethod<itk::CudaRelativeFuzzyConnectednessImageFilter<TArguments...>>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job,
                voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeLabels(job, hierarchy); });
  }
};

/** WithTestedMethod of a texture class. */
template <typename TCudaFilter, typename TJob>
class TextureFilterWithTestedMethod : public WithTestedMethod<TCudaFilter>
{
public:
  using Self = TextureFilterWithTestedMethod;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeFeatureMaps(const TJob & job) override
  {
    this->ComputeWithTestedMethod([&] { TCudaFilter::ComputeFeatureMaps(job); });
  }
};

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
            catch (const std::runtime_error & error)
            {
              if (std::string(error.what()).find("cannot take") == std::string::npos)
              {
                throw;
              }
              return false;
            }
            return true;
          } };
}

/** All methods, Automatic first, and the CPU engine: its bits are those of CUDA. */
template <typename TJob, typename TOptions, typename TReport>
std::vector<Engine<TJob>>
GetCudaEngines(TReport (*compute)(const TJob &, const TOptions &), void (*computeOnCpu)(const TJob &))
{
  std::vector<Engine<TJob>> engines;
  for (const auto method : GetMethods<typename TOptions::Method>())
  {
    engines.push_back(MakeCudaEngine(compute, method));
  }
  engines.push_back(MakeCpuEngine(computeOnCpu, voxelmaps::InstructionSet::AVX512));
  return engines;
}

#  define VOXELMAPS_TESTED_TEXTURE_CLASS(name)                                                                         \
    template <typename... TArguments>                                                                                  \
    using name##Filter =                                                                                               \
      TextureFilterWithTestedMethod<itk::Cuda##name##FeatureMapImageFilter<TArguments...>, voxelmaps::name##Job>;      \
    using name##Engine = Engine<voxelmaps::name##Job>;                                                                 \
    inline std::vector<name##Engine> GetEngines(const voxelmaps::name##Job &)                                          \
    {                                                                                                                  \
      return GetCudaEngines(voxelmaps::Compute##name##FeatureMapsCuda, voxelmaps::Compute##name##FeatureMaps);         \
    }

#endif

// For a class Name: NameFilter, NameEngine, and GetEngines(job), the first of which is to be compared with the oracle.
VOXELMAPS_TESTED_TEXTURE_CLASS(Cooccurrence)
VOXELMAPS_TESTED_TEXTURE_CLASS(Dependence)
VOXELMAPS_TESTED_TEXTURE_CLASS(FirstOrder)
VOXELMAPS_TESTED_TEXTURE_CLASS(GrayToneDifference)
VOXELMAPS_TESTED_TEXTURE_CLASS(RunLength)
VOXELMAPS_TESTED_TEXTURE_CLASS(SizeZone)

/** What GetNameOfClass() has before the name of the CPU class. */
constexpr const char * classNamePrefix = isCudaTest ? "Cuda" : "";
} // namespace VoxelMapsTest

#endif // TestedClasses_h
