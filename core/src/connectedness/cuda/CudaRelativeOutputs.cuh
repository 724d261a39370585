// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRelativeOutputs_cuh
#define CudaRelativeOutputs_cuh

#include "CudaConnectednessSlab.h"
#include "connectedness/RelativeResults.h"
#include "cuda/CudaJobArrays.h"

namespace voxelmaps
{
/** Write strengths, or margins, of voxels whose keys for the winner and for any other label the view finds. */
template <bool IsMargin, typename TView, typename TReal>
__global__ void
WriteRealsKernel(std::int64_t numberOfVoxels, TView view, Combination combination, std::uint32_t minKey, TReal * reals)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    std::uint32_t       otherKey = noKey;
    const std::uint32_t key = view.GetKeys(voxel, otherKey);
    reals[voxel] = static_cast<TReal>(IsMargin ? GetMargin(combination, minKey, key, otherKey)
                                               : GetStrength(combination, minKey, key));
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

  /** Write strengths and margins, if they are wanted. */
  template <typename TView>
  void
  WriteReals(const TView & view) const
  {
    job.outputIsDouble ? this->WriteRealsAs<double>(view) : this->WriteRealsAs<float>(view);
  }

private:
  template <typename TReal, typename TView>
  void
  WriteRealsAs(const TView & view) const
  {
    const auto write = [&](void * output, auto kernel) {
      if (output != nullptr)
      {
        this->Write<TReal>(output, [&](TReal * out) {
          this->Launch([&](unsigned int blocks) {
            kernel<<<blocks, threads, 0, stream>>>(
              job.GetNumberOfVoxels(), view, MakeAffinityTerms(job).combination, MinKey(job), out);
          });
        });
      }
    };
    write(job.strengthOutput, WriteRealsKernel<false, TView, TReal>);
    write(job.marginOutput, WriteRealsKernel<true, TView, TReal>);
  }
};
} // namespace voxelmaps

#endif // CudaRelativeOutputs_cuh
