// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_ShapeFeatureEnums_h
#define voxelmaps_ShapeFeatureEnums_h

#include "voxelmaps/FeatureTable.h"

#include <cstdint>

namespace voxelmaps
{
/** \class ShapeFeatureEnums
 * \brief Features of the shape of a region in three dimensions, and their names.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT ShapeFeatureEnums
{
public:
  /** \class Feature
   * \brief Shape features, in alphabetical order of their names in PyRadiomics.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    Elongation = 0,          /**< IBSI Q3CK */
    Flatness,                /**< IBSI N17B */
    LeastAxisLength,         /**< IBSI 7J51 */
    MajorAxisLength,         /**< IBSI TDIC */
    Maximum2DDiameterColumn, /**< in planes of constant y */
    Maximum2DDiameterRow,    /**< in planes of constant x */
    Maximum2DDiameterSlice,  /**< in planes of constant z */
    Maximum3DDiameter,       /**< IBSI L0JK */
    MeshVolume,              /**< IBSI RNU0 */
    MinorAxisLength,         /**< IBSI P9VJ */
    Sphericity,              /**< IBSI QCFX */
    SurfaceArea,             /**< IBSI C0JK */
    SurfaceVolumeRatio,      /**< IBSI 2PR5 */
    VoxelVolume              /**< IBSI YEKZ */
  };

  static constexpr unsigned int NumberOfFeatures = 14;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};

/** \class PlanarShapeFeatureEnums
 * \brief Features of the shape of a region in one plane, PyRadiomics' class shape2D, and their names.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT PlanarShapeFeatureEnums
{
public:
  /** \class Feature
   * \brief Planar shape features, in alphabetical order of their names in PyRadiomics.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    Elongation = 0,
    MajorAxisLength,
    MaximumDiameter,
    MeshSurface,
    MinorAxisLength,
    Perimeter,
    PerimeterSurfaceRatio,
    PixelSurface,
    Sphericity
  };

  static constexpr unsigned int NumberOfFeatures = 9;

  VOXELMAPS_FEATURE_NAMES_MACRO;
};
} // namespace voxelmaps

#endif // voxelmaps_ShapeFeatureEnums_h
