// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SizeMatrixPlan_h
#define SizeMatrixPlan_h

#include "window/SizeMatrix.h"
#include "window/TextureTask.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** The task of a class with such matrices. */
template <typename TEnums>
struct SizeMatrixTask : FeatureTask<TEnums>
{
  /** The features as those of a matrix by level and size. */
  SizeMatrixFeature matrixFeatures[FeatureTask<TEnums>::maxFeatures];
  /** Number of voxels of a window that is not clipped: a matrix has at most as many entries. */
  int              windowVoxels;
  SizeMatrixScales scales;
};

/** Store all features of a voxel of the output. */
template <typename TEnums>
VOXELMAPS_HOST_DEVICE inline void
StoreSizeMatrixFeatures(const SizeMatrixTask<TEnums> & task, std::int64_t voxel, const SizeMatrixSums & sums)
{
  for (int f = 0; f < task.numberOfFeatures; ++f)
  {
    StoreComponent(
      task, voxel * task.voxelStride, f, SizeMatrixFeatureValue(task.matrixFeatures[f], sums, task.scales));
  }
}

/** Owns the tables of SizeMatrixScales. */
class SizeMatrixPlan
{
public:
  /** Set the features of a task, from a table in the order of their enumeration, and the number of voxels of a window.
   */
  template <typename TEnums>
  static void
  SetFeatures(const SizeMatrixFeature (&table)[FeatureTask<TEnums>::maxFeatures], SizeMatrixTask<TEnums> & task)
  {
    for (int f = 0; f < task.numberOfFeatures; ++f)
    {
      task.matrixFeatures[f] = table[static_cast<int>(task.features[f])];
    }
    task.windowVoxels = static_cast<int>(NumberOfVoxels(task.window));
  }

  /** Make the tables for entries of at most this size, and the scales that point to them. */
  template <typename TEnums>
  void
  Make(int maxSize, const JobExecution & execution, SizeMatrixTask<TEnums> & task)
  {
    const SizeMatrixFeature * const features = task.matrixFeatures;
    const bool needsEntropy = std::count(features, features + task.numberOfFeatures, SizeMatrixFeature::Entropy) != 0;
    this->MakeTables(
      task.windowVoxels, std::max(task.numberOfGrayLevels, maxSize), needsEntropy, execution, task.scales);
  }

  /** Add the tables to those of a device, to which the scales will point. */
  template <typename TDeviceTables>
  void
  AddTables(TDeviceTables & tables, SizeMatrixScales & scales) const
  {
    tables.Add(m_InverseSquares, scales.inverseSquares);
    if (scales.entropyTable != nullptr)
    {
      tables.Add(m_EntropyTable, scales.entropyTable);
    }
  }

private:
  void
  MakeTables(int maxEntries, int greatest, bool needsEntropy, const JobExecution & execution,
             SizeMatrixScales & scales);

  std::vector<std::uint64_t> m_InverseSquares;
  std::vector<std::int64_t>  m_EntropyTable;
};
} // namespace voxelmaps

#endif // SizeMatrixPlan_h
