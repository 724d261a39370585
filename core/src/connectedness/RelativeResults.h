// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RelativeResults_h
#define RelativeResults_h

#include "connectedness/SeedTree.h"
#include "voxelmaps/RelativeFuzzyConnectednessJob.h"

#include <cstdint>

namespace voxelmaps
{
/** A contracted graph in a RelativeFuzzyConnectednessHierarchy, of the CPU or of a CUDA device. */
class RelativeHierarchy
{
public:
  virtual ~RelativeHierarchy() = default;

  /** Number of bytes. */
  virtual std::uint64_t
  GetMemory() const = 0;
};

/** Strength of a voxel by its key for the winner; 0 below a minimum. */
VOXELMAPS_HOST_DEVICE inline double
GetStrength(Combination combination, std::uint32_t minKey, std::uint32_t key)
{
  return key >= minKey ? KeyStrength(combination, key) : 0.0;
}

/** Margin of a voxel by its keys for the winner and for all others. */
VOXELMAPS_HOST_DEVICE inline double
GetMargin(Combination combination, std::uint32_t minKey, std::uint32_t key, std::uint32_t otherKey)
{
  return key >= minKey && key > otherKey ? KeyStrength(combination, key) - KeyStrength(combination, otherKey) : 0.0;
}

/** Whether a tie between labels is a matter of single voxels. Iterative knows ties between paths instead, but only
 * where the strengths of labels are equal, which Distance decides anyway. */
inline bool
ResolvesTiesPerVoxel(const RelativeFuzzyConnectednessJob & job)
{
  return job.competition == RelativeFuzzyConnectednessJob::Competition::Relative ||
         job.tieRule == RelativeFuzzyConnectednessJob::TieRule::Distance;
}

/** The greatest strength of a component for any label, a seed to which it has this strength, and what SeedTree says
 * about this seed. */
struct ComponentResult
{
  std::uint32_t strength;
  std::uint32_t otherKey;
  std::uint32_t seed;
  std::uint16_t label;
};

/** Turns keys and labels into the outputs of a job. */
class RelativeResults
{
public:
  /** If sets is not null, it becomes the sets of the labels that are strongest at voxels, which are values of the
   * seeds; 0 below the minimum. */
  explicit RelativeResults(const RelativeFuzzyConnectednessJob & job, std::uint32_t * sets = nullptr);

  /** Write voxels first ... first + count - 1. Voxel first + i belongs to component numbers[i], and has the strength of
   * its component, but at most strengths[i]. */
  void
  Write(std::int64_t first, int count, const std::uint32_t * strengths, const std::uint16_t * numbers,
        const ComponentResult * components, const SeedTree & seeds) const;

  /** Write voxels whose greatest keys of the winner and of any other label are known, and the labels of ties, too. */
  void
  Write(std::int64_t first, int count, const std::uint32_t * keys, const std::uint32_t * otherKeys,
        const std::uint16_t * labels) const;

private:
  /** Write getLabel(i) for voxel first + i. */
  template <typename TGetLabel>
  void
  WriteLabels(std::int64_t first, int count, const TGetLabel & getLabel) const;

  /** Write strengths and margins, if they are wanted. */
  template <typename TGetKeys>
  void
  WriteStrengths(std::int64_t first, int count, const TGetKeys & getKeys) const;

  const RelativeFuzzyConnectednessJob & m_Job;
  const Combination                     m_Combination;
  const std::uint32_t                   m_MinKey;
  std::uint32_t * const                 m_Sets;
};
} // namespace voxelmaps

#endif // RelativeResults_h
