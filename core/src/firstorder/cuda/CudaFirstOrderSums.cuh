// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFirstOrderSums_cuh
#define CudaFirstOrderSums_cuh

// What the CUDA kernels share: the window of a thread, and the sums whose order is fixed.
#include "firstorder/FirstOrderFormulas.h"
#include "firstorder/FirstOrder.h"
#include "window/WindowBox.h"

#include <math_constants.h>

namespace voxelmaps
{
/** The intensities of a slab: in device memory, from where all kernels for it learn which of them compute it. */
struct CudaIntensityRange
{
  /** Greatest absolute value. */
  static constexpr int limit = 1 << 20;

  std::uint32_t hasOthers;   // than integers from -limit to limit, or there are no tiles for these
  std::uint32_t hasDoubles;  // that are no floats, or there are no tiles for floats
  std::uint32_t fromMinimum; // limit + 1 - minimum; 0 without intensities
  std::uint32_t fromMaximum; // limit + 1 + maximum

#if defined(__CUDACC__)
  __device__ int
  Minimum() const
  {
    return limit + 1 - static_cast<int>(fromMinimum);
  }
  /** Whether all are integers, whose differences from the minimum have 16 bits; 0xffff is none of them. */
  __device__ bool
  AreKeys() const
  {
    return hasOthers == 0 && fromMinimum != 0 && fromMinimum + fromMaximum - 2 * (limit + 1) < 0xffff;
  }
  __device__ bool
  AreFloats() const
  {
    return hasDoubles == 0;
  }
#endif
};

namespace
{
struct DoubleRoot
{
  static __device__ double
  Of(double value)
  {
    return __dsqrt_rn(value);
  }
};

/** The bits of a float or double as an unsigned integer in the order of intensities. */
template <typename TBits>
__device__ TBits
ToOrder(TBits bits)
{
  constexpr TBits sign = TBits{ 1 } << (8 * sizeof(TBits) - 1);
  return bits ^ ((bits & sign) != 0 ? ~TBits{ 0 } : sign);
}
template <typename TBits>
__device__ TBits
FromOrder(TBits key)
{
  constexpr TBits sign = TBits{ 1 } << (8 * sizeof(TBits) - 1);
  return key ^ ((key & sign) != 0 ? sign : ~TBits{ 0 });
}

// Percentiles lie between two intensities each.
constexpr int numberOfPercentiles = 5;
constexpr int numberOfRanks = 2 * numberOfPercentiles;
constexpr int medianNumber = 2;

constexpr VOXELMAPS_HOST_DEVICE double
PercentilePart(int percentile)
{
  constexpr double parts[numberOfPercentiles] = { 0.1, 0.25, 0.5, 0.75, 0.9 };
  return parts[percentile];
}

/** The number of a rank among the keys in ascending order. */
constexpr VOXELMAPS_HOST_DEVICE int
KeyNumber(int rank, int voxels)
{
  const int percentile = rank / 2;
  if (percentile == medianNumber)
  {
    return rank % 2 == 0 ? (voxels - 1) / 2 : voxels / 2;
  }
  const PercentilePosition position = FindPercentilePosition(voxels, PercentilePart(percentile));
  return rank % 2 == 0 ? position.below : position.above;
}

/** Percentiles from the intensities of all ranks. */
template <typename TAt>
__device__ void
SetPercentiles(const TAt & at, int voxels, FirstOrderSums<double> & sums)
{
  const auto percentile = [&](int number) {
    return Interpolate(
      at(2 * number), at(2 * number + 1), FindPercentilePosition(voxels, PercentilePart(number)).fraction);
  };
  sums.percentile10 = percentile(0);
  sums.percentile25 = percentile(1);
  sums.median = ComputeMedian([&](int k) { return at(2 * medianNumber + (k == (voxels - 1) / 2 ? 0 : 1)); }, voxels);
  sums.percentile75 = percentile(3);
  sums.percentile90 = percentile(4);
}

/** Store the features of an output voxel. */
inline __device__ void
StoreFirstOrderFeatures(const FirstOrderTask & task, std::int64_t number, const FirstOrderSums<double> & sums)
{
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    StoreComponentOrNaN(
      task,
      number * task.voxelStride,
      f,
      FirstOrderFeatureValue<double, DoubleRoot>(task.features[f], sums, task.voxelVolume, task.entropyScale));
  }
}

/** The window of an output voxel, of a job with intensities of type T. */
template <typename T>
struct FirstOrderWindow
{
  const FirstOrderTask & task;
  const std::int64_t     number;
  const WindowBox        box;

  __device__
  FirstOrderWindow(const FirstOrderTask & theTask, std::int64_t theNumber)
    : task(theTask)
    , number(theNumber)
    , box(WindowBox::At(theTask, theNumber))
  {}

  /** Call f(intensity) for the voxels, in the order of the sums. Rows of usual lengths are read as a whole, so that
   * their loads do not wait for each other. */
  template <typename TFunction>
  __device__ void
  ForEachVoxel(const TFunction & f) const
  {
    switch (box.size[0])
    {
      case 3:
        return this->ForEachInRows<3>(f);
      case 5:
        return this->ForEachInRows<5>(f);
      case 7:
        return this->ForEachInRows<7>(f);
      default:
        return this->ForEachInRows<0>(f);
    }
  }
  /** VLength is the length of rows, or 0. */
  template <int VLength, typename TFunction>
  __device__ void
  ForEachInRows(const TFunction & f) const
  {
    const T * const intensities = static_cast<const T *>(task.intensities);
    for (int z = 0; z < box.size[2]; ++z)
    {
      for (int y = 0; y < box.size[1]; ++y)
      {
        const T * const row = intensities + task.LevelOffset(box.first[0], box.first[1] + y, box.first[2] + z);
        if constexpr (VLength > 0)
        {
          T values[VLength];
#pragma unroll
          for (int x = 0; x < VLength; ++x)
          {
            values[x] = row[x];
          }
#pragma unroll
          for (int x = 0; x < VLength; ++x)
          {
            f(values[x]);
          }
        }
        else
        {
          for (int x = 0; x < box.size[0]; ++x)
          {
            f(row[x]);
          }
        }
      }
    }
  }

  __device__ T
  OwnIntensity() const
  {
    const std::int64_t row = number / task.outputSize[0];
    return static_cast<const T *>(
      task.intensities)[task.LevelOffset(number - row * task.outputSize[0] + task.outputToLevels[0],
                                         row % task.outputSize[1] + task.outputToLevels[1],
                                         row / task.outputSize[1] + task.outputToLevels[2])];
  }

  __device__ void
  Start(FirstOrderSums<double> & sums) const
  {
    StartFirstOrderSums(static_cast<double>(this->OwnIntensity()), CUDART_INF, sums);
  }

  /** The first and second pass. */
  __device__ void
  Sum(FirstOrderSums<double> & sums) const
  {
    this->ForEachVoxel([&](T intensity) { AddIntensity(static_cast<double>(intensity), task.voxelArrayShift, sums); });
    sums.shift = sums.differences / sums.voxels;
    if (task.needsDeviations)
    {
      this->ForEachVoxel([&](T intensity) { AddDeviation(static_cast<double>(intensity), sums); });
    }
  }

  /** The sums that need percentiles. */
  __device__ void
  SumRobustly(FirstOrderSums<double> & sums) const
  {
    if (task.needsRobustDeviations)
    {
      this->ForEachVoxel([&](T intensity) { AddRobustIntensity(static_cast<double>(intensity), sums); });
      sums.robustShift = sums.robustDifferences / sums.robustVoxels;
      this->ForEachVoxel([&](T intensity) { AddRobustDeviation(static_cast<double>(intensity), sums); });
    }
  }
};
} // namespace
} // namespace voxelmaps

#endif // CudaFirstOrderSums_cuh
