// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CudaConnectednessSlab.h"
#include "device/CudaRange.cuh"
#include "device/CudaStaging.h"
#include "connectedness/VectorKeys.h"
#include "connectedness/VerifyJob.h"
#include "connectedness/TileGrid.h"

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;

/** Converts pixels to levels above the smallest one. */
struct ToLevel
{
  long long minPixel;

  template <typename TPixel>
  __device__ LevelKeys::Pixel
             operator()(TPixel pixel, bool isInside) const
  {
    return isInside ? static_cast<LevelKeys::Pixel>(static_cast<long long>(pixel) - minPixel) : LevelKeys::outside;
  }
};

/** Keeps the values of pixels that are inside and finite. */
template <typename TReal>
struct ToReal
{
  template <typename TPixel>
  __device__ TReal
  operator()(TPixel pixel, bool isInside) const
  {
    const auto real = static_cast<TReal>(pixel);
    return isInside && isfinite(real) ? real : RealKeys<TReal>::Outside();
  }
};

/** Convert pixels; in place is possible if both types have the same size. */
template <typename TPixel, typename TTo, typename TConvert>
__global__ void
ConvertKernel(const TPixel * image, const std::uint8_t * mask, std::int64_t numberOfVoxels, TTo * to, TConvert convert)
{
  ForEachInGrid(numberOfVoxels,
                [&](std::int64_t voxel) { to[voxel] = convert(image[voxel], mask == nullptr || mask[voxel] != 0); });
}

__global__ void
MakeTablesKernel(AffinityTerms terms, std::int64_t minPixel, std::uint32_t * meanTerms, int sums,
                 std::uint32_t * differenceTerms, int differences)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < sums)
  {
    meanTerms[i] = MeanTerm(terms, static_cast<double>(2 * minPixel + i));
  }
  if (i < differences)
  {
    differenceTerms[i] = DifferenceTerm(terms, static_cast<double>(i));
  }
}

/** Keys of the links of all voxels, one link after the other. */
__global__ void
MakeKeysKernel(CudaConnectednessScene scene, const VectorTerms * terms, const unsigned char * vectors,
               std::size_t voxelBytes, const std::uint8_t * mask, std::uint32_t * keys)
{
  ForEachInGrid(scene.numberOfVoxels, [&](std::int64_t voxel) {
    const std::int64_t row = voxel / scene.size[0];
    const auto         x = static_cast<int>(voxel % scene.size[0]);
    const auto         y = static_cast<int>(row % scene.size[1]);
    const auto         z = static_cast<int>(row / scene.size[1]);
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const CudaLink &   link = scene.links[l];
      const std::int64_t neighbor = voxel + link.stride;
      const bool         isLink = IsInImage(scene, x + link.x, y + link.y, z + link.z) &&
                          (mask == nullptr || (mask[voxel] != 0 && mask[neighbor] != 0));
      keys[l * scene.numberOfVoxels + voxel] =
        isLink ? VectorKey(*terms, vectors + voxel * voxelBytes, vectors + neighbor * voxelBytes, link.weight) : noKey;
    }
  });
}

__global__ void
PlantSeedsKernel(std::uint32_t * keys, const std::int64_t * seeds, std::int64_t numberOfSeeds)
{
  ForEachInGrid(numberOfSeeds, [&](std::int64_t i) { keys[seeds[i]] = seedKey; });
}

__global__ void
GatherMaskKernel(const std::uint8_t * mask, const std::int64_t * seeds, std::int64_t numberOfSeeds,
                 std::uint8_t * seedMask)
{
  ForEachInGrid(numberOfSeeds, [&](std::int64_t i) { seedMask[i] = mask[seeds[i]]; });
}
} // namespace

int
CudaConnectednessSlab::GetCutAxis(const FuzzyConnectednessJob & job)
{
  return job.size[2] > 1 ? 2 : job.size[1] > 1 ? 1 : 0;
}

std::int64_t
CudaConnectednessSlab::GetNumberOfPlanes(const FuzzyConnectednessJob & job)
{
  return job.size[GetCutAxis(job)];
}

std::int64_t
CudaConnectednessSlab::GetPlaneSize(const FuzzyConnectednessJob & job)
{
  return job.GetNumberOfVoxels() / GetNumberOfPlanes(job);
}

std::size_t
CudaConnectednessSlab::GetImageBytes(const FuzzyConnectednessJob & job)
{
  if (job.numberOfComponents > 0)
  {
    // The vectors are released once the table is made; every second link leads ahead.
    return ComponentSize(job.pixelType) * job.numberOfComponents + MakeLinks(job).size() / 2 * sizeof(std::uint32_t) +
           (job.mask != nullptr ? 1 : 0);
  }
  return WithImage(job,
                   [](const auto * image) {
                     using Pixel = std::decay_t<decltype(*image)>;
                     // Integers with too many levels become doubles.
                     return sizeof(Pixel) + (std::is_floating_point<Pixel>::value || sizeof(Pixel) == 2 ? 0
                                             : sizeof(Pixel) == 1 ? sizeof(LevelKeys::Pixel)
                                                                  : sizeof(double));
                   }) +
         (job.mask != nullptr ? 1 : 0);
}

CudaConnectednessSlab::CudaConnectednessSlab(CudaConnectednessContext & context, std::int64_t first, std::int64_t last)
  : m_Context(context)
  , m_First(first * GetPlaneSize(context.job))
  , m_PlaneSize(GetPlaneSize(context.job))
{
  const FuzzyConnectednessJob & job = context.job;
  const int                     axis = GetCutAxis(job);
  for (int d = 0; d < 3; ++d)
  {
    m_Scene.size[d] = static_cast<int>(d == axis ? last - first : job.size[d]);
  }
  m_Scene.numberOfVoxels = m_PlaneSize * (last - first);
  const auto count = static_cast<std::size_t>(m_Scene.numberOfVoxels);
  m_Scene.terms = MakeAffinityTerms(job);
  m_Scene.minKey = MinKey(job);
  for (const Link & link : MakeLinks(job))
  {
    // Along an axis of one voxel, there are no neighbors and tiles have no halo.
    if (TileGrid::IsForward(link) && (link.x == 0 || m_Scene.size[0] > 1) && (link.y == 0 || m_Scene.size[1] > 1) &&
        (link.z == 0 || m_Scene.size[2] > 1))
    {
      CudaLink & added = m_Scene.links[m_Scene.numberOfLinks];
      added = { link.x, link.y, link.z, link.stride, link.weight };
      added.weight.number = static_cast<std::uint32_t>(m_Scene.numberOfLinks++);
    }
  }

  this->LoadImage();
  m_Keys.Allocate(count, context.stream);
  m_Scene.keys = m_Keys.data();
  std::vector<std::int64_t> seeds;
  for (const std::int64_t seed : job.seeds)
  {
    if (seed >= m_First && seed < m_First + m_Scene.numberOfVoxels)
    {
      seeds.push_back(seed - m_First);
    }
  }
  m_Seeds = CopyToDevice(seeds, context.stream);
  const auto planeSize = static_cast<std::size_t>(m_PlaneSize);
  if (first > 0)
  {
    m_KeysBefore = CopyToDevice(context.keys + m_First, planeSize, context.stream);
  }
  if (last < GetNumberOfPlanes(job))
  {
    m_KeysBehind = CopyToDevice(context.keys + m_First + (last - first - 1) * m_PlaneSize, planeSize, context.stream);
  }
  // The copy from the vector of seeds must end before the vector is destroyed.
  context.stream.Synchronize();
  this->ResetKeys();
}

void
CudaConnectednessSlab::LoadImage()
{
  if (m_Context.job.numberOfComponents > 0)
  {
    this->LoadVectors();
    return;
  }
  WithImage(m_Context.job, [this](const auto * image) { this->LoadTypedImage(image + m_First); });
}

void
CudaConnectednessSlab::LoadVectors()
{
  const FuzzyConnectednessJob & job = m_Context.job;
  const cudaStream_t            stream = m_Context.stream;
  const auto                    count = static_cast<std::size_t>(m_Scene.numberOfVoxels);
  const std::size_t             voxelBytes = ComponentSize(job.pixelType) * job.numberOfComponents;
  DeviceBuffer<unsigned char>   vectors(count * voxelBytes, stream);
  CudaJobArrays                 arrays(m_Context.options, job.execution);
  const auto                    first = static_cast<std::size_t>(m_First);
  arrays.CopyInput(
    vectors.data(), static_cast<const unsigned char *>(job.image) + first * voxelBytes, count * voxelBytes, stream);
  DeviceBuffer<std::uint8_t> mask;
  if (job.mask != nullptr)
  {
    mask.Allocate(count, stream);
    arrays.CopyInput(mask.data(), job.mask + m_First, count, stream);
  }
  const auto terms = CopyToDevice(std::vector<VectorTerms>{ MakeVectorTerms(job) }, stream);
  m_Image.Allocate(count * static_cast<std::size_t>(m_Scene.numberOfLinks) * sizeof(std::uint32_t), stream);
  m_Pixels = CudaPixels::Table;
  m_Scene.image = m_Image.data();

  CudaKernelClock clock(m_Context.kernelTimes);
  MakeKeysKernel<<<BlocksForGridStride(count, threadsPerBlock), threadsPerBlock, 0, stream>>>(
    m_Scene, terms.data(), vectors.data(), voxelBytes, mask.data(), reinterpret_cast<std::uint32_t *>(m_Image.data()));
  CheckLaunch("computing keys of vectors");
  clock.StopLater();
  // The copy of the terms must end before they are destroyed.
  m_Context.stream.Synchronize();
}

template <typename TPixel>
void
CudaConnectednessSlab::LoadTypedImage(const TPixel * image)
{
  const cudaStream_t stream = m_Context.stream;
  const std::int64_t voxels = m_Scene.numberOfVoxels;
  const auto         count = static_cast<std::size_t>(voxels);
  const unsigned int blocks = BlocksForGridStride(count, threadsPerBlock);
  m_Image.Allocate(count * sizeof(TPixel), stream);
  CudaJobArrays arrays(m_Context.options, m_Context.job.execution);
  arrays.CopyInput(m_Image.data(), image, count * sizeof(TPixel), stream);
  DeviceBuffer<std::uint8_t> mask;
  if (m_Context.job.mask != nullptr)
  {
    mask.Allocate(count, stream);
    arrays.CopyInput(mask.data(), m_Context.job.mask + m_First, count, stream);
  }

  const auto * const onDevice = reinterpret_cast<const TPixel *>(m_Image.data());
  // Converts in place if the types have the same size.
  const auto convert = [&](auto * type, const auto & launch) {
    using To = std::remove_pointer_t<decltype(type)>;
    DeviceBuffer<unsigned char> other;
    if (sizeof(To) != sizeof(TPixel))
    {
      other.Allocate(count * sizeof(To), stream);
    }
    CudaKernelClock clock(m_Context.kernelTimes);
    launch(reinterpret_cast<To *>(other.size() > 0 ? other.data() : m_Image.data()));
    CheckLaunch("converting pixels");
    clock.StopLater();
    if (other.size() > 0)
    {
      m_Image = std::move(other);
    }
  };

  if constexpr (std::is_floating_point<TPixel>::value)
  {
    m_Pixels = sizeof(TPixel) == sizeof(float) ? CudaPixels::Floats : CudaPixels::Doubles;
    convert(static_cast<TPixel *>(nullptr), [&](TPixel * to) {
      ConvertKernel<<<blocks, threadsPerBlock, 0, stream>>>(onDevice, mask.data(), voxels, to, ToReal<TPixel>());
    });
  }
  else
  {
    CudaKernelClock clock(m_Context.kernelTimes);
    const auto      range = FindCudaRange<TPixel>(onDevice, nullptr, voxels, stream);
    clock.Stop();
    const long long least = range.least;
    const long long greatest = range.greatest;
    if (greatest - least < LevelKeys::outside)
    {
      m_Pixels = CudaPixels::Levels;
      convert(static_cast<LevelKeys::Pixel *>(nullptr), [&](LevelKeys::Pixel * to) {
        ConvertKernel<<<blocks, threadsPerBlock, 0, stream>>>(onDevice, mask.data(), voxels, to, ToLevel{ least });
      });
      this->MakeTables(least, greatest);
    }
    else
    {
      m_Pixels = CudaPixels::Doubles;
      convert(static_cast<double *>(nullptr), [&](double * to) {
        ConvertKernel<<<blocks, threadsPerBlock, 0, stream>>>(onDevice, mask.data(), voxels, to, ToReal<double>());
      });
    }
  }
  m_Scene.image = m_Image.data();
}

void
CudaConnectednessSlab::MakeTables(long long minPixel, long long maxPixel)
{
  const auto differences = static_cast<int>(maxPixel - minPixel + 1);
  const int  sums = 2 * differences - 1;
  m_Tables.Allocate(static_cast<std::size_t>(sums) + differences, m_Context.stream);
  MakeTablesKernel<<<BlocksFor(sums, threadsPerBlock), threadsPerBlock, 0, m_Context.stream>>>(
    m_Scene.terms, minPixel, m_Tables.data(), sums, m_Tables.data() + sums, differences);
  CheckLaunch("making tables of affinities");
  m_Scene.meanTerms = m_Tables.data();
  m_Scene.differenceTerms = m_Tables.data() + sums;
}

void
CudaConnectednessSlab::ResetKeys()
{
  const cudaStream_t stream = m_Context.stream;
  CudaKernelClock    clock(m_Context.kernelTimes);
  CheckCuda(cudaMemsetAsync(m_Keys.data(), 0, m_Keys.size() * sizeof(std::uint32_t), stream), "clearing keys");
  if (m_KeysBefore.size() > 0)
  {
    CopyOnDevice(m_Keys.data(), m_KeysBefore.data(), m_KeysBefore.size(), stream);
  }
  if (m_KeysBehind.size() > 0)
  {
    CopyOnDevice(
      m_Keys.data() + m_Scene.numberOfVoxels - m_PlaneSize, m_KeysBehind.data(), m_KeysBehind.size(), stream);
  }
  PlantSeeds(m_Keys.data(), m_Seeds, stream);
  clock.StopLater();
}

void
PlantSeeds(std::uint32_t * keys, const DeviceBuffer<std::int64_t> & seeds, cudaStream_t stream)
{
  if (seeds.size() > 0)
  {
    PlantSeedsKernel<<<BlocksFor(seeds.size(), threadsPerBlock), threadsPerBlock, 0, stream>>>(
      keys, seeds.data(), static_cast<std::int64_t>(seeds.size()));
    CheckLaunch("planting seeds");
  }
}

void
CudaConnectednessSlab::CopyKeysToHost()
{
  const JobExecution & execution = m_Context.job.execution;
  CudaStaging          staging(execution);
  staging.ToHost({ reinterpret_cast<char *>(m_Context.keys + m_First), m_Keys.size() * sizeof(std::uint32_t) },
                 m_Keys.data(),
                 m_Context.stream,
                 [&execution](std::size_t) { execution.CheckAbort(); });
}

void
VerifyDeviceMask(const FuzzyConnectednessProblem & problem, const CudaOptions & options)
{
  const std::size_t count = problem.seeds.size();
  if (problem.mask == nullptr || count == 0 || options.inputLocation != MemoryLocation::Device)
  {
    return;
  }
  const CurrentDevice              device(options.deviceID);
  const auto                       stream = static_cast<cudaStream_t>(options.stream);
  const DeviceBuffer<std::int64_t> seeds = CopyToDevice(problem.seeds, stream);
  const DeviceBuffer<std::uint8_t> onDevice(count, stream);
  GatherMaskKernel<<<BlocksFor(count, threadsPerBlock), threadsPerBlock, 0, stream>>>(
    problem.mask, seeds.data(), static_cast<std::int64_t>(count), onDevice.data());
  CheckLaunch("reading the mask of seeds");
  std::vector<std::uint8_t> seedMask(count);
  CopyFromDevice(seedMask.data(), onDevice.data(), count, stream);
  for (std::size_t i = 0; i < count; ++i)
  {
    VerifySeedMask(problem.seeds[i], seedMask[i]);
  }
}

CudaTileGrid
MakeTileGrid(const CudaConnectednessScene & scene, int bits, std::size_t maxLocalVoxels)
{
  CudaTileGrid best{};
  double       minCost = std::numeric_limits<double>::infinity();
  // Wide tiles come first and win at equal cost, since their rows are contiguous.
  for (int x = bits; x >= 0; --x)
  {
    for (int y = bits - x; y >= 0; --y)
    {
      CudaTileGrid grid{ { x, y, bits - x - y }, {}, {}, {}, {}, {} };
      double       tiles = 1.0;
      for (int d = 0; d < 3; ++d)
      {
        const int inAxis = ((scene.size[d] - 1) >> grid.bits[d]) + 1;
        grid.halo[d] = scene.size[d] > 1 ? 1 : 0;
        grid.tiles[d] = inAxis;
        tiles *= inAxis;
      }
      const double cost = tiles * grid.GetNumberOfLocalVoxels();
      if (static_cast<std::size_t>(grid.GetNumberOfLocalVoxels()) <= maxLocalVoxels && cost < minCost)
      {
        minCost = cost;
        best = grid;
      }
    }
  }
  for (int d = 0; d < 2; ++d)
  {
    const auto size = static_cast<std::uint64_t>(best.GetLocalSize(d));
    best.reciprocal[d] = static_cast<unsigned int>(size == 1 ? 0 : ((std::uint64_t{ 1 } << 32) + size - 1) / size);
  }
  for (int l = 0; l < scene.numberOfLinks; ++l)
  {
    const CudaLink & link = scene.links[l];
    best.tileStrides[l] = (link.z * (1 << best.bits[1]) + link.y) * (1 << best.bits[0]) + link.x;
    best.localStrides[l] = (link.z * best.GetLocalSize(1) + link.y) * best.GetLocalSize(0) + link.x;
  }
  return best;
}
} // namespace voxelmaps
