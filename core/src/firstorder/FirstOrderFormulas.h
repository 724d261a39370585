// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FirstOrderFormulas_h
#define FirstOrderFormulas_h

#include "common/HostDevice.h"
#include "voxelmaps/FirstOrderJob.h"

#if defined(__FAST_MATH__)
#  error "NaN is an absent voxel, and the order of sums is fixed: -ffast-math breaks both"
#endif

/* First order features are sums of doubles, whose order is part of their definition: that of the voxels of the window,
 * x fastest, absent voxels skipped. Intensities are differences from that of the window's own voxel, and robust ones
 * from the median, as the own voxel may be an outlier; so flat windows give zeros, and integers exact sums. TReal is a
 * double, or a vector of doubles of as many windows; the file must be compiled without contraction of products and
 * sums. */
namespace voxelmaps
{
/** Sums over the voxels of a window, and what follows from them. */
template <typename TReal>
struct FirstOrderSums
{
  TReal origin; // the intensity of the window's own voxel, 0 if it is infinite

  // First pass.
  TReal voxels;
  TReal differences;
  TReal energy;
  TReal minimum;
  TReal maximum;

  TReal shift; // mean of the differences

  // Second pass: sums of powers of the deviation from the mean.
  TReal absolutes;
  TReal squares;
  TReal cubes;
  TReal fourths;

  TReal percentile10;
  TReal percentile25;
  TReal median;
  TReal percentile75;
  TReal percentile90;

  // The same of the voxels from percentile10 to percentile90.
  TReal robustVoxels;
  TReal robustDifferences; // from the median
  TReal robustShift;
  TReal robustAbsolutes;

  TReal entropy;      // t(V) - sum of t(n_i), in bits
  TReal levelSquares; // sum of n_i^2
};

/** Start the first pass. */
template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
StartFirstOrderSums(TReal origin, double infinity, FirstOrderSums<TReal> & sums)
{
  const TReal zero = TReal{};
  sums = FirstOrderSums<TReal>{};
  sums.origin = origin - origin == zero ? origin : zero;
  sums.minimum = zero + infinity;
  sums.maximum = zero - infinity;
}

// What a voxel adds to the sums of each pass. NaN is an absent voxel, and adds 0, which changes no sum: none is
// negative zero.

template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
AddIntensity(TReal intensity, double voxelArrayShift, FirstOrderSums<TReal> & sums)
{
  const TReal zero = TReal{};
  const auto  isPresent = intensity == intensity;
  const TReal shifted = intensity + voxelArrayShift;
  sums.voxels += isPresent ? zero + 1.0 : zero;
  sums.differences += isPresent ? intensity - sums.origin : zero;
  sums.energy += isPresent ? shifted * shifted : zero;
  sums.minimum = intensity < sums.minimum ? intensity : sums.minimum;
  sums.maximum = intensity > sums.maximum ? intensity : sums.maximum;
}

template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
AddDeviation(TReal intensity, FirstOrderSums<TReal> & sums)
{
  const TReal zero = TReal{};
  const TReal deviation = intensity == intensity ? (intensity - sums.origin) - sums.shift : zero;
  const TReal square = deviation * deviation;
  sums.absolutes += deviation < zero ? -deviation : deviation;
  sums.squares += square;
  sums.cubes += square * deviation;
  sums.fourths += square * square;
}

template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
AddRobustIntensity(TReal intensity, FirstOrderSums<TReal> & sums)
{
  const TReal zero = TReal{};
  const auto  isInside = (intensity >= sums.percentile10) & (intensity <= sums.percentile90);
  sums.robustVoxels += isInside ? zero + 1.0 : zero;
  sums.robustDifferences += isInside ? intensity - sums.median : zero;
}

template <typename TReal>
VOXELMAPS_HOST_DEVICE inline void
AddRobustDeviation(TReal intensity, FirstOrderSums<TReal> & sums)
{
  const TReal zero = TReal{};
  const auto  isInside = (intensity >= sums.percentile10) & (intensity <= sums.percentile90);
  const TReal deviation = isInside ? (intensity - sums.median) - sums.robustShift : zero;
  sums.robustAbsolutes += deviation < zero ? -deviation : deviation;
}

/** Where a percentile lies among the intensities in ascending order: between two of them. */
struct PercentilePosition
{
  int    below;
  int    above;
  double fraction; // 0 at the one below, 1 at the one above
};

VOXELMAPS_HOST_DEVICE constexpr PercentilePosition
FindPercentilePosition(int voxels, double part)
{
  const double       position = static_cast<double>(voxels - 1) * part;
  PercentilePosition result{};
  result.below = static_cast<int>(position);
  result.above = result.below + 1 < voxels ? result.below + 1 : result.below;
  result.fraction = position - static_cast<double>(result.below);
  return result;
}

/** NumPy's linear interpolation. */
VOXELMAPS_HOST_DEVICE inline double
Interpolate(double below, double above, double fraction)
{
  const double difference = above - below;
  return fraction < 0.5 ? below + difference * fraction : above - difference * (1.0 - fraction);
}

/** at(k) is the intensity number k in ascending order. */
template <typename TAt>
VOXELMAPS_HOST_DEVICE inline double
Percentile(const TAt & at, int voxels, double part)
{
  const PercentilePosition position = FindPercentilePosition(voxels, part);
  return Interpolate(at(position.below), at(position.above), position.fraction);
}

template <typename TAt>
VOXELMAPS_HOST_DEVICE inline double
ComputeMedian(const TAt & at, int voxels)
{
  const int half = voxels / 2;
  return voxels % 2 == 1 ? at(half) : (at(half - 1) + at(half)) / 2.0;
}

/** A feature of a window; TRoot::Of is the correctly rounded square root. */
template <typename TReal, typename TRoot>
VOXELMAPS_HOST_DEVICE inline TReal
FirstOrderFeatureValue(FirstOrderFeatureMapEnums::Feature feature, const FirstOrderSums<TReal> & sums,
                       double voxelVolume, double entropyScale)
{
  using Feature = FirstOrderFeatureMapEnums::Feature;
  const TReal zero = TReal{};
  switch (feature)
  {
    case Feature::Percentile10:
      return sums.percentile10;
    case Feature::Percentile90:
      return sums.percentile90;
    case Feature::Energy:
      return sums.energy;
    case Feature::Entropy:
      return sums.entropy * entropyScale / sums.voxels;
    case Feature::InterquartileRange:
      return sums.percentile75 - sums.percentile25;
    case Feature::Kurtosis:
    {
      const TReal variance = sums.squares / sums.voxels;
      const TReal divisor = variance * variance;
      return divisor == zero ? zero : sums.fourths / sums.voxels / divisor;
    }
    case Feature::Maximum:
      return sums.maximum;
    case Feature::MeanAbsoluteDeviation:
      return sums.absolutes / sums.voxels;
    case Feature::Mean:
      return sums.origin + sums.shift;
    case Feature::Median:
      return sums.median;
    case Feature::Minimum:
      return sums.minimum;
    case Feature::Range:
      return sums.maximum - sums.minimum;
    case Feature::RobustMeanAbsoluteDeviation:
      return sums.robustAbsolutes / sums.robustVoxels;
    case Feature::RootMeanSquared:
      return TRoot::Of(sums.energy / sums.voxels);
    case Feature::Skewness:
    {
      const TReal variance = sums.squares / sums.voxels;
      const TReal divisor = variance * TRoot::Of(variance);
      return divisor == zero ? zero : sums.cubes / sums.voxels / divisor;
    }
    case Feature::StandardDeviation:
      return TRoot::Of(sums.squares / sums.voxels);
    case Feature::TotalEnergy:
      return sums.energy * voxelVolume;
    case Feature::Uniformity:
      return sums.levelSquares / (sums.voxels * sums.voxels);
    case Feature::Variance:
      return sums.squares / sums.voxels;
  }
  return zero;
}
} // namespace voxelmaps

#endif // FirstOrderFormulas_h
