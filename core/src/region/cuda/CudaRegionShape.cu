// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/cuda/CudaRegionVolume.h"

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;
constexpr std::size_t  numberOfCubes = 256;
/** The number of cubes of a case, and sums of their indices. */
constexpr std::size_t valuesOfCube = 4;
/** Number, sums x, y, z, and products xx, xy, xz, yy, yz, zz. */
constexpr std::size_t numberOfMoments = 10;

/** The mask of a region, which has a margin, and where its lines are. */
struct MaskPlace
{
  /** Where the mask begins in the volume. */
  DeviceIndex index;
  DeviceIndex size;
  Word        firstAlongX;
  Word        firstAlongY;
};

/** First and last coordinate of a line. All bits are set if there are none. */
struct DeviceLine
{
  unsigned int first;
  int          last;
};

struct ShapeArrays
{
  const MaskPlace * places;
  Word *            cubes;
  Word *            moments;
  DeviceLine *      alongX;
  DeviceLine *      alongY;
};

/** Each region that has one of the eight voxels of a cube, but not all, counts the cube. */
__global__ void
CubeKernel(const __grid_constant__ RegionVolume volume, const __grid_constant__ ShapeArrays arrays)
{
  // Cubes begin up to one voxel outside.
  const std::int64_t sizeX = volume.size.x + 1;
  const std::int64_t sizeY = volume.size.y + 1;
  ForEachInGrid(sizeX * sizeY * (volume.size.z + 1), [&](std::int64_t i) {
    const std::int64_t x = i % sizeX - 1;
    const std::int64_t y = i / sizeX % sizeY - 1;
    const std::int64_t z = i / sizeX / sizeY - 1;
    std::uint32_t      regions[8];
    bool               isUniform = true;
    for (int corner = 0; corner < 8; ++corner)
    {
      // In the order of RegionShape.cxx.
      const int stepX = (corner + 1) / 2 % 2;
      const int stepY = corner / 2 % 2;
      regions[corner] = RegionVolume::Region(volume.At(x + stepX, y + stepY, z + corner / 4));
      isUniform = isUniform && regions[corner] == regions[0];
    }
    if (isUniform)
    {
      return;
    }
    for (int corner = 0; corner < 8; ++corner)
    {
      const std::uint32_t region = regions[corner];
      unsigned int        cube = 0;
      bool                isFirst = region != 0;
      for (int other = 0; other < 8; ++other)
      {
        const bool isSame = regions[other] == region;
        cube |= isSame ? 1u << other : 0u;
        isFirst = isFirst && !(isSame && other < corner);
      }
      if (isFirst)
      {
        const DeviceIndex & mask = arrays.places[region - 1].index;
        Word * const        values = arrays.cubes + ((region - 1) * numberOfCubes + cube) * valuesOfCube;
        atomicAdd(values, Word{ 1 });
        atomicAdd(values + 1, static_cast<Word>(x - mask.x));
        atomicAdd(values + 2, static_cast<Word>(y - mask.y));
        atomicAdd(values + 3, static_cast<Word>(z - mask.z));
      }
    }
  });
}

__device__ void
AddVertex(DeviceLine & line, std::int64_t coordinate)
{
  // Few vertices are beyond those before them.
  if (static_cast<unsigned int>(coordinate) < *static_cast<const volatile unsigned int *>(&line.first))
  {
    atomicMin(&line.first, static_cast<unsigned int>(coordinate));
  }
  if (static_cast<int>(coordinate) > *static_cast<const volatile int *>(&line.last))
  {
    atomicMax(&line.last, static_cast<int>(coordinate));
  }
}

/** Sums of 1, k and k^2 over k = 0 ... x. */
__device__ void
AddPowers(std::int64_t x, std::int64_t sign, std::int64_t & number, std::int64_t & sum, std::int64_t & squares)
{
  number += sign * (x + 1);
  sum += sign * (x * (x + 1) / 2);
  squares += sign * (x * (x + 1) * (2 * x + 1) / 6);
}

/** Moments and vertices. The sums over a run of voxels along x are those up to its last voxel, without those up to the
 * voxel before it; so only voxels at the surface count. */
__global__ void
SurfaceKernel(const __grid_constant__ RegionVolume volume, const __grid_constant__ ShapeArrays arrays)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    const std::uint32_t region = RegionVolume::Region(volume.voxels[i]);
    if (region == 0)
    {
      return;
    }
    const DeviceIndex at = volume.IndexOf(i);
    const auto        isOutside = [&](int x, int y, int z) {
      return RegionVolume::Region(volume.At(at.x + x, at.y + y, at.z + z)) != region;
    };
    const MaskPlace &  place = arrays.places[region - 1];
    const std::int64_t x = at.x - place.index.x;
    const std::int64_t y = at.y - place.index.y;
    const std::int64_t z = at.z - place.index.z;
    const bool         begins = isOutside(-1, 0, 0);
    const bool         ends = isOutside(1, 0, 0);
    if (begins || ends)
    {
      std::int64_t number = 0;
      std::int64_t sum = 0;
      std::int64_t squares = 0;
      if (ends)
      {
        AddPowers(x, 1, number, sum, squares);
      }
      if (begins)
      {
        AddPowers(x - 1, -1, number, sum, squares);
      }
      // By hand: sums by region; CUB's ReduceByKey needs sorted regions.
      // Negative ones wrap around, and so do the sums, whose values are right in the end.
      const std::int64_t values[numberOfMoments] = { number,  sum,     y * number,     z * number,     squares,
                                                     sum * y, sum * z, y * number * y, y * number * z, z * number * z };
      for (std::size_t k = 0; k < numberOfMoments; ++k)
      {
        atomicAdd(arrays.moments + (region - 1) * numberOfMoments + k, static_cast<Word>(values[k]));
      }
    }
    const auto addVertex = [&](std::int64_t vertexX, std::int64_t vertexY, std::int64_t vertexZ) {
      const auto lineX = static_cast<Word>(2 * place.size.y * vertexZ + vertexY);
      const auto lineY = static_cast<Word>(2 * place.size.x * vertexZ + vertexX);
      AddVertex(arrays.alongX[place.firstAlongX + lineX], vertexX);
      AddVertex(arrays.alongY[place.firstAlongY + lineY], vertexY);
    };
    for (int step = -1; step <= 1; step += 2)
    {
      if (step < 0 ? begins : ends)
      {
        addVertex(2 * x + step, 2 * y, 2 * z);
      }
      if (isOutside(0, step, 0))
      {
        addVertex(2 * x, 2 * y + step, 2 * z);
      }
      if (isOutside(0, 0, step))
      {
        addVertex(2 * x, 2 * y, 2 * z + step);
      }
    }
  });
}
} // namespace

std::vector<ShapeCounts>
CountShapeCuda(const RegionVolume & volume, const Triple & volumeIndex, const std::vector<GroupRegion> & regions,
               RegionStream & stream)
{
  std::vector<ShapeCounts> result;
  std::vector<MaskPlace>   places;
  Word                     linesAlongX = 0;
  Word                     linesAlongY = 0;
  for (const GroupRegion & region : regions)
  {
    Triple index{};
    Triple size{};
    for (std::size_t d = 0; d < 3; ++d)
    {
      index[d] = region.features->boxIndex[d] - volumeIndex[d] - 1;
      size[d] = region.features->boxSize[d] + 2;
    }
    result.emplace_back(size);
    places.push_back({ DeviceIndex(index), DeviceIndex(size), linesAlongX, linesAlongY });
    linesAlongX += result.back().alongX.size();
    linesAlongY += result.back().alongY.size();
  }
  const DeviceBuffer<MaskPlace>  onDevice = CopyToDevice(places, stream.stream);
  const DeviceBuffer<Word>       cubes = stream.Filled<Word>(regions.size() * numberOfCubes * valuesOfCube, 0);
  const DeviceBuffer<Word>       moments = stream.Filled<Word>(regions.size() * numberOfMoments, 0);
  const DeviceBuffer<DeviceLine> alongX = stream.Filled<DeviceLine>(linesAlongX, 0xff);
  const DeviceBuffer<DeviceLine> alongY = stream.Filled<DeviceLine>(linesAlongY, 0xff);
  const ShapeArrays              arrays{ onDevice.data(), cubes.data(), moments.data(), alongX.data(), alongY.data() };
  const auto                     voxels = static_cast<std::uint64_t>(volume.numberOfVoxels);
  const unsigned int             blocks = BlocksForGridStride(voxels, threadsPerBlock);
  CubeKernel<<<blocks, threadsPerBlock, 0, stream.stream>>>(volume, arrays);
  CheckLaunch("starting the kernel of cubes");
  SurfaceKernel<<<blocks, threadsPerBlock, 0, stream.stream>>>(volume, arrays);
  CheckLaunch("starting the kernel of the surface");

  const std::vector<Word>       allCubes = stream.ToHost(cubes);
  const std::vector<Word>       allMoments = stream.ToHost(moments);
  const std::vector<DeviceLine> allAlongX = stream.ToHost(alongX);
  const std::vector<DeviceLine> allAlongY = stream.ToHost(alongY);
  for (std::size_t r = 0; r < regions.size(); ++r)
  {
    ShapeCounts & counts = result[r];
    const auto    number = [](Word word) { return static_cast<std::int64_t>(word); };
    for (std::size_t cube = 0; cube < numberOfCubes; ++cube)
    {
      const Word * const values = allCubes.data() + (r * numberOfCubes + cube) * valuesOfCube;
      counts.cubes[cube] = { number(values[0]), { { number(values[1]), number(values[2]), number(values[3]) } } };
    }
    const Word * const values = allMoments.data() + r * numberOfMoments;
    counts.voxels = number(values[0]);
    std::size_t next = 4;
    for (std::size_t i = 0; i < 3; ++i)
    {
      counts.sums[i] = number(values[1 + i]);
      for (std::size_t j = i; j < 3; ++j)
      {
        counts.products[i][j] = number(values[next++]);
      }
    }
    const auto copy = [](const std::vector<DeviceLine> & lines, Word first, std::vector<ShapeCounts::Line> & to) {
      for (std::size_t i = 0; i < to.size(); ++i)
      {
        to[i] = { { static_cast<std::int32_t>(lines[first + i].first), lines[first + i].last } };
      }
    };
    copy(allAlongX, places[r].firstAlongX, counts.alongX);
    copy(allAlongY, places[r].firstAlongY, counts.alongY);
  }
  return result;
}
} // namespace voxelmaps
