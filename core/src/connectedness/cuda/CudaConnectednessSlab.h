// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaConnectednessSlab_h
#define CudaConnectednessSlab_h

#include "device/CudaLaunch.h"
#include "device/CudaMemory.h"
#include "connectedness/AffinityPlan.h"
#include "CudaConnectednessScene.cuh"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** Sum of the times of kernels in a stream. CudaKernelClock adds to it. */
class CudaKernelTimes
{
public:
  explicit CudaKernelTimes(const CudaStream & stream)
    : m_Stream(stream)
  {}

  /** Without the kernels that no clock has waited for. */
  double
  GetMilliseconds() const
  {
    return m_Milliseconds;
  }

private:
  friend class CudaKernelClock;

  struct Interval
  {
    CudaEvent begin;
    CudaEvent end;
  };

  const CudaStream &                     m_Stream;
  std::vector<std::unique_ptr<Interval>> m_Pending;
  double                                 m_Milliseconds{ 0.0 };
};

/** Measures the time of the kernels that are launched between its construction and Stop or StopLater. */
class CudaKernelClock
{
public:
  explicit CudaKernelClock(CudaKernelTimes & times)
    : m_Times(times)
    , m_Interval(std::make_unique<CudaKernelTimes::Interval>())
  {
    m_Interval->begin.Record(m_Times.m_Stream);
  }

  /** Does not wait for the kernels, so that the next ones can follow without a gap; the next Stop adds their time. */
  void
  StopLater()
  {
    m_Interval->end.Record(m_Times.m_Stream);
    m_Times.m_Pending.push_back(std::move(m_Interval));
  }

  /** Waits for the kernels. */
  void
  Stop()
  {
    this->StopLater();
    m_Times.m_Pending.back()->end.Synchronize();
    for (const auto & interval : m_Times.m_Pending)
    {
      m_Times.m_Milliseconds += interval->end.MillisecondsSince(interval->begin);
    }
    m_Times.m_Pending.clear();
  }

private:
  CudaKernelTimes &                          m_Times;
  std::unique_ptr<CudaKernelTimes::Interval> m_Interval;
};

/** What the methods need from the engine. */
struct CudaConnectednessContext
{
  const FuzzyConnectednessJob & job;
  /** Where the image and the mask of the job are. */
  const CudaOptions & options;
  /** Keys of all voxels of the job, in host memory; null if there is one slab only, whose scene has them. */
  std::uint32_t *    keys;
  const CudaStream & stream;
  CudaKernelTimes    kernelTimes;
  /** Work of the host that can overlap with that of the device; empty if there is none. */
  std::function<void()> hostWork;
  std::uint64_t         numberOfIterations;

  /** Call after launching kernels that run for some time. */
  void
  RunHostWork()
  {
    if (hostWork)
    {
      const auto work = std::move(hostWork);
      hostWork = nullptr;
      work();
    }
  }
};

/** Planes first ... last - 1 of the image in device memory, along its last axis of more than one voxel.
 *
 * Keys that are known of the first and the last plane enter the slab as seeds do, unless the image ends there. */
class CudaConnectednessSlab
{
public:
  CudaConnectednessSlab(CudaConnectednessContext & context, std::int64_t first, std::int64_t last);

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
  /** Bytes of device memory that image and keys take. */
  std::uint64_t
  GetNumberOfBytes() const
  {
    return m_Image.size() + (m_Keys.size() + m_Tables.size()) * sizeof(std::uint32_t);
  }
  /** Seeds in the slab, as numbers of its voxels, in device memory. */
  const DeviceBuffer<std::int64_t> &
  GetSeeds() const
  {
    return m_Seeds;
  }
  /** Number of voxels of a plane, and the known keys of the first and of the last plane; null where none enter. */
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

  /** Copy the keys of the slab to host memory. */
  void
  CopyKeysToHost();

  /** The axis along which the image is cut, the number of planes along it, and the number of voxels of a plane. */
  static int
  GetCutAxis(const FuzzyConnectednessJob & job);
  static std::int64_t
  GetNumberOfPlanes(const FuzzyConnectednessJob & job);
  static std::int64_t
  GetPlaneSize(const FuzzyConnectednessJob & job);
  /** Maximum number of bytes per voxel that image and mask take at any time. */
  static std::size_t
  GetImageBytes(const FuzzyConnectednessJob & job);

private:
  void
  LoadImage();

  /** Make a table of the keys of vectors. */
  void
  LoadVectors();

  template <typename TPixel>
  void
  LoadTypedImage(const TPixel * image);

  void
  MakeTables(long long minPixel, long long maxPixel);

  /** Set all keys to noKey, except those of seeds and those that enter. */
  void
  ResetKeys();

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

/** Tiles of 1 << bits voxels, of the shape with the smallest overlap of halos; a tile with its halo has at most
 * maxLocalVoxels voxels. */
CudaTileGrid
MakeTileGrid(const CudaConnectednessScene & scene, int bits, std::size_t maxLocalVoxels);

/** Set the keys of seeds. */
void
PlantSeeds(std::uint32_t * keys, const DeviceBuffer<std::int64_t> & seeds, cudaStream_t stream);

/** Throws EngineError unless all seeds, which are in the image, are inside a mask in device memory, if there is one. */
void
VerifyDeviceMask(const FuzzyConnectednessProblem & problem, const CudaOptions & options);

/** The algorithm of Li et al. 2016. */
void
RunCudaCorrectedKFOE(CudaConnectednessContext & context, const CudaConnectednessSlab & slab,
                     unsigned int correctionPasses);

/** Contract the graph of voxels. */
void
RunCudaHierarchy(CudaConnectednessContext & context, const CudaConnectednessSlab & slab);
} // namespace voxelmaps

#endif // CudaConnectednessSlab_h
