// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_TextureFeatureMapJob_h
#define voxelmaps_TextureFeatureMapJob_h

#include "voxelmaps/EnumeratorNames.h"
#include "voxelmaps/Job.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace voxelmaps
{
/** Instruction sets that the CPU engines are compiled for, each with all before it. */
enum class InstructionSet : std::uint8_t
{
  Baseline,
  AVX2,
  AVX512
};

/** \class TextureFeatureMapEnums
 * \brief Enumerations that texture filters have in common.
 *
 * \ingroup VoxelMaps
 */
class VoxelMapsCore_EXPORT TextureFeatureMapEnums
{
public:
  /** \class Aggregation
   * \brief How the matrices of the directions of one window are combined into features.
   *
   * \ingroup VoxelMaps
   */
  enum class Aggregation : std::uint8_t
  {
    /** The features of every direction, one direction after another \cite Zhang2019. */
    PerDirection = 0,
    /** The mean of the features over the directions, of co-occurrence matrices over those that have a pair of voxels
     * (PyRadiomics' default, IBSI "averaged"). */
    Average,
    /** The features of the sum of all matrices (IBSI "merged"). */
    Merge
  };
};

/** Names of the enumerators, which are printed. */
VOXELMAPS_ENUMERATOR_NAMES(TextureFeatureMapEnums::Aggregation, "invalid aggregation", "PerDirection", "Average",
                           "Merge");

/** \class TextureFeatureMapJob
 * \brief Input and output of the engines of all texture filters: levels, window, output region and threads.
 *
 * The level buffer and the output region share one index frame. Voxels outside the level buffer count as absent, like
 * level 0.
 *
 * Each class has a job with its features, each at most once, and parameters, and two functions. ComputeFeatureMaps
 * computes the features of all voxels of the output region on the CPU. The result depends only on levels, intensities
 * and parameters; it is bit-identical for all methods, numbers of workers and instruction sets. Throws EngineError if
 * the job is invalid, except for levels above numberOfGrayLevels and intensities that break the rules below, which are
 * not searched for, and UnsupportedMethodError if the method does not support the job. ComputeFeatureMapsCuda computes
 * the same bits on a CUDA device; the CPU computes jobs without a method that none of CUDA supports. Throws EngineError
 * also if CUDA fails or the device has too little memory; the message has the text of CUDA, what was needed and what to
 * do.
 *
 * \ingroup VoxelMaps
 */
struct TextureFeatureMapJob
{
  /** Gray levels 1..numberOfGrayLevels, 0 where a voxel is absent. */
  const std::uint16_t * levels{ nullptr };
  Triple                levelsIndex{ { 0, 0, 0 } };
  Triple                levelsSize{ { 0, 0, 0 } };
  std::uint32_t         numberOfGrayLevels{ 0 };

  /** Intensities of the voxels of the level buffer, null if the class needs none: float, or double if
   * intensitiesAreDouble; NaN where a voxel is absent, and nowhere else, and no negative zero. */
  const void * intensities{ nullptr };
  bool         intensitiesAreDouble{ false };

  /** Components of all voxels of the output region: float, or double if outputIsDouble. */
  void * output{ nullptr };
  bool   outputIsDouble{ false };
  Triple outputIndex{ { 0, 0, 0 } };
  Triple outputSize{ { 0, 0, 0 } };
  /** Component c of voxel v, counted x fastest, is at output + v * outputVoxelStride + c * outputComponentStride.
   * Interleaved, as in an itk::VectorImage: the number of components or more, and 1. Planar, one contiguous map after
   * the other: 1, and the number of voxels or more. Both 0: interleaved without gaps. */
  std::int64_t outputVoxelStride{ 0 };
  std::int64_t outputComponentStride{ 0 };
  /** One byte per voxel of the output region, 0 where no features are to be computed; null selects all voxels. */
  const std::uint8_t * selection{ nullptr };
  /** Value of all components of a voxel that is absent or not selected. */
  double backgroundValue{ 0.0 };

  /** The window of voxel p consists of p - windowAnchor ... p - windowAnchor + windowSize - 1. */
  Triple windowSize{ { 1, 1, 1 } };
  Triple windowAnchor{ { 0, 0, 0 } };

  /** Name of the method, as GetMethods and GetCudaMethods list them; empty for the fastest one. */
  std::string method;
  /** Widest instruction set that the CPU engine may use; it never uses one that the processor does not support. */
  InstructionSet widestInstructionSet{ InstructionSet::AVX512 };

  JobExecution execution;
};

/** \class FeatureJob
 * \brief A job of the texture class with these enumerations; each class derives its job, with its parameters.
 *
 * VisitParameters(visit) calls visit(name, pointer to the member) for each parameter of the class. Names are those of
 * the ITK filters; those of Python have underscores.
 *
 * \ingroup VoxelMaps
 */
template <typename TEnums>
struct FeatureJob : TextureFeatureMapJob
{
  using Enums = TEnums;
  using Feature = typename TEnums::Feature;

  std::vector<Feature> features;

  template <typename TVisit>
  static void
  VisitParameters(const TVisit &)
  {}

  /** Number of components of a voxel of the output. */
  std::size_t
  GetNumberOfComponents() const
  {
    return features.size();
  }
};

/** \class DirectionalFeatureJob
 * \brief A job of a texture class that has a matrix for each offset.
 *
 * \ingroup VoxelMaps
 */
template <typename TEnums>
struct DirectionalFeatureJob : FeatureJob<TEnums>
{
  using Aggregation = TextureFeatureMapEnums::Aggregation;

  /** The pairs of a co-occurrence matrix consist of the voxels p and p + offset. For run length matrices, the
   * directions of the runs: at most 13 different ones with components -1, 0 or 1. */
  std::vector<Triple> offsets;
  /** Weight of the pairs or runs of each offset in the sum of the matrices, 0 to 1e100; empty if all count alike. For
   * Merge. Such matrices are counted window by window, which is slow, and windows must have at most 512 voxels or
   * levels. */
  std::vector<double> offsetWeights;
  Aggregation         aggregation{ Aggregation::Average };

  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    visit("Offsets", &DirectionalFeatureJob::offsets);
    visit("Aggregation", &DirectionalFeatureJob::aggregation);
    visit("OffsetWeights", &DirectionalFeatureJob::offsetWeights);
  }

  std::size_t
  GetNumberOfComponents() const
  {
    return this->features.size() * (aggregation == Aggregation::PerDirection ? offsets.size() : 1);
  }
};

/** Throw EngineError, which names the value and the rule, unless a window is possible: 1 to 255 voxels along each axis,
 * at most 65535 in total, and the anchor is one of them. */
VoxelMapsCore_EXPORT void
VerifyWindow(const Triple & size, const Triple & anchor);

/** The widest instruction set that the CPU engines can use on this processor. */
VoxelMapsCore_EXPORT InstructionSet
GetWidestInstructionSet();
} // namespace voxelmaps

#endif // voxelmaps_TextureFeatureMapJob_h
