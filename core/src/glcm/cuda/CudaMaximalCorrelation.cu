// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// A team of lanes computes the matrices of one window after the other: eight lanes, so that a warp has four windows, a
// warp or a block, depending on how many levels a window can have. Teams of one warp do the same steps at the same
// time; smaller matrices are filled up with zeros, which do not change them. Windows with few levels are computed by a
// kernel of their own before.
#include "CudaMaximalCorrelation.h"
#include "CudaRankedWindows.cuh"
#include "glcm/MaximalCorrelation.h"
#include "device/CudaMemory.h"
#include "window/WindowBox.h"
#include "window/WorkspaceLayout.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace voxelmaps
{
namespace
{
constexpr int lanesPerWarp = 32;
constexpr int blockLanes = 256;
// Blocks in flight on every multiprocessor whose matrices do not fit shared memory.
constexpr std::uint64_t scratchBlocksPerMultiprocessor = 2;
// Windows of a launch of the kernel for few levels, which takes some milliseconds.
constexpr std::int64_t maxListsWindows = 1 << 20;

/** A set of any number of levels, which become ranks. By hand: with CUB's scans of eight lanes, a thread needs 100
 * bytes of local memory. */
struct TeamLevelSet
{
  std::uint32_t * bits;
  std::uint32_t * before;

  __device__ void
  Add(int level) const
  {
    atomicOr(bits + level / lanesPerWarp, 1u << (level % lanesPerWarp));
  }
  __device__ int
  Rank(int level) const
  {
    const int word = level / lanesPerWarp;
    return static_cast<int>(before[word]) + __popc(bits[word] & ((1u << (level % lanesPerWarp)) - 1u));
  }
};

/** How the windows of a job are computed. */
struct CorrelationLayout
{
  int  maxLevels;
  int  setWords;
  int  lanes;
  int  component;
  bool isShared;
  bool isSymmetric;

  CorrelationLayout(const CooccurrenceTask & task, std::size_t maxSharedMemory, int maxWindowLevels)
    : maxLevels(std::min(task.maxCorrelationLevels, maxWindowLevels))
    , setWords(static_cast<int>(task.numberOfGrayLevels) / lanesPerWarp + 1)
    , lanes(maxLevels <= maxEightLaneLevels ? 8
            : maxLevels <= maxWarpLevels    ? lanesPerWarp
                                            : blockLanes)
    , component(static_cast<int>(std::find(task.features, task.features + task.numberOfFeatures,
                                           CooccurrenceTask::Feature::MaximalCorrelationCoefficient) -
                                 task.features))
    , isShared(false)
    , isSymmetric(task.scales.symmetric)
  {
    isShared = BytesPerBlock() <= maxSharedMemory;
    if (!isShared && lanes < blockLanes)
    {
      lanes = blockLanes;
      isShared = BytesPerBlock() <= maxSharedMemory;
    }
  }
  std::size_t
  BytesPerBlock() const;
};

/** The memory of a team: numbers, then sets of levels. */
struct TeamMemory
{
  double *        matrix;
  double *        first;
  double *        second;
  double *        counts;
  double *        sums;
  TeamLevelSet    rows;
  TeamLevelSet    columns;
  std::uint32_t * partial;
  std::size_t     bytes;

  VOXELMAPS_HOST_DEVICE
  TeamMemory(const CorrelationLayout & layout, char * memory)
  {
    const std::ptrdiff_t levels = layout.maxLevels;
    WorkspaceLayout      workspace(memory, sizeof(std::uint32_t));
    matrix = workspace.Append<double>(TriangleRow(layout.maxLevels));
    first = workspace.Append<double>(levels);
    second = workspace.Append<double>(levels);
    counts = layout.isSymmetric ? matrix : workspace.Append<double>(levels * levels);
    sums = layout.isSymmetric ? nullptr : workspace.Append<double>(4 * levels);
    const auto makeSet = [&]() -> TeamLevelSet {
      std::uint32_t * const bits = workspace.Append<std::uint32_t>(layout.setWords);
      return { bits, workspace.Append<std::uint32_t>(layout.setWords) };
    };
    rows = makeSet();
    columns = layout.isSymmetric ? rows : makeSet();
    partial = workspace.Append<std::uint32_t>(layout.lanes);
    bytes = (workspace.Bytes() + 15) / 16 * 16;
  }
};

inline std::size_t
CorrelationLayout::BytesPerBlock() const
{
  return TeamMemory(*this, nullptr).bytes * static_cast<std::size_t>(std::max(lanesPerWarp / lanes, 1));
}

/** A team of lanes; see MaximalCorrelation. */
template <int VLanes>
struct TeamLanes
{
  static constexpr bool isAlone = false;
  static constexpr int  step = VLanes;
  /** Lanes of the team that are in one warp. */
  static constexpr int lanesInWarp = VLanes < lanesPerWarp ? VLanes : lanesPerWarp;

  int first;
  /** In memory of the host. */
  const volatile int * cancelled;

  __device__ void
  Sync() const
  {
    if constexpr (VLanes > lanesPerWarp)
    {
      __syncthreads();
    }
    else
    {
      __syncwarp();
    }
  }
  /** Large matrices end early if the host wants it. */
  __device__ bool
  FinishColumn(int rows) const
  {
    constexpr int rowsBetweenLooks = 64;
    if constexpr (VLanes > lanesPerWarp)
    {
      return rows % rowsBetweenLooks == 0 && this->IsCancelled();
    }
    return false;
  }
  __device__ bool
  IsCancelled() const
  {
    return __syncthreads_or(threadIdx.x == 0 && *cancelled != 0) != 0;
  }
  static __device__ double
  SquareRoot(double value)
  {
    return __dsqrt_rn(value);
  }
  /** All teams of a warp take the same branches. */
  __device__ bool
  AreZero(double value) const
  {
    return __all_sync(0xffffffffu, value == 0.0);
  }
  /** By hand: only the steps between the teams of a warp. */
  __device__ int
  TeamMax(int value) const
  {
    for (int lanes = VLanes; lanes < lanesPerWarp; lanes *= 2)
    {
      value = max(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    }
    return value;
  }
  /** How many lanes of the team, from the first one on, fulfill a condition; of a block, those of the warp. */
  __device__ int
  CountFirst(bool isTrue) const
  {
    const std::uint32_t warpBallot = __ballot_sync(0xffffffffu, isTrue);
    const std::uint32_t teamBallot = warpBallot >> (threadIdx.x % lanesPerWarp / lanesInWarp * lanesInWarp);
    const std::uint32_t others = ~teamBallot & (lanesInWarp == lanesPerWarp ? 0xffffffffu : (1u << lanesInWarp) - 1u);
    return others == 0 ? lanesInWarp : __ffs(static_cast<int>(others)) - 1;
  }
};

template <int VLanes, bool VSymmetric>
class TeamCorrelation
{
  using Team = TeamLanes<VLanes>;
  using Algorithm = MaximalCorrelation<double, Team>;

public:
  __device__
  TeamCorrelation(const CooccurrenceTask & task, const CorrelationLayout & layout, const TeamMemory & memory,
                  const int * cancelled)
    : m_Task(task)
    , m_Layout(layout)
    , m_Team{ static_cast<int>(threadIdx.x) % VLanes, cancelled }
    , m_Matrix(memory.matrix)
    , m_First(memory.first)
    , m_Second(memory.second)
    , m_Counts(memory.counts)
    , m_Sums(memory.sums)
    , m_Rows(memory.rows)
    , m_Columns(memory.columns)
    , m_Partial(memory.partial)
  {}

  /** The window of a voxel, or none. */
  __device__ void
  Compute(std::int64_t number, bool isWindow)
  {
    if (isWindow)
    {
      m_Window = WindowBox::At(m_Task, number);
    }
    m_IsComputed = isWindow && m_Window.isComputed;
    const std::int64_t out = number * m_Task.voxelStride;
    const bool         isPerDirection = m_Task.aggregation == CooccurrenceJob::Aggregation::PerDirection;
    const bool         isStored = m_IsComputed && m_Team.first == 0;
    const int          offsetsPerMatrix = m_Task.OffsetsPerMatrix();
    double             total = 0.0;
    double             matrices = 0.0;
    for (int first = 0; first < m_Task.numberOfOffsets; first += offsetsPerMatrix)
    {
      if constexpr (VLanes > lanesPerWarp)
      {
        if (m_Team.IsCancelled())
        {
          return;
        }
      }
      bool         hasPairs = false;
      const double value = this->ComputeMatrix(first, first + offsetsPerMatrix, hasPairs);
      total += hasPairs ? value : 0.0;
      matrices += hasPairs ? 1.0 : 0.0;
      if (isPerDirection && isStored)
      {
        StoreComponentOrNaN(m_Task,
                            out,
                            std::int64_t{ first / offsetsPerMatrix } * m_Task.numberOfFeatures + m_Layout.component,
                            hasPairs ? value : m_Task.emptyValue);
      }
    }
    if (!isPerDirection && isStored)
    {
      StoreComponentOrNaN(m_Task, out, m_Layout.component, matrices > 0.0 ? total / matrices : m_Task.emptyValue);
    }
  }

private:
  __device__ double
  ComputeMatrix(int firstOffset, int endOffset, bool & hasPairs)
  {
    const int words = (VSymmetric ? 2 : 4) * m_Layout.setWords;
    for (int i = m_Team.first; i < words; i += VLanes)
    {
      m_Rows.bits[i] = 0;
    }
    m_Team.Sync();
    this->ForEachPair(firstOffset, endOffset, [this](int a, int b) {
      m_Rows.Add(a);
      m_Columns.Add(b);
    });
    m_Team.Sync();
    const int rows = this->MakeRanks(m_Rows);
    const int columns = VSymmetric ? rows : this->MakeRanks(m_Columns);
    hasPairs = rows > 0;
    // The greatest numbers of all teams of the warp, which run in lockstep.
    const int maxRows = m_Team.TeamMax(rows);
    const int maxColumns = m_Team.TeamMax(columns);
    if (maxRows == 0)
    {
      return 0.0;
    }

    // Counts are first the lower words of the numbers that they become.
    const int numbers = VSymmetric ? TriangleRow(maxRows) : maxRows * maxColumns;
    for (int i = m_Team.first; i < numbers; i += VLanes)
    {
      m_Counts[i] = 0.0;
    }
    m_Team.Sync();
    this->ForEachPair(firstOffset, endOffset, [&](int a, int b) {
      const int first = m_Rows.Rank(a);
      const int second = m_Columns.Rank(b);
      if constexpr (VSymmetric)
      {
        double * const number = m_Counts + TriangleRow(max(first, second)) + min(first, second);
        atomicAdd(reinterpret_cast<std::uint32_t *>(number), first == second ? 2u : 1u);
      }
      else
      {
        atomicAdd(reinterpret_cast<std::uint32_t *>(m_Counts + first * maxColumns + second), 1u);
      }
    });
    m_Team.Sync();
    for (int i = m_Team.first; i < numbers; i += VLanes)
    {
      m_Counts[i] = static_cast<double>(__double2loint(m_Counts[i]));
    }
    m_Team.Sync();

    if constexpr (VSymmetric)
    {
      Algorithm::RemoveTrivialPart(m_Team, maxRows, m_Matrix, m_First, m_Second);
    }
    else
    {
      Algorithm::MultiplyByTransposed(m_Team, maxRows, maxColumns, m_Counts, m_Sums, m_Sums + 2 * maxRows, m_Matrix, 1);
    }
    Algorithm::Tridiagonalize(m_Team, maxRows, m_Matrix, m_First, m_Second);
    return this->Search(maxRows);
  }

  template <typename TVisit>
  __device__ void
  ForEachPair(int firstOffset, int endOffset, const TVisit & visit) const
  {
    if (!m_IsComputed)
    {
      return;
    }
    for (int offset = firstOffset; offset < endOffset; ++offset)
    {
      const auto &       step = m_Task.offsets[offset].step;
      const PairBox      pairs(m_Task.offsets[offset], m_Window.size);
      const std::int64_t stride = m_Task.LevelOffset(step[0], step[1], step[2]);
      if (pairs.IsEmpty())
      {
        continue;
      }
      // A lane reads rows of pairs.
      for (int row = m_Team.first; row < pairs.size[1] * pairs.size[2]; row += VLanes)
      {
        const int             plane = row / pairs.size[1];
        const std::uint16_t * level =
          m_Task.levels + m_Task.LevelOffset(m_Window.first[0] + pairs.begin[0],
                                             m_Window.first[1] + pairs.begin[1] + row - plane * pairs.size[1],
                                             m_Window.first[2] + pairs.begin[2] + plane);
        const std::uint16_t * const end = level + pairs.size[0];
        for (; level != end; ++level)
        {
          const int a = __ldg(level);
          const int b = __ldg(level + stride);
          if (a != 0 && b != 0)
          {
            visit(a, b);
          }
        }
      }
    }
  }

  /** From the bits of a set to ranks; returns how many levels it has. */
  __device__ int
  MakeRanks(const TeamLevelSet & set) const
  {
    const int share = (m_Layout.setWords + VLanes - 1) / VLanes;
    const int begin = min(m_Team.first * share, m_Layout.setWords);
    const int end = min(begin + share, m_Layout.setWords);
    int       levels = 0;
    for (int word = begin; word < end; ++word)
    {
      levels += __popc(set.bits[word]);
    }
    m_Partial[m_Team.first] = static_cast<std::uint32_t>(levels);
    m_Team.Sync();
    std::uint32_t before = 0;
    std::uint32_t all = 0;
    for (int lane = 0; lane < VLanes; ++lane)
    {
      before += lane < m_Team.first ? m_Partial[lane] : 0;
      all += m_Partial[lane];
    }
    for (int word = begin; word < end; ++word)
    {
      set.before[word] = before;
      before += static_cast<std::uint32_t>(__popc(set.bits[word]));
    }
    m_Team.Sync();
    return static_cast<int>(all);
  }

  /** MaximalCorrelation::Search with one point per lane: all points of the grid but one at most are so far from every
   * eigenvalue that rounding does not matter, so every order of points gives the same result. */
  __device__ double
  Search(int levels)
  {
    constexpr int  roundBits = Team::lanesInWarp == 8 ? 3 : 5;
    constexpr bool isSquared = !VSymmetric;
    const int      point = m_Team.first % Team::lanesInWarp + 1;
    double         units = 0.0;
    bool           above = true;
    bool           below = !isSquared;
    bool           isDecided = isSquared;
    for (int exponent = correlationBits - roundBits;; exponent = max(exponent - roundBits, 0))
    {
      const auto   step = static_cast<double>(std::int64_t{ 1 } << exponent);
      const double x = Algorithm::Point(units + (point * step - 0.5), isSquared);
      if (!isDecided)
      {
        double minorAbove = 0.0;
        double minorBelow = 0.0;
        Algorithm::GetLeastMinors(levels, m_First, m_Second, x, minorAbove, minorBelow);
        const int pointsAbove = m_Team.CountFirst(above && !(minorAbove > 0.0));
        const int pointsBelow = m_Team.CountFirst(below && !(minorBelow > 0.0));
        units += max(pointsAbove, pointsBelow) * step;
        above = above && pointsAbove >= pointsBelow;
        below = below && pointsBelow >= pointsAbove;
        if (m_Team.AreZero(above && below ? 1.0 : 0.0))
        {
          isDecided = true;
          m_Team.Sync();
          for (int i = m_Team.first; i < levels; i += VLanes)
          {
            m_First[i] = above ? m_First[i] : -m_First[i];
          }
          m_Team.Sync();
        }
      }
      else
      {
        const double minor = Algorithm::GetLeastMinor(levels, m_First, m_Second, x);
        units += m_Team.CountFirst(!(minor > 0.0)) * step;
      }
      if (exponent == 0)
      {
        break;
      }
    }
    m_Team.Sync();
    return units * correlationGrid;
  }

  const CooccurrenceTask &  m_Task;
  const CorrelationLayout & m_Layout;
  const Team                m_Team;
  double *                  m_Matrix;
  double *                  m_First;
  double *                  m_Second;
  double *                  m_Counts;
  double *                  m_Sums;
  TeamLevelSet              m_Rows;
  TeamLevelSet              m_Columns;
  std::uint32_t *           m_Partial;
  WindowBox                 m_Window{};
  bool                      m_IsComputed{ false };
};

template <int VLanes>
constexpr int blockThreads = VLanes < lanesPerWarp ? lanesPerWarp : VLanes;

template <int VLanes, bool VSymmetric>
__global__ void
__launch_bounds__(blockThreads<VLanes>)
  CorrelationKernel(const __grid_constant__ CooccurrenceTask task, const __grid_constant__ CorrelationLayout layout,
                    char * scratch, WindowNumbers numbers, std::int64_t firstWindow, std::int64_t endWindow,
                    const int * cancelled)
{
  extern __shared__ __align__(16) char shared[];
  constexpr int                        teams = blockThreads<VLanes> / VLanes;
  const int                            team = static_cast<int>(threadIdx.x) / VLanes;
  const std::size_t                    bytes = TeamMemory(layout, nullptr).bytes;
  const TeamMemory memory(layout, layout.isShared ? shared + team * bytes : scratch + blockIdx.x * bytes);
  TeamCorrelation<VLanes, VSymmetric> correlation(task, layout, memory, cancelled);
  for (std::int64_t first = firstWindow + std::int64_t{ blockIdx.x } * teams; first < endWindow;
       first += std::int64_t{ gridDim.x } * teams)
  {
    const bool isWindow = first + team < endWindow;
    correlation.Compute(isWindow ? numbers[first + team] : 0, isWindow);
  }
}

/** A number that kernels of minutes look at, so that they end soon after an abort. */
class CancelFlag
{
public:
  explicit CancelFlag(bool isUsed)
  {
    if (isUsed)
    {
      CheckCuda(cudaHostAlloc(reinterpret_cast<void **>(&m_Flag), sizeof(int), cudaHostAllocMapped),
                "allocating page-locked memory");
      *m_Flag = 0;
    }
  }
  ~CancelFlag() { cudaFreeHost(m_Flag); }
  CancelFlag(const CancelFlag &) = delete;
  CancelFlag &
  operator=(const CancelFlag &) = delete;

  const int *
  Get() const
  {
    return m_Flag;
  }
  /** Wait for the kernels of a stream. */
  void
  WaitFor(const CudaMethodResources & resources)
  {
    while (cudaStreamQuery(resources.stream) == cudaErrorNotReady)
    {
      try
      {
        resources.checkAbort();
      }
      catch (...)
      {
        *static_cast<volatile int *>(m_Flag) = 1;
        cudaStreamSynchronize(resources.stream);
        throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CheckCuda(cudaStreamSynchronize(resources.stream), "computing maximal correlations");
  }

private:
  int * m_Flag{ nullptr };
};

/** The layout for windows of a list, or for all. */
CorrelationLayout
MakeLayout(const CooccurrenceTask & task, int list = CorrelationLists::lists - 1)
{
  constexpr int maxLevels[CorrelationLists::lists] = { maxEightLaneLevels, maxWarpLevels, maxCorrelationLevels };
  return { task, GetCudaDeviceLimits().maxSharedMemoryPerBlock, maxLevels[list] };
}

std::int64_t
ListCapacity(const CooccurrenceTask & task)
{
  return std::min(static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)), maxListsWindows);
}

/** Bytes of the lists in the scratch memory; what follows is aligned. */
std::uint64_t
ListBytes(const CooccurrenceTask & task)
{
  constexpr std::uint64_t alignment = 256;
  const auto              numbers = static_cast<std::uint64_t>(ListCapacity(task) + 1) * (CorrelationLists::lists + 1);
  return CudaFewLevelCorrelationsSupports(task) ? (4 * numbers / alignment + 1) * alignment : 0;
}

std::uint64_t
ScratchBlocks()
{
  return static_cast<std::uint64_t>(GetCudaDeviceLimits().numberOfMultiprocessors) * scratchBlocksPerMultiprocessor;
}

template <int VLanes, bool VSymmetric>
void
Launch(const CooccurrenceTask & task, const CorrelationLayout & layout, const WindowNumbers & numbers, void * scratch,
       std::uint64_t scratchBytes, const CudaMethodResources & resources)
{
  constexpr int       threads = blockThreads<VLanes>;
  constexpr int       teams = threads / VLanes;
  constexpr bool      isLarge = VLanes > lanesPerWarp;
  CancelFlag          flag(isLarge);
  const auto          kernel = CorrelationKernel<VLanes, VSymmetric>;
  const std::size_t   bytes = layout.isShared ? layout.BytesPerBlock() : 0;
  const auto          resident = static_cast<std::uint64_t>(PrepareKernel(kernel, threads, bytes));
  const std::uint64_t blocks =
    layout.isShared ? resident
                    : std::max<std::uint64_t>(std::min(ScratchBlocks(), scratchBytes / layout.BytesPerBlock()), 1);

  // In parts of about a tenth of a second, so that an abort is quick, but not less than all blocks.
  constexpr double partSteps = 3e11;
  const double     matrices = task.numberOfOffsets / task.OffsetsPerMatrix();
  const double     levels = layout.maxLevels;
  const double     steps = matrices * levels * levels * levels +
                       60.0 * static_cast<double>(NumberOfVoxels(task.window)) * task.numberOfOffsets;
  const auto         inFlight = static_cast<std::int64_t>(blocks) * teams;
  const std::int64_t part = std::max(static_cast<std::int64_t>(partSteps / steps), inFlight);
  LaunchChunked(numbers.number,
                part,
                resources,
                "starting the kernel of maximal correlations",
                [&](std::int64_t first, std::int64_t end) {
                  const unsigned int needed = BlocksFor(static_cast<std::uint64_t>(end - first), teams, blocks);
                  kernel<<<needed, threads, bytes, resources.stream>>>(
                    task, layout, static_cast<char *>(scratch), numbers, first, end, flag.Get());
                  // What waits needs a kernel that runs.
                  CheckLaunch("starting the kernel of maximal correlations");
                  if constexpr (isLarge)
                  {
                    flag.WaitFor(resources);
                  }
                });
}

template <bool VSymmetric>
void
LaunchMatrices(const CooccurrenceTask & task, const CorrelationLayout & layout, const WindowNumbers & numbers,
               const CudaMethodResources & resources)
{
  const std::uint64_t listBytes = ListBytes(task);
  void * const        scratch = static_cast<char *>(resources.scratch) + listBytes;
  const std::uint64_t bytes = resources.scratchBytes - listBytes;
  const auto          launch = layout.lanes == blockLanes     ? Launch<blockLanes, VSymmetric>
                               : layout.lanes == lanesPerWarp ? Launch<lanesPerWarp, VSymmetric>
                                                              : Launch<8, VSymmetric>;
  launch(task, layout, numbers, scratch, bytes, resources);
}

/** The windows with few levels first, then the others, in parts whose lists fit. */
void
LaunchFewLevelsFirst(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  constexpr const char * doing = "computing maximal correlations of few levels";
  const std::int64_t     capacity = ListCapacity(task);
  std::uint32_t * const  scratch = static_cast<std::uint32_t *>(resources.scratch);
  const CorrelationLists lists{ scratch, scratch + CorrelationLists::lists + 1, capacity };
  const auto             windows = static_cast<std::int64_t>(NumberOfVoxels(task.outputSize));
  LaunchChunked(windows, capacity, resources, doing, [&](std::int64_t first, std::int64_t end) {
    std::uint32_t lengths[CorrelationLists::lists];
    CheckCuda(cudaMemsetAsync(lists.lengths, 0, sizeof(lengths), resources.stream), doing);
    LaunchCudaFewLevelCorrelations(task, MakeLayout(task).component, first, end, lists, resources.stream);
    CheckLaunch(doing);
    CopyFromDevice(lengths, lists.lengths, CorrelationLists::lists, resources.stream);
    for (int list = 0; list < CorrelationLists::lists; ++list)
    {
      if (lengths[list] != 0)
      {
        LaunchMatrices<true>(task, MakeLayout(task, list), { lengths[list], first, lists.GetList(list) }, resources);
      }
    }
  });
}
} // namespace

CudaScratchBytes
CudaMaximalCorrelationScratchBytes(const CooccurrenceTask & task)
{
  if (!task.needsMaximalCorrelation)
  {
    return {};
  }
  const CorrelationLayout layout = MakeLayout(task);
  const std::uint64_t     bytes = layout.isShared ? 0 : layout.BytesPerBlock();
  const std::uint64_t     listBytes = ListBytes(task);
  return { listBytes + bytes, listBytes + bytes * std::min(ScratchBlocks(), NumberOfVoxels(task.outputSize)) };
}

void
ComputeCudaMaximalCorrelations(const CooccurrenceTask & task, const CudaMethodResources & resources)
{
  if (!task.needsMaximalCorrelation)
  {
    return;
  }
  if (CudaFewLevelCorrelationsSupports(task))
  {
    return LaunchFewLevelsFirst(task, resources);
  }
  const WindowNumbers all{ static_cast<std::int64_t>(NumberOfVoxels(task.outputSize)), 0, nullptr };
  task.scales.symmetric ? LaunchMatrices<true>(task, MakeLayout(task), all, resources)
                        : LaunchMatrices<false>(task, MakeLayout(task), all, resources);
}
} // namespace voxelmaps
