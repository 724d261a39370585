// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/cuda/CudaRegionVolume.h"

#include "device/CudaWarp.cuh"
#include "ngtdm/GrayToneDifferenceFormulas.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <variant>

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;
/** More elements are listed and sorted instead of counted in a table. */
constexpr Word maxTableElements = Word{ 1 } << 25;

// --- Where a count goes

/** Counts in a table of all matrices. By hand: CUB's DeviceHistogram needs a list of the elements. */
struct TableSink
{
  Word * table;

  __device__ void
  operator()(Word element, Word count) const
  {
    atomicAdd(table + element, count);
  }
};

/** Counts the entries of a list. */
struct NumberSink
{
  Word * number;

  __device__ void
  operator()(Word, Word) const
  {
    TakePlace(number);
  }
};

struct ListSink
{
  Word * number;
  Word * elements;
  Word * counts;

  __device__ void
  operator()(Word element, Word count) const
  {
    const Word place = TakePlace(number);
    elements[place] = element;
    counts[place] = count;
  }
};

// --- What a voxel counts

/** Elements of the matrices of all regions. */
struct DevicePlaces
{
  const Word * firsts;
  const Word * columns;

  __device__ Word
  Element(std::uint32_t voxel, Word row, Word column) const
  {
    const std::uint32_t region = RegionVolume::Region(voxel) - 1;
    return firsts[region] + row * columns[region] + column;
  }
};

struct LevelRule
{
  template <typename TSink>
  __device__ void
  operator()(const RegionVolume &, const DevicePlaces & places, std::int64_t, std::uint32_t voxel,
             const TSink & sink) const
  {
    sink(places.Element(voxel, RegionVolume::Level(voxel), 0), 1);
  }
};

struct PairRule
{
  DeviceIndex offset;
  bool        isSymmetric;

  template <typename TSink>
  __device__ void
  operator()(const RegionVolume & volume, const DevicePlaces & places, std::int64_t number, std::uint32_t voxel,
             const TSink & sink) const
  {
    const DeviceIndex   at = volume.IndexOf(number);
    const std::uint32_t level = RegionVolume::Level(voxel);
    const std::uint32_t other = volume.LevelAt(at.x + offset.x, at.y + offset.y, at.z + offset.z, voxel);
    if (other != 0)
    {
      sink(places.Element(voxel, level, other), 1);
      if (isSymmetric)
      {
        sink(places.Element(voxel, other, level), 1);
      }
    }
  }
};

/** A run is counted by its first voxel. */
struct RunRule
{
  DeviceIndex    direction;
  std::uint8_t * hasNeighbors;

  template <typename TSink>
  __device__ void
  operator()(const RegionVolume & volume, const DevicePlaces & places, std::int64_t number, std::uint32_t voxel,
             const TSink & sink) const
  {
    DeviceIndex at = volume.IndexOf(number);
    if (volume.At(at.x - direction.x, at.y - direction.y, at.z - direction.z) == voxel)
    {
      return;
    }
    Word          length = 0;
    std::uint32_t next = voxel;
    for (; next == voxel; ++length)
    {
      at.x += direction.x;
      at.y += direction.y;
      at.z += direction.z;
      next = volume.At(at.x, at.y, at.z);
    }
    const bool isNeighbor = RegionVolume::Region(next) == RegionVolume::Region(voxel) && RegionVolume::Level(next) != 0;
    if (length > 1 || isNeighbor)
    {
      // All threads write the same.
      hasNeighbors[RegionVolume::Region(voxel) - 1] = 1;
    }
    sink(places.Element(voxel, RegionVolume::Level(voxel), length), 1);
  }
};

/** Counts the voxels of each line along a direction, by the coordinates of the line where that along the axis is 0. */
struct LineRule
{
  DeviceIndex          direction;
  int                  axis;
  std::int64_t         margin;
  const std::uint8_t * isWanted;

  template <typename TSink>
  __device__ void
  operator()(const RegionVolume & volume, const DevicePlaces & places, std::int64_t number, std::uint32_t voxel,
             const TSink & sink) const
  {
    if (isWanted[RegionVolume::Region(voxel) - 1] == 0)
    {
      return;
    }
    const DeviceIndex  at = volume.IndexOf(number);
    const std::int64_t steps = axis == 0 ? at.x * direction.x : (axis == 1 ? at.y * direction.y : at.z * direction.z);
    const std::int64_t row = axis == 2 ? at.y - steps * direction.y : at.z - steps * direction.z;
    const std::int64_t column = axis == 0 ? at.y - steps * direction.y : at.x - steps * direction.x;
    sink(places.Element(voxel, static_cast<Word>(row + margin), static_cast<Word>(column + margin)), 1);
  }
};

/** Call visit with the level of each neighbor at p + offset and p - offset; 0 for those that are absent. */
template <typename TVisit>
__device__ void
VisitNeighbors(const RegionVolume & volume, std::int64_t number, std::uint32_t voxel, const DeviceIndex * offsets,
               int numberOfOffsets, const TVisit & visit)
{
  const DeviceIndex at = volume.IndexOf(number);
  for (int i = 0; i < numberOfOffsets; ++i)
  {
    const DeviceIndex & step = offsets[i];
    visit(volume.LevelAt(at.x + step.x, at.y + step.y, at.z + step.z, voxel));
    visit(volume.LevelAt(at.x - step.x, at.y - step.y, at.z - step.z, voxel));
  }
}

struct DependenceRule
{
  const DeviceIndex * offsets;
  int                 numberOfOffsets;
  std::int32_t        limit;

  template <typename TSink>
  __device__ void
  operator()(const RegionVolume & volume, const DevicePlaces & places, std::int64_t number, std::uint32_t voxel,
             const TSink & sink) const
  {
    const auto level = static_cast<std::int32_t>(RegionVolume::Level(voxel));
    Word       dependent = 1;
    VisitNeighbors(volume, number, voxel, offsets, numberOfOffsets, [&](std::uint32_t other) {
      const std::int32_t difference = static_cast<std::int32_t>(other) - level;
      dependent += other != 0 && difference <= limit && difference >= -limit ? 1 : 0;
    });
    sink(places.Element(voxel, static_cast<Word>(level), dependent), 1);
  }
};

struct ToneRule
{
  const DeviceIndex * offsets;
  int                 numberOfOffsets;

  template <typename TSink>
  __device__ void
  operator()(const RegionVolume & volume, const DevicePlaces & places, std::int64_t number, std::uint32_t voxel,
             const TSink & sink) const
  {
    const std::uint32_t level = RegionVolume::Level(voxel);
    std::uint32_t       present = 0;
    std::uint32_t       sum = 0;
    VisitNeighbors(volume, number, voxel, offsets, numberOfOffsets, [&](std::uint32_t other) {
      present += other != 0 ? 1 : 0;
      sum += other;
    });
    if (present != 0)
    {
      sink(places.Element(voxel, level, present), NeighborDifference(level, present, sum));
    }
  }
};

/** A zone is counted by its root. */
template <typename TIndex>
struct ZoneRule
{
  const TIndex * parents;
  const TIndex * sizes;

  template <typename TSink>
  __device__ void
  operator()(const RegionVolume &, const DevicePlaces & places, std::int64_t number, std::uint32_t voxel,
             const TSink & sink) const
  {
    if (parents[number] == static_cast<TIndex>(number))
    {
      sink(places.Element(voxel, RegionVolume::Level(voxel), sizes[number]), 1);
    }
  }
};

template <typename TRule, typename TSink>
__global__ void
CountKernel(const __grid_constant__ RegionVolume volume, const __grid_constant__ DevicePlaces places,
            const __grid_constant__ TRule rule, const __grid_constant__ TSink sink)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    const std::uint32_t voxel = volume.voxels[i];
    if (RegionVolume::Level(voxel) != 0)
    {
      rule(volume, places, i, voxel, sink);
    }
  });
}

struct IsCounted
{
  const Word * table;

  __device__ bool
  operator()(Word element) const
  {
    return table[element] != 0;
  }
};

__global__ void
GatherKernel(const Word * table, const Word * elements, std::int64_t number, Word * counts)
{
  ForEachInGrid(number, [&](std::int64_t i) { counts[i] = table[elements[i]]; });
}

// --- Zones: the voxels of each are linked to one of them, which is their root

/** Voxels of a run along x are linked to one of so many before them. */
constexpr int maxLinkLength = 32;

template <typename TIndex>
__global__ void
LinkRunsKernel(const __grid_constant__ RegionVolume volume, bool connectsX, TIndex * parents, TIndex * sizes)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    const std::uint32_t voxel = volume.voxels[i];
    if (RegionVolume::Level(voxel) == 0)
    {
      return;
    }
    const std::int64_t x = volume.IndexOf(i).x;
    std::int64_t       link = 0;
    while (connectsX && link < maxLinkLength && link < x && volume.voxels[i - link - 1] == voxel)
    {
      ++link;
    }
    parents[i] = static_cast<TIndex>(i - link);
    sizes[i] = 0;
  });
}

template <typename TIndex>
__device__ TIndex
FindRoot(const TIndex * parents, TIndex voxel)
{
  TIndex parent = *static_cast<const volatile TIndex *>(parents + voxel);
  while (parent != voxel)
  {
    voxel = parent;
    parent = *static_cast<const volatile TIndex *>(parents + voxel);
  }
  return voxel;
}

/** Parents are never raised, so that the least voxel of a zone becomes its root. */
template <typename TIndex>
__device__ void
LinkZones(TIndex * parents, TIndex first, TIndex second)
{
  for (;;)
  {
    first = FindRoot(parents, first);
    second = FindRoot(parents, second);
    if (first == second)
    {
      return;
    }
    const TIndex lower = first < second ? first : second;
    const TIndex upper = first < second ? second : first;
    const TIndex found = atomicMin(parents + upper, lower);
    if (found == upper)
    {
      return;
    }
    // It was no root any more: what it was linked to must be linked as well.
    first = found;
    second = lower;
  }
}

template <typename TIndex>
__global__ void
LinkRowsKernel(const __grid_constant__ RegionVolume volume, bool connectsX, bool connectsY, bool connectsZ,
               TIndex * parents)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    const std::uint32_t voxel = volume.voxels[i];
    if (RegionVolume::Level(voxel) == 0)
    {
      return;
    }
    const DeviceIndex at = volume.IndexOf(i);
    const bool        hasLeft = connectsX && volume.At(at.x - 1, at.y, at.z) == voxel;
    const bool        hasRight = connectsX && volume.At(at.x + 1, at.y, at.z) == voxel;
    // The rows of neighbors before this one.
    for (int row = 0; row < 4; ++row)
    {
      const int stepZ = row == 0 ? 0 : -1;
      const int stepY = row == 0 ? -1 : row - 2;
      if ((stepY != 0 && !connectsY) || (stepZ != 0 && !connectsZ))
      {
        continue;
      }
      const std::int64_t y = at.y + stepY;
      const std::int64_t z = at.z + stepZ;
      const std::int64_t above = (z * volume.size.y + y) * volume.size.x + at.x;
      const bool         isLeft = connectsX && volume.At(at.x - 1, y, z) == voxel;
      const bool         isRight = connectsX && volume.At(at.x + 1, y, z) == voxel;
      if (volume.At(at.x, y, z) == voxel)
      {
        // Runs that overlap are linked where the overlap begins.
        if (!(hasLeft && isLeft))
        {
          LinkZones(parents, static_cast<TIndex>(i), static_cast<TIndex>(above));
        }
        continue;
      }
      // Runs that overlap by a neighbor are linked by that neighbor.
      if (isLeft && !hasLeft)
      {
        LinkZones(parents, static_cast<TIndex>(i), static_cast<TIndex>(above - 1));
      }
      if (isRight && !hasRight)
      {
        LinkZones(parents, static_cast<TIndex>(i), static_cast<TIndex>(above + 1));
      }
    }
  });
}

template <typename TIndex>
__global__ void
CountZoneVoxelsKernel(const __grid_constant__ RegionVolume volume, TIndex * parents, TIndex * sizes)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    if (RegionVolume::Level(volume.voxels[i]) != 0)
    {
      const TIndex root = FindRoot(parents, static_cast<TIndex>(i));
      // Shorter ways for other threads.
      parents[i] = root;
      atomicAdd(sizes + root, TIndex{ 1 });
    }
  });
}

// --- Counting

unsigned int
BlocksOf(std::int64_t items)
{
  return BlocksForGridStride(static_cast<std::uint64_t>(items), threadsPerBlock);
}

/** Call a function of CUB for its temporary memory, and again with it. */
template <typename TCall>
void
CallCub(const TCall & call, cudaStream_t stream)
{
  std::size_t bytes = 0;
  CheckCuda(call(nullptr, bytes), "asking for temporary memory");
  const DeviceBuffer<char> memory(std::max<std::size_t>(bytes, 1), stream);
  CheckCuda(call(memory.data(), bytes), "sorting or selecting");
}

/** Count the elements of the matrices of all regions. */
class Counting
{
public:
  Counting(const RegionVolume & volume, const std::vector<GroupRegion> & regions, RegionStream & stream)
    : m_Volume(volume)
    , m_Regions(regions)
    , m_Stream(stream)
  {}

  /** Places of rows for all levels. */
  template <typename TColumns>
  MatrixPlaces
  MakePlaces(const TColumns & columnsOf) const
  {
    MatrixPlaces places;
    for (const GroupRegion & region : m_Regions)
    {
      places.AddRegion(region.numberOfGrayLevels + Word{ 1 }, columnsOf(region));
    }
    return places;
  }

  template <typename TRule>
  RegionMatrices
  Count(MatrixPlaces places, const TRule & rule) const
  {
    RegionMatrices           result{ std::move(places), {}, {}, {} };
    const DeviceBuffer<Word> firsts = CopyToDevice(result.places.firsts, m_Stream.stream);
    const DeviceBuffer<Word> columns = CopyToDevice(result.places.columns, m_Stream.stream);
    const DevicePlaces       onDevice{ firsts.data(), columns.data() };
    if (result.places.firsts.back() <= maxTableElements)
    {
      this->CountInTable(onDevice, rule, result);
    }
    else
    {
      this->CountInList(onDevice, rule, result);
    }
    return result;
  }

  template <typename TIndex>
  RegionMatrices
  CountZones(const std::array<bool, 3> & connectsAxis) const
  {
    const auto                 number = static_cast<std::size_t>(m_Volume.numberOfVoxels);
    const DeviceBuffer<TIndex> parents(number, m_Stream.stream);
    const DeviceBuffer<TIndex> sizes(number, m_Stream.stream);
    const unsigned int         blocks = BlocksOf(m_Volume.numberOfVoxels);
    LinkRunsKernel<<<blocks, threadsPerBlock, 0, m_Stream.stream>>>(
      m_Volume, connectsAxis[0], parents.data(), sizes.data());
    CheckLaunch("starting the kernel that links runs");
    LinkRowsKernel<<<blocks, threadsPerBlock, 0, m_Stream.stream>>>(
      m_Volume, connectsAxis[0], connectsAxis[1], connectsAxis[2], parents.data());
    CheckLaunch("starting the kernel that links rows");
    CountZoneVoxelsKernel<<<blocks, threadsPerBlock, 0, m_Stream.stream>>>(m_Volume, parents.data(), sizes.data());
    CheckLaunch("starting the kernel that counts voxels of zones");
    const auto columnsOf = [](const GroupRegion & region) { return static_cast<Word>(region.numberOfVoxels) + 1; };
    return this->Count(this->MakePlaces(columnsOf), ZoneRule<TIndex>{ parents.data(), sizes.data() });
  }

  RegionMatrices
  CountRuns(const Triple & direction, bool skipsWithoutPairs) const
  {
    const DeviceIndex                step(direction);
    const DeviceBuffer<std::uint8_t> hasNeighbors = m_Stream.Filled<std::uint8_t>(m_Regions.size(), 0);
    const auto                       columnsOf = [](const GroupRegion & region) {
      const Triple & size = region.features->boxSize;
      return static_cast<Word>(*std::max_element(size.begin(), size.end())) + 1;
    };
    RegionMatrices result = this->Count(this->MakePlaces(columnsOf), RunRule{ step, hasNeighbors.data() });
    result.isSkipped.resize(m_Regions.size());
    const std::vector<std::uint8_t> hasPairs = m_Stream.ToHost(hasNeighbors);
    for (std::size_t r = 0; r < m_Regions.size(); ++r)
    {
      result.isSkipped[r] = skipsWithoutPairs && hasPairs[r] == 0 && m_Regions[r].numberOfVoxels > 0 ? 1 : 0;
    }
    if (std::count(result.isSkipped.begin(), result.isSkipped.end(), 1) > 0)
    {
      this->KeepRegionsWithLines(step, result.isSkipped);
    }
    return result;
  }

private:
  /** Regions that have two voxels on the same line along a direction are not skipped. */
  void
  KeepRegionsWithLines(const DeviceIndex & step, std::vector<std::uint8_t> & isSkipped) const
  {
    const DeviceIndex & size = m_Volume.size;
    const int           axis = step.x != 0 ? 0 : step.y != 0 ? 1 : 2;
    const std::int64_t  margin = axis == 0 ? size.x : axis == 1 ? size.y : size.z;
    const std::int64_t  rows = (axis == 2 ? size.y : size.z) + 2 * margin;
    const std::int64_t  columns = (axis == 0 ? size.y : size.x) + 2 * margin;
    MatrixPlaces        places;
    for (const std::uint8_t isWanted : isSkipped)
    {
      places.AddRegion(isWanted != 0 ? static_cast<Word>(rows) : 0, static_cast<Word>(columns));
    }
    const DeviceBuffer<std::uint8_t> isWanted = CopyToDevice(isSkipped, m_Stream.stream);
    const RegionMatrices lines = this->Count(std::move(places), LineRule{ step, axis, margin, isWanted.data() });
    for (std::size_t r = 0; r < m_Regions.size(); ++r)
    {
      const std::vector<Cell> cells = lines.GetCells(r);
      const bool hasLine = std::any_of(cells.begin(), cells.end(), [](const Cell & cell) { return cell.value > 1.0; });
      isSkipped[r] = hasLine ? 0 : isSkipped[r];
    }
  }

  template <typename TRule, typename TSink>
  void
  Launch(const DevicePlaces & places, const TRule & rule, const TSink & sink) const
  {
    CountKernel<<<BlocksOf(m_Volume.numberOfVoxels), threadsPerBlock, 0, m_Stream.stream>>>(
      m_Volume, places, rule, sink);
    CheckLaunch("starting the kernel that counts elements of matrices");
  }

  template <typename TRule>
  void
  CountInTable(const DevicePlaces & places, const TRule & rule, RegionMatrices & result) const
  {
    const Word               size = result.places.firsts.back();
    const DeviceBuffer<Word> table = m_Stream.Filled<Word>(size, 0);
    this->Launch(places, rule, TableSink{ table.data() });
    // A voxel counts two elements at most.
    std::int64_t voxels = 0;
    for (const GroupRegion & region : m_Regions)
    {
      voxels += region.numberOfVoxels;
    }
    const DeviceBuffer<Word> elements(std::min(size, 2 * static_cast<Word>(voxels)), m_Stream.stream);
    const DeviceBuffer<int>  selected(1, m_Stream.stream);
    CallCub(
      [&](void * memory, std::size_t & bytes) {
        return cub::DeviceSelect::If(memory,
                                     bytes,
                                     thrust::counting_iterator<Word>(0),
                                     elements.data(),
                                     selected.data(),
                                     static_cast<int>(size),
                                     IsCounted{ table.data() },
                                     m_Stream.stream);
      },
      m_Stream.stream);
    const int                number = CopyFromDevice(selected, m_Stream.stream);
    const DeviceBuffer<Word> counts(static_cast<std::size_t>(number), m_Stream.stream);
    GatherKernel<<<BlocksOf(number), threadsPerBlock, 0, m_Stream.stream>>>(
      table.data(), elements.data(), number, counts.data());
    CheckLaunch("starting the kernel that gathers counts");
    result.elements = m_Stream.ToHost(elements.data(), static_cast<std::size_t>(number));
    result.counts = m_Stream.ToHost(counts.data(), static_cast<std::size_t>(number));
  }

  template <typename TRule>
  void
  CountInList(const DevicePlaces & places, const TRule & rule, RegionMatrices & result) const
  {
    const DeviceBuffer<Word> entries = m_Stream.Filled<Word>(2, 0);
    this->Launch(places, rule, NumberSink{ entries.data() });
    const auto               number = static_cast<std::size_t>(CopyFromDevice(entries, m_Stream.stream));
    const DeviceBuffer<Word> elements(number, m_Stream.stream);
    const DeviceBuffer<Word> counts(number, m_Stream.stream);
    DeviceBuffer<Word>       sortedElements(number, m_Stream.stream);
    DeviceBuffer<Word>       sortedCounts(number, m_Stream.stream);
    if (number == 0)
    {
      return;
    }
    this->Launch(places, rule, ListSink{ entries.data() + 1, elements.data(), counts.data() });
    int bits = 0;
    while (bits < 64 && result.places.firsts.back() >> bits != 0)
    {
      ++bits;
    }
    CallCub(
      [&](void * memory, std::size_t & bytes) {
        return cub::DeviceRadixSort::SortPairs(memory,
                                               bytes,
                                               elements.data(),
                                               sortedElements.data(),
                                               counts.data(),
                                               sortedCounts.data(),
                                               static_cast<int>(number),
                                               0,
                                               bits,
                                               m_Stream.stream);
      },
      m_Stream.stream);
    const DeviceBuffer<int> unique(1, m_Stream.stream);
    CallCub(
      [&](void * memory, std::size_t & bytes) {
        return cub::DeviceReduce::ReduceByKey(memory,
                                              bytes,
                                              sortedElements.data(),
                                              elements.data(),
                                              sortedCounts.data(),
                                              counts.data(),
                                              unique.data(),
                                              cuda::std::plus<Word>(),
                                              static_cast<int>(number),
                                              m_Stream.stream);
      },
      m_Stream.stream);
    const auto size = static_cast<std::size_t>(CopyFromDevice(unique, m_Stream.stream));
    result.elements = m_Stream.ToHost(elements.data(), size);
    result.counts = m_Stream.ToHost(counts.data(), size);
  }

  const RegionVolume &             m_Volume;
  const std::vector<GroupRegion> & m_Regions;
  RegionStream &                   m_Stream;
};

bool
HasShortIndices(std::int64_t numberOfVoxels)
{
  return numberOfVoxels <= std::numeric_limits<std::uint32_t>::max();
}
} // namespace

std::vector<Cell>
RegionMatrices::GetCells(std::size_t region) const
{
  std::vector<Cell> cells;
  if (!isSkipped.empty() && isSkipped[region] != 0)
  {
    return cells;
  }
  const Word first = places.firsts[region];
  const Word columns = places.columns[region];
  const auto begin = std::lower_bound(elements.begin(), elements.end(), first) - elements.begin();
  const auto end = std::lower_bound(elements.begin(), elements.end(), places.firsts[region + 1]) - elements.begin();
  cells.reserve(static_cast<std::size_t>(end - begin));
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
  {
    const Word element = elements[i] - first;
    cells.push_back({ element / columns, element % columns, static_cast<double>(counts[i]) });
  }
  return cells;
}

RegionMatrices
CountLevelsCuda(const RegionVolume & volume, const std::vector<GroupRegion> & regions, RegionStream & stream)
{
  const Counting counting(volume, regions, stream);
  return counting.Count(counting.MakePlaces([](const GroupRegion &) { return Word{ 1 }; }), LevelRule{});
}

std::vector<RegionMatrices>
CountMatricesCuda(const TextureClassJob & classJob, const std::array<bool, 3> & connectsAxis,
                  const RegionVolume & volume, const std::vector<GroupRegion> & regions, RegionStream & stream)
{
  const Counting              counting(volume, regions, stream);
  std::vector<RegionMatrices> matrices;
  std::visit(
    [&](const auto & job) {
      using Job = std::decay_t<decltype(job)>;
      if constexpr (std::is_same<Job, CooccurrenceJob>::value)
      {
        const auto columnsOf = [](const GroupRegion & region) { return region.numberOfGrayLevels + Word{ 1 }; };
        for (const Triple & offset : job.offsets)
        {
          const PairRule rule{ DeviceIndex(offset), job.symmetric };
          matrices.push_back(counting.Count(counting.MakePlaces(columnsOf), rule));
        }
      }
      else if constexpr (std::is_same<Job, RunLengthJob>::value)
      {
        for (const Triple & direction : job.offsets)
        {
          matrices.push_back(counting.CountRuns(direction, job.skipDirectionsWithoutPairs));
        }
      }
      else if constexpr (std::is_same<Job, SizeZoneJob>::value)
      {
        matrices.push_back(HasShortIndices(volume.numberOfVoxels) ? counting.CountZones<std::uint32_t>(connectsAxis)
                                                                  : counting.CountZones<Word>(connectsAxis));
      }
      else if constexpr (std::is_same<Job, DependenceJob>::value || std::is_same<Job, GrayToneDifferenceJob>::value)
      {
        std::vector<DeviceIndex> steps;
        for (const Triple & offset : job.offsets)
        {
          steps.emplace_back(offset);
        }
        const DeviceBuffer<DeviceIndex> offsets = CopyToDevice(steps, stream.stream);
        const auto                      number = static_cast<int>(steps.size());
        const auto                      places =
          counting.MakePlaces([&steps](const GroupRegion &) { return 2 * static_cast<Word>(steps.size()) + 2; });
        if constexpr (std::is_same<Job, DependenceJob>::value)
        {
          // No difference is larger than this.
          const auto limit = static_cast<std::int32_t>(std::min<std::uint32_t>(job.alpha, 65535));
          matrices.push_back(counting.Count(places, DependenceRule{ offsets.data(), number, limit }));
        }
        else
        {
          matrices.push_back(counting.Count(places, ToneRule{ offsets.data(), number }));
        }
      }
    },
    classJob);
  return matrices;
}

std::uint64_t
GetZoneBytes(std::int64_t numberOfVoxels)
{
  const std::uint64_t indexBytes = HasShortIndices(numberOfVoxels) ? sizeof(std::uint32_t) : sizeof(Word);
  return 2 * indexBytes * static_cast<std::uint64_t>(numberOfVoxels);
}
} // namespace voxelmaps
