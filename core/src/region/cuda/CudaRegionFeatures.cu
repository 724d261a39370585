// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "region/cuda/CudaRegionVolume.h"

#include "common/ParallelFor.h"
#include "device/CudaNumberKey.h"
#include "device/CudaWarp.cuh"
#include "discretization/GrayLevelFormula.h"
#include "discretization/GrayLevelJob.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace voxelmaps
{
namespace
{
constexpr unsigned int threadsPerBlock = 256;
constexpr double       infinity = std::numeric_limits<double>::infinity();

// --- The arrays of a job

/** visit(pixel), which returns the same type for all types of pixels. All threads have the same one. */
template <typename TVisit>
__device__ auto
VisitPixel(PixelType type, const void * pixels, std::int64_t i, const TVisit & visit)
{
  switch (type)
  {
    case PixelType::Int8:
      return visit(static_cast<const std::int8_t *>(pixels)[i]);
    case PixelType::UInt8:
      return visit(static_cast<const std::uint8_t *>(pixels)[i]);
    case PixelType::Int16:
      return visit(static_cast<const std::int16_t *>(pixels)[i]);
    case PixelType::UInt16:
      return visit(static_cast<const std::uint16_t *>(pixels)[i]);
    case PixelType::Int32:
      return visit(static_cast<const std::int32_t *>(pixels)[i]);
    case PixelType::UInt32:
      return visit(static_cast<const std::uint32_t *>(pixels)[i]);
    case PixelType::Int64:
      return visit(static_cast<const std::int64_t *>(pixels)[i]);
    case PixelType::UInt64:
      return visit(static_cast<const std::uint64_t *>(pixels)[i]);
    case PixelType::Float:
      return visit(static_cast<const float *>(pixels)[i]);
    default:
      return visit(static_cast<const double *>(pixels)[i]);
  }
}

struct RegionArrays
{
  const void * pixels;
  PixelType    pixelType;
  const void * labels;
  PixelType    labelType;
  DeviceIndex  size;

  __device__ double
  Intensity(std::int64_t i) const
  {
    return VisitPixel(pixelType, pixels, i, [](auto pixel) { return static_cast<double>(pixel); });
  }
  __device__ std::int64_t
             Label(std::int64_t i) const
  {
    return VisitPixel(labelType, labels, i, [](auto label) { return static_cast<std::int64_t>(label); });
  }
};

// --- Labels and their extents, in a hash table. By hand: ReduceByKey of CUB needs a sort of all voxels.

struct LabelSlot
{
  Word      label; // 0 for a free slot
  Word      voxels;
  long long first[3];
  long long last[3];
  NumberKey minimum;
  NumberKey maximum; // the complement
};

/** Labels are in one of so many slots. */
constexpr unsigned int maxProbes = 32;

__device__ unsigned int
FirstSlot(Word label, unsigned int capacity)
{
  return static_cast<unsigned int>((label * 0x9e3779b97f4a7c15ull) >> 40) & (capacity - 1);
}

/** The slot of a label, which takes a free one; the capacity if there is none. */
__device__ unsigned int
TakeSlot(LabelSlot * slots, unsigned int capacity, Word label)
{
  unsigned int slot = FirstSlot(label, capacity);
  for (unsigned int probe = 0; probe < maxProbes; ++probe)
  {
    Word found = *static_cast<const volatile Word *>(&slots[slot].label);
    if (found == 0)
    {
      found = atomicCAS(&slots[slot].label, Word{ 0 }, label);
    }
    if (found == 0 || found == label)
    {
      return slot;
    }
    slot = (slot + 1) & (capacity - 1);
  }
  return capacity;
}

template <typename T>
__device__ void
Lower(T * least, T value)
{
  // What is in memory is never raised, so most threads can see that theirs does not matter.
  if (value < *static_cast<const volatile T *>(least))
  {
    atomicMin(least, value);
  }
}
__device__ void
Raise(long long * greatest, long long value)
{
  if (value > *static_cast<const volatile long long *>(greatest))
  {
    atomicMax(greatest, value);
  }
}

/** What a thread has seen of a label. */
struct ThreadExtent
{
  std::int64_t label{ 0 };
  Word         voxels{ 0 };
  long long    first[3]{};
  long long    last[3]{};
  double       minimum{ 0.0 };
  double       maximum{ 0.0 };

  __device__ void
  Begin(std::int64_t newLabel, const long long (&index)[3])
  {
    label = newLabel;
    voxels = 0;
    minimum = infinity;
    maximum = -infinity;
    for (int d = 0; d < 3; ++d)
    {
      first[d] = last[d] = index[d];
    }
  }
  __device__ void
  Add(const long long (&index)[3], double value)
  {
    ++voxels;
    for (int d = 0; d < 3; ++d)
    {
      first[d] = index[d] < first[d] ? index[d] : first[d];
      last[d] = index[d] > last[d] ? index[d] : last[d];
    }
    minimum = value < minimum ? value : minimum;
    maximum = value > maximum ? value : maximum;
  }
  __device__ void
  Finish(LabelSlot * slots, unsigned int capacity, int * isFull) const
  {
    if (label == 0 || *static_cast<volatile int *>(isFull) != 0)
    {
      return;
    }
    const unsigned int number = TakeSlot(slots, capacity, static_cast<Word>(label));
    if (number == capacity)
    {
      *static_cast<volatile int *>(isFull) = 1;
      return;
    }
    LabelSlot & slot = slots[number];
    atomicAdd(&slot.voxels, voxels);
    for (int d = 0; d < 3; ++d)
    {
      Lower(slot.first + d, first[d]);
      Raise(slot.last + d, last[d]);
    }
    // Adding zero makes a negative zero positive.
    Lower(&slot.minimum, ToNumberKey(minimum + 0.0));
    Lower(&slot.maximum, ~ToNumberKey(maximum + 0.0));
  }
};

__global__ void
ClearSlotsKernel(LabelSlot * slots, std::int64_t capacity)
{
  ForEachInGrid(capacity, [&](std::int64_t i) {
    LabelSlot slot{};
    for (int d = 0; d < 3; ++d)
    {
      slot.first[d] = 0x7fffffffffffffff;
      slot.last[d] = -1;
    }
    slot.minimum = slot.maximum = noNumberKey;
    slots[i] = slot;
  });
}

/** Each warp reads rows next to each other, so that its threads see the same labels again. range: keys of the least
 * finite intensity and, as complement, of the greatest one; null if it is not needed. */
__global__ void
ExtentKernel(const __grid_constant__ RegionArrays arrays, LabelSlot * slots, unsigned int capacity, int * isFull,
             NumberKey * range)
{
  constexpr double   greatest = 0x1.fffffffffffffp1023;
  const std::int64_t rows = arrays.size.y * arrays.size.z;
  const std::int64_t warps = std::int64_t{ gridDim.x } * blockDim.x / 32;
  const std::int64_t warp = (std::int64_t{ blockIdx.x } * blockDim.x + threadIdx.x) / 32;
  const std::int64_t rowsOfWarp = (rows + warps - 1) / warps;
  const std::int64_t end = (warp + 1) * rowsOfWarp < rows ? (warp + 1) * rowsOfWarp : rows;
  ThreadExtent       extent;
  double             minimum = infinity;
  double             maximum = -infinity;
  for (std::int64_t row = warp * rowsOfWarp; row < end; ++row)
  {
    for (std::int64_t x = threadIdx.x % 32; x < arrays.size.x; x += 32)
    {
      const std::int64_t i = row * arrays.size.x + x;
      const std::int64_t label = arrays.Label(i);
      if (label == 0 && range == nullptr)
      {
        continue;
      }
      const double value = arrays.Intensity(i);
      if (value >= -greatest && value <= greatest)
      {
        minimum = value < minimum ? value : minimum;
        maximum = value > maximum ? value : maximum;
      }
      if (label != 0)
      {
        const long long index[3] = { x, row % arrays.size.y, row / arrays.size.y };
        if (label != extent.label)
        {
          extent.Finish(slots, capacity, isFull);
          extent.Begin(label, index);
        }
        extent.Add(index, value);
      }
    }
  }
  extent.Finish(slots, capacity, isFull);
  if (range != nullptr)
  {
    Lower(range, ToNumberKey(minimum + 0.0));
    Lower(range + 1, ~ToNumberKey(maximum + 0.0));
  }
}

/** The numbers of the regions of a group by slot, from 1; 0 for other labels. */
struct LabelNumbers
{
  const LabelSlot *     slots;
  const std::uint16_t * numbers;
  unsigned int          capacity;

  /** Slot of a label that has one. */
  __device__ std::uint32_t
             Find(Word label) const
  {
    unsigned int slot = FirstSlot(label, capacity);
    while (slots[slot].label != label)
    {
      slot = (slot + 1) & (capacity - 1);
    }
    return numbers[slot];
  }
};

// --- Levels

/** Null formulas make no levels. Invalid intensities lower the keys of their regions. */
__global__ void
VolumeKernel(const __grid_constant__ RegionArrays arrays, const __grid_constant__ LabelNumbers numbers,
             const GrayLevelFormula * formulas, NumberKey * invalid, const __grid_constant__ DeviceIndex index,
             const __grid_constant__ RegionVolume volume)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    const DeviceIndex   at = volume.IndexOf(i);
    const std::int64_t  place = ((index.z + at.z) * arrays.size.y + index.y + at.y) * arrays.size.x + index.x + at.x;
    const std::int64_t  label = arrays.Label(place);
    const std::uint32_t region = label == 0 ? 0 : numbers.Find(static_cast<Word>(label));
    std::uint32_t       level = 0;
    if (region != 0 && formulas != nullptr)
    {
      const double             intensity = arrays.Intensity(place);
      const GrayLevelFormula & formula = formulas[region - 1];
      level = formula.GetLevel(intensity);
      if (level == 0 && formula.IsInvalid(intensity))
      {
        Lower(invalid + region - 1, ToNumberKey(intensity));
      }
    }
    volume.voxels[i] = region << 16 | level;
  });
}

// --- Intensities in order

/** Bits in the order of the pixels, in as many bits as these have; a negative zero is a positive one. */
template <typename TPixel>
__device__ Word
ToOrderedBits(TPixel pixel)
{
  constexpr Word sign = Word{ 1 } << (8 * sizeof(TPixel) - 1);
  if constexpr (std::is_same<TPixel, float>::value)
  {
    const unsigned int bits = __float_as_uint(pixel + 0.0f);
    return (bits & sign) != 0 ? ~bits : bits | static_cast<unsigned int>(sign);
  }
  else if constexpr (std::is_same<TPixel, double>::value)
  {
    return ToNumberKey(pixel + 0.0);
  }
  else
  {
    using Unsigned = std::make_unsigned_t<TPixel>;
    const Word bits = static_cast<Unsigned>(pixel);
    return std::is_signed<TPixel>::value ? bits ^ sign : bits;
  }
}

template <typename TPixel>
__device__ TPixel
FromOrderedBits(Word bits)
{
  constexpr Word sign = Word{ 1 } << (8 * sizeof(TPixel) - 1);
  if constexpr (std::is_same<TPixel, float>::value)
  {
    const auto word = static_cast<unsigned int>(bits);
    return __uint_as_float((word & sign) != 0 ? word & ~static_cast<unsigned int>(sign) : ~word);
  }
  else if constexpr (std::is_same<TPixel, double>::value)
  {
    return __longlong_as_double(static_cast<long long>((bits & sign) != 0 ? bits & ~sign : ~bits));
  }
  else
  {
    using Unsigned = std::make_unsigned_t<TPixel>;
    return static_cast<TPixel>(static_cast<Unsigned>(std::is_signed<TPixel>::value ? bits ^ sign : bits));
  }
}

/** List the intensities of voxels with a level, and their regions, in any order. */
__global__ void
IntensityKernel(const __grid_constant__ RegionArrays arrays, const __grid_constant__ DeviceIndex index,
                const __grid_constant__ RegionVolume volume, Word * number, Word * intensities, Word * regions)
{
  ForEachInGrid(volume.numberOfVoxels, [&](std::int64_t i) {
    const std::uint32_t voxel = volume.voxels[i];
    if (RegionVolume::Level(voxel) == 0)
    {
      return;
    }
    const DeviceIndex  at = volume.IndexOf(i);
    const std::int64_t place = ((index.z + at.z) * arrays.size.y + index.y + at.y) * arrays.size.x + index.x + at.x;
    const Word         entry = TakePlace(number);
    intensities[entry] =
      VisitPixel(arrays.pixelType, arrays.pixels, place, [](auto pixel) { return ToOrderedBits(pixel); });
    regions[entry] = RegionVolume::Region(voxel) - 1;
  });
}

template <typename TPixel>
__global__ void
PixelKernel(const Word * intensities, std::int64_t number, TPixel * pixels)
{
  ForEachInGrid(number, [&](std::int64_t i) { pixels[i] = FromOrderedBits<TPixel>(intensities[i]); });
}

// --- The engine

/** All that is counted of the regions of a group. */
struct GroupCounts
{
  /** By class. */
  std::vector<std::vector<RegionMatrices>> matrices;
  std::vector<char>                        sortedIntensities;
  std::vector<ShapeCounts>                 shapes;
};

class CudaRegionCounter final : public RegionCounter
{
public:
  CudaRegionCounter(std::shared_ptr<GroupCounts> counts, std::size_t number, std::size_t firstIntensityByte)
    : m_Counts(std::move(counts))
    , m_Number(number)
    , m_FirstIntensityByte(firstIntensityByte)
  {}

  std::vector<Cell>
  CountCells(std::size_t classNumber, std::size_t offset) override
  {
    return m_Counts->matrices[classNumber][offset].GetCells(m_Number);
  }
  const void *
  SortIntensities(std::vector<char> &) override
  {
    return m_Counts->sortedIntensities.data() + m_FirstIntensityByte;
  }
  ShapeCounts
  CountShape() override
  {
    return std::move(m_Counts->shapes[m_Number]);
  }

private:
  const std::shared_ptr<GroupCounts> m_Counts;
  const std::size_t                  m_Number;
  const std::size_t                  m_FirstIntensityByte;
};

class CudaRegionEngine final : public RegionEngine
{
public:
  CudaRegionEngine(const RegionFeaturesJob & job, const CudaOptions & options, cudaStream_t stream)
    : RegionEngine(job)
    , m_Options(options)
    , m_Stream(stream, job.execution)
    , m_Voxels(job.size[0] * job.size[1] * job.size[2])
    , m_Arrays{ job.pixels, job.pixelType, job.labelImage, job.labelType, DeviceIndex(job.size) }
  {
    if (options.inputLocation == MemoryLocation::Host)
    {
      m_Arrays.pixels = this->Upload(job.pixels, job.pixelType, m_Pixels);
      m_Arrays.labels =
        job.labelImage == job.pixels ? m_Arrays.pixels : this->Upload(job.labelImage, job.labelType, m_Labels);
    }
  }

private:
  const void *
  Upload(const void * array, PixelType type, DeviceBuffer<char> & buffer)
  {
    const auto bytes = static_cast<std::uint64_t>(m_Voxels * GetPixelSize(type));
    m_UploadedBytes += bytes;
    this->CheckBudget(0);
    buffer.Allocate(bytes, m_Stream.stream);
    m_Stream.ToDevice(buffer.data(), array, bytes);
    return buffer.data();
  }

  /** Throws CudaOutOfMemory if a part of the job needs more than may be used. */
  void
  CheckBudget(std::uint64_t bytes) const
  {
    if (m_Options.memoryBudget != 0 && m_UploadedBytes + bytes > m_Options.memoryBudget)
    {
      throw CudaOutOfMemory("The features of regions need about " + std::to_string(m_UploadedBytes + bytes) +
                            " bytes of device memory, but the DeviceMemoryBudget is " +
                            std::to_string(m_Options.memoryBudget) + ": set a larger one.");
    }
  }

  void
  FindExtents(Extents & extents, IntensityRange & imageRange) override
  {
    if (m_Voxels == 0)
    {
      return;
    }
    const unsigned int            blocks = BlocksForGridStride(static_cast<std::uint64_t>(m_Voxels), threadsPerBlock);
    const DeviceBuffer<NumberKey> range = m_Stream.Filled<NumberKey>(2, 0xff);
    // Enough for most segmentations.
    m_Capacity = 512;
    for (int isFull = 1; isFull != 0;)
    {
      m_Slots.Allocate(m_Capacity, m_Stream.stream);
      ClearSlotsKernel<<<BlocksForGridStride(m_Capacity, threadsPerBlock), threadsPerBlock, 0, m_Stream.stream>>>(
        m_Slots.data(), m_Capacity);
      CheckLaunch("starting the kernel that clears labels");
      const DeviceBuffer<int> isFullOnDevice = m_Stream.Filled<int>(1, 0);
      ExtentKernel<<<blocks, threadsPerBlock, 0, m_Stream.stream>>>(
        m_Arrays, m_Slots.data(), m_Capacity, isFullOnDevice.data(), this->NeedsImageRange() ? range.data() : nullptr);
      CheckLaunch("starting the kernel that finds regions");
      isFull = CopyFromDevice(isFullOnDevice, m_Stream.stream);
      if (isFull != 0)
      {
        if (m_Capacity >= 1u << 28)
        {
          throw EngineError("There are more labels than the device supports: compute on the CPU.");
        }
        m_Capacity *= 16;
      }
      m_Job.execution.CheckAbort();
    }
    const std::vector<LabelSlot> slots = m_Stream.ToHost(m_Slots);
    m_LabelsOfSlots.resize(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
    {
      const LabelSlot & slot = slots[i];
      m_LabelsOfSlots[i] = static_cast<std::int64_t>(slot.label);
      if (slot.label != 0)
      {
        Extent & extent = extents[m_LabelsOfSlots[i]];
        extent.voxels = static_cast<std::int64_t>(slot.voxels);
        std::copy(slot.first, slot.first + 3, extent.first.begin());
        std::copy(slot.last, slot.last + 3, extent.last.begin());
        extent.minimum = FromNumberKey(slot.minimum);
        extent.maximum = FromNumberKey(~slot.maximum);
      }
    }
    if (this->NeedsImageRange())
    {
      const std::vector<NumberKey> keys = m_Stream.ToHost(range);
      imageRange.AddRange(FromNumberKey(keys[0]), FromNumberKey(~keys[1]), m_Voxels);
    }
    m_Job.execution.ReportProgress(static_cast<std::uint64_t>(m_Voxels));
  }

  /** All regions at once, or half of them if there is too little memory. */
  void
  ComputeGroups(std::size_t first, std::size_t last) override
  {
    if (first == last)
    {
      return;
    }
    std::int64_t voxels = 0;
    std::int64_t lines = 0;
    for (std::size_t i = first; i < last; ++i)
    {
      const Triple & size = m_Features[i].boxSize;
      voxels += m_Features[i].numberOfVoxels;
      lines += this->NeedsShape() ? 4 * (size[0] + size[1] + 4) * (size[2] + 2) : 0;
    }
    const bool isSingle = last - first == 1;
    if (voxels <= maxVoxelsOfGroup && (isSingle || (last - first <= maxRegionsOfGroup && lines <= maxLinesOfGroup)))
    {
      try
      {
        return this->ComputeGroup(first, last);
      }
      catch (const CudaOutOfMemory &)
      {
        if (isSingle)
        {
          throw;
        }
      }
    }
    else if (isSingle)
    {
      throw CudaOutOfMemory("The region with the label " + std::to_string(m_Features[first].label) + " has " +
                            std::to_string(voxels) + " voxels, but regions on a device can have " +
                            std::to_string(maxVoxelsOfGroup) + ": compute on the CPU.");
    }
    const std::size_t middle = first + (last - first) / 2;
    this->ComputeGroups(first, middle);
    this->ComputeGroups(middle, last);
  }

  void
  CountGroup(std::vector<Region> & regions) override
  {
    Triple first;
    Triple last{ { -1, -1, -1 } };
    first.fill(std::numeric_limits<std::int64_t>::max());
    for (const Region & region : regions)
    {
      for (std::size_t d = 0; d < 3; ++d)
      {
        first[d] = std::min(first[d], region.extent.first[d]);
        last[d] = std::max(last[d], region.extent.last[d]);
      }
    }
    if (last[0] < 0)
    {
      return;
    }
    const Triple size{ { last[0] - first[0] + 1, last[1] - first[1] + 1, last[2] - first[2] + 1 } };
    const auto   voxels = size[0] * size[1] * size[2];
    this->CheckBudget(static_cast<std::uint64_t>(voxels) * sizeof(std::uint32_t) +
                      (this->HasZones() ? GetZoneBytes(voxels) : 0));
    const DeviceBuffer<std::uint32_t> buffer(static_cast<std::size_t>(voxels), m_Stream.stream);
    const RegionVolume                volume{ buffer.data(), DeviceIndex(size), voxels };
    const auto                        discretizations = this->MakeDiscretizations(regions);
    const bool                        hasLevels =
      std::any_of(discretizations.begin(), discretizations.end(), [](const auto & one) { return one != nullptr; });
    this->FillVolume(regions, discretizations, first, volume);

    std::vector<GroupRegion> group;
    for (std::size_t r = 0; r < regions.size(); ++r)
    {
      const RegionFeatures & features = regions[r].features;
      const unsigned int     levels = discretizations[r] != nullptr ? discretizations[r]->GetNumberOfGrayLevels() : 0;
      group.push_back({ &features, levels, features.numberOfVoxels });
    }
    const auto counts = std::make_shared<GroupCounts>();
    if (hasLevels)
    {
      this->SetLevels(CountLevelsCuda(volume, group, m_Stream), regions, group);
      this->CountClasses(first, volume, group, *counts);
    }
    if (this->NeedsShape())
    {
      counts->shapes = CountShapeCuda(volume, first, group, m_Stream);
    }
    std::size_t firstByte = 0;
    for (std::size_t r = 0; r < regions.size(); ++r)
    {
      regions[r].counter = std::make_unique<CudaRegionCounter>(counts, r, firstByte);
      firstByte += static_cast<std::size_t>(regions[r].levels.numberOfVoxels * GetPixelSize(m_Job.pixelType));
      if (discretizations[r] != nullptr)
      {
        m_Job.execution.ReportProgress(static_cast<std::uint64_t>(regions[r].extent.voxels));
      }
    }
  }

  bool
  HasZones() const
  {
    return std::any_of(m_Job.classes.begin(), m_Job.classes.end(), [](const TextureClassJob & job) {
      return std::holds_alternative<SizeZoneJob>(job);
    });
  }

  /** Null for regions without intensities. */
  std::vector<std::unique_ptr<GrayLevelDiscretization>>
  MakeDiscretizations(const std::vector<Region> & regions) const
  {
    std::vector<std::unique_ptr<GrayLevelDiscretization>> result;
    for (const Region & region : regions)
    {
      result.push_back(this->MakeDiscretization(region));
    }
    return result;
  }

  /** Numbers of regions and levels; throws EngineError for intensities that are no levels. */
  void
  FillVolume(const std::vector<Region> &                                   regions,
             const std::vector<std::unique_ptr<GrayLevelDiscretization>> & discretizations, const Triple & index,
             const RegionVolume & volume)
  {
    std::map<std::int64_t, std::uint16_t> numbers;
    std::vector<GrayLevelFormula>         formulas;
    const DeviceBuffer<double>            edges = CopyToDevice(m_Job.discretization.binEdges, m_Stream.stream);
    for (std::size_t r = 0; r < regions.size(); ++r)
    {
      numbers[regions[r].features.label] = static_cast<std::uint16_t>(r + 1);
      if (discretizations[r] != nullptr)
      {
        // All voxels of regions without intensities are NaN, whose level is 0 by each formula.
        formulas.resize(r, GrayLevelFormula(*discretizations[r]));
        formulas.emplace_back(*discretizations[r]);
      }
    }
    if (!formulas.empty())
    {
      formulas.resize(regions.size(), formulas.back());
    }
    for (GrayLevelFormula & formula : formulas)
    {
      formula.edges = edges.data();
    }
    std::vector<std::uint16_t> numbersOfSlots(m_LabelsOfSlots.size());
    for (std::size_t i = 0; i < numbersOfSlots.size(); ++i)
    {
      const auto found = numbers.find(m_LabelsOfSlots[i]);
      numbersOfSlots[i] = found == numbers.end() ? std::uint16_t{ 0 } : found->second;
    }
    const auto numbersOnDevice = CopyToDevice(numbersOfSlots, m_Stream.stream);
    const auto formulasOnDevice = CopyToDevice(formulas, m_Stream.stream);
    const auto invalid = m_Stream.Filled<NumberKey>(regions.size(), 0xff);
    VolumeKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(volume.numberOfVoxels), threadsPerBlock),
                   threadsPerBlock,
                   0,
                   m_Stream.stream>>>(m_Arrays,
                                      LabelNumbers{ m_Slots.data(), numbersOnDevice.data(), m_Capacity },
                                      formulas.empty() ? nullptr : formulasOnDevice.data(),
                                      invalid.data(),
                                      DeviceIndex(index),
                                      volume);
    CheckLaunch("starting the kernel of levels");
    const std::vector<NumberKey> keys = m_Stream.ToHost(invalid);
    for (std::size_t r = 0; r < regions.size(); ++r)
    {
      if (keys[r] != noNumberKey)
      {
        discretizations[r]->AddInvalidIntensity(FromNumberKey(keys[r]));
        VerifyIntensities(*discretizations[r], regions[r]);
      }
    }
  }

  static void
  SetLevels(const RegionMatrices & counts, std::vector<Region> & regions, std::vector<GroupRegion> & group)
  {
    for (std::size_t r = 0; r < regions.size(); ++r)
    {
      LevelCounts &           levels = regions[r].levels;
      const std::vector<Cell> cells = counts.GetCells(r);
      levels.numberOfGrayLevels = group[r].numberOfGrayLevels;
      levels.counts.assign(std::size_t{ levels.numberOfGrayLevels } + 1, 0);
      for (const Cell & cell : cells)
      {
        levels.counts[cell.row] = static_cast<std::uint64_t>(cell.value);
        levels.numberOfVoxels += static_cast<std::int64_t>(cell.value);
      }
      levels.hasOneLevel = cells.size() == 1;
      group[r].numberOfVoxels = levels.numberOfVoxels;
    }
  }

  void
  CountClasses(const Triple & index, const RegionVolume & volume, const std::vector<GroupRegion> & group,
               GroupCounts & counts)
  {
    for (const TextureClassJob & job : m_Job.classes)
    {
      counts.matrices.push_back(CountMatricesCuda(job, m_Job.connectsAxis, volume, group, m_Stream));
      if (std::holds_alternative<FirstOrderJob>(job) && counts.sortedIntensities.empty())
      {
        counts.sortedIntensities = this->SortIntensities(index, volume, group);
      }
      // Directions along which a region is too thin have no runs.
      if (const auto * const runs = std::get_if<RunLengthJob>(&job))
      {
        for (std::size_t i = 0; i < runs->offsets.size(); ++i)
        {
          for (std::size_t r = 0; r < group.size(); ++r)
          {
            std::uint8_t & isSkipped = counts.matrices.back()[i].isSkipped[r];
            isSkipped = Fits(runs->offsets[i], *group[r].features) ? isSkipped : std::uint8_t{ 1 };
          }
        }
      }
      m_Job.execution.CheckAbort();
    }
  }

  /** The intensities of one region after the other, each in ascending order: copied to the host, which adds them. */
  std::vector<char>
  SortIntensities(const Triple & index, const RegionVolume & volume, const std::vector<GroupRegion> & group)
  {
    std::size_t number = 0;
    for (const GroupRegion & region : group)
    {
      number += static_cast<std::size_t>(region.numberOfVoxels);
    }
    if (number == 0)
    {
      return {};
    }
    const auto               stream = m_Stream.stream;
    const DeviceBuffer<Word> entries = m_Stream.Filled<Word>(1, 0);
    const DeviceBuffer<Word> intensities[2] = { { number, stream }, { number, stream } };
    const DeviceBuffer<Word> regions[2] = { { number, stream }, { number, stream } };
    IntensityKernel<<<BlocksForGridStride(static_cast<std::uint64_t>(volume.numberOfVoxels), threadsPerBlock),
                      threadsPerBlock,
                      0,
                      stream>>>(
      m_Arrays, DeviceIndex(index), volume, entries.data(), intensities[0].data(), regions[0].data());
    CheckLaunch("starting the kernel that lists intensities");
    // By intensity, then by region, which keeps the order.
    const auto sort =
      [&](const DeviceBuffer<Word>(&keys)[2], const DeviceBuffer<Word>(&values)[2], int from, int bits) {
        const auto call = [&](void * memory, std::size_t & bytes) {
          return cub::DeviceRadixSort::SortPairs(memory,
                                                 bytes,
                                                 keys[from].data(),
                                                 keys[1 - from].data(),
                                                 values[from].data(),
                                                 values[1 - from].data(),
                                                 static_cast<int>(number),
                                                 0,
                                                 bits,
                                                 stream);
        };
        std::size_t bytes = 0;
        CheckCuda(call(nullptr, bytes), "asking for temporary memory");
        const DeviceBuffer<char> memory(std::max<std::size_t>(bytes, 1), stream);
        CheckCuda(call(memory.data(), bytes), "sorting intensities");
      };
    sort(intensities, regions, 0, static_cast<int>(8 * GetPixelSize(m_Job.pixelType)));
    int bits = 1;
    while ((group.size() - 1) >> bits != 0)
    {
      ++bits;
    }
    sort(regions, intensities, 1, bits);
    std::vector<char> sorted;
    VisitPixelType(m_Job.pixelType, [&](auto pixel) {
      using Pixel = decltype(pixel);
      const DeviceBuffer<char> pixels(number * sizeof(Pixel), stream);
      PixelKernel<<<BlocksForGridStride(number, threadsPerBlock), threadsPerBlock, 0, stream>>>(
        intensities[0].data(), static_cast<std::int64_t>(number), reinterpret_cast<Pixel *>(pixels.data()));
      CheckLaunch("starting the kernel that writes intensities");
      sorted = m_Stream.ToHost(pixels);
    });
    return sorted;
  }

  const CudaOptions &       m_Options;
  RegionStream              m_Stream;
  const std::int64_t        m_Voxels;
  RegionArrays              m_Arrays;
  std::uint64_t             m_UploadedBytes{ 0 };
  DeviceBuffer<char>        m_Pixels;
  DeviceBuffer<char>        m_Labels;
  DeviceBuffer<LabelSlot>   m_Slots;
  unsigned int              m_Capacity{ 0 };
  std::vector<std::int64_t> m_LabelsOfSlots;
};
} // namespace

std::vector<RegionFeatures>
ComputeRegionFeaturesCuda(const RegionFeaturesJob & job, const CudaOptions & options)
{
  const DefaultFloatingPointEnvironment environment;
  const CurrentDevice                   device(options.deviceID);
  std::optional<CudaStream>             ownStream;
  auto                                  stream = static_cast<cudaStream_t>(options.stream);
  if (!options.UsesStream())
  {
    stream = ownStream.emplace();
  }
  try
  {
    return CudaRegionEngine(job, options, stream).Compute();
  }
  catch (const CudaOutOfMemory &)
  {
    if (options.inputLocation == MemoryLocation::Device)
    {
      throw;
    }
  }
  return ComputeRegionFeatures(job);
}
} // namespace voxelmaps
