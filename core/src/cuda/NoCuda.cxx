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
// Replaces the device layer and the CUDA engines in a build without CUDA.
#include "voxelmaps/CudaCooccurrenceJob.h"
#include "voxelmaps/CudaDependenceJob.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/CudaFirstOrderJob.h"
#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "voxelmaps/CudaGrayToneDifferenceJob.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "voxelmaps/CudaRunLengthJob.h"
#include "voxelmaps/CudaSizeZoneJob.h"

namespace voxelmaps
{
namespace
{
constexpr const char * reason = "VoxelMaps was built without CUDA: build it with VoxelMaps_USE_CUDA=ON, which needs "
                                "the CUDA Toolkit, or use the filters without Cuda in their names.";
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
  throw EngineError(reason);
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

CudaCooccurrenceReport
ComputeCooccurrenceFeatureMapsCuda(const CooccurrenceJob &, const CudaCooccurrenceOptions &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const CooccurrenceJob &, const CudaOptions &)
{
  return true;
}

CudaDependenceReport
ComputeDependenceFeatureMapsCuda(const DependenceJob &, const CudaDependenceOptions &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const DependenceJob &, const CudaOptions &)
{
  return true;
}

CudaFirstOrderReport
ComputeFirstOrderFeatureMapsCuda(const FirstOrderJob &, const CudaFirstOrderOptions &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const FirstOrderJob &, const CudaOptions &)
{
  return true;
}

CudaGrayToneDifferenceReport
ComputeGrayToneDifferenceFeatureMapsCuda(const GrayToneDifferenceJob &, const CudaGrayToneDifferenceOptions &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const GrayToneDifferenceJob &, const CudaOptions &)
{
  return true;
}

CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob &,
                                      const CudaRelativeFuzzyConnectednessOptions &)
{
  throw EngineError(reason);
}

CudaRelativeFuzzyConnectednessReport
ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob &,
                                      const CudaRelativeFuzzyConnectednessOptions &,
                                      RelativeFuzzyConnectednessHierarchy &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const RelativeFuzzyConnectednessJob &, const CudaOptions &)
{
  return true;
}

CudaRunLengthReport
ComputeRunLengthFeatureMapsCuda(const RunLengthJob &, const CudaRunLengthOptions &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const RunLengthJob &, const CudaOptions &)
{
  return true;
}

CudaSizeZoneReport
ComputeSizeZoneFeatureMapsCuda(const SizeZoneJob &, const CudaSizeZoneOptions &)
{
  throw EngineError(reason);
}

bool
IsCpuFaster(const SizeZoneJob &, const CudaOptions &)
{
  return true;
}

bool
IsCpuFaster(const FuzzyConnectednessJob &, const CudaOptions &)
{
  return true;
}

CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob &, const CudaFuzzyConnectednessOptions &)
{
  throw EngineError(reason);
}
} // namespace voxelmaps
