// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRelativeHierarchy_h
#define CudaRelativeHierarchy_h

#include "connectedness/RelativeResults.h"
#include "connectedness/TieDistances.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "CudaConnectednessSlab.h"
#include "device/CudaStaging.h"

#include <cstdint>
#include <memory>

namespace voxelmaps
{
/** The contracted graph of an image, in device memory: for every voxel its node, which is its component in its tile,
 * and the smallest key on its way to this node, both without seeds; a maximum spanning forest of the nodes; and the
 * image.
 *
 * For seeds, tiles that have any are contracted again, with the seeds held back. The forest, except for nodes of these
 * tiles, and all links of these tiles make a graph, whose nodes are contracted until all components have a seed or no
 * links. RelativeHierarchy of the CPU explains why that is exact. */
class CudaRelativeHierarchy : public RelativeHierarchy
{
public:
  /** Build it on the current device, which is that of the options. */
  CudaRelativeHierarchy(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
                        CudaRelativeFuzzyConnectednessReport & report);
  ~CudaRelativeHierarchy() override;

  /** Compute the outputs of a job on the current device. */
  void
  Compute(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
          CudaRelativeFuzzyConnectednessReport & report);

  int
  GetDeviceID() const;

  /** Whether an error of the device kept Compute() from leaving it as it was before. */
  bool
  IsDamaged() const;

  std::uint64_t
  GetMemory() const override;

private:
  struct Data;

  std::unique_ptr<Data> m_Data;
};

/** Write strengths, or margins, of voxels whose keys for the winner and for any other label the view finds. Leads of
 * TieDistances are those of ties, or null if ties have the margin 0. */
template <bool IsMargin, typename TView, typename TReal>
__global__ void
WriteRealsKernel(std::int64_t numberOfVoxels, TView view, Combination combination, std::uint32_t minKey,
                 const unsigned long long * leads, TReal * reals)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    std::uint32_t       otherKey = noKey;
    const std::uint32_t key = view.GetKeys(voxel, otherKey);
    const bool          isTie = key >= minKey && key <= otherKey;
    reals[voxel] = static_cast<TReal>(!IsMargin                   ? GetStrength(combination, minKey, key)
                                      : isTie && leads != nullptr ? GetTieMargin(leads[voxel])
                                                                  : GetMargin(combination, minKey, key, otherKey));
  });
}

/** The outputs of a job, wherever they are. */
struct CudaRelativeOutputs
{
  static constexpr unsigned int threads = 256;

  const RelativeFuzzyConnectednessJob & job;
  const CudaOptions &                   options;
  const CudaStream &                    stream;
  CudaKernelTimes &                     times;

  /** Call launch(blocks), which launches a kernel that steps through the voxels. */
  template <typename TLaunch>
  void
  Launch(const TLaunch & launch) const
  {
    CudaKernelClock clock(times);
    launch(BlocksForGridStride(static_cast<std::uint64_t>(job.GetNumberOfVoxels()), threads));
    CheckLaunch("writing the output");
    clock.StopLater();
  }

  /** Call fill(out) for a buffer of all voxels, and copy this to an output. */
  template <typename T, typename TFill>
  void
  Write(void * output, const TFill & fill, bool reportsProgress = false) const
  {
    const DeviceBuffer<T> out(static_cast<std::size_t>(job.GetNumberOfVoxels()), stream);
    fill(out.data());
    CudaJobArrays(options, job.execution)
      .CopyOutput(output, out.data(), out.size() * sizeof(T), stream, [&](std::size_t bytes) {
        job.execution.ReportProgress(reportsProgress ? bytes / sizeof(T) / 4 : 0);
      });
  }

  /** Write strengths and margins, if they are wanted. Leads may be null. */
  template <typename TView>
  void
  WriteReals(const TView & view, const unsigned long long * leads) const
  {
    job.outputIsDouble ? this->WriteRealsAs<double>(view, leads) : this->WriteRealsAs<float>(view, leads);
  }

private:
  template <typename TReal, typename TView>
  void
  WriteRealsAs(const TView & view, const unsigned long long * leads) const
  {
    const auto write = [&](void * output, auto kernel) {
      if (output != nullptr)
      {
        this->Write<TReal>(output, [&](TReal * out) {
          this->Launch([&](unsigned int blocks) {
            kernel<<<blocks, threads, 0, stream>>>(
              job.GetNumberOfVoxels(), view, MakeAffinityTerms(job).combination, MinKey(job), leads, out);
          });
        });
      }
    };
    write(job.strengthOutput, WriteRealsKernel<false, TView, TReal>);
    write(job.marginOutput, WriteRealsKernel<true, TView, TReal>);
  }
};
} // namespace voxelmaps

#endif // CudaRelativeHierarchy_h
