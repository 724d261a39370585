// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsCudaFactory.h"

#include "itkCudaDevices.h"
#include "itkVersion.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

namespace itk
{
namespace
{
bool
IsAllowedByEnvironment()
{
  const char * variable = std::getenv("VOXELMAPS_USE_CUDA");
  if (variable == nullptr)
  {
    return true;
  }
  std::string value(variable);
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
  return value != "0" && value != "OFF" && value != "NO" && value != "FALSE";
}

std::atomic<bool> &
OverrideEnabled()
{
  static std::atomic<bool> enabled{ IsAllowedByEnvironment() };
  return enabled;
}

bool
HasDevice()
{
  // Asked once, since drivers do not come and go while a program runs. It creates no context on the device.
  static const bool hasDevice = CudaDevices::IsUsable(0);
  return hasDevice;
}

std::vector<bool (*)()> &
DeferredRegistrations()
{
  static std::vector<bool (*)()> registrations;
  return registrations;
}
} // namespace

VoxelMapsCudaFactory::VoxelMapsCudaFactory() = default;
VoxelMapsCudaFactory::~VoxelMapsCudaFactory() = default;

const char *
VoxelMapsCudaFactory::GetITKSourceVersion() const
{
  return ITK_SOURCE_VERSION;
}

const char *
VoxelMapsCudaFactory::GetDescription() const
{
  return "CUDA filters of the module VoxelMaps";
}

void
VoxelMapsCudaFactory::SetOverrideEnabled(bool enabled)
{
  OverrideEnabled() = enabled;
}

bool
VoxelMapsCudaFactory::GetOverrideEnabled()
{
  return OverrideEnabled();
}

LightObject::Pointer
VoxelMapsCudaFactory::CreateObject(const char * className)
{
  // Most classes asked for are not of this module, and must not initialize CUDA.
  if (m_FilterNames.count(className) == 0 || !GetOverrideEnabled() || !HasDevice())
  {
    return nullptr;
  }
  return Superclass::CreateObject(className);
}

bool
VoxelMapsCudaFactory::DeferRegistration(bool (*registerFilter)())
{
  DeferredRegistrations().push_back(registerFilter);
  return true;
}

void
VoxelMapsCudaFactory::RegisterDeferredFilters()
{
  for (const auto registerFilter : DeferredRegistrations())
  {
    registerFilter();
  }
  DeferredRegistrations().clear();
}

bool
VoxelMapsCudaFactory::RegisterFilterByName(const char * filter, const char * cudaFilter,
                                           CreateObjectFunctionBase * createFunction)
{
  static const Self::Pointer factory = Self::New();
  // Not RegisterFactory, which would load dynamic factories during static initialization, and which ReHash() undoes.
  static const bool isRegistered = [] {
    ObjectFactoryBase::RegisterFactoryInternal(factory);
    return true;
  }();
  // Several libraries of a program may register the same filter.
  if (factory->m_FilterNames.insert(filter).second)
  {
    factory->RegisterOverride(filter, cudaFilter, "bit-identical results, computed by CUDA", true, createFunction);
  }
  return isRegistered;
}
} // namespace itk
