/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "../cuda/CudaDevice.h"
#include "CudaConnectednessPiece.h"
#include "itkCudaDevices.h"
#include "itkCudaFuzzyConnectednessJob.h"

#include <cstring>
#include <string>

namespace itk
{
namespace
{
using namespace voxelmaps;
using Method = CudaFuzzyConnectednessOptions::Method;

/** Milliseconds of ActiveTiles after which Automatic goes on with Hierarchy: an eighth of what that takes on an H100.
 */
double
MillisecondsForTiles(const CudaConnectednessScene & scene)
{
  return 0.3 + 0.7e-8 * static_cast<double>(scene.numberOfVoxels) * scene.numberOfLinks;
}

/** Bytes of device memory that a method takes for a voxel, at a guess where that depends on the image. */
double
BytesPerVoxel(const FuzzyConnectednessJob & job, Method method)
{
  const double common = static_cast<double>(CudaConnectednessPiece::GetImageBytes(job)) + 4.0;
  // Hierarchy: labels, lists of links, and 24 bytes for each of the nodes, of which noise makes a tenth of the voxels.
  return common + (method == Method::CorrectedKFOE ? 2.0 : method == Method::ActiveTiles ? 0.04 : 4.0 + 4.0 + 3.6);
}

/** Solve one piece, whose keys were reset, by a method; returns the method that did it. */
Method
SolvePiece(CudaConnectednessContext & context, CudaConnectednessPiece & piece,
           const CudaFuzzyConnectednessOptions & options)
{
  switch (options.method)
  {
    case Method::CorrectedKFOE:
      RunCudaCorrectedKFOE(context, piece, options.correctionPasses);
      return Method::CorrectedKFOE;
    case Method::ActiveTiles:
      RunCudaActiveTiles(context, piece, 0.0);
      return Method::ActiveTiles;
    case Method::Hierarchy:
      RunCudaHierarchy(context, piece);
      return Method::Hierarchy;
    default:
      break;
  }
  if (RunCudaActiveTiles(context, piece, MillisecondsForTiles(piece.GetScene())))
  {
    return Method::ActiveTiles;
  }
  piece.ResetKeys();
  RunCudaHierarchy(context, piece);
  return Method::Hierarchy;
}

/** The planes of an image in pieces, each solved again as long as what enters it has grown.
 *
 * Every piece has one more plane at each end, whose known keys enter it. All keys are reached by some path, and pieces
 * are solved until no plane in common grows: then no link of the image would change any key. */
class Pieces
{
public:
  Pieces(CudaConnectednessContext & context, const CudaFuzzyConnectednessOptions & options,
         CudaFuzzyConnectednessReport & report, std::int64_t planesAtOnce)
    : m_Context(context)
    , m_Options(options)
    , m_Report(report)
    , m_Planes(CudaConnectednessPiece::GetNumberOfPlanes(context.job))
    , m_PlaneSize(CudaConnectednessPiece::GetPlaneSize(context.job))
    , m_OwnPlanes(planesAtOnce >= m_Planes ? m_Planes : planesAtOnce - 2)
  {
    m_Waiting.assign(static_cast<std::size_t>((m_Planes + m_OwnPlanes - 1) / m_OwnPlanes), true);
  }

  void
  Solve()
  {
    m_Report.numberOfSlabs = m_Waiting.size();
    const auto count = static_cast<std::int64_t>(m_Waiting.size());
    // Up and down in turn.
    for (bool up = true; std::find(m_Waiting.begin(), m_Waiting.end(), true) != m_Waiting.end(); up = !up)
    {
      for (std::int64_t i = 0; i < count; ++i)
      {
        const std::int64_t piece = up ? i : count - 1 - i;
        if (m_Waiting[piece])
        {
          this->SolveOne(piece);
        }
      }
    }
  }

private:
  void
  SolveOne(std::int64_t number)
  {
    const std::int64_t begin = number * m_OwnPlanes;
    const std::int64_t end = std::min(begin + m_OwnPlanes, m_Planes);
    const std::int64_t first = std::max<std::int64_t>(begin - 1, 0);
    const std::int64_t last = std::min(end + 1, m_Planes);
    // Both planes in common with each neighbor, which it has not seen since.
    const Keys before = this->GetPlanes(first, begin < 1 ? 0 : begin + 1);
    const Keys behind = this->GetPlanes(end == m_Planes ? last : end - 1, last);
    {
      CudaConnectednessPiece piece(m_Context, first, last);
      m_Report.method = SolvePiece(m_Context, piece, m_Options);
      piece.CopyKeysToJob();
    }
    m_Waiting[number] = false;
    if (begin > 0 && before != this->GetPlanes(first, begin + 1))
    {
      m_Waiting[number - 1] = true;
    }
    if (end < m_Planes && behind != this->GetPlanes(end - 1, last))
    {
      m_Waiting[number + 1] = true;
    }
  }

  using Keys = std::vector<std::uint32_t>;
  Keys
  GetPlanes(std::int64_t first, std::int64_t last) const
  {
    const std::uint32_t * const keys = m_Context.job.keys;
    return first < last ? Keys(keys + first * m_PlaneSize, keys + last * m_PlaneSize) : Keys();
  }

  CudaConnectednessContext &            m_Context;
  const CudaFuzzyConnectednessOptions & m_Options;
  CudaFuzzyConnectednessReport &        m_Report;
  const std::int64_t                    m_Planes;
  const std::int64_t                    m_PlaneSize;
  const std::int64_t                    m_OwnPlanes;
  std::vector<bool>                     m_Waiting;
};

/** Write to every page of the keys, by all threads of the job: the first touch of fresh memory takes longer than a copy
 * to it. */
void
TouchKeys(const FuzzyConnectednessJob & job)
{
  constexpr std::int64_t step = 4096 / sizeof(std::uint32_t);
  const std::int64_t     steps = (job.GetNumberOfVoxels() + step - 1) / step;
  const unsigned int     workers = job.runWorkers ? std::max(1u, job.numberOfWorkers) : 1;
  const auto             touch = [&](unsigned int worker) {
    for (std::int64_t i = steps * worker / workers; i < steps * (worker + 1) / workers; ++i)
    {
      *static_cast<volatile std::uint32_t *>(job.keys + i * step) = noKey;
    }
  };
  if (workers > 1)
  {
    job.runWorkers(workers, touch);
  }
  else
  {
    touch(0);
  }
}
} // namespace

CudaFuzzyConnectednessReport
ComputeFuzzyConnectednessCuda(const FuzzyConnectednessJob & job, const CudaFuzzyConnectednessOptions & options)
{
  const CurrentDevice          device(options.deviceID);
  CudaFuzzyConnectednessReport report;
  report.deviceName = CudaDevices::GetName(options.deviceID);
  const std::int64_t planes = CudaConnectednessPiece::GetNumberOfPlanes(job);
  const double       planeBytes = BytesPerVoxel(job, options.method) * CudaConnectednessPiece::GetPlaneSize(job);
  // Of tables, counters and what else does not grow with the image.
  constexpr double otherBytes = 2e6;
  const auto       usable = static_cast<double>(UsableDeviceMemory(options.memoryBudget));
  std::int64_t     planesAtOnce = planes;
  if (planeBytes * static_cast<double>(planes) + otherBytes > usable)
  {
    planesAtOnce = static_cast<std::int64_t>((usable - otherBytes) / planeBytes);
  }
  // Other pieces know the keys that are there already.
  bool isCleared = false;
  for (;;)
  {
    const auto leastBytes =
      static_cast<std::uint64_t>(planeBytes * static_cast<double>(std::min<std::int64_t>(planes, 3)) + otherBytes);
    if (planesAtOnce < std::min<std::int64_t>(planes, 3))
    {
      throw CudaOutOfMemory(
        "The device, or the DeviceMemoryBudget, allows " + std::to_string(static_cast<std::uint64_t>(usable)) +
        " bytes, but the smallest piece of this image, " + std::to_string(std::min<std::int64_t>(planes, 3)) +
        " planes, needs about " + std::to_string(leastBytes) +
        ". Free memory on the device, set a greater DeviceMemoryBudget, or use the filter "
        "without Cuda.");
    }
    const CudaStream         stream;
    CudaConnectednessContext context{ job, stream, nullptr, 0, 0.0, {} };
    context.Report(0);
    if (planesAtOnce >= planes)
    {
      context.whileDeviceWorks = [&job] { TouchKeys(job); };
    }
    else if (!isCleared)
    {
      TouchKeys(job);
      std::fill_n(job.keys, job.GetNumberOfVoxels(), noKey);
      isCleared = true;
    }
    context.numberOfIterations = report.numberOfIterations;
    context.kernelMilliseconds = report.kernelMilliseconds;
    bool hadRoom = true;
    try
    {
      Pieces(context, options, report, planesAtOnce).Solve();
    }
    catch (const CudaOutOfMemory &)
    {
      hadRoom = false;
    }
    report.numberOfIterations = context.numberOfIterations;
    report.kernelMilliseconds = context.kernelMilliseconds;
    if (hadRoom)
    {
      return report;
    }
    planesAtOnce = std::min(planesAtOnce, planes + 2) / 2;
  }
}
} // namespace itk
