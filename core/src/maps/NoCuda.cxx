// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// Replaces the device layer and the CUDA engines in a build without CUDA.
#include "connectedness/ConnectednessKeyEngines.h"
#include "maps/FeatureMapsClasses.h"
#include "voxelmaps/CudaArrays.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/FilterImageJob.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/RegionFeaturesJob.h"


#include "voxelmaps/ResampleImageJob.h"

namespace voxelmaps
{
namespace
{
constexpr const char * reason = "VoxelMaps was built without CUDA: build it with VoxelMaps_USE_CUDA=ON, which needs "
                                "the CUDA Toolkit, or compute on the CPU.";
}

int
CudaDevices::GetNumberOfDevices()
{
  return 0;
}

std::string
CudaDevices::GetReasonForNoDevice()
{
  return reason;
}

void
CudaDevices::Verify(int)
{
  throw DeviceError(reason);
}

bool
CudaDevices::IsUsable(int)
{
  return false;
}

std::string
CudaDevices::GetName(int)
{
  return "";
}

int
GetDeviceOf(const void *)
{
  return -1;
}

std::uint64_t
CudaDevices::GetFreeMemory(int)
{
  return 0;
}

void
CudaDevices::ReleaseResources()
{}

int
CudaDevices::GetRuntimeVersion()
{
  return 0;
}

int
CudaDevices::GetDriverVersion()
{
  return 0;
}

#define VOXELMAPS_NO_CUDA_METHODS(TJob)                                                                                \
  std::vector<std::string> GetCudaMethods(const TJob &, int)                                                           \
  {                                                                                                                    \
    throw DeviceError(reason);                                                                                         \
  }                                                                                                                    \
  static_assert(true, "ends with a semicolon")

VOXELMAPS_NO_CUDA_METHODS(FuzzyConnectednessJob);
VOXELMAPS_NO_CUDA_METHODS(RelativeFuzzyConnectednessJob);
VOXELMAPS_NO_CUDA_METHODS(TextureClassJob);

CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob &, const CudaFuzzyConnectednessOptions &)
{
  throw DeviceError(reason);
}

CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob &, const CudaOptions &)
{
  throw DeviceError(reason);
}

#define VOXELMAPS_NO_CUDA_CLASS(name)                                                                                  \
  CudaReport ComputeFeatureMapsCuda(const name##Job &, const CudaOptions &)                                            \
  {                                                                                                                    \
    throw DeviceError(reason);                                                                                         \
  }
VOXELMAPS_TEXTURE_CLASSES(VOXELMAPS_NO_CUDA_CLASS)

CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob &, const CudaOptions &,
                                      RelativeFuzzyConnectednessHierarchy &)
{
  throw DeviceError(reason);
}

CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessKeysCuda(const FuzzyConnectednessJob &, const CudaFuzzyConnectednessOptions &, std::uint32_t *)
{
  throw DeviceError(reason);
}

GrayLevelDiscretizationResult
DiscretizeGrayLevelsCuda(const GrayLevelDiscretizationJob &, const CudaOptions &)
{
  throw DeviceError(reason);
}

void
SelectIntensitiesCuda(PixelType, const void *, const std::uint16_t *, std::int64_t, void *, bool, const CudaOptions &)
{
  throw DeviceError(reason);
}

std::shared_ptr<void>
AllocateCuda(std::uint64_t, const CudaOptions &)
{
  throw DeviceError(reason);
}

void
CopyBoxCuda(const void *, const ArrayBox &, void *, const ArrayBox &, std::uint64_t, const JobExecution &,
            const CudaOptions &)
{
  throw DeviceError(reason);
}

void
ClearCuda(void *, std::uint64_t, const CudaOptions &)
{
  throw DeviceError(reason);
}

MaskValues
MakeMaskBytesCuda(PixelType, const void *, std::int64_t, const void *, std::uint8_t *, const CudaOptions &)
{
  throw DeviceError(reason);
}

std::vector<NonzeroPixel>
FindNonzeroPixelsCuda(PixelType, const void *, std::int64_t, const CudaOptions &)
{
  throw DeviceError(reason);
}

void
ResampleImageCuda(const ResampleImageJob &, const CudaOptions &)
{
  throw DeviceError(reason);
}

void
FilterImageCuda(const FilterImageJob &, const CudaOptions &)
{
  throw DeviceError(reason);
}

GrayLevelDiscretizationResult
ComputeFeatureMapsCuda(const FeatureMapsJob &, const CudaOptions &)
{
  throw DeviceError(reason);
}

std::vector<RegionFeatures>
ComputeRegionFeaturesCuda(const RegionFeaturesJob &, const CudaOptions &)
{
  throw DeviceError(reason);
}
} // namespace voxelmaps
