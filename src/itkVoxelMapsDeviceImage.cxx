// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsDeviceImage.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace itk
{
namespace VoxelMapsDetail
{
namespace
{
struct Functions
{
  std::mutex                            mutex;
  std::vector<MakeDevicePixelsFunction> list;
};

// Never destroyed: filters may still run while the program ends.
Functions &
GetFunctions()
{
  static auto * functions = new Functions();
  return *functions;
}
} // namespace

void
RegisterDevicePixels(MakeDevicePixelsFunction function)
{
  Functions &                       functions = GetFunctions();
  const std::lock_guard<std::mutex> lock(functions.mutex);
  if (std::find(functions.list.begin(), functions.list.end(), function) == functions.list.end())
  {
    functions.list.push_back(function);
  }
}

std::unique_ptr<DevicePixels>
FindRegisteredDevicePixels(const DataObject * image)
{
  Functions &                       functions = GetFunctions();
  const std::lock_guard<std::mutex> lock(functions.mutex);
  for (const MakeDevicePixelsFunction function : functions.list)
  {
    if (auto pixels = function(image))
    {
      return pixels;
    }
  }
  return nullptr;
}
} // namespace VoxelMapsDetail
} // namespace itk
