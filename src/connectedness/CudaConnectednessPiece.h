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
#ifndef CudaConnectednessPiece_h
#define CudaConnectednessPiece_h

#include "../cuda/CudaMemory.h"
#include "../cuda/CudaStream.h"
#include "AffinityPlan.h"
#include "CudaConnectednessScene.cuh"

#include <functional>
#include <memory>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** What the methods need from the engine. */
struct CudaConnectednessContext
{
  const FuzzyConnectednessJob & job;
  const CudaStream &            stream;
  /** Called once after kernels were launched: work of the host beside that of the device. */
  std::function<void()> whileDeviceWorks;
  std::uint64_t         numberOfIterations{ 0 };
  double                kernelMilliseconds{ 0.0 };
  struct Times
  {
    CudaEvent begin;
    CudaEvent end;
  };
  /** Of kernels that were not waited for. */
  std::vector<std::unique_ptr<Times>> times;

  /** Tell the job that so many voxels are done; may throw to end it. */
  void
  Report(std::uint64_t voxels) const
  {
    if (job.completed)
    {
      job.completed(voxels);
    }
  }
  void
  UseTime()
  {
    if (whileDeviceWorks)
    {
      const auto work = std::move(whileDeviceWorks);
      whileDeviceWorks = nullptr;
      work();
    }
  }
};

/** Adds the time of the kernels between its begin and its end to that of the context. */
class CudaKernelClock
{
public:
  explicit CudaKernelClock(CudaConnectednessContext & context)
    : m_Context(context)
    , m_Times(std::make_unique<CudaConnectednessContext::Times>())
  {
    m_Times->begin.Record(context.stream);
  }
  /** Does not wait: more kernels can follow without a gap, which would count. */
  void
  StopLater()
  {
    m_Times->end.Record(m_Context.stream);
    m_Context.times.push_back(std::move(m_Times));
  }
  /** Waits for the kernels. */
  void
  Stop()
  {
    this->StopLater();
    m_Context.times.back()->end.Synchronize();
    for (const auto & times : m_Context.times)
    {
      m_Context.kernelMilliseconds += times->end.MillisecondsSince(times->begin);
    }
    m_Context.times.clear();
  }

private:
  CudaConnectednessContext &                       m_Context;
  std::unique_ptr<CudaConnectednessContext::Times> m_Times;
};

/** Planes first ... last - 1 of the job's image in device memory, cut along its last axis that has more than one voxel.
 *
 * Keys that are known of its first and last plane enter a piece as seeds do, unless these planes are the image's own
 * ends. */
class CudaConnectednessPiece
{
public:
  CudaConnectednessPiece(CudaConnectednessContext & context, std::int64_t first, std::int64_t last);

  const CudaConnectednessScene &
  GetScene() const
  {
    return m_Scene;
  }
  CudaPixels
  GetPixels() const
  {
    return m_Pixels;
  }
  /** Seeds in the piece, as numbers of its voxels, in device memory. */
  const DeviceBuffer<std::int64_t> &
  GetSeeds() const
  {
    return m_Seeds;
  }
  /** Number of voxels of one plane whose known keys enter the piece; their keys, if any, of the first plane and the
   * last. */
  std::int64_t
  GetPlaneSize() const
  {
    return m_PlaneSize;
  }
  const std::uint32_t *
  GetKeysBefore() const
  {
    return m_KeysBefore.data();
  }
  const std::uint32_t *
  GetKeysBehind() const
  {
    return m_KeysBehind.data();
  }

  /** Make all keys 0 but those of seeds and those that enter. */
  void
  ResetKeys();

  /** Copy the keys of the piece to the job's. */
  void
  CopyKeysToJob();

  /** The axis along which pieces are cut, the number of its planes and of the voxels of one. */
  static int
  GetCutAxis(const FuzzyConnectednessJob & job);
  static std::int64_t
  GetNumberOfPlanes(const FuzzyConnectednessJob & job);
  static std::int64_t
  GetPlaneSize(const FuzzyConnectednessJob & job);
  /** The most that image and mask take of a voxel, at any time. */
  static std::size_t
  GetImageBytes(const FuzzyConnectednessJob & job);

private:
  void
  LoadImage();

  template <typename TPixel>
  void
  LoadImageOf(const TPixel * image);

  void
  MakeTables(long long least, long long greatest);

  CudaConnectednessContext &  m_Context;
  std::int64_t                m_First;
  std::int64_t                m_PlaneSize;
  CudaConnectednessScene      m_Scene{};
  CudaPixels                  m_Pixels{ CudaPixels::Levels };
  DeviceBuffer<unsigned char> m_Image;
  DeviceBuffer<std::uint32_t> m_Keys;
  DeviceBuffer<std::uint32_t> m_Tables;
  DeviceBuffer<std::int64_t>  m_Seeds;
  DeviceBuffer<std::uint32_t> m_KeysBefore;
  DeviceBuffer<std::uint32_t> m_KeysBehind;
};

/** Bytes of shared memory that a block may have on the current device. */
std::size_t
GetMostSharedBytes();

/** Tiles of 1 << bits voxels that are loaded with least overlap, with at most so many voxels in and around a tile. */
CudaTileGrid
MakeTileGrid(const CudaConnectednessScene & scene, int bits, std::size_t mostLocalVoxels);

/** To be called when the sizes of a grid are set. */
void
SetStrides(const CudaConnectednessScene & scene, CudaTileGrid & grid);

/** Let a kernel use so much shared memory, and tell how many of its blocks run at a time on the whole device. */
template <typename TKernel>
int
PrepareKernel(TKernel kernel, int threads, std::size_t sharedBytes)
{
  cudaFuncAttributes attributes;
  CheckCuda(cudaFuncGetAttributes(&attributes, kernel), "asking for shared memory");
  // Always all there is: another thread may launch the same kernel with more.
  CheckCuda(cudaFuncSetAttribute(kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(GetMostSharedBytes() - attributes.sharedSizeBytes)),
            "asking for shared memory");
  int blocks = 0;
  CheckCuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, sharedBytes),
            "asking how many blocks fit");
  int device = 0;
  int multiprocessors = 0;
  CheckCuda(cudaGetDevice(&device), "asking for the current device");
  CheckCuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "asking for the number of multiprocessors");
  return std::max(1, blocks * multiprocessors);
}

/** The paper's algorithm. */
void
RunCudaCorrectedKFOE(CudaConnectednessContext & context, const CudaConnectednessPiece & piece,
                     unsigned int correctionPasses);

/** Tiles settled in shared memory. Returns false, with keys that are not final, if it takes longer than so many
 * milliseconds; 0 for no limit. */
bool
RunCudaActiveTiles(CudaConnectednessContext & context, const CudaConnectednessPiece & piece, double mostMilliseconds);

/** Contraction of the graph; keys must have been reset. */
void
RunCudaHierarchy(CudaConnectednessContext & context, const CudaConnectednessPiece & piece);
} // namespace voxelmaps
} // namespace itk

#endif // CudaConnectednessPiece_h
