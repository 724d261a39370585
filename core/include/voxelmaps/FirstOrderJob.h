// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_FirstOrderJob_h
#define voxelmaps_FirstOrderJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class FirstOrderFeatureMapEnums
 * \brief Enumerations of FirstOrderFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT FirstOrderFeatureMapEnums
{
public:
  /** \class Feature
   * \brief First order features, in alphabetical order of their names in PyRadiomics.
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    VOXELMAPS_FIRSTORDER_FEATURES(VOXELMAPS_FEATURE_ENUMERATOR)
  };

  VOXELMAPS_FEATURE_NAMES_MACRO(VOXELMAPS_FIRSTORDER_FEATURES);
};

/** \class FirstOrderJob
 * \brief The complete input, parameters and output of a first order engine; it needs intensities.
 *
 * Method of the CPU: Tiles. Method of CUDA: RadixSelection. Most windows of up to 2000 voxels are computed in tiles; in
 * others, and in images of doubles that are no floats, a warp finds the percentiles of a window digit by digit, without
 * sorting.
 *
 * \ingroup VoxelMaps
 */
struct FirstOrderJob : FeatureJob<FirstOrderFeatureMapEnums>
{
  /** Added to intensities in Energy, TotalEnergy and RootMeanSquared. */
  double voxelArrayShift{ 0.0 };
  /** Product of the spacing along all axes, for TotalEnergy. */
  double voxelVolume{ 1.0 };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    visit("VoxelArrayShift", &FirstOrderJob::voxelArrayShift);
    visit("VoxelVolume", &FirstOrderJob::voxelVolume);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const FirstOrderJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const FirstOrderJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_FirstOrderJob_h
