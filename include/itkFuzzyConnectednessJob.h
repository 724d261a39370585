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

#include "itkFuzzyConnectednessEnums.h"
#include "itkVoxelMapsJob.h"

#include <array>
#include <cstdint>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** \class FuzzyConnectednessInput
 * \brief An image, its mask and the seeds in it.
 *
 * Voxels are numbered in memory order.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessInput
{
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

  const void * image{ nullptr };
  PixelType    pixelType{ PixelType::Float };
  Triple       size{ { 0, 0, 0 } };
  /** Non-zero inside the mask, which the seeds of a FuzzyConnectednessJob must be; null if there is no mask. */
  const std::uint8_t *      mask{ nullptr };
  std::vector<std::int64_t> seeds;

  std::int64_t
  GetNumberOfVoxels() const
  {
    return size[0] * size[1] * size[2];
  }
};

/** \class FuzzyConnectednessProblem
 * \brief What the engines for one and for several objects have in common: the links between voxels, and the threads.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessProblem : FuzzyConnectednessInput
{
  using AffinityFunction = FuzzyConnectednessEnums::AffinityFunction;
  using Adjacency = FuzzyConnectednessEnums::Adjacency;

  std::array<double, 3> spacing{ { 1.0, 1.0, 1.0 } };
  AffinityFunction      affinityFunction{ AffinityFunction::GeometricMean };
  double                objectMean{ 0.0 };
  double                objectVariance{ 1.0 };
  double                differenceMean{ 0.0 };
  double                differenceVariance{ 1.0 };
  double                weight{ 0.5 };
  double                minimumStrength{ 0.0 };
  Adjacency             adjacency{ Adjacency::Face };
  bool                  distanceWeighting{ false };

  JobExecution execution;
};

/** \class FuzzyConnectednessJob
 * \brief The complete input, parameters and output of a connectedness engine.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessJob : FuzzyConnectednessProblem
{
  using Method = FuzzyConnectednessEnums::Method;

  /** Method of the CPU engine; it does not affect the result. */
  Method method{ Method::Automatic };

  /** One strength per voxel, in [0, 1]: float, or double if outputIsDouble. The engines also use this memory during the
   * computation. */
  void * output{ nullptr };
  bool   outputIsDouble{ false };
};

/** \class FuzzyConnectednessReport
 * \brief How the CPU engine computed a job.
 *
 * \ingroup VoxelMaps
 */
struct FuzzyConnectednessReport
{
  /** The method that computed the strengths, which is not always that of the job; never Automatic. */
  FuzzyConnectednessJob::Method method{ FuzzyConnectednessJob::Method::Automatic };
};

/** Compute the strengths of all voxels on the CPU. Results of all methods and numbers of workers are
 * bit-identical. Throws EngineError if the job is invalid. */
VoxelMaps_EXPORT FuzzyConnectednessReport
ComputeFuzzyConnectedness(const FuzzyConnectednessJob & job);
} // namespace voxelmaps
} // namespace itk

#endif // itkFuzzyConnectednessJob_h
