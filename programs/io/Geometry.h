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
#ifndef Geometry_h
#define Geometry_h

// Where the voxels of an image are.

#include "itkIntTypes.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace ProgramIO
{
/** The geometry of an image of any dimension. */
struct Geometry
{
  std::vector<itk::SizeValueType> size;
  std::vector<double>             spacing;
  /** The physical point of the first voxel. */
  std::vector<double> origin;
  /** The rows of the matrix whose columns are the directions of the axes. */
  std::vector<std::vector<double>> direction;
};

template <typename TImage>
Geometry
GetGeometry(const TImage * image)
{
  constexpr unsigned int     dimension = TImage::ImageDimension;
  const auto                 region = image->GetLargestPossibleRegion();
  typename TImage::PointType origin;
  image->TransformIndexToPhysicalPoint(region.GetIndex(), origin);

  Geometry geometry;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    geometry.size.push_back(region.GetSize(d));
    geometry.spacing.push_back(image->GetSpacing()[d]);
    geometry.origin.push_back(origin[d]);
    geometry.direction.emplace_back(image->GetDirection()[d], image->GetDirection()[d] + dimension);
  }
  return geometry;
}

/** The shortest text that gives the same number. */
std::string
ToText(double number);

/** "[1, 1, 2.5]". */
std::string
ToText(const std::vector<double> & numbers);
std::string
ToText(const std::vector<itk::SizeValueType> & numbers);

/** "[1, 0; 0, 1]". */
std::string
ToText(const std::vector<std::vector<double>> & rows);

/** Returns whether all elements agree within the tolerance. NaN never agrees. */
bool
IsClose(const std::vector<double> & a, const std::vector<double> & b, double tolerance);
bool
IsClose(const std::vector<std::vector<double>> & a, const std::vector<std::vector<double>> & b, double tolerance);

/** How a mask differs from its image, such as "the mask 'm.nii' has spacing [1, 1], the image [1, 2]"; empty if it does
 * not. As in ITK, the tolerance is a fraction of the spacing along the first axis for spacing and origin, and absolute
 * for the direction. */
std::string
FindDifference(const std::string & mask, const Geometry & maskGeometry, const Geometry & image, double tolerance);

/** What to do with a mask of another geometry. */
struct MaskGeometryRules
{
  /** check or ignore. */
  std::string mode{ "check" };
  double      tolerance{ 1e-6 };
};

/** Throw if the geometry of a mask is not that of its image; with the mode ignore, only if its size is another. Give
 * the mask exactly the geometry of the image, and return a remark if it was another. The mask is named in messages. */
template <typename TMask, typename TImage>
std::string
MatchGeometry(TMask * mask, const std::string & name, const TImage * image, const MaskGeometryRules & rules)
{
  const auto geometry = GetGeometry(mask);
  const auto imageGeometry = GetGeometry(image);
  const auto difference = FindDifference(name, geometry, imageGeometry, rules.tolerance);
  if (!difference.empty() && (rules.mode != "ignore" || geometry.size != imageGeometry.size))
  {
    throw std::runtime_error(difference);
  }
  mask->CopyInformation(image);
  return difference;
}
} // namespace ProgramIO

#endif // Geometry_h
