// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RegionEngine_h
#define RegionEngine_h

#include "region/RegionTypes.h"
#include "voxelmaps/GrayLevelDiscretization.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

// What the features of regions have in common on CPU and device: all but the counts, which are exact integers.
namespace voxelmaps
{
/** What the first pass finds of a region. */
struct Extent
{
  std::int64_t voxels{ 0 };
  Triple       first{ { std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max(),
                        std::numeric_limits<std::int64_t>::max() } };
  Triple       last{ { -1, -1, -1 } };
  /** Range of the intensities other than NaN. */
  double minimum{ std::numeric_limits<double>::infinity() };
  double maximum{ -std::numeric_limits<double>::infinity() };
};

/** Counts the voxels of a region. */
class RegionCounter
{
public:
  virtual ~RegionCounter() = default;

  /** The elements of the matrix of a class, or of that of its offset with this number if it has one for each. */
  virtual std::vector<Cell>
  CountCells(std::size_t classNumber, std::size_t offset) = 0;

  /** The intensities of the voxels that have a level, sorted, as pixels of the job's type: as many as LevelCounts say,
   * which may be kept in a buffer. There is no negative zero. */
  virtual const void *
  SortIntensities(std::vector<char> & buffer) = 0;

  virtual ShapeCounts
  CountShape() = 0;
};

/** Whether a region can have pairs of voxels at an offset; runs are not counted otherwise. */
inline bool
Fits(const Triple & offset, const RegionFeatures & region)
{
  const Triple & size = region.boxSize;
  return std::abs(offset[0]) < size[0] && std::abs(offset[1]) < size[1] && std::abs(offset[2]) < size[2];
}

/** A region while it is computed. Its counter and levels are set by the engine; without intensities, it has no levels.
 */
struct Region
{
  RegionFeatures &               features;
  const Extent &                 extent;
  std::unique_ptr<RegionCounter> counter{};
  LevelCounts                    levels{};
  /** Values of each class, then of shape. */
  std::vector<std::vector<double>> values{};
};

/** The steps of a job. Regions are computed in groups, so that memory holds the counts of a group, and all workers have
 * something to compute: a class of a region each. */
class RegionEngine
{
public:
  /** Throws EngineError if the job is invalid. */
  explicit RegionEngine(const RegionFeaturesJob & job);
  virtual ~RegionEngine() = default;

  std::vector<RegionFeatures>
  Compute();

protected:
  using Extents = std::map<std::int64_t, Extent>;

  /** One pass over all voxels: the extents of all labels but 0, and the range of the image, if it is needed. */
  virtual void
  FindExtents(Extents & extents, IntensityRange & imageRange) = 0;

  /** Call ComputeGroup for groups of the regions from first to last - 1. */
  virtual void
  ComputeGroups(std::size_t first, std::size_t last) = 0;

  /** Set levels and counters. */
  virtual void
  CountGroup(std::vector<Region> & regions) = 0;

  void
  ComputeGroup(std::size_t first, std::size_t last);

  bool
  NeedsImageRange() const;

  bool
  NeedsShape() const
  {
    return !m_Job.shapeFeatures.empty() || !m_Job.planarShapeFeatures.empty();
  }

  /** The levels of a region; null if it has no intensities. Throws EngineError, which names the label. */
  std::unique_ptr<GrayLevelDiscretization>
  MakeDiscretization(const Region & region) const;
  static void
  VerifyIntensities(const GrayLevelDiscretization & discretization, const Region & region);

  const RegionFeaturesJob &   m_Job;
  std::vector<RegionFeatures> m_Features;
  /** The largest component of an offset along each axis. */
  Triple m_Reach{};

private:
  void
  FindRegions();

  std::vector<double>
  ComputeClass(std::size_t classNumber, const Region & region) const;
  std::vector<double>
  ComputeFirstOrder(const FirstOrderJob & job, const Region & region) const;
  std::vector<double>
  ComputeShape(const Region & region) const;

  Extents        m_Extents;
  IntensityRange m_ImageRange;
};
} // namespace voxelmaps

#endif // RegionEngine_h
