// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaChunkedLaunch_h
#define CudaChunkedLaunch_h

#include "cuda/CudaError.h"
#include "texture/cuda/CudaSlabEngine.h"

#include <algorithm>
#include <cstdint>

namespace voxelmaps
{
/** Launch a kernel for the items 0 ... items - 1 in parts, and check for an abort between them. launch(first, end)
 * launches it for the items of a part; what is the context of its errors. */
template <typename TLaunch>
void
LaunchChunked(std::int64_t items, std::int64_t partItems, const CudaMethodResources & resources, const char * what,
              const TLaunch & launch)
{
  for (std::int64_t first = 0; first < items; first += partItems)
  {
    const std::int64_t end = std::min(items, first + partItems);
    launch(first, end);
    CheckLaunch(what);
    if (end < items)
    {
      CheckCuda(cudaStreamSynchronize(resources.stream), "computing windows");
      resources.checkAbort();
    }
  }
}
} // namespace voxelmaps

#endif // CudaChunkedLaunch_h
