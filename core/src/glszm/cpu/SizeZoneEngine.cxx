// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "SizeZoneTile.h"
#include "glszm/SizeZone.h"
#include "window/PaddedWindow.h"
#include "window/cpu/CpuWalk.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace voxelmaps
{
namespace
{
/** From the zones of windows to features, window by window. */
class SizeZoneMatrix
{
public:
  explicit SizeZoneMatrix(const SizeZoneTask & task)
    : m_Task(task)
    , m_WindowSizes(static_cast<std::size_t>(task.windowVoxels) + 1)
    , m_LevelSizes(static_cast<std::size_t>(task.windowVoxels) + 1)
  {}

  /** Store the features of an output voxel whose window has these zones, level by level, or the background if it has
   * none. */
  void
  Finish(std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones);

private:
  /** A count in the lower 16 bits, and above them the round that it belongs to; counts of former rounds stand for 0. */
  using Count = std::uint64_t;

  /** Count once more, up to 65535; returns the count before. */
  static std::uint64_t
  Increment(Count & count, std::uint64_t round)
  {
    const Count         none = round << 16;
    const std::uint64_t before = count > none ? count - none : 0;
    count = none + before + 1;
    return before;
  }

  const SizeZoneTask & m_Task;
  // Zones by size: of a window, and of one of its levels.
  std::vector<Count> m_WindowSizes;
  std::vector<Count> m_LevelSizes;
  std::uint64_t      m_Round{ 0 };
};

void
SizeZoneMatrix::Finish(std::int64_t outputVoxel, const std::uint32_t * zones, int numberOfZones)
{
  if (numberOfZones == 0)
  {
    StoreBackground(m_Task, outputVoxel);
    return;
  }
  const std::uint64_t * const inverses = m_Task.scales.inverseSquares;
  const std::int64_t * const  terms = m_Task.scales.entropyTable;
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
  StoreSizeMatrixFeatures(m_Task, outputVoxel, sums);
}

/** Fills the zones of windows of any size, voxel by voxel, on a copy of the window. */
class SizeZoneWalk
{
public:
  using Task = SizeZoneTask;

  static std::size_t
  GetWorkspaceBytes(const Task & task)
  {
    return PaddedWindow<>(task, margin).Bytes();
  }

  SizeZoneWalk(const Task & task, const SingleThread & thread, void * workspace)
    : m_Task(task)
    , m_Thread(thread)
    , m_Matrix(task)
    , m_Window(task, margin)
  {
    m_Window.SetMemory(workspace);
    const int slices = task.connectsSlices ? 1 : 0;
    for (int z = -slices; z <= slices; ++z)
    {
      for (int y = -1; y <= 1; ++y)
      {
        for (int x = -1; x <= 1; ++x)
        {
          m_Neighbors.push_back(m_Window.Stride({ x, y, z }));
        }
      }
    }
  }

  /** Compute an output voxel, counted x fastest. */
  void
  Compute(std::int64_t voxel)
  {
    const WindowBox window = WindowBox::At(m_Task, voxel);
    if (!window.isComputed)
    {
      StoreBackground(m_Task, voxel);
      return;
    }
    m_Thread.CountSteps(static_cast<std::uint64_t>(m_Task.windowVoxels) * m_Neighbors.size());
    m_Window.Load(m_Task, window, m_Thread);
    m_Zones.clear();
    m_Window.ForEachVoxel(window, m_Thread, [this](std::uint16_t * first) {
      const std::uint32_t level = *first;
      m_Zones.push_back(MakeZone(level, this->RemoveZone(first)));
    });
    std::sort(m_Zones.begin(), m_Zones.end());
    m_Matrix.Finish(voxel, m_Zones.data(), static_cast<int>(m_Zones.size()));
  }

private:
  static constexpr int margin[3] = { 1, 1, 1 };

  /** Remove the zone of a voxel from the copy; returns its number of voxels. */
  std::uint32_t
  RemoveZone(std::uint16_t * seed)
  {
    const std::uint16_t level = *seed;
    std::uint32_t       size = 1;
    *seed = 0;
    m_Front.assign(1, seed);
    while (!m_Front.empty())
    {
      std::uint16_t * const at = m_Front.back();
      m_Front.pop_back();
      for (const int neighbor : m_Neighbors)
      {
        if (at[neighbor] == level)
        {
          at[neighbor] = 0;
          m_Front.push_back(at + neighbor);
          ++size;
        }
      }
    }
    return size;
  }

  const Task &                 m_Task;
  SingleThread                 m_Thread;
  SizeZoneMatrix               m_Matrix;
  PaddedWindow<>               m_Window;
  std::vector<int>             m_Neighbors;
  std::vector<std::uint16_t *> m_Front; // voxels whose neighbors are to be looked at
  std::vector<std::uint32_t>   m_Zones;
};
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
        static_cast<SizeZoneMatrix *>(context)->Finish(outputVoxel, zones, numberOfZones);
      };
      compute(task, { tile, finish, matrix.get() }, workspace);
    });
}
} // namespace

std::vector<TextureMethod<SizeZoneJob>>
TextureClass<SizeZoneJob>::GetMethods(const SizeZoneJob &) const
{
  return { { "BitPlanes",
             FullSupportIf(SlicesFitWords(task, maxWordBits)),
             [this](const SizeZoneJob & job) { ComputeByBits(task, job); } },
           { "WindowWalk", MethodSupport::Full, [this](const SizeZoneJob & job) {
              ComputeByWalk<SizeZoneWalk>(task, std::int64_t{ 20 } * task.windowVoxels, job.execution);
            } } };
}
} // namespace voxelmaps
