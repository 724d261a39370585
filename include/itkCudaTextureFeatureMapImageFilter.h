// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTextureFeatureMapImageFilter_h
#define itkCudaTextureFeatureMapImageFilter_h

#include "itkCudaDevices.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkVoxelMapsEngineCall.h"
#include "itkVoxelMapsParameters.h"

#include <vector>

namespace itk
{
/** \class CudaTextureFeatureMapImageFilter
 * \brief Base of the Cuda classes of the texture filters, which computes their jobs on the device.
 *
 * \tparam TFilter the CPU filter.
 * \tparam TEngine the CUDA engine: the types JobType and OptionsType, a static function Compute(job, options) that
 * returns a report, and lastMethod, the last enumerator of the methods.
 *
 * \ingroup VoxelMaps
 */
template <typename TFilter, typename TEngine>
class ITK_TEMPLATE_EXPORT CudaTextureFeatureMapImageFilter : public CudaVoxelMapImageFilter<TFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaTextureFeatureMapImageFilter);

  using Self = CudaTextureFeatureMapImageFilter;
  using Superclass = CudaVoxelMapImageFilter<TFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkOverrideGetNameOfClassMacro(CudaTextureFeatureMapImageFilter);

#if !defined(ITK_WRAPPING_PARSER)
  // In Python, voxelmaps.feature_maps uses several devices.
  /** Numbers of further devices, which compute parts of the maps at the same time as the one with DeviceID. Default:
   * none. */
  void
  SetOtherDeviceIDs(const std::vector<int> & deviceIDs)
  {
    if (m_OtherDeviceIDs != deviceIDs)
    {
      m_OtherDeviceIDs = deviceIDs;
      this->Modified();
    }
  }
  const std::vector<int> &
  GetOtherDeviceIDs() const
  {
    return m_OtherDeviceIDs;
  }
#endif

protected:
  CudaTextureFeatureMapImageFilter() = default;
  // Pure virtual: the Python wrapping generates no function for an abstract class.
  ~CudaTextureFeatureMapImageFilter() override = 0;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "OtherDeviceIDs:";
    for (const int deviceID : m_OtherDeviceIDs)
    {
      os << ' ' << deviceID;
    }
    os << std::endl;
  }
  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    VoxelMapsDetail::VerifyEnumerator(*this, "CudaMethod", this->GetCudaMethod(), TEngine::lastMethod);
    Superclass::VerifyPreconditions();
    for (const int deviceID : m_OtherDeviceIDs)
    {
      VoxelMapsDetail::CallDevice(*this, [deviceID] { CudaDevices::Verify(deviceID); });
    }
  }
  void
  ComputeFeatureMaps(const typename TEngine::JobType & job) override
  {
    typename TEngine::OptionsType options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    options.otherDeviceIDs = m_OtherDeviceIDs;
    const auto report = VoxelMapsDetail::CallDevice(*this, [&] { return TEngine::Compute(job, options); });
    this->SetReport(report, report.method);
  }

private:
  std::vector<int> m_OtherDeviceIDs;
};

template <typename TFilter, typename TEngine>
CudaTextureFeatureMapImageFilter<TFilter, TEngine>::~CudaTextureFeatureMapImageFilter() = default;
} // namespace itk

/** The members of a Cuda class, derived from CudaTextureFeatureMapImageFilter. */
#define VoxelMapsCudaTextureClassMacro(thisClass)                                                                      \
public:                                                                                                                \
  ITK_DISALLOW_COPY_AND_MOVE(thisClass);                                                                               \
                                                                                                                       \
  using Self = thisClass;                                                                                              \
  using Superclass = typename Self::CudaTextureFeatureMapImageFilter;                                                  \
  using Pointer = SmartPointer<Self>;                                                                                  \
  using ConstPointer = SmartPointer<const Self>;                                                                       \
                                                                                                                       \
  itkNewMacro(Self);                                                                                                   \
  itkOverrideGetNameOfClassMacro(thisClass);                                                                           \
                                                                                                                       \
protected:                                                                                                             \
  thisClass() = default;                                                                                               \
  ~thisClass() override = default;                                                                                     \
                                                                                                                       \
private:                                                                                                               \
  ITK_MACROEND_NOOP_STATEMENT

#endif // itkCudaTextureFeatureMapImageFilter_h
