// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RelativeFuzzyConnectednessJob_h
#define voxelmaps_RelativeFuzzyConnectednessJob_h

#include "voxelmaps/FuzzyConnectednessJob.h"
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace voxelmaps
{
/** \class RelativeFuzzyConnectednessJob
 * \brief The complete input, parameters and outputs of an engine that lets labels compete for voxels.
 *
 * \ingroup VoxelMaps
 */
struct RelativeFuzzyConnectednessJob : FuzzyConnectednessProblem
{
  using Competition = RelativeFuzzyConnectednessEnums::Competition;
  using TieRule = RelativeFuzzyConnectednessEnums::TieRule;

  /** One per seed, not 0. A voxel may be a seed several times, but of one label only. */
  std::vector<std::uint16_t> labels;
  Competition                competition{ Competition::Relative };
  TieRule                    tieRule{ TieRule::Background };
  /** Separate affinities of labels, for Relative; the other labels have that of the problem. */
  std::map<std::uint16_t, FuzzyConnectednessAffinity> labelAffinities;

  /** One label per voxel: std::uint8_t, or std::uint16_t if labelsAre16Bit. */
  void * labelOutput{ nullptr };
  bool   labelsAre16Bit{ false };
  /** One strength and one margin per voxel: float, or double if outputIsDouble. Null if they are not needed. The margin
   * is the lead of the winner's strength; for ties by Distance, it is -1 / (1 + lead), where the lead is by how many
   * smallest spacings the nearest other label is farther, and 0 if none arrives; -1 if no label does. */
  void * strengthOutput{ nullptr };
  void * marginOutput{ nullptr };
  bool   outputIsDouble{ false };
};

class RelativeHierarchy;
struct CudaRelativeFuzzyConnectednessReport;

/** \class RelativeFuzzyConnectednessHierarchy
 * \brief The contracted graph of an image, with which jobs of other seeds are computed faster.
 *
 * It depends on everything in FuzzyConnectednessProblem except the seeds, the minimum strength and the execution. Jobs
 * whose labels have affinities of their own do not use it.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT RelativeFuzzyConnectednessHierarchy
{
public:
  RelativeFuzzyConnectednessHierarchy();
  ~RelativeFuzzyConnectednessHierarchy();
  RelativeFuzzyConnectednessHierarchy(const RelativeFuzzyConnectednessHierarchy &) = delete;
  RelativeFuzzyConnectednessHierarchy &
  operator=(const RelativeFuzzyConnectednessHierarchy &) = delete;

  bool
  IsEmpty() const
  {
    return m_Hierarchy == nullptr;
  }
  void
  Release();

  /** Number of bytes that it holds; 0 if it is empty. */
  std::uint64_t
  GetMemory() const;

private:
  friend VoxelMapsCore_EXPORT void
  ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job,
                                    RelativeFuzzyConnectednessHierarchy & hierarchy);
  friend VoxelMapsCore_EXPORT CudaRelativeFuzzyConnectednessReport
  ComputeRelativeFuzzyConnectednessCuda(const RelativeFuzzyConnectednessJob & job, const CudaOptions & options,
                                        RelativeFuzzyConnectednessHierarchy & hierarchy);

  std::unique_ptr<RelativeHierarchy> m_Hierarchy;
};

/** Compute the outputs of a job on the CPU. The number of workers does not change them. Throws EngineError if the job
 * is invalid. */
VoxelMapsCore_EXPORT void
ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job);

/** The same with a hierarchy, which is built if it is empty or of a device. Otherwise, it must have been built for an
 * image of the same pixels, mask and affinity, with the same result for all seeds. If this throws, the hierarchy is as
 * it was before. */
VoxelMapsCore_EXPORT void
ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job,
                                  RelativeFuzzyConnectednessHierarchy & hierarchy);

/** Names of the methods of the CPU that support a job: Hierarchy, which merges voxels into ever larger components, each
 * of which has one seed in the end. Pointers of the job may be null. */
VoxelMapsCore_EXPORT std::vector<std::string>
                     GetMethods(const RelativeFuzzyConnectednessJob & job);
} // namespace voxelmaps

#endif // voxelmaps_RelativeFuzzyConnectednessJob_h
