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
#include "itkCooccurrenceJob.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkFirstOrderJob.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkGrayToneDifferenceJob.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkRunLengthJob.h"

#if defined(VOXELMAPS_TEST_CUDA)
#  include "itkCudaCooccurrenceFeatureMapImageFilter.h"
#  include "itkCudaCooccurrenceJob.h"
#  include "itkCudaFirstOrderFeatureMapImageFilter.h"
#  include "itkCudaFirstOrderJob.h"
#  include "itkCudaFuzzyConnectednessImageFilter.h"
#  include "itkCudaGrayToneDifferenceFeatureMapImageFilter.h"
#  include "itkCudaGrayToneDifferenceJob.h"
#  include "itkCudaRunLengthFeatureMapImageFilter.h"
#  include "itkCudaRunLengthJob.h"
#endif

#include <cstdlib>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** A way to compute a RunLengthJob; all ways must give the same bits. */
struct RunLengthEngine
{
  std::string name;
  /** False if this way cannot take the job. */
  std::function<bool(itk::voxelmaps::RunLengthJob job)> compute;
};

/** A way to compute a CooccurrenceJob; all ways must give the same bits. */
struct CooccurrenceEngine
{
  std::string name;
  /** False if this way cannot take the job. */
  std::function<bool(const itk::voxelmaps::CooccurrenceJob & job)> compute;
};

inline CooccurrenceEngine
MakeCpuCooccurrenceEngine()
{
  return { "CPU", [](const itk::voxelmaps::CooccurrenceJob & job) {
            itk::voxelmaps::ComputeCooccurrenceFeatureMaps(job);
            return true;
          } };
}

inline RunLengthEngine
MakeCpuEngine(itk::voxelmaps::RunLengthJob::InstructionSet instructionSet)
{
  return { "instruction set " + std::to_string(static_cast<int>(instructionSet)),
           [instructionSet](itk::voxelmaps::RunLengthJob job) {
             job.widestInstructionSet = instructionSet;
             itk::voxelmaps::ComputeRunLengthFeatureMaps(job);
             return true;
           } };
}

/** The same of a FirstOrderJob. */
struct FirstOrderEngine
{
  std::string                                            name;
  std::function<bool(itk::voxelmaps::FirstOrderJob job)> compute;
};

inline FirstOrderEngine
MakeFirstOrderCpuEngine(itk::voxelmaps::InstructionSet instructionSet)
{
  return { "instruction set " + std::to_string(static_cast<int>(instructionSet)),
           [instructionSet](itk::voxelmaps::FirstOrderJob job) {
             job.widestInstructionSet = instructionSet;
             itk::voxelmaps::ComputeFirstOrderFeatureMaps(job);
             return true;
           } };
}

/** The same of a GrayToneDifferenceJob. */
struct GrayToneDifferenceEngine
{
  std::string                                                    name;
  std::function<bool(itk::voxelmaps::GrayToneDifferenceJob job)> compute;
};

inline GrayToneDifferenceEngine
MakeGrayToneDifferenceCpuEngine(itk::voxelmaps::InstructionSet instructionSet)
{
  return { "instruction set " + std::to_string(static_cast<int>(instructionSet)),
           [instructionSet](itk::voxelmaps::GrayToneDifferenceJob job) {
             job.widestInstructionSet = instructionSet;
             itk::voxelmaps::ComputeGrayToneDifferenceFeatureMaps(job);
             return true;
           } };
}

#if !defined(VOXELMAPS_TEST_CUDA)

constexpr bool isCudaTest = false;

template <typename... TArguments>
using CooccurrenceFilter = itk::CooccurrenceFeatureMapImageFilter<TArguments...>;
template <typename... TArguments>
using FirstOrderFilter = itk::FirstOrderFeatureMapImageFilter<TArguments...>;
template <typename... TArguments>
using GrayToneDifferenceFilter = itk::GrayToneDifferenceFeatureMapImageFilter<TArguments...>;
template <typename... TArguments>
using RunLengthFilter = itk::RunLengthFeatureMapImageFilter<TArguments...>;
template <typename... TArguments>
using FuzzyConnectednessFilter = itk::FuzzyConnectednessImageFilter<TArguments...>;

inline std::vector<CooccurrenceEngine>
GetCooccurrenceEngines()
{
  return { MakeCpuCooccurrenceEngine() };
}

/** The first one is the one to be compared with the oracle. */
inline std::vector<RunLengthEngine>
GetRunLengthEngines()
{
  using InstructionSet = itk::voxelmaps::RunLengthJob::InstructionSet;
  return { MakeCpuEngine(InstructionSet::Baseline),
           MakeCpuEngine(InstructionSet::AVX2),
           MakeCpuEngine(InstructionSet::AVX512) };
}

inline std::vector<FirstOrderEngine>
GetFirstOrderEngines()
{
  using itk::voxelmaps::InstructionSet;
  return { MakeFirstOrderCpuEngine(InstructionSet::Baseline),
           MakeFirstOrderCpuEngine(InstructionSet::AVX2),
           MakeFirstOrderCpuEngine(InstructionSet::AVX512) };
}

inline std::vector<GrayToneDifferenceEngine>
GetGrayToneDifferenceEngines()
{
  using itk::voxelmaps::InstructionSet;
  return { MakeGrayToneDifferenceCpuEngine(InstructionSet::Baseline),
           MakeGrayToneDifferenceCpuEngine(InstructionSet::AVX2),
           MakeGrayToneDifferenceCpuEngine(InstructionSet::AVX512) };
}

#else

constexpr bool isCudaTest = true;

/** The method of this name, or Automatic, of the methods 0, 1 ... of an enumeration that can be printed. */
template <typename TMethod>
TMethod
FindMethod(const std::string & name)
{
  constexpr int maxMethods = 16;
  for (int i = 0; i < maxMethods; ++i)
  {
    std::ostringstream text;
    text << static_cast<TMethod>(i);
    if (!name.empty() && text.str().find(name) != std::string::npos)
    {
      return static_cast<TMethod>(i);
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
class CooccurrenceFilter : public WithTestedMethod<itk::CudaCooccurrenceFeatureMapImageFilter<TArguments...>>
{
public:
  using Self = CooccurrenceFilter;
  using Superclass = WithTestedMethod<itk::CudaCooccurrenceFeatureMapImageFilter<TArguments...>>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeFeatureMaps(const itk::voxelmaps::CooccurrenceJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeFeatureMaps(job); });
  }
};

template <typename... TArguments>
class FirstOrderFilter : public WithTestedMethod<itk::CudaFirstOrderFeatureMapImageFilter<TArguments...>>
{
public:
  using Self = FirstOrderFilter;
  using Superclass = WithTestedMethod<itk::CudaFirstOrderFeatureMapImageFilter<TArguments...>>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeFeatureMaps(const itk::voxelmaps::FirstOrderJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeFeatureMaps(job); });
  }
};

template <typename... TArguments>
class GrayToneDifferenceFilter
  : public WithTestedMethod<itk::CudaGrayToneDifferenceFeatureMapImageFilter<TArguments...>>
{
public:
  using Self = GrayToneDifferenceFilter;
  using Superclass = WithTestedMethod<itk::CudaGrayToneDifferenceFeatureMapImageFilter<TArguments...>>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeFeatureMaps(const itk::voxelmaps::GrayToneDifferenceJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeFeatureMaps(job); });
  }
};

template <typename... TArguments>
class RunLengthFilter : public WithTestedMethod<itk::CudaRunLengthFeatureMapImageFilter<TArguments...>>
{
public:
  using Self = RunLengthFilter;
  using Superclass = WithTestedMethod<itk::CudaRunLengthFeatureMapImageFilter<TArguments...>>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  void
  ComputeFeatureMaps(const itk::voxelmaps::RunLengthJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeFeatureMaps(job); });
  }
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
  ComputeStrengths(const itk::voxelmaps::FuzzyConnectednessJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeStrengths(job); });
  }
};

inline CooccurrenceEngine
MakeCudaCooccurrenceEngine(itk::voxelmaps::CudaCooccurrenceOptions::Method method)
{
  std::ostringstream name;
  name << method;
  return { name.str(), [method](const itk::voxelmaps::CooccurrenceJob & job) {
            itk::voxelmaps::CudaCooccurrenceOptions options;
            options.method = method;
            try
            {
              itk::voxelmaps::ComputeCooccurrenceFeatureMapsCuda(job, options);
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

/** The first one is the one to be compared with the oracle. The CPU is among them: its bits are those of CUDA. */
inline std::vector<CooccurrenceEngine>
GetCooccurrenceEngines()
{
  using Method = itk::voxelmaps::CudaCooccurrenceOptions::Method;
  return { MakeCudaCooccurrenceEngine(Method::Automatic),
           MakeCudaCooccurrenceEngine(Method::SortedPairs),
           MakeCudaCooccurrenceEngine(Method::WindowWalk),
           MakeCpuCooccurrenceEngine() };
}

inline RunLengthEngine
MakeCudaEngine(itk::voxelmaps::CudaRunLengthOptions::Method method)
{
  std::ostringstream name;
  name << method;
  return { name.str(), [method](const itk::voxelmaps::RunLengthJob & job) {
            itk::voxelmaps::CudaRunLengthOptions options;
            options.method = method;
            try
            {
              itk::voxelmaps::ComputeRunLengthFeatureMapsCuda(job, options);
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

/** The first one is the one to be compared with the oracle. The CPU is among them: its bits are those of CUDA. */
inline std::vector<RunLengthEngine>
GetRunLengthEngines()
{
  using Method = itk::voxelmaps::CudaRunLengthOptions::Method;
  return { MakeCudaEngine(Method::Automatic),
           MakeCudaEngine(Method::WindowWalk),
           MakeCudaEngine(Method::WindowWord),
           MakeCudaEngine(Method::BoxSums),
           MakeCudaEngine(Method::SlidingWindow),
           MakeCudaEngine(Method::SortReduce),
           MakeCpuEngine(itk::voxelmaps::RunLengthJob::InstructionSet::AVX512) };
}

inline FirstOrderEngine
MakeFirstOrderCudaEngine(itk::voxelmaps::CudaFirstOrderOptions::Method method)
{
  std::ostringstream name;
  name << method;
  return { name.str(), [method](const itk::voxelmaps::FirstOrderJob & job) {
            itk::voxelmaps::CudaFirstOrderOptions options;
            options.method = method;
            try
            {
              itk::voxelmaps::ComputeFirstOrderFeatureMapsCuda(job, options);
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

inline std::vector<FirstOrderEngine>
GetFirstOrderEngines()
{
  using Method = itk::voxelmaps::CudaFirstOrderOptions::Method;
  return { MakeFirstOrderCudaEngine(Method::Automatic),
           MakeFirstOrderCudaEngine(Method::SortingNetwork),
           MakeFirstOrderCudaEngine(Method::RadixSelection),
           MakeFirstOrderCpuEngine(itk::voxelmaps::InstructionSet::AVX512) };
}

inline GrayToneDifferenceEngine
MakeGrayToneDifferenceCudaEngine(itk::voxelmaps::CudaGrayToneDifferenceOptions::Method method)
{
  std::ostringstream name;
  name << method;
  return { name.str(), [method](const itk::voxelmaps::GrayToneDifferenceJob & job) {
            itk::voxelmaps::CudaGrayToneDifferenceOptions options;
            options.method = method;
            try
            {
              itk::voxelmaps::ComputeGrayToneDifferenceFeatureMapsCuda(job, options);
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

inline std::vector<GrayToneDifferenceEngine>
GetGrayToneDifferenceEngines()
{
  using Method = itk::voxelmaps::CudaGrayToneDifferenceOptions::Method;
  return { MakeGrayToneDifferenceCudaEngine(Method::Automatic),
           MakeGrayToneDifferenceCudaEngine(Method::LevelTables),
           MakeGrayToneDifferenceCudaEngine(Method::WindowWalk),
           MakeGrayToneDifferenceCpuEngine(itk::voxelmaps::InstructionSet::AVX512) };
}

#endif

/** What GetNameOfClass() has before the name of the CPU class. */
constexpr const char * classNamePrefix = isCudaTest ? "Cuda" : "";
} // namespace VoxelMapsTest

#endif // TestedClasses_h
