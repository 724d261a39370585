// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaSlabEngine_h
#define CudaSlabEngine_h

#include "device/CudaContext.h"
#include "window/TextureTask.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

namespace voxelmaps
{
/** Device memory that a method needs for a slab in addition to levels and output, and the most it can use. */
struct CudaScratchBytes
{
  std::uint64_t minimum{ 0 };
  std::uint64_t maximum{ 0 };
};

/** Stream, scratch buffer and abort callback of a launch. */
struct CudaMethodResources
{
  cudaStream_t stream;
  /** Device memory, at least the minimum of CudaScratchBytes. */
  void *        scratch;
  std::uint64_t scratchBytes;
  /** Called periodically by long-running methods; throws to end the job. */
  std::function<void()> checkAbort;
};

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

/** Computes a job of any texture class on the current device: cuts the output region into slabs that fit the memory,
 * and runs them one after the other. What is in host memory is copied, while kernels of other slabs run; what is in
 * device memory is used where it is. */
class CudaSlabEngine
{
public:
  using ScratchBytesFunction = std::function<CudaScratchBytes(const TextureTask & slab)>;
  using ComputeFunction = std::function<void(const TextureTask & slab, const CudaMethodResources & resources)>;

  /** Allocates the buffers. Throws CudaOutOfMemory if the smallest slab, and what else the caller allocates, need more
   * memory than the budget of the options, or than is free. */
  CudaSlabEngine(const TextureFeatureMapJob & job, const TextureTask & entire, const CudaOptions & options,
                 const ScratchBytesFunction & scratchBytes, std::uint64_t otherBytes);
  ~CudaSlabEngine();

  /** Compute the slabs one after the other; compute is called with device pointers and launches kernels in the stream
   * of the resources. If the output is in device memory, the kernels may still run on return. */
  void
  Compute(const ComputeFunction & compute, CudaReport & report);

private:
  class Slot;
  struct Layout;

  /** False if so many rows do not fit; withMaximum, if they do not fit with all scratch memory that is of use. */
  bool
  TryLayout(std::int64_t rows, const ScratchBytesFunction & scratchBytes, std::uint64_t otherBytes,
            std::uint64_t memory, bool withMaximum);

  const TextureFeatureMapJob & m_Job;
  const TextureTask &          m_Whole;
  const CudaOptions &          m_Options;
  std::unique_ptr<Layout>      m_Layout;
  std::uint64_t                m_NeededBytes{ 0 };
};
} // namespace voxelmaps

#endif // CudaSlabEngine_h
