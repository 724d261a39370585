// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RelativeFuzzyConnectednessEnums_h
#define voxelmaps_RelativeFuzzyConnectednessEnums_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"

#include <cstdint>

namespace voxelmaps
{
/** \class RelativeFuzzyConnectednessEnums
 * \brief Enumerations of RelativeFuzzyConnectednessImageFilter, whose documentation has the definitions.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT RelativeFuzzyConnectednessEnums
{
public:
  /** \class Competition
   * \brief Which label gets a voxel.
   *
   * \ingroup VoxelMaps
   */
  enum class Competition : std::uint8_t
  {
    /** The label of greatest strength: relative fuzzy connectedness (RFC). */
    Relative = 0,
    /** The label whose strongest paths the other labels cannot cut off: iterative relative fuzzy connectedness (IRFC),
     * which is a maximum spanning forest rooted at the seeds. */
    Iterative
  };

  /** \class TieRule
   * \brief What becomes of voxels that several labels have the same claim to.
   *
   * \ingroup VoxelMaps
   */
  enum class TieRule : std::uint8_t
  {
    /** They get label 0. */
    Background = 0,
    /** They get the smallest number among these labels. */
    LowestLabel,
    /** Voxels whose greatest strength is the same for several labels get the label of the nearest voxel that has one,
     * along links to such voxels where the same labels are tied or more, so that it is one of the tied labels. Lengths
     * are in millimeters, in units of 1/64 of the smallest spacing; at equal distances, and where labels with
     * affinities of their own cut all tied labels off, the label whose first seed comes first in memory. The result
     * depends neither on the numbers of labels nor on the competition. After a proposal in \cite Couprie2011 to decide
     * plateaus by a second rule. */
    Distance
  };
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(RelativeFuzzyConnectednessEnums::Competition, "invalid competition", "Relative",
                           "Iterative");
VOXELMAPS_ENUMERATOR_NAMES(RelativeFuzzyConnectednessEnums::TieRule, "invalid tie rule", "Background", "LowestLabel",
                           "Distance");
} // namespace voxelmaps

#endif // voxelmaps_RelativeFuzzyConnectednessEnums_h
