// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "itkVoxelMapsDiscretization.h"

#include <ostream>

namespace itk
{
namespace VoxelMapsDetail
{
void
PrintParameters(std::ostream & os, Indent indent, const voxelmaps::GrayLevelDiscretizationParameters & parameters,
                const char * methodName)
{
  os << indent << methodName << ": " << parameters.method << std::endl;
  os << indent << "NumberOfGrayLevels: " << parameters.numberOfGrayLevels << std::endl;
  os << indent << "BinWidth: " << parameters.binWidth << std::endl;
  os << indent << "BinEdges:";
  for (const double edge : parameters.binEdges)
  {
    os << ' ' << edge;
  }
  os << std::endl << indent << "RangeSource: " << parameters.rangeSource << std::endl;
  os << indent << "RangeMinimum: " << parameters.rangeMinimum << std::endl;
  os << indent << "RangeMaximum: " << parameters.rangeMaximum << std::endl;
}
} // namespace VoxelMapsDetail
} // namespace itk
