// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaRelativeHierarchy_h
#define CudaRelativeHierarchy_h

#include "connectedness/RelativeResults.h"
#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"

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
} // namespace voxelmaps

#endif // CudaRelativeHierarchy_h
