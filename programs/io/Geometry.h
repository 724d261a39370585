// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Geometry_h
#define Geometry_h

// Where the voxels of an image are.

#include "itkImageBase.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace ProgramIO
{
/** The geometry of an image of any dimension: its size, the physical point of its first voxel, and the rows of the
 * matrix whose columns are the directions of the axes. */
struct Geometry
{
  std::vector<double> size;
  std::vector<double> spacing;
  std::vector<double> origin;
  std::vector<double> direction;
};

template <unsigned int VDimension>
Geometry
GetGeometry(const itk::ImageBase<VDimension> * image)
{
  const auto                                     region = image->GetLargestPossibleRegion();
  typename itk::ImageBase<VDimension>::PointType origin;
  image->TransformIndexToPhysicalPoint(region.GetIndex(), origin);
  const double * directions = image->GetDirection().GetVnlMatrix().data_block();
  return { { region.GetSize().begin(), region.GetSize().end() },
           { image->GetSpacing().Begin(), image->GetSpacing().End() },
           { origin.Begin(), origin.End() },
           { directions, directions + VDimension * VDimension } };
}

/** The shortest text that gives the same number. */
std::string
ToText(double number);

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

/** Throw if rules other than the defaults have no effect, as there is no mask. */
inline void
VerifyMaskGeometryRules(const MaskGeometryRules & rules, bool hasMask)
{
  const MaskGeometryRules defaults;
  if (!hasMask && rules.mode != defaults.mode)
  {
    throw std::runtime_error("--mask-geometry " + rules.mode + " has no effect without a mask");
  }
  if (!hasMask && rules.tolerance != defaults.tolerance)
  {
    throw std::runtime_error("--geometry-tolerance " + ToText(rules.tolerance) + " has no effect without a mask");
  }
}

/** Throw if the geometry of a mask is not that of its image; with the mode ignore, only if its size is another. Give
 * the mask exactly the geometry of the image, and return a remark if it was another. The mask is named in messages. */
template <unsigned int VDimension>
std::string
MatchGeometry(itk::ImageBase<VDimension> * mask, const std::string & name, const itk::ImageBase<VDimension> * image,
              const MaskGeometryRules & rules)
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
