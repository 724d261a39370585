// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_GrayLevelDiscretizationEnums_h
#define voxelmaps_GrayLevelDiscretizationEnums_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/EnumeratorNames.h"

#include <cstdint>

namespace voxelmaps
{
/** \class GrayLevelDiscretizationEnums
 * \brief Enumerations of GrayLevelDiscretizationImageFilter.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT GrayLevelDiscretizationEnums
{
public:
  /** \class Method
   * \brief How an intensity x becomes a gray level; [min, max] is the range.
   *
   * \ingroup VoxelMaps
   */
  enum class Method : std::uint8_t
  {
    /** floor(NumberOfGrayLevels * (x - min) / (max - min)) + 1, and NumberOfGrayLevels for x = max (IBSI). */
    FixedBinNumber = 0,
    /** floor((x - min) / BinWidth) + 1 (IBSI). */
    FixedBinSize,
    /** floor(x / BinWidth) - floor(min / BinWidth) + 1: bin edges at multiples of the width (PyRadiomics). */
    FixedBinSizeAtMultiples,
    /** x + 1, for images of integers 0 ... NumberOfGrayLevels - 1 that are gray levels counted from 0. */
    Identity,
    /** x, for images of gray levels 1 ... NumberOfGrayLevels with 0 for absent voxels, such as the output of
     * GrayLevelDiscretizationImageFilter. */
    Levels,
    /** The number of BinEdges not greater than x, as in numpy.digitize. Voxels below the first edge get level 0
     * (absent). */
    Edges
  };

  /** \class RangeSource
   * \brief Where the range [min, max] of intensities comes from.
   *
   * \ingroup VoxelMaps
   */
  enum class RangeSource : std::uint8_t
  {
    /** RangeMinimum and RangeMaximum; intensities outside this range are clamped to it. */
    Given = 0,
    /** Minimum and maximum finite intensity of the whole image. */
    Image,
    /** Minimum and maximum finite intensity inside the mask, or of the whole image if there is no mask. */
    Mask
  };
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(GrayLevelDiscretizationEnums::Method, "invalid method", "FixedBinNumber", "FixedBinSize",
                           "FixedBinSizeAtMultiples", "Identity", "Levels", "Edges");
VOXELMAPS_ENUMERATOR_NAMES(GrayLevelDiscretizationEnums::RangeSource, "invalid range source", "Given", "Image", "Mask");
} // namespace voxelmaps

#endif // voxelmaps_GrayLevelDiscretizationEnums_h
