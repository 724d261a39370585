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
#include "voxelmaps/FuzzyConnectednessEnums.h"

#include <ostream>

namespace voxelmaps
{
std::ostream &
operator<<(std::ostream & out, FuzzyConnectednessEnums::AffinityFunction value)
{
  switch (value)
  {
    case FuzzyConnectednessEnums::AffinityFunction::GeometricMean:
      return out << "GeometricMean";
    case FuzzyConnectednessEnums::AffinityFunction::WeightedSum:
      return out << "WeightedSum";
    case FuzzyConnectednessEnums::AffinityFunction::Minimum:
      return out << "Minimum";
    case FuzzyConnectednessEnums::AffinityFunction::Homogeneity:
      return out << "Homogeneity";
    case FuzzyConnectednessEnums::AffinityFunction::AbsoluteDifference:
      return out << "AbsoluteDifference";
  }
  return out << "invalid affinity function";
}

std::ostream &
operator<<(std::ostream & out, FuzzyConnectednessEnums::Adjacency value)
{
  switch (value)
  {
    case FuzzyConnectednessEnums::Adjacency::Face:
      return out << "Face";
    case FuzzyConnectednessEnums::Adjacency::FaceEdge:
      return out << "FaceEdge";
    case FuzzyConnectednessEnums::Adjacency::Full:
      return out << "Full";
  }
  return out << "invalid adjacency";
}

std::ostream &
operator<<(std::ostream & out, FuzzyConnectednessEnums::Method value)
{
  switch (value)
  {
    case FuzzyConnectednessEnums::Method::Automatic:
      return out << "Automatic";
    case FuzzyConnectednessEnums::Method::Queue:
      return out << "Queue";
    case FuzzyConnectednessEnums::Method::Buckets:
      return out << "Buckets";
    case FuzzyConnectednessEnums::Method::Tiles:
      return out << "Tiles";
    case FuzzyConnectednessEnums::Method::Hierarchy:
      return out << "Hierarchy";
  }
  return out << "invalid method";
}

std::ostream &
operator<<(std::ostream & out, FuzzyConnectednessEnums::CudaMethod value)
{
  switch (value)
  {
    case FuzzyConnectednessEnums::CudaMethod::Automatic:
      return out << "Automatic";
    case FuzzyConnectednessEnums::CudaMethod::CorrectedKFOE:
      return out << "CorrectedKFOE";
    case FuzzyConnectednessEnums::CudaMethod::ActiveTiles:
      return out << "ActiveTiles";
    case FuzzyConnectednessEnums::CudaMethod::Hierarchy:
      return out << "Hierarchy";
  }
  return out << "invalid method";
}
} // namespace voxelmaps
