// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedFilters_h
#define TestedFilters_h

// The filters that the tests use, for the processor that IsCudaTest() tells.

#include "TestedProcessor.h"

#include "itkCooccurrenceFeatureMapImageFilter.h"
#include "itkCudaCooccurrenceFeatureMapImageFilter.h"
#include "itkCudaDependenceFeatureMapImageFilter.h"
#include "itkCudaFirstOrderFeatureMapImageFilter.h"
#include "itkCudaFuzzyConnectednessImageFilter.h"
#include "itkCudaGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkCudaRelativeFuzzyConnectednessImageFilter.h"
#include "itkCudaRunLengthFeatureMapImageFilter.h"
#include "itkCudaSizeZoneFeatureMapImageFilter.h"
#include "itkDependenceFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"
#include "itkGrayLevelDiscretizationImageFilter.h"
#include "itkGrayToneDifferenceFeatureMapImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"
#include "itkRunLengthFeatureMapImageFilter.h"
#include "itkSizeZoneFeatureMapImageFilter.h"

#include <cstdlib>
#include <string>

namespace VoxelMapsTest
{
/** Whether a filter's exception, which has no type for this, is that a method does not support the job. */
inline bool
IsUnsupported(const std::string & message)
{
  return message.find("does not support") != std::string::npos;
}

/** A Cuda filter that uses the method in the environment variable VOXELMAPS_TEST_CUDA_METHOD, or another one without
 * it, where it supports the job. */
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

  explicit WithTestedMethod(Method otherMethod = Method::Automatic)
  {
    const char * const name = std::getenv("VOXELMAPS_TEST_CUDA_METHOD");
    m_TestedMethod = name != nullptr ? FindMethod<Method>(name) : otherMethod;
  }

  /** Compute with the tested method; with Automatic if it says that it does not support the job. */
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
      if (!IsUnsupported(error.GetDescription()))
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

/** WithTestedMethod of fuzzy connectedness. Automatic would compute the small images of the tests on the CPU. */
template <typename TCudaFilter, typename TJob>
class ConnectednessFilterWithTestedMethod : public WithTestedMethod<TCudaFilter>
{
public:
  using Self = ConnectednessFilterWithTestedMethod;
  using Superclass = WithTestedMethod<TCudaFilter>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  ConnectednessFilterWithTestedMethod()
    : Superclass(Superclass::Method::Hierarchy)
  {}

  void
  ComputeStrengths(const TJob & job) override
  {
    this->ComputeWithTestedMethod([&] { Superclass::ComputeStrengths(job); });
  }
};

/** WithTestedMethod of labels. */
template <typename TCudaFilter, typename TJob>
class RelativeFilterWithTestedMethod : public WithTestedMethod<TCudaFilter>
{
public:
  using Self = RelativeFilterWithTestedMethod;
  using Superclass = WithTestedMethod<TCudaFilter>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  RelativeFilterWithTestedMethod()
    : Superclass(Superclass::Method::Hierarchy)
  {}

  void
  ComputeLabels(const TJob & job, voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy) override
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

/** The Cuda class of a filter, and the class of the tested objects, which is derived from it. */
template <typename TFilter>
struct CudaClass;

#define VOXELMAPS_TESTED_FILTER(filter, withTestedMethod, job)                                                         \
  template <typename... TArguments>                                                                                    \
  struct CudaClass<itk::filter<TArguments...>>                                                                         \
  {                                                                                                                    \
    using Type = itk::Cuda##filter<TArguments...>;                                                                     \
    using TestedType = withTestedMethod<Type, voxelmaps::job>;                                                         \
  }
VOXELMAPS_TESTED_FILTER(CooccurrenceFeatureMapImageFilter, TextureFilterWithTestedMethod, CooccurrenceJob);
VOXELMAPS_TESTED_FILTER(DependenceFeatureMapImageFilter, TextureFilterWithTestedMethod, DependenceJob);
VOXELMAPS_TESTED_FILTER(FirstOrderFeatureMapImageFilter, TextureFilterWithTestedMethod, FirstOrderJob);
VOXELMAPS_TESTED_FILTER(FuzzyConnectednessImageFilter, ConnectednessFilterWithTestedMethod, FuzzyConnectednessJob);
VOXELMAPS_TESTED_FILTER(GrayToneDifferenceFeatureMapImageFilter, TextureFilterWithTestedMethod, GrayToneDifferenceJob);
VOXELMAPS_TESTED_FILTER(RelativeFuzzyConnectednessImageFilter, RelativeFilterWithTestedMethod,
                        RelativeFuzzyConnectednessJob);
VOXELMAPS_TESTED_FILTER(RunLengthFeatureMapImageFilter, TextureFilterWithTestedMethod, RunLengthJob);
VOXELMAPS_TESTED_FILTER(SizeZoneFeatureMapImageFilter, TextureFilterWithTestedMethod, SizeZoneJob);
#undef VOXELMAPS_TESTED_FILTER

/** It has no Cuda class. */
template <typename... TArguments>
struct CudaClass<itk::GrayLevelDiscretizationImageFilter<TArguments...>>
{
  using Type = itk::GrayLevelDiscretizationImageFilter<TArguments...>;
  using TestedType = Type;
};

/** The filter to be tested: one of the CPU class TFilter, or of its Cuda class with the tested method. */
template <typename TFilter>
typename TFilter::Pointer
NewFilter()
{
  if (IsCudaTest())
  {
    return CudaClass<TFilter>::TestedType::New().GetPointer();
  }
  return TFilter::New();
}
} // namespace VoxelMapsTest

#endif // TestedFilters_h
