// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TestedFilters_h
#define TestedFilters_h

#include "TestedProcessor.h"

#include "itkVoxelMapsEnums.h"

#include <string>
#include <vector>

namespace VoxelMapsTest
{
/** A filter that computes on the processor that IsCudaTest() tells. */
template <typename TFilter>
typename TFilter::Pointer
NewFilter()
{
  const auto filter = TFilter::New();
  filter->SetDevice(IsCudaTest() ? itk::DeviceEnums::Device::CUDA : itk::DeviceEnums::Device::CPU);
  return filter;
}

/** Names of the methods of fuzzy connectedness of that processor, of scalar images; "" is the automatic choice. */
inline std::vector<std::string>
GetConnectednessMethods()
{
  return IsCudaTest() ? std::vector<std::string>{ "", "Hierarchy", "CorrectedKFOE" }
                      : std::vector<std::string>{ "", "Hierarchy", "Buckets", "Queue" };
}
} // namespace VoxelMapsTest

#endif // TestedFilters_h
