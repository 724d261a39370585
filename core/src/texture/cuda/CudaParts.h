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
#ifndef CudaParts_h
#define CudaParts_h

#include "cuda/CudaError.h"
#include "texture/cuda/CudaSlabEngine.h"

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
/** Launch a kernel for the items 0 ... items - 1 in parts, and look for an abort between them. launch(first, end)
 * launches it for the items of a part; an error of the launch says what it was doing. */
template <typename TLaunch>
void
LaunchInParts(std::int64_t items, std::int64_t partItems, const CudaMethodResources & resources, const char * doing,
              const TLaunch & launch)
{
  for (std::int64_t first = 0; first < items; first += partItems)
  {
    const std::int64_t end = std::min(items, first + partItems);
    launch(first, end);
    CheckLaunch(doing);
    if (end < items)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
    }
  }
}
} // namespace voxelmaps

#endif // CudaParts_h
