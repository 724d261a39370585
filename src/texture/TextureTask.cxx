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
#include "texture/TextureTask.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace itk
{
namespace voxelmaps
{
namespace
{
constexpr std::int64_t  maxWindowSize = 255;
constexpr std::int64_t  maxWindowVoxels = 65535;
constexpr std::uint32_t maxNumberOfGrayLevels = 65535;

void
Verify(const TextureFeatureMapJob & job)
{
  std::ostringstream message;
  std::int64_t       voxels = 1;
  for (int d = 0; d < 3; ++d)
  {
    const std::int64_t size = job.windowSize[d];
    const std::int64_t anchor = job.windowAnchor[d];
    if (size < 1 || size > maxWindowSize)
    {
      message << "A job has a window of " << size << " voxels along axis " << d << ", but must have 1 to "
              << maxWindowSize << '.';
    }
    else if (anchor < 0 || anchor >= size)
    {
      message << "A job has the window anchor " << anchor << " along axis " << d << ", but it must be 0 to " << size - 1
              << '.';
    }
    voxels *= size;
  }
  if (message.str().empty() && voxels > maxWindowVoxels)
  {
    message << "A job has a window of " << voxels << " voxels, but must have at most " << maxWindowVoxels << '.';
  }
  if (message.str().empty() && (job.numberOfGrayLevels < 1 || job.numberOfGrayLevels > maxNumberOfGrayLevels))
  {
    message << "A job has " << job.numberOfGrayLevels << " gray levels, but must have 1 to " << maxNumberOfGrayLevels
            << '.';
  }
  if (!message.str().empty())
  {
    throw EngineError(message.str());
  }
}
} // namespace

void
SetTextureTask(const TextureFeatureMapJob & job, int numberOfComponents, TextureTask & task)
{
  Verify(job);
  task.levels = job.levels;
  task.numberOfGrayLevels = static_cast<int>(job.numberOfGrayLevels);
  task.output = job.output;
  task.outputIsDouble = job.outputIsDouble;
  task.numberOfComponents = numberOfComponents;
  // The sign and payload of NaN would depend on the processor.
  task.backgroundValue =
    std::isnan(job.backgroundValue) ? std::numeric_limits<double>::quiet_NaN() : job.backgroundValue;
  task.selection = job.selection;
  for (int d = 0; d < 3; ++d)
  {
    task.levelsSize[d] = job.levelsSize[d];
    task.outputSize[d] = job.outputSize[d];
    task.outputToLevels[d] = job.outputIndex[d] - job.levelsIndex[d];
    task.window[d] = static_cast<int>(job.windowSize[d]);
    task.anchor[d] = static_cast<int>(job.windowAnchor[d]);
  }
}
} // namespace voxelmaps
} // namespace itk
