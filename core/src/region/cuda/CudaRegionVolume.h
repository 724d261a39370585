// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRegionVolume_h
#define CudaRegionVolume_h

#include "device/CudaLaunch.h"
#include "device/CudaStaging.h"
#include "region/RegionEngine.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// A group of regions on a device, and what is counted of them there.
namespace voxelmaps
{
/** A region has 16 bits of a voxel, of which 0 is none. More regions would take more memory than time. */
constexpr std::size_t maxRegionsOfGroup = 4096;
/** Indices of lists of pairs of voxels have 31 bits. */
constexpr std::int64_t maxVoxelsOfGroup = (std::int64_t{ 1 } << 30) - 1;
/** Lines of vertices, of 8 bytes on host and device, of several regions. */
constexpr std::int64_t maxLinesOfGroup = std::int64_t{ 1 } << 26;

/** A number of the type that devices have atomics for. */
using Word = unsigned long long;

/** An index that kernels can read. */
struct DeviceIndex
{
  DeviceIndex() = default;
  explicit DeviceIndex(const Triple & index)
    : x(index[0])
    , y(index[1])
    , z(index[2])
  {}

  std::int64_t x;
  std::int64_t y;
  std::int64_t z;
};

/** The bounding box of a group of regions. */
struct RegionVolume
{
  /** The number of its region, from 1, in the upper half of a voxel, and its level in the lower one: 0 for neither. */
  std::uint32_t * voxels;
  DeviceIndex     size;
  std::int64_t    numberOfVoxels;

#if defined(__CUDACC__)
  static __device__ std::uint32_t
                    Region(std::uint32_t voxel)
  {
    return voxel >> 16;
  }
  static __device__ std::uint32_t
                    Level(std::uint32_t voxel)
  {
    return voxel & 0xffff;
  }

  __device__ DeviceIndex
  IndexOf(std::int64_t voxel) const
  {
    const std::int64_t row = voxel / size.x;
    DeviceIndex        index;
    index.x = voxel - row * size.x;
    index.z = row / size.y;
    index.y = row - index.z * size.y;
    return index;
  }
  /** 0 outside of the box. */
  __device__ std::uint32_t
             At(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    const bool isInside = x >= 0 && x < size.x && y >= 0 && y < size.y && z >= 0 && z < size.z;
    return isInside ? voxels[(z * size.y + y) * size.x + x] : 0;
  }
  /** The level of a voxel of the same region; 0 for others. */
  __device__ std::uint32_t
             LevelAt(std::int64_t x, std::int64_t y, std::int64_t z, std::uint32_t voxel) const
  {
    const std::uint32_t other = this->At(x, y, z);
    return Region(other) == Region(voxel) ? Level(other) : 0;
  }
#endif
};

/** The stream of a job, and copies in it. */
class RegionStream
{
public:
  RegionStream(cudaStream_t stream, const JobExecution & execution)
    : stream(stream)
    , m_Staging(execution)
  {}

  /** Copy elements to the host, and wait for them. */
  template <typename T>
  std::vector<T>
  ToHost(const T * device, std::size_t count)
  {
    // CUDA is as fast for fewer bytes.
    constexpr std::size_t stagedBytes = std::size_t{ 1 } << 20;
    std::vector<T>        host(count);
    const std::size_t     bytes = count * sizeof(T);
    if (bytes >= stagedBytes)
    {
      m_Staging.ToHost({ reinterpret_cast<char *>(host.data()), bytes }, device, stream, [](std::size_t) {});
    }
    else if (count > 0)
    {
      CopyFromDevice(host.data(), device, count, stream);
    }
    return host;
  }
  template <typename T>
  std::vector<T>
  ToHost(const DeviceBuffer<T> & buffer)
  {
    return this->ToHost(buffer.data(), buffer.size());
  }
  /** A buffer whose bytes are all the same. */
  template <typename T>
  DeviceBuffer<T>
  Filled(std::size_t count, int byte) const
  {
    DeviceBuffer<T> buffer(count, stream);
    if (count > 0)
    {
      CheckCuda(cudaMemsetAsync(buffer.data(), byte, count * sizeof(T), stream), "setting device memory");
    }
    return buffer;
  }
  void
  ToDevice(void * device, const void * host, std::size_t bytes)
  {
    m_Staging.ToDevice(device, host, bytes, stream);
  }

  const cudaStream_t stream;

private:
  CudaStaging m_Staging;
};

/** Where the elements of matrices are that all regions of a group have: row by row, one region after the other. */
struct MatrixPlaces
{
  std::vector<Word> firsts{ 0 };
  std::vector<Word> columns;

  void
  AddRegion(Word rows, Word columnsOfRegion)
  {
    columns.push_back(columnsOfRegion);
    firsts.push_back(firsts.back() + rows * columnsOfRegion);
  }
};

/** The elements of the matrices of all regions that are not 0, by their ascending places. */
struct RegionMatrices
{
  MatrixPlaces      places;
  std::vector<Word> elements;
  std::vector<Word> counts;
  /** Regions that are treated as if all was 0; none if empty. */
  std::vector<std::uint8_t> isSkipped;

  std::vector<Cell>
  GetCells(std::size_t region) const;
};

/** What a region of a group has, in its order. */
struct GroupRegion
{
  const RegionFeatures * features;
  std::uint32_t          numberOfGrayLevels;
  std::int64_t           numberOfVoxels;
};

/** The number of voxels of each level: one column of the matrix. */
RegionMatrices
CountLevelsCuda(const RegionVolume & volume, const std::vector<GroupRegion> & regions, RegionStream & stream);

/** The matrices of a class, one for each of its offsets if it has directions. */
std::vector<RegionMatrices>
CountMatricesCuda(const TextureClassJob & job, const std::array<bool, 3> & connectsAxis, const RegionVolume & volume,
                  const std::vector<GroupRegion> & regions, RegionStream & stream);

/** Bytes of device memory that the zones of a volume need. */
std::uint64_t
GetZoneBytes(std::int64_t numberOfVoxels);

std::vector<ShapeCounts>
CountShapeCuda(const RegionVolume & volume, const Triple & volumeIndex, const std::vector<GroupRegion> & regions,
               RegionStream & stream);
} // namespace voxelmaps

#endif // CudaRegionVolume_h
