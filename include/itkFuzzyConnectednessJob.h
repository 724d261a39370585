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
#ifndef itkFuzzyConnectednessJob_h
#define itkFuzzyConnectednessJob_h

#include "VoxelMapsExport.h"
#include "itkFuzzyConnectednessEnums.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk
{
/** \class FuzzyConnectednessJob
 * \brief Everything a connectedness engine needs to know: the interface between the filters and the engines.
 *
 * Sizes are (x, y, z), x fastest in memory; a 2D image has size 1 in z. Voxels are numbered in memory order. No ITK
 * type appears here, so that engines compiled by nvcc can use it.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessJob
{
  using AffinityFunction = FuzzyConnectednessEnums::AffinityFunction;
  using Adjacency = FuzzyConnectednessEnums::Adjacency;
  using Method = FuzzyConnectednessEnums::Method;

  enum class PixelType : std::uint8_t
  {
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Float,
    Double
  };

  const void *                image{ nullptr };
  PixelType                   pixelType{ PixelType::Float };
  std::array<std::int64_t, 3> size{ { 0, 0, 0 } };
  std::array<double, 3>       spacing{ { 1.0, 1.0, 1.0 } };

  /** Non-zero where voxels are to be considered; null for all. */
  const std::uint8_t *      mask{ nullptr };
  std::vector<std::int64_t> seeds;

  AffinityFunction affinityFunction{ AffinityFunction::GeometricMean };
  double           objectMean{ 0.0 };
  double           objectVariance{ 1.0 };
  double           differenceMean{ 0.0 };
  double           differenceVariance{ 1.0 };
  double           weight{ 0.5 };
  double           minimumStrength{ 0.0 };
  Adjacency        adjacency{ Adjacency::Face };
  bool             distanceWeighting{ false };
  Method           method{ Method::Automatic };

  /** One key per voxel: the greater, the stronger; 0 where no seed reaches. */
  std::uint32_t * keys{ nullptr };

  /** Call body(0) ... body(numberOfWorkers - 1), at the same time where possible. Unset: one worker. */
  std::function<void(unsigned int numberOfWorkers, const std::function<void(unsigned int)> & body)> runWorkers;
  unsigned int numberOfWorkers{ 1 };
  /** Called with the number of voxels settled (Hierarchy: worked on) since the last call, at times 0; throws to end the
   * job early. */
  std::function<void(std::uint64_t numberOfVoxels)> completed;

  std::int64_t
  GetNumberOfVoxels() const
  {
    return size[0] * size[1] * size[2];
  }
};

/** Statistics of the intensities around the seeds, for the parameters of affinity functions. */
struct AffinityEstimate
{
  double       mean{ 0.0 };
  double       variance{ 0.0 };
  double       differenceMean{ 0.0 };     /** of |a - b|, least 90 % */
  double       differenceVariance{ 0.0 }; /** as the affinity function needs it, least 90 % */
  std::int64_t numberOfVoxels{ 0 };
};

/** Compute the keys of all voxels on the CPU, by the job's method. All methods give the same bits. */
VoxelMaps_EXPORT void
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job);

/** Strengths of keys first ... last - 1 of the job, as float or double; strengths may lie where the keys lie. */
VoxelMaps_EXPORT void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, std::int64_t first, std::int64_t last, float * strengths);
VoxelMaps_EXPORT void
ConvertKeysToStrengths(const FuzzyConnectednessJob & job, std::int64_t first, std::int64_t last, double * strengths);

/** Estimate from the boxes of (2 * radius + 1)^dimension voxels around the seeds, clipped to image and mask. */
VoxelMaps_EXPORT AffinityEstimate
EstimateAffinity(const FuzzyConnectednessJob & job, unsigned int radius);
} // namespace itk

#endif // itkFuzzyConnectednessJob_h
