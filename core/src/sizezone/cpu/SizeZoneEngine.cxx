// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneTile.h"
#include "SizeZoneWalk.h"
#include "sizezone/SizeZone.h"
#include "texture/cpu/Walk.h"
#include "texture/cpu/WindowBox.h"

#include <algorithm>
#include <memory>

namespace voxelmaps
{
SizeZoneMatrix::SizeZoneMatrix(const SizeZoneTask & task)
  : m_Task(task)
  , m_WindowSizes(static_cast<std::size_t>(task.windowVoxels) + 1)
  , m_LevelSizes(static_cast<std::size_t>(task.windowVoxels) + 1)
{
  std::transform(task.features, task.features + task.numberOfFeatures, m_Features, ToSizeMatrixFeature);
}

void
SizeZoneMatrix::Finish(std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones)
{
  const SizeMatrixScales &    scales = m_Task.scales;
  const std::uint64_t * const inverses = scales.inverseSquares;
  const std::int64_t * const  terms = scales.entropyTable;
  Count * const               windowSizes = m_WindowSizes.data();
  Count * const               levelSizes = m_LevelSizes.data();
  const std::uint64_t         windowRound = m_Round + 1;
  std::uint64_t               pairs = 0; // of a zone and one before it of the same size
  std::int64_t                entropyTerms = 0;
  SizeMatrixSums              sums;
  ClearEntries(sums);
  for (int first = 0, next = 0; first < numberOfZones; first = next)
  {
    const std::uint32_t level = ZoneLevel(zones[first]);
    SizeMatrixGroup     group;
    ClearEntries(group);
    ++m_Round;
    for (; next < numberOfZones && ZoneLevel(zones[next]) == level; ++next)
    {
      const std::uint32_t size = ZoneSize(zones[next]);
      AddEntry(group, size, inverses[size]);
      pairs += Increment(windowSizes[size], windowRound);
      if (terms != nullptr)
      {
        const std::int64_t * const term = terms + Increment(levelSizes[size], m_Round);
        entropyTerms += term[1] - term[0];
      }
    }
    AddGroup<levelAxis>(sums, level, inverses[level], group);
  }
  sums.entropyTerms = entropyTerms;
  // n zones of one size have n (n - 1) / 2 pairs.
  sums.axes[sizeAxis].nonUniformity = 2 * pairs + static_cast<std::uint64_t>(numberOfZones);
  const std::int64_t out = outputVoxel * m_Task.voxelStride;
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    StoreComponent(m_Task, out, f, SizeMatrixFeatureValue(m_Features[f], sums, scales));
  }
}

void
SizeZoneMatrix::StoreBackground(std::int64_t outputVoxel) const
{
  const std::int64_t out = outputVoxel * m_Task.voxelStride;
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    StoreComponentOrNaN(m_Task, out, f, m_Task.backgroundValue);
  }
}

namespace
{
void
ComputeByBits(const SizeZoneTask & task, const SizeZoneJob & job)
{
  const auto   compute = ChooseKernel(job.widestInstructionSet, VOXELMAPS_KERNELS(ComputeSizeZoneTile));
  const Triple size{
    { EqualPart(job.outputSize[0], 64), EqualPart(job.outputSize[1], 16), EqualPart(job.outputSize[2], 8) }
  };
  const int         maxSize[3] = { static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2]) };
  const std::size_t bytes = SizeZoneTileMemory(task, TileShape(task, maxSize), nullptr).bytes;
  ForEachKernelTile(
    Tiling(job.outputSize, size),
    job.execution,
    bytes,
    [&task]() { return std::make_shared<SizeZoneMatrix>(task); },
    [&](const KernelTile & tile, void * workspace, const std::shared_ptr<SizeZoneMatrix> & matrix) {
      const auto finish = [](void * context, std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones) {
        auto & features = *static_cast<SizeZoneMatrix *>(context);
        numberOfZones == 0 ? features.StoreBackground(outputVoxel) : features.Finish(outputVoxel, zones, numberOfZones);
      };
      compute(task, { tile, finish, matrix.get() }, workspace);
    });
}
} // namespace

void
TextureClass<SizeZoneJob>::ComputeOnCpu(const SizeZoneJob & job) const
{
  if (SlicesFitWords(task, maxWordBits))
  {
    ComputeByBits(task, job);
  }
  else
  {
    ComputeByWalk<SizeZoneWalk>(task, std::int64_t{ 20 } * task.windowVoxels, job.execution);
  }
}
} // namespace voxelmaps
