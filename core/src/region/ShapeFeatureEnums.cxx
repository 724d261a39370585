// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/ShapeFeatureEnums.h"

namespace voxelmaps
{
const FeatureTable &
ShapeFeatureEnums::GetFeatureTable()
{
  static const FeatureTable table("shape",
                                  {
                                    { "E", "Elongation", "", "elongation" },
                                    { "F", "Flatness", "", "flatness" },
                                    { "LEAL", "LeastAxisLength", "", "least_axis_length" },
                                    { "MAAL", "MajorAxisLength", "", "major_axis_length" },
                                    { "M2DC", "Maximum2DDiameterColumn" },
                                    { "M2DR", "Maximum2DDiameterRow" },
                                    { "M2DS", "Maximum2DDiameterSlice" },
                                    { "M3D", "Maximum3DDiameter", "", "maximum_3d_diameter" },
                                    { "MV", "MeshVolume", "", "volume" },
                                    { "MIAL", "MinorAxisLength", "", "minor_axis_length" },
                                    { "S", "Sphericity", "", "sphericity" },
                                    { "SA", "SurfaceArea", "", "surface_area" },
                                    { "SVR", "SurfaceVolumeRatio", "", "surface_to_volume_ratio" },
                                    { "VV", "VoxelVolume", "", "approximate_volume" },
                                  });
  return table;
}

const FeatureTable &
PlanarShapeFeatureEnums::GetFeatureTable()
{
  static const FeatureTable table("shape2D",
                                  {
                                    { "E", "Elongation" },
                                    { "MAAL", "MajorAxisLength" },
                                    { "MD", "MaximumDiameter" },
                                    { "MS", "MeshSurface" },
                                    { "MIAL", "MinorAxisLength" },
                                    { "P", "Perimeter" },
                                    { "PSR", "PerimeterSurfaceRatio" },
                                    { "PS", "PixelSurface" },
                                    { "S", "Sphericity" },
                                  });
  return table;
}
} // namespace voxelmaps
