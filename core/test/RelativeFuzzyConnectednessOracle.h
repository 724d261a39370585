// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef RelativeFuzzyConnectednessOracle_h
#define RelativeFuzzyConnectednessOracle_h

#include "FuzzyConnectednessOracle.h"
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"

#include <cstdint>
#include <functional>
#include <vector>

/** Relative and iterative relative fuzzy connectedness by their definitions: one scene for every label. The seeds of a
 * scene have labels, which are not 0. */
namespace RelativeFuzzyConnectednessOracle
{
using FuzzyConnectednessOracle::Scene;
using TieRule = voxelmaps::RelativeFuzzyConnectednessEnums::TieRule;
using Keys = std::vector<std::uint32_t>;
using Labels = std::vector<std::uint16_t>;

struct Strengths
{
  /** Sorted; a label may have several seeds. */
  Labels labels;
  /** For every label, keys of all voxels. */
  std::vector<Keys> scenes;
  /** Greatest key of any label, and greatest key of all labels but one that has the greatest. */
  Keys first;
  Keys second;
};

/** The scenes of all labels; prepare(label, scene) may change the affinity of a label's scene. */
Strengths
ComputeStrengths(const Scene & scene, const Labels & seedLabels,
                 const std::function<void(std::uint16_t, Scene &)> & prepare = {});

/** The label of the greatest key; of several such labels, none or the lowest. */
Labels
ComputeRelative(const Strengths & strengths, TieRule tieRule);

/** The label of the greatest key; of several such labels, that of the nearest voxel without a tie along paths through
 * voxels with ties, each of which has all labels that have the greatest key at the voxel before, in units of 1/64 of
 * the smallest spacing; at equal distances, or without such a path, the one that has the first seed in memory. By
 * Dijkstra's algorithm, for one label after another. Only voxels that count take part. If margins is not null, those of
 * voxels with ties are set: -1 / (1 + lead), where the lead is by how many smallest spacings the nearest voxel of any
 * other label is farther; 0 if there is none, and -1 without a path. */
Labels
ComputeNearest(const Scene & scene, const Labels & seedLabels, const Strengths & strengths,
               const std::vector<bool> & counts, std::vector<double> * margins = nullptr);

/** The iteration of Ciesielski et al. (2007), for every label against all others: voxels that are stronger connected to
 * the label than to all others join its object, and links to the object no longer serve the others. */
Labels
ComputeIterative(const Scene & scene, const Labels & seedLabels, const Strengths & strengths);

/** The lowest label from whose seeds a path leads to the voxel that is a strongest path to each of its voxels. */
Labels
ComputeLowestIterative(const Scene & scene, const Labels & seedLabels, const Strengths & strengths);
} // namespace RelativeFuzzyConnectednessOracle

#endif // RelativeFuzzyConnectednessOracle_h
