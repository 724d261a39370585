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
#ifndef itkFuzzyConnectednessEnums_h
#define itkFuzzyConnectednessEnums_h

#include "VoxelMapsExport.h"

#include <cstdint>
#include <iosfwd>

namespace itk
{
/** \class FuzzyConnectednessEnums
 * \brief Enumerations of FuzzyConnectednessImageFilter.
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT FuzzyConnectednessEnums
{
public:
  /** \class AffinityFunction
   * \brief Affinity of two adjacent voxels of intensities a and b.
   *
   * With g(x, m, v) = exp(-(x - m)^2 / (2 v)), mean h = (a + b) / 2 and difference d = |a - b|:
   *
   * \ingroup VoxelMaps
   */
  enum class AffinityFunction : std::uint8_t
  {
    /** sqrt(g(h, ObjectMean, ObjectVariance) g(d / 2, 0, DifferenceVariance)); Li et al. 2015, equation (1). */
    GeometricMean = 0,
    /** Weight g(h, ObjectMean, ObjectVariance) + (1 - Weight) g(d, DifferenceMean, DifferenceVariance); ITK 3. */
    WeightedSum,
    /** The lesser of g(h, ObjectMean, ObjectVariance) and g(d / 2, 0, DifferenceVariance). */
    Minimum,
    /** g(d / 2, 0, DifferenceVariance). */
    Homogeneity
  };

  /** \class Adjacency
   * \brief Which voxels are linked.
   *
   * \ingroup VoxelMaps
   */
  enum class Adjacency : std::uint8_t
  {
    /** Voxels that share a face: 4 in 2D, 6 in 3D. */
    Face = 0,
    /** Voxels that share a face or an edge: 8 in 2D, 18 in 3D. */
    FaceEdge,
    /** Voxels that share a face, an edge or a corner: 8 in 2D, 26 in 3D. */
    Full
  };

  /** \class Method
   * \brief How the strengths are found. All methods give the same bits.
   *
   * \ingroup VoxelMaps
   */
  enum class Method : std::uint8_t
  {
    /** Hierarchy; where little is wanted (MinimumStrength > 0) or links are many (more than 8 a voxel), Buckets with
     * few threads and Tiles with four or more. */
    Automatic = 0,
    /** First in, first out, until nothing changes: the kFOE of Udupa and Samarasekera 1996. The reference. */
    Queue,
    /** Strongest first, every voxel settled once; one thread. */
    Buckets,
    /** Tiles are settled one by one until nothing changes; all threads. */
    Tiles,
    /** Voxels are merged to ever larger components, and strengths handed down; all threads, any seeds in equal time. */
    Hierarchy
  };

  /** \class CudaMethod
   * \brief How the strengths are found on a CUDA device. All methods give the same bits.
   *
   * \ingroup VoxelMaps
   */
  enum class CudaMethod : std::uint8_t
  {
    /** ActiveTiles; Hierarchy takes over where they take long. */
    Automatic = 0,
    /** The corrected CUDA-kFOE of Li et al. 2015 with an atomic maximum, which makes it exact. */
    CorrectedKFOE,
    /** Tiles are settled in shared memory until nothing changes. */
    ActiveTiles,
    /** Voxels are merged to ever larger components, and strengths handed down; time does not depend on shapes. */
    Hierarchy
  };
};

/** Print the name of an enumerator. */
extern VoxelMaps_EXPORT std::ostream &
                        operator<<(std::ostream & out, FuzzyConnectednessEnums::AffinityFunction value);
extern VoxelMaps_EXPORT std::ostream &
                        operator<<(std::ostream & out, FuzzyConnectednessEnums::Adjacency value);
extern VoxelMaps_EXPORT std::ostream &
                        operator<<(std::ostream & out, FuzzyConnectednessEnums::Method value);
extern VoxelMaps_EXPORT std::ostream &
                        operator<<(std::ostream & out, FuzzyConnectednessEnums::CudaMethod value);
} // namespace itk

#endif // itkFuzzyConnectednessEnums_h
