// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_RunLengthJob_h
#define voxelmaps_RunLengthJob_h

#include "voxelmaps/FeatureTable.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstdint>
#include <vector>

namespace voxelmaps
{
/** \class RunLengthFeatureMapEnums
 * \brief Enumerations of RunLengthFeatureMapImageFilter, and the names of the features.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT RunLengthFeatureMapEnums : public TextureFeatureMapEnums
{
public:
  /** \class Feature
   * \brief The sixteen run length features, with the identifiers of the Image Biomarker Standardisation Initiative.
   *
   * The first eleven are those of \cite Galloway1975, \cite Chu1990 and \cite Dasarathy1991, as collected by
   * Zhang et al. \cite Zhang2019, equations (2) to (12).
   *
   * \ingroup VoxelMaps
   */
  enum class Feature : std::uint8_t
  {
    VOXELMAPS_GLRLM_FEATURES(VOXELMAPS_FEATURE_ENUMERATOR)
  };

  VOXELMAPS_FEATURE_NAMES_MACRO(VOXELMAPS_GLRLM_FEATURES);

  /** The eleven features of Zhang et al. \cite Zhang2019, the default of the filter. */
  static std::vector<Feature>
  GetElevenFeatures();
};

/** \class RunLengthJob
 * \brief The complete input, parameters and output of a run length engine.
 *
 * Methods of the CPU:
 * - BoxSums: box sums that neighboring windows share.
 * - WindowWalk walks the runs of the windows one by one; supports every job.
 *
 * Methods of CUDA:
 * - WindowWord: the voxels of a small 2D window are the bits of a machine word.
 * - BoxSums: box sums that neighboring windows share, for windows of up to 9 voxels along each axis.
 * - SlidingWindow: windows slide along y and keep their matrices up to date; supports windows of any size and merged
 *   matrices.
 * - WindowWalk: a warp walks the runs of one window; supports every job.
 * - SortReduce: the pipeline of Zhang et al. \cite Zhang2019, which sorts and reduces the runs of all windows by the
 *   primitives of CUB, for windows of up to 24,000 voxels. It is not chosen automatically.
 *
 * \ingroup VoxelMaps
 */
struct RunLengthJob : DirectionalFeatureJob<RunLengthFeatureMapEnums>
{
  /** Leave out, window by window, directions in which no line holds two voxels: see
   * RunLengthFeatureMapImageFilter::SetSkipDirectionsWithoutPairs. */
  bool skipDirectionsWithoutPairs{ false };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    DirectionalFeatureJob::VisitParameters(visit);
    visit("SkipDirectionsWithoutPairs", &RunLengthJob::skipDirectionsWithoutPairs);
  }
};

VoxelMapsCore_EXPORT void
ComputeFeatureMaps(const RunLengthJob & job);

VoxelMapsCore_EXPORT CudaReport
ComputeFeatureMapsCuda(const RunLengthJob & job, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_RunLengthJob_h
