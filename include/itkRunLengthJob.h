/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef itkRunLengthJob_h
#define itkRunLengthJob_h

#include "itkRunLengthFeatureMapEnums.h"
#include "VoxelMapsExport.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk
{
/** \class RunLengthJob
 * \brief Everything a run length engine needs to know: the interface between the filters and the engines.
 *
 * Indices and sizes are (x, y, z), x fastest in memory; a 2D image has size 1 in z. The level buffer and the output
 * region share one index frame. Voxels outside the level buffer count as absent, like level 0. No ITK type appears
 * here, so that engines compiled by nvcc can use it.
 *
 * \ingroup VoxelMaps
 */
struct RunLengthJob
{
  using Feature = RunLengthFeatureMapEnums::Feature;
  using Aggregation = RunLengthFeatureMapEnums::Aggregation;
  using Triple = std::array<std::int64_t, 3>;

  /** Gray levels 1..numberOfGrayLevels, 0 where there is no voxel. */
  const std::uint16_t * levels{ nullptr };
  Triple                levelsIndex{ { 0, 0, 0 } };
  Triple                levelsSize{ { 0, 0, 0 } };
  std::uint32_t         numberOfGrayLevels{ 0 };

  /** Interleaved components of all voxels of the output region: float, or double if outputIsDouble. */
  void * output{ nullptr };
  bool   outputIsDouble{ false };
  Triple outputIndex{ { 0, 0, 0 } };
  Triple outputSize{ { 0, 0, 0 } };
  /** Value of all components of a voxel of level 0. */
  double backgroundValue{ 0.0 };

  /** The window of voxel p holds p - windowAnchor ... p - windowAnchor + windowSize - 1. */
  Triple windowSize{ { 1, 1, 1 } };
  Triple windowAnchor{ { 0, 0, 0 } };

  /** Directions of the runs, components -1, 0 or 1, no direction twice. */
  std::vector<Triple>  offsets;
  std::vector<Feature> features;
  Aggregation          aggregation{ Aggregation::Average };

  /** Call body(0) ... body(numberOfWorkers - 1), at the same time where possible. Unset: one worker. */
  std::function<void(unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body)> runWorkers;
  unsigned int numberOfWorkers{ 1 };
  /** Called from any worker as voxels are finished, and with 0 in between; throws to end the job early. */
  std::function<void(std::uint64_t numberOfVoxels)> completed;

  /** The widest instructions the CPU engine may use; it never uses what the processor lacks. */
  enum class InstructionSet : std::uint8_t
  {
    Baseline,
    AVX2,
    AVX512
  };
  InstructionSet widestInstructionSet{ InstructionSet::AVX512 };
  /** Walk the windows one by one, which is slow, even if the faster engine could take the job. Same bits; for tests. */
  bool walkWindows{ false };

  /** Number of components of a voxel of the output. */
  std::size_t
  GetNumberOfComponents() const
  {
    return features.size() * (aggregation == Aggregation::PerDirection ? offsets.size() : 1);
  }
};

/** Compute all voxels of the output region on the CPU.
 * The bits of the result depend on the levels and parameters alone, not on workers or instruction sets. */
VoxelMaps_EXPORT void
ComputeRunLengthFeatureMaps(const RunLengthJob & job);

/** The instruction set that ComputeRunLengthFeatureMaps uses on this processor if all are allowed. */
VoxelMaps_EXPORT RunLengthJob::InstructionSet
                 GetWidestInstructionSet();
} // namespace itk

#endif // itkRunLengthJob_h
