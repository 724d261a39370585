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
#ifndef RenderingOptions_h
#define RenderingOptions_h

// Options that the example programs that draw slices have in common.

#include "io/CommandLine.h"
#include "Rendering.h"

#include <array>
#include <stdexcept>
#include <vector>

namespace Rendering
{
/** Add the option --window. */
inline void
AddWindowOption(CLI::App & app, std::vector<double> & window)
{
  ExampleIO::AddNumbers(
    app, "--window", window, "LO,HI", "intensities shown as black and white (default: the 1st and 99.5th percentiles)");
}

/** The range of --window. */
inline Range
GetWindow(vtkImageData * image, const std::vector<double> & given)
{
  Range window = GetPercentileRange(image, 99.5);
  if (!given.empty())
  {
    ExampleIO::CopyNumbers("--window", given, window, "a window has 2");
    if (!(window[0] < window[1]))
    {
      throw std::runtime_error("--window: " + ExampleIO::Join(given) + " is not in ascending order");
    }
  }
  return window;
}

/** The voxel of --slices, whose indices are along the axes of the file. */
inline std::array<itk::SizeValueType, 3>
GetVoxelOfSlices(const std::vector<itk::SizeValueType> & given)
{
  std::array<itk::SizeValueType, 3> voxel{};
  ExampleIO::CopyNumbers("--slices", given, voxel, "slices pass through a voxel, which has 3");
  return voxel;
}

/** The index along an axis of the picture that belongs to an index along the axis of the file, or the other way round.
 */
template <typename TOrientFilter>
int
FlipIndex(TOrientFilter * orient, unsigned int axis, int index)
{
  const auto size = static_cast<int>(orient->GetOutput()->GetLargestPossibleRegion().GetSize(axis));
  return orient->GetFlipAxes()[axis] ? size - 1 - index : index;
}

/** The slices through a voxel, whose indices are along the axes of the file, along those of the picture. */
template <typename TOrientFilter>
std::array<int, 3>
GetSlicesThrough(TOrientFilter * orient, const std::array<itk::SizeValueType, 3> & voxel)
{
  const auto         size = orient->GetInput()->GetLargestPossibleRegion().GetSize();
  std::array<int, 3> slices{};
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const auto fileAxis = orient->GetPermuteOrder()[axis];
    if (voxel[fileAxis] >= size[fileAxis])
    {
      throw std::runtime_error("--slices: the image has no voxel " + ExampleIO::Join(voxel));
    }
    slices[axis] = FlipIndex(orient, axis, static_cast<int>(voxel[fileAxis]));
  }
  return slices;
}
} // namespace Rendering

#endif // RenderingOptions_h
